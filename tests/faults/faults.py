"""What can fail, each as begin() and end(): between the two it lasts, and after the second all parts are started again."""
import contextlib
import os
import signal

from cluster import LOST_AFTER_S

CLOCK_JUMPS_S = (3600, -3600, 86400)


class Fault:
    """Nothing fails: what the histories are like without."""

    lasts_s = (0.0, 2.5)          # drawn from this range
    may_fail_to_start = False     # a center may refuse jobs meanwhile
    may_lose = False              # a center's own scheduler may forget jobs, and end those that it does not know
    database_goes_back = False    # the clock of the database does

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


class ClockJumped(Fault):
    """What one part takes for the time jumps, and jumps back at the end. Steady clocks go on."""

    def begin(self):
        self.clock = self.random.choice([self.cluster.clocks[part] for part in self.parts()])
        self.clock.move(self.random.choice(CLOCK_JUMPS_S))

    def end(self):
        self.clock.move(0)


class AgentClockJumped(ClockJumped):
    """Its supervisors' as well."""

    def parts(self):
        return [agent.name for agent in self.cluster.agents]


class ReplicaClockJumped(ClockJumped):
    def parts(self):
        return [server.name for server in self.cluster.servers]


class PostgreSqlClockJumped(ClockJumped):
    """The standby's as well. Longer than between two looks for silent centers."""
    lasts_s = (0.0, 8.0)
    database_goes_back = True

    def parts(self):
        return ["postgresql"]


class SlurmctldKilled(Fault):
    """Slurm writes down only now and then what it knows: it may forget the jobs of the last seconds, and ends them."""
    may_lose = True

    def begin(self):
        kill([self.cluster.slurmctld_pid()], signal.SIGKILL)

    def end(self):
        self.cluster.slurm.call("start-controller")


class SlurmctldHalted(Fault):
    """It answers nothing for longer than Slurm's programs wait."""
    lasts_s = (1.0, 14.0)

    def begin(self):
        self.pid = self.cluster.slurmctld_pid()
        kill([self.pid], signal.SIGSTOP)

    def end(self):
        kill([self.pid], signal.SIGCONT)


class SlurmAgentKilled(AgentKilled):
    """That of a center with a Slurm: what it had submitted it finds again by its name, also where Slurm's answer got lost."""


class SlurmdbdKilled(Fault):
    """Slurm goes on, and tells it later what happened meanwhile."""
    lasts_s = (0.0, 8.0)

    def begin(self):
        self.cluster.slurm.kill_accounting()

    def end(self):
        self.cluster.slurm.call("start-accounting")


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
    "agent_clock_jumped": AgentClockJumped,
    "replica_clock_jumped": ReplicaClockJumped,
    "postgresql_clock_jumped": PostgreSqlClockJumped,
    "slurmctld_killed": SlurmctldKilled,
    "slurmctld_halted": SlurmctldHalted,
    "slurmdbd_killed": SlurmdbdKilled,
    "slurm_agent_killed": SlurmAgentKilled,
}
NEEDS_ROOT = {"agent_disk_full"}
NEEDS_ACCOUNTS = {"slurmdbd_killed"}
NEEDS_SLURM = {"slurmctld_killed", "slurmctld_halted", "slurm_agent_killed", *NEEDS_ACCOUNTS}


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
