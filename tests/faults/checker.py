"""What must be true of a history, whatever has failed in it. Pure: a test gives it histories that are not true."""
import dataclasses

TERMINAL = {"succeeded", "failed", "cancelled"}
# From a state of a job to those that may follow; a center's silence and return may lie between any two.
NEXT = {
    "queued": {"metering", "placed", "queued"} | TERMINAL,
    "metering": {"queued", "placed"} | TERMINAL,
    "placed": {"dispatched", "running", "lost", "queued"} | TERMINAL,
    "dispatched": {"running", "lost", "queued"} | TERMINAL,
    "running": {"lost", "queued"} | TERMINAL,
    "lost": {"placed", "dispatched", "running", "queued"} | TERMINAL,
}
# A run's time is that of its program, with what starting and ending it takes.
RUN_SLACK_S = 20


@dataclasses.dataclass
class Run:
    """A program that really ran, by its own notes. Times in seconds of this machine's clock."""
    start_s: float
    end_s: float | None  # None: it was ended from outside
    attempt: str         # the id of the attempt that it ran in
    unwritten: frozenset = frozenset()  # numbers of lines of which it was told that they were not written


@dataclasses.dataclass
class AcknowledgedJob:
    """A job that the server has promised to run, and what became of it."""
    key: str
    id: str
    exit_code: int        # its program's
    text: str             # that its program writes
    state: str
    reported_exit_code: int | None
    end_reason: str
    run_s: float | None
    output: str
    events: list          # {"id", "at", "state"}, in the order in which they were given
    attempts: list        # {"id", "epoch", "state", "outcome", "center", "created_s", "closed_s"}, in order; times by the database
    runs: list            # Run, in order
    may_requeue: bool = False


@dataclasses.dataclass
class History:
    jobs: list            # AcknowledgedJob
    units: dict           # of each center
    used_unit_s: float    # as projects are charged
    ran_unit_s: float     # summed over attempts
    may_fail_to_start: bool = False  # a center that has no room may say so
    wrong_in_ledger: list = dataclasses.field(default_factory=list)  # what its own check says, as sentences
    may_lose: bool = False           # a center's own scheduler may forget jobs: these are said to be lost
    database_went_back: bool = False  # its clock did: only numbers tell the order


def check(history):
    """@return the violations, each a sentence; none when all is well."""
    violations = []
    for job in history.jobs:
        violations += [f"{job.key} ({job.id}): {text}" for text in check_job(job, history)]
    keys = [job.id for job in history.jobs]
    if len(keys) != len(set(keys)):
        violations.append("two submissions were answered with the same job")
    violations += check_units(history)
    if abs(history.used_unit_s - history.ran_unit_s) > 1e-6 * max(1.0, history.ran_unit_s):
        violations.append(f"projects are charged {history.used_unit_s} unit-seconds, attempts ran {history.ran_unit_s}")
    return violations + [f"the ledger: {text}" for text in history.wrong_in_ledger]


def check_job(job, history):
    yield from check_end(job, history)
    yield from check_events(job, history.database_went_back)
    yield from check_attempts(job, history.database_went_back)


def is_said_to_be_lost(job):
    return job.state == "failed" and job.attempts[-1]["outcome"] == "lost" and job.end_reason


def check_end(job, history):
    if job.state not in TERMINAL:
        yield f"it has not ended, it is {job.state}"
        return
    last = [run for run in job.runs if job.attempts and run.attempt == job.attempts[-1]["id"]]
    did_not_end = not last or last[-1].end_s is None
    if did_not_end and history.may_lose and job.attempts and is_said_to_be_lost(job):
        return
    if not last:
        outcomes = {attempt["outcome"] for attempt in job.attempts}
        if not (history.may_fail_to_start and job.state == "failed" and "failed_to_start" in outcomes and job.end_reason):
            yield f"it never ran, and is said to have {job.state}: {job.end_reason}"
        return
    if last[-1].end_s is None:
        yield f"its program was ended from outside, and it is said to have {job.state}: {job.end_reason}"
        return
    wanted = "succeeded" if job.exit_code == 0 else "failed"
    if (job.state, job.reported_exit_code) != (wanted, job.exit_code):
        yield f"its program ended with {job.exit_code}, and it is said to have {job.state} with {job.reported_exit_code}: {job.end_reason}"
    if last[-1].unwritten and not history.may_fail_to_start:
        yield f"its program could not write the lines {sorted(last[-1].unwritten)}"
    text = written(job, last[-1])
    if job.output != text:
        yield f"its program wrote {len(text)} characters, and {len(job.output)} others are kept"
    took_s = last[-1].end_s - last[-1].start_s
    if job.run_s is None or not took_s - 0.05 <= job.run_s <= took_s + RUN_SLACK_S:
        yield f"its program took {took_s:.2f} s, and {job.run_s} are said"


def written(job, run):
    lines = job.text.splitlines(keepends=True)
    return "".join(line for number, line in enumerate(lines, 1) if number not in run.unwritten)


def check_followed(job, seen):
    """Who follows a job sees all that is kept, and before it what an attempt that was given up had written until then.
    @return the violations"""
    earlier = seen.removesuffix(job.output)
    is_whole = seen.endswith(job.output) and (not earlier or len(job.attempts) > 1 and job.text.startswith(earlier))
    return [] if is_whole else [f"{job.key}: who followed its log saw {seen!r}, not {job.output!r}"]


def check_events(job, went_back=False):
    numbers = [event["id"] for event in job.events]
    if numbers != sorted(set(numbers)):
        yield f"its events are out of order: {numbers}"
    times = [event["at"] for event in job.events]
    if times != sorted(times) and not went_back:
        yield f"the times of its events are out of order: {times}"
    states = [event["state"] for event in job.events]
    if not states or states[0] != "queued":
        yield f"its history does not begin with its submission: {states}"
    for before, after in zip(states, states[1:]):
        if after not in NEXT.get(before, set()):
            yield f"{after} follows {before}: {states}"
    if states and job.state in TERMINAL and states[-1] != job.state:
        yield f"it is {job.state}, and its last event says {states[-1]}"


def check_attempts(job, went_back=False):
    epochs = [attempt["epoch"] for attempt in job.attempts]
    if epochs != list(range(1, len(epochs) + 1)):
        yield f"its attempts are numbered {epochs}"
    if job.state in TERMINAL and any(attempt["state"] != "ended" for attempt in job.attempts):
        yield "it has ended, and an attempt of it has not"
    for before, after in zip(job.attempts, job.attempts[1:]):
        if before["closed_s"] is None or after["created_s"] < before["closed_s"] and not went_back:
            yield f"attempts {before['epoch']} and {after['epoch']} live at once"
    # Only what is lost is tried again, and what was started only where its owner lets it.
    for before in job.attempts[:-1]:
        has_run = any(run.attempt == before["id"] for run in job.runs)
        if before["outcome"] != "lost" or (has_run and not job.may_requeue):
            yield f"another attempt follows one that is {before['outcome']}"
    known = [attempt["id"] for attempt in job.attempts]
    for number, run in enumerate(job.runs):
        if run.attempt not in known:
            yield f"its program ran in an attempt that nobody knows, {run.attempt}"
        if run.attempt in (other.attempt for other in job.runs[:number]):
            yield f"its program ran twice in the attempt {run.attempt}"


def check_units(history):
    """Whether at some moment more programs ran at a center than it has units."""
    for center, units in history.units.items():
        changes = []
        for job in history.jobs:
            here = {attempt["id"] for attempt in job.attempts if attempt["center"] == center}
            for run in job.runs:
                if run.attempt in here and run.end_s is not None:
                    changes += [(run.start_s, 1), (run.end_s, -1)]
        running = 0
        for _, change in sorted(changes):
            running += change
            if running > units:
                yield f"{center} has {units} units, and {running} programs ran on them at once"
                break
