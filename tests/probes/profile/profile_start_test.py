"""A program does not notice that fathom-profile started it: its streams, exit code and signals are its own."""
import json
import os
import shutil
import signal
import subprocess
import sys

import pytest

from profiling import BIN, PROFILE, TARGET, counts, run


def test_streams_and_exit_code_are_the_programs_own(tmp_path):
    script = "import sys; data = sys.stdin.read(); print(data.upper()); print('aside', file=sys.stderr); sys.exit(7)"
    ended = run([sys.executable, "-c", script], "--output-file", str(tmp_path / "table"), input="typed\n")
    assert (ended.returncode, ended.stdout, ended.stderr) == (7, "TYPED\n\n", "aside\n")


def test_the_table_goes_to_standard_error_and_json_follows_the_output():
    ended = run(["/bin/echo", "hello"])
    assert ended.stdout == "hello\n" and "No calls of operators" in ended.stderr
    ended = run(["/bin/echo", "hello"], "--format", "json", "--no-calibration")
    first, rest = ended.stdout.split("\n", 1)
    assert first == "hello" and json.loads(rest)["operators"] == []


def test_a_signal_reaches_the_program_and_the_report_is_written(tmp_path):
    report = tmp_path / "profile.json"
    process = subprocess.Popen([PROFILE, "--output", "json", "--no-calibration", "--output-file", str(report), "--",
                                TARGET, "term"], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 128 + signal.SIGTERM
    assert counts(json.loads(report.read_text())) == {("cblas_dgemm",): 1}


def test_a_preloaded_library_of_the_user_stays_first(tmp_path):
    script = "import os; print(os.environ['LD_PRELOAD'])"
    ended = run([sys.executable, "-c", script], "--output-file", str(tmp_path / "table"),
                env={**os.environ, "LD_PRELOAD": "libm.so.6"})
    first, second = ended.stdout.strip().split(":")
    assert first == "libm.so.6" and second.endswith("libfathom-profile.so")


def test_programs_that_cannot_be_started_say_why(tmp_path):
    ended = run(["no-such-program"])
    assert ended.returncode == 127 and "not found in PATH" in ended.stderr
    plain = tmp_path / "plain"
    plain.write_text("#!/bin/sh\n")
    ended = run([str(plain)])
    assert ended.returncode == 126 and "chmod +x" in ended.stderr
    ended = run([str(tmp_path)])
    assert ended.returncode == 126 and "folder" in ended.stderr
    plain.write_text("#!/no/such/interpreter\n")
    plain.chmod(0o755)
    ended = run([str(plain)])
    assert ended.returncode == 126 and "/no/such/interpreter" in ended.stderr


def as_plain_user(command):
    """As a user who is held to the rights of files: root gives that privilege up."""
    return ["/usr/bin/setpriv", "--inh-caps=-all", "--bounding-set=-all", *command] if os.geteuid() == 0 else command


def test_a_program_is_looked_for_as_shells_do(tmp_path):
    """What a folder of PATH hides from this user is not there; it hides nothing in the folders after it."""
    closed, plain, last = (tmp_path / name for name in ("closed", "plain", "last"))
    for folder in (closed, plain, last):
        folder.mkdir()
    for place, mode in ((closed, 0o755), (plain, 0o644), (last, 0o755)):
        (place / "program").write_text("#!/bin/sh\nexit 7\n")
        (place / "program").chmod(mode)
    (plain / "folder").mkdir()
    closed.chmod(0)

    def start(name, *folders):
        ended = subprocess.run(as_plain_user([PROFILE, "--output-file", str(tmp_path / "table"), "--", name]), text=True,
                               capture_output=True, timeout=120, env={**os.environ, "PATH": ":".join(map(str, folders))})
        return ended.returncode, ended.stderr

    try:
        code, said = start("program", closed)
        assert code == 127 and "not found in PATH" in said and f"may not enter {closed}" in said
        assert start("folder", closed, plain)[0] == 127
        code, said = start("program", closed, plain)
        assert code == 126 and "chmod +x" in said
        assert start("program", closed, plain, last)[0] == 7
    finally:
        closed.chmod(0o700)


def test_a_static_program_is_measured_from_outside(tmp_path):
    ended = run([str(BIN / "profile_static")], "--output", "json", "--no-calibration")
    assert ended.returncode == 3 and "statically linked" in ended.stderr
    output, report = ended.stdout.split("\n", 1)
    assert output == "static"
    result = json.loads(report)
    assert result["coverage"] == 0 and result["operators"] == [] and result["wall_s"] > 0
    assert any("statically linked" in note for note in result["notes"])


def address_sanitized(tmp_path):
    """A program whose runtime refuses to start behind a library that is loaded first."""
    source, program = tmp_path / "sanitized.c", tmp_path / "sanitized"
    source.write_text('#include <stdio.h>\nint main(void) { puts("ran"); return 3; }\n')
    built = subprocess.run(["gcc", "-fsanitize=address", str(source), "-o", str(program)], capture_output=True)
    if built.returncode != 0:
        pytest.skip("the compiler has no AddressSanitizer")
    return str(program)


def test_a_program_with_address_sanitizer_runs_and_is_measured_from_outside(tmp_path):
    program = address_sanitized(tmp_path)
    ended = run([program], "--output", "json", "--no-calibration", env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})
    output, report = ended.stdout.split("\n", 1)
    assert (ended.returncode, output) == (3, "ran"), ended.stderr
    assert any("AddressSanitizer" in note for note in json.loads(report)["notes"])


def test_a_child_with_address_sanitizer_runs(tmp_path):
    program = address_sanitized(tmp_path)
    ended = run(["/bin/sh", "-c", program + "; exit $?"], "--output-file", str(tmp_path / "table"),
                env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})
    assert (ended.returncode, ended.stdout) == (3, "ran\n"), ended.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes programs that belong to another user")
def test_a_set_user_id_program_is_measured_from_outside(tmp_path):
    program = tmp_path / "id"
    shutil.copy("/usr/bin/id", program)
    shutil.chown(program, "nobody")
    program.chmod(0o4755)
    ended = run([str(program), "-un"], "--output-file", str(tmp_path / "table"))
    assert ended.returncode == 0 and ended.stdout == "nobody\n"
    assert "set-user-id" in ended.stderr


@pytest.mark.parametrize("to_group", [False, True])
def test_each_signal_arrives_once(tmp_path, to_group):
    script = ("import signal, time\n"
              "seen = []\n"
              "def note(number, frame): seen.append(number)  # printing here may fall into the print below\n"
              "signal.signal(signal.SIGTERM, note)\n"
              "print('ready', flush=True)\n"
              "end = time.time() + 60\n"
              "while not seen and time.time() < end: time.sleep(0.05)\n"
              "end = time.time() + 1  # for a second one\n"
              "while time.time() < end: time.sleep(0.05)\n"
              "print('got', *seen, flush=True)\n")
    process = subprocess.Popen([PROFILE, "--output-file", str(tmp_path / "table"), "--", sys.executable, "-c", script],
                               stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stdout.readline() == "ready\n"
    if to_group:
        os.killpg(process.pid, signal.SIGTERM)
    else:
        process.send_signal(signal.SIGTERM)
    assert process.communicate(timeout=120)[0] == "got 15\n"
    assert process.returncode == 0
