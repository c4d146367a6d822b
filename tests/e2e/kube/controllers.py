"""What kube-controller-manager and kube-scheduler do with Jobs and pods, as far as the agent sees it."""
import contextlib
import decimal
import threading
import time
import uuid

from kube import errors
from kube.quantity import amounts
from kube.times import now_text, seconds_since
from kube.verbs import FOREGROUND, owner_uid, random_suffix

UNREACHABLE = "node.kubernetes.io/unreachable"
ENDED = ("Succeeded", "Failed")
LOOK_S = 0.2  # at the longest between two looks at everything


class Controllers:
    """Times that Kubernetes has in minutes are seconds here: when a node that is silent counts as lost, and how long its
    pods are tolerated there. While this machine is too busy for the controllers, no silence passes: nodes could not speak either."""
    node_silence_s = 5
    eviction_s = 2

    def __init__(self, store):
        self.store = store
        self.replaces_deleted_pods = False  # as before Kubernetes 1.25, also of a Job that allows for no failure
        self.watches_nodes_at = 0.0
        self.looked_at, self.silences = time.monotonic(), {}  # by node: (its last heartbeat, seconds without another)
        self.is_stopping = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def watch_nodes_after(self, pause_s):
        self.watches_nodes_at = time.monotonic() + pause_s

    def stop(self):
        self.is_stopping.set()
        self.thread.join(10)

    def run(self):
        seen = 0
        while not self.is_stopping.is_set():
            with contextlib.suppress(errors.Refused):  # deleted, or forgotten, meanwhile
                for step in (self.watch_nodes, self.sync_jobs, self.collect_garbage, self.schedule):
                    step()
                with self.store.changed:
                    if self.store.version == seen:
                        self.store.changed.wait(LOOK_S)
                    seen = self.store.version

    def watch_nodes(self):
        now = time.monotonic()
        passed_s, self.looked_at = min(now - self.looked_at, LOOK_S), now
        if now < self.watches_nodes_at:
            self.silences.clear()
            return
        pods = None
        for node in self.store.list("nodes")[0]:
            name = node["metadata"]["name"]
            ready = next((c for c in node["status"].get("conditions") or [] if c["type"] == "Ready"), None)
            if ready is None:
                continue
            is_silent = self.silence_s(name, ready["lastHeartbeatTime"], passed_s) > self.node_silence_s
            if is_silent and ready["status"] != "Unknown":
                self.store.update("nodes", None, name, lose)
            elif not is_silent and any(taint["key"] == UNREACHABLE for taint in node.get("spec", {}).get("taints") or []):
                self.store.update("nodes", None, name, find_again)
            for taint in node.get("spec", {}).get("taints") or []:
                if taint["key"] == UNREACHABLE and seconds_since(taint["timeAdded"]) > self.eviction_s:
                    pods = self.store.list("pods")[0] if pods is None else pods
                    self.evict([pod for pod in pods if pod["spec"].get("nodeName") == name])
        # What is bound to a node that is no more, nobody runs or ends any more.
        names = {node["metadata"]["name"] for node in self.store.list("nodes")[0]}
        for pod in self.store.list("pods")[0] if pods is None else pods:
            if pod["spec"].get("nodeName") and pod["spec"]["nodeName"] not in names:
                self.store.delete("pods", pod["metadata"]["namespace"], pod["metadata"]["name"])

    def silence_s(self, node, heartbeat, passed_s):
        known, silent_s = self.silences.get(node, (None, 0.0))
        self.silences[node] = heartbeat, silent_s + passed_s if known == heartbeat else 0.0
        return self.silences[node][1]

    def evict(self, pods):
        """They are marked as deleted; nobody is there to say that they have ended."""
        for pod in pods:
            if "deletionTimestamp" in pod["metadata"] or pod["status"].get("phase") in ENDED:
                continue

            def mark(found):
                found["metadata"] |= {"deletionTimestamp": now_text(), "deletionGracePeriodSeconds": 0}
                set_condition(found["status"], "DisruptionTarget", "True", "DeletionByTaintManager",
                              "Taint manager: deleting due to NoExecute taint")
            self.store.update("pods", pod["metadata"]["namespace"], pod["metadata"]["name"], mark)

    def sync_jobs(self):
        pods = self.store.list("pods")[0]
        for job in self.store.list("jobs")[0]:
            own = [pod for pod in pods if owner_uid(pod) == job["metadata"]["uid"]]
            self.sync_job(job, own)

    def sync_job(self, job, pods):
        """As Kubernetes' Job controller counts, for Jobs of one pod at a time."""
        if "deletionTimestamp" in job["metadata"] or any(
                c["type"] in ("Complete", "Failed") for c in job["status"].get("conditions") or []):
            return
        spec, status = job["spec"], dict(job["status"])
        status.setdefault("startTime", now_text())
        active = [p for p in pods if p["status"].get("phase") not in ENDED and "deletionTimestamp" not in p["metadata"]]
        succeeded = sum(pod["status"].get("phase") == "Succeeded" for pod in pods)
        failed = sum(pod["status"].get("phase") == "Failed" or (
            not self.replaces_deleted_pods and "deletionTimestamp" in pod["metadata"] and pod["status"].get("phase") != "Succeeded")
            for pod in pods)
        deadline_s = spec.get("activeDeadlineSeconds")
        failure = None
        if failed > spec["backoffLimit"]:
            failure = "BackoffLimitExceeded", "Job has reached the specified backoff limit"
        elif deadline_s is not None and seconds_since(status["startTime"]) >= deadline_s:
            failure = "DeadlineExceeded", "Job was active longer than specified deadline"
        if failure:
            for pod in active:
                self.end_pod(pod)
            failed, active = failed + len(active), []
            set_condition(status, "Failed", "True", *failure)
        elif succeeded >= (spec.get("completions") or 1):
            set_condition(status, "Complete", "True")
            status["completionTime"] = now_text()
        elif len(active) < min(spec["parallelism"], (spec.get("completions") or 1) - succeeded):
            active.append(self.store.create("pods", pod_of(job)))
        status |= {"active": len(active), "succeeded": succeeded, "failed": failed}
        self.store.update("jobs", job["metadata"]["namespace"], job["metadata"]["name"], lambda found: found.update(status={
            key: value for key, value in status.items() if value != 0}))

    def end_pod(self, pod):
        if not pod["spec"].get("nodeName"):
            self.store.delete("pods", pod["metadata"]["namespace"], pod["metadata"]["name"])
            return
        grace_s = pod["spec"]["terminationGracePeriodSeconds"]
        self.store.update("pods", pod["metadata"]["namespace"], pod["metadata"]["name"], lambda found: found["metadata"].update(
            deletionTimestamp=now_text(grace_s), deletionGracePeriodSeconds=grace_s))

    def collect_garbage(self):
        jobs = {job["metadata"]["uid"]: job for job in self.store.list("jobs")[0]}
        pods = [pod for pod in self.store.list("pods")[0] if owner_uid(pod)]
        for pod in pods:
            job = jobs.get(owner_uid(pod))
            is_unwanted = job is None or FOREGROUND in (job["metadata"].get("finalizers") or [])
            if is_unwanted and "deletionTimestamp" not in pod["metadata"]:
                if pod["status"].get("phase") in ENDED:
                    self.store.delete("pods", pod["metadata"]["namespace"], pod["metadata"]["name"])
                else:
                    self.end_pod(pod)
        kept = {owner_uid(pod) for pod in pods}
        for uid, job in jobs.items():
            metadata = job["metadata"]
            if FOREGROUND in (metadata.get("finalizers") or []) and uid not in kept:
                self.store.delete("jobs", metadata["namespace"], metadata["name"])
            limit_s = job["spec"].get("ttlSecondsAfterFinished")
            ended = next((c for c in job["status"].get("conditions") or [] if c["type"] in ("Complete", "Failed")), None)
            if ended and limit_s is not None and seconds_since(ended["lastTransitionTime"]) >= limit_s and not (
                    "deletionTimestamp" in metadata):
                self.store.delete("jobs", metadata["namespace"], metadata["name"])

    def schedule(self):
        nodes, pods = self.store.list("nodes")[0], self.store.list("pods")[0]
        for pod in pods:
            if pod["spec"].get("nodeName") or "deletionTimestamp" in pod["metadata"] or pod["status"].get("phase") in ENDED:
                continue
            chosen, why = choose(pod, nodes, pods)

            def bind(found):
                if chosen:
                    found["spec"]["nodeName"] = chosen
                    set_condition(found["status"], "PodScheduled", "True")
                else:
                    set_condition(found["status"], "PodScheduled", "False", "Unschedulable", why)
            self.store.update("pods", pod["metadata"]["namespace"], pod["metadata"]["name"], bind)
            if chosen:
                pod["spec"]["nodeName"] = chosen


def lose(node):
    set_condition(node["status"], "Ready", "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status.")
    taints = node.setdefault("spec", {}).setdefault("taints", [])
    taints += [{"key": UNREACHABLE, "effect": effect, "timeAdded": now_text()} for effect in ("NoSchedule", "NoExecute")]


def find_again(node):
    node["spec"]["taints"] = [taint for taint in node["spec"]["taints"] if taint["key"] != UNREACHABLE]


def set_condition(status, kind, value, reason=None, message=None):
    conditions = status.setdefault("conditions", [])
    old = next((c for c in conditions if c["type"] == kind), {})
    made = {**old, "type": kind, "status": value, "lastTransitionTime": old.get("lastTransitionTime") if old.get("status") == value
            else now_text(), **({"reason": reason, "message": message} if reason else {})}
    conditions[:] = [c for c in conditions if c["type"] != kind] + [made]


def pod_of(job):
    metadata, template = job["metadata"], job["spec"]["template"]
    return {"kind": "Pod", "apiVersion": "v1", "spec": template["spec"], "status": {"phase": "Pending", "qosClass": "Burstable"},
            "metadata": {**(template.get("metadata") or {}), "name": f"{metadata['name'][:57]}-{random_suffix()}",
                         "namespace": metadata["namespace"], "uid": str(uuid.uuid4()), "creationTimestamp": now_text(),
                         "generateName": f"{metadata['name']}-",
                         "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": metadata["name"],
                                              "uid": metadata["uid"], "controller": True, "blockOwnerDeletion": True}]}}


def requests_of(pod):
    total = {"pods": decimal.Decimal(1)}
    for container in pod["spec"]["containers"]:
        for name, amount in amounts(container["resources"].get("requests")).items():
            total[name] = total.get(name, decimal.Decimal(0)) + amount
    return total


def tolerates(pod, taint):
    return any(one.get("key") in (None, "", taint["key"]) and one.get("effect") in (None, "", taint["effect"])
               and (one.get("operator") == "Exists" or one.get("value") == taint.get("value"))
               for one in pod["spec"].get("tolerations") or [])


def why_not(pod, node, pods):
    """The scheduler's words for why this node does not take it; empty: it does."""
    spec = node.get("spec") or {}
    if spec.get("unschedulable"):
        return "node(s) were unschedulable"
    for taint in spec.get("taints") or []:
        if taint["effect"] != "PreferNoSchedule" and not tolerates(pod, taint):
            return f"node(s) had untolerated taint {{{taint['key']}: {taint.get('value', '')}}}"
    labels = node["metadata"].get("labels") or {}
    if any(labels.get(name) != value for name, value in (pod["spec"].get("nodeSelector") or {}).items()):
        return "node(s) didn't match Pod's node affinity/selector"
    left = amounts(node["status"].get("allocatable"))
    for other in pods:
        if other["spec"].get("nodeName") == node["metadata"]["name"] and other["status"].get("phase") not in ENDED:
            for name, amount in requests_of(other).items():
                left[name] = left.get(name, decimal.Decimal(0)) - amount
    short = [name for name, amount in sorted(requests_of(pod).items()) if amount > left.get(name, 0)]
    if "pods" in short:
        return "Too many pods"
    return f"Insufficient {short[0]}" if short else ""


def choose(pod, nodes, pods):
    """(name of the node, "") or (None, the scheduler's message)."""
    reasons = {}
    for node in nodes:
        why = why_not(pod, node, pods)
        if not why:
            return node["metadata"]["name"], ""
        reasons[why] = reasons.get(why, 0) + 1
    if not nodes:
        return None, "no nodes available to schedule pods"
    return None, f"0/{len(nodes)} nodes are available: " + ", ".join(f"{n} {why}" for why, n in sorted(reasons.items())) + "."
