"""Clients that submit batches of jobs by a balancer, each again and again with its key until it has an answer."""
import collections
import contextlib
import re
import threading
import time

import requests

CLIENTS = 8
NO_ANSWER_PAUSE_S = 0.1
PROGRAM = """#!/bin/sh
# program KEY PAUSE_S CODE: a job. It notes its starts and its end, in seconds since the machine's, in a file of its own for each
# attempt, which whoever runs it may write on. It starts no other program, so that it is quick.
umask 0
exec 3>> "${0%/*}/$1.$FATHOM_ATTEMPT_ID"
read -r now rest < /proc/uptime
echo "start $now" >&3
echo "job $1"
[ "$2" = 0.0 ] || sleep "$2"
read -r now rest < /proc/uptime
echo "end $now" >&3
exit "$3"
"""


class Tally:
    """What was answered in which second after the first submission; threads share it."""

    def __init__(self, began_s):
        self.began_s = began_s
        self.by_second = collections.defaultdict(collections.Counter)
        self.refusals = collections.Counter()  # (status, detail without its numbers, whether it said when to come again)
        self.untrue = []
        self._lock = threading.Lock()

    def note(self, what, count=1):
        with self._lock:
            self.by_second[int(time.monotonic() - self.began_s)][what] += count

    def refuse(self, answer):
        self.note(f"refused {answer.status_code}")
        with self._lock:
            self.refusals[(answer.status_code, re.sub(r"\d+", "N", detail_of(answer)), "Retry-After" in answer.headers)] += 1

    def say_untrue(self, sentence):
        with self._lock:
            self.untrue.append(sentence)

    def total(self, what, until_s=float("inf")):
        with self._lock:
            return sum(counts[what] for second, counts in self.by_second.items() if second < until_s)


def detail_of(answer):
    """The reason in words that a refusal gives; empty where it gives none."""
    with contextlib.suppress(requests.JSONDecodeError):
        body = answer.json()
        return body.get("detail") or body.get("title") or "" if isinstance(body, dict) else ""
    return ""


def retry_after_s(answer):
    """What a refusal asks to wait, or a second."""
    said = answer.headers.get("Retry-After", "")
    return float(said) if said.isdigit() else 1.0


class Orders:
    """The batches in their order, each when it is due; several clients take from it."""

    def __init__(self, batches, began_s):
        self._batches, self._began_s = batches, began_s
        self._lock = threading.Lock()
        self.taken = []

    def take(self):
        """The next batch; None when there are no more."""
        with self._lock:
            batch = next(self._batches, None)
            if batch is None:
                return None
            time.sleep(max(0.0, self._began_s + batch.due_s - time.monotonic()))
            self.taken.append(batch)
            return batch


class Client(threading.Thread):
    """One connection; it waits as long as it is asked to, and then repeats what was refused or got no answer."""

    def __init__(self, rest, program, orders, tally, last_batch_s, give_up_s):
        super().__init__(daemon=True)
        self.rest, self.program, self.orders, self.tally = rest, program, orders, tally
        self.last_batch_s, self.give_up_s = last_batch_s, give_up_s

    def run(self):
        while time.monotonic() < self.last_batch_s and (batch := self.orders.take()):
            answer = self.submit(batch)
            if answer is None:
                continue
            for job, job_id in zip(batch.jobs, ids_of(answer)):
                job.id = job_id
            self.tally.note("acknowledged", len(batch.jobs))
            if batch.is_repeated:
                self.repeat(batch)

    def repeat(self, batch):
        """As a client does that has forgotten its answer."""
        answer = self.submit(batch)
        if answer is None:
            return
        self.tally.note("repeated")
        if ids_of(answer) != [job.id for job in batch.jobs] or answer.headers.get("Idempotent-Replayed") != "true":
            self.tally.say_untrue(f"{batch.key}: repeated with its key, and answered with other jobs: {ids_of(answer)[:3]} …, "
                                  f"not {[job.id for job in batch.jobs][:3]} …")

    def submit(self, batch):
        """The answer 201; None when there was none in time."""
        body = [self.spec(job) for job in batch.jobs]
        body = body[0] if len(body) == 1 else body
        while time.monotonic() < self.give_up_s:
            try:
                answer = self.rest.call("POST", "/jobs", json=body, headers={"Idempotency-Key": batch.key})
            except requests.RequestException:
                self.tally.note("no answer")
                time.sleep(NO_ANSWER_PAUSE_S)
                continue
            if answer.status_code == 201:
                return answer
            self.tally.refuse(answer)
            if not may_repeat(answer):
                self.tally.say_untrue(f"{batch.key}: refused with {answer.status_code}: {answer.text[:300]}")
                return None
            time.sleep(retry_after_s(answer))
        return None

    def spec(self, job):
        return {"name": job.name, "command": [str(self.program), job.name, str(job.pause_s), str(job.exit_code)],
                "requeue": job.may_requeue}


def may_repeat(answer):
    """Whether a refusal is of the moment."""
    return answer.status_code == 429 or answer.status_code >= 500 or \
        (answer.status_code == 409 and "try again" in detail_of(answer))


def ids_of(answer):
    body = answer.json()
    return [job["id"] for job in body["items"]] if "items" in body else [body["id"]]
