"""The end of a soak: what still waits is cancelled, everything else ends, and all that can be known is gathered."""
import collections
import contextlib
import threading
import time

import requests

from cluster import UNITS, wait_until
from history import ATTEMPTS, attempt_of, charged, wait_for_counts, wrong_in_ledger
from outcome import LIVE, History, read_notes, with_jobs

CLIENTS, OF_THE_OLDEST = 8, 2
REPORTS_LIMIT_S = 120  # until all ends are told, counted, metered and posted


def states(cluster):
    """How many jobs are in each state."""
    return dict(cluster.database.rows("SELECT state, count(*) FROM job WHERE label = 'job' GROUP BY state"))


def drain(cluster, limit_s):
    """Until no job waits or runs, or the time is over. @return how many were in each state then."""
    end_s = time.monotonic() + limit_s
    while True:
        count = states(cluster)
        if time.monotonic() > end_s or not any(count.get(state) for state in ("queued", *LIVE)):
            return count
        time.sleep(1)


def wait_for_ends(cluster, limit_s):
    """Until nothing is between its queue and its end; what still waits goes on waiting. @return whether that came true."""
    for name in UNITS:
        answer = cluster.rest().call("PATCH", f"/centers/{name}", json={"drained": True})
        assert answer.status_code == 200, answer.text
    end_s = time.monotonic() + limit_s
    while time.monotonic() < end_s:
        if not any(states(cluster).get(state) for state in LIVE):
            return True
        time.sleep(1)
    return False


def cancel_waiting(cluster, rest_of, asked, limit_s):
    """Asks for the cancellation of all jobs that wait, by several clients, for so long. @return how many were asked for."""
    by_id = {job.id: job for job in asked if job.id}
    waiting = cluster.database.rows("SELECT id FROM job WHERE state = 'queued' AND label = 'job' ORDER BY id")
    left = collections.deque(by_id[job_id] for job_id, in waiting if job_id in by_id)
    count, end_s = len(left), time.monotonic() + limit_s
    # Some begin with the oldest: these are just being placed, and wait for that. The others would wait all the time.
    takes = [left.popleft if number < OF_THE_OLDEST else left.pop for number in range(CLIENTS)]
    clients = [threading.Thread(target=cancel_all, args=(rest_of(), take, end_s), daemon=True) for take in takes]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    return count - len(left)


def cancel_all(rest, take, end_s):
    while time.monotonic() < end_s:
        try:
            job = take()
        except IndexError:
            return
        job.was_cancelled = True
        while not cancel(rest, job) and time.monotonic() < end_s:
            time.sleep(0.2)


def cancel(rest, job):
    """@return whether that was answered; a job that has ended meanwhile does not mind."""
    with contextlib.suppress(requests.RequestException):
        answer = rest.call("POST", f"/jobs/{job.id}:cancel")
        return answer.status_code < 500 and answer.status_code != 429
    return False


def gather(cluster, asked):
    """@return what the REST interface lists, and the history; what did not come true in time is wrong in its ledger."""
    rest = cluster.rest()
    late = in_time(lambda: wait_for_counts(cluster.database, REPORTS_LIMIT_S) or [])
    wrong = late or in_time(lambda: wrong_in_ledger(rest, REPORTS_LIMIT_S))
    rows = rest.items("/jobs?page_size=1000")
    jobs = with_jobs(asked, rows, events_of(cluster), attempts_of(cluster), outputs_of(cluster), runs_of(cluster.runs))
    return rows, History(list(jobs.values()), UNITS, *charged(cluster.database), False, wrong)


def in_time(find_wrong):
    """@return what is wrong, which may be that something did not come true."""
    try:
        return find_wrong()
    except AssertionError as error:
        return [str(error)]


def events_of(cluster):
    events = collections.defaultdict(list)
    for job, number, at, state in cluster.database.rows("SELECT job_id, id, at, state FROM job_event ORDER BY id"):
        events[job].append({"id": number, "at": at.isoformat(timespec="microseconds"), "state": state})
    return events


def attempts_of(cluster):
    attempts = collections.defaultdict(list)
    for job, *fields in cluster.database.rows(f"SELECT a.job_id, {ATTEMPTS} ORDER BY a.epoch"):
        attempts[job].append(attempt_of(fields))
    return attempts


def outputs_of(cluster):
    """What each attempt wrote, as it is kept."""
    outputs = collections.defaultdict(str)
    for attempt, data in cluster.database.rows("SELECT attempt_id, data FROM job_output WHERE stream = 'stdout' "
                                               "ORDER BY attempt_id, offset_bytes"):
        outputs[attempt] += bytes(data).decode()
    return outputs


def runs_of(folder):
    """By the job's name, in the order of their starts: what the programs noted themselves."""
    runs = collections.defaultdict(list)
    for path in folder.iterdir():
        name, _, attempt = path.name.partition(".")
        if attempt.startswith("att_"):
            runs[name] += read_notes(path.read_text(), attempt)
    return {name: sorted(found, key=lambda run: run.start_s) for name, found in runs.items()}


def wait_until_whole(cluster, limit_s=300):
    wait_until(cluster.is_whole, limit_s, "all parts being up again", pause_s=0.3)
