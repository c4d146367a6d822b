"""A real Slurm of two nodes below one leaf switch: jobs of several nodes."""
import pytest

from network import Gate, attempt_of, output_of, wait_running
from slurm import slurm_network, why_no_slurm

NO_SLURM = why_no_slurm()
pytestmark = pytest.mark.skipif(bool(NO_SLURM), reason=f"Slurm cannot run here: {NO_SLURM}")


@pytest.fixture(scope="module")
def network():
    lines = ("slurm_switches_wait_s = 90", "[[unit_type]]", 'name = "core-alpha"', "cores_per_unit = 1")
    with slurm_network(lines, cpus=1, nodes=2, switch="leaf0") as network:
        yield network


def test_units_of_both_nodes_share_a_leaf_switch(network):
    [offered] = network.rest.items("/unit-types?center=alpha")

    assert offered["unit_count"] == 2
    assert offered["facts"]["leaf_switches"] == {"count": 1, "most_units_of_one": 2, "nodes": {"leaf0": 2}}


def test_a_job_of_two_units_runs_on_both_nodes_and_asks_for_one_switch(network):
    gate = Gate(network, "nodes")
    job_id = network.submit(command=["sh", "-c", f"echo $SLURMD_NODENAME; {gate.passing}"], wall_limit_s=300,
                            units={"center": "alpha", "count": 2})["id"]
    wait_running(network, job_id)
    number = network.cluster.run("squeue", "-h", "-n", attempt_of(network, job_id)["id"], "-o", "%A").strip()
    shown = network.cluster.run("scontrol", "show", "job", number)
    gate.open()

    job = network.wait_job(job_id)

    assert job["state"] == "succeeded", job["end_reason"]
    assert "Switches=1@00:01:30" in shown
    nodes = network.cluster.run("sinfo", "-h", "-N", "-o", "%N").split()
    assert len(nodes) == 2 and sorted(output_of(network, job_id).split()) == sorted(nodes)


def test_a_job_of_one_unit_asks_for_no_switch(network):
    gate = Gate(network, "node")
    job_id = network.submit(command=["sh", "-c", gate.passing], wall_limit_s=300, units={"center": "alpha", "count": 1})["id"]
    wait_running(network, job_id)
    number = network.cluster.run("squeue", "-h", "-n", attempt_of(network, job_id)["id"], "-o", "%A").strip()
    shown = network.cluster.run("scontrol", "show", "job", number)
    gate.open()

    assert network.wait_job(job_id)["state"] == "succeeded"
    assert "Switches=" not in shown
