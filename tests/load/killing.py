"""Kills the parts of a cluster when the plan says so, starts them again as systemd does, and looks at their memory."""
import contextlib
import pathlib
import signal
import threading
import time

from cluster import is_supervisor
from faults import kill
from growth import Lifetime
from processes import resident_memory_kib

LOOK_PAUSE_S = 0.2
RESTART_PAUSE_S = 1  # of what has ended by itself
LATE_S = 1           # a part that takes so much longer to come back misses a kill


class Part:
    """What can be killed and started again: an agent, a fathomd or PostgreSQL."""

    def __init__(self, name, cluster, agent=None, server=None):
        self.name, self.cluster, self.agent, self.server = name, cluster, agent, server
        self.is_down = False

    @property
    def process(self):
        """None: PostgreSQL, which no process of ours has started."""
        owner = self.agent or self.server
        return owner.process if owner else None

    def kill(self):
        if self.agent:
            kill(self.cluster.agent_tree(self.agent), signal.SIGKILL)
            self.process.process.wait()
        elif self.server:
            self.process.kill()
        else:
            self.cluster.database.kill()

    def start(self):
        if self.process:
            self.process.start()
        else:
            self.cluster.database.start()


def parts_of(cluster):
    agents = [Part(agent.name, cluster, agent=agent) for agent in cluster.agents]
    servers = [Part(server.name, cluster, server=server) for server in cluster.servers]
    return {part.name: part for part in (*agents, *servers, Part("postgresql", cluster))}


class Killer(threading.Thread):
    """Of one part: kills it at its times, and starts it after each, or when it has ended by itself."""

    def __init__(self, part, kills, began_s, timeline):
        super().__init__(daemon=True)
        self.part, self.kills, self.began_s, self.timeline = part, kills, began_s, timeline
        self.no_more_kills = threading.Event()
        self.is_over = threading.Event()

    def run(self):
        for number, one in enumerate(self.kills):
            self.wait_until(one.at_s)
            if self.no_more_kills.is_set():
                break
            if number > 0 and self.elapsed_s() > one.at_s + LATE_S:
                continue
            self.note("killed")
            self.part.is_down = True
            self.part.kill()
            time.sleep(one.down_s)
            self.part.start()
            self.part.is_down = False
            self.note("started")
        while not self.is_over.wait(LOOK_PAUSE_S):
            self.start_what_ended()

    def wait_until(self, at_s):
        while self.elapsed_s() < at_s and not self.no_more_kills.wait(LOOK_PAUSE_S):
            self.start_what_ended()

    def start_what_ended(self):
        if self.part.process and not self.part.process.alive():
            status = self.part.process.process.returncode
            self.note(f"ended by itself with {status}", is_crash=status < 0)
            time.sleep(RESTART_PAUSE_S)
            self.part.start()

    def elapsed_s(self):
        return time.monotonic() - self.began_s

    def note(self, what, is_crash=False):
        self.timeline.append({"at_s": round(self.elapsed_s(), 2), "part": self.part.name, "what": what, "is_crash": is_crash})


class MemorySampler(threading.Thread):
    """The resident memory of each process of ours, once a second."""

    def __init__(self, parts):
        super().__init__(daemon=True)
        self.parts = [part for part in parts if part.process]
        self.lifetimes = {}  # by (part, process id, when it was started)
        self.is_over = threading.Event()

    def run(self):
        next_s = time.monotonic()
        while not self.is_over.wait(max(0.0, next_s - time.monotonic())):
            next_s += 1
            for part in self.parts:
                if part.process.process and not part.is_down:
                    self.sample(part, part.process.process.pid)

    def sample(self, part, pid):
        """The process and those that it has started, but for supervisors: these are a job's."""
        with contextlib.suppress(OSError, KeyError):
            resident_kib = resident_memory_kib(pid)
            lifetime = self.lifetimes.setdefault((part.name, pid, start_of(pid)), Lifetime(part.name, pid))
            lifetime.samples.append((time.monotonic(), resident_kib))
            for child in children(pid):
                if not is_supervisor(child):
                    self.sample(part, child)


def start_of(pid):
    """When it began, which tells it from others that have had its number."""
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]


def children(pid):
    for thread in pathlib.Path(f"/proc/{pid}/task").iterdir():
        yield from map(int, (thread / "children").read_text().split())
