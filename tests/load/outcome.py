"""What became of the jobs of a soak, held against what it was promised. Pure; the single checks are those of tests/faults."""
import collections
import dataclasses
import itertools
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).parents[1] / "faults"))
from checker import TERMINAL, AcknowledgedJob, History, Run, check, check_attempts, check_events  # noqa: E402

LIVE = ("metering", "placed", "dispatched", "running", "lost")


@dataclasses.dataclass
class Found:
    """Each entry a sentence that names the job."""
    lost: list       # acknowledged, and not there or in no lawful state
    doubled: list    # twice there, or run twice without its owner's leave
    untrue: list     # anything else


NOTHING_WRONG = Found([], [], [])


def read_notes(text, attempt):
    """The runs that a file of notes tells of: lines `start SECONDS` and `end SECONDS`."""
    runs = []
    for word, at_s in (line.split() for line in text.splitlines()):
        if word == "start":
            runs.append(Run(float(at_s), None, attempt))
        elif runs:
            runs[-1].end_s = float(at_s)
    return runs


def with_jobs(asked, rows, events, attempts, outputs, runs):
    """An AcknowledgedJob for each that was acknowledged and is there, by its id; `rows`: as the REST interface lists them."""
    rows = {row["id"]: row for row in rows}
    jobs = {}
    for job in asked:
        row = rows.get(job.id)
        if row is None:
            continue
        own, history = attempts.get(job.id, []), events.get(job.id, [])
        output = outputs.get(own[-1]["id"], "") if own else ""
        jobs[job.id] = AcknowledgedJob(
            job.name, job.id, job.exit_code, job.text, row["state"], row["exit_code"], row["end_reason"], row["run_s"], output,
            without_request(history) if job.was_cancelled else history, own, runs.get(job.name, []), job.may_requeue)
    return jobs


def without_request(events):
    """The changes of a job whose cancellation was asked for: that its center was told is an event, too, and changes no state."""
    for number, (before, after) in enumerate(itertools.pairwise(events), 1):
        if before["state"] == after["state"] and after["state"] in LIVE:
            return events[:number] + events[number + 1:]
    return events


def judge(asked, rows, history):
    """@param asked    plan.Job of every submission, acknowledged or not
    @param rows     what the REST interface lists
    @param history  of all acknowledged jobs that are there"""
    cancelled = {job.id for job in asked if job.was_cancelled}
    there = {job.id: job for job in history.jobs}
    lost = list(find_lost(asked, there))
    doubled = [*find_twice_there(asked, rows), *find_run_twice(asked, history)]
    ended = [job for job in history.jobs if job.state in TERMINAL and not (job.state == "cancelled" and job.id in cancelled)]
    others = [job for job in history.jobs if job.state == "queued" or (job.state == "cancelled" and job.id in cancelled)]
    untrue = check(dataclasses.replace(history, jobs=ended))
    for job in others:
        wrong = (*check_events(job), *check_attempts(job), *check_waiting(job, cancelled))
        untrue += [f"{job.key} ({job.id}): {text}" for text in wrong]
    return Found(lost, doubled, untrue)


def find_lost(asked, there):
    for job in asked:
        if job.id is None:
            continue
        found = there.get(job.id)
        if found is None:
            yield f"{job.name} ({job.id}): acknowledged, and not there"
        elif found.state not in TERMINAL | {"queued"}:
            yield f"{job.name} ({job.id}): it does not end, it is {found.state}"


def find_twice_there(asked, rows):
    """Jobs with the same name, which is of one submission; jobs that nobody asked for; and answers with another's job."""
    names, ids_asked = {job.name for job in asked}, {job.id: job.name for job in asked}
    for job in asked:
        if job.id is not None and ids_asked[job.id] != job.name:
            yield f"{job.name} ({job.id}): answered with the same job as {ids_asked[job.id]}"
    count = collections.Counter(row["name"] for row in rows)
    ids = {row["name"]: row["id"] for row in rows}
    for name, times in count.items():
        if times > 1:
            yield f"{name} ({ids[name]}): one submission, and {times} jobs"
        if name not in names:
            yield f"{name} ({ids[name]}): nobody asked for it"


def find_run_twice(asked, history):
    for job in history.jobs:
        if len(job.runs) > 1 and not job.may_requeue:
            yield f"{job.key} ({job.id}): its program started {len(job.runs)} times"
        elif len({run.attempt for run in job.runs}) < len(job.runs):
            yield f"{job.key} ({job.id}): its program started twice in one attempt"


def check_waiting(job, cancelled):
    """What is not true of a job that still waits, or that was cancelled because it did."""
    if job.state == "queued" and job.id in cancelled:
        yield "it was to be cancelled, and still waits"
    if job.state == "queued" and any(attempt["state"] != "ended" for attempt in job.attempts):
        yield "it waits, and an attempt of it has not ended"


__all__ = ["LIVE", "NOTHING_WRONG", "Found", "History", "Run", "judge", "read_notes", "with_jobs"]
