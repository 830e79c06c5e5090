"""Debian packages that the café uses without installing them.

A kernel would ask for a boot entry, and the portal's package would start a service on a developer's laptop. Both are
fetched with apt's own client and unpacked into a cache folder outside the checkout; nothing is installed.
"""

import os
import pathlib
import shutil
import subprocess
import tempfile


class Missing(Exception):
    """Something that this machine lacks, with the command that helps."""


def cacheFolder() -> pathlib.Path:
    named = os.environ.get("HOTSPOTD_CAFE_CACHE")
    if named:
        folder = pathlib.Path(named)
    else:
        folder = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "hotspotd-cafe"
    folder.mkdir(parents=True, exist_ok=True)
    return folder.resolve()


def requireProgram(name: str, package: str) -> str:
    """The path of a program, or one clear line with the fix."""
    path = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin:/usr/bin:/bin")
    if not path:
        raise Missing(f"{name} is missing: apt-get install {package}")
    return path


def kernelPackage() -> str:
    """The package that linux-image-amd64 depends on; its name carries the kernel's version."""
    listing = subprocess.run(["apt-cache", "depends", "linux-image-amd64"], capture_output=True, text=True).stdout
    for line in listing.splitlines():
        word = line.strip().removeprefix("Depends:").strip()
        if word.startswith("linux-image-"):
            if word != "linux-image-amd64":
                return word
    raise Missing("apt knows no kernel package: apt-get update")


def isKnown(package: str) -> bool:
    return bool(subprocess.run(["apt-cache", "show", "--no-all-versions", package], capture_output=True).stdout)


def unpacked(package: str) -> pathlib.Path:
    """The folder with the package's files. Fetched once; a later run needs no network. Debian 13 has added t64 to the names of
    libraries whose interface has a time."""
    for name in (package, package + "t64"):
        if (cacheFolder() / name).is_dir():
            return cacheFolder() / name
    if not isKnown(package) and isKnown(package + "t64"):
        package += "t64"
    folder = cacheFolder() / package
    for program in ("apt-get", "dpkg"):
        requireProgram(program, program.split("-")[0])
    with tempfile.TemporaryDirectory(dir=cacheFolder(), prefix=".fetch-") as work:
        # As root, apt wants to drop to its own user for the download, which cannot write here; it then says so and goes on.
        fetched = subprocess.run(
            ["apt-get", "download", "-q", "-o", "APT::Sandbox::User=root", package], cwd=work, capture_output=True, text=True
        )
        debs = list(pathlib.Path(work).glob("*.deb"))
        if fetched.returncode != 0 or not debs:
            raise Missing(f"cannot fetch {package}: apt-get update, or look at: {fetched.stderr.strip()[-300:]}")
        target = pathlib.Path(work) / "files"
        subprocess.run(["dpkg", "-x", str(debs[0]), str(target)], check=True)
        try:
            target.rename(folder)
        except OSError:
            # Another run was quicker; its copy is as good.
            if not folder.is_dir():
                raise
    return folder


def kernel() -> pathlib.Path:
    """The newest unpacked kernel that apt knows, else any that is in the cache (so that a run without network works)."""
    try:
        return unpacked(kernelPackage())
    except Missing:
        kept = sorted(cacheFolder().glob("linux-image-*"))
        if kept:
            return kept[-1]
        raise
