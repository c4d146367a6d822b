"""One pod at its node, from when it is bound there to its end."""
import threading
import time

import requests

from kube.container import CannotRun, Container
from kube.times import now_text

PULL_LIMIT_S = 1.0  # from the first failure to pull an image to the pause before the next trial
MESSAGE_BYTES = 2048


class PodRun:
    """Runs in a thread of its own. `end()` may be called from any."""

    def __init__(self, node, pod):
        self.node, self.pod = node, pod
        self.name, self.uid = pod["metadata"]["name"], pod["metadata"]["uid"]
        self.path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{self.name}"
        self.started_at = self.container = None
        self.why, self.grace_s = "", 0
        self.is_ending = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def end(self, why, grace_s):
        """`why`: deleted, gone, oom, evicted, or silent: nobody is told. The first one counts."""
        if not self.is_ending.is_set():
            self.why, self.grace_s = why, grace_s
            self.is_ending.set()

    @property
    def spec(self):
        return self.pod["spec"]["containers"][0]

    def run(self):
        has_begun = self.pod["status"].get("phase") == "Running"
        if has_begun:  # before the node was lost
            self.tell("Failed", {"terminated": self.terminated(137, "ContainerStatusUnknown")})
        elif self.has_image():
            self.run_container()
        if self.why == "deleted" or (has_begun and "deletionTimestamp" in self.pod["metadata"]):
            self.delete()

    def has_image(self):
        """False: it has ended without."""
        if self.spec["image"] not in self.node.unpullable:
            return not self.is_ending.is_set()
        image = self.spec["image"]
        self.tell("Pending", {"waiting": {"reason": "ErrImagePull", "message":
                                          f'failed to pull and unpack image "{image}": failed to resolve reference: not found'}})
        if not self.is_ending.wait(PULL_LIMIT_S):
            self.tell("Pending", {"waiting": {"reason": "ImagePullBackOff", "message": f'Back-off pulling image "{image}"'}})
        self.is_ending.wait()
        return False

    def run_container(self):
        while True:
            self.started_at, began = now_text(), time.monotonic()
            try:
                self.container = Container(self.pod, self.spec, self.node.claims, self.log_path())
                break
            except CannotRun as wrong:
                self.tell("Pending", {"waiting": {"reason": wrong.reason, "message": wrong.message}})
                if self.is_ending.wait(0.5):
                    return
        self.tell("Running", {"running": {"startedAt": self.started_at}})
        limit_s = self.pod["spec"].get("activeDeadlineSeconds")
        while not self.container.has_ended() and not self.is_ending.wait(0.05):
            if limit_s is not None and time.monotonic() - began > limit_s:
                self.end("deadline", self.pod["spec"]["terminationGracePeriodSeconds"])
        code = self.container.stop(self.grace_s) if self.is_ending.is_set() else self.container.wait()
        self.tell_end(code)

    def tell_end(self, code):
        # A container that was killed may have caught the signal and ended with an exit code of its own.
        reason = "OOMKilled" if self.why == "oom" else "Completed" if code == 0 else "Error"
        state = {"terminated": self.terminated(code, reason)}
        phase = "Succeeded" if code == 0 and self.why in ("", "deleted") else "Failed"
        words = {"evicted": ("Evicted", "The node was low on resource: memory. "),
                 "deadline": ("DeadlineExceeded", "Pod was active on the node longer than the specified deadline")}.get(self.why)
        self.tell(phase, state, *(words or ()))

    def terminated(self, code, reason):
        state = {"exitCode": code, "reason": reason, "startedAt": self.started_at, "finishedAt": now_text()}
        if code != 0 and self.spec.get("terminationMessagePolicy") == "FallbackToLogsOnError" and self.log_path().exists():
            state["message"] = self.log_path().read_bytes()[-MESSAGE_BYTES:].decode(errors="replace")
        return state

    def log_path(self):
        return self.node.folder / f"{self.name}.{self.spec['name']}.log"

    def tell(self, phase, state, reason=None, message=None):
        """Until the API server has taken it, or the pod is gone."""
        ready = "True" if phase == "Running" else "False"
        # A merge patch would leave out what the scheduler and others say.
        conditions = [c for c in self.pod["status"].get("conditions") or [] if c["type"] not in ("Ready", "ContainersReady")]
        status = {"phase": phase, "reason": reason, "message": message, "hostIP": "127.0.0.1", "podIP": "127.0.0.1",
                  "startTime": self.pod["status"].get("startTime") or now_text(),
                  "conditions": conditions + [{"type": "Ready", "status": ready, "lastTransitionTime": now_text()}],
                  "containerStatuses": [{"name": self.spec["name"], "image": self.spec["image"], "imageID": "", "restartCount": 0,
                                         "ready": phase == "Running", "started": phase == "Running", "state": state}]}
        self.until_told("PATCH", f"{self.path}/status", {"metadata": {"uid": self.uid}, "status": status})

    def delete(self):
        self.until_told("DELETE", self.path, {"gracePeriodSeconds": 0, "preconditions": {"uid": self.uid}})

    def until_told(self, method, path, body):
        while self.why not in ("silent", "gone"):
            try:
                answer = self.node.client.call(method, path, body)
            except requests.RequestException:
                time.sleep(0.1)
                continue
            if answer.status_code in (200, 404, 409, 422):
                return
            time.sleep(0.1)
