"""A Fathom whose PostgreSQL is three, by deploy/patroni: a node is lost under load, and nothing that was accepted is."""
import contextlib
import itertools
import os
import pathlib
import signal
import subprocess
import threading
import time

import pytest
import requests

from network import BIN, SLOWER, Network, wait_until

PATRONI = pathlib.Path(__file__).parents[2] / "deploy" / "patroni"
BACK_WITHIN_S = 30


class Database:
    """What deploy/patroni runs in a folder."""

    def __init__(self, folder):
        self.folder = folder

    def do(self, command, *arguments, expect=0):
        outcome = subprocess.run([PATRONI, command, "--state-dir", self.folder, *arguments], capture_output=True, text=True,
                                 timeout=300 * SLOWER)
        assert outcome.returncode == expect, f"deploy/patroni {command}: {outcome.returncode}\n{outcome.stdout}{outcome.stderr}"
        return outcome.stdout + outcome.stderr

    @property
    def url(self):
        return (self.folder / "url").read_text().strip()

    def primary(self):
        """The node's name; None while there is none."""
        told = subprocess.run([PATRONI, "status", "--state-dir", self.folder], capture_output=True, text=True, timeout=60 * SLOWER)
        return next((line.split()[0] for line in told.stdout.splitlines() if " primary " in line), None)

    def kill(self, node, *programs):
        """kill -9, without which they would tell the others."""
        pids = {"patroni": self._pid_in(self.folder / "run" / f"{node}-patroni.pid"), "postgres": self._postmaster(node)}
        for program in programs:
            os.kill(pids[program], signal.SIGKILL)

    @contextlib.contextmanager
    def unheard(self, primary):
        """In the block no standby hears what the primary writes. What has been sent by its end is lost as well."""
        standbys = [self._postmaster(node) for node in ("node-1", "node-2", "node-3") if node != primary]

        def both_receivers():
            told = subprocess.run(["ps", "-o", "pid=,args=", "--ppid", ",".join(map(str, standbys))], capture_output=True, text=True)
            found = [int(line.split()[0]) for line in told.stdout.splitlines() if "walreceiver" in line]
            return found if len(found) == 2 else None
        receivers = wait_until(both_receivers, 120, "both standbys receiving")
        for pid in receivers:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for number, pid in itertools.product((signal.SIGTERM, signal.SIGCONT), receivers):
                os.kill(pid, number)

    def _postmaster(self, node):
        return self._pid_in(self.folder / node / "data" / "postmaster.pid")

    @staticmethod
    def _pid_in(file):
        return int(file.read_text().split()[0])


class Load:
    """Clients that submit one job after another, each again until it is accepted, by a key that is its name, too."""

    def __init__(self, network, clients=3):
        self.rests = [network.rest for _ in range(clients)]
        self.accepted, self.refusals = [], []  # (moment, id); what else was answered
        self.lock, self.is_over = threading.Lock(), threading.Event()

    def __enter__(self):
        self.clients = [threading.Thread(target=self._submit, args=(rest, f"client-{number}"))
                        for number, rest in enumerate(self.rests)]
        for client in self.clients:
            client.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        for client in self.clients:
            client.join()

    def wait_for_more(self, count, limit_s):
        wanted = len(self.accepted) + count
        wait_until(lambda: len(self.accepted) >= wanted, limit_s, f"{count} more accepted submissions")

    def _submit(self, rest, client):
        for number in itertools.count():
            name = f"{client}-{number}"
            while not self._accepts(rest, name):
                if self.is_over.wait(0.1):
                    return  # nobody knows about the last one
            if self.is_over.wait(0.02):
                return

    def _accepts(self, rest, name):
        try:
            answer = rest.call("POST", "/jobs", json={"name": name, "command": ["true"]}, headers={"Idempotency-Key": name})
        except requests.RequestException as error:
            answer = error
        with self.lock:
            if getattr(answer, "status_code", None) == 201:
                self.accepted.append((time.monotonic(), answer.json()["id"]))
                return True
            self.refusals.append(f"{answer} {getattr(answer, 'text', '')}")
            return False

    def longest_wait_s(self, since):
        """The longest time after this moment in which nobody's job was accepted."""
        moments = sorted(moment for moment, _ in self.accepted if moment > since)
        return max(later - earlier for earlier, later in itertools.pairwise([since, *moments]))


@pytest.fixture(scope="module")
def network():
    """It has begun with the database of its own."""
    with Network() as net:
        net.add_agent("alpha")
        net.wait_job(net.submit(name="before", command=["true"])["id"])
        yield net


@pytest.fixture(scope="module")
def database(network):
    one = Database(network.folder / "patroni")
    try:
        one.do("up")
        yield one
    finally:
        one.do("down")


def test_fathomd_moves_to_it_by_one_command(network, database):
    server = network.server
    assert server.process.stop() == 0
    subprocess.run([BIN / "fathomd", "move-database", "--state-dir", server.state_dir], check=True, timeout=300 * SLOWER,
                   env={**os.environ, "FATHOMD_TO": database.url})
    server.process.environment["FATHOMD_DATABASE"] = database.url
    server.start()
    assert [job["name"] for job in network.rest.items("/jobs")] == ["before"]
    network.wait_online(network.agents[0])
    network.wait_job(network.submit(name="after", command=["true"])["id"])


def test_it_says_what_is_wrong_in_words(database, tmp_path):
    assert "deploy/patroni up makes one" in database.do("status", "--state-dir", tmp_path / "none", expect=1)
    assert not (tmp_path / "none").exists()
    assert "has its ports already" in database.do("up", "--port", "1", expect=1)
    assert "cannot be had" in database.do("up", "--state-dir", database.folder.with_name("second"), "--port",
                                          database.url.split(":")[-1].split("/")[0], expect=1)


def ids_of(jobs):
    return {job["id"] for job in jobs}


def take_over(network, database, kill):
    """`kill` ends the primary under load: nothing that was accepted is lost or doubled by that.
    @return for how long nobody's job was accepted"""
    primary = database.primary()
    with Load(network) as load:
        load.wait_for_more(30, 180)
        began = time.monotonic()
        kill(primary)
        wait_until(lambda: database.primary() not in (primary, None), 180, "another primary")
        load.wait_for_more(30, 180)
    assert load.refusals, "the kill was not noticed at all"
    jobs = network.rest.items("/jobs?page_size=1000")
    assert {job_id for _, job_id in load.accepted} - ids_of(jobs) == set(), "these were accepted, and are lost"
    names = [job["name"] for job in jobs]
    assert len(names) == len(set(names)), "a submission that was repeated became two jobs"
    return load.longest_wait_s(began)


def take_over_in_time(network, database, kill):
    """Most of the time is that until the primary's lease ends; where the machine is held up besides, the next time tells."""
    for _ in range(3):
        waited_s = take_over(network, database, kill)
        if waited_s <= BACK_WITHIN_S * SLOWER:
            return
        database.do("up")
    raise AssertionError(f"no job was accepted for {waited_s} s")


def test_no_accepted_submission_is_lost_when_the_primary_is_killed(network, database):
    def kill(primary):
        with database.unheard(primary):
            # What one server alone acknowledged now would be lost.
            time.sleep(1)
            database.kill(primary, "postgres", "patroni")
        killed.append(primary)

    killed = []
    take_over_in_time(network, database, kill)
    database.do("up")
    assert database.primary() != killed[-1], "the former one is back as a standby"
    for job in network.rest.items("/jobs?page_size=1000"):
        assert network.wait_job(job["id"])["state"] == "succeeded"


def test_no_accepted_submission_is_lost_when_the_primary_is_out_of_control(network, database):
    """Its Patroni is killed; its PostgreSQL goes on, and believes to be the primary."""
    take_over_in_time(network, database, lambda primary: database.kill(primary, "patroni"))
    jobs = ids_of(network.rest.items("/jobs?page_size=1000"))
    database.do("down")
    assert "HAProxy does not run" in database.do("status", expect=1)
    assert network.rest.call("POST", "/jobs", json={"command": ["true"]}).status_code == 503
    database.do("up")
    wait_until(network.server.is_ready, 120, "fathomd being ready")
    assert ids_of(network.rest.items("/jobs?page_size=1000")) == jobs
    assert network.wait_job(network.submit(command=["true"])["id"])["state"] == "succeeded"
