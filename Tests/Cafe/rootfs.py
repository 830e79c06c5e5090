"""The file system of the virtual laptop: this host's programs and the project's files, in one tar archive.

It lies in the machine's memory alone. A share of the host's files would do for everything but the sleep: suspend to RAM resets the
devices of the machine, and Linux 6.1 does not set up a 9p share again after that (its virtio transport has no restore).
"""

import io
import os
import pathlib
import stat
import subprocess
import sys
import tarfile

import leases
import packages

# The Debian packages whose files are copied. Shared libraries that their programs need are added automatically.
PYTHON = f"python{sys.version_info.major}.{sys.version_info.minor}"
PACKAGES = f"""
bash bsdutils coreutils dash debianutils findutils grep gzip hostname libc-bin mawk mount procps sed tar util-linux
curl openssl iproute2 nftables iptables libxtables12 iw hostapd wpasupplicant dnsmasq-base {leases.installed().package} kmod
python3-minimal {PYTHON}-minimal lib{PYTHON}-minimal lib{PYTHON}-stdlib
systemd libsystemd-shared bubblewrap network-manager dbus-daemon dbus-system-bus-common
""".split()
SETTINGS = """
/etc/dhcp /etc/dhcpcd.conf /etc/fstab /etc/group /etc/iproute2 /etc/ld.so.cache /etc/ld.so.conf /etc/ld.so.conf.d /etc/nsswitch.conf
/etc/passwd /etc/protocols /etc/services /etc/ssl/openssl.cnf /etc/ssl/certs/ca-certificates.crt /usr/bin/awk
""".split()
# Opened by name at run time, so that ldd does not list them.
LIBRARIES = ["libnftables.so.1", "libnss_files.so.2", "libgcc_s.so.1"]
LEFT_OUT = (
    "/usr/share/doc", "/usr/share/man", "/usr/share/locale", "/usr/share/info", "/usr/share/lintian",
    "/usr/share/bash-completion", "/lib/udev/hwdb.d", "/usr/lib/udev/hwdb.d",
)


class Tree:
    """Paths and their modes, each once; folders before their contents."""

    def __init__(self) -> None:
        self.modes: dict[str, int] = {}

    def add(self, path: str) -> None:
        """A file, a link with its target, or an empty folder."""
        folder = os.path.realpath(os.path.dirname(path))
        place = os.path.join(folder, os.path.basename(path))
        if not path or place in self.modes or place.startswith(LEFT_OUT) or "__pycache__" in place:
            return
        try:
            status = os.lstat(place)
        except FileNotFoundError:
            return
        self.addFolders(os.path.dirname(os.path.normpath(path)))
        self.addFolders(folder)
        if stat.S_ISLNK(status.st_mode):
            self.modes[place] = status.st_mode
            self.add(os.path.join(folder, os.readlink(place)))
        elif stat.S_ISREG(status.st_mode) and os.access(place, os.R_OK):
            # A file that only root may read, such as a key, is left out when an ordinary user starts the laptop.
            self.modes[place] = status.st_mode
        elif stat.S_ISDIR(status.st_mode):
            self.addFolders(place)

    def addAll(self, path: str) -> None:
        """The path, and if it is a folder, everything in it."""
        self.add(path)
        for place, folders, files in os.walk(path):
            for name in files + folders:
                self.add(os.path.join(place, name))

    def addFolders(self, folder: str) -> None:
        parts = folder.strip("/").split("/") if folder != "/" else []
        for count in range(1, len(parts) + 1):
            place = "/" + "/".join(parts[:count])
            if place not in self.modes:
                self.modes[place] = os.lstat(place).st_mode
            if stat.S_ISLNK(self.modes[place]):
                # As /bin is a link to usr/bin.
                return self.addFolders(os.path.realpath(folder))

    def addLibraries(self) -> None:
        """Adds what the dynamic linker would load for the programs and libraries in the tree."""
        # The linker's cache: "libz.so.1 (libc6,x86-64) => /lib/x86_64-linux-gnu/libz.so.1".
        lines = subprocess.run([packages.requireProgram("ldconfig", "libc-bin"), "-p"], capture_output=True, text=True).stdout
        known = {line.split()[0]: line.split()[-1] for line in reversed(lines.splitlines()) if "=>" in line}
        seen: set[str] = set()
        while new := [place for place, mode in self.modes.items() if place not in seen and stat.S_ISREG(mode) and isELF(place)]:
            seen.update(new)
            # One process for all of them: ldd starts several for each.
            readelf = [packages.requireProgram("readelf", "binutils"), "--wide", "--dynamic", "/dev/null", *new]
            file, needed, folders = "", [], []
            for line in subprocess.run(readelf, capture_output=True, text=True).stdout.splitlines():
                value = line.split("[")[-1].rstrip("]")
                if line.startswith("File: "):
                    file, folders = line.removeprefix("File: "), []
                elif "(RUNPATH)" in line or "(RPATH)" in line:
                    folders += value.replace("$ORIGIN", os.path.dirname(file)).split(":")
                elif "(NEEDED)" in line:
                    needed.append((value, folders))
            for name, folders in needed:
                places = [f"{folder}/{name}" for folder in folders] + [known.get(name, "")]
                self.add(next((place for place in places if place and os.path.exists(place)), ""))

    def write(self, file: pathlib.Path, more: dict[str, bytes]) -> None:
        """Writes the archive. Everything in it belongs to root; `more` are programs with their contents."""
        with tarfile.open(file, "w", format=tarfile.GNU_FORMAT) as archive:
            for place in sorted(self.modes):
                entry = archive.gettarinfo(place, place.lstrip("/"))
                entry.uid = entry.gid = 0
                with open(place, "rb") if entry.isreg() else io.BytesIO() as data:
                    archive.addfile(entry, data)
            for name, data in more.items():
                entry = tarfile.TarInfo(name)
                entry.size, entry.mode = len(data), 0o755
                archive.addfile(entry, io.BytesIO(data))


def isELF(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def tree(paths: list[str], more: list[str]) -> Tree:
    """Everything that the scenes need, these files and folders with all that is in them, and the files of more Debian packages."""
    result = Tree()
    for name in ("/bin", "/sbin", "/lib", "/lib64", "/lib64/ld-linux-x86-64.so.2", "/tmp", "/root", "/mnt", "/var/run"):
        result.add(name)
    listing = subprocess.run(["dpkg-query", "-L", *PACKAGES, *more], capture_output=True, text=True)
    if listing.returncode != 0:
        raise packages.Missing(f"packages are missing (make deps): {listing.stderr.strip()[-300:]}")
    for path in listing.stdout.splitlines():
        if path.startswith("/"):
            result.add(path)
    for path in SETTINGS + paths:
        result.addAll(path)
    for name in LIBRARIES:
        for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib"):
            result.add(f"{folder}/{name}")
    result.addLibraries()
    return result
