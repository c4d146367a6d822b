"""What a soak does, drawn from a seed before it begins: which part is killed when, and which jobs come. Pure."""
import dataclasses
import random

LONGEST_PAUSE_S = 10     # between two kills
LONGEST_DOWN_S = 3
OUTLASTS_LEASE = 0.15    # of an agent's absences, the share after which its jobs count as lost
RECOVERY_S = 2           # a part is up for so long before it is killed again
BATCH_SIZES = (1, 1, 1, 10, 50, 50)
REPEATED = 0.1           # of the batches, the share that is sent once more after its answer


@dataclasses.dataclass(frozen=True)
class Kill:
    at_s: float    # after the first submission
    part: str
    down_s: float  # until it is started again


def draw_kills(seed, lasts_s, parts, spared, spared_from_s, lease_s):
    """Kills of parts (name -> whether it is an agent) for so long: each part once before `spared_from_s`, and from then on
    none of those that are spared, which so live long enough to tell whether they grow."""
    draw = random.Random(f"kills of {seed}")
    longest_s = min(LONGEST_PAUSE_S, spared_from_s / (len(parts) + 1))
    first = draw.sample(sorted(parts), len(parts))
    kills, up_from_s, at_s = [], dict.fromkeys(parts, 0.0), 0.0
    while True:
        at_s += draw.uniform(longest_s / 4, longest_s)
        if at_s >= lasts_s:
            return kills
        may_die = [part for part in sorted(parts)
                   if up_from_s[part] <= at_s and not (part in spared and at_s >= spared_from_s)]
        part = first.pop() if first else draw.choice(may_die) if may_die else None
        if part is None:
            continue
        kills.append(Kill(at_s, part, draw_down_s(draw, parts[part], lease_s)))
        up_from_s[part] = at_s + kills[-1].down_s + RECOVERY_S


def draw_down_s(draw, is_agent, lease_s):
    if is_agent and draw.random() < OUTLASTS_LEASE:
        return draw.uniform(lease_s + 1, lease_s + 4)
    return draw.uniform(0.2, LONGEST_DOWN_S)


@dataclasses.dataclass(slots=True)
class Job:
    """One job that a client asks for, and what it was told."""
    name: str
    exit_code: int = 0
    pause_s: float = 0.0
    may_requeue: bool = False
    id: str | None = None          # of the answer; None: not acknowledged
    was_cancelled: bool = False    # the soak has asked for that

    @property
    def text(self):
        """What its program writes."""
        return f"job {self.name}\n"


@dataclasses.dataclass(slots=True)
class Batch:
    """Jobs of one request."""
    key: str        # its Idempotency-Key
    jobs: list
    due_s: float    # after the first submission
    is_repeated: bool


def draw_batches(seed, lasts_s, rate_per_s):
    """Batches whose jobs come at that rate, in the order of their times; nearly all jobs are as quick as `true`."""
    draw = random.Random(f"jobs of {seed}")
    count, number = 0, 0
    while count / rate_per_s < lasts_s:
        number += 1
        size = draw.choice(BATCH_SIZES)
        jobs = [draw_job(draw, f"s{number}-{i}") for i in range(size)]
        yield Batch(f"s{number}", jobs, count / rate_per_s, draw.random() < REPEATED)
        count += size


def draw_job(draw, name):
    kind = draw.random()
    job = Job(name, may_requeue=draw.random() < 0.3)
    if kind < 0.03:
        job.exit_code = 3
    elif kind < 0.06:
        job.pause_s = round(draw.uniform(0.2, 2.0), 2)
    return job
