"""Python files and far scripts: what is importable when the script's first line runs, and what Spark is told."""

from __future__ import annotations

import functools
import http.server
import os
import pathlib
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator

import pytest

from streamjob_agent import fetching

JOB = """
import sys
import packed, single
print("first", packed.WORD, single.WORD, __name__, sys.argv[1:])
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[1]").getOrCreate()
def words(_):
    import packed, single
    return packed.WORD + single.WORD
print("worker", spark.sparkContext.parallelize([1], 1).map(words).collect())
spark.stop()
"""


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / "far").mkdir()
    (tmp_path / "far/job.py").write_text(JOB)
    (tmp_path / "far/single.py").write_text("WORD = 'one'")
    with zipfile.ZipFile(tmp_path / "far/pack.zip", "w") as archive:
        archive.writestr("packed.py", "WORD = 'two'")
    return tmp_path


@pytest.fixture
def address(folder: pathlib.Path) -> Iterator[str]:
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder / "far"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def run(folder: pathlib.Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "streamjob_agent", "run", *words]
    env = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=200, check=False)


@pytest.mark.parametrize("scheme", ["", "local://", "file://"])
def test_files_of_this_machine_need_no_spark(folder: pathlib.Path, scheme: str) -> None:
    (folder / "job.py").write_text("import sys, packed, single; print(packed.WORD, 'pyspark' in sys.modules)")
    files = ",".join(f"{scheme}{folder}/far/{name}" for name in ("pack.zip", "single.py"))
    done = run(folder, "--py-files", files, f"{scheme}{folder}/job.py")
    assert (done.stdout, done.returncode) == ("two False\n", 0), done.stderr


def test_a_module_gets_its_python_files_too(folder: pathlib.Path) -> None:
    done = run(folder, "--py-files", f"{folder}/far/single.py,{folder}/far/pack.zip", "-m", "packed")
    assert done.returncode == 0, done.stderr


def test_spark_is_told_of_files_that_workers_need() -> None:
    assert fetching.with_py_files(None, ["a.py", "b c.zip"]) == "--py-files 'a.py,b c.zip' pyspark-shell"
    environ = {"PYSPARK_SUBMIT_ARGS": "--conf a=b pyspark-shell"}
    before = list(sys.path)
    try:
        assert fetching.gather("local:///opt/job.py", ["local:///opt/lib.zip"], environ) == "/opt/job.py"
        assert sys.path[1] == "/opt/lib.zip"
    finally:
        sys.path[:] = before
    assert environ == {"PYSPARK_SUBMIT_ARGS": "--py-files /opt/lib.zip --conf a=b pyspark-shell"}


def test_without_any_nothing_changes() -> None:
    environ: dict[str, str] = {}
    assert fetching.gather("job.py", [], environ) == "job.py"
    assert fetching.gather(None, [], environ) is None
    assert environ == {}


@pytest.mark.spark
def test_a_far_script_and_its_files_are_fetched_by_spark(folder: pathlib.Path, address: str) -> None:
    done = run(folder, "--py-files", f"{address}/pack.zip,{address}/single.py", f"{address}/job.py", "7")
    assert "first two one __main__ ['7']" in done.stdout, done.stderr
    assert "worker ['twoone']" in done.stdout, done.stderr


@pytest.mark.spark
def test_what_cannot_be_fetched_ends_the_driver_with_its_name(folder: pathlib.Path, address: str) -> None:
    done = run(folder, f"{address}/none.py")
    assert done.returncode == 2
    assert f"streamjob_agent: Spark cannot fetch {address}/none.py" in done.stderr
