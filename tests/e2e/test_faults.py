"""kill -9 of each part while jobs come and run: every accepted job reaches a true end, none runs twice."""
import json
import os
import threading
import time

import pytest
import requests

from network import Gate, Network, Rest, agent_config, wait_until


@pytest.fixture
def network(tmp_path):
    with Network(settings=["--suspect-after-s", "5"]) as net:
        cores = sorted(os.sched_getaffinity(0))
        net.runs = net.folder / "runs"
        net.runs.mkdir()
        net.runs.chmod(0o777)
        net.add_agent("alpha", agent_config(cores=str(cores[0])))
        net.add_agent("beta", agent_config(cores=str(cores[-1])))
        yield net


class Submitter(threading.Thread):
    """Submits jobs without pause until it is stopped; keeps what the server promised. Each job leaves one file per run of it."""

    def __init__(self, network, work="sleep 0.2"):
        super().__init__(daemon=True)
        self.network, self.work, self.is_over = network, work, threading.Event()
        self.accepted, self.failures = [], 0

    def run(self):
        rest = Rest(self.network.server.url, self.network.server.ca, self.network.admin_token)
        number = 0
        while not self.is_over.is_set():
            number += 1
            key = f"{id(self)}-{number}"
            spec = {"name": key, "command": ["sh", "-c", f"mktemp {self.network.runs}/{key}.XXXXXX; {self.work}"]}
            while True:  # the same key until the server answers: at most one job
                try:
                    answer = rest.call("POST", "/jobs", json=spec, headers={"Idempotency-Key": key})
                    if answer.status_code == 201:
                        self.accepted.append((key, answer.json()["id"]))
                        break
                    assert answer.status_code >= 500 or answer.status_code == 429, answer.text
                except requests.RequestException:
                    pass
                self.failures += 1
                time.sleep(0.1)
            self.is_over.wait(0.15)

    def wait_for_more(self, count=10):
        wanted = len(self.accepted) + count
        wait_until(lambda: len(self.accepted) >= wanted, 120, f"{count} more accepted jobs")

    def wait_for_failure(self):
        known = self.failures
        wait_until(lambda: self.failures > known, 120, "a submission that feels the kill")

    def stop(self):
        self.is_over.set()
        self.join()


def assert_all_ended_truly(network, accepted, may_be_lost=0):
    """Each accepted job has a true end; its files say how often it ran."""
    lost = 0
    for key, job_id in accepted:
        job = network.wait_job(job_id)
        runs = len(list(network.runs.glob(f"{key}.*")))
        assert runs <= 1, f"{job_id} ran {runs} times"
        if job["state"] == "succeeded":
            assert runs == 1, f"{job_id} is said to have succeeded but never ran"
        else:
            lost += 1
            assert job["state"] == "failed" and job["end_reason"], json.dumps(job)
    assert lost <= may_be_lost, f"{lost} jobs failed, at most {may_be_lost} may"
    names = [j["name"] for j in network.rest.items("/jobs?page_size=1000")]
    assert len(names) == len(set(names)), "a job was accepted twice"


def test_the_server_is_killed_while_jobs_come_and_run(network):
    submitter = Submitter(network)
    submitter.start()
    for _ in range(2):
        submitter.wait_for_more()
        network.server.process.kill()
        submitter.wait_for_failure()
        network.server.start()
    submitter.wait_for_more()
    submitter.stop()
    assert_all_ended_truly(network, submitter.accepted)


def test_postgresql_is_killed_while_jobs_come_and_run(network):
    submitter = Submitter(network)
    submitter.start()
    submitter.wait_for_more()
    os.kill(network.server.postgres_pid(), 9)
    submitter.wait_for_more()
    submitter.stop()
    wait_until(network.server.is_ready, 120, "the server being ready again")
    assert_all_ended_truly(network, submitter.accepted)


def test_an_agent_is_killed_while_jobs_run(network):
    submitter = Submitter(network, work="sleep 1")
    submitter.start()
    for agent in network.agents:
        submitter.wait_for_more()
        agent.process.kill()
        time.sleep(0.5)
        agent.start()
    submitter.wait_for_more()
    submitter.stop()
    assert_all_ended_truly(network, submitter.accepted)


def test_a_long_job_survives_the_agents_and_the_servers_restart(network):
    gate = Gate(network, "long")
    begun = time.monotonic()
    job = network.submit(name="long", command=["sh", "-c", f"mktemp {network.runs}/long.XXXXXX; {gate.passing}; echo done; exit 5"],
                         units={"center": "alpha"})
    wait_until(lambda: network.job(job["id"])["state"] == "running", 120, "running")
    seen_running = time.monotonic()
    network.agents[0].process.kill()
    network.server.process.kill()
    time.sleep(1)
    network.server.start()
    network.agents[0].start()
    held_s = time.monotonic() - seen_running
    gate.open()
    ended = network.wait_job(job["id"])
    assert (ended["state"], ended["exit_code"]) == ("failed", 5)
    assert held_s <= ended["run_s"] <= time.monotonic() - begun
    assert network.rest.call("GET", f"/jobs/{job['id']}/logs/stdout").text.endswith("done\n")
    assert len(list(network.runs.glob("long.*"))) == 1


def test_a_job_ends_while_its_agent_is_away(network):
    gate, done = Gate(network, "away"), network.runs / "done"
    job = network.submit(command=["sh", "-c", f"{gate.passing}; touch {done}; exit 4"], units={"center": "alpha"})
    wait_until(lambda: network.job(job["id"])["state"] == "running", 120, "running")
    network.agents[0].process.stop()
    gate.open()
    wait_until(done.exists, 120, "the job's end")
    network.agents[0].start()
    ended = network.wait_job(job["id"])
    assert (ended["state"], ended["exit_code"]) == ("failed", 4)


def test_a_silent_center_gets_no_work_and_comes_back(network):
    network.agents[1].process.stop()
    wait_until(lambda: network.center("beta")["state"] == "suspect", 120, "beta being suspect")
    job = network.submit(command=["true"])
    assert network.wait_job(job["id"])["attempt"]["center"] == "alpha"
    waiting = network.submit(command=["true"], units={"center": "beta"})
    time.sleep(1)
    assert network.job(waiting["id"])["state"] == "queued"
    network.agents[1].start()
    assert network.wait_job(waiting["id"])["state"] == "succeeded"


def test_a_revoked_center_is_refused(network):
    center = network.center("beta")
    assert network.rest.call("POST", f"/centers/{center['id']}:revoke").status_code in (200, 204)
    wait_until(lambda: network.center("beta")["state"] != "online", 120, "beta being off")
    network.agents[1].process.stop()
    network.agents[1].start()
    time.sleep(3)
    assert network.center("beta")["state"] != "online"


def test_an_enrolment_token_works_once(network):
    from network import Agent
    token = network.rest.post("/enrolment-tokens", {"center_name": "gamma"})["token"]
    body = {"token": token, "signing_request_pem": "nonsense"}
    assert network.rest.call("POST", "/agents:enrol", json=body).status_code == 400
    agent = Agent(network.folder, "gamma", agent_config())
    agent.enrol(network.server, network.rest)
    assert network.rest.call("POST", "/agents:enrol", json={**body, "token": "fen_wrong"}).status_code in (400, 401, 403)


def test_two_replicas_share_the_work(tmp_path):
    """Two fathomd on one database: both take jobs, both place them, none runs twice (design: equal replicas)."""
    with Network() as net:
        net.runs = net.folder / "runs"
        net.runs.mkdir()
        net.runs.chmod(0o777)
        cores = sorted(os.sched_getaffinity(0))
        database = next(iter(net.server.state_dir.rglob("postmaster.pid"))).read_text().splitlines()
        socket_dir, port = database[4].strip(), database[3].strip()
        url = f"postgresql:///fathom?host={socket_dir}&port={port}&user={os.environ.get('FATHOM_PG_USER', 'fathomd')}"
        second = net.add_server(database=url)
        net.add_agent("alpha", agent_config(cores=str(cores[0]), unit_count=1))
        net.add_agent("beta", agent_config(cores=str(cores[-1]), unit_count=1), server=second)
        rests = [net.rest, net.rest_of(second)]
        jobs = []

        def submit(count, gate):
            """As long as it is not open one center alone is not enough."""
            for i in range(len(jobs), len(jobs) + count):
                key = f"r{i}"
                jobs.append((key, rests[i % 2].post("/jobs", {
                    "name": key, "command": ["sh", "-c", f"mktemp {net.runs}/{key}.XXXXXX; {gate.passing}; sleep 0.2"]})["id"]))
                time.sleep(0.05)
            gate.open()

        def placed(what):
            return {net.job(job_id)["attempt"][what] for _, job_id in jobs}

        submit(40, Gate(net, "first"))
        assert_all_ended_truly(net, jobs)
        assert placed("center") == {"alpha", "beta"}
        # On a busy machine one replica may have been first each time.
        for number in range(10):
            if len(placed("decided_by")) == 2:
                break
            submit(10, Gate(net, f"more-{number}"))
            assert_all_ended_truly(net, jobs)
        assert len(placed("decided_by")) == 2, "both replicas placed jobs"
        # One replica dies; the other goes on.
        second.process.kill()
        job = net.submit(command=["true"], units={"center": "alpha"})
        assert net.wait_job(job["id"])["state"] == "succeeded"
