"""The same requests to the stand-in of a Kubernetes cluster and, by tests/kubernetes, to Kubernetes' own programs: what is expected
of both is written here once."""
import copy
import json
import pathlib
import shutil
import tempfile
import time

import pytest
import requests

from kube.client import Client
from kube.cluster import UNPULLABLE, Cluster
from kube.stand_in import STRANGER_TOKEN
from network import roomy_folder, wait_until

JOBS = "/apis/batch/v1/namespaces/fathom/jobs"
PODS = "/api/v1/namespaces/fathom/pods"
RESOURCES = {"cpu": "1", "memory": "64Mi"}


@pytest.fixture(scope="module")
def cluster():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-kubernetes-", dir=roomy_folder()))
    folder.chmod(0o755)
    cluster = Cluster(folder)
    try:
        cluster.add_node("one", {"pool": "small"}, {"cpu": "4", "memory": "4Gi", "nvidia.com/gpu": "1"})
        yield cluster
    finally:
        cluster.stop()
        # A pod that is just about to start still makes its log.
        wait_until(lambda: shutil.rmtree(folder, ignore_errors=True) or not folder.exists(), 120, f"{folder} being removed")


def job(name, line="true", **pod):
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "labels": {"of": "contract"}}, "spec": {
        "backoffLimit": 0, "template": {"metadata": {"labels": {"of": "contract"}}, "spec": {
            "restartPolicy": "Never", "terminationGracePeriodSeconds": 1, **pod, "containers": [{
                "name": "job", "image": "any/image:1", "command": ["/bin/sh", "-c", line], "resources": {"requests": RESOURCES, "limits": RESOURCES}}]}}}}


def changed(change, name="refused"):
    made = copy.deepcopy(job(name))
    pod = made["spec"]["template"]["spec"]
    change(made, pod, pod["containers"][0])
    return made


def text_of(answer):
    return f"{answer.status_code} {answer.text[:600]}"


# What is wrong with a Job, as a change of a good one; the field that the answer names.
INVALID = {
    "a name in capitals": (lambda j, p, c: j["metadata"].update(name="Not_A_Name"), "metadata.name"),
    "a name too long for the label that pods have": (lambda j, p, c: j["metadata"].update(name="n" * 64), "spec.template.labels"),
    "a label's value with a slash": (lambda j, p, c: j["metadata"]["labels"].update(a="b/c"), "metadata.labels"),
    "a label's value of 64 letters": (lambda j, p, c: j["metadata"]["labels"].update(a="b" * 64), "metadata.labels"),
    "a label's value that ends with a dash": (lambda j, p, c: j["metadata"]["labels"].update(a="b-"), "metadata.labels"),
    "a label's name with two slashes": (lambda j, p, c: j["metadata"]["labels"].update({"a/b/c": "d"}), "metadata.labels"),
    "a pod's label that is none": (lambda j, p, c: j["spec"]["template"]["metadata"]["labels"].update(a="b c"), "spec.template.labels"),
    "pods that start for ever": (lambda j, p, c: p.update(restartPolicy="Always"), "spec.template.spec.restartPolicy"),
    "no containers": (lambda j, p, c: p.update(containers=[]), "spec.template.spec.containers"),
    "no image": (lambda j, p, c: c.pop("image"), "spec.template.spec.containers[0].image"),
    "a container's name in capitals": (lambda j, p, c: c.update(name="Job"), "spec.template.spec.containers[0].name"),
    "more requested than the limit": (lambda j, p, c: c["resources"].update(requests={"cpu": "2"}), "spec.template.spec.containers[0].resources.requests"),
    "a resource that is none": (lambda j, p, c: c["resources"].update(limits={"gpu": "1"}, requests={}), "spec.template.spec.containers[0].resources.limits[gpu]"),
    "devices without a limit": (lambda j, p, c: c["resources"].update(requests={"nvidia.com/gpu": "1"}), "spec.template.spec.containers[0].resources.limits"),
    "half a device": (lambda j, p, c: c["resources"].update(limits={"nvidia.com/gpu": "500m"}, requests={}),
                      "spec.template.spec.containers[0].resources.limits[nvidia.com/gpu]"),
    "negative memory": (lambda j, p, c: c["resources"].update(limits={"memory": "-1"}, requests={}), "spec.template.spec.containers[0].resources.limits[memory]"),
    "a volume that is not there": (lambda j, p, c: c.update(volumeMounts=[{"name": "no", "mountPath": "/x"}]),
                                   "spec.template.spec.containers[0].volumeMounts[0].name"),
    "two volumes of one name": (lambda j, p, c: p.update(volumes=[{"name": "v", "emptyDir": {}}] * 2), "spec.template.spec.volumes[1].name"),
    "a folder of no kind": (lambda j, p, c: p.update(volumes=[{"name": "v", "hostPath": {"path": "/tmp", "type": "Folder"}}]),
                            "spec.template.spec.volumes[0].hostPath.type"),
    "a way out of the volume": (lambda j, p, c: (p.update(volumes=[{"name": "v", "emptyDir": {}}]),
                                                 c.update(volumeMounts=[{"name": "v", "mountPath": "/x", "subPath": "../y"}])),
                                "spec.template.spec.containers[0].volumeMounts.subPath"),
    "two mounts at one path": (lambda j, p, c: (p.update(volumes=[{"name": "v", "emptyDir": {}}]),
                                                c.update(volumeMounts=[{"name": "v", "mountPath": "/x"}] * 2)),
                               "spec.template.spec.containers[0].volumeMounts[1].mountPath"),
    "a variable without a name": (lambda j, p, c: c.update(env=[{"value": "x"}]), "spec.template.spec.containers[0].env[0].name"),
    "a variable's name with a space": (lambda j, p, c: c.update(env=[{"name": "a b"}]), "spec.template.spec.containers[0].env[0].name"),
    "a user below zero": (lambda j, p, c: p.update(securityContext={"runAsUser": -1}), "spec.template.spec.securityContext.runAsUser"),
    "a seccomp profile of no kind": (lambda j, p, c: p.update(securityContext={"seccompProfile": {"type": "Default"}}),
                                     "spec.template.spec.securityContext.seccompProfile.type"),
    "a pod's deadline of zero": (lambda j, p, c: p.update(activeDeadlineSeconds=0), "spec.template.spec.activeDeadlineSeconds"),
    "a limit of failures below zero": (lambda j, p, c: j["spec"].update(backoffLimit=-1), "spec.backoffLimit"),
    "a node's label that is none": (lambda j, p, c: p.update(nodeSelector={"a": "b/c"}), "spec.template.spec.nodeSelector"),
    "a selector of its own": (lambda j, p, c: j["spec"].update(selector={"matchLabels": {"a": "b"}}), "spec.selector"),
}


@pytest.mark.parametrize("what", INVALID)
def test_a_job_that_is_not_valid_is_refused_with_its_field(cluster, what):
    change, field = INVALID[what]

    answer = cluster.agent.call("POST", JOBS, changed(change))

    assert answer.status_code == 422, text_of(answer)
    status = answer.json()
    assert (status["kind"], status["status"], status["reason"], status["code"]) == ("Status", "Failure", "Invalid", 422)
    assert field in [cause["field"] for cause in status["details"]["causes"]], status


UNREADABLE = {
    "no JSON": b"{",
    "another kind": changed(lambda j, p, c: j.update(kind="Pod")),
    "another version": changed(lambda j, p, c: j.update(apiVersion="batch/v9")),
    "a text for a number": changed(lambda j, p, c: j["spec"].update(backoffLimit="none")),
    "a number for a text": changed(lambda j, p, c: c.update(env=[{"name": "a", "value": 1}])),
    "a map for a list": changed(lambda j, p, c: p.update(volumes={"name": "v"})),
    "a quantity that is none": changed(lambda j, p, c: c["resources"].update(limits={"memory": "1GiB"}, requests={})),
    "another namespace": changed(lambda j, p, c: j["metadata"].update(namespace="default")),
}


@pytest.mark.parametrize("what", UNREADABLE)
def test_what_is_no_job_is_a_bad_request(cluster, what):
    answer = cluster.agent.call("POST", JOBS, UNREADABLE[what])

    assert (answer.status_code, answer.json()["reason"]) == (400, "BadRequest"), text_of(answer)


def test_a_field_that_there_is_not_is_refused(cluster):
    if cluster.is_real:
        pytest.skip("only Kubernetes 1.25 and newer can tell")

    answer = cluster.agent.call("POST", JOBS, changed(lambda j, p, c: c["resources"].update(limit={})))

    assert answer.status_code == 400 and "containers[0].resources.limit" in answer.json()["message"], text_of(answer)


@pytest.mark.parametrize("method, path, body, code, reason", [
    ("GET", f"{JOBS}/none", None, 404, "NotFound"),
    ("DELETE", f"{JOBS}/none", {}, 404, "NotFound"),
    ("GET", f"{PODS}/none/log", None, 404, "NotFound"),
    ("GET", "/apis/batch/v1/namespaces/default/jobs", None, 403, "Forbidden"),
    ("GET", "/apis/batch/v1/jobs", None, 403, "Forbidden"),
    ("DELETE", f"{PODS}/none", {}, 403, "Forbidden"),
    ("POST", PODS, {}, 403, "Forbidden"),
    ("PATCH", f"{JOBS}/none", {}, 403, "Forbidden"),
    ("DELETE", "/api/v1/nodes/one", {}, 403, "Forbidden"),
    ("GET", f"{PODS}?fieldSelector=spec.image%3Da", None, 400, "BadRequest"),
    ("GET", f"{JOBS}?labelSelector=a%3D%3D%3Db", None, 400, "BadRequest"),
    ("DELETE", f"{JOBS}/none", {"propagationPolicy": "Sometimes"}, None, None),
])
def test_what_is_refused(cluster, method, path, body, code, reason):
    answer = cluster.agent.call(method, path, body)

    if code is None:  # versions differ in what they look at first
        assert answer.status_code in (400, 404, 422), text_of(answer)
    else:
        assert (answer.status_code, answer.json()["reason"]) == (code, reason), text_of(answer)


def test_who_asks_must_be_known(cluster):
    def ask(token):
        return Client(cluster.control.url, cluster.control.ca, token).call("GET", JOBS)

    assert ask("no token of anybody").status_code == 401
    assert ask(STRANGER_TOKEN).status_code == 403
    assert ask("").status_code == 403
    with pytest.raises(requests.exceptions.SSLError):
        requests.get(cluster.control.url + "/version", timeout=60)


def test_what_the_agent_may_read(cluster):
    for path in ("/api/v1/nodes", "/api/v1/nodes/one", "/api/v1/pods", PODS, JOBS, "/version"):
        answer = cluster.agent.call("GET", path)
        assert answer.status_code == 200, f"{path}: {text_of(answer)}"
    node = cluster.agent.done("GET", "/api/v1/nodes/one")
    assert node["status"]["allocatable"]["nvidia.com/gpu"] == "1" and node["metadata"]["labels"]["pool"] == "small"


def ended(cluster, name):
    """The Job once it is complete or has failed."""
    def look():
        found = cluster.agent.done("GET", f"{JOBS}/{name}")
        conditions = {c["type"]: c for c in found["status"].get("conditions") or [] if c["status"] == "True"}
        return (found, conditions) if {"Complete", "Failed"} & set(conditions) else None
    return wait_until(look, 120, f"the end of {name}", pause_s=0.2)


def pod_of(cluster, name):
    found = cluster.agent.done("GET", f"{PODS}?labelSelector=job-name%3D{name}")["items"]
    return found[0] if found else None


def wait_pod(cluster, name, condition, what):
    return wait_until(lambda: (lambda pod: pod if pod and condition(pod) else None)(pod_of(cluster, name)), 120, what, pause_s=0.2)


def state_of(pod, kind):
    statuses = pod["status"].get("containerStatuses") or [{}]
    return (statuses[0].get("state") or {}).get(kind)


def remove(cluster, name):
    answer = cluster.agent.call("DELETE", f"{JOBS}/{name}", {"propagationPolicy": "Background"})
    assert answer.status_code == 200, text_of(answer)
    wait_until(lambda: pod_of(cluster, name) is None, 120, f"the pods of {name} being gone", pause_s=0.2)


def test_a_job_runs_and_its_pod_tells_how_it_ended(cluster):
    created = cluster.agent.call("POST", JOBS, job("runs", 'echo "$(echo out) $$"; echo err >&2; exit 7'))
    assert created.status_code == 201, text_of(created)
    assert created.json()["spec"]["completions"] == created.json()["spec"]["parallelism"] == 1
    again = cluster.agent.call("POST", JOBS, job("runs"))
    assert (again.status_code, again.json()["reason"]) == (409, "AlreadyExists"), text_of(again)

    found, conditions = ended(cluster, "runs")

    assert conditions["Failed"]["reason"] == "BackoffLimitExceeded" and found["status"]["failed"] == 1
    pod = pod_of(cluster, "runs")
    assert pod["metadata"]["labels"]["of"] == "contract" and pod["metadata"]["name"].startswith("runs-")
    assert pod["metadata"]["ownerReferences"][0]["uid"] == found["metadata"]["uid"]
    assert pod["status"]["phase"] == "Failed" and pod["spec"]["nodeName"] == "one"
    assert state_of(pod, "terminated")["exitCode"] == 7 and state_of(pod, "terminated")["reason"] == "Error"
    log = cluster.agent.call("GET", f"{PODS}/{pod['metadata']['name']}/log?container=job&limitBytes=1000")
    assert log.status_code == 200 and log.text == "out $\nerr\n", text_of(log)  # $$ is Kubernetes' way to write $
    remove(cluster, "runs")


def test_a_success_is_complete(cluster):
    cluster.agent.done("POST", JOBS, job("succeeds"))
    found, conditions = ended(cluster, "succeeds")
    assert list(conditions) == ["Complete"] and found["status"]["succeeded"] == 1 and "completionTime" in found["status"]
    remove(cluster, "succeeds")


def test_what_fits_nowhere_waits_with_the_schedulers_words(cluster):
    big = job("big")
    big["spec"]["template"]["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "64"}}
    cluster.agent.done("POST", JOBS, big)
    cluster.agent.done("POST", JOBS, job("elsewhere", nodeSelector={"pool": "none"}))
    for name, words in (("big", "Insufficient cpu"), ("elsewhere", "0/1 nodes are available")):
        def is_refused(pod):
            return any(c["type"] == "PodScheduled" and c["reason"] == "Unschedulable" for c in pod["status"].get("conditions") or [])
        pod = wait_pod(cluster, name, is_refused, f"{name} being unschedulable")
        [said] = [c for c in pod["status"]["conditions"] if c["type"] == "PodScheduled"]
        assert said["status"] == "False" and words in said["message"] and pod["status"]["phase"] == "Pending", said
        remove(cluster, name)


def test_an_image_that_nobody_has_keeps_the_pod_waiting(cluster):
    without = job("no-image")
    without["spec"]["template"]["spec"]["containers"][0]["image"] = UNPULLABLE
    cluster.agent.done("POST", JOBS, without)
    pod = wait_pod(cluster, "no-image", lambda pod: (state_of(pod, "waiting") or {}).get("reason") == "ImagePullBackOff", "ImagePullBackOff")
    assert pod["status"]["phase"] == "Pending" and UNPULLABLE in state_of(pod, "waiting")["message"]
    remove(cluster, "no-image")


def test_a_pods_deadline_ends_it(cluster):
    cluster.agent.done("POST", JOBS, job("late", "sleep 600", activeDeadlineSeconds=1))
    _, conditions = ended(cluster, "late")
    pod = pod_of(cluster, "late")
    assert conditions["Failed"]["reason"] == "BackoffLimitExceeded"
    assert (pod["status"]["phase"], pod["status"]["reason"]) == ("Failed", "DeadlineExceeded")
    remove(cluster, "late")


def test_a_deleted_job_takes_its_pod_along(cluster):
    for policy in ("Background", "Foreground"):
        name = f"deleted-{policy.lower()}"
        cluster.agent.done("POST", JOBS, job(name, "sleep 600"))
        wait_pod(cluster, name, lambda pod: state_of(pod, "running"), f"{name} running")
        answer = cluster.agent.call("DELETE", f"{JOBS}/{name}", {"propagationPolicy": policy})
        assert answer.status_code == 200, text_of(answer)
        wait_until(lambda: pod_of(cluster, name) is None, 120, "its pod being gone", pause_s=0.2)
        wait_until(lambda: cluster.agent.call("GET", f"{JOBS}/{name}").status_code == 404, 120, "the Job being gone", pause_s=0.2)


def test_without_a_policy_the_pod_stays_behind(cluster):
    cluster.agent.done("POST", JOBS, job("orphans", "sleep 600"))
    pod = wait_pod(cluster, "orphans", lambda pod: state_of(pod, "running"), "its pod running")
    assert cluster.agent.call("DELETE", f"{JOBS}/orphans").status_code == 200
    wait_until(lambda: cluster.agent.call("GET", f"{JOBS}/orphans").status_code == 404, 120, "the Job being gone", pause_s=0.2)
    time.sleep(2)  # what would delete it would have done so
    kept = cluster.agent.done("GET", f"{PODS}/{pod['metadata']['name']}")
    assert state_of(kept, "running") and not kept["metadata"].get("ownerReferences")
    assert cluster.admin.call("DELETE", f"{PODS}/{pod['metadata']['name']}", {"gracePeriodSeconds": 1}).status_code == 200
    wait_until(lambda: pod_of(cluster, "orphans") is None, 120, "the pod being gone", pause_s=0.2)


def test_another_jobs_uid_protects_a_job(cluster):
    cluster.agent.done("POST", JOBS, job("guarded"))
    body = {"propagationPolicy": "Background", "preconditions": {"uid": "11111111-2222-3333-4444-555555555555"}}
    answer = cluster.agent.call("DELETE", f"{JOBS}/guarded", body)
    assert (answer.status_code, answer.json()["reason"]) == (409, "Conflict"), text_of(answer)
    remove(cluster, "guarded")


def test_lists_come_page_by_page_at_one_version(cluster):
    names = [f"page-{index}" for index in range(3)]
    for name in names:
        cluster.agent.done("POST", JOBS, job(name, nodeSelector={"pool": "none"}))
    first = cluster.agent.done("GET", f"{JOBS}?limit=2&labelSelector=of%3Dcontract")
    assert first["kind"] == "JobList" and len(first["items"]) == 2 and first["metadata"]["continue"]
    assert "kind" not in first["items"][0]
    cluster.agent.done("POST", JOBS, job("page-9", nodeSelector={"pool": "none"}))

    rest = cluster.agent.done("GET", f"{JOBS}?limit=2&labelSelector=of%3Dcontract&continue={first['metadata']['continue']}")

    assert [item["metadata"]["name"] for item in first["items"] + rest["items"]] == names
    assert rest["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"] and not rest["metadata"].get("continue")
    for name in [*names, "page-9"]:
        remove(cluster, name)


def test_a_watch_tells_each_change_once_from_the_version_it_is_given(cluster):
    version = cluster.agent.done("GET", JOBS)["metadata"]["resourceVersion"]
    made = cluster.agent.done("POST", JOBS, job("watched"))
    ended(cluster, "watched")
    remove(cluster, "watched")

    events = list(cluster.agent.events(f"{JOBS}?watch=1&resourceVersion={version}&labelSelector=of%3Dcontract&timeoutSeconds=5"))

    kinds = [kind for kind, item in events if item["metadata"]["name"] == "watched"]
    assert kinds[0] == "ADDED" and kinds[-1] == "DELETED" and set(kinds[1:-1]) == {"MODIFIED"}, kinds
    versions = [int(item["metadata"]["resourceVersion"]) for _, item in events]
    assert versions == sorted(set(versions)) and versions[0] == int(made["metadata"]["resourceVersion"])
    assert events[0][1]["kind"] == "Job"


def test_a_watch_without_a_version_begins_with_what_there_is(cluster):
    events = list(cluster.agent.events("/api/v1/nodes?watch=true&timeoutSeconds=1"))
    assert [(kind, item["metadata"]["name"]) for kind, item in events][:1] == [("ADDED", "one")]


def test_a_version_that_is_forgotten_is_gone(cluster):
    listed = cluster.agent.done("GET", JOBS)["metadata"]["resourceVersion"]
    cluster.agent.done("POST", JOBS, job("forgotten", nodeSelector={"pool": "none"}))
    remove(cluster, "forgotten")
    cluster.control.forget_history()

    def told():
        try:
            answer = cluster.agent.call("GET", f"{JOBS}?watch=1&resourceVersion={listed}&timeoutSeconds=1")
        except requests.RequestException:
            return None
        if answer.status_code == 410:
            return answer.json()
        lines = [line for line in answer.text.splitlines() if line]
        return json.loads(lines[0])["object"] if lines else None

    status = wait_until(told, 120, "an answer that the version is gone", pause_s=0.5)
    assert (status["kind"], status["code"]) == ("Status", 410) and status["reason"] in ("Expired", "Gone"), status
    assert cluster.agent.call("GET", JOBS).status_code == 200


def test_a_node_that_is_lost_loses_its_pods(cluster):
    node = cluster.add_node("two", {"pool": "large"}, {"cpu": "2", "memory": "1Gi"})
    cluster.agent.done("POST", JOBS, job("on-two", "sleep 600", nodeSelector={"pool": "large"}))
    pod = wait_pod(cluster, "on-two", lambda pod: state_of(pod, "running"), "its pod running")
    node.lose()

    own = f"{PODS}/{pod['metadata']['name']}"
    wait_until(lambda: "deletionTimestamp" in cluster.agent.done("GET", own)["metadata"], 120, "its pod being deleted from the lost node")
    two = cluster.agent.done("GET", "/api/v1/nodes/two")
    assert [c["status"] for c in two["status"]["conditions"] if c["type"] == "Ready"] == ["Unknown"]
    assert "NoExecute" in [taint["effect"] for taint in two["spec"]["taints"]]
    assert cluster.agent.call("DELETE", f"{JOBS}/on-two", {"propagationPolicy": "Background"}).status_code == 200
    node.come_back()
    wait_until(lambda: pod_of(cluster, "on-two") is None, 180, "the pod being gone with its node's return", pause_s=0.5)
