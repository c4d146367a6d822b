"""Data of jobs in a real object store with Amazon's S3 interface: by URLs that were signed for one object each, by the test or, of
s3:// URLs, by the center."""
import hashlib
import os
import pathlib
import tempfile

import pytest

from network import Network, agent_config, roomy_folder
from object_store import KEY, REGION, USER, ObjectStore

BUCKET = "sets"
TEXT = b"".join(b"line %d\n" % i for i in range(300_000))  # more than what is sent without being asked for


@pytest.fixture(scope="module")
def store():
    with tempfile.TemporaryDirectory(prefix="fathom-e2e-store-", dir=roomy_folder()) as folder:
        pathlib.Path(folder).chmod(0o755)
        store = ObjectStore(folder, tls=False)
        try:
            assert store.call("PUT", f"/{BUCKET}").status_code == 201
            assert store.call("PUT", f"/{BUCKET}/set.txt", data=TEXT).status_code == 201
            yield store
        finally:
            store.stop()


def object_store_tables(network, store):
    key_file = network.folder / "s3-key"
    key_file.touch(0o600)
    key_file.write_text(f"{USER}\n{KEY}\n")
    # Not as root, whether jobs could read the key depends on the machine.
    may_read = "false" if os.geteuid() == 0 else "true"
    return (f'[s3]\nendpoint = "{store.endpoint}"\nregion = "{REGION}"\nkey_file = "{key_file}"\njobs_may_read_key = {may_read}\n'
            f'[[s3_access]]\nproject = "default"\nread = ["s3://{BUCKET}"]\nwrite = ["s3://{BUCKET}/results"]\n')


@pytest.fixture(scope="module")
def network(store):
    with Network() as network:
        cores = sorted(os.sched_getaffinity(0))
        for name, core in (("alpha", cores[0]), ("beta", cores[-1])):
            # Alpha signs by itself for one project.
            extra = object_store_tables(network, store) if name == "alpha" else ""
            network.add_agent(name, agent_config(cores=str(core), extra='input_http = "on"\noutput_http = "on"\n' + extra))
        yield network


def run(network, line, center="alpha", **more):
    job = network.submit(command=["sh", "-c", line], units={"center": center, "count": 1}, wall_limit_s=120, **more)
    return network.wait_job(job["id"])


def put_upper(network, store, name):
    """A job that fetches the set, and stores it in capitals."""
    return run(network, "tr a-z A-Z <in/set.txt >out.txt",
               inputs=[{"url": store.signed_url("GET", f"/{BUCKET}/set.txt"), "path": "in/set.txt", "size_bytes": len(TEXT),
                        "sha256": hashlib.sha256(TEXT).hexdigest()}],
               outputs=[{"path": "out.txt", "url": store.signed_url("PUT", f"/{BUCKET}/{name}")}])


def test_signed_urls_are_fetched_from_and_stored_to(network, store):
    job = put_upper(network, store, "upper.txt")

    assert job["state"] == "succeeded", job["end_reason"]
    assert store.call("GET", f"/{BUCKET}/upper.txt").content == TEXT.upper()
    assert [one["sha256"] for one in job["attempt"]["outputs"]] == [hashlib.sha256(TEXT.upper()).hexdigest()]
    assert "Signature" not in network.cli("job", "outputs", job["id"])


def test_an_output_that_only_may_be_put_is_read_by_another_url(network, store):
    earlier = put_upper(network, store, "of-alpha.txt")
    assert earlier["state"] == "succeeded", earlier["end_reason"]
    name = f"job:{earlier['id']}/out.txt"

    refused = run(network, "true", "beta", inputs=[{"url": name, "path": "a"}])
    read = run(network, "tail -n 1 a", "beta",
               inputs=[{"from": name, "url": store.signed_url("GET", f"/{BUCKET}/of-alpha.txt"), "path": "a"}])

    assert refused["state"] == "failed", refused
    assert f"{name}: this center keeps no copy of it" in refused["end_reason"] and "403" in refused["end_reason"]
    assert read["state"] == "succeeded", read["end_reason"]
    assert network.rest.call("GET", f"/jobs/{read['id']}/logs/stdout").text == "LINE 299999\n"


def test_what_the_store_refuses_is_told_without_the_signature(network, store):
    forged = store.signed_url("GET", f"/{BUCKET}/set.txt")[:-4] + "0000"

    job = run(network, "true", inputs=[{"url": forged, "path": "a"}])

    assert job["state"] == "failed" and job["attempt"]["outcome"] == "failed_to_start", job
    assert "staging failed" in job["end_reason"] and "403" in job["end_reason"] and "Signature" not in job["end_reason"]


def test_a_center_signs_for_what_a_project_may_read_and_write(network, store):
    job = run(network, "tr a-z A-Z <in/set.txt >'a b.txt'", inputs=[{"url": f"s3://{BUCKET}/set.txt", "path": "in/set.txt"}],
              outputs=[{"path": "a b.txt", "url": f"s3://{BUCKET}/results/a+b.txt"}])

    assert job["state"] == "succeeded", job["end_reason"]
    assert store.call("GET", f"/{BUCKET}/results/a%2Bb.txt").content == TEXT.upper()


@pytest.mark.parametrize("center, data, cause", [
    ("alpha", {"outputs": [{"path": "x", "url": f"s3://{BUCKET}/set.txt"}]}, "s3_access"),
    ("alpha", {"inputs": [{"path": "x", "url": "s3://ready/ready"}]}, "s3_access"),
    ("beta", {"inputs": [{"path": "x", "url": f"s3://{BUCKET}/set.txt"}]}, "has no object store"),
])
def test_a_center_signs_for_nothing_else(network, store, center, data, cause):
    job = run(network, "echo 42 >x", center, **data)

    assert job["state"] == "failed" and cause in job["end_reason"], job
    if center == "alpha":
        assert job["attempt"]["outcome"] == "failed_to_start", "the command was not run for nothing"
    assert store.call("GET", f"/{BUCKET}/set.txt").content == TEXT
