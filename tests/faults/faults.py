"""What can fail, each as begin() and end(): between the two it lasts, and after the second all parts are started again."""
import contextlib
import os
import signal

from cluster import LOST_AFTER_S


class Fault:
    """Nothing fails: what the histories are like without."""

    lasts_s = (0.0, 2.5)          # drawn from this range
    may_fail_to_start = False     # a center may refuse jobs meanwhile

    def __init__(self, cluster, random):
        self.cluster, self.random = cluster, random

    def begin(self):
        pass

    def end(self):
        pass


class AgentKilled(Fault):
    def begin(self):
        agent = self.random.choice(self.cluster.agents)
        kill(self.cluster.agent_tree(agent), signal.SIGKILL)
        agent.process.process.wait()


class AgentHalted(Fault):
    """As on a host that is out of memory, or a virtual machine that is moved."""

    def begin(self):
        self.pids = self.cluster.agent_tree(self.random.choice(self.cluster.agents))
        kill(self.pids, signal.SIGSTOP)

    def end(self):
        kill(self.pids, signal.SIGCONT)


class AgentLost(AgentHalted):
    """So long that its jobs count as lost; then it is back."""
    lasts_s = (LOST_AFTER_S + 4, LOST_AFTER_S + 7)


class ReplicaKilled(Fault):
    def begin(self):
        self.random.choice(self.cluster.servers).process.kill()


class ServerKilled(Fault):
    """All replicas at once."""

    def begin(self):
        for server in self.cluster.servers:
            server.process.kill()


class PostgreSqlKilled(Fault):
    def begin(self):
        self.cluster.database.kill()

    def end(self):
        self.cluster.database.start()


class PostgreSqlRestarted(Fault):
    """As an operator does: every connection ends at once."""
    lasts_s = (0.0, 0.5)

    def begin(self):
        self.cluster.database.stop()

    def end(self):
        self.cluster.database.start()


class PostgreSqlFailedOver(Fault):
    """The primary is killed, and its synchronous standby takes over, for good."""

    def begin(self):
        self.cluster.database.fail_over()

    def end(self):
        self.cluster.database.restore_standby()


class NetworkCut(Fault):
    directions = ("up", "down")
    lasts_s = (0.3, 6.0)

    def begin(self):
        self.cluster.relay.cut(*self.directions)

    def end(self):
        self.cluster.relay.heal()


class NetworkUpCut(NetworkCut):
    """What centers say does not come through; what they are told does."""
    directions = ("up",)


class NetworkDownCut(NetworkCut):
    directions = ("down",)


class NetworkLost(NetworkCut):
    lasts_s = (LOST_AFTER_S + 4, LOST_AFTER_S + 7)


class NetworkReset(Fault):
    lasts_s = (0.0, 0.1)

    def begin(self):
        self.cluster.relay.reset()


class NetworkSlow(Fault):
    def begin(self):
        self.cluster.relay.slow()

    def end(self):
        self.cluster.relay.heal()


class AgentDiskFull(Fault):
    may_fail_to_start = True

    def begin(self):
        self.disk = self.random.choice(list(self.cluster.disks.values()))
        self.disk.fill()

    def end(self):
        self.disk.make_room()


FAULTS = {
    "none": Fault,
    "agent_killed": AgentKilled,
    "agent_halted": AgentHalted,
    "agent_lost": AgentLost,
    "replica_killed": ReplicaKilled,
    "server_killed": ServerKilled,
    "postgresql_killed": PostgreSqlKilled,
    "postgresql_restarted": PostgreSqlRestarted,
    "network_cut": NetworkCut,
    "network_up_cut": NetworkUpCut,
    "network_down_cut": NetworkDownCut,
    "network_lost": NetworkLost,
    "network_reset": NetworkReset,
    "network_slow": NetworkSlow,
    "agent_disk_full": AgentDiskFull,
    "postgresql_failed_over": PostgreSqlFailedOver,
}
NEEDS_ROOT = {"agent_disk_full"}


def kill(pids, number):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def start_what_ended(cluster):
    """As systemd does."""
    for server in cluster.servers:
        if not server.process.alive():
            server.process.start()
    for agent in cluster.agents:
        if not agent.process.alive():
            agent.process.start()
