"""Data of jobs at a real Slurm cluster: staged on its nodes, and kept where all of them see it."""
import hashlib
import os

import pytest

from data_site import Site
from network import output_of, wait_until
from slurm import slurm_network, submit, why_no_slurm

NO_SLURM = why_no_slurm()
pytestmark = pytest.mark.skipif(bool(NO_SLURM), reason=f"Slurm cannot run here: {NO_SLURM}")


@pytest.fixture(scope="module")
def network():
    with slurm_network(agent_lines=('input_http = "on"', "[[unit_type]]", 'name = "core-alpha"', "cores_per_unit = 1")) as network:
        yield network


def test_inputs_are_staged_on_the_node_before_the_program(network):
    inputs = network.cluster.inputs
    (inputs / "set.txt").write_text("of the set")

    def run(name):
        return network.wait_job(submit(network, "cat in/set.txt; echo; exit 5",
                                       inputs=[{"url": f"file://{inputs}/{name}", "path": "in/set.txt"}]))

    staged, missing = run("set.txt"), run("missing")

    assert staged["exit_code"] == 5 and output_of(network, staged["id"]) == "of the set\n", staged["end_reason"]
    assert staged["attempt"]["staging"]["in_bytes"] == len("of the set"), staged
    assert missing["attempt"]["outcome"] == "failed_to_start", missing
    assert "staging failed" in missing["end_reason"] and "cannot be opened" in missing["end_reason"]
    assert output_of(network, missing["id"]) == ""


def test_outputs_are_stored_from_the_node_after_the_program(network):
    outputs = network.cluster.outputs

    def run(line, name):
        return network.wait_job(submit(network, line, outputs=[{"path": "sum", "url": f"file://{outputs}/{name}"}]))

    stored, missing, failed = run("printf 42 > sum", "good/sum"), run("true", "missing"), run("echo 42 > sum; exit 5", "failed")

    assert stored["state"] == "succeeded", stored["end_reason"]
    assert (outputs / "good/sum").read_text() == "42"
    assert [(one["path"], one["size_bytes"]) for one in stored["attempt"]["outputs"]] == [("sum", 2)]
    assert stored["attempt"]["staging"]["out_bytes"] == 2, stored
    assert missing["state"] == "failed" and missing["end_reason"].startswith("outputs could not be stored: sum to "), missing
    assert failed["exit_code"] == 5 and not (outputs / "failed").exists(), failed

    def copy():  # which is made after the job's end
        return network.rest.patient("GET", f"/jobs/{stored['id']}/output", 200, params={"path": "sum"}).content
    wait_until(lambda: copy() == b"42", 120, "the copy of the output, from outside of the cluster")


def test_an_input_with_a_checksum_is_kept_for_later_jobs(network):
    content = b"kept for later jobs\n"
    folder = network.folder / "site"
    folder.mkdir()
    (folder / "kept.txt").write_bytes(content)
    site = Site(folder)
    digest = hashlib.sha256(content).hexdigest()
    cache = network.cluster.work / "input-cache"

    def run(line, **more):
        entry = {"url": f"{site.url}/kept.txt", "path": "kept.txt", "sha256": digest, **more}
        return network.wait_job(submit(network, line, inputs=[{key: value for key, value in entry.items() if value}]))

    def is_cached():
        job = run("cat kept.txt")
        assert job["state"] == "succeeded" and output_of(network, job["id"]) == content.decode(), job["end_reason"]
        return job["attempt"]["staging"]["in_cached_bytes"] == len(content)

    assert not is_cached()
    wait_until(is_cached, 120, "the copy of the first job's input")  # it is made after that job's end
    asked = site.server.asked.count("/kept.txt")
    assert is_cached()
    assert site.server.asked.count("/kept.txt") == asked
    assert run("true", sha256=None)["attempt"]["staging"]["in_cached_bytes"] == 0
    assert site.server.asked.count("/kept.txt") == asked + 1

    (cache / digest).chmod(0o644)
    (cache / digest).write_bytes(content[:5])
    assert not is_cached()
    wait_until(is_cached, 120, "a whole copy in place of the one that was cut short")
    assert (cache / digest).read_bytes() == content


def test_an_output_is_an_input_of_a_later_job(network):
    stored = network.cluster.outputs / "kept" / "sum"
    outputs = [{"path": "sum", "url": f"file://{stored}"}]
    earlier = network.wait_job(submit(network, "printf 42 > sum", outputs=outputs))
    assert earlier["state"] == "succeeded", earlier["end_reason"]
    stored.unlink()

    def takes_the_copy():  # which is made after the job's end
        later = network.wait_job(submit(network, "cat in/sum", inputs=[{"url": f"job:{earlier['id']}/sum", "path": "in/sum"}]))
        return later if later["state"] == "succeeded" else None

    later = wait_until(takes_the_copy, 120, "the copy of the output")
    assert output_of(network, later["id"]) == "42" and later["attempt"]["staging"]["in_cached_bytes"] == 2


def test_how_far_staging_is_is_told_while_it_takes_long(network):
    folder = network.folder / "slow-site"
    folder.mkdir()
    (folder / "quick.txt").write_bytes(b"quick")
    site = Site(folder)
    (folder / "slow").mkdir()
    (folder / "slow" / "set.bin").write_bytes(b"x" * 3_000_000)
    job_id = network.submit(command=["true"], units={"center": "alpha", "count": 1}, wall_limit_s=300, inputs=[
        {"url": f"{site.url}/quick.txt", "path": "quick.txt", "size_bytes": 5},
        {"url": f"{site.url}/slow/set.bin", "path": "set.bin", "size_bytes": 3_000_000}])["id"]

    told = wait_until(lambda: (network.job(job_id)["attempt"] or {}).get("staging_progress"), 120, "how far staging is")

    assert {**told, "elapsed_s": 0} == {"complete": 1, "inputs": 2, "bytes": 1_000_000, "total_bytes": 3_000_000, "elapsed_s": 0}
    assert told["elapsed_s"] >= 10
    assert "1 of 2 inputs, 977 KiB of 2.86 MiB in " in network.cli("job", "show", job_id)
    site.server.goes_on.set()
    job = network.wait_job(job_id)
    assert job["state"] == "succeeded" and "staging_progress" not in job["attempt"], job
    assert "fathom-stage: 2 of 2 inputs are staged" in network.rest.call("GET", f"/jobs/{job_id}/logs/stderr").text


@pytest.mark.skipif(os.geteuid() != 0, reason="only root's agent runs jobs as another user than itself")
def test_jobs_read_what_is_kept_by_its_name_and_change_nothing(network):
    content = b"nobody's to change\n"
    folder = network.folder / "guarded"
    folder.mkdir()
    (folder / "kept.txt").write_bytes(content)
    site = Site(folder)
    digest = hashlib.sha256(content).hexdigest()
    cache = network.cluster.work / "input-cache"
    entry = {"url": f"{site.url}/kept.txt", "path": "kept.txt", "sha256": digest}

    forged = network.wait_job(submit(network, "echo forged > kept.txt", inputs=[entry]))
    assert forged["state"] == "succeeded", forged["end_reason"]
    assert network.wait_job(submit(network, "true", inputs=[entry]))["attempt"]["staging"]["in_cached_bytes"] == 0
    wait_until(lambda: (cache / digest).exists(), 120, "the copy")

    tried = network.wait_job(submit(network, "\n".join([
        f"ls {cache} && echo listed", f"ls {cache}/own && echo listed", f"echo forged > {cache}/{digest} && echo written",
        f"touch {cache}/{'0' * 64} && echo added", f"rm -f {cache}/{digest} && echo removed",
        f"mv {cache}/{digest} {cache}/{'1' * 64} && echo moved", f"cat {cache}/{digest}"])))
    assert output_of(network, tried["id"]) == content.decode()
    assert (cache / digest).read_bytes() == content
