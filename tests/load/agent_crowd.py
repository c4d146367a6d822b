"""One run of tests/load/agents: the server, the crowd of agents, and what is measured of them."""
import contextlib
import datetime
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import threading
import time

from crowd_figures import Dispatches, core_pct, figures_of
from network import BIN, Rest, Server, roomy_folder, wait_until
from processes import descendants, resident_memory_kib

CONNECT_LIMIT_S = 600
SETTLE_S = 20          # after all are there: what they made the server do ends
JOBS_PER_S = 10
ENDS_LIMIT_S = 120
BACK_LIMIT_S = 600
MOST_REASONS = 5       # why connections ended or did not come about
TICKS = os.sysconf("SC_CLK_TCK")


def say(text):
    print(f"{datetime.datetime.now():%H:%M:%S}  {text}", flush=True)


class Footprint:
    """Memory and processor time of fathomd, and processor time of its PostgreSQL."""

    def __init__(self, server):
        self.postgres = server.postgres_pid()
        others = {self.postgres, *descendants(self.postgres)}
        first = server.process.process.pid
        self.server = [pid for pid in (first, *descendants(first)) if pid not in others]

    def memory_kib(self):
        return sum(resident_kib(pid) for pid in self.server)

    def server_s(self):
        return sum(processor_s(pid) for pid in self.server)

    def postgres_s(self):
        """With that of connections that have ended, which is their parent's then."""
        return processor_s(self.postgres, with_ended=True) + sum(processor_s(pid) for pid in descendants(self.postgres))


def resident_kib(pid):
    with contextlib.suppress(FileNotFoundError, KeyError, ProcessLookupError):
        return resident_memory_kib(pid)
    return 0


def processor_s(pid, with_ended=False):
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15 if with_ended else 13])) / TICKS
    return 0.0


class Crowd:
    """The simulated agents: one process, whose newest line says how they are."""

    def __init__(self, folder, enrolments):
        self.orders = folder / "orders.tsv"
        self.newest = {}
        self.log = open(folder / "crowd.log", "wb")
        self.process = subprocess.Popen(
            [BIN / "simulated_agents", "run", "--file", enrolments, "--orders", self.orders],
            stdout=subprocess.PIPE, stderr=self.log)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.newest = json.loads(line)

    def wait_online(self, count, limit_s, more_welcomes_than=0):
        def are_online():
            assert self.process.poll() is None, f"the simulated agents ended: {pathlib.Path(self.log.name).read_text()}"
            said = self.newest
            return said if said.get("online") == count and said["welcomes"] >= more_welcomes_than + count else None
        return wait_until(are_online, limit_s, f"{count} agents being online (now: {self.newest})", pause_s=0.2)

    def ordered(self):
        """job id -> when its agent got the order, in seconds of the monotonic clock"""
        lines = self.orders.read_text().splitlines() if self.orders.exists() else []
        return [(job, float(at_s)) for job, at_s in (line.split("\t") for line in lines)]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)
        self.log.close()


class Load:
    def __init__(self, arguments, folder):
        self.count, self.seconds, self.jobs, self.folder = arguments.agents, arguments.seconds, arguments.jobs, folder
        self.enrolments = folder / "enrolments.jsonl"
        self.server = Server(folder)
        self.crowd = None
        self.measured = {}
        self.wrong = []

    def rest(self):
        token = (self.server.state_dir / "admin.token").read_text().strip()
        return Rest(self.server.url, self.server.ca, token)

    def enrol(self):
        self.server.start()
        began_s = time.monotonic()
        token = (self.server.state_dir / "admin.token").read_text().strip()
        subprocess.run([BIN / "simulated_agents", "enrol", "--server", f"127.0.0.1:{self.server.port}", "--ca", self.server.ca,
                        "--token", token, "--count", str(self.count), "--file", self.enrolments], check=True)
        say(f"{self.count} centers are enrolled, after {time.monotonic() - began_s:.0f} s")
        # As it stands without any agent: what the enrolments have left in memory is not the agents'.
        self.server.process.stop()
        self.server.start()
        time.sleep(SETTLE_S)

    def connect(self):
        alone_kib = Footprint(self.server).memory_kib()
        began_s = time.monotonic()
        self.crowd = Crowd(self.folder, self.enrolments)
        self.crowd.wait_online(self.count, CONNECT_LIMIT_S)
        self.measured["connect_s"] = time.monotonic() - began_s
        say(f"all are connected, after {self.measured['connect_s']:.0f} s and {self.crowd.newest['failures']} attempts in vain")
        time.sleep(SETTLE_S)
        self.measured["memory_kib"] = (Footprint(self.server).memory_kib() - alone_kib) / self.count

    def beat(self):
        footprint = Footprint(self.server)
        before = footprint.server_s(), footprint.postgres_s(), time.monotonic()
        time.sleep(self.seconds)
        after = footprint.server_s(), footprint.postgres_s(), time.monotonic()
        self.measured["server_pct"] = core_pct(before[0], after[0], after[2] - before[2])
        self.measured["postgres_pct"] = core_pct(before[1], after[1], after[2] - before[2])
        say(f"heartbeats alone: fathomd {self.measured['server_pct']:.0f} % of a core, "
            f"PostgreSQL {self.measured['postgres_pct']:.0f} %")
        if self.crowd.newest["online"] != self.count:
            self.wrong.append(f"of {self.count} agents that did nothing but live {self.crowd.newest['online']} are online")

    def dispatch(self):
        rest, submitted = self.rest(), {}
        for number in range(self.jobs):
            began_s = time.monotonic()
            job = rest.post("/jobs", {"name": f"load-{number}", "command": ["true"]})
            submitted[job["id"]] = began_s
            time.sleep(max(0, 1 / JOBS_PER_S - (time.monotonic() - began_s)))
        with contextlib.suppress(AssertionError):  # judged below
            wait_until(lambda: all(rest.get(f"/jobs/{job}")["state"] == "succeeded" for job in submitted), ENDS_LIMIT_S,
                       "the jobs' ends", pause_s=1)
        found = Dispatches(submitted, self.crowd.ordered())
        states = [rest.get(f"/jobs/{job}")["state"] for job in submitted]
        self.wrong += found.wrong()
        if unended := sum(state != "succeeded" for state in states):
            self.wrong.append(f"{unended} of {self.jobs} jobs have not succeeded")
        self.measured["dispatch_s"] = found.delays_s()
        say(f"{len(found.delays_s())} jobs were dispatched")

    def come_back(self):
        before = self.crowd.newest
        welcomes = before["welcomes"]
        self.server.process.kill()
        self.server.start()
        ready_s = time.monotonic()
        self.crowd.wait_online(self.count, BACK_LIMIT_S, more_welcomes_than=welcomes)
        self.measured["back_s"] = time.monotonic() - ready_s
        again = self.crowd.newest["welcomes"] - welcomes - self.count
        failures = self.crowd.newest["failures"] - before["failures"] - self.count  # each has lost a connection
        for reason, count in sorted(self.crowd.newest["reasons"].items(), key=lambda one: -one[1])[:MOST_REASONS]:
            say(f"  {count} times: {reason}")
        say(f"all are back, {self.measured['back_s']:.0f} s after fathomd was and {failures} attempts in vain; "
            f"{again} were welcomed more than once")

    def leave(self):
        """All agents go at once, and fathomd stops."""
        self.crowd.stop()
        self.crowd = None
        began_s = time.monotonic()
        self.server.process.stop()
        self.measured["stop_s"] = time.monotonic() - began_s
        say(f"fathomd has stopped, {self.measured['stop_s']:.1f} s after all agents went")

    def close(self):
        if self.crowd:
            self.crowd.stop()
        if self.server.process.alive():
            self.server.process.stop()


def run(arguments):
    """@return the figures, and sentences on what went wrong"""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-agents-", dir=roomy_folder()))
    folder.chmod(0o755)
    load = Load(arguments, folder)
    try:
        load.enrol()
        load.connect()
        load.beat()
        load.dispatch()
        load.come_back()
        load.leave()
        return figures_of(load.measured, load.wrong), load.wrong
    finally:
        load.close()
        shutil.rmtree(folder, ignore_errors=True)
