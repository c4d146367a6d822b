"""One soak on one cluster: load and kills together, then the end of every job, and what was found."""
import contextlib
import datetime
import pathlib
import re
import shutil
import time

from cluster import LOST_AFTER_S, Cluster, Rest, free_port
from gathering import cancel_waiting, drain, gather, states, wait_for_ends, wait_until_whole
from growth import describe, worst_growth_pct
from killing import Killer, MemorySampler, parts_of
from outcome import NOTHING_WRONG, judge
from plan import draw_batches, draw_kills
from relay import Relay
from report import as_markdown, figures_of, goal_lines, timeline_lines
from submitting import CLIENTS, PROGRAM, Client, Orders, Tally

REPORT = pathlib.Path(__file__).resolve().parents[2] / "build" / "soak"
SPARED_FROM = 0.6          # of the time
DRAIN_LIMIT_S = 60         # for what waits at the end
ANSWER_LIMIT_S = 60        # for a last answer
CANCEL_LIMIT_S = 900
ENDS_LIMIT_S = 300
REPORT_STEPS = 60          # lines of the timeline
MOST_KEPT = 20             # jobs that evidence is kept of


def say(text):
    print(f"{datetime.datetime.now():%H:%M:%S}  {text}", flush=True)


class Soak:
    """One run on one cluster: its parts in the order in which they come."""

    def __init__(self, arguments, cluster):
        self.cluster, self.seed, self.rate_per_s = cluster, arguments.seed, arguments.rate
        self.lasts_s = arguments.minutes * 60
        self.parts = parts_of(cluster)
        self.program = cluster.runs / "program"
        self.program.write_text(PROGRAM)
        self.program.chmod(0o755)
        # Clients reach the servers by a balancer, as the agents do.
        self.relay = Relay(free_port(), [server.port for server in cluster.servers]).start()
        self.timeline, self.killers = [], []

    def rest(self):
        server = self.cluster.servers[0]
        return Rest(f"https://127.0.0.1:{self.relay.port}", server.ca, self.cluster.token)

    def draw_kills(self):
        spared = {self.cluster.servers[self.seed % 2].name, self.cluster.agents[self.seed // 2 % 2].name}
        say(f"spared in the last {(1 - SPARED_FROM) * self.lasts_s:.0f} s: {', '.join(sorted(spared))}")
        kinds = {name: part.agent is not None for name, part in self.parts.items()}
        return draw_kills(self.seed, self.lasts_s, kinds, spared, SPARED_FROM * self.lasts_s, LOST_AFTER_S)

    def load(self):
        """Submissions and kills together, until the last submission is answered and every part is up again."""
        kills = self.draw_kills()
        began_s = time.monotonic()
        self.tally = Tally(began_s)
        self.orders = Orders(draw_batches(self.seed, self.lasts_s, self.rate_per_s), began_s)
        self.killers = [Killer(part, [one for one in kills if one.part == name], began_s, self.timeline)
                        for name, part in self.parts.items()]
        self.memory = MemorySampler(self.parts.values())
        last_batch_s = began_s + self.lasts_s
        clients = [Client(self.rest(), self.program, self.orders, self.tally, last_batch_s, last_batch_s + ANSWER_LIMIT_S)
                   for _ in range(CLIENTS)]
        for thread in (*self.killers, self.memory, *clients):
            thread.start()
        self.tell_progress(last_batch_s)
        self.memory.is_over.set()
        for killer in self.killers:
            killer.no_more_kills.set()
        for client in clients:
            client.join()
        wait_until_whole(self.cluster)

    def tell_progress(self, until_s):
        while (left_s := until_s - time.monotonic()) > 0:
            time.sleep(min(10, left_s))
            say(f"{self.tally.total('acknowledged')} acknowledged, {self.tally.total('no answer')} requests without answer, "
                f"{self.kills} kills")

    @property
    def kills(self):
        return sum(one["what"] == "killed" for one in self.timeline)

    @property
    def starts(self):
        return sum(len(job.runs) for job in self.history.jobs)

    @property
    def asked(self):
        return [job for batch in self.orders.taken for job in batch.jobs]

    def finish(self):
        """Until every job has ended or lawfully waits. @return what was found"""
        say(f"after the submissions: {in_words(drain(self.cluster, 0))}; waiting {DRAIN_LIMIT_S} s at most")
        say(f"then: {in_words(drain(self.cluster, DRAIN_LIMIT_S))}; cancelling what waits")
        self.cancelled = cancel_waiting(self.cluster, self.rest, self.asked, CANCEL_LIMIT_S)
        is_over = wait_for_ends(self.cluster, ENDS_LIMIT_S)
        self.states = states(self.cluster)
        say(f"{self.cancelled} cancellations asked for; {in_words(self.states)}{'' if is_over else '; the rest does not end'}")
        rows, history = gather(self.cluster, self.asked)
        self.history = history
        found = judge(self.asked, rows, history)
        found.untrue += self.tally.untrue + [f"{one['part']} {one['what']}" for one in self.timeline if one["is_crash"]]
        return found

    def sections(self, found, figures):
        acknowledged = [job for job in self.asked if job.id]
        refusals = [f"{count} times {status}, {'with' if says_when else 'without'} Retry-After: {detail or 'no reason given'}"
                    for (status, detail, says_when), count in self.tally.refusals.most_common()]
        lifetimes = list(self.memory.lifetimes.values())
        step_s = max(1, round(self.lasts_s / REPORT_STEPS))
        rows = timeline_lines(sorted(self.timeline, key=lambda one: one["at_s"]), self.tally.by_second, step_s)
        return {
            "Goals": goal_lines(figures),
            "Jobs": [f"asked for: {len(self.asked)} at {self.rate_per_s:g} a second, acknowledged: {len(acknowledged)}",
                     f"ran: {self.starts} starts of programs",
                     f"in the end: {in_words(self.states)}; cancellations asked for: {self.cancelled}",
                     f"requests without answer: {self.tally.total('no answer')}; "
                     f"answered batches that were sent again: {self.tally.total('repeated')}",
                     f"unit-seconds charged: {self.history.used_unit_s:.2f}, ran: {self.history.ran_unit_s:.2f}"],
            "Refusals": refusals,
            "Memory": describe(lifetimes),
            "Lost": found.lost, "Doubled": found.doubled, "Untrue": found.untrue,
            "Timeline": rows,
        }

    def keep_evidence(self, found):
        """What the interface and the logs say of the jobs that something is wrong with."""
        sentences = [*found.lost, *found.doubled, *found.untrue]
        ids = list(dict.fromkeys(re.findall(r"job_\w+", " ".join(sentences))))[:MOST_KEPT]
        rest = self.cluster.rest()
        for job_id in ids:
            row = rest.call("GET", f"/jobs/{job_id}").text
            events = rest.call("GET", f"/jobs/{job_id}/events").text
            runs = "".join(f"{job.runs}\n" for job in self.history.jobs if job.id == job_id)
            attempts = re.findall(r"att_\w+", row + events)
            words = {job_id, *attempts}
            (REPORT / f"{job_id}.txt").write_text(f"{row}\n{events}\n{runs}" + "".join(self.log_lines(words)))
        self.keep_logs()

    def keep_logs(self):
        for process in (part.process for part in self.parts.values() if part.process):
            shutil.copy(process.log_path, REPORT)

    def log_lines(self, words):
        for part in self.parts.values():
            if part.process:
                with open(part.process.log_path, errors="replace") as log:
                    yield from (f"{part.name}: {line}" for line in log if any(word in line for word in words))

    def close(self):
        """Before the cluster is stopped: nobody is to start its parts again."""
        for killer in self.killers:
            killer.no_more_kills.set()
            killer.is_over.set()
            killer.join()
        self.relay.stop()


def in_words(count):
    return ", ".join(f"{number} {state}" for state, number in sorted(count.items())) or "no jobs"


def run(arguments):
    """@return what was found, the figures, and what is to be said of memory"""
    shutil.rmtree(REPORT, ignore_errors=True)
    REPORT.mkdir(parents=True)
    cluster = Cluster()
    with contextlib.ExitStack() as stack:
        stack.callback(cluster.close)
        soak = Soak(arguments, cluster)
        stack.callback(soak.close)
        try:
            soak.load()
            found = soak.finish()
        except AssertionError:  # something did not come true in time
            soak.keep_logs()
            raise
        lifetimes = soak.memory.lifetimes.values()
        rate_per_s = soak.tally.total("acknowledged", soak.lasts_s) / soak.lasts_s
        figures = figures_of(found, worst_growth_pct(lifetimes), rate_per_s, soak.starts, soak.kills)
        title = f"Soak: {arguments.minutes:g} minutes, {arguments.rate:g} submissions a second, seed {arguments.seed}"
        (REPORT / "report.md").write_text(as_markdown(title, figures, soak.sections(found, figures)))
        if found != NOTHING_WRONG:
            soak.keep_evidence(found)
    return found, figures, list(describe(lifetimes))
