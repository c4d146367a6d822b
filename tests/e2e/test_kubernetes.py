"""A Kubernetes cluster as a center of a network: the stand-in or, run by tests/kubernetes, Kubernetes' own control plane."""
import contextlib
import os

import pytest
import requests

from kube.cluster import JOBS_USER, UNPULLABLE, Cluster
from network import Gate, Network, attempt_of, output_of, wait_until

INSTANCE_TYPE = "node.kubernetes.io/instance-type"
SMALL, LARGE, TIGHT = "small-amd64", "large-amd64", "tight-amd64"  # unit types, as the nodes' labels name them


class NetworkWithCluster(Network):
    """On failure, what the cluster has goes into the report, too."""

    def dump_logs(self, lines=60):
        text = super().dump_logs(lines)
        with contextlib.suppress(requests.RequestException, AssertionError):
            text += "--- the cluster\n" + self.cluster.dump()
        return text


@pytest.fixture(scope="module")
def network():
    network = NetworkWithCluster()
    network.cluster = None
    try:
        network.cluster = cluster = Cluster(network.folder)
        cluster.add_node("small-1", {INSTANCE_TYPE: "small"}, {"cpu": "2", "memory": "2Gi"})
        cluster.add_node("large-1", {INSTANCE_TYPE: "large"}, {"cpu": "4", "memory": "4Gi"})
        cluster.add_node("tight-1", {INSTANCE_TYPE: "tight"}, {"cpu": "1", "memory": "1Gi", "pods": "1"})
        network.add_agent("alpha", cluster.agent_config('kubernetes_job_images = "any"'))
        yield network
    finally:
        network.close()
        if network.cluster:
            network.cluster.stop()


@pytest.fixture
def cluster(network):
    """Without faults of another test."""
    yield network.cluster
    if network.cluster.faults:
        network.cluster.faults.clear()


def submit(network, line, unit_type=SMALL, **more):
    units = {"center": "alpha", "type": unit_type, **more.pop("units", {})}
    return network.submit(command=["sh", "-c", line], units=units, **{"wall_limit_s": 300, **more})["id"]


def wait_running(network, job_id):
    """(the attempt's id, its pod's name, that one's node) of a job whose program runs."""
    wait_until(lambda: network.job(job_id)["state"] == "running", 120, f"{job_id} running")
    attempt_id = attempt_of(network, job_id)["id"]
    pod, node = wait_until(lambda: network.cluster.running_pod(attempt_id), 120, f"a running pod of {attempt_id}")
    return attempt_id, pod, node


def told(job):
    """All that a failed assertion should show."""
    attempt = job["attempt"] or {}
    return {"state": job["state"], "end_reason": job["end_reason"], "exit_code": job["exit_code"], "outcome": attempt.get("outcome"),
            "signal": attempt.get("signal"), "queue": attempt.get("center_queue")}


def expect_end(job, **wanted):
    seen = told(job)
    assert {name: seen[name] for name in wanted} == wanted, seen


def agent_of(network, name="alpha"):
    return next(agent for agent in network.agents if agent.name == name)


def wait_log(network, text, what):
    wait_until(lambda: text in agent_of(network).process.log(), 180, f"the agent saying {what} ({text!r} in its log)")


def test_nodes_that_are_alike_are_a_unit_type(network):
    types = {t["name"]: t for t in network.rest.items("/unit-types?center=alpha")}
    assert {name: one["unit_count"] for name, one in types.items()} == {SMALL: 2, LARGE: 4, TIGHT: 1}
    assert network.center("alpha")["facts"]["executor"] == "kubernetes"


def test_a_job_runs_as_its_user_on_a_node_of_its_type_and_ends_truly(network, cluster):
    job_id = submit(network, "id -un; echo oops >&2; exit 7", LARGE)

    job = network.wait_job(job_id)

    expect_end(job, state="failed", exit_code=7)
    assert output_of(network, job_id) == f"{JOBS_USER}\n"
    assert network.rest.call("GET", f"/jobs/{job_id}/logs/stderr").text == "oops\n"
    assert job["attempt"]["nodes"] == "large-1", job["attempt"]


def test_what_a_job_writes_is_not_taken_for_kubernetes_variables(network):
    """The kubelet replaces $(NAME) and $$ in commands."""
    job_id = submit(network, 'HOME=/x; echo "$(echo $HOME)" \'$(HOME)\' \'$$\'')

    expect_end(network.wait_job(job_id), state="succeeded")
    assert output_of(network, job_id) == "/x $(HOME) $$\n"


def test_several_units_are_one_pod_with_all_their_processors(network, cluster):
    gate = Gate(network, "several")
    job_id = submit(network, gate.passing, LARGE, units={"count": 3})
    attempt_id, _, node = wait_running(network, job_id)

    [pod] = cluster.items("pods", attempt_id)
    gate.open()

    assert pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "3" and node.name == "large-1"
    expect_end(network.wait_job(job_id), state="succeeded")


def test_a_signal_is_told_as_one(network):
    expect_end(network.wait_job(submit(network, "kill -SEGV $$")), state="failed", outcome="signalled", signal=11)


def test_what_is_killed_for_memory_is_out_of_memory(network):
    job_id = submit(network, "sleep 600")
    _, pod, node = wait_running(network, job_id)

    node.kill_for_memory(pod)

    job = network.wait_job(job_id)
    expect_end(job, state="failed", outcome="out_of_memory")
    assert "memory" in job["end_reason"], told(job)


def test_the_time_limit_ends_a_job(network):
    expect_end(network.wait_job(submit(network, "sleep 600", wall_limit_s=2)), state="failed", outcome="wall_limit")


def test_an_image_that_nobody_has_is_told_and_ends_the_attempt(network, cluster):
    work = network.folder / "work-without-image"
    work.mkdir(mode=0o755)
    network.add_agent("noimage", cluster.agent_config("kubernetes_start_limit_s = 5", image=UNPULLABLE, center="noimage", work=work))
    job_id = network.submit(command=["true"], units={"center": "noimage", "type": SMALL}, wall_limit_s=300)["id"]

    def reason():
        job = network.job(job_id)
        return ((job["attempt"] or {}).get("center_queue") or {}).get("reason", "") + (job["end_reason"] or "")
    wait_until(lambda: "ErrImagePull" in reason() or "ImagePullBackOff" in reason(), 120, "the job's owner being told of the image")

    job = network.wait_job(job_id)
    expect_end(job, state="failed", outcome="failed_to_start")
    assert UNPULLABLE in job["end_reason"], told(job)
    wait_until(lambda: not cluster.items("pods", job["attempt"]["id"]), 120, "its pod being gone from the cluster")


def test_a_job_runs_in_the_image_that_it_names_where_jobs_may(network, cluster):
    gate, image = Gate(network, "image"), "registry.example.org/theirs:2"
    job_id = submit(network, gate.passing, container={"image": image})
    [pod] = wait_until(lambda: cluster.items("pods", attempt_of(network, job_id)["id"]), 120, "its pod")
    gate.open()
    assert pod["spec"]["containers"][0]["image"] == image
    expect_end(network.wait_job(job_id), state="succeeded")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root's agent gives files to several users")
def test_each_user_has_an_id_of_its_own(network, cluster):
    work = network.folder / "work-mapped"
    work.mkdir(mode=0o755)
    ann = network.rest.post("/tokens", {"name": "ann", "role": "user"})
    as_ann = network.rest_of(network.server, ann["token"])
    agent = network.add_agent("mapped", cluster.agent_config(
        "[[kubernetes_user]]", f'users = ["{ann["id"]}"]', "uid = 21001", "gid = 21002", 'name = "ann"', center="mapped", work=work))
    units = {"center": "mapped", "type": SMALL}
    gate = Gate(network, "mapped")
    line = f"id -u; id -g; echo $USER; echo secret >s; stat -c '%u %a' . s; {gate.passing}; exit 7"

    job_id = network.submit(rest=as_ann, command=["sh", "-c", line], units=units, wall_limit_s=300)["id"]
    attempt_id, _, _ = wait_running(network, job_id)
    [pod] = cluster.items("pods", attempt_id)
    agent.process.kill()
    gate.open()
    agent.process.start()

    context = pod["spec"]["securityContext"]
    assert (context["runAsUser"], context["runAsGroup"]) == (21001, 21002)
    expect_end(network.wait_job(job_id), state="failed", exit_code=7)
    assert output_of(network, job_id).split("\n")[:5] == ["21001", "21002", "ann", "21001 700", "21001 600"]
    refused = network.wait_job(network.submit(command=["true"], units=units, wall_limit_s=300)["id"])
    expect_end(refused, state="failed", outcome="failed_to_start")
    assert "no local user: " in refused["end_reason"] and refused["attempt"]["cause"] == "no_local_user", told(refused)
    assert network.center("mapped")["facts"]["isolation"]["uid_per_user"]


def test_a_job_is_cancelled_in_kubernetes(network, cluster):
    job_id = submit(network, "sleep 600")
    attempt_id, _, _ = wait_running(network, job_id)

    network.cli("job", "cancel", job_id)

    expect_end(network.wait_job(job_id), state="cancelled")
    wait_until(lambda: not any(pod["status"].get("phase") == "Running" for pod in cluster.items("pods", attempt_id)), 120,
               "its pod having ended")


def unit_count(network, name, center="alpha"):
    found = [t for t in network.rest.items(f"/unit-types?center={center}") if t["name"] == name and t["active"]]
    return found[0]["unit_count"] if found else 0


@contextlib.contextmanager
def full_node(cluster):
    """The node of type TIGHT has room for one pod, which is somebody else's: the agent sees a free processor there."""
    pods = f"/api/v1/namespaces/{cluster.namespace}/pods"
    cluster.admin.done("POST", pods, {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "theirs"}, "spec": {
        "restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "automountServiceAccountToken": False,
        "nodeSelector": {INSTANCE_TYPE: "tight"},
        "containers": [{"name": "theirs", "image": "any/image:1", "command": ["sleep", "600"]}]}})
    try:
        wait_until(lambda: cluster.admin.done("GET", f"{pods}/theirs")["status"]["phase"] == "Running", 120, "somebody else's pod running")
        yield
    finally:
        cluster.admin.call("DELETE", f"{pods}/theirs", {"gracePeriodSeconds": 1})
        wait_until(lambda: cluster.admin.call("GET", f"{pods}/theirs").status_code == 404, 120, "somebody else's pod being gone")


def wait_reason(network, job_id, words):
    def reason():
        return ((network.job(job_id)["attempt"] or {}).get("center_queue") or {}).get("reason", "")
    wait_until(lambda: words in reason(), 180, f"{job_id} telling that it waits for {words!r}")


def test_a_job_that_fits_nowhere_shows_the_schedulers_reason_and_runs_when_there_is_room(network, cluster):
    with full_node(cluster):
        job_id = submit(network, "echo ran", TIGHT)
        wait_reason(network, job_id, "Too many pods")
        shown = network.cli("job", "show", job_id)
        assert "Waits there" in shown and "Too many pods" in shown, shown
        assert network.job(job_id)["state"] == "dispatched"

    job = network.wait_job(job_id, 240)

    expect_end(job, state="succeeded", queue=None)
    assert output_of(network, job_id) == "ran\n"


def test_a_job_that_waits_is_cancelled_in_kubernetes(network, cluster):
    with full_node(cluster):
        job_id = submit(network, "true", TIGHT)
        wait_reason(network, job_id, "Too many pods")
        attempt_id = attempt_of(network, job_id)["id"]

        network.cli("job", "cancel", job_id)

        expect_end(network.wait_job(job_id), state="cancelled")
        wait_until(lambda: not cluster.items("pods", attempt_id), 120, "its pod being gone")


def test_a_pod_that_is_evicted_is_taken_back_and_runs_again(network, cluster):
    mark = cluster.outputs / "evicted"
    job_id = submit(network, f"mkdir {mark} && sleep 600; echo again", LARGE, requeue=True)
    _, pod, node = wait_running(network, job_id)
    wait_until(mark.exists, 120, "its program running")

    node.evict(pod)

    job = network.wait_job(job_id, 240)
    expect_end(job, state="succeeded")
    assert job["attempt"]["epoch"] == 2 and "again" in output_of(network, job_id)


def test_a_node_that_is_lost_takes_its_job_back(network, cluster):
    mark = cluster.outputs / "lost"
    job_id = submit(network, f"mkdir {mark} && sleep 600; echo again", requeue=True)
    _, _, node = wait_running(network, job_id)
    wait_until(mark.exists, 120, "its program running")
    node.lose()
    try:
        wait_until(lambda: unit_count(network, SMALL) == 0 or attempt_of(network, job_id)["epoch"] > 1, 120,
                   "the agent noticing that the node is lost")
    finally:
        node.come_back()

    job = network.wait_job(job_id, 300)

    expect_end(job, state="succeeded")
    assert "again" in output_of(network, job_id), told(job)
    wait_until(lambda: unit_count(network, SMALL) == 2, 120, "the node's units being offered again")


def created_jobs(cluster, attempt_id):
    """How many Jobs an attempt has, and pods that ran."""
    return len(cluster.items("jobs", attempt_id)), len(cluster.items("pods", attempt_id))


@pytest.mark.parametrize("moment", ["folder", "job", "pod"])
def test_an_agent_killed_around_the_creation_runs_nothing_twice(network, cluster, moment):
    mark = cluster.outputs / f"once-{moment}"
    job_id = submit(network, f"echo x >>{mark}; sleep 2; echo once")
    attempt_id = attempt_of(network, job_id)["id"]
    sign = {"folder": (cluster.work / attempt_id).exists, "job": lambda: cluster.items("jobs", attempt_id),
            "pod": lambda: cluster.items("pods", attempt_id)}[moment]
    wait_until(sign, 120, f"the moment of the {moment}", pause_s=0.001)
    agent = agent_of(network)
    agent.process.kill()
    agent.process.start()

    job = network.wait_job(job_id)

    expect_end(job, state="succeeded")
    assert output_of(network, job_id) == "once\n" and mark.read_text() == "x\n", "it ran more than once"
    assert job["attempt"]["id"] == attempt_id, "another attempt took its place"


def test_a_creation_whose_answer_is_lost_is_not_repeated(network, cluster):
    if cluster.is_real:
        pytest.skip("nothing stands between the agent and the real API server")
    lost = cluster.faults.add("cut", verb="create", resource="jobs")
    mark = cluster.outputs / "answer-lost"

    job_id = submit(network, f"echo x >>{mark}; echo once")

    expect_end(network.wait_job(job_id), state="succeeded")
    assert lost.met == 1 and mark.read_text() == "x\n"
    assert any((call.verb, call.resource) == ("create", "jobs") and call.code in (0, 201) for call in cluster.control.calls)


def test_an_api_server_that_refuses_for_a_while_is_asked_again(network, cluster):
    """A job at each of three centers side by side, since an agent leaves what was refused for a while; each is refused twice."""
    if cluster.is_real:
        pytest.skip("the real API server refuses nothing on demand")
    centers = ("alpha", "refused-1", "refused-2")
    for center in centers[1:]:
        work = network.folder / f"work-{center}"
        work.mkdir(mode=0o755)
        network.add_agent(center, cluster.agent_config(center=center, work=work))
    refused = [cluster.faults.add("refuse", verb="create", resource="jobs", times=2, code=code, retry_after_s=retry_after_s)
               for code, retry_after_s in ((429, 1), (503, None), (500, None))]
    jobs = [network.submit(command=["true"], units={"center": center, "type": SMALL}, wall_limit_s=300)["id"] for center in centers]

    for job_id in jobs:
        expect_end(network.wait_job(job_id, 240), state="succeeded")
    assert [fault.met for fault in refused] == [2, 2, 2]


def test_an_api_server_that_goes_and_comes_back_loses_nothing(network, cluster):
    gate = Gate(network, "api-server")
    job_id = submit(network, f"{gate.passing}; echo survived; exit 3")
    wait_running(network, job_id)
    cluster.control.stop_api()
    gate.open()
    try:
        late_id = submit(network, "echo late", LARGE)
        wait_log(network, "kubernetes_unreachable", "that the API server is away")
    finally:
        cluster.control.start_api()

    expect_end(network.wait_job(job_id, 240), state="failed", exit_code=3)
    assert "survived" in output_of(network, job_id)
    expect_end(network.wait_job(late_id, 240), state="succeeded")
    assert created_jobs(cluster, attempt_of(network, late_id)["id"])[0] <= 1


@pytest.mark.parametrize("happens", ["drop_watches", "forget_history"])
def test_a_watch_that_breaks_or_is_too_old_loses_nothing(network, cluster, happens):
    gates = [Gate(network, f"{happens}-{number}") for number in (0, 1, 2)]
    ids = [submit(network, f"{gates[number].passing}; echo {number}", LARGE) for number in (0, 1)]
    wait_until(lambda: all(network.job(job_id)["state"] == "running" for job_id in ids), 120, "both running")

    getattr(cluster.control, happens)()

    ids.append(submit(network, "echo after", LARGE))
    for job_id, gate, text in zip(ids, gates, ("0", "1", "after")):
        gate.open()
        expect_end(network.wait_job(job_id, 180), state="succeeded")
        assert output_of(network, job_id) == f"{text}\n"


def test_a_job_that_somebody_deletes_is_lost_not_cancelled(network, cluster):
    job_id = submit(network, "sleep 600")
    attempt_id, _, _ = wait_running(network, job_id)
    [made] = cluster.items("jobs", attempt_id)

    cluster.admin.done("DELETE", f"/apis/batch/v1/namespaces/{cluster.namespace}/jobs/{made['metadata']['name']}",
                       {"propagationPolicy": "Background"})

    expect_end(network.wait_job(job_id), state="failed", outcome="lost")


def test_jobs_that_have_ended_are_deleted_from_the_cluster(network, cluster):
    def left():
        with contextlib.suppress(requests.RequestException, AssertionError):
            return not cluster.items("jobs") and not [pod for pod in cluster.items("pods") if pod["metadata"]["name"].startswith("fathom-")]
    wait_until(left, 120, "no Job and no pod of the agent's being left: " + ", ".join(
        item["metadata"]["name"] for item in cluster.items("jobs")))


def test_a_job_is_measured_on_each_type_by_pods_and_routed(network, cluster):
    job_id = network.submit(command=["sh", "-c", "echo routed"], wall_limit_s=300, metering_wait_s=360,
                            operators=[{"id": "dgemm", "parameters": {"m": 256, "n": 256, "k": 256}, "count": 10}],
                            units={"count": 1, "center": "alpha"})["id"]

    job = network.wait_job(job_id, 400)

    expect_end(job, state="succeeded")
    runs = network.rest.items("/probe-runs")
    measured = {run["unit_type"] for run in runs if run["state"] == "succeeded"}
    assert measured == {SMALL, LARGE, TIGHT}, [(run["unit_type"], run["state"], run["error"]) for run in runs]
