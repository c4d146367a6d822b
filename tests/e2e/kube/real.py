"""Kubernetes' own control plane: etcd, kube-apiserver, kube-controller-manager and kube-scheduler as processes of this machine."""
import base64
import json
import os
import pathlib

import requests

from kube.certificates import Authority, openssl
from kube.client import Client
from kube.rights import documented_account, documented_objects
from network import Process, free_port, wait_until

PROGRAMS = os.environ.get("FATHOM_KUBERNETES", "")  # folder of the programs; empty: the stand-in is used
ADMIN_TOKEN, STRANGER_TOKEN = "admin-of-tests", "stranger-of-tests"
PATHS = {"ServiceAccount": "/api/v1/namespaces/{}/serviceaccounts",
         **{kind: "/apis/rbac.authorization.k8s.io/v1/" + path for kind, path in (
             ("Role", "namespaces/{}/roles"), ("RoleBinding", "namespaces/{}/rolebindings"), ("ClusterRole", "clusterroles"),
             ("ClusterRoleBinding", "clusterrolebindings"))}}


class RealCluster:
    is_real = True
    faults = None

    def __init__(self, folder):
        self.folder, self.authority = folder, Authority(folder)
        self.ca = self.authority.ca
        self.namespace, self.account = documented_account()
        self.admin_token = ADMIN_TOKEN
        self.port, self.etcd_port = free_port(), free_port()
        self.etcd = self.process("etcd", "/usr/bin/etcd", [
            "--data-dir", folder / "etcd", "--listen-client-urls", self.etcd_url, "--advertise-client-urls", self.etcd_url,
            "--listen-peer-urls", f"http://127.0.0.1:{free_port()}", "--unsafe-no-fsync"])
        self.api = self.process("kube-apiserver", pathlib.Path(PROGRAMS) / "kube-apiserver", self.api_arguments())
        self.others = []
        try:
            self.start()
        except BaseException:
            self.stop()
            raise

    @property
    def url(self):
        return f"https://127.0.0.1:{self.port}"

    @property
    def etcd_url(self):
        return f"http://127.0.0.1:{self.etcd_port}"

    def process(self, name, program, arguments):
        # Below all that the tests themselves do: a control plane that is late shows nothing wrong.
        return Process(name, ["nice", "-n", "5", program, *arguments], self.folder / f"{name}.log")

    def api_arguments(self):
        account_key = self.folder / "service-accounts.key"
        openssl("genrsa", "-out", account_key, "2048")
        tokens = self.folder / "tokens.csv"
        tokens.write_text(f'{ADMIN_TOKEN},admin,admin,"system:masters"\n{STRANGER_TOKEN},stranger,stranger\n')
        certificate, key = self.authority.sign("apiserver")
        node_certificate, node_key = self.authority.sign("apiserver-at-nodes", "/O=system:masters/CN=kube-apiserver")
        return [
            f"--etcd-servers={self.etcd_url}", "--bind-address=127.0.0.1", f"--secure-port={self.port}",
            f"--tls-cert-file={certificate}", f"--tls-private-key-file={key}", f"--client-ca-file={self.ca}",
            f"--token-auth-file={tokens}", "--authorization-mode=RBAC", "--service-cluster-ip-range=10.0.0.0/24",
            "--service-account-issuer=https://kubernetes.default.svc", f"--service-account-key-file={account_key}",
            f"--service-account-signing-key-file={account_key}", f"--kubelet-client-certificate={node_certificate}",
            f"--kubelet-client-key={node_key}", "--kubelet-preferred-address-types=InternalIP", "--feature-gates=TTLAfterFinished=true",
            # What takes minutes in a center takes seconds here.
            "--default-not-ready-toleration-seconds=2", "--default-unreachable-toleration-seconds=2"]

    def start(self):
        self.etcd.start()
        wait_until(lambda: self.is_ready(self.etcd, f"{self.etcd_url}/health"), 60, "etcd being ready")
        self.start_api()
        admin = Client(self.url, self.ca, ADMIN_TOKEN)
        admin.upsert("/api/v1/namespaces", {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": self.namespace}})
        for item in documented_objects():
            admin.upsert(PATHS[item["kind"]].format(self.namespace), item)
        config = self.folder / "controllers.kubeconfig"
        config.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "it",
            "clusters": [{"name": "it", "cluster": {"server": self.url, "certificate-authority": str(self.ca)}}],
            "users": [{"name": "it", "user": {"token": ADMIN_TOKEN}}],
            "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}]}))
        common = [f"--kubeconfig={config}", "--leader-elect=false", "--port=0"]
        self.others = [
            self.process("kube-controller-manager", pathlib.Path(PROGRAMS) / "kube-controller-manager", [
                *common, f"--secure-port={free_port()}", f"--root-ca-file={self.ca}",
                f"--service-account-private-key-file={self.folder / 'service-accounts.key'}",
                "--controllers=job,garbagecollector,namespace,serviceaccount,serviceaccount-token,nodelifecycle,podgc,ttl-after-finished",
                "--node-monitor-period=1s", "--node-monitor-grace-period=4s", "--feature-gates=TTLAfterFinished=true"]),
            self.process("kube-scheduler", pathlib.Path(PROGRAMS) / "kube-scheduler", [*common, f"--secure-port={free_port()}"])]
        for process in self.others:
            process.start()
        answer = wait_until(lambda: self.token_of_account(admin), 60, "a token of the agent's service account")
        self.agent_token = answer
        wait_until(lambda: admin.call("GET", f"/api/v1/namespaces/{self.namespace}/serviceaccounts/default").status_code == 200, 60,
                   "the namespace having its service account")

    def token_of_account(self, admin):
        request = {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "spec": {"expirationSeconds": 7200}}
        answer = admin.call("POST", f"/api/v1/namespaces/{self.namespace}/serviceaccounts/{self.account}/token", request)
        return answer.json()["status"]["token"] if answer.status_code == 201 else None

    def is_ready(self, process, url):
        assert process.alive(), f"{process.name} ended:\n{process.log()[-4000:]}"
        try:
            return requests.get(url, verify=str(self.ca), timeout=20).status_code == 200
        except requests.RequestException:
            return False

    def start_api(self):
        self.api.start()
        wait_until(lambda: self.is_ready(self.api, f"{self.url}/readyz"), 180, "kube-apiserver being ready")

    def stop_api(self):
        self.api.kill()

    def drop_watches(self):
        self.stop_api()
        self.start_api()

    def forget_history(self):
        """etcd forgets it; what the API server keeps of it in memory goes with its process."""
        self.stop_api()
        key = base64.b64encode(b"x").decode()
        revision = requests.post(f"{self.etcd_url}/v3/kv/range", json={"key": key}, timeout=10).json()["header"]["revision"]
        requests.post(f"{self.etcd_url}/v3/kv/put", json={"key": key, "value": key}, timeout=10)
        requests.post(f"{self.etcd_url}/v3/kv/compaction", json={"revision": str(int(revision) + 1), "physical": True}, timeout=10)
        self.start_api()

    def stop(self):
        for process in [*self.others, self.api, self.etcd]:
            if process.alive():
                process.kill()
