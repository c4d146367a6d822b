"""A node as a client of the API, of the stand-in's and of a real one: it registers itself, runs the pods that are bound to it and
tells how they fare."""
import contextlib
import http.server
import threading
import urllib.parse

from kube.pod_run import PodRun
from kube.server import Server
from kube.times import now_text

HEARTBEAT_S = 1.0


class Node:
    """`labels` and `capacity` ("cpu", "memory", device plugins' resources) as the scheduler sees them. `unpullable`: images that no
    registry has. `claims`: folders by the names of persistent volume claims."""

    def __init__(self, client, name, labels, capacity, folder, certificate, claims=None, unpullable=()):
        self.client, self.name, self.labels = client, name, labels
        self.capacity = {"pods": "110", **capacity}
        self.folder, self.claims, self.unpullable = folder / f"node-{name}", claims or {}, set(unpullable)
        self.folder.mkdir()
        self.runs, self.lock = {}, threading.Lock()  # by the pods' uids
        self.logs = Server(type("LogsHandler", (LogsHandler,), {"node": self}), *certificate)
        self.is_stopping = None
        self.start()

    def start(self):
        self.is_stopping = threading.Event()
        self.register()
        path, query = "/api/v1/pods", f"fieldSelector=spec.nodeName%3D{self.name}"
        self.threads = [threading.Thread(target=self.beat, daemon=True),
                        threading.Thread(target=self.client.follow, args=(path, query, self.see, self.is_stopping), daemon=True)]
        for thread in self.threads:
            thread.start()

    def register(self):
        self.client.upsert("/api/v1/nodes", {"kind": "Node", "apiVersion": "v1", "metadata": {
            "name": self.name, "labels": {"kubernetes.io/hostname": self.name, "kubernetes.io/os": "linux",
                                          "kubernetes.io/arch": "amd64", **self.labels}}})
        self.client.done("PATCH", f"/api/v1/nodes/{self.name}/status", {"status": {
            "capacity": self.capacity, "allocatable": self.capacity, "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": self.logs.port}}, **self.condition()}})

    def condition(self):
        return {"conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "kubelet is posting ready status",
                                "lastHeartbeatTime": now_text(), "lastTransitionTime": now_text()}]}

    def beat(self):
        while not self.is_stopping.wait(HEARTBEAT_S):
            with contextlib.suppress(OSError):  # those of requests, and that the cluster's folder is gone
                self.client.call("PATCH", f"/api/v1/nodes/{self.name}/status", {"status": self.condition()})

    def see(self, pod, uid):
        """A pod of this node as it is now; None: it is no more."""
        with self.lock:
            run = self.runs.get(uid)
            if pod is None:
                self.runs.pop(uid, None)
                if run:
                    run.end("gone", 0)
                return
            if run is None:
                if pod["status"].get("phase") in ("Succeeded", "Failed"):
                    return
                run = self.runs[uid] = PodRun(self, pod)
        if "deletionTimestamp" in pod["metadata"]:
            run.end("deleted", pod["metadata"].get("deletionGracePeriodSeconds") or 0)

    def run_of(self, pod_name):
        with self.lock:
            return next(run for run in self.runs.values() if run.name == pod_name)

    # What befalls pods and nodes, at a test's wish.

    def kill_for_memory(self, pod_name):
        self.run_of(pod_name).end("oom", 0)

    def evict(self, pod_name):
        """As a kubelet does that runs out of memory itself."""
        self.run_of(pod_name).end("evicted", 0)

    def lose(self):
        """As if its power were cut: what ran there is dead, and nobody says so."""
        self.is_stopping.set()
        with self.lock:
            runs, self.runs = list(self.runs.values()), {}
        for run in runs:
            run.end("silent", 0)

    def come_back(self):
        """Rebooted: of pods that it had, it says that they have failed, or deletes them where that is wanted."""
        self.threads[0].join()
        self.start()

    def stop(self):
        self.lose()
        self.logs.close()


class LogsHandler(http.server.BaseHTTPRequestHandler):
    """What a node says to the API server when somebody asks for a pod's log."""
    protocol_version = "HTTP/1.1"
    node = None

    def log_message(self, *_):
        """Nothing."""

    def do_GET(self):
        path, _, text = self.path.partition("?")
        query = dict(urllib.parse.parse_qsl(text))
        kind, _, rest = path.lstrip("/").partition("/")
        _, name, container = (rest.split("/") + ["", "", ""])[:3]
        try:
            log = self.node.folder / f"{name}.{container}.log"
            content, code = log.read_bytes(), 200
        except FileNotFoundError:
            content = f'container "{container}" in pod "{name}" is waiting to start: ContainerCreating'.encode()
            code = 400
        if kind != "containerLogs":
            content, code = b"404 page not found", 404
        if code == 200 and query.get("tailLines"):
            wanted = int(query["tailLines"])
            content = b"".join(content.splitlines(keepends=True)[-wanted:] if wanted else [])
        if code == 200 and query.get("limitBytes"):
            content = content[:int(query["limitBytes"])]
        self.send_response(code)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
