"""What a row's program runs in: its Java, packages, keys, and where its checkpoints are."""

from __future__ import annotations

import contextlib
import dataclasses
import pathlib
import subprocess
import sys
from collections.abc import Iterator, Mapping

from e2e.compatibility.java_runtime import NoRuntime, java_home
from e2e.compatibility.rows import Row


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Spark's settings, those of the session alone, the environment of the program, and where checkpoints are."""

    conf: Mapping[str, str]
    session: Mapping[str, str]
    env: Mapping[str, str]
    checkpoint: str


class NotHere(Exception):
    """This machine lacks what the row needs; the sentence says what."""


@contextlib.contextmanager
def surroundings(row: Row, folder: pathlib.Path) -> Iterator[Place]:
    """Where checkpoints are and which Java runs; NotHere where this machine lacks it."""
    env = _environment(row, folder)
    conf = _tls(folder) if row.tls else {}
    if not row.remote:
        yield Place(conf=conf, session={}, env=env, checkpoint=str(folder / "checkpoint"))
        return
    from benchmarks.object_store.store import BUCKET, PROGRAM, Distance, hadoop_of_spark, object_store, spark_conf

    if not PROGRAM.exists():
        raise NotHere("no server of an object store: `make object-store` installs one")
    if (hadoop := hadoop_of_spark()).startswith("3.3."):
        raise NotHere(f"s3a of Hadoop {hadoop} wants another SDK of AWS than those of 3.4 and newer")
    with object_store(Distance()) as address:
        try:
            conf, session = _keys({**conf, **spark_conf(address)}, own=row.own_keys)
        except RuntimeError as error:
            raise NotHere(str(error)) from None
        yield Place(conf=conf, session=session, env=env, checkpoint=f"s3a://{BUCKET}/{row.name}")


def _keys(conf: Mapping[str, str], *, own: bool) -> tuple[dict[str, str], dict[str, str]]:
    """The driver's settings and the session's: keys of an object store are the session's where they are its `own`."""
    hadoop = "spark.hadoop."
    keys = {name for name in conf if own and name.endswith((".access.key", ".secret.key"))}
    return (
        {name: value for name, value in conf.items() if name not in keys},
        {name.removeprefix(hadoop): conf[name] for name in sorted(keys)},
    )


def _environment(row: Row, folder: pathlib.Path) -> dict[str, str]:
    """Java and packages that the row's program needs, installed beside its files."""
    env = {}
    if row.java is not None:
        try:
            env["JAVA_HOME"] = str(java_home(row.java, folder / "java"))
        except NoRuntime as error:
            raise NotHere(str(error)) from None
    if row.packages:
        env["PYTHONPATH"] = str(_installed(row.packages, folder / "packages"))
    return env


def _tls(folder: pathlib.Path) -> dict[str, str]:
    """A key, trusted by everybody who has its file."""
    store, secret = str(folder / "key.p12"), "only for this row"
    name = ["-alias", "spark", "-dname", "CN=localhost", "-ext", "san=ip:127.0.0.1", "-keyalg", "RSA", "-validity", "2"]
    kept = ["-storetype", "PKCS12", "-keystore", store, "-storepass", secret]
    done = subprocess.run(["keytool", "-genkeypair", *name, *kept], capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotHere(f"no key: {' '.join(done.stdout.split())}")
    stores = {"keyStore": store, "keyStorePassword": secret, "trustStore": store, "trustStorePassword": secret}
    return {
        f"spark.ssl.rpc.{key}": value for key, value in {**stores, "keyPassword": secret, "enabled": "true"}.items()
    }


def _installed(packages: tuple[str, ...], target: pathlib.Path) -> pathlib.Path:
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--target",
        str(target),
    ]
    done = subprocess.run([*command, *packages], capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotHere(f"{', '.join(packages)} could not be installed: {' '.join(done.stderr.split())[-300:]}")
    return target
