"""A root file system for the virtual laptop that lies in its memory alone.

Suspend to RAM resets the devices of the machine, and Linux 6.1 does not set up a 9p share again after that (its virtio
transport has no restore): whatever is read from the host's files then waits for ever. So a laptop that shall sleep takes
what it needs with it.
"""

import os
import pathlib
import stat
import subprocess

import packages

# Whose files are taken along, by their Debian names. Their libraries follow by themselves.
NEEDED = """
coreutils dash sed grep procps hostname debianutils util-linux mount curl openssl iproute2 nftables iptables libxtables12
iw hostapd wpasupplicant dnsmasq-base isc-dhcp-client kmod
python3-minimal python3.11-minimal libpython3.11-minimal libpython3.11-stdlib
""".split()
SETTINGS = """
/etc/dhcp /etc/fstab /etc/group /etc/iproute2 /etc/ld.so.cache /etc/ld.so.conf /etc/ld.so.conf.d /etc/nsswitch.conf
/etc/passwd /etc/protocols /etc/services /etc/ssl/openssl.cnf /etc/ssl/certs/ca-certificates.crt
""".split()
# Opened by name at run time, so that no program says that it wants them.
LIBRARIES = ["libnftables.so.1", "libnss_files.so.2", "libgcc_s.so.1"]
LEFT_OUT = (
    "/usr/share/doc", "/usr/share/man", "/usr/share/locale", "/usr/share/info", "/usr/share/lintian",
    "/usr/share/bash-completion",
)


class Tree:
    """Files with their places, each once; folders before what is in them."""

    def __init__(self) -> None:
        self.entries: dict[str, tuple[int, bytes]] = {}

    def add(self, path: str) -> None:
        """A file, a link with what it leads to, or a folder with all that is in it."""
        folder = os.path.realpath(os.path.dirname(path))
        place = os.path.join(folder, os.path.basename(path))
        if place in self.entries or place.startswith(LEFT_OUT) or "__pycache__" in place:
            return
        try:
            status = os.lstat(place)
        except FileNotFoundError:
            return
        self.addFolders(os.path.dirname(path))
        self.addFolders(folder)
        kind = stat.S_IFMT(status.st_mode)
        if kind == stat.S_IFLNK:
            self.entries[place] = (status.st_mode, os.readlink(place).encode())
            self.add(os.path.join(folder, os.readlink(place)))
        elif kind == stat.S_IFREG:
            try:
                self.entries[place] = (status.st_mode, pathlib.Path(place).read_bytes())
            except PermissionError:
                # A file of root's, such as a key; an ordinary user's laptop does without.
                return
        elif kind == stat.S_IFDIR:
            self.addFolders(place)

    def addAll(self, folder: str) -> None:
        for place, folders, files in os.walk(folder):
            for name in files + folders:
                self.add(os.path.join(place, name))

    def addFolders(self, folder: str) -> None:
        parts = folder.strip("/").split("/") if folder != "/" else []
        for count in range(1, len(parts) + 1):
            place = "/" + "/".join(parts[:count])
            if place in self.entries:
                continue
            status = os.lstat(place)
            if stat.S_ISLNK(status.st_mode):
                # As /bin is a link to usr/bin.
                self.entries[place] = (status.st_mode, os.readlink(place).encode())
                return self.addFolders(os.path.realpath(folder))
            self.entries[place] = (stat.S_IFDIR | status.st_mode & 0o7777, b"")

    def addLibraries(self) -> None:
        programs = [place for place, (mode, data) in self.entries.items() if data[:4] == b"\x7fELF"]
        said = subprocess.run(["ldd", *programs], capture_output=True, text=True).stdout
        for line in said.splitlines():
            words = line.split()
            path = words[2] if "=>" in words and len(words) > 2 else words[0] if words and words[0].startswith("/") else ""
            if path.startswith("/") and not path.endswith(":"):
                self.add(path)


def tree(folders: list[str]) -> list[tuple[str, int, bytes]]:
    """Everything for a café without openNDS, and these folders or files of ours."""
    found = Tree()
    for name in ("/bin", "/sbin", "/lib", "/lib64", "/tmp", "/root"):
        found.add(name)
    listing = subprocess.run(["dpkg-query", "-L", *NEEDED], capture_output=True, text=True)
    if listing.returncode != 0:
        raise packages.Missing(f"not everything is installed that a laptop in memory needs: {listing.stderr.strip()[-300:]}")
    for path in listing.stdout.splitlines():
        if path.startswith("/"):
            found.add(path)
    for path in SETTINGS + folders:
        if os.path.isdir(path) and not os.path.islink(path):
            found.addAll(path)
        found.add(path)
    found.addLibraries()
    for name in LIBRARIES:
        for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib"):
            found.add(f"{folder}/{name}")
    found.addLibraries()
    return [(place.lstrip("/"), mode, data) for place, (mode, data) in sorted(found.entries.items())]
