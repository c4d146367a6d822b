"""The checker finds what is not true of a history."""
import copy
import dataclasses

import pytest

from checker import AcknowledgedJob, History, Run, check, check_followed

STATES = ("queued", "placed", "dispatched", "running", "succeeded")


def attempt(epoch, **changes):
    return {"id": f"att_{epoch}", "epoch": epoch, "state": "ended", "outcome": "exited", "center": "alpha", "created_s": 5 * epoch,
            "closed_s": 5 * epoch + 4, **changes}


def job(number=1, **changes):
    values = {
        "key": f"job-{number}", "id": f"job_{number}", "exit_code": 0, "text": "line 1\n", "state": "succeeded",
        "reported_exit_code": 0, "end_reason": "", "run_s": 1.1, "output": "line 1\n",
        "events": [{"id": 10 * number + i, "at": f"2026-01-01T00:00:0{i}Z", "state": state} for i, state in enumerate(STATES)],
        "attempts": [attempt(1)], "runs": [Run(0.5, 1.5, "att_1")]}
    return AcknowledgedJob(**{**values, **changes})


def history(*jobs, **changes):
    return History(**{"jobs": list(jobs), "units": {"alpha": 2}, "used_unit_s": 1.0, "ran_unit_s": 1.0, **changes})


def with_states(*states):
    return [{"id": i, "at": f"2026-01-01T00:00:{i:02}Z", "state": state} for i, state in enumerate(states)]


def test_a_true_history_has_no_violations():
    failed = job(2, exit_code=3, state="failed", reported_exit_code=3, events=with_states(*STATES[:-1], "failed"))
    assert check(history(job(), failed)) == []


def run_again(**changes):
    values = {"may_requeue": True, "attempts": [attempt(1, outcome="lost"), attempt(2, center="beta")],
              "runs": [Run(0.5, None, "att_1"), Run(6, 7, "att_2")],
              "events": with_states(*STATES[:-1], "lost", "queued", "placed", "running", "succeeded")}
    return job(**{**values, **changes})


def test_a_job_that_a_lost_center_had_may_run_again():
    assert check(history(run_again())) == []
    assert check(history(run_again(runs=[Run(0.5, 9, "att_1"), Run(6, 7, "att_2")]))) == []


def test_a_job_that_must_not_run_again_and_did_is_found():
    assert any("another attempt follows" in violation for violation in check(history(run_again(may_requeue=False))))
    exited = [attempt(1), attempt(2)]
    assert any("one that is exited" in violation for violation in check(history(run_again(attempts=exited))))


@pytest.mark.parametrize("changes, found", [
    ({"state": "running"}, "has not ended"),
    ({"runs": []}, "never ran"),
    ({"runs": [Run(0.5, None, "att_1")]}, "ended from outside"),
    ({"exit_code": 4}, "its program ended with 4"),
    ({"state": "failed", "events": with_states(*STATES[:-1], "failed")}, "said to have failed"),
    ({"output": "line"}, "are kept"),
    ({"run_s": 0.2}, "0.2 are said"),
    ({"run_s": None}, "None are said"),
    ({"run_s": 3600}, "3600 are said"),
    ({"events": []}, "does not begin"),
    ({"events": with_states("queued", "placed", "succeeded", "failed")}, "failed follows succeeded"),
    ({"events": with_states("queued", "placed", "succeeded", "succeeded")}, "succeeded follows succeeded"),
    ({"events": with_states("queued", "running", "succeeded")}, "running follows queued"),
    ({"events": list(reversed(with_states(*reversed(STATES))))}, "out of order"),
    ({"events": with_states(*STATES[:-1])}, "its last event says running"),
    ({"attempts": [attempt(1, state="running", outcome=None, closed_s=None)]}, "an attempt of it has not"),
    ({"attempts": [attempt(2)]}, "are numbered [2]"),
    ({"runs": [Run(0.5, 1.5, "att_1"), Run(2, 3, "att_1")]}, "ran twice in the attempt"),
    ({"runs": [Run(0.5, 1.5, "att_1"), Run(2, 3, "att_9")]}, "that nobody knows"),
])
def test_each_untruth_of_a_job_is_found(changes, found):
    assert any(found in violation for violation in check(history(job(**changes)))), check(history(job(**changes)))


def test_attempts_that_live_at_once_are_found():
    attempts = [attempt(1, outcome="lost", closed_s=12), attempt(2, center="beta")]
    assert any("live at once" in violation for violation in check(history(run_again(attempts=attempts))))


def test_units_that_are_sold_twice_are_found():
    jobs = [job(number) for number in (1, 2, 3)]
    assert any("3 programs ran on them at once" in violation for violation in check(history(*jobs)))
    later = copy.deepcopy(jobs)
    later[2].runs = [Run(1.5, 2.5, "att_1")]
    assert check(history(*later)) == []


def test_seconds_that_nobody_is_charged_for_are_found():
    assert any("are charged 0.9" in violation for violation in check(history(job(), used_unit_s=0.9)))


def test_what_is_wrong_in_the_ledger_is_found():
    assert check(history(job(), wrong_in_ledger=["usage 7 was posted twice"])) == ["the ledger: usage 7 was posted twice"]


def test_one_job_for_two_submissions_is_found():
    assert any("same job" in violation for violation in check(history(job(), job())))


def test_a_center_without_room_may_refuse_a_job():
    refused = job(runs=[], attempts=[attempt(1, outcome="failed_to_start")], state="failed", reported_exit_code=None, end_reason="no room", run_s=0, output="",
                  events=with_states("queued", "placed", "dispatched", "failed"))
    assert check(history(refused, may_fail_to_start=True)) == []
    assert any("never ran" in violation for violation in check(history(refused)))


def test_what_a_program_was_told_is_unwritten_need_not_be_kept_where_a_disk_was_full():
    told = job(text="line 1\nline 2\n", output="line 2\n", runs=[Run(0.5, 1.5, "att_1", frozenset({1}))])
    assert check(history(told, may_fail_to_start=True)) == []
    assert any("could not write" in violation for violation in check(history(told)))
    lost = job(text="line 1\nline 2\n", output="", runs=told.runs)
    assert any("its program wrote 7 characters" in violation for violation in check(history(lost, may_fail_to_start=True)))


def test_who_follows_a_log_sees_each_attempt_from_its_begin():
    once, again = job(text="line 1\nline 2\n", output="line 1\nline 2\n"), run_again(text="line 1\nline 2\n", output="line 1\nline 2\n")
    assert check_followed(once, once.output) == check_followed(again, again.output) == []
    assert check_followed(again, "line 1\n" + again.output) == []
    for seen in ("line 1\n", "line 2\n", "", "line 1\nline 1\nline 2\n"):
        assert len(check_followed(once, seen)) == 1
    for seen in ("line 1\n", "line 2\n" + again.output):
        assert len(check_followed(again, seen)) == 1


def test_what_slurm_forgot_is_said_to_be_lost():
    lost = job(state="failed", reported_exit_code=None, end_reason="Slurm does not know it", attempts=[attempt(1, outcome="lost")],
               runs=[Run(0.5, None, "att_1")], events=with_states(*STATES[:-1], "failed"))
    assert check(history(lost, may_lose=True)) == []
    assert any("ended from outside" in violation for violation in check(history(lost)))
    ended = dataclasses.replace(lost, runs=[Run(0.5, 1.5, "att_1")])
    assert check(history(ended, may_lose=True)) != []


def test_times_say_nothing_when_the_databases_clock_went_back():
    events = [{**event, "at": f"2026-01-01T00:00:0{9 - i}Z"} for i, event in enumerate(job().events)]
    assert check(history(job(events=events), database_went_back=True)) == []
    assert check(history(job(events=events))) != []
