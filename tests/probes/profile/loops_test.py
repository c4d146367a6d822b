"""What programs compute outside library calls, found by sampling: loops, what they are made of, and what they are like."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from profiling import BIN, profile, run

LOOPS = str(BIN / "profile_loops")
PROBE = str(BIN / "fathom-probe")

NUMBERS = {"stream_triad", "trigonometric"}
POINTERS = {"random_access", "compression", "decompression"}
BYTES = {"sort", "compression", "decompression"}


def paranoid():
    try:
        return int(pathlib.Path("/proc/sys/kernel/perf_event_paranoid").read_text())
    except OSError:
        return 4


def is_optimized():
    cache = BIN.parent / "CMakeCache.txt"
    return cache.is_file() and "CMAKE_BUILD_TYPE:STRING=Release" in cache.read_text()


@pytest.fixture(scope="module")
def code_of_dot(tmp_path_factory):
    return profile(tmp_path_factory.mktemp("dot"), [LOOPS, "dot"])["remainder"]["code"]


@pytest.fixture(autouse=True)
def sampled(code_of_dot):
    """The kernel says whether this user may look; where it may not, the profile says so."""
    if code_of_dot["why_none"] is not None:
        assert paranoid() > 2 or "kernel" in code_of_dot["why_none"], code_of_dot
        pytest.skip(f"this kernel does not show where programs are: {code_of_dot['why_none']}")


def matched(result):
    """operator -> share of the time in loops"""
    shares = {}
    for loop in result["remainder"]["code"]["loops"]:
        if loop["operator"] is not None:
            shares[loop["operator"]] = shares.get(loop["operator"], 0) + loop["share"]
    return shares


@pytest.mark.parametrize("name, like", [("dot", NUMBERS), ("stencil", NUMBERS), ("chase", POINTERS), ("hash", BYTES),
                                        ("interpret", BYTES)])
def test_a_loop_is_like_operators_of_its_class(tmp_path, name, like):
    result = profile(tmp_path, [LOOPS, name, "4"])
    code = result["remainder"]["code"]
    shares = matched(result)
    assert sum(shares.values()) > 0.25, code
    assert max(shares, key=shares.get) in like, code
    total = sum(loop["share"] for loop in code["loops"]) + code["others"]
    assert abs(total - result["remainder"]["memory"] - result["remainder"]["compute"]) < 0.01, code
    for loop in code["loops"]:
        assert 0 <= loop["similarity"] <= 1 and loop["file"]
        assert not loop["mix"] or abs(sum(loop["mix"].values()) - 1) < 0.01


def test_what_a_loop_is_made_of_is_seen(tmp_path):
    dot = profile(tmp_path, [LOOPS, "dot", "4"])["remainder"]["code"]["loops"][0]
    assert dot["file"] == "profile_loops" and dot["share"] > 0.5
    assert dot["mix"]["floating"] > 0.1 and dot["mix"]["load"] > 0.1 and "indirect_load" not in dot["mix"]
    assert 0.05 < dot["operations_per_byte"] < 0.3
    chase = profile(tmp_path, [LOOPS, "chase", "4"])["remainder"]["code"]["loops"][0]
    assert chase["mix"]["indirect_load"] > 0.15 and "floating" not in chase["mix"]
    assert chase["operations_per_byte"] == 0


def test_an_interpreter_is_like_operators_on_bytes(tmp_path):
    script = "x = 0\nfor i in range(20_000_000): x += i * i % 7"
    shares = matched(profile(tmp_path, [sys.executable, "-c", script]))
    assert shares and max(shares, key=shares.get) in BYTES | POINTERS, shares


@pytest.mark.skipif(not is_optimized(), reason="loops are held against those of what users run")
@pytest.mark.parametrize("operator, parameters", [("stream_triad", {"n": 200_000}), ("spmv", {"rows": 100_000}),
                                                  ("random_access", {"n": 524_288}), ("sort", {"n": 200_000})])
def test_the_loops_of_operators_are_like_themselves(tmp_path, operator, parameters):
    task = {"name": "loops", "repeats": 150, "limit_s": 100,
            "operators": [{"id": operator, "parameters": parameters, "count": 1}]}
    (tmp_path / "task.json").write_text(json.dumps(task))
    result = profile(tmp_path, [PROBE, "--task", str(tmp_path / "task.json")], env={**os.environ, "FATHOM_CORES": "1"})
    shares = matched(result)
    assert max(shares, key=shares.get) == operator, result["remainder"]["code"]


def test_matched_loops_stand_for_the_remainder_with_their_similarity(tmp_path):
    report = tmp_path / "profile.json"
    ended = run([LOOPS, "hash", "4"], "--output", "json", "--output-file", str(report))
    assert ended.returncode == 0, ended.stderr
    result = json.loads(report.read_text())
    standing = [use for use in result["operators"] if use.get("remainder") in ("memory", "compute")]
    assert any(use["id"] in BYTES and 0.6 < use["similarity"] < 1 and use["share"] > 0.3 for use in standing), standing


def test_a_program_that_is_deleted_while_it_runs_is_looked_at(tmp_path):
    gone = tmp_path / "gone"
    shutil.copy(LOOPS, gone)
    runs = f'[ "$(readlink /proc/$!/exe)" = {gone} ]'  # and no longer the shell that starts it
    until_it_runs = f"i=0; until {runs} || [ $i -gt 500 ]; do sleep 0.02; i=$((i + 1)); done"
    command = ["sh", "-c", f"{gone} dot 4 & {until_it_runs}; sleep 0.7; rm {gone}; wait"]
    loops = profile(tmp_path, command)["remainder"]["code"]["loops"]
    assert loops and loops[0]["file"] == "gone" and loops[0]["operator"] in NUMBERS, loops


def test_a_name_that_is_no_text_is_shown_as_far_as_it_is(tmp_path):
    odd = os.fsencode(tmp_path) + b"/b\xffd\x1bx"
    shutil.copy(LOOPS, odd)
    loops = profile(tmp_path, [odd, "dot", "3"])["remainder"]["code"]["loops"]
    assert loops and loops[0]["file"] == "b?d?x", loops


def test_processes_too_short_to_be_seen_are_other_code(tmp_path):
    script = f"i=0; while [ $i -lt 1600 ]; do /bin/true; i=$((i+1)); done; exec {LOOPS} dot"
    code = profile(tmp_path, ["sh", "-c", script])["remainder"]["code"]
    # Of its own code: how much of its whole time starting processes takes, which is the kernel's, differs by machine.
    assert code["others"] / (code["others"] + sum(loop["share"] for loop in code["loops"])) > 0.2, code


def test_the_table_says_what_loops_are_like_in_words():
    ended = run([LOOPS, "hash", "4"])
    assert "its own loops, found by sampling" in ended.stderr
    assert "like sort" in ended.stderr or "like decompression" in ended.stderr or "like compression" in ended.stderr


def test_code_of_counted_libraries_is_not_the_programs_own(tmp_path):
    numpy = pytest.importorskip("numpy")
    assert numpy.ones(1).sum() == 1
    script = "import numpy\na = numpy.random.rand(400, 400)\nfor i in range(150): a @ a"
    code = profile(tmp_path, [sys.executable, "-c", script])["remainder"]["code"]
    assert not any("blas" in loop["file"] for loop in code["loops"]), code


def test_sampling_costs_the_program_at_most_three_percent(tmp_path):
    def seconds():
        before = os.times()
        subprocess.run([LOOPS, "hash", "3"], check=True, timeout=120)
        after = os.times()
        return after.children_user + after.children_system - before.children_user - before.children_system

    # Others on the machine make both longer now and then: the best of some tries is what it costs.
    ratios = [profile(tmp_path, [LOOPS, "hash", "3"])["cpu_s"] / seconds() for _ in range(6)]
    assert min(ratios) < 1.03, ratios
