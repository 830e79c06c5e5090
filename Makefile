# hotspotd: build, test, show, install. `make help` lists the targets.

PREFIX ?= /usr
DESTDIR ?=
CONFIG ?= release

bindir = $(PREFIX)/bin
libexecdir = $(PREFIX)/libexec/hotspotd
helperdir = $(PREFIX)/lib/hotspotd/helpers
portaldir = $(PREFIX)/lib/hotspotd/portals
datadir = $(PREFIX)/share/hotspotd
unitdir = $(PREFIX)/lib/systemd/system
userunitdir = $(PREFIX)/lib/systemd/user
sysusersdir = $(PREFIX)/lib/sysusers.d
polkitdir = $(PREFIX)/share/polkit-1/rules.d
docdir = $(PREFIX)/share/doc/hotspotd
mandir = $(PREFIX)/share/man
completiondirs = $(PREFIX)/share/bash-completion/completions $(PREFIX)/share/zsh/vendor-completions $(PREFIX)/share/fish/vendor_completions.d

# sudo forgets where Swift is: look where it is usually installed.
SWIFT ?= $(firstword $(shell command -v swift 2>/dev/null) $(wildcard /opt/swift/usr/bin/swift /usr/local/swift/usr/bin/swift \
	/usr/libexec/swift/*/bin/swift $(HOME)/.local/share/swiftly/bin/swift $(if $(SUDO_USER),/home/$(SUDO_USER)/.local/share/swiftly/bin/swift)))
export PATH := $(if $(SWIFT),$(dir $(SWIFT)):)$(PATH):/usr/sbin:/sbin

BINARIES = .build/$(CONFIG)
# The day of the manual pages: of the sources, or of the package.
MANUAL_DATE = $(shell date -u -d @$${SOURCE_DATE_EPOCH:-$$(stat -c %Y Package.swift)} +%F)
# Small programs: lld keeps relocations packed, and nothing is exported, so that what nothing calls is left out. Of the C++ library the Swift
# runtime needs little: as a part of the program that takes less memory than the whole library beside it.
STATIC = .build/static
RELEASE = -c release --static-swift-stdlib -Xswiftc -Osize -Xswiftc -use-ld=lld -Xlinker -z -Xlinker pack-relative-relocs \
	-Xlinker --no-export-dynamic -Xswiftc -L$(CURDIR)/$(STATIC) -Xswiftc -Xclang-linker -Xswiftc -static-libgcc

# The daemon runs no program that its owner's group can write, which is how some systems' users make files.
SWIFT_BUILD = umask 022 && swift build

# The packages that building, testing and showing need, by the names of Debian 12 and 13; the DHCP client is the release's own.
DHCP_CLIENT = $(shell . /etc/os-release && [ "$${VERSION_ID:-}" = 12 ] && echo isc-dhcp-client || echo dhcpcd-base)
BUILD_PACKAGES = git make pkg-config libc6-dev g++ libnl-3-dev libnl-genl-3-dev libcurl4-openssl-dev libc-ares-dev libsqlite3-dev \
	libsystemd-dev libjansson-dev libxml2-dev libsodium-dev libssl-dev libseccomp-dev bubblewrap libncurses6
DEB_PACKAGES = $(BUILD_PACKAGES) debhelper dpkg-dev fakeroot lintian 'systemd-dev|systemd'
TEST_PACKAGES = $(DEB_PACKAGES) ca-certificates python3 python3-pip python3-dissononce openssl curl jq chromium qemu-system-x86 busybox-static kmod hostapd wpasupplicant network-manager polkitd \
	dnsmasq-base $(DHCP_CLIENT) iw iproute2 iptables nftables util-linux procps tcpdump systemd mmdebstrap dbus-daemon python3-dbus python3-gi \
	zenity kdialog xvfb xdotool dunst xfce4-notifyd valgrind bluez bluez-test-tools

# Where there is a real CoovaChilli (Tests/Portals/servers), what its visits need beside it.
CHILLI = $(wildcard $(foreach folder,$(subst :, ,$(HOTSPOTD_SERVERS)),$(folder)/sbin/chilli $(folder)/usr/sbin/chilli) \
	$(addsuffix /chilli,$(subst :, ,$(PATH))))
TEST_PACKAGES += $(if $(CHILLI),freeradius ethtool)

.PHONY: help build binaries debug test test-trixie cafe picture figures bench table states fuzz faults month deb helper-files install uninstall format lint deps deps-build swift python clean

help:
	@echo 'make cafe       install what it needs, build, and show a laptop that logs itself in'
	@echo 'make test       the same for the tests'
	@echo 'make test-trixie  builds and tests everything in a root of Debian 13, as root'
	@echo 'make build      release binaries, in .build/release'
	@echo 'make deb        Debian packages, in .build/deb'
	@echo 'make install    (after make build, as root) programs, unit, user, folders, our helpers; DESTDIR= PREFIX='
	@echo 'make uninstall  remove them; settings and state stay'
	@echo 'make figures    the café with its measurements'
	@echo 'make picture    the picture of the README, from a run of the café'
	@echo 'make bench      what an event, a scan list, 10,000 days and the worst pages cost'
	@echo 'make table      the state machine'"'"'s edges in its document and its golden tables, from the machine'
	@echo 'make states     the state machine'"'"'s states, searched for a minute (STATES_SECONDS=)'
	@echo 'make fuzz       a minute of each fuzzer (FUZZ_SECONDS=, PARSERS=)'
	@echo 'make faults     each call of a login fails once, and each write is the last one before a kill (as root)'
	@echo 'make month      thirty days of a laptop in the virtual laptop (SEED=, DAYS=)'
	@echo 'make format     write the sources in the project'"'"'s style;  make lint: only look'
	@echo 'make deps       install the Debian packages for all of this'

swift:
	@test -n "$(SWIFT)" || { echo 'make: there is no swift in PATH; install Swift 6.2 or newer from https://swift.org/install' >&2; exit 1; }

deps:
	@Tests/Support/install-packages $(TEST_PACKAGES)

deps-build:
	@Tests/Support/install-packages $(BUILD_PACKAGES)

build: swift deps-build
	$(MAKE) binaries

# The commit is a part of `hotspotctl --version`; without git there is none.
binaries: export HOTSPOTD_COMMIT = $(shell git -c safe.directory=$(CURDIR) describe --always --dirty --exclude '*' --abbrev=12 2>/dev/null)
binaries: swift $(STATIC)/libstdc++.a
	$(SWIFT_BUILD) $(RELEASE)
	$(SWIFT_BUILD) $(RELEASE) --product generate-manual

# The linker takes what a folder has: here the archive alone.
$(STATIC)/libstdc++.a:
	@mkdir -p $(STATIC)
	ln -sf $$(g++ -print-file-name=libstdc++.a) $@

debug: swift
	$(SWIFT_BUILD)

# A Varlink client by other authors drives the daemon in the tests, and a Bluetooth stack by others speaks to the companion. That one comes
# without its dependencies for adapters on USB and for fast cryptography: the virtual laptop holds it in memory.
PIP = /usr/bin/python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --target .build/python
python: .build/python/varlink/__init__.py .build/python/bumble/__init__.py
.build/python/varlink/__init__.py:
	$(PIP) varlink
.build/python/bumble/__init__.py:
	$(PIP) --no-deps bumble==0.0.236 pyee==13.0.1 typing_extensions==4.16.0

# These targets' suites start processes and wait for them: each suite in a process of its own, several side by side. Their time limits are
# against what hangs, and say nothing about speed; the virtual laptop's clock follows the instructions that it executes.
test: deps python
	$(MAKE) build
	$(SWIFT_BUILD) --build-tests
	Tests/Support/run-tests --each IntegrationTests --each HelperHostTests --each DaemonTests --each NetworkJoiningTests --first IntegrationTests.CafeTests \
		--first IntegrationTests.CafeOverCablesTests --first IntegrationTests.EnduranceTests \
		--first IntegrationTests.ScriptedPortalTests

# The copy of the checkout and its .build stay, so that the next run is quick.
test-trixie: swift deps python
	Tests/Support/debian-root --build trixie -- sh -c 'make test && make deb'

cafe: deps
	$(MAKE) build
	Tests/Cafe/cafe --bin $(BINARIES)

picture: deps
	$(MAKE) build
	Tests/Cafe/picture --bin $(BINARIES)

figures: deps
	$(MAKE) build
	Tests/Cafe/cafe --bin $(BINARIES) --figures
	Tests/Cafe/cafe --bin $(BINARIES) --mode veth --laptop --scene trips --figures
	$(MAKE) bench

# Another part's benchmarks are files of their own beside these.
bench: swift $(STATIC)/libstdc++.a
	$(SWIFT_BUILD) $(RELEASE) --product benchmarks
	$(BINARIES)/benchmarks
	$(SWIFT_BUILD) $(RELEASE) --product hotspotd
	$(SWIFT_BUILD) $(RELEASE) --product hotspot-helpers
	Tests/Benchmarks/helpers.py --bin $(BINARIES)
	Tests/Benchmarks/own-time.py --bin $(BINARIES)
	Tests/Benchmarks/instructions.py --bin $(BINARIES) --check
	$(SWIFT_BUILD) $(RELEASE) --product page-judge
	Tests/Benchmarks/page-limits.py --bin $(BINARIES)

table: swift
	HOTSPOTD_WRITE_TABLES=1 swift test --filter '^HotspotMachineTests.TransitionTableTests/documents'

states: STATES_SECONDS ?= 60
states: swift
	HOTSPOTD_STATES=$(STATES_SECONDS) swift test --filter '^HotspotMachineTests.StatesTests/'

# lld, because gold cannot link what the sanitizer makes.
fuzz: FUZZ_SECONDS ?= 60
fuzz: swift
	umask 022 && HOTSPOTD_FUZZ=1 swift build -c release --product fuzz --scratch-path .build-fuzz -Xswiftc -enable-testing \
		-Xswiftc -sanitize=fuzzer,address -Xswiftc -use-ld=lld
	Tests/Fuzz/fuzz .build-fuzz/release/fuzz $(FUZZ_SECONDS) $(PARSERS)

faults: binaries
	Tests/Faults/faults --bin $(BINARIES)

month: SEED ?= 1
month: DAYS ?= 30
month: binaries
	Tests/Cafe/cafe --bin $(BINARIES) --mode veth --laptop --scene month --seed $(SEED) --days $(DAYS)

# From the Makefile's own targets (debian/rules); lintian looks for errors.
deb: swift
	@Tests/Support/install-packages $(DEB_PACKAGES)
	rm -rf .build/deb && mkdir -p .build/deb
	fakeroot debian/rules binary DESTINATION=$(CURDIR)/.build/deb
	debian/rules clean
	lintian --fail-on error .build/deb/*.deb

# The shipped helpers' files in a folder; without one for an instance from this checkout, as docs/settings.md has it.
helper-files: FOLDER ?= .build/helpers
helper-files:
	@install -d $(FOLDER)
	@for helper in Sources/hotspot-helpers/Helpers/*.helper; do \
		sed 's|@libexecdir@|$(if $(filter file,$(origin libexecdir)),$(CURDIR)/$(BINARIES),$(libexecdir))|' $$helper \
			> $(FOLDER)/$$(basename $$helper) && chmod 644 $(FOLDER)/$$(basename $$helper); done

install:
	@test -x $(BINARIES)/hotspotd || { echo 'make: nothing is built yet: make build' >&2; exit 1; }
	install -d $(DESTDIR)$(bindir) $(DESTDIR)$(libexecdir) $(DESTDIR)$(helperdir) $(DESTDIR)$(portaldir) $(DESTDIR)$(unitdir) \
		$(DESTDIR)$(sysusersdir) $(DESTDIR)$(docdir) $(DESTDIR)$(datadir)/varlink $(DESTDIR)/etc/hotspotd/hotspotd.conf.d \
		$(DESTDIR)/etc/hotspotd/helpers $(DESTDIR)/etc/hotspotd/portals $(DESTDIR)$(libexecdir)/helpers
	install -s -m 755 $(BINARIES)/hotspotctl $(DESTDIR)$(bindir)/hotspotctl
	install -s -m 755 $(foreach program,hotspotd hotspot-helpers hotspot-dhcp hotspot-companion,$(BINARIES)/$(program)) $(DESTDIR)$(libexecdir)/
	$(MAKE) --no-print-directory helper-files FOLDER=$(DESTDIR)$(helperdir) libexecdir=$(libexecdir)
	install -m 644 Portals/*.portal $(DESTDIR)$(portaldir)/
	for unit in hotspotd.service hotspot-companion.service hotspot-helper@.service; do \
		sed 's|@libexecdir@|$(libexecdir)|' systemd/$$unit.in > $(DESTDIR)$(unitdir)/$$unit && \
		chmod 644 $(DESTDIR)$(unitdir)/$$unit; done
	install -d $(DESTDIR)$(userunitdir)
	sed 's|@libexecdir@|$(libexecdir)|' systemd/hotspot-notify.service.in > $(DESTDIR)$(userunitdir)/hotspot-notify.service
	chmod 644 $(DESTDIR)$(userunitdir)/hotspot-notify.service
	install -D -m 644 systemd/hotspot-notify.desktop $(DESTDIR)/etc/xdg/autostart/hotspot-notify.desktop
	install -m 644 systemd/hotspot-helper@.socket $(DESTDIR)$(unitdir)/hotspot-helper@.socket
	install -m 644 systemd/hotspot-helper-network.conf $(DESTDIR)$(datadir)/hotspot-helper-network.conf
	sed -e 's|@libexecdir@|$(libexecdir)|' -e 's|@datadir@|$(datadir)|' systemd/hotspot-companion-l2cap.conf.in \
		> $(DESTDIR)$(datadir)/hotspot-companion-l2cap.conf
	chmod 644 $(DESTDIR)$(datadir)/hotspot-companion-l2cap.conf
	install -m 644 systemd/hotspotd.sysusers $(DESTDIR)$(sysusersdir)/hotspotd.conf
	install -D -m 644 systemd/hotspotd.rules $(DESTDIR)$(polkitdir)/60-hotspotd.rules
	install -m 644 systemd/dhclient-hotspotd.conf $(DESTDIR)$(datadir)/dhclient-hotspotd.conf
	install -m 644 Interfaces/*.varlink $(DESTDIR)$(datadir)/varlink/
	install -m 644 LICENSE docs/first-login.svg $(DESTDIR)$(docdir)
	# The manual and the completions, from the commands' own definitions.
	install -d $(DESTDIR)$(mandir)/man1 $(DESTDIR)$(mandir)/man8 $(addprefix $(DESTDIR),$(completiondirs))
	$(BINARIES)/generate-manual $(BINARIES)/hotspotctl --date $(MANUAL_DATE) --output-directory $(DESTDIR)$(mandir)/man1
	sed -i 's/^$$/.Pp/' $(DESTDIR)$(mandir)/man1/hotspotctl.1
	{ echo; cat systemd/hotspotctl.sections; } >> $(DESTDIR)$(mandir)/man1/hotspotctl.1
	install -m 644 systemd/hotspotd.8 $(DESTDIR)$(mandir)/man8/hotspotd.8
	$(BINARIES)/hotspotctl --generate-completion-script bash | sed '1{/^#!/d}' > $(DESTDIR)$(word 1,$(completiondirs))/hotspotctl
	$(BINARIES)/hotspotctl --generate-completion-script zsh > $(DESTDIR)$(word 2,$(completiondirs))/_hotspotctl
	$(BINARIES)/hotspotctl --generate-completion-script fish > $(DESTDIR)$(word 3,$(completiondirs))/hotspotctl.fish
	chmod 644 $(DESTDIR)$(mandir)/man1/hotspotctl.1 $(DESTDIR)$(word 1,$(completiondirs))/hotspotctl \
		$(DESTDIR)$(word 2,$(completiondirs))/_hotspotctl $(DESTDIR)$(word 3,$(completiondirs))/hotspotctl.fish
	# The documentation, with links that hold where it lies. The map of the documents is index.md there.
	for page in README.md docs/*.md; do name=$${page##*/}; test $$page != docs/README.md || name=index.md; \
		sed -e 's#docs/README\.md#index.md#g' -e 's#\(\.\./\)*docs/\([a-z-]*\.\(md\|svg\)\)#\2#g' -e 's#\(\.\./\)*Interfaces/\(org\.hotspotd\)#$(datadir)/varlink/\2#g' \
			-e 's#\(\.\./\)*Tests/Examples#examples#g' $$page > $(DESTDIR)$(docdir)/$$name && \
		chmod 644 $(DESTDIR)$(docdir)/$$name || exit 1; done
	install -m 644 systemd/apparmor-hotspotd $(DESTDIR)$(datadir)/apparmor-hotspotd
	for example in python/aroma.py shell/aroma.sh swift/Package.swift swift/Sources/aroma/Main.swift varlink/aroma-varlink.py \
		python/aroma.helper shell/aroma.helper swift/aroma.helper varlink/aroma-varlink.helper; do \
		install -D -m 644 Tests/Examples/$$example $(DESTDIR)$(docdir)/examples/$$example || exit 1; done
	test -e $(DESTDIR)/etc/hotspotd/hotspotd.conf || install -m 644 systemd/hotspotd.conf $(DESTDIR)/etc/hotspotd/hotspotd.conf
	test -n "$(DESTDIR)" || { systemd-sysusers $(sysusersdir)/hotspotd.conf; \
		test ! -d /run/systemd/system || systemctl daemon-reload; }
	@test -n "$(DESTDIR)" || test -x /usr/bin/bwrap || echo 'Helpers need bubblewrap: sudo apt install bubblewrap'
	@test -n "$(DESTDIR)" || echo 'Now: sudo systemctl enable --now hotspotd'

uninstall:
	test -n "$(DESTDIR)" || test ! -d /run/systemd/system || systemctl disable --now hotspotd hotspot-companion || true
	test -n "$(DESTDIR)" || $(bindir)/hotspotctl desktop give-back || true
	rm -f $(DESTDIR)$(polkitdir)/60-hotspotd.rules $(DESTDIR)$(bindir)/hotspotctl $(DESTDIR)$(unitdir)/hotspotd.service $(DESTDIR)$(unitdir)/hotspot-companion.service $(DESTDIR)$(unitdir)/hotspot-helper@.service \
		$(DESTDIR)$(unitdir)/hotspot-helper@.socket $(DESTDIR)$(sysusersdir)/hotspotd.conf
	rm -f $(DESTDIR)$(libexecdir)/hotspotd $(DESTDIR)$(libexecdir)/hotspot-helpers $(DESTDIR)$(libexecdir)/hotspot-dhcp $(DESTDIR)$(libexecdir)/hotspot-companion \
		$(DESTDIR)$(userunitdir)/hotspot-notify.service $(DESTDIR)/etc/xdg/autostart/hotspot-notify.desktop
	rmdir $(DESTDIR)$(libexecdir)/helpers $(DESTDIR)$(libexecdir) 2>/dev/null || true
	rm -f $(DESTDIR)$(mandir)/man1/hotspotctl.1 $(DESTDIR)$(mandir)/man8/hotspotd.8 $(DESTDIR)$(word 1,$(completiondirs))/hotspotctl \
		$(DESTDIR)$(word 2,$(completiondirs))/_hotspotctl $(DESTDIR)$(word 3,$(completiondirs))/hotspotctl.fish
	rm -rf $(DESTDIR)$(PREFIX)/lib/hotspotd $(DESTDIR)$(datadir) $(DESTDIR)$(docdir)
	@echo 'Kept: /etc/hotspotd (settings) and /var/lib/hotspotd, /var/lib/hotspotd-companion (state)'

format: swift
	swift format format --in-place --parallel --recursive Package.swift Sources Tests

lint: swift
	swift format lint --strict --parallel --recursive Package.swift Sources Tests
	Tests/Support/english

clean:
	rm -rf .build
