"""Units that are kept for a project, and centers that are closed for a while, as people meet them."""
import datetime
import json

import pytest

from network import wait_until


def in_seconds(seconds):
    moment = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.fixture
def units(network):
    """Of beta's unit type: (name, how many)."""
    unit_type = network.rest.get("/unit-types?center=beta")["items"][0]
    return unit_type["name"], unit_type["unit_count"]


def submit(network, project, *more):
    out = network.cli("--output", "json", "job", "submit", "--center", "beta", "--project", project, *more, "--", "/bin/true")
    return json.loads(out)["id"]


def state_of(network, job):
    return network.job(job)["state"]


def test_reserved_units_run_the_projects_jobs_only(network, units):
    name, count = units
    for project in ("mine", "theirs"):
        network.cli("project", "set", project, "--share", "1")
    made = json.loads(network.cli("--output", "json", "reservation", "create", "--project", "mine", "--center", "beta",
                                  "--unit-type", name, "--count", str(count), "--ends-at", in_seconds(3600)))
    assert made["id"] in network.cli("reservation", "list", "--project", "mine")
    assert "active" in network.cli("reservation", "show", made["id"])

    other = submit(network, "theirs")
    own = submit(network, "mine")
    wait_until(lambda: state_of(network, own) == "succeeded", 120, "the job of the project")
    assert state_of(network, other) == "queued"
    network.cli("reservation", "cancel", made["id"])
    wait_until(lambda: state_of(network, other) == "succeeded", 120, "the other job, once the units are everybody's")


def test_a_closed_center_is_waited_for(network, units):
    planned = json.loads(network.cli("--output", "json", "maintenance", "plan", "--center", "beta", "--ends-at",
                                     in_seconds(3600), "--reason", "new cooling"))
    assert "new cooling" in network.cli("maintenance", "list")
    job = submit(network, "default")
    reason = wait_until(lambda: network.job(job)["waiting_reason"], 120, "why the job waits")
    assert "maintenance of beta" in reason
    assert "maintenance" in network.cli("job", "explain", job)
    network.cli("maintenance", "cancel", planned["id"])
    wait_until(lambda: state_of(network, job) == "succeeded", 120, "the job, once the center is open")
