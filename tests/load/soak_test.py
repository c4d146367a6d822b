"""The pure parts of the soak: what is drawn from a seed, what is found in an outcome, whether memory grows, what is told."""
import collections
import itertools
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from growth import SHORTEST_TELLING_S, Lifetime, describe, worst_growth_pct  # noqa: E402
from outcome import NOTHING_WRONG, Found, History, Run, judge, read_notes, with_jobs  # noqa: E402
from plan import RECOVERY_S, Job, draw_batches, draw_kills  # noqa: E402
from report import all_met, as_markdown, figures_of, goal_lines, timeline_lines  # noqa: E402

PARTS = {"alpha": True, "beta": True, "fathomd-0": False, "fathomd-1": False, "postgresql": False}
SPARED = {"alpha", "fathomd-1"}
STATES = ("queued", "placed", "dispatched", "running", "succeeded")


@pytest.mark.parametrize("seed, lasts_s", itertools.product(range(20), (6, 60, 600)))
def test_each_part_is_killed_and_the_spared_are_spared(seed, lasts_s):
    kills = draw_kills(seed, lasts_s, PARTS, SPARED, 0.6 * lasts_s, lease_s=8)
    assert kills == draw_kills(seed, lasts_s, PARTS, SPARED, 0.6 * lasts_s, lease_s=8)
    assert {one.part for one in kills if one.at_s < 0.6 * lasts_s} == set(PARTS)
    assert not [one for one in kills if one.part in SPARED and one.at_s >= 0.6 * lasts_s]
    assert all(0 < before.at_s <= after.at_s < lasts_s for before, after in itertools.pairwise(kills))
    for part in PARTS:
        own = [one for one in kills if one.part == part]
        assert all(before.at_s + before.down_s + RECOVERY_S <= after.at_s for before, after in itertools.pairwise(own))


def test_seeds_differ_and_some_agents_stay_away_longer_than_their_lease():
    kills = [draw_kills(seed, 600, PARTS, SPARED, 360, lease_s=8) for seed in range(3)]
    assert kills[0] != kills[1] != kills[2]
    assert {PARTS[one.part] for one in itertools.chain(*kills) if one.down_s > 8} == {True}


def test_jobs_come_at_their_rate_with_names_of_their_own():
    batches = list(draw_batches(7, lasts_s=20, rate_per_s=500))
    jobs = [job for batch in batches for job in batch.jobs]
    assert 10000 <= len(jobs) < 10050
    assert len({job.name for job in jobs}) == len(jobs) and len({batch.key for batch in batches}) == len(batches)
    assert [batch.due_s for batch in batches] == sorted(batch.due_s for batch in batches) and batches[-1].due_s < 20
    quick = sum(job.pause_s == 0 and job.exit_code == 0 for job in jobs)
    assert 0.9 < quick / len(jobs) < 1 and any(job.exit_code for job in jobs) and any(job.may_requeue for job in jobs)
    assert batches == list(draw_batches(7, 20, 500)) != list(draw_batches(8, 20, 500))


def lifetime(*samples_kib):
    return Lifetime("fathomd-0", 7, list(enumerate(samples_kib)))


def test_growth_is_of_the_last_quarter_over_the_second():
    warming_up, steady, grown = [10] * 40, [100] * 80, [110] * 40
    assert lifetime(*warming_up, *steady, *grown).growth_pct == pytest.approx(10)
    assert lifetime(*warming_up, *steady, *steady[:40]).growth_pct == pytest.approx(0)
    outliers = [5000] * 5
    assert lifetime(*warming_up, *steady, *steady[:35], *outliers).growth_pct == pytest.approx(0)


def test_a_short_lifetime_tells_nothing_and_the_worst_counts():
    short, sparse = lifetime(*range(SHORTEST_TELLING_S)), Lifetime("alpha", 8, [(0, 10), (500, 20)])
    assert short.growth_pct is None and sparse.growth_pct is None and worst_growth_pct([short, sparse]) is None
    steady, growing = lifetime(*[100] * 160), lifetime(*[100] * 80, *[104] * 80)
    assert worst_growth_pct([short, steady, growing]) == pytest.approx(4)
    told = list(describe([short, steady, growing]))
    assert len(told) == 3 and "+4.0 %" in told[0] and told[2].startswith("1 lifetimes were shorter")


def test_notes_tell_of_each_start():
    assert read_notes("start 1.5\nend 2.0\n", "att_1") == [Run(1.5, 2.0, "att_1")]
    assert read_notes("start 1.5\n", "att_1") == [Run(1.5, None, "att_1")]
    assert read_notes("start 1.5\nstart 1.7\nend 2.0\n", "att_1") == [Run(1.5, None, "att_1"), Run(1.7, 2.0, "att_1")]


class World:
    """What was asked for and what became of it: one job that succeeded, which a test changes."""

    def __init__(self, states=STATES, **asked):
        self.job = Job(**{"name": "s1-0", "id": "job_1", **asked})
        self.row = {"id": "job_1", "name": "s1-0", "state": states[-1], "end_reason": "", "run_s": 0.5,
                    "exit_code": 0 if states[-1] == "succeeded" else None}
        self.rows = [self.row]
        self.events = [{"id": i, "at": i, "state": state} for i, state in enumerate(states)]
        self.attempts = [self.attempt(1)] if "placed" in states else []
        self.runs = [Run(1, 1.5, "att_1")] if "running" in states else []

    @staticmethod
    def attempt(epoch, **changes):
        return {"id": f"att_{epoch}", "epoch": epoch, "state": "ended", "outcome": "exited", "center": "alpha",
                "created_s": 5 * epoch, "closed_s": 5 * epoch + 4, **changes}

    def found(self, output="job s1-0\n", **of_history):
        outputs = {"att_1": output, "att_2": output}
        jobs = with_jobs([self.job], self.rows, {"job_1": self.events}, {"job_1": self.attempts}, outputs, {"s1-0": self.runs})
        values = {"jobs": list(jobs.values()), "units": {"alpha": 2}, "used_unit_s": 0.5, "ran_unit_s": 0.5}
        history = History(**{**values, **of_history})
        return judge([self.job], self.rows, history)


def test_a_true_outcome_has_nothing_wrong():
    assert World().found() == NOTHING_WRONG
    assert World(states=("queued",)).found() == NOTHING_WRONG  # it never got a turn, and nobody has cancelled it
    assert World(states=("queued", "cancelled"), was_cancelled=True).found() == NOTHING_WRONG
    assert World(id=None).found().lost == []             # the client never had an answer; the job may be there or not


def test_a_job_that_was_cancelled_while_it_ran_is_lawful():
    world = World(states=(*STATES[:-1], "cancelled"), was_cancelled=True)
    world.runs = [Run(1, None, "att_1")]
    assert world.found() == NOTHING_WRONG
    world.events.insert(4, {"id": 3.5, "at": 3.5, "state": "running"})  # its center is told to stop it
    assert world.found() == NOTHING_WRONG
    world.job.was_cancelled = False
    assert any("running follows running" in text for text in world.found().untrue)


def test_an_acknowledged_job_that_is_not_there_is_lost():
    world = World()
    world.rows = []
    assert "not there" in world.found().lost[0]


@pytest.mark.parametrize("state", ["placed", "running", "lost"])
def test_a_job_that_does_not_end_is_lost(state):
    world = World()
    world.row["state"] = state
    assert "does not end" in world.found().lost[0]


def test_two_jobs_of_one_submission_are_doubled():
    world = World()
    world.rows = [world.row, {**world.row, "id": "job_2"}]
    assert "one submission, and 2 jobs" in world.found().doubled[0]
    world.rows = [world.row, {**world.row, "id": "job_2", "name": "other"}]
    assert "nobody asked" in world.found().doubled[0]


def test_one_job_for_two_submissions_is_doubled():
    world = World()
    history = History(list(with_jobs([world.job], world.rows, {}, {}, {}, {}).values()), {}, 0, 0)
    found = judge([world.job, Job("s2-0", id="job_1")], world.rows, history)
    assert "answered with the same job as s2-0" in found.doubled[0]


def test_a_job_that_ran_again_without_leave_is_doubled():
    def run_again(may_requeue, second="att_2"):
        world = World(may_requeue=may_requeue)
        world.attempts = [world.attempt(1, outcome="lost"), world.attempt(2)]
        world.runs = [Run(1, None, "att_1"), Run(6, 6.5, second)]
        world.events = [{"id": i, "at": i, "state": state} for i, state in
                        enumerate((*STATES[:-1], "lost", "queued", *STATES[1:]))]
        return world.found()
    assert run_again(True) == NOTHING_WRONG
    assert "started 2 times" in run_again(False).doubled[0]
    assert "twice in one attempt" in run_again(True, second="att_1").doubled[0]


def test_untruths_are_found():
    assert any("are kept" in text for text in World().found(output="").untrue)
    assert any("are charged" in text for text in World().found(used_unit_s=0.4).untrue)
    assert any("posted twice" in text for text in World().found(wrong_in_ledger=["usage 7 was posted twice"]).untrue)
    assert any("never ran" in text for text in World(states=("queued", "cancelled")).found().untrue)  # nobody asked for that
    assert any("still waits" in text for text in World(states=("queued",), was_cancelled=True).found().untrue)


def test_what_was_not_told_is_no_figure_and_a_missed_goal_is_said():
    figures = figures_of(Found([], ["a job"], []), None, 123.4, 5, 7)
    assert "memory_growth_pct" not in {figure.name for figure in figures}
    lines = list(goal_lines(figures))
    assert "GOAL doubled at most 0: MISSED by 1 jobs" in lines
    assert "GOAL memory_growth_pct at most 5: not told in this run" in lines
    assert not all_met(figures)
    assert all_met(figures_of(NOTHING_WRONG, 4.9, 1, 5, 7)) and not all_met(figures_of(NOTHING_WRONG, 5.1, 1, 5, 7))


def test_a_report_has_its_rates_and_kills():
    by_second = {0: collections.Counter({"acknowledged": 100}), 3: collections.Counter({"refused 503": 2, "no answer": 1})}
    lines = list(timeline_lines([{"at_s": 3.2, "part": "alpha", "what": "killed"}], by_second, step_s=2))
    assert lines[2:] == ["| 0 | 50 | 0 | 0 |  |", "| 2 | 0 | 1 | 2 | alpha killed at 3.2 |"]
    text = as_markdown("Soak", figures_of(NOTHING_WRONG, None, 1, 5, 7), {"Lost": [], "Timeline": lines})
    assert "## Lost\n\n* None.\n" in text and "| kills | 7 | kills |" in text and "\n| 0 | 50 |" in text
