"""A real Slurm that keeps accounts (slurmdbd): what jobs used, the limits of its users, and ends while slurmdbd is away."""
import contextlib

import pytest

from network import Gate, attempt_of, wait_running, wait_told, wait_until
from slurm import slurm_network, submit, why_no_slurm

NO_SLURM = why_no_slurm("accounting")
pytestmark = pytest.mark.skipif(bool(NO_SLURM), reason=f"Slurm with accounts cannot run here: {NO_SLURM}")

QOS = ("modify", "qos", "normal", "set")  # of all users who have no other
# What Slurm forgets soon is asked of its accounts.
SETTINGS = "MinJobAge=5\n"


@pytest.fixture(scope="module")
def network():
    with slurm_network(accounting=True, settings=SETTINGS) as network:
        yield network


@contextlib.contextmanager
def limits(cluster, **values):
    """Of the QOS of all users."""
    cluster.manage(*QOS, *(f"{name}={value}" for name, value in values.items()))
    try:
        yield
    finally:
        cluster.manage(*QOS, *(f"{name}=-1" for name in values))


@contextlib.contextmanager
def without_slurmdbd(cluster):
    cluster.kill_accounting()
    try:
        yield
    finally:
        cluster.call("start-accounting")


def seconds(text):
    """Of sacct's 01:02:03, or 00:02.250."""
    total = 0.0
    for part in text.split(":"):
        total = total * 60 + float(part)
    return total


def wait_account(network, job_id, state):
    """What the accounts say of the only Slurm job that a job ever had."""
    attempt = attempt_of(network, job_id)["id"]

    def ended():
        [account] = network.cluster.accounts_of(attempt, "State", "ExitCode", "ElapsedRaw", "TotalCPU", "NodeList") or [None]
        return account if account and account[0].split()[0] == state else None
    return wait_until(ended, 180, f"the accounts saying that the job of {attempt} has ended")


def test_what_a_job_used_is_what_slurms_accounts_say(network):
    """tail keeps in its memory what has no line's end, until somebody reads it; Slurm looks once a second. The program itself takes
    more than 15 s."""
    job = network.wait_job(submit(network, "(ulimit -t 3; while :; do :; done); head -c 150M /dev/zero | tail | (sleep 12; wc -c)"))

    assert job["state"] == "succeeded", job["end_reason"]
    attempt = job["attempt"]
    _, _, elapsed_s, cpu, nodes = wait_account(network, job["id"], "COMPLETED")
    assert 0.5 < seconds(cpu) < 10 and attempt["cpu_s"] == pytest.approx(seconds(cpu), abs=0.01), (attempt, cpu)
    # What Slurm counts begins before the program, however long its node takes to start it, and is in whole seconds.
    assert 14.9 <= attempt["run_s"] <= int(elapsed_s) + 1, (attempt, elapsed_s)
    assert 150 << 20 < attempt["max_resident_bytes"] < 1 << 30, attempt
    assert attempt["nodes"] == nodes and f"Nodes: {nodes}" in " ".join(network.cli("job", "show", job["id"]).split())


def test_a_limit_of_running_jobs_holds_and_is_told(network):
    with limits(network.cluster, maxjobsperuser=1):
        first = submit(network, "sleep 600")
        wait_running(network, first)
        second = submit(network, "true")
        wait_told(network, second, "QOSMaxJobsPerUserLimit")
        shown = network.cli("job", "show", second)
        assert "Waits there" in shown and "QOSMaxJobsPerUserLimit" in shown, shown
        network.cli("job", "cancel", first)
        ended = [network.wait_job(job_id) for job_id in (first, second)]

    assert [job["state"] for job in ended] == ["cancelled", "succeeded"], ended
    assert ended[1]["attempt"]["started_at"] >= ended[0]["attempt"]["ended_at"]


def test_a_limit_of_submitted_jobs_holds_and_is_told(network):
    with limits(network.cluster, maxsubmitjobsperuser=1):
        first = submit(network, "sleep 600")
        wait_running(network, first)
        second = submit(network, "true")
        assert "Slurm refuses it: " in wait_told(network, second, "QOSMaxSubmitJobPerUserLimit")
        assert network.cluster.accounts_of(attempt_of(network, second)["id"], "State") == []
        network.cli("job", "cancel", first)
        ended = [network.wait_job(job_id, 240) for job_id in (first, second)]

    assert [job["state"] for job in ended] == ["cancelled", "succeeded"], ended
    wait_account(network, second, "COMPLETED")


def test_a_job_that_a_limit_never_lets_in_ends_with_the_reason(network):
    with limits(network.cluster, maxwall=1, flags="DenyOnLimit"):
        job = network.wait_job(submit(network, "true", wall_limit_s=600))

    assert job["attempt"]["outcome"] == "failed_to_start", job
    assert "QOSMaxWallDurationPerJobLimit" in job["end_reason"]


def test_slurmdbd_that_is_killed_loses_and_doubles_nothing(network):
    """While one job runs and ends, another is submitted, and a third waits in Slurm's queue."""
    cluster = network.cluster
    while_away, afterwards = Gate(network, "away"), Gate(network, "afterwards")
    runs = submit(network, f"{while_away.passing}; echo once; exit 3")
    wait_running(network, runs)
    # Of a job that ends before its start is in the accounts, Slurm keeps the state there, but no exit code.
    wait_until(lambda: cluster.accounts_of(attempt_of(network, runs)["id"], "State"), 120, "the start in the accounts")
    with without_slurmdbd(cluster):
        while_away.open()
        meanwhile = submit(network, "echo once; exit 4")
        ends = {job_id: network.wait_job(job_id) for job_id in (runs, meanwhile)}
        stays = submit(network, f"{afterwards.passing}; echo once; exit 5")
        wait_running(network, stays)
        cluster.run("scontrol", "update", "partitionname=main", "state=down")
        waits = submit(network, "echo once; exit 6")
        wait_told(network, waits, "PartitionDown")
    cluster.run("scontrol", "update", "partitionname=main", "state=up")
    afterwards.open()
    ends |= {job_id: network.wait_job(job_id) for job_id in (stays, waits)}

    for job_id, code in ((runs, 3), (meanwhile, 4), (stays, 5), (waits, 6)):
        job = ends[job_id]
        assert (job["exit_code"], job["attempt"]["epoch"]) == (code, 1), job
        assert network.rest.call("GET", f"/jobs/{job_id}/logs/stdout").text == "once\n"
        assert wait_account(network, job_id, "FAILED")[1] == f"{code}:0"
    [usage] = network.rest.items(f"/usage?job_id={runs}")
    assert usage["outcome"] == "exited"


def test_what_slurm_has_forgotten_ends_as_slurmdbd_says_once_it_is_back(network):
    """Nobody was there to see that the center cancelled it, and its script could not note that."""
    cluster, agent = network.cluster, network.agent
    job_id = submit(network, "sleep 600")
    wait_running(network, job_id)
    attempt = attempt_of(network, job_id)["id"]
    questions = agent.process.log().count("slurm_accounts_unreachable")
    with without_slurmdbd(cluster):
        agent.process.kill()
        cluster.run("scancel", "--name", attempt)
        wait_until(lambda: cluster.jobs_of(attempt) == [], 240, "Slurm having forgotten it")
        agent.process.start()
        wait_until(lambda: agent.process.log().count("slurm_accounts_unreachable") > questions, 120, "the agent asking for its account")
        assert network.job(job_id)["state"] not in ("failed", "succeeded", "cancelled")

    job = network.wait_job(job_id, 240)

    assert (job["state"], job["attempt"]["outcome"]) == ("failed", "lost"), job
    assert "cancelled in Slurm at the center" in job["end_reason"], job
    wait_account(network, job_id, "CANCELLED")
