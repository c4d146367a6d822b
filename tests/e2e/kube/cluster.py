"""A Kubernetes cluster for tests: the stand-in or, where FATHOM_KUBERNETES names a folder of its programs, the real one; with nodes
that run pods as processes."""
import os
import pwd

from kube.client import Client
from kube.node import Node
from kube.real import PROGRAMS, RealCluster
from kube.stand_in import StandIn
from network import probe_for_jobs

JOBS_USER = "nobody" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
UNPULLABLE = "registry.example.org/no-such-image:1"
ENDED = ("Succeeded", "Failed")


class Cluster:
    def __init__(self, folder):
        self.folder = folder / "kubernetes"
        self.folder.mkdir(mode=0o755)
        self.work, self.inputs, self.outputs = (self.folder / name for name in ("work", "inputs", "outputs"))
        for one in (self.work, self.inputs, self.outputs):
            one.mkdir(mode=0o755)
        self.outputs.chmod(0o777)  # jobs may be nobody's
        self.nodes = {}
        self.control = (RealCluster if PROGRAMS else StandIn)(self.folder / "control")
        self.is_real, self.faults, self.namespace = self.control.is_real, self.control.faults, self.control.namespace
        self.admin = Client(self.control.url, self.control.ca, self.control.admin_token)
        self.agent = Client(self.control.url, self.control.ca, self.control.agent_token)
        self.token_file = self.folder / "agent.token"
        self.token_file.write_text(self.control.agent_token)
        self.node_certificate = self.control.authority.sign("node")

    def add_node(self, name, labels, capacity):
        self.nodes[name] = Node(self.admin, name, labels, capacity, self.folder, self.node_certificate, unpullable=[UNPULLABLE])
        return self.nodes[name]

    def agent_config(self, *lines, image="registry.example.org/jobs:1", center="fathom", work=None):
        """`lines`: settings, and then tables."""
        return "\n".join([
            'executor = "kubernetes"', f'kubernetes_api = "{self.control.url}"', f'kubernetes_ca_file = "{self.control.ca}"',
            f'kubernetes_token_file = "{self.token_file}"', f'kubernetes_namespace = "{self.namespace}"',
            f'kubernetes_center = "{center}"', f'kubernetes_image = "{image}"', f'kubernetes_work_folder = "{work or self.work}"',
            "kubernetes_grace_s = 2", *([f'run_as = "{JOBS_USER}"'] if os.geteuid() == 0 else []),
            f'probe_program = "{probe_for_jobs()}"', f'input_folders = "{self.inputs}"', f'output_folders = "{self.outputs}"',
            *lines]) + "\n"

    def items(self, resource, attempt_id=None):
        """Jobs or pods, of all or of an attempt, as they are now."""
        group = "/apis/batch/v1" if resource == "jobs" else "/api/v1"
        query = f"?labelSelector=fathom/attempt%3D{attempt_id}" if attempt_id else ""
        return self.admin.done("GET", f"{group}/namespaces/{self.namespace}/{resource}{query}")["items"]

    def running_pod(self, attempt_id):
        """(its name, its node); None: there is none."""
        found = [pod for pod in self.items("pods", attempt_id) if pod["status"].get("phase") == "Running"]
        return (found[0]["metadata"]["name"], self.nodes[found[0]["spec"]["nodeName"]]) if found else None

    def dump(self):
        """For people: what the cluster has, and what its API server was asked last."""
        lines = []
        for resource in ("jobs", "pods"):
            for item in self.items(resource):
                lines.append(f"{resource} {item['metadata']['name']} {item.get('status')}")
        if not self.is_real:
            lines += [f"{call.verb} {call.resource} {call.name or ''} -> {call.code}" for call in list(self.control.calls)
                      if call.resource != "nodes" or call.verb != "patch"][-40:]
        return "\n".join(lines)

    def stop(self):
        for node in self.nodes.values():
            node.stop()
        self.control.stop()
