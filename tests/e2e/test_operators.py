"""Experts change and upload operators; bad uploads harm nothing and are reported."""
import base64
import copy
import itertools
import json
import subprocess

import pytest

from network import BIN, Network, agent_config, wait_until
from operator_package import EXAMPLES, build_package, create_key, manifest_in

SERVER_FIELDS = {"origin", "created_at", "created_by", "withdrawn_at", "withdrawn_by", "key_id", "object_sha256",
                 "object_bytes"}
POINTS = {"id": "points", "kind": "intervals",
          "figures": [{"figure": "time_s", "weight": 1, "steps": [{"below": 1, "points": 100}, {"points": 10}]}]}


class Uploads:
    """A network whose centers trust one key; the server trusts a second one, which the centers do not know."""

    def __init__(self):
        self.net = Network()
        self.folder = folder = self.net.folder
        self.trusted = self.create_key("ada")
        self.stranger = self.create_key("eve")
        for name in ("ada", "eve"):
            self.net.cli("operator", "key", "add", "--name", name, folder / f"{name}.key.pub")
        keys = f'operator_keys = "{folder / "ada.key.pub"}"'
        self.net.add_agent("alpha", agent_config(extra=keys))
        self.net.add_agent("beta", agent_config(unit_name="core-large", extra=keys))
        self.rest = self.net.rest
        expert = self.rest.post("/tokens", {"name": "expert", "role": "expert"})["token"]
        self.expert = self.net.rest_of(self.net.server, expert)
        self.expert_token = expert

    def create_key(self, name):
        return create_key(self.net, self.folder / f"{name}.key")

    def package(self, source, manifest, key="ada", **changes):
        """Builds an example, signs it, and gives the package's file."""
        return build_package(self.net, source, manifest, self.folder / f"{key}.key", token=self.expert_token, **changes)

    def upload(self, package):
        return self.net.cli("operator", "upload", package, token=self.expert_token)

    def upload_misbehaving(self, kind, version):
        manifest = {**manifest_in(EXAMPLES / "misbehaving"), "version": version}
        source = EXAMPLES / "misbehaving" / "misbehaving.c"
        self.upload(self.package(source, manifest, defines=[f"-DMISBEHAVE={kind}"]))

    def probe(self, operators, **order):
        """Runs of these operators, in their end states."""
        runs = self.rest.post("/probe-runs", {"operators": operators, **order})["items"]
        return [wait_until(lambda run=run: (lambda now: now if now["state"] != "queued" else None)(
            self.rest.get(f"/probe-runs/{run['id']}")), 120, f"the end of {run['id']}") for run in runs]

    def refused(self, method, path, status, rest=None, **arguments):
        answer = (rest or self.expert).call(method, path, **arguments)
        assert answer.status_code == status, answer.text
        assert answer.headers["Content-Type"] == "application/problem+json"
        return answer.json()


def manifest_of(operator):
    """What an expert edits: a copy without what the server adds."""
    return copy.deepcopy({name: value for name, value in operator.items() if name not in SERVER_FIELDS})


@pytest.fixture(scope="module")
def uploads():
    it = Uploads()
    try:
        yield it
    finally:
        it.net.close()


@pytest.fixture
def network(uploads):
    """For the report of failures."""
    return uploads.net


# Built-in operators, changed by experts.

def test_an_expert_changes_a_built_in_operator_and_results_name_the_version(uploads, network):
    before = uploads.expert.get("/operators/dgemm")
    edited = manifest_of(before)
    edited["description"] = "Dense matrix product, as our experts describe it."
    edited["parameters"][0]["max"] = 2048
    edited["size_classes"] = []
    file = uploads.folder / "dgemm.json"
    file.write_text(json.dumps(edited))

    uploads.net.cli("operator", "change", file, token=uploads.expert_token)

    changed = uploads.expert.get("/operators/dgemm")
    assert (changed["version"], changed["origin"]) == (before["version"] + 1, "expert")
    assert uploads.expert.get(f"/operators/dgemm?version={before['version']}") == before
    size = {"m": 64, "n": 64, "k": 64}
    for run in uploads.probe([{"id": "dgemm", "parameters": size}]):
        assert run["state"] == "succeeded", run["error"]
        assert run["result"]["operators"][0]["version"] == changed["version"]
    problem = uploads.refused("POST", "/probe-runs", 400, json={"operators": [{"id": "dgemm", "parameters": {"m": 4096}}]})
    assert problem["errors"][0]["field"] == "operators[0].parameters.m"

    uploads.net.cli("operator", "change", file, expect=1, token=uploads.expert_token)  # made of an older version
    uploads.net.cli("operator", "withdraw", "dgemm", "--version", changed["version"], token=uploads.expert_token)
    run = uploads.probe([{"id": "dgemm", "parameters": size}])[0]
    assert run["result"]["operators"][0]["version"] == before["version"]
    uploads.refused("POST", "/probe-runs", 400, json={"operators": [{"id": "dgemm", "version": changed["version"]}]})
    uploads.refused("POST", "/jobs", 400, json={"command": ["true"], "operators": [
        {"id": "dgemm", "version": changed["version"]}]})
    assert uploads.expert.get(f"/operators/dgemm?version={changed['version']}")["withdrawn_at"]
    versions = uploads.expert.items("/operators/dgemm/versions")
    assert [version["version"] for version in versions] == [changed["version"], before["version"]]


def test_a_change_survives_a_restart_of_the_server(uploads, network):
    edited = manifest_of(uploads.expert.get("/operators/fft1d"))
    edited["description"] = "Ours."
    version = uploads.expert.call("PUT", "/operators/fft1d", json={"manifest": edited}).json()["version"]

    uploads.net.server.process.stop()
    uploads.net.server.start()

    newest = uploads.expert.get("/operators/fft1d")
    assert (newest["version"], newest["description"]) == (version, "Ours.")
    wait_until(lambda: all(center["state"] == "online" for center in uploads.rest.items("/centers")), 120, "both centers")


def test_only_those_who_may_change_the_library(uploads, network):
    manifest = manifest_of(uploads.expert.get("/operators/spmv"))
    for role in ("viewer", "user"):
        rest = uploads.net.rest_of(uploads.net.server, uploads.rest.post("/tokens", {"name": role, "role": role})["token"])
        uploads.refused("PUT", "/operators/spmv", 403, rest=rest, json={"manifest": manifest})
        uploads.refused("DELETE", "/operators/spmv/versions/1", 403, rest=rest)
        uploads.refused("POST", "/operators", 403, rest=rest, json={"manifest": manifest})
    uploads.refused("GET", "/operator-keys", 403)
    uploads.refused("POST", "/operator-keys", 403, json={"name": "x", "public_key_pem": "y"})
    uploads.refused("DELETE", f"/operator-keys/{uploads.trusted}", 403)


# Uploads.

def test_a_good_upload_is_measured_and_scored_on_both_centers(uploads, network):
    folder = EXAMPLES / "dense_lu"
    package = uploads.package(folder / "dense_lu.c", manifest_in(folder))
    assert "new" in dry_run(uploads, package)

    uploads.upload(package)

    shown = uploads.expert.get("/operators/dense_lu")
    assert (shown["origin"], shown["key_id"]) == ("uploaded", uploads.trusted)
    path = "/operators/dense_lu/versions/1/package"
    assert uploads.expert.get(path) == json.loads(package.read_text())
    for role, status in (("viewer", 200), ("user", 403)):  # other people's code is not for everybody
        token = uploads.rest.post("/tokens", {"name": role, "role": role})["token"]
        assert uploads.net.rest_of(uploads.net.server, token).call("GET", path).status_code == status
    runs = uploads.probe([{"id": "dense_lu"}, {"id": "dgemm", "parameters": {"m": 128, "n": 128, "k": 128}}])
    assert {run["center"] for run in runs} == {"alpha", "beta"}
    for run in runs:
        assert run["state"] == "succeeded", run["error"]
        result = next(item for item in run["result"]["operators"] if item["id"] == "dense_lu")
        assert result["error"] <= shown["tolerance"] and result["rate_flops"] > 1e7
        assert result["version"] == 1
    uploads.rest.post("/metric-policies", {"document": POINTS})
    scores = uploads.rest.items("/scores?operator=dense_lu&policy=points")
    assert {score["center"] for score in scores} == {"alpha", "beta"}
    assert all(score["score"] == 100 and score["operator_version"] == 1 for score in scores)
    keys = uploads.rest.items("/operator-keys")
    assert {"id": "dense_lu", "version": 1} in next(key for key in keys if key["id"] == uploads.trusted)["operators"]


def dry_run(uploads, package):
    outcome = subprocess.run(
        [BIN / "fathom", "operator", "upload", package, "--dry-run", "--url", uploads.net.server.url, "--ca",
         uploads.net.server.ca], capture_output=True, text=True, env={"FATHOM_TOKEN": uploads.expert_token})
    assert outcome.returncode == 0, outcome.stderr
    return outcome.stderr


@pytest.mark.parametrize("version, kind, reason", [
    (1, "CRASH_IN_EXECUTE", "crashed: signal 11 (SIGSEGV) while executing"),
    (2, "HANG_IN_EXECUTE", "hangs"),
    (3, "TRUE_WITHOUT_LOOKING", "lies: error() finds 0"),
    (4, "COMPUTE_NOTHING", "lies: execute() left"),
])
def test_a_bad_upload_is_reported_and_harms_nothing(uploads, network, version, kind, reason):
    uploads.upload_misbehaving(kind, version)
    innocent = uploads.rest.post("/jobs", {"command": ["/bin/echo", "unharmed"], "units": {"center": "beta"}})

    runs = uploads.probe([{"id": "roots", "version": version}])

    assert {run["center"] for run in runs} == {"alpha", "beta"}
    for run in runs:
        assert run["state"] == "failed"
        assert "roots" in run["error"] and reason in run["error"], run["error"]
        assert run["result"] is None
    assert not uploads.rest.items("/scores?operator=roots")
    assert uploads.net.wait_job(innocent["id"])["state"] == "succeeded"
    assert all(center["state"] == "online" for center in uploads.rest.items("/centers"))
    for run in uploads.probe([{"id": "dgemm", "parameters": {"m": 128, "n": 128, "k": 128}}]):
        assert run["state"] == "succeeded", run["error"]


def test_an_upload_that_only_the_server_trusts_is_refused_by_the_agents(uploads, network):
    manifest = {**manifest_in(EXAMPLES / "misbehaving"), "id": "by_eve"}
    uploads.upload(uploads.package(EXAMPLES / "misbehaving" / "misbehaving.c", manifest, key="eve"))

    for run in uploads.probe([{"id": "by_eve"}]):
        assert run["state"] == "failed"
        assert uploads.stranger in run["error"] and "trusted" in run["error"], run["error"]
        assert uploads.rest.get(f"/jobs/{run['job_id']}")["attempt"]["outcome"] == "failed_to_start"


def test_an_upload_without_a_trusted_signature_is_refused_by_the_server(uploads, network):
    folder = EXAMPLES / "dense_lu"
    manifest = {**manifest_in(folder), "id": "unsigned_lu"}
    good = json.loads(uploads.package(folder / "dense_lu.c", manifest).read_text())
    unsigned = {name: value for name, value in good.items() if name != "signature_base64"}
    problem = uploads.refused("POST", "/operators", 400, json={"package": unsigned})
    assert [error["field"] for error in problem["errors"]] == ["package.signature_base64"]
    forged = {**good, "manifest": {**good["manifest"], "tolerance": 1}}
    assert "signature" in uploads.refused("POST", "/operators", 403, json={"package": forged})["detail"]
    uploads.create_key("mallory")
    unknown = json.loads(uploads.package(folder / "dense_lu.c", manifest, key="mallory").read_text())
    assert uploads.trusted in uploads.refused("POST", "/operators", 403, json={"package": unknown})["detail"]
    uploads.refused("GET", "/operators/unsigned_lu", 404)


def test_a_revoked_key_uploads_nothing_more(uploads, network):
    uploads.create_key("bob")
    key = json.loads(uploads.net.cli("--output", "json", "operator", "key", "add", "--name", "bob",
                                     uploads.folder / "bob.key.pub"))["id"]
    uploads.net.cli("operator", "key", "revoke", key)
    manifest = {**manifest_in(EXAMPLES / "dense_lu"), "id": "bobs"}
    package = uploads.package(EXAMPLES / "dense_lu" / "dense_lu.c", manifest, key="bob")
    uploads.net.cli("operator", "upload", package, expect=4, token=uploads.expert_token)
    assert key in uploads.net.cli("operator", "key", "list") and "revoked" in uploads.net.cli("operator", "key", "list")
    uploads.net.cli("operator", "key", "add", "--name", "bob", uploads.folder / "bob.key.pub", expect=1)


def test_a_withdrawn_upload_runs_nowhere(uploads, network):
    manifest = {**manifest_in(EXAMPLES / "misbehaving"), "version": 5}
    uploads.upload(uploads.package(EXAMPLES / "misbehaving" / "misbehaving.c", manifest))
    task = uploads.rest.post("/probe-runs", {"operators": [{"id": "roots", "version": 5}]})["items"][0]["probe_task_id"]
    for version in range(1, 6):
        uploads.net.cli("operator", "withdraw", "roots", "--version", version)

    problem = uploads.refused("POST", "/probe-runs", 422, json={"probe_task_id": task})

    assert "roots" in json.dumps(problem)
    for run in uploads.rest.items(f"/probe-runs?probe_task={task}"):  # whatever had become of them by then
        assert run["state"] != "queued"
        uploads.net.wait_job(run["job_id"])
    assert len(uploads.expert.items("/operators/roots/versions")) == 5


# Bad input: every error named, nothing half-stored.

def test_bad_input_names_every_error(uploads, network):
    folder = EXAMPLES / "dense_lu"
    good = json.loads(uploads.package(folder / "dense_lu.c", {**manifest_in(folder), "id": "bad_input"}).read_text())

    def fields_of(order):
        return {error["field"] for error in uploads.refused("POST", "/operators", 400, json=order)["errors"]}

    manifest = {**good["manifest"], "surplus": 1, "operation_count": "n^1000*1e300", "tolerance": 7,
                "size_classes": [{"name": "a", "parameters": {"n": 100000}}]}
    package = {"manifest": manifest, "object_base64": "no base64!", "signature_base64": "AAAA", "key_id": "x", "more": 1}
    assert fields_of({"package": package}) >= {
        "package.manifest.surplus", "package.manifest.tolerance", "package.manifest.size_classes[0].parameters.n",
        "package.object_base64", "package.signature_base64", "package.key_id", "package.more"}
    overflow = {**good["manifest"], "operation_count": "n^1000"}
    assert fields_of({"package": {**good, "manifest": overflow}}) == {"package.manifest.operation_count"}
    large = base64.b64encode(b"\x7fELF" + bytes(600_000)).decode()
    assert fields_of({"package": {**good, "object_base64": large}}) == {"package.object_base64"}
    assert fields_of({}) == {""}
    assert fields_of({"manifest": {**good["manifest"], "id": "BAD"}}) == {"manifest.id"}
    assert fields_of({"manifest": good["manifest"]}) == {"manifest.implementations", "manifest.sandbox"}
    uploads.refused("POST", "/operators", 413, data=b"[" + bytes(5 << 20))
    uploads.refused("POST", "/operators", 400, data=b"{")
    assert not [one for one in uploads.expert.items("/operators") if one["id"] == "bad_input"]


# Jobs that centers profile (M3).

def test_an_uploaded_operator_is_found_in_a_job_that_its_center_profiles(uploads, network):
    folder = EXAMPLES / "dense_lu"
    manifest = {**manifest_in(folder), "id": "eigenvalues",
                "signature": {"symbols": ["dsyevd_", "scipy_dsyevd_64_"], "argument_kinds": ["matrix_fp64"]}}
    program = "import numpy as np; a = np.random.default_rng(1).random((400, 400)); [np.linalg.eigh(a) for _ in range(8)]"

    def found_operators(name):
        """What the profile of a job with a type of its own says that it executes."""
        job = network.submit(name=name, type=f"e2e/{name}", command=["python3", "-c", program], profile=True,
                             units={"center": "alpha"})
        ended = network.wait_job(job["id"])
        assert ended["state"] == "succeeded" and not ended["attempt"]["detail"], ended["attempt"]
        work = uploads.rest.get(f"/jobs/{job['id']}/operators")
        assert work["source"] == "profile", work
        return {use["id"]: use for use in work["operators"]}

    assert "eigenvalues" not in found_operators("eigh-before")

    uploads.upload(uploads.package(folder / "dense_lu.c", manifest))  # the agents are connected, and are told

    numbers = itertools.count()
    use = wait_until(lambda: found_operators(f"eigh-after-{next(numbers)}").get("eigenvalues"), 120, "the agent knowing the operator")
    assert use["version"] == 1 and use["share"] > 0
