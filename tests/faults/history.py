"""One history: some jobs, a fault at a step of one of them, and what can be known afterwards of all of them."""
import contextlib
import random
import threading
import time

import requests

from checker import AcknowledgedJob, History, Run, check_followed
from cluster import wait_until
from faults import FAULTS, start_what_ended

STEPS = ("submit", "dispatch", "run", "end", "log")
# Notes when it begins and ends, and what it could not write, in a file of its own for each run, so that nobody else has
# to be believed.
PROGRAM = """
notes=$(mktemp "$RUNS/$KEY.XXXXXX") && chmod 644 "$notes"
echo "start $(date +%s.%N) $FATHOM_ATTEMPT_ID" >> "$notes"
i=1
while [ $i -le $LINES ]; do
    echo "line $i of $KEY" || echo "unwritten $i" >> "$notes"
    sleep $PAUSE
    i=$((i + 1))
done
echo "end $(date +%s.%N)" >> "$notes"
exit $CODE
"""
ENDED = ("succeeded", "failed", "cancelled")
# Columns of an attempt, and where they are from; attempt_of() reads them.
ATTEMPTS = ("a.id, a.epoch, a.state, a.outcome, c.name, a.created_at, a.ended_at "
            "FROM attempt a JOIN center c ON c.id = a.center_id")


class Submission(threading.Thread):
    """Submits one job to any replica, again and again with the same key until one of them has answered."""

    def __init__(self, cluster, draw, key):
        super().__init__(daemon=True)
        self.cluster, self.key = cluster, key
        self.servers = draw.sample(cluster.servers, len(cluster.servers))
        self.lines = draw.randint(2, 12)
        self.exit_code = draw.choice((0, 0, 0, 3))
        self.pause_s = draw.choice((0.0, 0.02, 0.1))
        self.may_requeue = draw.random() < 0.3
        self.posted = threading.Event()  # the first try is under way
        self.id = None

    def run(self):
        environment = {"RUNS": str(self.cluster.runs), "KEY": self.key, "LINES": str(self.lines), "PAUSE": str(self.pause_s),
                       "CODE": str(self.exit_code)}
        spec = {"name": self.key, "script": "#!/bin/sh" + PROGRAM, "environment": environment, "requeue": self.may_requeue}
        tries = 0
        while self.id is None:
            rest = self.cluster.rest(self.servers[tries % len(self.servers)])
            tries += 1
            self.posted.set()
            with contextlib.suppress(requests.RequestException):
                answer = rest.call("POST", "/jobs", json=spec, headers={"Idempotency-Key": self.key})
                assert answer.status_code in (201, 429) or answer.status_code >= 500, answer.text
                if answer.status_code == 201:
                    self.id = answer.json()["id"]
                    return
            time.sleep(0.1)

    @property
    def text(self):
        return "".join(f"line {number} of {self.key}\n" for number in range(1, self.lines + 1))

    def runs(self):
        found = []
        for notes in sorted(self.cluster.runs.glob(f"{self.key}.*")):
            lines = [line.split() for line in notes.read_text().splitlines()]
            words = {word: values for word, *values in lines}
            if "start" in words:
                end_s = float(words["end"][0]) if "end" in words else None
                unwritten = frozenset(int(number) for word, number, *_ in lines if word == "unwritten")
                found.append(Run(float(words["start"][0]), end_s, words["start"][1], unwritten))
        return sorted(found, key=lambda run: run.start_s)


class Follower(threading.Thread):
    """Follows a job's log as a user does, beginning again where it broke off."""

    def __init__(self, cluster, submission):
        super().__init__(daemon=True)
        self.cluster, self.submission, self.seen = cluster, submission, b""
        self.is_ended = False

    def run(self):
        tries = 0
        while not self.is_ended:
            rest = self.cluster.rest(self.cluster.servers[tries % len(self.cluster.servers)])
            tries += 1
            with contextlib.suppress(requests.RequestException):
                path = f"/jobs/{self.submission.id}/logs/stdout?follow=true&offset_bytes={len(self.seen)}"
                with rest.call("GET", path, stream=True) as answer:
                    if answer.status_code == 200:
                        for data in answer.iter_content(None):
                            self.seen += data
                        if self.has_ended(rest):
                            return
            time.sleep(0.1)

    def has_ended(self, rest):
        with contextlib.suppress(AssertionError, requests.RequestException):
            return rest.get(f"/jobs/{self.submission.id}")["state"] in ENDED
        return False


def play(cluster, seed, fault_name, step):
    """@return the history, and what else was seen that is not true."""
    draw = random.Random(seed)
    fault = FAULTS[fault_name](cluster, draw)
    jobs = [Submission(cluster, draw, f"s{seed}-{number}") for number in range(draw.randint(3, 6))]
    subject = draw.choice(jobs)
    if step in ("run", "end", "log"):
        subject.lines, subject.pause_s = 10, 0.1
    follower = Follower(cluster, subject)
    lasts_s = draw.uniform(*fault.lasts_s)
    late_s = draw.uniform(0, 0.05)
    for job in jobs:
        job.start()
    reach(cluster, step, subject, follower)
    time.sleep(late_s)
    fault.begin()
    time.sleep(lasts_s)
    fault.end()
    wait_until(lambda: (start_what_ended(cluster), cluster.is_whole())[1], 300, "all parts being up again", pause_s=0.3)
    for job in jobs:
        job.join(300)
        assert job.id, f"{job.key} was not accepted"
    wait_until(lambda: all(cluster.rest().get(f"/jobs/{job.id}")["state"] in ENDED for job in jobs), 300,
               "the end of every job", pause_s=0.2)
    found = collect(cluster, jobs, fault)
    return found, followed(follower, subject, found)


def reach(cluster, step, subject, follower):
    """Until the step of the subject at which the fault is to come."""
    subject.posted.wait()
    if step == "submit":
        return
    wait_until(lambda: subject.id, 120, "an answer", pause_s=0.002)
    if step == "dispatch":
        return
    if step == "log":
        follower.start()
        wait_until(lambda: follower.seen, 120, "the first line of its log", pause_s=0.002)
        return
    wait_until(lambda: any(subject.runs()), 120, "the job's start", pause_s=0.005)
    if step == "end":
        wait_until(lambda: all(run.end_s for run in subject.runs()), 120, "the job's end", pause_s=0.002)


def followed(follower, subject, found):
    """What is wrong with what was followed."""
    if follower.ident is None:
        return []
    follower.join(120)
    follower.is_ended = True
    job = next(job for job in found.jobs if job.id == subject.id)
    return check_followed(job, follower.seen.decode())


def collect(cluster, jobs, fault):
    rest = cluster.rest()
    database = cluster.database
    wait_for_counts(database)
    acknowledged = []
    for job in jobs:
        row = rest.get(f"/jobs/{job.id}")
        events = [{"id": event["id"], "at": event["at"], "state": event["state"]} for event in rest.items(f"/jobs/{job.id}/events")]
        attempts = [attempt_of(fields) for fields in
                    database.rows(f"SELECT {ATTEMPTS} WHERE a.job_id = %s ORDER BY a.epoch", job.id)]
        answer = rest.call("GET", f"/jobs/{job.id}/logs/stdout")
        acknowledged.append(AcknowledgedJob(
            job.key, job.id, job.exit_code, job.text, row["state"], row["exit_code"], row["end_reason"], row["run_s"],
            answer.text if answer.status_code == 200 else "", events, attempts, job.runs(), job.may_requeue))
    return History(acknowledged, cluster.units, *charged(database), fault.may_fail_to_start, wrong_in_ledger(rest),
                   fault.may_lose, fault.database_goes_back)


def wait_for_counts(database, limit_s=120):
    open_attempts = "SELECT count(*) FROM attempt WHERE state = 'ended' AND NOT (counted AND metered)"
    wait_until(lambda: database.rows(open_attempts) == [(0,)], limit_s, "every attempt being counted and metered")


def attempt_of(fields):
    """From a row of ATTEMPTS."""
    attempt, epoch, state, outcome, center, created, closed = fields
    return {"id": attempt, "epoch": epoch, "state": state, "outcome": outcome, "center": center,
            "created_s": created.timestamp(), "closed_s": closed and closed.timestamp()}


def charged(database):
    """The unit-seconds that projects are charged, and those that attempts ran."""
    used, = database.rows("SELECT coalesce(sum(unit_s), 0) FROM project_use")[0]
    ran, = database.rows("SELECT coalesce(sum(a.unit_count * a.run_s), 0) FROM attempt a JOIN job j ON j.id = a.job_id "
                         "WHERE a.state = 'ended' AND j.label = 'job'")[0]
    return used, ran


def wrong_in_ledger(rest, limit_s=120):
    """What a check of the ledger finds, once all that was used is posted."""
    def posted():
        check = rest.get("/ledger:verify")
        return check if check["unrated"] == 0 else None
    return wait_until(posted, limit_s, "all usage being posted", pause_s=0.3)["faults"]

