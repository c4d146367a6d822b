"""What is known of the machine is not measured while a job's units are held."""
import json
import os
import shutil
import subprocess

import pytest

from profiling import BIN, PROFILE

LOOPS = str(BIN / "profile_loops")
TRIAD_KIB = 3 * 64 * 1024  # the arrays with which bandwidth is measured


@pytest.fixture
def folder_with_recorder(tmp_path):
    """fathom-profile in a folder where fathom-probe only records that it was run."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("fathom-profile", "libfathom-profile.so"):
        shutil.copy(BIN / name, folder / name)
    recorder = folder / "fathom-probe"
    recorder.write_text(f"#!/bin/sh\necho run >> {folder}/runs\nexit 1\n")
    recorder.chmod(0o755)
    return folder


def profile_loops(folder, tmp_path, library=None):
    """The profile of a program with loops of its own, how often fathom-probe was run, and the most memory that was used."""
    report = tmp_path / "profile.json"
    options = []
    if library is not None:
        (tmp_path / "library.json").write_text(json.dumps(library))
        options = ["--library", str(tmp_path / "library.json")]
    process = subprocess.Popen([folder / "fathom-profile", "--output", "json", "--output-file", str(report), *options,
                                "--", LOOPS, "hash", "3"], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    runs = folder / "runs"
    count = len(runs.read_text().splitlines()) if runs.exists() else 0
    runs.unlink(missing_ok=True)
    return json.loads(report.read_text()), count, usage.ru_maxrss


@pytest.fixture(scope="module")
def machine():
    """As an agent asks for it."""
    ended = subprocess.run([PROFILE, "--machine"], capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def test_a_machine_is_measured_without_a_program(machine):
    assert machine["bandwidth_bytes_per_s"] > 1e8
    assert isinstance(machine["shows_pages"], bool)
    sizes = {}
    for one in machine["stand_ins"]:
        assert one["each_s"] > 0
        sizes[one["id"]] = sizes.get(one["id"], 0) + 1
    assert sizes == {"random_access": 2, "sort": 2, "spmv": 2, "stream_triad": 2, "trigonometric": 1, "file_read": 1,
                     "file_write": 1}


def test_nothing_is_run_after_the_program_where_the_machine_is_known(folder_with_recorder, tmp_path, machine):
    known, runs, memory_kib = profile_loops(folder_with_recorder, tmp_path, {"machine": machine})
    stand_ins = [use for use in known["operators"] if "remainder" in use]
    times = {(one["id"], json.dumps(one["parameters"], sort_keys=True)): one["each_s"] for one in machine["stand_ins"]}
    assert runs == 0 and stand_ins
    assert not any("remainder has no operators" in note for note in known["notes"])
    for use in stand_ins:
        each_s = times[(use["id"], json.dumps(use["parameters"], sort_keys=True))]
        assert use["count"] == pytest.approx(max(1, use["share"] * known["thread_s"] / each_s), rel=0.01, abs=1)

    unknown, runs, more_memory_kib = profile_loops(folder_with_recorder, tmp_path)
    assert runs == 1 and any("cannot be timed" in note for note in unknown["notes"])
    assert memory_kib < TRIAD_KIB <= more_memory_kib, "bandwidth is measured only where it is not known"


def test_what_is_not_known_of_the_machine_is_measured(folder_with_recorder, tmp_path, machine):
    for part in ({**machine, "stand_ins": []}, {"stand_ins": "none"}, 7):
        _, runs, _ = profile_loops(folder_with_recorder, tmp_path, {"machine": part})
        assert runs == 1
