"""A rolling upgrade: replicas and agents of one version are replaced by another while people submit, read and follow."""
import pathlib
import random
import threading
import time

from checker import check
from cluster import Cluster, Rest, free_port, wait_until
from faults import Fault
from history import ENDED, Follower, Submission, collect, followed
from relay import Relay

SUBMISSION_PAUSE_S = 0.4
READ_PAUSE_S = 0.2
MIXED_S = 2  # of load after each replacement
# Those of what is not there yet, as the log of a job that waits, and of more than a token may ask.
EXPECTED_REFUSALS = (404, 429)


class UpgradingCluster(Cluster):
    """People reach the replicas by a balancer, too. Its programs are those of FATHOM_BIN until they are replaced."""

    def __init__(self, replicas):
        self.server_count = replicas
        self.rest_relay = None
        self.refused = []  # what was answered to requests that should have been served, as sentences
        self.request_count = 0
        super().__init__()

    def _start(self):
        super()._start()
        self.rest_relay = Relay(free_port(), [server.port for server in self.servers]).start()

    def rest(self, server=None):
        """By the balancer, once there is one."""
        if not self.rest_relay:
            return super().rest(server)
        return CountedRest(self, f"https://127.0.0.1:{self.rest_relay.port}")

    def rest_of(self, server):
        return CountedRest(self, server.url)

    def applied_migrations(self):
        return self.database.rows("SELECT count(*) FROM schema_migration")[0][0]

    def _stop(self):
        super()._stop()
        if self.rest_relay:
            self.rest_relay.stop()


class CountedRest(Rest):
    """Notes answers that nobody should get during an upgrade. A connection that breaks is none: clients try again."""

    def __init__(self, cluster, url):
        super().__init__(url, cluster.servers[0].ca, cluster.token)
        self.cluster = cluster

    def call(self, method, path, **arguments):
        answer = super().call(method, path, **arguments)
        self.cluster.request_count += 1
        if answer.status_code >= 400 and answer.status_code not in EXPECTED_REFUSALS:
            self.cluster.refused.append(f"{method} {path} was answered {answer.status_code}: {answer.text[:300]}")
        return answer


class Load:
    """Submits jobs and reads what became of them, without pause, until stop()."""

    def __init__(self, cluster, seed):
        self.cluster, self.draw = cluster, random.Random(seed)
        self.is_over = threading.Event()
        self.jobs = []
        self.followed = self._new_job("followed")
        self.followed.lines, self.followed.pause_s = 300, 0.2  # about as long as the upgrade takes
        self.follower = Follower(cluster, self.followed)
        self.threads = [threading.Thread(target=work, daemon=True) for work in (self._submit, self._read)]

    def start(self):
        self.followed.start()
        wait_until(lambda: self.followed.id, 120, "the first job being accepted")
        self.follower.start()
        for thread in self.threads:
            thread.start()

    def stop(self):
        """No more; waits for the ends of all jobs."""
        self.is_over.set()
        for thread in self.threads:
            thread.join()
        for job in self.jobs:
            job.join(120)
            assert job.id, f"{job.key} was not accepted"
        rest = self.cluster.rest()
        wait_until(lambda: all(rest.get(f"/jobs/{job.id}")["state"] in ENDED for job in self.jobs), 300,
                   "the end of every job", pause_s=0.5)

    def _new_job(self, key):
        job = Submission(self.cluster, self.draw, key)
        self.jobs.append(job)
        return job

    def _submit(self):
        while not self.is_over.wait(SUBMISSION_PAUSE_S):
            self._new_job(f"j{len(self.jobs)}").start()

    def _read(self):
        while not self.is_over.wait(READ_PAUSE_S):
            known = [job.id for job in self.jobs if job.id]
            for path in (f"/jobs/{known[-1]}", "/jobs?page_size=20", "/centers"):
                read_patiently(self.cluster, path)


def read_patiently(cluster, path, limit_s=60):
    """As a client does: again when the connection breaks."""
    end = time.monotonic() + limit_s
    while True:
        try:
            return cluster.rest().call("GET", path)
        except OSError as error:  # those of requests, too
            if time.monotonic() > end:
                cluster.refused.append(f"GET {path} was not answered for {limit_s} s: {error}")
                return None
            time.sleep(0.05)


def replace(part, folder):
    """Stops it as an operator does, and starts the program of the same name that lies in the folder."""
    status = part.process.stop()
    assert status == 0, f"{part.name} ended with {status}:\n{part.process.log()[-4000:]}"
    part.process.arguments[0] = str(folder / pathlib.Path(part.process.arguments[0]).name)
    part.start()


def use_each(cluster):
    """A job that each replica accepts itself, while replicas of both versions live."""
    for number, server in enumerate(cluster.servers):
        spec = {"name": f"at-{server.name}", "command": ["true"]}
        key = f"direct-{number}-{time.monotonic_ns()}"
        rest = cluster.rest_of(server)
        job = rest.post("/jobs", spec, headers={"Idempotency-Key": key})
        wait_until(lambda rest=rest, job=job: rest.get(f"/jobs/{job['id']}")["state"] in ENDED, 120, f"the end of {job['id']}")
        assert rest.get(f"/jobs/{job['id']}")["state"] == "succeeded", rest.get(f"/jobs/{job['id']}")


def upgrade(cluster, folder, seed=1, say=lambda text: None):
    """Replaces each replica and then each agent by those of the folder. @return the violations, each a sentence"""
    load = Load(cluster, seed)
    load.start()
    time.sleep(MIXED_S)
    for part in (*cluster.servers, *cluster.agents):
        replace(part, folder)
        say(f"{part.name} is replaced; {cluster.applied_migrations()} migrations, {len(load.jobs)} jobs")
        use_each(cluster)
        time.sleep(MIXED_S)
    load.stop()
    found = collect(cluster, load.jobs, Fault(cluster, None))
    return check(found) + followed(load.follower, load.followed, found) + cluster.refused
