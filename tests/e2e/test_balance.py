"""What the loop that balances a unit does, as people see it (R10): by REST, as a stream and on the command line, through real
fathomd and a real agent whose real loop balances a GPU that a stand-in of NVIDIA's library plays."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import threading
import time

import pytest
import requests

import openapi_check as check
from balanced_gpu import BalancedGpu
from network import BIN, Network, wait_until

STEP = {"$ref": "#/components/schemas/BalanceStep"}
STEPS = "/centers/alpha/units/gpu0/balance"


@pytest.fixture(scope="module")
def network():
    with Network() as net:
        yield net


@pytest.fixture(scope="module")
def gpu(network):
    center = BalancedGpu(network)
    center.job = center.run_job()
    center.wait_for_steps(3)
    return center


class Follower:
    """Reads a unit's stream until it is closed."""

    def __init__(self, server, token, query="", headers=None):
        self.steps, self.ended = [], threading.Event()
        session = requests.Session()
        session.trust_env = False
        self.answer = session.get(f"{server.url}/api/v1{STEPS}/events{query}", verify=str(server.ca), stream=True, timeout=120,
                                  headers={"Authorization": f"Bearer {token}", **(headers or {})})
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        try:
            for line in self.answer.iter_lines(decode_unicode=True):
                if line.startswith("data:"):
                    self.steps.append(json.loads(line[len("data:"):]))
        except (requests.RequestException, AttributeError):
            pass  # the server or close() ended it
        self.ended.set()

    def close(self):
        self.answer.close()


def test_steps_are_kept_with_figures_actions_and_reasons(network, gpu):
    def acted():
        return next((step for step in gpu.steps() if step["outcome"] == "acted"), None)
    step = wait_until(acted, 120, "a step that would have acted")
    assert not check.schema_errors(STEP, step)
    assert step["dry_run"] and step["law"] == "pid" and step["band"] == 0.05
    assert step["transfer"] == pytest.approx(0.95, abs=0.01) and step["load"] == pytest.approx(0.4, abs=0.01)
    assert step["error"] == pytest.approx(0.55, abs=0.02) and step["output"] > 0.1
    assert step["actions"]["clock_mhz"] < 0 and step["reason"] and step["region"] == "far"
    assert step["job_id"] == gpu.job
    assert not gpu.clocks.read_text(), "a dry run sets nothing"

    steps = gpu.steps()  # further ones come meanwhile
    numbers = [one["number"] for one in steps]
    assert numbers == sorted(numbers, reverse=True)
    times = [one["at"] for one in steps]
    since = times[2]
    assert {one["at"] for one in gpu.steps(f"?since={since}&page_size=1000") if one["number"] <= numbers[0]} == {at for at in times if at >= since}
    page = network.rest.get(STEPS + "?page_size=2")
    after = network.rest.get(STEPS + f"?page_size=2&page_token={page['next_page_token']}")
    assert page["items"][-1]["number"] > after["items"][0]["number"]
    unit = network.rest.items("/balanced-units?center=alpha")[0]
    assert (unit["center"], unit["unit"], unit["dropped_count"]) == ("alpha", "gpu0", 0) and unit["last"]["number"] >= numbers[0]


def test_what_is_wrong_or_not_there_is_said(network, gpu):
    for query, field in (("?since=yesterday", "since"), ("?page_size=0", "page_size"), ("?nope=1", "nope")):
        answer = network.rest.call("GET", STEPS + query)
        assert answer.status_code == 400 and answer.json()["errors"][0]["field"] == field
    assert network.rest.call("GET", STEPS + "/events?after=x").status_code == 400
    assert network.rest.call("GET", STEPS + "/events", headers={"Last-Event-ID": "x"}).status_code == 400
    for place in ("/centers/alpha/units/none/balance", "/centers/none/units/gpu0/balance", "/centers/alpha/units/none/balance/events"):
        assert network.rest.call("GET", place).status_code == 404


def test_a_follower_is_told_each_step_and_goes_on_where_it_was(network, gpu):
    follower = Follower(network.server, network.admin_token)
    assert follower.answer.headers["Content-Type"].startswith("text/event-stream")
    wait_until(lambda: len(follower.steps) >= 3, 120, "three steps")
    follower.close()
    last = follower.steps[-1]["number"]
    assert not check.schema_errors(STEP, follower.steps[-1])
    time.sleep(1)
    again = Follower(network.server, network.admin_token, headers={"Last-Event-ID": str(last)})
    wait_until(lambda: len(again.steps) >= 3, 120, "what came meanwhile")
    again.close()
    assert [step["number"] for step in again.steps[:3]] == [last + 1, last + 2, last + 3]
    other = Follower(network.server, network.admin_token, query=f"?after={last}")
    wait_until(lambda: other.steps, 120, "a step")
    other.close()
    assert other.steps[0]["number"] == last + 1


def test_another_replica_serves_followers_too(network, gpu):
    lines = next(iter(network.server.state_dir.rglob("postmaster.pid"))).read_text().splitlines()
    user = os.environ.get("FATHOM_PG_USER", "fathomd")
    replica = network.add_server(database=f"postgresql:///fathom?host={lines[4].strip()}&port={lines[3].strip()}&user={user}")
    try:
        follower = Follower(replica, network.admin_token)
        wait_until(lambda: len(follower.steps) >= 2, 120, "steps that the agent told the other replica")
        follower.close()
    finally:
        replica.process.stop()
        network.servers.remove(replica)


def test_a_revoked_token_ends_its_streams_and_a_token_has_so_many(network, gpu):
    token = network.rest.post("/tokens", {"name": "watcher", "role": "viewer"})
    followers = [Follower(network.server, token["token"]) for _ in range(8)]
    ninth = network.rest_of(network.server, token["token"]).call("GET", STEPS + "/events")
    assert ninth.status_code == 429
    assert network.rest.call("DELETE", f"/tokens/{token['id']}").status_code == 204
    for follower in followers:
        assert follower.ended.wait(120), "the stream goes on after its token"


def test_who_may_not_read_all_jobs_sees_no_other_peoples_jobs(network, gpu):
    user = network.rest.post("/tokens", {"name": "scientist", "role": "user"})["token"]
    rest = network.rest_of(network.server, user)
    assert {step["job_id"] for step in gpu.steps(rest=rest)} == {None}
    assert rest.items("/balanced-units")[0]["last"]["job_id"] is None
    follower = Follower(network.server, user)
    wait_until(lambda: follower.steps, 120, "a step")
    follower.close()
    assert follower.steps[0]["job_id"] is None


def test_the_command_line_draws_and_follows(network, gpu):
    text = network.cli("unit", "balance", "alpha/gpu0", "--last", "30")
    assert "band in which nothing is done" in text and "K_p" in text and "a dry run" in text and "would: " in text and "MHz" in text
    items = json.loads(network.cli("--output", "json", "unit", "balance", "alpha/gpu0", "--last", "4"))["items"]
    assert len(items) == 4 and [one["number"] for one in items] == sorted(one["number"] for one in items)
    since = items[-1]["at"]
    later = json.loads(network.cli("--output", "json", "unit", "balance", "alpha/gpu0", "--since", since, "--last", "1000"))["items"]
    assert later[0]["at"] == since
    assert "gpu0" in network.cli("unit", "balanced", "--center", "alpha")
    assert "No unit is balanced" in network_error(network, "unit", "balanced", "--center", "none")
    assert "CENTER/UNIT" in network_error(network, "unit", "balance", "gpu0", expect=None)
    assert "fathom unit balanced" in network_error(network, "unit", "balance", "alpha/none", expect=None)
    assert network_error(network, "unit", "balance", "--center", "alpha", expect=None), "the request needs its loads"

    environment = {**os.environ, "FATHOM_URL": network.server.url, "FATHOM_CA": str(network.server.ca),
                   "FATHOM_TOKEN": network.admin_token}
    with subprocess.Popen([BIN / "fathom", "unit", "balance", "alpha/gpu0", "--follow", "--last", "1"], stdout=subprocess.PIPE, text=True,
                          env=environment) as follow:
        try:
            lines = []
            while len([line for line in lines if "P_p" in line and "[" in line]) < 3:
                lines.append(follow.stdout.readline())
                assert lines[-1], "it goes on"
        finally:
            follow.kill()


def network_error(network, *arguments, expect=0):
    """What the command says on standard error; `expect` None: it fails."""
    environment = {**os.environ, "FATHOM_URL": network.server.url, "FATHOM_CA": str(network.server.ca), "FATHOM_TOKEN": network.admin_token}
    done = subprocess.run([BIN / "fathom", *arguments], capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == expect if expect is not None else done.returncode != 0, done
    return done.stderr


def test_nothing_is_told_twice_or_lost_over_restarts(network, gpu):
    before = gpu.steps("?page_size=1")[0]["number"]
    network.server.process.kill()
    time.sleep(1.5)
    network.server.start()
    wait_until(lambda: gpu.steps("?page_size=1")[0]["number"] > before + 10, 120, "steps after the server came back")
    gpu.agent.process.kill()
    gpu.agent.start()
    last = gpu.steps("?page_size=1")[0]["number"]
    wait_until(lambda: gpu.steps("?page_size=1")[0]["number"] > last + 5, 120, "steps after the agent came back")
    steps = network.rest.items(STEPS + "?page_size=1000")
    assert len({step["at"] for step in steps}) == len(steps)
    times = [step["at"] for step in steps]
    assert times == sorted(times, reverse=True)


def test_loops_that_are_killed_start_again(network, gpu):
    def loops():
        """Their process, whose parent is the one that starts it again."""
        children = descendants(gpu.agent.process.process.pid)
        named = {pid: parent for pid, (parent, name) in children.items() if name == "fathom-balance"}
        return [pid for pid, parent in named.items() if parent in named]

    [killed] = wait_until(lambda: (lambda found: found if len(found) == 1 else None)(loops()), 120, "one process of loops")
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: [pid for pid in loops() if pid != killed], 120, "new loops")
    last = gpu.steps("?page_size=1")[0]["number"]
    wait_until(lambda: gpu.steps("?page_size=1")[0]["number"] > last + 5, 120, "steps of the new loops")
    ended = [line for line in gpu.agent.process.log().splitlines() if '"balance_ended"' in line]
    assert len(ended) == 1 and json.loads(ended[0])["signal"] == signal.SIGKILL, ended


def descendants(ancestor):
    """Parent and name of each process below one."""
    processes = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            name, rest = (folder / "stat").read_text().split("(", 1)[1].rsplit(")", 1)
            processes[int(folder.name)] = (int(rest.split()[1]), name)
    found, level = {}, {ancestor}
    while level:
        level = {pid for pid, (parent, _) in processes.items() if parent in level}
        found.update({pid: processes[pid] for pid in level})
    return found


def test_no_step_is_told_once_no_job_runs(network, gpu):
    network.cli("job", "cancel", gpu.job)
    network.wait_job(gpu.job)

    def is_still():
        """Loops make several steps a second."""
        last = gpu.steps("?page_size=1")[0]["number"]
        time.sleep(2)
        return gpu.steps("?page_size=1")[0]["number"] == last
    wait_until(is_still, 120, "the last step being told")
    assert "Balancing is off until" in network_error(network, "unit", "balance", "beta/gpu0", expect=None)
