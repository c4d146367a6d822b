"""Data of jobs: what a center puts into the working folder before the command starts, what it stores when it has ended, and
what is told where it cannot."""
import hashlib
import os

import pytest

from data_site import Site
from network import Network, agent_config, wait_until

TEXT = b"".join(b"line %d\n" % i for i in range(200_000))


def lay_out(folder):
    """What jobs want, what they may have, and what they may not."""
    (folder / "shared").mkdir(parents=True)
    (folder / "results").mkdir()
    (folder / "results").chmod(0o777)  # jobs have users of their own
    (folder / "set.txt").write_bytes(TEXT)
    (folder / "shared" / "weights.bin").write_bytes(b"weights")
    (folder / "secret").write_bytes(b"not for jobs")
    (folder / "shared" / "link").symlink_to(folder / "secret")


@pytest.fixture(scope="module")
def network():
    with Network() as network:
        network.data = network.folder / "data"
        lay_out(network.data)
        cores = sorted(os.sched_getaffinity(0))
        network.add_agent("alpha", agent_config(
            cores=str(cores[0]), extra=f'input_http = "on"\ninput_folders = "{network.data / "shared"}"\n'
                                        f'output_http = "on"\noutput_folders = "{network.data / "results"}"'))
        network.add_agent("strict", agent_config(cores=str(cores[-1])))
        yield network


@pytest.fixture(scope="module")
def folder(network):
    return network.data


@pytest.fixture(scope="module")
def site(folder):
    return Site(folder)


def submit(network, inputs=(), line="true", center="alpha", **more):
    job_id = network.submit(command=["sh", "-c", line], units={"center": center, "count": 1}, wall_limit_s=120, inputs=list(inputs),
                            **more)["id"]
    return network.wait_job(job_id)


def output_of(network, job):
    return network.rest.call("GET", f"/jobs/{job['id']}/logs/stdout").text


def test_a_job_finds_its_inputs_in_its_folder(network, site, folder):
    digest = hashlib.sha256(TEXT).hexdigest()

    job = submit(network, [{"url": f"{site.url}/set.txt?signature=abc", "path": "in/set.txt", "sha256": digest, "size_bytes": len(TEXT)},
                           {"url": f"file://{folder}/shared/weights.bin", "path": "weights.bin"}],
                 "sha256sum < in/set.txt; cat weights.bin")

    assert job["state"] == "succeeded", job["end_reason"]
    assert output_of(network, job) == f"{digest}  -\nweights"
    staging = job["attempt"]["staging"]
    assert staging["in_bytes"] == len(TEXT) + len(b"weights") and staging["out_s"] == 0
    assert job["run_s"] == pytest.approx(job["attempt"]["run_s"] - staging["in_s"])
    assert "Staging" in network.cli("job", "show", job["id"])


def test_an_input_with_a_checksum_is_kept_for_later_jobs(network, site, folder):
    content = b"kept for later jobs\n"
    (folder / "kept.txt").write_bytes(content)
    entry = {"url": f"{site.url}/kept.txt", "path": "kept.txt", "sha256": hashlib.sha256(content).hexdigest()}

    def is_cached():
        job = submit(network, [entry], "cat kept.txt")
        assert job["state"] == "succeeded" and output_of(network, job) == content.decode(), job["end_reason"]
        return job["attempt"]["staging"]["in_cached_bytes"] == len(content)

    wait_until(is_cached, 120, "the copy of the first job's input")  # it is made after that job's end
    asked = site.server.asked.count("/kept.txt")
    assert is_cached()
    assert site.server.asked.count("/kept.txt") == asked


def test_how_far_staging_is_is_told_while_it_takes_long(network, site, folder):
    (folder / "quick.txt").write_bytes(b"quick")
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


def test_other_content_is_not_taken_and_the_command_not_started(network, site):
    job = submit(network, [{"url": f"{site.url}/set.txt?signature=abc", "path": "set.txt", "sha256": "0" * 64}], "echo ran")

    assert job["state"] == "failed"
    assert "staging failed" in job["end_reason"] and f"{site.url}/set.txt" in job["end_reason"]
    assert job["attempt"]["cause"] == "staging_failed"
    assert "signature" not in job["end_reason"]
    assert job["attempt"]["outcome"] == "failed_to_start"
    assert output_of(network, job) == ""


@pytest.mark.parametrize("center, url, cause", [
    ("alpha", "http:/missing", "404"),
    ("alpha", "file:/secret", "below none of the folders"),
    ("alpha", "file:/shared/link", "below none of the folders"),
    ("strict", "http:/set.txt", "input_http"),
    ("strict", "file:/shared/weights.bin", "below none of the folders"),
])
def test_what_cannot_be_fetched_is_told_with_the_cause(network, site, folder, center, url, cause):
    kind, path = url.split(":")
    job = submit(network, [{"url": (site.url if kind == "http" else f"file://{folder}") + path, "path": "x"}], center=center)

    assert job["state"] == "failed"
    assert "staging failed" in job["end_reason"] and cause in job["end_reason"], job["end_reason"]


def test_a_certificate_that_nobody_trusts_is_refused(network, folder):
    site = Site(folder, tls=True)

    job = submit(network, [{"url": f"{site.url}/set.txt", "path": "x"}])

    assert job["state"] == "failed" and "certificate" in job["end_reason"], job["end_reason"]
    assert site.server.asked == []


def test_failed_inputs_do_not_close_a_center(network, site):
    for _ in range(8):
        submit(network, [{"url": f"{site.url}/missing", "path": "x"}])

    assert submit(network, [])["state"] == "succeeded"
    assert all(center["quarantined_at"] is None for center in network.rest.items("/centers"))


def test_a_job_leaves_its_outputs_where_they_are_to_be(network, site, folder):
    job = submit(network, line="mkdir out; seq 300000 > out/numbers; printf 42 > sum", outputs=[
        {"path": "out/numbers", "url": f"{site.url}/numbers?signature=abc"},
        {"path": "sum", "url": f"file://{folder}/results/runs/1/sum"}])

    assert job["state"] == "succeeded", job["end_reason"]
    numbers = "".join(f"{i}\n" for i in range(1, 300001)).encode()
    assert site.server.taken["/numbers?signature=abc"] == numbers
    assert (folder / "results/runs/1/sum").read_bytes() == b"42"
    assert job["attempt"]["outputs"] == [
        {"path": "out/numbers", "size_bytes": len(numbers), "sha256": hashlib.sha256(numbers).hexdigest()},
        {"path": "sum", "size_bytes": 2, "sha256": hashlib.sha256(b"42").hexdigest()}]
    shown = network.cli("job", "outputs", job["id"])
    assert "out/numbers" in shown and f"{site.url}/numbers" in shown and "signature" not in shown
    assert f"--input job:{job['id']}/" in shown
    assert hashlib.sha256(numbers).hexdigest() in network.cli("job", "outputs", job["id"], "--output", "json")


def test_an_output_is_fetched_from_where_it_was_stored(network, site, folder, tmp_path):
    job = submit(network, line="printf 42 > sum; printf 43 > other", outputs=[
        {"path": "sum", "url": f"{site.url}/fetched"}, {"path": "other", "url": f"{site.url}/changed"}])
    assert job["state"] == "succeeded", job["end_reason"]
    (folder / "fetched").write_bytes(site.server.taken["/fetched"])
    (folder / "changed").write_bytes(b"44")

    said = network.cli("job", "outputs", job["id"], "sum", "--to", tmp_path / "here")
    network.cli("job", "outputs", job["id"], "other", "--to", tmp_path / "there", expect=2)

    assert (tmp_path / "here").read_bytes() == b"42" and "2 B" in said
    assert list(tmp_path.iterdir()) == [tmp_path / "here"]


def test_an_output_is_an_input_of_a_later_job(network, folder):
    stored = folder / "results" / "kept" / "sum"
    earlier = submit(network, line="printf 42 > sum", outputs=[{"path": "sum", "url": f"file://{stored}"}])
    assert earlier["state"] == "succeeded", earlier["end_reason"]
    name = f"job:{earlier['id']}/sum"
    stored.unlink()

    def takes_the_copy():  # which is made after the job's end
        job = submit(network, [{"url": name, "path": "in/sum"}], "cat in/sum")
        return job if job["state"] == "succeeded" else None

    later = wait_until(takes_the_copy, 120, "the copy of the output")
    assert output_of(network, later) == "42" and later["attempt"]["staging"]["in_cached_bytes"] == 2
    assert later["spec"]["inputs"][0]["kept_at"] == [earlier["attempt"]["center_id"]]

    gone = submit(network, [{"url": name, "path": "sum"}], center="strict")
    assert gone["state"] == "failed"
    assert f"staging failed: {name}: this center keeps no copy of it, and file://{stored}: " in gone["end_reason"], gone["end_reason"]


@pytest.mark.parametrize("center, url, cause", [
    ("alpha", "http:/closed/sum", "403"),
    ("alpha", "file:/shared/sum", "below none of the folders"),
    ("strict", "http:/sum", "output_http"),
    ("strict", "file:/results/sum", "below none of the folders"),
])
def test_an_output_that_cannot_be_stored_fails_the_job_with_the_cause(network, site, folder, center, url, cause):
    kind, path = url.split(":")
    job = submit(network, line="echo done; echo 42 > sum", center=center,
                 outputs=[{"path": "sum", "url": (site.url if kind == "http" else f"file://{folder}") + path}])

    assert job["state"] == "failed" and job["exit_code"] is None
    assert job["end_reason"].startswith("outputs could not be stored: sum to ") and cause in job["end_reason"], job["end_reason"]
    assert job["attempt"]["outputs"] == [] and output_of(network, job) == "done\n"
    assert job["attempt"]["cause"] == "outputs_failed"


def test_a_job_that_leaves_no_output_fails(network, site):
    job = submit(network, line="true", outputs=[{"path": "sum", "url": f"{site.url}/missing"}])

    assert job["state"] == "failed" and "No such file" in job["end_reason"], job["end_reason"]


def test_a_job_that_fails_stores_nothing_and_can_be_cancelled(network, site):
    outputs = [{"path": "sum", "url": f"{site.url}/failed"}]
    job = submit(network, line="echo 42 > sum; exit 4", outputs=outputs)
    assert job["state"] == "failed" and job["exit_code"] == 4

    job = network.submit(command=["sh", "-c", "echo 42 > sum; sleep 600"], units={"center": "alpha", "count": 1}, outputs=outputs)
    wait_until(lambda: network.job(job["id"])["state"] == "running", 120, "the job's start")
    network.cli("job", "cancel", job["id"])
    assert network.wait_job(job["id"])["state"] == "cancelled"
    assert "/failed" not in site.server.taken


def test_uploads_are_named_on_the_command_line(network, site):
    submitted = network.cli("job", "submit", "--center", "alpha", "--upload", f"sum={site.url}/by-flag?key=1", "--",
                            "sh", "-c", "printf 7 > sum")
    assert network.wait_job(submitted.split()[0])["state"] == "succeeded"
    assert site.server.taken["/by-flag?key=1"] == b"7"
