"""A real Slurm that is given orders by slurmrestd, with a token; it keeps accounts (slurmdbd), where that is installed."""
import os
import signal
import time

import pytest

from network import Gate, attempt_of, output_of, wait_running, wait_told, wait_until
from slurm import JOBS_USER, slurm_network, submit, why_no_slurm

NO_SLURM = why_no_slurm("rest")
HAS_ACCOUNTS = not why_no_slurm("accounting")
pytestmark = pytest.mark.skipif(bool(NO_SLURM), reason=f"Slurm with slurmrestd cannot run here: {NO_SLURM}")


@pytest.fixture(scope="module")
def network():
    # What Slurm forgets soon is asked of its accounts.
    with slurm_network(accounting=HAS_ACCOUNTS, rest=True, settings="MinJobAge=5\n") as network:
        yield network


def accounts_say(cluster, attempt_id, state):
    return [row[0] for row in cluster.accounts_of(attempt_id, "State")] == [state]


def test_a_job_goes_in_by_slurmrestd_and_ends_truly(network):
    assert network.center("alpha")["facts"]["slurm_orders"] == "rest"
    job_id = submit(network, "id -un; echo $SLURM_JOB_PARTITION; echo oops >&2; exit 7")

    job = network.wait_job(job_id)

    assert (job["state"], job["exit_code"]) == ("failed", 7), job
    assert f"{JOBS_USER}\nmain" in output_of(network, job_id)
    asked = (network.cluster.folder / "log" / "slurmrestd").read_text()
    assert "POST /slurm/v0.0.38/job/submit" in asked and "GET /slurm/v0.0.38/jobs" in asked


def test_signals_and_time_limits_end_jobs(network):
    signalled = network.wait_job(submit(network, "kill -SEGV $$"))["attempt"]
    assert (signalled["outcome"], signalled["signal"]) == ("signalled", 11)
    assert network.wait_job(submit(network, "sleep 600", wall_limit_s=2))["attempt"]["outcome"] == "wall_limit"


def test_a_job_is_cancelled_in_slurm(network):
    job_id = submit(network, "sleep 600")
    wait_running(network, job_id)
    attempt = attempt_of(network, job_id)

    network.cli("job", "cancel", job_id)

    assert network.wait_job(job_id)["state"] == "cancelled"
    wait_until(lambda: network.cluster.jobs_of(attempt["id"]) in (["CANCELLED"], []), 120, "Slurm having ended it")


def test_a_queued_job_tells_why(network):
    network.cluster.run("scontrol", "update", "partitionname=main", "state=down")
    try:
        job_id = submit(network, "echo ran")
        wait_told(network, job_id, "PartitionDown")
    finally:
        network.cluster.run("scontrol", "update", "partitionname=main", "state=up")

    assert network.wait_job(job_id)["state"] == "succeeded"


@pytest.mark.skipif(os.geteuid() != 0, reason="Slurm's own user may use any partition")
def test_what_slurm_refuses_for_good_ends_with_its_words(network):
    cluster = network.cluster
    cluster.run("scontrol", "update", "partitionname=main", "AllowGroups=nosuchgroup")
    try:
        job = network.wait_job(submit(network, "true"))
    finally:
        cluster.run("scontrol", "update", "partitionname=main", "AllowGroups=ALL")

    assert job["attempt"]["outcome"] == "failed_to_start", job
    assert "not permitted to use this partition" in job["end_reason"]


def test_an_agent_killed_around_the_submission_submits_nothing_twice(network):
    cluster = network.cluster
    for moment in ("script", "job"):
        gate = Gate(network, f"around-{moment}")  # Slurm forgets soon what has ended
        job_id = submit(network, f"{gate.passing}; echo once")
        attempt = attempt_of(network, job_id)
        folder = cluster.work / attempt["id"]
        sign = {"script": (folder / "job.sh").exists, "job": lambda: cluster.jobs_of(attempt["id"])}[moment]
        wait_until(sign, 120, f"the moment of the {moment}", pause_s=0.001)
        network.agent.process.kill()
        network.agent.process.start()
        gate.open()

        job = network.wait_job(job_id)

        assert job["state"] == "succeeded", job
        assert output_of(network, job_id).count("once") == 1
        wait_until(lambda: cluster.jobs_of(attempt["id"]) in (["COMPLETED"], []), 120, "one job, which Slurm counts as completed")  # noqa: B023


def test_slurmrestd_that_is_killed_loses_nothing(network):
    cluster = network.cluster
    gate = Gate(network, "slurmrestd")
    job_id = submit(network, f"{gate.passing}; echo survived; exit 3")
    wait_running(network, job_id)
    cluster.kill_rest()
    gate.open()
    late_id = submit(network, "echo late")
    wait_told(network, late_id, "slurmrestd")

    cluster.call("start-rest")

    assert network.wait_job(job_id, 240)["exit_code"] == 3
    assert output_of(network, job_id) == "survived\n"
    assert network.wait_job(late_id, 240)["state"] == "succeeded"


def test_a_token_that_expires_is_told_and_a_new_one_taken(network):
    cluster = network.cluster
    cluster.write_token(lifespan_s=1)
    time.sleep(2)
    job_id = submit(network, "echo ran")
    try:
        assert "scontrol token" in wait_told(network, job_id, "the token has expired")
    finally:
        cluster.write_token()

    assert network.wait_job(job_id, 240)["state"] == "succeeded"


def test_a_token_that_others_may_read_is_not_used(network):
    cluster = network.cluster
    cluster.token_file.chmod(0o644)
    job_id = submit(network, "echo ran")
    try:
        wait_told(network, job_id, "chmod 600")
    finally:
        cluster.token_file.chmod(0o600)

    assert network.wait_job(job_id, 240)["state"] == "succeeded"


@pytest.mark.skipif(not HAS_ACCOUNTS, reason="no slurmdbd here")
def test_what_slurm_has_forgotten_ends_as_its_script_noted(network):
    """slurmrestd 22.05 tells of a job's account that it failed, but not with which exit code."""
    cluster = network.cluster
    gate = Gate(network, "forgotten")
    job_id = submit(network, f"{gate.passing}; exit 7")
    wait_running(network, job_id)
    attempt = attempt_of(network, job_id)["id"]
    network.agent.process.kill()
    gate.open()
    wait_until(lambda: not cluster.jobs_of(attempt), 240, "Slurm forgetting it")
    wait_until(lambda: accounts_say(cluster, attempt, "FAILED"), 120, "its account")
    network.agent.process.start()

    job = network.wait_job(job_id, 240)

    assert (job["state"], job["exit_code"]) == ("failed", 7), job["end_reason"]


@pytest.mark.skipif(not HAS_ACCOUNTS, reason="no slurmdbd here")
def test_what_a_job_used_is_what_its_account_says(network):
    job = network.wait_job(submit(network, "(ulimit -t 2; while :; do :; done); true"))

    assert job["state"] == "succeeded", job["end_reason"]
    attempt_id = job["attempt"]["id"]
    wait_until(lambda: accounts_say(network.cluster, attempt_id, "COMPLETED"), 120, "its account")
    [(_, total)] = network.cluster.accounts_of(attempt_id, "State", "TotalCPU")
    minutes, seconds = total.split(":")[-2:]
    assert job["attempt"]["cpu_s"] == pytest.approx(60 * int(minutes) + float(seconds), abs=0.01), (job["attempt"], total)
    assert 1 < job["attempt"]["cpu_s"] < 10


def test_a_controller_that_is_killed_at_each_step_loses_nothing(network):
    """While a job is submitted, while it runs, and while it ends."""
    cluster = network.cluster
    gate = Gate(network, "controller")
    running_id = submit(network, f"{gate.passing}; echo survived; exit 3")
    wait_running(network, running_id)
    cluster.wait_saved(attempt_of(network, running_id)["id"])
    os.kill(int((cluster.folder / "run" / "slurmctld.pid").read_text()), signal.SIGKILL)
    gate.open()
    late_id = submit(network, "echo late")
    wait_told(network, late_id, "slurm controller")
    wait_until((cluster.work / attempt_of(network, running_id)["id"] / "report" / "ended").exists, 120, "its program's end")
    cluster.call("start-controller")

    for job_id, wanted, words in ((running_id, 3, "survived"), (late_id, 0, "late")):
        job = network.wait_job(job_id, 300)
        assert job["exit_code"] == wanted, job["end_reason"]
        assert output_of(network, job_id).count(words) == 1
