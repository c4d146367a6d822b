"""deploy/quickstart --slurm: the main job with two Slurm clusters, and nothing that it started is left after it."""
import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile

import pytest

from network import BIN, free_port, roomy_folder, wait_until

DEPLOY = pathlib.Path(__file__).resolve().parents[2] / "deploy"
NO_SLURM = subprocess.run([DEPLOY / "slurm_cluster", "check"], capture_output=True, text=True).stdout.strip()
pytestmark = pytest.mark.skipif(bool(NO_SLURM), reason=f"Slurm cannot run here: {NO_SLURM}")


@pytest.fixture(scope="module")
def state_dir():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-e2e-", dir=roomy_folder()))
    folder.chmod(0o755)
    yield folder
    if not os.environ.get("FATHOM_KEEP"):
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def report(state_dir):
    """What a first run printed."""
    outcome = subprocess.run(command(state_dir, "--once"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             timeout=1500)
    last = outcome.stdout.strip().rsplit("\n", 1)[-1]
    assert outcome.returncode == 0, f"ended with {outcome.returncode}: {last}\n{outcome.stdout}{logs(state_dir)}"
    return outcome.stdout


@contextlib.contextmanager
def running(state_dir):
    """A further run, with what it prints in a file."""
    output = state_dir / "output"
    with open(output, "w") as file:
        process = subprocess.Popen(command(state_dir), stdout=file, stderr=file, start_new_session=True)
    try:
        yield process, output.read_text
    finally:
        process.kill()
        process.wait()
        wait_until(lambda: not living(state_dir), 180, "the end of all processes")


def command(state_dir, *more):
    return [DEPLOY / "quickstart", "--slurm", "--state-dir", state_dir, "--programs", BIN,
            "--listen", f"127.0.0.1:{free_port()}", "--agent-listen", f"127.0.0.1:{free_port()}", *more]


def living(state_dir):
    """The processes that know the folder: by a command line, an environment (those of jobs too), or where they work."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if b") Z " in (folder / "stat").read_bytes() or int(folder.name) == os.getpid():
                continue
            line = (folder / "cmdline").read_bytes()
            known = line + (folder / "environ").read_bytes() + os.fsencode(os.readlink(folder / "cwd"))
            if os.fsencode(state_dir) in known:
                found.append((int(folder.name), line.replace(b"\0", b" ").decode()))
    return found


def logs(state_dir):
    return "".join(f"--- {path.name}\n" + "\n".join(path.read_text(errors="replace").splitlines()[-20:]) + "\n"
                   for path in sorted(state_dir.glob("*.log")))


def completed(state_dir, center):
    """Names of jobs that Slurm itself noted as completed."""
    lines = (state_dir / "slurm" / center / "log" / "jobs").read_text().splitlines()
    facts = [dict(word.split("=", 1) for word in line.split() if "=" in word) for line in lines]
    return {fact["Name"] for fact in facts if fact["JobState"] == "COMPLETED"}


def shown(report, center, label):
    """Names of the jobs that the quickstart showed as those of a center's squeue."""
    parts = re.findall(rf"^{center}\$ squeue.*\n((?:.+\n)*)", report, re.MULTILINE)
    return {name for part in parts for name in re.findall(rf"COMPLETED .* (att_\w+) +fathom {label} job_", part)}


def test_both_centers_are_measured_and_run_the_programs_as_slurm_jobs(state_dir, report):
    for center in ("alpha", "beta"):
        noted = completed(state_dir, center)
        probes, programs = shown(report, center, "probe"), shown(report, center, "job")
        assert probes and probes <= noted
        assert len(programs) == 2 and programs <= noted
    assert {program for program, _ in predictions(report)} == {"hpcc", "openssl"}
    assert all(float(ratio) > 0 for _, ratio in predictions(report))


def predictions(report):
    return re.findall(r"^  (\w+) +alpha .* beta predicted .* actual/predicted ([\d.]+)$", report, re.MULTILINE)


def test_the_clusters_differ(report):
    assert re.search(r"^alpha +core ", report, re.MULTILINE)
    assert re.search(r"^beta +main-beta ", report, re.MULTILINE)
    assert "debug" in report.split("beta$ sinfo")[1].split("\n\n")[0]


@pytest.mark.usefixtures("report")
def test_nothing_is_left(state_dir):
    assert living(state_dir) == []


def wait_for_job(process, output):
    """Until hpcc runs, in a run that found the measurements of the first."""
    wait_until(lambda: process.poll() is not None or "hpcc: running at alpha/core" in output(), 600, "hpcc running")
    assert process.poll() is None, output()
    assert "its data found again" in output() and "measured in an earlier run" in output()


@pytest.mark.usefixtures("report")
def test_a_second_run_finds_its_data_and_ends_all_when_a_program_of_slurm_is_killed(state_dir):
    with running(state_dir) as (process, output):
        wait_for_job(process, output)
        another = subprocess.run(command(state_dir), stdout=subprocess.PIPE, text=True, timeout=300)
        assert (another.returncode, "another quickstart uses" in another.stdout) == (1, True)
        os.kill(int((state_dir / "slurm" / "alpha" / "run" / "slurmctld.pid").read_text()), signal.SIGKILL)

        assert process.wait(240) == 1
        assert "alpha-slurmctld ended with status -9" in output()
        assert living(state_dir) == []


@pytest.mark.usefixtures("report")
def test_ctrl_c_ends_all(state_dir):
    with running(state_dir) as (process, output):
        wait_for_job(process, output)
        os.killpg(process.pid, signal.SIGINT)

        assert process.wait(240) == 0, output()
        assert living(state_dir) == []


@pytest.mark.usefixtures("report")
def test_kill_9_ends_all(state_dir):
    with running(state_dir) as (process, output):
        wait_for_job(process, output)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()

        wait_until(lambda: not living(state_dir), 180, "the end of all processes")
