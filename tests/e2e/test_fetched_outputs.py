"""Outputs that only their center keeps, fetched from outside: through fathomd and the session of the center's agent."""
import hashlib
import os

import pytest

from network import Network, agent_config, wait_until
from test_authority_rotation import url_of_database

MIB = 1 << 20
NUMBERS = "".join(f"{i}\n" for i in range(1, 200001)).encode()  # more than a range, less than what may pass through


@pytest.fixture(scope="module")
def network():
    with Network(settings=("--max-fetched-output-mib", "2", "--suspect-after-s", "15")) as network:
        network.results = network.folder / "results"
        network.results.mkdir()
        network.results.chmod(0o777)  # jobs have users of their own
        cores = sorted(os.sched_getaffinity(0))
        keeps = f'output_folders = "{network.results}"'
        network.add_agent("alpha", agent_config(cores=str(cores[0]), extra=keeps))
        network.add_agent("forgetful", agent_config(cores=str(cores[-1]), extra=keeps + "\ninput_cache_bytes = 0"))
        network.add_agent("small", agent_config(cores=str(cores[-1]), extra=keeps + "\ninput_cache_bytes = 2000000"))
        yield network


def store(network, line, path, center="alpha"):
    """A job whose output stands in a folder of its center alone."""
    job_id = network.submit(command=["sh", "-c", line], units={"center": center, "count": 1}, wall_limit_s=120, outputs=[
        {"path": path, "url": f"file://{network.results}/{center}-{path}"}])["id"]
    job = network.wait_job(job_id)
    assert job["state"] == "succeeded", job["end_reason"]
    return job


def get(network, job, path, rest=None, **headers):
    return (rest or network.rest).patient("GET", f"/jobs/{job['id']}/output", 200, params={"path": path}, headers=headers)


def wait_for_copy(network, job, path):
    """It is made after the job's end."""
    wait_until(lambda: get(network, job, path, Range="bytes=0-0").status_code == 206, 120, "the copy of the output")


@pytest.fixture(scope="module")
def numbers(network):
    job = store(network, "seq 200000 > numbers", "numbers")
    wait_for_copy(network, job, "numbers")
    (network.results / "alpha-numbers").unlink()  # what is fetched is the copy
    return job


def test_an_output_is_fetched_through_fathomd(network, numbers):
    whole = get(network, numbers, "numbers")
    part = get(network, numbers, "numbers", Range=f"bytes={MIB - 3}-{MIB + 2}")
    end = get(network, numbers, "numbers", Range="bytes=-7")
    behind = get(network, numbers, "numbers", Range=f"bytes={len(NUMBERS)}-")

    assert whole.status_code == 200 and whole.content == NUMBERS
    assert whole.headers["ETag"] == f'"sha256-{hashlib.sha256(NUMBERS).hexdigest()}"'
    assert part.status_code == 206 and part.content == NUMBERS[MIB - 3:MIB + 3]
    assert part.headers["Content-Range"] == f"bytes {MIB - 3}-{MIB + 2}/{len(NUMBERS)}"
    assert end.content == b"200000\n"
    assert behind.status_code == 416


def test_the_command_line_fetches_it_and_goes_on_where_it_broke_off(network, numbers, tmp_path):
    (tmp_path / "rest.part").write_bytes(NUMBERS[:300_000])
    (tmp_path / "other.part").write_bytes(b"x" * 300_000)

    said = network.cli("job", "outputs", numbers["id"], "numbers", "--to", tmp_path / "whole")
    network.cli("job", "outputs", numbers["id"], "numbers", "--to", tmp_path / "rest")
    network.cli("job", "outputs", numbers["id"], "numbers", "--to", tmp_path / "other")

    assert "from the copy of its center" in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "rest", "whole"]
    assert all(path.read_bytes() == NUMBERS for path in tmp_path.iterdir())


def test_any_replica_gives_it(network, numbers):
    replica = network.add_server(database=url_of_database(network))

    answer = get(network, numbers, "numbers", rest=network.rest_of(replica))

    assert answer.status_code == 200 and answer.content == NUMBERS


def test_a_large_one_does_not_pass_through(network):
    job = store(network, f"head -c {3 * MIB} /dev/zero | tr '\\0' x > large", "large")

    answer = get(network, job, "large")

    assert answer.status_code == 413
    assert f"file://{network.results}/alpha-large" in answer.json()["detail"] and f"job:{job['id']}/large" in answer.json()["detail"]


def test_a_center_that_keeps_none_says_so(network):
    job = store(network, "echo 42 > sum", "sum", center="forgetful")

    answer = get(network, job, "sum")

    assert answer.status_code == 404
    assert "center forgetful: this center keeps no copies of files" in answer.json()["detail"]
    assert f"file://{network.results}/forgetful-sum" in answer.json()["detail"]


def test_the_copy_of_an_older_one_makes_room_and_its_loss_is_told(network):
    older = store(network, "seq 200000 > older", "older", center="small")
    wait_for_copy(network, older, "older")
    newer = store(network, "seq 100001 250000 > newer", "newer", center="small")
    wait_for_copy(network, newer, "newer")

    answer = get(network, older, "older")

    assert answer.status_code == 404
    assert "center small: no copy of it is kept" in answer.json()["detail"]
    assert (network.results / "small-older").read_bytes() == NUMBERS, "where it was stored it stands"


def test_others_do_not_see_it(network, numbers):
    token = network.rest.post("/tokens", {"name": "eve", "role": "user"})["token"]

    assert get(network, numbers, "numbers", rest=network.rest_of(network.server, token)).status_code == 404


def test_a_center_that_is_away_is_told_and_comes_back(network, numbers):
    agent = network.agents[0]
    agent.process.kill()

    # Until its silence is noticed nobody answers: 504, which is as true.
    wait_until(lambda: get(network, numbers, "numbers").status_code == 503, 180, "the center being known to be away")
    assert "center alpha: it is not connected" in get(network, numbers, "numbers").json()["detail"]

    agent.start()
    network.wait_online(agent)
    assert get(network, numbers, "numbers").content == NUMBERS
