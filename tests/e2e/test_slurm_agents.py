"""Several agents at one real Slurm cluster, each a center: with local users for users of the network, and with its GPUs."""
import os
import pwd

import pytest

from network import Gate, attempt_of, output_of, wait_running, wait_until
from slurm import JOBS_USER, slurm_network, why_no_slurm

NO_SLURM = why_no_slurm()
pytestmark = pytest.mark.skipif(bool(NO_SLURM), reason=f"Slurm cannot run here: {NO_SLURM}")


@pytest.fixture(scope="module")
def network():
    with slurm_network(gpus=2) as network:
        yield network


def account_besides(*names):
    """An ordinary account of this machine, as Debian's Slurm brings one; None: there is none."""
    found = [entry.pw_name for entry in pwd.getpwall() if entry.pw_uid >= 1000 and entry.pw_gid != 0 and entry.pw_name not in names]
    return found[0] if found else None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root's agent runs jobs as several users")
def test_each_user_has_a_local_user_and_none_reads_what_is_anothers(network):
    alpha, local_user = network.cluster, account_besides(JOBS_USER)
    if local_user is None:
        pytest.skip("this machine has one ordinary account only")
    work = network.folder / "work-mapped"
    work.mkdir(mode=0o755)
    ann, bob = (network.rest.post("/tokens", {"name": name, "role": "user"}) for name in ("ann", "bob"))
    as_ann, as_bob = (network.rest_of(network.server, token["token"]) for token in (ann, bob))
    agent = network.add_agent("mapped", alpha.agent_config(
        "keep_finished_hours = 1",
        "[[slurm_user]]", f'users = ["{ann["id"]}"]', f'local_user = "{local_user}"',
        "[[slurm_user]]", f'users = ["{bob["id"]}"]', f'local_user = "{JOBS_USER}"',
        "[[unit_type]]", 'name = "core-mapped"', "cores_per_unit = 1", work=work))

    def run(rest, line):
        return network.submit(command=["sh", "-c", line], units={"center": "mapped"}, wall_limit_s=300, rest=rest)["id"]

    gate = Gate(network, "mapped")
    anns = run(as_ann, f"id -un; echo secret >s; chmod 666 s; {gate.passing}; exit 7")
    wait_running(network, anns)
    attempt = attempt_of(network, anns)["id"]
    agent.process.kill()
    gate.open()
    agent.process.start()
    job = network.wait_job(anns)
    assert (job["state"], job["exit_code"]) == ("failed", 7), job["end_reason"]
    assert output_of(network, anns) == f"{local_user}\n"
    wait_until(lambda: alpha.run("squeue", "-h", "-a", "-t", "all", "-n", attempt, "-o", "%u %T").split() == [local_user, "FAILED"], 120,
               "Slurm counting it as failed, of that user")

    folder = work / attempt
    assert (folder / "work").stat().st_mode & 0o777 == 0o700 and (folder / "work" / "s").read_text() == "secret\n"
    bobs = run(as_bob, f"id -un; cat {folder}/work/s {folder}/stdout {folder}/job.sh; ls {folder}/work {folder}/report")
    assert network.wait_job(bobs)["state"] == "failed"
    assert output_of(network, bobs) == f"{JOBS_USER}\n"

    refused = network.wait_job(run(network.rest, "true"))
    assert refused["attempt"]["outcome"] == "failed_to_start" and "no local user: " in refused["end_reason"], refused
    assert refused["attempt"]["cause"] == "no_local_user"

    ended = run(as_ann, "sleep 600")
    wait_running(network, ended)
    network.cli("job", "cancel", ended)
    assert network.wait_job(ended)["state"] == "cancelled"
    wait_until(lambda: alpha.jobs_of(attempt_of(network, ended)["id"]) == ["CANCELLED"], 120, "Slurm having ended it")


def test_gpus_of_nodes_are_units_and_slurm_says_which_a_job_has(network):
    work = network.folder / "work-gpus"
    work.mkdir(mode=0o755)
    network.add_agent("gpus", network.cluster.agent_config(
        "[[unit_type]]", 'name = "gpu"', 'resource_type = "cuda"', 'device_model = "tesla"', "cores_per_unit = 1", work=work))
    [offered] = network.rest.items("/unit-types?center=gpus")
    assert (offered["unit_count"], offered["resource_type"]) == (2, "cuda")

    job_id = network.submit(command=["sh", "-c", "echo $CUDA_VISIBLE_DEVICES"], wall_limit_s=300,
                            units={"center": "gpus", "count": 2, "device": "gpu"})["id"]

    assert network.wait_job(job_id)["state"] == "succeeded"
    assert output_of(network, job_id) == "0,1\n"
