"""A Java runtime for one row: a package of Debian's, taken apart in the row's folder and installed nowhere."""

from __future__ import annotations

import pathlib
import subprocess

NEXT_RELEASE = "trixie"
"""Debian's release after the one that Spark's images and this project's machines have; it has Java 21."""
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
ITS_LIBRARIES = ("libc6", "libstdc++6", "libgcc-s1", "zlib1g")
"""What a runtime of a newer release needs of that release, beside itself."""


class NoRuntime(Exception):
    """There is none to be had here; the sentence says why."""


def java_home(package: str, folder: pathlib.Path) -> pathlib.Path:
    """The home of the runtime in that package; where this Debian has none, of the next release's."""
    folder.mkdir()
    try:
        _download([package], folder)
        found = _taken_apart(folder)
    except NoRuntime as error:
        if "no candidate" not in str(error) and "Unable to locate" not in str(error):
            raise
        found = _of_next_release(package, folder)
    done = subprocess.run([str(found / "bin/java"), "-version"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoRuntime(f"{package}: {_end(done.stderr)}")
    return found


def _of_next_release(package: str, folder: pathlib.Path) -> pathlib.Path:
    """It runs on that release's own libraries: what it starts does not."""
    apt = _apt_of(NEXT_RELEASE, folder / "apt")
    _run(["apt-get", *apt, "update"], folder)
    _download(["patchelf"], folder / "tool")
    _unpack(folder / "tool")
    _download([package, *ITS_LIBRARIES], folder, apt)
    home = _taken_apart(folder)
    libraries = next(folder.glob("usr/lib/*/libc.so.6")).parent
    loader = next(libraries.glob("ld-linux*"))
    paths = ":".join(map(str, (home / "lib", home / "lib/server", libraries)))
    # By path and not by LD_LIBRARY_PATH, which Python workers would inherit.
    patch = [
        str(folder / "tool/usr/bin/patchelf"),
        "--set-interpreter",
        str(loader),
        "--force-rpath",
        "--set-rpath",
        paths,
    ]
    for program in ("bin/java", "bin/keytool", "lib/jspawnhelper"):
        _run([*patch, str(home / program)], folder)
    return home


def _apt_of(release: str, folder: pathlib.Path) -> list[str]:
    """Options for apt-get that let it see another release, from where this machine has its own, and nothing else."""
    known = _run(
        ["apt-get", "indextargets", "--format", "$(ORIGIN) $(REPO_URI)", "Created-By: Packages"], folder.parent
    )
    archives = [words[1] for words in map(str.split, known.splitlines()) if words[0] == "Debian"]
    if not archives:
        raise NoRuntime("no archive of Debian's among apt's sources")
    for name in ("sources", "lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True)
    source = f"deb [signed-by={KEYRING}] {archives[0]} {release} main\n"
    (folder / "sources/next.list").write_text(source)
    places = {"Etc::SourceList": "/dev/null", "Etc::SourceParts": folder / "sources"}
    places |= {"State::lists": folder / "lists", "Cache": folder / "cache"}
    return [word for name, place in places.items() for word in ("-o", f"Dir::{name}={place}")]


def _download(packages: list[str], folder: pathlib.Path, apt: list[str] | None = None) -> None:
    folder.mkdir(exist_ok=True)
    _run(["apt-get", *(apt or []), "download", *packages], folder)


def _unpack(folder: pathlib.Path) -> None:
    for package in folder.glob("*.deb"):
        _run(["dpkg-deb", "--extract", str(package), "."], folder)


def _taken_apart(folder: pathlib.Path) -> pathlib.Path:
    _unpack(folder)
    home = next(folder.glob("usr/lib/jvm/*/bin/java")).parents[1]
    # Its settings are links into /etc, where this runtime is not installed.
    for link in home.rglob("*"):
        if link.is_symlink() and str(link.readlink()).startswith("/etc/"):
            inside = folder / str(link.readlink()).lstrip("/")
            link.unlink()
            link.symlink_to(inside)
    return home


def _run(command: list[str], folder: pathlib.Path) -> str:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise NoRuntime(f"no {command[0]} on this machine") from None
    if done.returncode:
        raise NoRuntime(f"{' '.join(command[-1:])}: {_end(done.stderr)}")
    return done.stdout


def _end(text: str) -> str:
    return " ".join(text.split())[-200:]
