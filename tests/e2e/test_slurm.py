"""Two real Slurm clusters side by side, each a center of one network; beta keeps accounts (slurmdbd), where that is installed."""
import contextlib
import datetime
import os
import signal
import subprocess
import time

import pytest

from network import ENDED, Gate, Network, attempt_of, output_of, wait_running, wait_until
from slurm import JOBS_USER, SlurmCluster, why_no_slurm

NO_SLURM = why_no_slurm()
HAS_ACCOUNTS = not why_no_slurm("accounting")
pytestmark = pytest.mark.skipif(bool(NO_SLURM), reason=f"Slurm cannot run here: {NO_SLURM}")


@pytest.fixture(scope="module")
def network():
    with Network() as network, contextlib.ExitStack() as stack:
        network.clusters = {}
        for name, gpus in (("alpha", 2), ("beta", 0)):
            cluster = SlurmCluster(network.folder, name, gpus, accounting=name == "beta" and HAS_ACCOUNTS,
                                   switch="leaf0" if name == "alpha" else "")
            stack.callback(cluster.call, "stop")
            network.clusters[name] = cluster
            network.add_agent(name, cluster.agent_config())
        stack.callback(network.stop_agents)
        yield network


def submit(network, center, line, **more):
    return network.submit(command=["sh", "-c", line], units={"center": center}, **{"wall_limit_s": 300, **more})["id"]


def test_offers_what_slurm_has(network):
    types = {t["name"]: t for t in network.rest.items("/unit-types")}
    assert types["core-alpha"]["unit_count"] == 2
    assert network.center("alpha")["facts"]["executor"] == "slurm"


def test_which_nodes_share_a_switch_is_told_where_slurm_knows_it(network):
    types = {t["name"]: t["facts"]["leaf_switches"] for t in network.rest.items("/unit-types")}

    assert types["core-alpha"] == {"count": 1, "most_units_of_one": 2, "nodes": {"leaf0": 1}}
    assert "topology/tree" in types["core-beta"]["absent"]
    shown = network.cli("unit", "show", "alpha/core-alpha")
    assert '"leaf0":1' in next(line for line in shown.splitlines() if "leaf_switches" in line)


def test_a_job_runs_as_its_user_and_ends_truly(network):
    job_id = submit(network, "alpha", "id -un; echo $SLURM_JOB_PARTITION; echo oops >&2; exit 7")

    job = network.wait_job(job_id)

    assert (job["state"], job["exit_code"]) == ("failed", 7)
    assert f"{JOBS_USER}\nmain" in output_of(network, job_id)


def test_a_signal_is_told_as_one(network):
    job = network.wait_job(submit(network, "beta", "kill -SEGV $$"))

    assert job["state"] == "failed"
    assert job["attempt"]["outcome"] == "signalled"
    assert job["attempt"]["signal"] == 11


def test_the_time_limit_ends_a_job(network):
    job = network.wait_job(submit(network, "beta", "sleep 600", wall_limit_s=2))

    assert job["state"] == "failed"
    assert job["attempt"]["outcome"] == "wall_limit"


def suspended_beyond_its_limit(network, limit_s):
    """A job in its end state that was suspended for longer than it may run; None: it ran that long before it could be suspended."""
    beta = network.clusters["beta"]
    gate = Gate(network, f"suspended-{limit_s}")
    job_id = submit(network, "beta", gate.passing, wall_limit_s=limit_s)
    wait_until(lambda: network.job(job_id)["state"] in ("running", *ENDED), 120, f"{job_id} running")
    slurm_job = beta.run("squeue", "-h", "-n", attempt_of(network, job_id)["id"], "-o", "%A").strip()
    try:
        beta.run("scontrol", "suspend", slurm_job)
    except subprocess.CalledProcessError:
        return None
    time.sleep(limit_s + 2)
    gate.open()
    beta.run("scontrol", "resume", slurm_job)
    return network.wait_job(job_id)


def test_time_in_which_slurm_suspends_a_job_is_not_the_jobs(network):
    """As Slurm's own limits have it."""
    for limit_s in (8, 30):  # so much may pass until it is suspended, and after that until its end; on a busy machine the longer
        job = suspended_beyond_its_limit(network, limit_s)
        if job and job["state"] == "succeeded":
            break
    assert job, "it could not be suspended in time"
    assert job["state"] == "succeeded", job["end_reason"]
    assert job["attempt"]["run_s"] > limit_s


def max_wall_is(network, unit_type, wanted):
    """Whether the metascheduler knows the partition's limit of run time, in seconds; None: it has none."""
    [found] = [t for t in network.rest.items("/unit-types") if t["name"] == unit_type]
    return found["facts"].get("max_wall_s") == wanted


def look_at_once(network, center):
    """Has an agent read its settings, for which it looks at its partitions, too: by itself it does so several times a minute."""
    next(agent for agent in network.agents if agent.name == center).process.process.send_signal(signal.SIGHUP)


def test_a_job_that_slurm_would_never_start_ends_with_the_reason(network):
    beta = network.clusters["beta"]
    beta.run("scontrol", "update", "PartitionName=main", "state=down")
    try:
        job_id = submit(network, "beta", "true", wall_limit_s=600)
        wait_until(lambda: (network.job(job_id)["attempt"] or {}).get("center_queue"), 120, "Slurm having it")
        beta.run("scontrol", "update", "PartitionName=main", "MaxTime=1", "state=up")
        job = network.wait_job(job_id)
        # Were it to be noticed later, jobs of the tests to come would be refused.
        look_at_once(network, "beta")
        wait_until(lambda: max_wall_is(network, "core-beta", 60), 180, "the partition's limit being noticed")
    finally:
        beta.run("scontrol", "update", "PartitionName=main", "MaxTime=INFINITE", "state=up")
    look_at_once(network, "beta")
    wait_until(lambda: max_wall_is(network, "core-beta", None), 180, "the limit being gone")

    assert job["state"] == "failed"
    assert job["attempt"]["outcome"] == "failed_to_start"
    assert "PartitionTimeLimit" in job["end_reason"]
    assert network.wait_job(submit(network, "beta", "true", wall_limit_s=600))["state"] == "succeeded"


def test_a_job_is_cancelled_in_slurm(network):
    job_id = submit(network, "alpha", "sleep 600")
    wait_running(network, job_id)
    attempt = attempt_of(network, job_id)

    network.cli("job", "cancel", job_id)

    assert network.wait_job(job_id)["state"] == "cancelled"
    wait_until(lambda: network.clusters["alpha"].jobs_of(attempt["id"]) == ["CANCELLED"], 120, "Slurm having ended it")


def test_what_the_center_cancels_is_lost_not_cancelled(network):
    """And runs again where its owner allows that."""
    alpha = network.clusters["alpha"]
    job_id = submit(network, "alpha", "sleep 600")
    again_id = submit(network, "alpha", "sleep 600", requeue=True)
    for one in (job_id, again_id):
        wait_running(network, one)
        alpha.run("scancel", "--name", attempt_of(network, one)["id"])

    job = network.wait_job(job_id)

    assert job["state"] == "failed"
    assert job["attempt"]["outcome"] == "lost"
    assert "cancelled in Slurm at the center" in job["end_reason"]
    wait_until(lambda: attempt_of(network, again_id)["epoch"] > 1, 120, "its second attempt")
    network.cli("job", "cancel", again_id)
    assert network.wait_job(again_id)["state"] == "cancelled"


def resume(cluster, node):
    """Slurm may have done so already, since the node's slurmd still answers."""
    def is_up():
        if cluster.run("sinfo", "-h", "-n", node, "-o", "%T").split()[0] in ("idle", "mixed", "allocated", "completing"):
            return True
        with contextlib.suppress(subprocess.CalledProcessError):
            cluster.run("scontrol", "update", f"NodeName={node}", "state=resume")
        return False
    wait_until(is_up, 120, "the node being up again", pause_s=0.5)


def submit_that_runs_once_for_long(network, name):
    """A job at beta that ends at once when it runs for the second time."""
    mark = network.clusters["beta"].outputs / name
    job_id = submit(network, "beta", f"mkdir {mark} && sleep 600; echo again", requeue=True)
    wait_running(network, job_id)
    wait_until(mark.exists, 120, "its program running")
    return job_id


def outcomes_and_payers(network, job_id):
    """Of its attempts, the first one first."""
    def usage_of_both():
        usage = network.rest.items(f"/usage?job_id={job_id}")
        return usage if len(usage) == 2 else None
    usage = wait_until(usage_of_both, 120, "the usage of both attempts")
    return [(u["outcome"], u["paid_by"]) for u in sorted(usage, key=lambda u: u["from"])]


def test_what_slurm_preempts_runs_again_and_nobody_pays(network):
    beta = network.clusters["beta"]
    beta.run("scontrol", "create", "PartitionName=urgent", "Nodes=ALL", "PriorityTier=10")
    try:
        job_id = submit_that_runs_once_for_long(network, "preempted")
        theirs = beta.run("sbatch", "--parsable", "--partition=urgent", "--ntasks=1", "--cpus-per-task=2", "--time=5",
                          "--chdir=/", "--output=/dev/null", "--wrap=sleep 1").strip()
        job = network.wait_job(job_id, 240)
        wait_until(lambda: not beta.run("squeue", "-h", "-j", theirs, "-t", "pending,running,completing").strip(), 120, "their job's end")
    finally:
        beta.run("scontrol", "delete", "PartitionName=urgent")

    assert job["state"] == "succeeded", job["end_reason"]
    assert job["attempt"]["epoch"] == 2 and "again" in output_of(network, job_id)
    assert outcomes_and_payers(network, job_id)[0] == ("preempted", "nobody")


def test_a_node_that_fails_takes_its_job_back_and_nobody_pays(network):
    beta = network.clusters["beta"]
    node = beta.run("sinfo", "-h", "-N", "-o", "%N").split()[0]
    job_id = submit_that_runs_once_for_long(network, "node-failed")
    beta.run("scontrol", "update", f"NodeName={node}", "state=down", "reason=test")
    try:
        wait_until(lambda: attempt_of(network, job_id)["epoch"] > 1, 120, "its second attempt")
    finally:
        resume(beta, node)

    job = network.wait_job(job_id, 240)

    assert job["state"] == "succeeded", job["end_reason"]
    assert "again" in output_of(network, job_id)
    assert outcomes_and_payers(network, job_id)[0] == ("node_failure", "nobody")


def test_an_agent_killed_after_sbatch_submits_nothing_twice(network):
    """At each of several moments around the submission."""
    alpha = network.clusters["alpha"]
    agent = next(a for a in network.agents if a.name == "alpha")
    for moment in ("folder", "script", "job"):
        job_id = submit(network, "alpha", "sleep 1; echo once")
        attempt = attempt_of(network, job_id)
        folder = alpha.work / attempt["id"]
        sign = {"folder": folder.exists, "script": (folder / "job.sh").exists,
                "job": lambda: alpha.jobs_of(attempt["id"])}[moment]
        wait_until(sign, 120, f"the moment of the {moment}", pause_s=0.001)
        agent.process.kill()
        agent.process.start()

        job = network.wait_job(job_id)

        assert job["state"] == "succeeded", job
        wait_until(lambda: alpha.jobs_of(attempt["id"]) == ["COMPLETED"], 120, "one job, which Slurm counts as completed")  # noqa: B023
        assert output_of(network, job_id).count("once") == 1


def test_of_two_jobs_for_one_attempt_the_one_that_runs_counts(network):
    """As after an sbatch whose answer got lost."""
    alpha = network.clusters["alpha"]
    alpha.run("scontrol", "update", "partitionname=main", "state=down")
    try:
        job_id = submit(network, "alpha", "sleep 3; echo once; exit 4")
        attempt = attempt_of(network, job_id)["id"]
        noted = wait_until(lambda: alpha.run("squeue", "-h", "-n", attempt, "-o", "%A").strip(), 120, "the submission")
        alpha.run("scontrol", "hold", noted)
        alpha.run("sbatch", *(["--uid=nobody"] if os.geteuid() == 0 else []), str(alpha.work / attempt / "job.sh"))
    finally:
        alpha.run("scontrol", "update", "partitionname=main", "state=up")

    job = network.wait_job(job_id)

    assert job["exit_code"] == 4, job["end_reason"]
    assert output_of(network, job_id).count("once") == 1
    alpha.run("scancel", noted)


def test_a_controller_that_goes_and_comes_back_loses_nothing(network):
    beta = network.clusters["beta"]
    gate = Gate(network, "controller")
    job_id = submit(network, "beta", f"{gate.passing}; echo survived; exit 3")
    wait_running(network, job_id)

    beta.call("stop-controller")
    gate.open()
    late_id = submit(network, "beta", "echo late")
    attempt_of(network, late_id)
    log = next(a for a in network.agents if a.name == "beta").process.log
    wait_until(lambda: "slurm_unreachable" in log(), 180, "the agent noticing")
    beta.call("start-controller")

    assert network.wait_job(job_id, 240)["exit_code"] == 3
    assert "survived" in output_of(network, job_id)
    assert network.wait_job(late_id, 240)["state"] == "succeeded"
    late = attempt_of(network, late_id)["id"]
    wait_until(lambda: beta.jobs_of(late) == ["COMPLETED"], 120, "one job, which Slurm counts as completed")


def test_a_queued_job_tells_why_and_runs_when_there_is_room(network):
    alpha = network.clusters["alpha"]
    alpha.run("scontrol", "update", "partitionname=main", "state=down")
    job_id = submit(network, "alpha", "echo ran")
    log = next(a for a in network.agents if a.name == "alpha").process.log
    wait_until(lambda: "PartitionDown" in log(), 120, "the agent saying why it waits")
    wait_until(lambda: "PartitionDown" in ((network.job(job_id)["attempt"] or {}).get("center_queue") or {}).get("reason", ""),
               120, "the metascheduler saying why it waits")
    shown = network.cli("job", "show", job_id)
    assert "Waits there" in shown and "PartitionDown" in shown, shown
    assert network.job(job_id)["state"] == "dispatched"

    alpha.run("scontrol", "update", "partitionname=main", "state=up")

    ended = network.wait_job(job_id)
    assert ended["state"] == "succeeded"
    assert ended["attempt"]["center_queue"] is None


def test_what_slurm_refuses_waits_with_the_reason(network):
    """Its partition takes no jobs, for a while."""
    alpha = network.clusters["alpha"]
    alpha.run("scontrol", "update", "partitionname=main", "state=drain")
    job_id = submit(network, "alpha", "echo ran")
    log = next(a for a in network.agents if a.name == "alpha").process.log
    wait_until(lambda: "Slurm refuses it: " in log(), 120, "the agent saying what Slurm says")

    alpha.run("scontrol", "update", "partitionname=main", "state=up")

    assert network.wait_job(job_id)["state"] == "succeeded"


def test_a_job_is_measured_at_both_and_routed(network):
    wait_until(lambda: is_free(network, "core-alpha") and is_free(network, "core-beta"), 180,
               "the agents saying that nothing waits there any more, once their jobs have ended")
    job_id = network.submit(command=["sh", "-c", "echo routed"], wall_limit_s=300, metering_wait_s=360,
                            operators=[{"id": "dgemm", "parameters": {"m": 256, "n": 256, "k": 256}, "count": 10}],
                            units={"count": 1})["id"]

    job = network.wait_job(job_id, 400)

    assert job["state"] == "succeeded"
    probed = {run["center"] for run in network.rest.items("/probe-runs") if run["state"] == "succeeded"}
    assert probed == {"alpha", "beta"}


def test_a_partition_that_runs_no_job_so_long_is_left_out(network):
    beta = network.clusters["beta"]
    beta.run("scontrol", "update", "PartitionName=main", "MaxTime=5")
    try:
        look_at_once(network, "beta")
        wait_until(lambda: max_wall_is(network, "core-beta", 300), 180, "the partition's limit being noticed")
        job = {"command": ["true"], "wall_limit_s": 600, "units": {"count": 1, "center": "beta"}}
        # Until the catalog is read again such a job is taken, and waits.
        wait_until(lambda: network.rest.call("POST", "/jobs", json=job).status_code == 422, 120, "such a job being refused")
        refused = network.rest.call("POST", "/jobs", json=job).text
        assert "5 min" in refused and "wall_limit_s" in refused, refused
        assert network.wait_job(network.submit(**{**job, "wall_limit_s": 300})["id"])["attempt"]["center"] == "beta"
        longer = network.wait_job(network.submit(**{**job, "units": {"count": 1}})["id"])
        assert (longer["state"], longer["attempt"]["center"]) == ("succeeded", "alpha")
    finally:
        beta.run("scontrol", "update", "PartitionName=main", "MaxTime=INFINITE")
    look_at_once(network, "beta")
    wait_until(lambda: max_wall_is(network, "core-beta", None), 180, "the limit being gone")


def queue_wait_s(network, unit_type):
    """As its cluster says of a job that is submitted now."""
    units = {t["name"]: t for t in network.rest.items("/unit-types")}
    queue = units[unit_type]["queue"]
    return queue and (datetime.datetime.fromisoformat(queue["expected_start"].replace("Z", "+00:00"))
                      - datetime.datetime.now(datetime.timezone.utc)).total_seconds()


def is_free(network, unit_type):
    wait_s = queue_wait_s(network, unit_type)
    return wait_s is not None and wait_s < 60


def test_other_peoples_jobs_in_a_cluster_count(network):
    """They hold all of alpha for half an hour; the metascheduler has given it nothing, and sends jobs to beta all the same."""
    alpha = network.clusters["alpha"]
    wait_until(lambda: is_free(network, "core-alpha"), 180, "the agent saying that alpha has no queue")
    theirs = alpha.run("sbatch", "--parsable", "--ntasks=1", "--cpus-per-task=2", "--time=30", "--chdir=/", "--output=/dev/null",
                       "--wrap=sleep 1800").strip()
    try:
        wait_until(lambda: (queue_wait_s(network, "core-alpha") or 0) > 20 * 60, 180, "the agent saying that alpha is busy")
        assert "a new job starts in" in network.cli("unit", "show", "alpha/core-alpha")
        job = {"command": ["true"], "wall_limit_s": 300, "units": {"count": 1},
               "operators": [{"id": "dgemm", "parameters": {"m": 256, "n": 256, "k": 256}, "count": 10}]}

        def place():
            decision = network.rest.post("/placements:preview", job, expect=200)["decision"]
            return decision["candidates"][decision["winner"]]["center"] if decision["winner"] is not None else None
        # Until the catalog is read again the router knows no better than before.
        wait_until(lambda: place() == "beta", 60, "the router knowing that alpha is busy")
        jobs = [network.submit(**job)["id"] for _ in range(3)]
        for job_id in jobs:
            ended = network.wait_job(job_id, 120)
            assert (ended["state"], ended["attempt"]["center"]) == ("succeeded", "beta")
    finally:
        alpha.run("scancel", theirs)
    wait_until(lambda: is_free(network, "core-alpha"), 180, "the agent saying that alpha is free again")


def test_a_partition_that_comes_is_noticed_and_offered_as_wanted(network):
    cluster = network.clusters["beta"]
    config = cluster.agent_config().split("[[unit_type]]")[0]  # every partition is the file's to offer
    network.add_agent("gamma", config)

    def resources():
        return network.rest.get("/centers/gamma/resources")

    order = {"unit_types": [{"name": "night-core", "partition": "night"}]}
    assert network.rest.call("PUT", "/centers/gamma/resources", json=order).status_code == 200
    wait_until(lambda: resources()["state"] == "differs", 120, "the missing partition being named")
    assert resources()["reported"]["differences"][0]["code"] == "fewer_nodes"

    cluster.run("scontrol", "create", "PartitionName=night", "Nodes=ALL")
    try:
        wait_until(lambda: resources()["state"] == "applied", 60, "the partition being noticed within a minute")
        types = {t["name"]: t for t in network.rest.items("/unit-types?center=gamma") if t["active"]}
        assert list(types) == ["night-core"] and types["night-core"]["unit_count"] == 2
        assert "night-core" in resources()["changes"][0]["change"]
    finally:
        cluster.run("scontrol", "delete", "PartitionName=night")
    wait_until(lambda: resources()["state"] == "differs", 60, "the partition being missed within a minute")
