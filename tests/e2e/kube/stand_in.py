"""The stand-in of a cluster's control plane, in this process."""
import collections
import math

from kube.api import Handler
from kube.certificates import Authority
from kube.controllers import Controllers
from kube.faults import Faults
from kube.rights import User, documented_account, documented_user
from kube.server import Server
from kube.store import Store
from kube.verbs import Verbs
from network import free_port

ADMIN_TOKEN, AGENT_TOKEN, STRANGER_TOKEN = "admin-of-tests", "agent-of-tests", "stranger-of-tests"
PUBLIC_VERSION = {"major": "1", "minor": "31", "gitVersion": "v1.31.0-fathom-stand-in", "gitCommit": "", "gitTreeState": "clean",
                  "buildDate": "2024-08-13T00:00:00Z", "goVersion": "go1.22", "compiler": "gc", "platform": "linux/amd64"}


class StandIn:
    """Its API server can be stopped and started; what it knows stays."""
    is_real = False

    def __init__(self, folder):
        self.authority = Authority(folder)
        self.ca, self.certificate = self.authority.ca, self.authority.sign("apiserver")
        self.namespace = documented_account()[0]
        self.store, self.faults = Store(), Faults()
        self.verbs = Verbs(self.store, ["default", "kube-system", self.namespace])
        self.calls = collections.deque(maxlen=100_000)  # what was asked, the oldest first
        self.version = PUBLIC_VERSION
        self.admin_token, self.agent_token = ADMIN_TOKEN, AGENT_TOKEN
        self.anonymous = User("system:anonymous", [])
        self.users = {ADMIN_TOKEN: User("admin"), AGENT_TOKEN: documented_user(), STRANGER_TOKEN: User("stranger", [])}
        self.controllers = Controllers(self.store)
        self.server, self.port = None, free_port()  # also after it was stopped
        self.start_api()

    @property
    def url(self):
        return f"https://127.0.0.1:{self.port}"

    def start_api(self):
        self.server = Server(type("BoundHandler", (Handler,), {"cluster": self}), *self.certificate, port=self.port)
        self.controllers.watch_nodes_after(self.controllers.node_silence_s)

    def stop_api(self):
        self.controllers.watch_nodes_after(math.inf)  # which cannot say that they are there
        self.server.close()

    def drop_watches(self):
        """And all other connections."""
        self.server.drop_connections()

    def forget_history(self):
        """Who watches must list anew."""
        self.verbs.forget()
        self.server.drop_connections()

    def stop(self):
        self.controllers.stop()
        self.server.close()
