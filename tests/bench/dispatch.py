"""The measuring part of tests/bench/dispatch."""
import contextlib
import pathlib
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "e2e"))
from network import Network, agent_config, wait_until  # noqa: E402
from slurm_peer import private_slurm  # noqa: E402
from steady_clients import SteadyClients, percentile  # noqa: E402

CENTER = "alpha"
# Between a submission and the first question how its job stands: longer than any start, which nothing shall disturb.
UNDISTURBED_S = 0.1
OPERATORS = [{"id": "dgemm", "parameters": {"m": 64, "n": 64, "k": 64}, "count": 1}]
# What the job does first is to tell the time: its start as it sees it itself, by the clock of the one machine.
TELL_TIME = ["date", "+%s%N"]
BATCH = 100
# How long the starts behind a long line of waiting jobs are counted; over several looks at the whole line.
LONG_LINE_S = 30
# Of what is measured of us, so much of Slurm: each of its starts takes seconds.
PEER_SHARE = 10
# What holds the one unit while other clients are asked for their waits; it is cancelled then.
HOLD = ["sleep", "3600"]


class Fathom:
    """One center with one unit. The client keeps one connection, as programs that submit much do: a new one each time
    would be timed with each job, and so would what it takes the machine to ask all the time how the job stands."""

    def __init__(self):
        self.net = Network()
        self.net.add_agent(CENTER, agent_config(cores="0"))
        self.rest = self.net.rest
        # The first of its type is measured before it is routed; that is not what is timed here.
        ended_job = self.wait_job(self.rest.post("/jobs", self.job(["true"]))["id"])["id"]
        self.others = SteadyClients(self.net, ended_job)

    def wait_job(self, job):
        return self.net.wait_job(job, 600, self.rest)

    @staticmethod
    def job(command):
        return {"name": "short", "type": "dispatch/short", "command": command, "operators": OPERATORS,
                "units": {"center": CENTER, "count": 1}}

    def start_ms(self):
        """From the submission of a job to its first instruction; the center is idle before and after."""
        began_ns = time.time_ns()
        job = self.rest.post("/jobs", self.job(TELL_TIME))["id"]
        time.sleep(UNDISTURBED_S)
        ended = self.wait_job(job)
        assert ended["state"] == "succeeded", ended
        started_ns = int(wait_until(lambda: self.rest.call("GET", f"/jobs/{job}/logs/stdout").text.strip(), 30,
                                    "the job's output"))
        return (started_ns - began_ns) / 1e6

    def submit(self, jobs):
        """@return the ids of jobs that do nothing"""
        ids = []
        for first in range(0, jobs, BATCH):
            answer = self.rest.post("/jobs", [self.job(["true"])] * min(BATCH, jobs - first))
            ids += [item["id"] for item in answer["items"]]
        return ids

    def ended(self):
        """Jobs that the server has counted as succeeded since its start."""
        lines = self.rest.call("GET", "/metrics").text.splitlines()
        return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith("fathom_jobs_ended_total{"))

    def p99_ms_while_cycles_run(self, waiting):
        """Of other clients, by kind, while the router decides again and again on so many jobs, none of which can start: the one unit
        is held. They wait still when this returns."""
        # Nobody knows how long it takes, so that no job is sent to wait behind it at the center.
        hold = self.rest.post("/jobs", {"name": "hold", "command": HOLD, "units": {"center": CENTER, "count": 1}})["id"]
        wait_until(lambda: self.rest.get(f"/jobs/{hold}")["state"] == "running", 60, "the start of what holds the unit")
        self.submit(waiting)
        p99_ms = self.others.p99_ms()
        assert self.rest.call("POST", f"/jobs/{hold}:cancel").status_code == 202
        self.wait_job(hold)
        return p99_ms

    def ended_per_s_of_long_line(self):
        """While very many wait for the one unit."""
        began, ended_before = time.monotonic(), self.ended()
        time.sleep(LONG_LINE_S)
        rate = (self.ended() - ended_before) / (time.monotonic() - began)
        return rate

    def add_idle_center(self):
        """Of which no job wants anything: some unit is free all the time."""
        self.net.add_agent("idle", agent_config(cores="1"))

    def ended_per_s(self, jobs):
        """Of jobs that do nothing, submitted at once: from the first submission to the last end."""
        began = time.monotonic()
        ids = self.submit(jobs)
        self.wait_job(ids[-1]) # the first come is the first served
        took_s = time.monotonic() - began
        assert all(self.wait_job(job)["state"] == "succeeded" for job in ids)
        return jobs / took_s


class SlurmPeer:
    """The same by sbatch, on one processor of the machine."""

    def __init__(self, slurm):
        self.slurm = slurm

    def start_ms(self):
        output = self.slurm.folder / "started"
        output.unlink(missing_ok=True)
        began_ns = time.time_ns()
        self.slurm.run("sbatch", "-Q", "-n1", "-o", "/dev/null", "--wrap", f"{' '.join(TELL_TIME)} >{output}")
        started_ns = int(wait_until(lambda: output.exists() and output.read_text().strip(), 60, "the job's start"))
        wait_until(lambda: not self.slurm.run("squeue", "-h").strip(), 60, "an idle Slurm")
        return (started_ns - began_ns) / 1e6

    def ended_per_s(self, jobs):
        began = time.monotonic()
        self.slurm.run("sbatch", "-Q", "-n1", "-o", "/dev/null", f"--array=1-{jobs}%1", "--wrap", "true")
        wait_until(lambda: not self.slurm.run("squeue", "-h").strip(), 900, "the end of all jobs")
        return jobs / (time.monotonic() - began)


def measure_starts(ours, peer, jobs):
    """In turn, so that what disturbs one disturbs the other."""
    starts, peer_starts = [], []
    for number in range(jobs):
        starts.append(ours.start_ms())
        if peer and number % PEER_SHARE == 0:
            peer_starts.append(peer.start_ms())
    return starts, peer_starts


def say(began, text):
    print(f"  {time.monotonic() - began:4.0f} s  {text}", flush=True)


def waits_text(p99_ms):
    return ", ".join(f"{kind} {value:.1f} ms" for kind, value in p99_ms.items())


def main():
    one_by_one, at_once, waiting = map(int, sys.argv[1:4])
    began = time.monotonic()
    with contextlib.ExitStack() as stack:
        ours = Fathom()
        stack.callback(ours.net.close)
        slurm = stack.enter_context(private_slurm())
        peer = SlurmPeer(slurm) if slurm else None
        say(began, "all is there")
        starts, peer_starts = measure_starts(ours, peer, one_by_one)
        say(began, "from submission to start, ms: " + " ".join(f"{start:.0f}" for start in sorted(starts)))
        idle_p99_ms = ours.others.p99_ms()
        say(began, f"p99 of other clients, idle: {waits_text(idle_p99_ms)}")
        rate = ours.ended_per_s(at_once)
        peer_rate = peer.ended_per_s(PEER_SHARE) if peer else None
        say(began, "short jobs have ended")
        p99_ms = ours.p99_ms_while_cycles_run(waiting)
        say(began, f"p99 of other clients, while {waiting} jobs wait: {waits_text(p99_ms)}")
        of_long_line = ours.ended_per_s_of_long_line()
        ours.add_idle_center()
        ours.submit(BATCH)
        beside_idle = ours.ended_per_s_of_long_line()
        say(began, "the long line was counted")
    print(f"RESULT submit_to_start_p50_ms {statistics.median(starts):.1f} ms")
    print(f"RESULT submit_to_start_p99_ms {percentile(starts, 0.99):.1f} ms")
    print(f"RESULT short_jobs_per_s_unit {rate:.1f} 1/s")
    print(f"RESULT short_jobs_per_s_unit_of_long_line {of_long_line:.1f} 1/s")
    print(f"RESULT short_jobs_per_s_unit_beside_idle_center {beside_idle:.1f} 1/s")
    for kind, idle_ms in idle_p99_ms.items():
        print(f"RESULT {kind}_p99_idle_ms {idle_ms:.1f} ms")
        print(f"RESULT {kind}_p99_ms {p99_ms[kind]:.1f} ms")
        print(f"RESULT {kind}_p99_over_idle {p99_ms[kind] / idle_ms:.2f} times")
    if peer:
        print(f"RESULT sbatch_to_start_p50_ms {statistics.median(peer_starts):.1f} ms")
        print(f"RESULT sbatch_short_jobs_per_s_processor {peer_rate:.2f} 1/s")


if __name__ == "__main__":
    main()
