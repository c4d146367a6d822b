"""What centers offer is set from the metascheduler, and followed when machines change by themselves (M9)."""
import contextlib
import json
import os
import pathlib
import signal
import uuid

import pytest

from network import Network, agent_config, wait_until
from processes import children, status

CORES = sorted(os.sched_getaffinity(0))[:2]
NOTICED_S = 60  # the requirement: within a minute; agents look every 20 s


@pytest.fixture(scope="module")
def network():
    with Network() as net:
        net.add_agent("alpha", agent_config(cores=",".join(map(str, CORES)), unit_count=len(CORES)))
        yield net


@pytest.fixture(autouse=True)
def as_its_file_says(network):
    yield
    network.cli("center", "resources", "reset", "alpha")
    wait_until(lambda: resources(network)["state"] == "file", 120, "alpha offering what its file says")


def resources(network, center="alpha"):
    return network.rest.get(f"/centers/{center}/resources")


def offered(network, center="alpha"):
    return {unit["name"]: unit["unit_count"] for unit in network.rest.items(f"/unit-types?center={center}") if unit["active"]}


def configure(network, document, *options):
    path = network.folder / f"{uuid.uuid4()}.yaml"
    path.write_text(json.dumps(document))
    return network.cli("center", "resources", "set", "alpha", path, *options)


def wait_state(network, *states):
    return wait_until(lambda: (lambda now: now if now["state"] in states else None)(resources(network)), 120, f"{states}")


def test_the_catalog_follows_and_a_job_runs_on_the_new_unit_type(network):
    configure(network, {"unit_types": [{"name": "all", "cores_per_unit": len(CORES), "labels": {"rack": "a3"}}]})
    wait_state(network, "applied")

    assert offered(network) == {"all": 1}
    unit = next(u for u in network.rest.items("/unit-types?center=alpha") if u["active"])
    assert unit["facts"]["labels"] == {"rack": "a3"} and unit["cores_per_unit"] == len(CORES)
    job = network.submit(command=["sh", "-c", "exit 0"], units={"type": "all", "center": "alpha"})["id"]
    assert network.wait_job(job)["state"] == "succeeded"
    assert "new unit type all with 1 units" in resources(network)["changes"][0]["change"]


def test_more_than_there_is_is_named_and_not_offered(network):
    configure(network, {"unit_types": [{"name": "core", "unit_count": 64},
                                       {"name": "gpu", "resource_type": "cuda", "unit_count": 8},
                                       {"name": "thread", "processors": "threads"}]})
    now = wait_state(network, "differs")

    differences = {d["unit_type"]: d for d in now["reported"]["differences"]}
    assert (differences["core"]["code"], differences["core"]["wanted"], differences["core"]["seen"]) == \
        ("fewer_cores", 64, len(CORES))
    assert (differences["gpu"]["code"], differences["gpu"]["wanted"], differences["gpu"]["seen"]) == ("fewer_devices", 8, 0)
    assert differences["thread"]["code"] == "not_permitted"
    assert offered(network) == {"core": len(CORES), "gpu": 0}
    shown = network.cli("center", "show", "alpha")
    assert '"gpu" needs 8 of "cuda", but only 0 are left' in shown and "differs, version" in shown
    table = network.cli("center", "resources", "show", "alpha")
    assert "fewer_cores" in table and "not_permitted" in table


def test_restarts_of_both_sides_undo_nothing(network):
    configure(network, {"unit_types": [{"name": "kept", "unit_count": 1}]})
    wait_state(network, "applied")

    agent = network.agents[0]
    agent.process.kill()
    network.server.process.stop()
    agent.start()
    network.server.start()

    wait_until(lambda: network.center("alpha")["state"] == "online" and resources(network)["state"] == "applied", 120,
               "alpha being back")
    assert offered(network) == {"kept": 1}


def test_who_read_an_older_version_does_not_overwrite(network):
    before = resources(network)["version"]
    configure(network, {"unit_types": [{"name": "first", "unit_count": 1}]}, "--if-version", before)
    network.cli("center", "resources", "reset", "alpha")
    path = network.folder / "late.yaml"
    path.write_text("unit_types: [{name: late}]\n")
    network.cli("center", "resources", "set", "alpha", path, "--if-version", before, expect=1)

    assert "late" not in json.dumps(resources(network)["unit_types"])
    audited = [row for row in network.rest.items("/audit-log") if row["action"] == "center.resources"]
    assert audited and audited[0]["detail"]["center_name"] == "alpha"


def test_wrong_documents_are_refused_field_by_field(network):
    answer = network.rest.call("PUT", "/centers/alpha/resources", json={"unit_types": [
        {"name": "a", "cores_per_unit": 0}, {"name": "a", "sharing": "mps"}, {"name": "b", "run_as": "root"}], "cores": "0"})

    assert answer.status_code == 400
    fields = {error["field"] for error in answer.json()["errors"]}
    assert {"unit_types[0].cores_per_unit", "unit_types[1].name", "unit_types[1].sharing", "unit_types[2].run_as",
            "cores"} <= fields


def test_edit_and_diff(network):
    configure(network, {"unit_types": [{"name": "one", "unit_count": 1}]})
    path = network.folder / "edited.yaml"
    path.write_text(network.cli("center", "resources", "show", "alpha", "--document").replace("one", "two"))
    assert network.cli("center", "resources", "diff", "alpha", path).splitlines() == [
        "  unit_types:", "-   - name: one", "+   - name: two", "      cores_per_unit: 1", "      unit_count: 1"]

    os.environ["EDITOR"] = "sed -i s/one/three/"
    try:
        network.cli("center", "resources", "edit", "alpha")
    finally:
        del os.environ["EDITOR"]
    assert resources(network)["unit_types"][0]["name"] == "three"


def test_what_the_agents_file_forbids_stays_forbidden(network):
    agent = network.agents[0]
    settings = agent.config.read_text()
    agent.config.write_text('remote_resources = "off"\n' + settings)
    try:
        agent.process.process.send_signal(signal.SIGHUP)
        configure(network, {"unit_types": [{"name": "mine"}]})
        now = wait_state(network, "forbidden")
        assert "remote_resources" in now["reported"]["detail"]
        assert offered(network) == {"core": len(CORES)}
    finally:
        agent.config.write_text(settings)
        agent.process.process.send_signal(signal.SIGHUP)
    wait_state(network, "applied")
    assert list(offered(network)) == ["mine"]


def keep_cores(pid, cores):
    for thread in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(ProcessLookupError):  # it has just ended
            os.sched_setaffinity(int(thread.name), cores)


def test_hardware_changes_are_noticed_by_themselves_and_hurt_no_job(network):
    """A device that goes; and processors, where there are two: what takes them from the agent looks as if they were offline."""
    stem = f"/dev/shm/fathom-{uuid.uuid4()}-"
    files = [pathlib.Path(f"{stem}{number}") for number in (0, 1)]
    for file in files:
        file.touch(mode=0o666)
    device = f'[[device]]\nkind = "npu"\ncount = 2\nfile = "{stem}{{}}"\n'
    config = agent_config(cores=",".join(map(str, CORES)), unit_count=len(CORES)) + \
        '[[unit_type]]\nname = "npu"\nresource_type = "npu"\ncores_per_unit = 0\nmemory_bytes_per_unit = 1000000\n' \
        'unit_count = 2\n' + device
    agent = network.add_agent("beta", config)
    try:
        assert offered(network, "beta") == {"core": len(CORES), "npu": 2}
        gate = network.folder / "go-beta"
        job = network.submit(command=["sh", "-c", f"while [ ! -e {gate} ]; do sleep 0.1; done"],
                             units={"type": "core", "center": "beta"})["id"]
        wait_until(lambda: network.job(job)["state"] == "running", 120, "the job running")

        files[1].unlink()
        if len(CORES) > 1:
            hears_network = [p for p in children(agent.process.process.pid) if status(p)["Name"] == "fathom-agent"]
            keep_cores(hears_network[0], CORES[:1])
        wait_until(lambda: offered(network, "beta") == {"core": 1, "npu": 1}, NOTICED_S, "beta offering less")

        facts = network.center("beta")["facts"]
        assert any("npu" in text for text in facts["differences"])
        codes = {d["code"] for d in resources(network, "beta")["reported"]["differences"]}
        assert {"device_missing", "fewer_devices"} <= codes
        assert "npu: 1 units, were 2" in json.dumps(resources(network, "beta")["changes"])
        assert "hardware_changed" in agent.process.log()
        assert network.job(job)["state"] == "running"
        gate.touch()
        assert network.wait_job(job)["state"] == "succeeded"
    finally:
        for file in files:
            file.unlink(missing_ok=True)
