"""Exports of bills by the clock: to a folder, and to a real object store over TLS, as an accountant finds them there."""
import hashlib
import json
import os
import pathlib
import tempfile

import pytest

from network import Network, agent_config, roomy_folder, wait_until
from object_store import ObjectStore

BOOK = {"currency": "EUR", "entries": [{"center": "*", "unit_type": "*", "per_score_hour": "36"}]}
BUCKET = "accounts"


@pytest.fixture(scope="module")
def store():
    # Not pytest's own folder: each pytest that starts closes it to others, and fathomd, which is not root, reads the
    # certificate.
    with tempfile.TemporaryDirectory(prefix="fathom-e2e-store-", dir=roomy_folder()) as folder:
        pathlib.Path(folder).chmod(0o755)
        store = ObjectStore(folder)
        try:
            assert store.call("PUT", f"/{BUCKET}").status_code == 201
            yield store
        finally:
            store.stop()


@pytest.fixture(scope="module")
def network(store):
    """A server that may write to the object store, too, and a job that was billed."""
    os.environ.update(store.settings())
    net = Network()
    try:
        net.add_agent("alpha", agent_config())
        prices = net.folder / "prices.json"
        prices.write_text(json.dumps(BOOK))
        net.cli("price", "set", str(prices))
        job = net.submit(command=["sleep", "0.2"])["id"]
        assert net.wait_job(job)["state"] == "succeeded"
        wait_until(lambda: net.rest.get(f"/jobs/{job}/cost")["is_final"], 120)
        yield net
    finally:
        net.close()
        for name in store.settings():
            del os.environ[name]


def run_now(network, name):
    """Has a schedule run; the schedule afterwards."""
    before = shown(network, name)["last_run_at"]
    network.cli("bill", "schedule", "run", name)
    wait_until(lambda: shown(network, name)["last_run_at"] != before, 120, f"a run of {name}")
    return shown(network, name)


def shown(network, name):
    return json.loads(network.cli("bill", "schedule", "show", name, "--output", "json"))


def check(manifest, content, network, **parameters):
    """The manifest tells the file, and the same export can be made again by hand."""
    assert manifest["bytes"] == len(content) and manifest["sha256"] == hashlib.sha256(content).hexdigest()
    answer = network.rest.call("GET", f"/exports/{manifest['format']}", params=manifest["parameters"])
    assert answer.content == content
    assert parameters.items() <= manifest["parameters"].items()


def test_a_folder_gets_the_file_and_its_manifest(network):
    network.cli("bill", "schedule", "add", "materials", "--cron", "@daily", "--format", "focus", "--months", "current",
                "--project", "default", "--focus-version", "1.3", "--to", "folder")

    schedule = run_now(network, "materials")

    assert schedule["last_error"] is None
    file = network.exports / "materials" / schedule["last_file"].rsplit("/", 1)[1]
    content = file.read_bytes()
    assert b"HostProviderName" in content and b",default," in content
    check(json.loads(file.with_name(file.name + ".manifest.json").read_text()), content, network,
          project="default", version="1.3")
    assert sorted(path.name for path in file.parent.iterdir()) == [file.name, file.name + ".manifest.json"]
    text = network.cli("bill", "schedule", "list")
    assert "materials" in text and "focus of the current month, project default" in text
    assert file.name in network.cli("bill", "schedule", "show", "materials")


def test_an_object_store_gets_the_same(network, store):
    network.cli("bill", "schedule", "add", "archive", "--cron", "0 5 3 * *", "--format", "ledger", "--to",
                f"s3://{BUCKET}/fathom/eu")

    schedule = run_now(network, "archive")

    assert schedule["last_error"] is None
    assert schedule["last_file"] == f"s3://{BUCKET}/fathom/eu/archive/ledger.jsonl"
    content = store.call("GET", f"/{BUCKET}/fathom/eu/archive/ledger.jsonl").content
    assert content.count(b"\n") >= 1
    check(store.call("GET", f"/{BUCKET}/fathom/eu/archive/ledger.jsonl.manifest.json").json(), content, network)


def test_what_an_object_store_refuses_is_told_and_tried_again(network, store):
    network.cli("bill", "schedule", "add", "lost", "--cron", "0 5 3 * *", "--format", "jsonl", "--to", "s3://nowhere/x")

    schedule = run_now(network, "lost")

    assert "NoSuchBucket" in schedule["last_error"] and schedule["failures"] == 1 and schedule["last_file"] is None
    assert "NoSuchBucket" in network.cli("bill", "schedule", "show", "lost")
    assert store.call("PUT", "/nowhere").status_code == 201
    network.cli("bill", "schedule", "change", "lost", "--to", "s3://nowhere/y")
    schedule = run_now(network, "lost")
    assert schedule["last_error"] is None and schedule["failures"] == 0
    assert store.call("GET", "/nowhere/y/lost/" + schedule["last_file"].rsplit("/", 1)[1]).status_code == 200
    secret = store.settings()["FATHOMD_S3_SECRET_KEY"]
    assert secret not in network.server.process.log()


def test_an_object_store_that_is_not_the_right_one_gets_nothing(network, store):
    """Neither its certificate nor its key is believed unseen."""
    with Network(settings=("--s3-ca-file", str(network.server.ca))) as other:
        other.cli("bill", "schedule", "add", "archive", "--cron", "@daily", "--format", "ledger", "--to", f"s3://{BUCKET}")
        assert "certificate" in run_now(other, "archive")["last_error"].lower()
    with Network(settings=("--s3-secret-key", "another")) as other:
        other.cli("bill", "schedule", "add", "archive", "--cron", "@daily", "--format", "ledger", "--to", f"s3://{BUCKET}")
        assert "SignatureDoesNotMatch" in run_now(other, "archive")["last_error"]


def test_schedules_that_cannot_work_are_refused_with_the_cause(network):
    wrong = network.rest.call("POST", "/export-schedules", json={
        "name": "a/b", "cron": "0 0 30 2 *", "format": "focus", "destination": "folder"})
    assert wrong.status_code == 400
    assert {error["field"] for error in wrong.json()["errors"]} == {"name", "cron"}
    network.cli("bill", "schedule", "add", "x", "--cron", "@daily", "--format", "focus", "--to", "/etc", expect=2)
