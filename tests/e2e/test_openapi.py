"""The document is well-formed, and the running server answers as it says."""
import copy
import json
import pathlib

import pytest
import requests

import openapi_check as check
from balanced_gpu import BalancedGpu
from network import wait_until


def nodes(node, path="#"):
    """Every dictionary of the document with its place."""
    if isinstance(node, dict):
        yield path, node
        for key, value in node.items():
            yield from nodes(value, f"{path}/{key}")
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from nodes(value, f"{path}/{index}")


# The document itself.

def test_every_reference_resolves():
    for path, node in nodes(check.document()):
        if "$ref" in node:
            assert check.resolve(node) is not None, path


def test_every_schema_is_a_json_schema():
    for name, schema in check.document()["components"]["schemas"].items():
        check.Draft202012Validator.check_schema(schema)
        assert schema.get("description"), f"{name} has no description"


def test_every_operation_is_complete():
    tags = {tag["name"] for tag in check.document()["tags"]}
    seen = set()
    for path, method, operation in check.operations():
        what = f"{method} {path}"
        assert operation.get("summary"), what
        assert operation["operationId"] not in seen, f"{what}: operationId is duplicated"
        seen.add(operation["operationId"])
        assert operation["tags"] and set(operation["tags"]) <= tags, what
        assert any(status.startswith(("2", "302")) for status in operation["responses"]), what
        default = check.resolve(operation["responses"]["default"])
        assert "application/problem+json" in default["content"], what


def test_path_parameters_are_declared():
    for path, method, operation in check.operations():
        wanted = set(check.re.findall(r"\{([^}]+)\}", path))
        declared = {check.resolve(p)["name"] for p in operation.get("parameters", [])
                    if check.resolve(p)["in"] == "path"}
        assert wanted == declared, f"{method} {path}"


def test_request_examples_fit_their_schemas():
    for path, method, operation in check.operations():
        content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
        for name, example in content.get("examples", {}).items():
            assert not check.schema_errors(content["schema"], example["value"]), f"{method} {path}: {name}"


def test_the_check_notices_wrong_answers():
    good = {"status": "ok"}
    check.check_response("GET", "/healthz", 200, "application/json", good)
    for status, content_type, body in [(200, "application/json", {"status": "fine"}),
                                       (200, "text/html", good), (204, "application/json", good)]:
        with pytest.raises(check.ContractBroken):
            check.check_response("GET", "/healthz", status, content_type, body)


# The running server.

class Caller:
    """Sends requests and holds every answer to the document."""

    def __init__(self, network):
        self.url, self.session = network.url, requests.Session()
        self.session.trust_env = False  # else REQUESTS_CA_BUNDLE of the environment wins over verify
        self.session.verify = str(network.ca)
        self.session.headers["Authorization"] = f"Bearer {network.admin_token}"
        self.seen = set()

    def __call__(self, method, path, expect=200, **arguments):
        answer = self.session.request(method, self.url + path, timeout=60, **arguments)
        assert answer.status_code == expect, f"{method} {path}: {answer.status_code} {answer.text}"
        check.check_requests_response(answer)
        self.seen.add(check.find_operation(method, path)[1]["operationId"])
        return answer


@pytest.fixture(scope="module")
def call(network):
    return Caller(network)


A = "/api/v1"


def test_system_routes(call):
    for path in ("/healthz", "/readyz", "/metrics"):
        call("GET", path)
    assert call("GET", "/openapi.json").json() == check.document()


def test_centers(call):
    centers = call("GET", A + "/centers").json()["items"]
    assert [center["name"] for center in centers] == ["alpha", "beta"]
    alpha = call("GET", A + "/centers/alpha")
    call("PATCH", A + "/centers/alpha", json={"drained": True, "drain_reason": "new kernel"}, headers={"If-Match": alpha.headers["ETag"]})
    call("PATCH", A + "/centers/alpha", 412, json={"drained": False}, headers={"If-Match": alpha.headers["ETag"]})
    call("PATCH", A + "/centers/alpha", json={"drained": False})
    call("PATCH", A + "/centers/alpha", 400, json={"drained": "yes"})
    call("GET", A + "/centers/nowhere", 404)
    unit_types = call("GET", A + "/unit-types?center=alpha").json()["items"]
    call("GET", A + f"/unit-types/{unit_types[0]['id']}")


def test_center_resources(call):
    path = A + "/centers/alpha/resources"
    before = call("GET", path)
    assert before.json()["state"] == "file" and before.json()["version"] == 0
    wrong = call("PUT", path, 400, json={"unit_types": [{"name": "", "cores_per_unit": -1}], "x": 1}).json()
    assert {error["field"] for error in wrong["errors"]} == {"unit_types[0].name", "unit_types[0].cores_per_unit", "x"}
    order = {"unit_types": [{"name": "core", "cores_per_unit": 1, "unit_count": 1},
                            {"name": "gpu", "resource_type": "cuda", "unit_count": 8}]}
    call("PUT", path, json=order, headers={"If-Match": before.headers["ETag"]})
    call("PUT", path, 412, json={"unit_types": []}, headers={"If-Match": before.headers["ETag"]})
    call("PUT", A + "/centers/nowhere/resources", 404, json=order)
    call("GET", A + "/centers/nowhere/resources", 404)
    wait_until(lambda: call("GET", path).json()["state"] == "differs", 60, "the agent saying what it lacks")
    assert call("GET", path).json()["reported"]["differences"][0]["seen"] == 0
    call("PUT", path, json={"unit_types": []})
    wait_until(lambda: call("GET", path).json()["state"] == "file", 60, "alpha offering what its file says")


def test_enrolment_and_revocation(call):
    order = {"center_name": "gamma", "valid_s": 60}
    token = call("POST", A + "/enrolment-tokens", 201, json=order).json()
    call("GET", A + "/enrolment-tokens")
    mistaken = call("POST", A + "/enrolment-tokens", 201, json=order).json()
    call("DELETE", A + f"/enrolment-tokens/{mistaken['id']}", 204)
    call("DELETE", A + "/enrolment-tokens/enr_none", 404)
    call("POST", A + "/enrolment-tokens", 400, json={"center_name": "a/b"})
    call("POST", A + "/agents:enrol", 400, json={"token": token["token"], "signing_request_pem": "nonsense"})
    call("POST", A + "/agents:enrol", 401, json={"token": "fen_wrong", "signing_request_pem": "nonsense"})
    call("POST", A + "/agents:enrol", 201, json={"token": token["token"], "signing_request_pem": signing_request()})
    call("POST", A + "/agents:enrol", 401, json={"token": token["token"], "signing_request_pem": "nonsense"})
    call("POST", A + "/centers/gamma:release")
    call("POST", A + "/centers/no-such:release", 404)
    call("POST", A + "/centers/gamma:revoke")


def signing_request():
    import subprocess
    return subprocess.run(
        ["openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "/dev/null",
         "-subj", "/CN=agent"], capture_output=True, text=True, check=True).stdout


def test_operators_and_probes(call):
    operators = call("GET", A + "/operators").json()["items"]
    call("GET", A + f"/operators/{operators[0]['id']}?version=1")
    call("GET", A + f"/operators/{operators[0]['id']}?version=x", 400)
    document = {"name": "small", "operators": [{"id": "dgemm", "parameters": {"m": 64, "n": 64, "k": 64}}], "repeats": 3}
    task = call("POST", A + "/probe-tasks", 201, json={"document": document, "job_type": "small"}).json()
    call("POST", A + "/probe-tasks", 409, json={"document": document, "job_type": "small"})
    call("POST", A + "/probe-tasks", 400, json={"document": {"name": "x", "operators": [{"id": "no_such"}]}})
    call("GET", A + "/probe-tasks")
    call("GET", A + f"/probe-tasks/{task['id']}")
    call("GET", A + "/probe-tasks?state=draft&job_type=small")
    call("GET", A + "/probe-tasks?state=nonsense", 400)
    call("POST", A + "/probe-runs", 409, json={"probe_task_id": task["id"]})
    call("POST", A + f"/probe-tasks/{task['id']}:release", 409)
    call("POST", A + f"/probe-tasks/{task['id']}:test", 412, headers={"If-Match": '"99"'})
    call("POST", A + f"/probe-tasks/{task['id']}:test", 202)
    wait_until(lambda: call("GET", A + f"/probe-tasks/{task['id']}").json()["state"] == "tested", 120, "the pre-test")
    call("POST", A + f"/probe-tasks/{task['id']}:release")
    runs = call("POST", A + "/probe-runs", 201, json={"probe_task_id": task["id"]}).json()["items"]
    assert {run["center"] for run in runs} == {"alpha", "beta"}
    call("POST", A + "/probe-runs", 422, json={"probe_task_id": task["id"], "unit_count": 100000})
    call("POST", A + "/probe-runs", 201, json={"job_type": "small"})
    call("POST", A + "/probe-runs", 400, json={"job_type": "none such"})
    call("POST", A + "/probe-runs", 400, json={"selection": "user"})
    call("POST", A + "/probe-runs", 400, json={"selection": "ask"})
    call("POST", A + "/probe-runs", 400, json={"unit_counts": [0], "answer_wait_s": 3})
    call("POST", A + "/probe-runs", 400, json={"unit_count": 1, "count_by": "scaling"})
    asked = {"probe_task_id": task["id"], "selection": "ask", "answer_wait_s": 10, "unit_counts": [1, 2]}
    assert len(call("POST", A + "/probe-runs", 201, json=asked).json()["left_out"]) == 2
    call("POST", A + "/probe-runs", 201, json={"probe_task_id": task["id"], "selection": "center", "count_by": "center"})
    call("GET", A + "/probe-runs?state=failed")
    done = wait_until(lambda: (lambda run: run if run["state"] != "queued" else None)(
        call("GET", A + f"/probe-runs/{runs[0]['id']}").json()), 120, "the probe run")
    assert done["state"] == "succeeded", done["error"]
    assert done["units"] == [0] and len(done["cpus"]) == 1 and done["able_unit_types"]
    report = call("GET", A + f"/probe-orders/{done['order_id']}").json()
    assert done["id"] in {run["id"] for run in report["runs"]} and report["comparison"][0]["places"]
    call("GET", A + "/probe-orders/prn_none", 404)
    call("GET", A + f"/probe-runs?order={done['order_id']}")
    assert call("GET", A + f"/probe-tasks/{task['id']}/comparison").json()["comparison"]
    call("GET", A + "/probe-tasks/ptk_none/comparison", 404)
    diversity = call("GET", A + "/diversity?page_size=2").json()
    assert len(diversity["items"]) == 2 and diversity["next_page_token"]
    assert call("GET", A + "/diversity?operator=dgemm").json()["items"][0]["center_count"] == 2


def test_probe_schedules(call):
    order = {"name": "nightly", "cron": "30 2 * * mon-fri", "order": {"operators": [{"id": "dgemm"}]}}
    made = call("POST", A + "/probe-schedules", 201, json=order)
    call("POST", A + "/probe-schedules", 409, json=order)
    call("POST", A + "/probe-schedules", 400, json={**order, "cron": "30 2 * *"})
    call("POST", A + "/probe-schedules", 400, json={**order, "name": "x", "order": {"operators": [{"id": "no_such"}]}})
    assert [item["name"] for item in call("GET", A + "/probe-schedules?page_size=1").json()["items"]] == ["nightly"]
    assert len(call("GET", A + "/probe-schedules/nightly").json()["next_runs_at"]) == 5
    call("GET", A + "/probe-schedules/none", 404)
    tag = {"If-Match": made.headers["ETag"]}
    off = call("PATCH", A + "/probe-schedules/nightly", json={"enabled": False}, headers=tag).json()
    assert off["next_run_at"] is None and off["next_runs_at"] == []
    call("PATCH", A + "/probe-schedules/nightly", 412, json={"enabled": True}, headers=tag)
    call("PATCH", A + "/probe-schedules/nightly", 400, json={})
    call("DELETE", A + "/probe-schedules/nightly", 412, headers=tag)
    call("DELETE", A + "/probe-schedules/nightly", 204)


def test_probe_budgets(call):
    call("PATCH", A + "/centers/alpha", 400, json={"probe_share": 1.5})
    call("PATCH", A + "/centers/alpha", 400, json={})
    assert call("PATCH", A + "/centers/alpha", json={"probe_share": 0}).json()["probe_budget"]["limit_s"] == 0
    refused = call("POST", A + "/probe-runs", 422, json={"operators": [{"id": "dgemm"}], "centers": ["alpha"]}).json()
    assert "takes no probes" in refused["errors"][0]["detail"]
    both = call("POST", A + "/probe-runs", 201, json={"operators": [{"id": "dgemm", "parameters": {"m": 65}}]}).json()
    assert [run["center"] for run in both["items"]] == ["beta"] and len(both["left_out"]) == 1
    call("PATCH", A + "/centers/alpha", json={"probe_share": 0.001})


def test_operators_are_changed_and_uploaded(call, network, tmp_path):
    spmv = call("GET", A + "/operators/spmv")
    manifest = manifest_of(spmv.json())
    manifest["description"] += " Changed."
    tag = {"If-Match": spmv.headers["ETag"]}
    changed = call("PUT", A + "/operators/spmv", json={"manifest": manifest}, headers=tag).json()
    call("PUT", A + "/operators/spmv", 412, json={"manifest": {**manifest, "description": "y"}}, headers=tag)
    call("PUT", A + "/operators/spmv", 400, json={"manifest": {**manifest, "operation_count": "1"}})
    call("POST", A + "/operators", 409, json={"manifest": manifest})
    call("POST", A + "/operators", 400, json={"manifest": {**manifest, "id": "spmv2"}})
    assert len(call("GET", A + "/operators/spmv/versions?page_size=1").json()["items"]) == 1
    call("DELETE", A + f"/operators/spmv/versions/{changed['version']}", 204)
    call("DELETE", A + "/operators/spmv/versions/99", 404)
    call("GET", A + "/operators/spmv/versions/1/package", 404)

    key = json.loads(network.cli("--output", "json", "operator", "key", "create", "--output-file", tmp_path / "k"))
    public = pathlib.Path(key["public_key_file"]).read_text()
    call("POST", A + "/operator-keys", 201, json={"name": "openapi", "public_key_pem": public})
    call("POST", A + "/operator-keys", 409, json={"name": "openapi", "public_key_pem": public})
    call("POST", A + "/operator-keys", 400, json={"name": "openapi", "public_key_pem": "nonsense"})
    (tmp_path / "m.json").write_text(json.dumps({**manifest, "id": "from_openapi", "version": 1, "implementations": [
        {"resource_type": "cpu", "library": "uploaded"}]}))
    (tmp_path / "x.so").write_bytes(elf_header())
    network.cli("operator", "sign", "--manifest", tmp_path / "m.json", "--object", tmp_path / "x.so", "--key",
                tmp_path / "k", "-o", tmp_path / "p.json")
    package = json.loads((tmp_path / "p.json").read_text())
    call("POST", A + "/operators", 201, json={"package": package})
    call("POST", A + "/operators", 409, json={"package": package})
    call("POST", A + "/operators", 400, json={"package": {**package, "object_base64": "?"}})
    assert call("GET", A + "/operators/from_openapi/versions/1/package").json() == package
    assert call("GET", A + "/operator-keys").json()["items"][0]["operators"] == [{"id": "from_openapi", "version": 1}]
    call("DELETE", A + "/operators/from_openapi/versions/1", 204)
    call("DELETE", A + f"/operator-keys/{key['id']}")
    call("DELETE", A + "/operator-keys/0123456789abcdef", 404)


def test_price_books(call):
    call("GET", A + "/price-books/current", 404)
    document = {"currency": "EUR", "entries": [
        {"center": "alpha", "unit_type": "*", "per_unit_hour": "0.12", "unit_power_w": 11.5,
         "bands": [{"days": ["sat", "sun"], "from_hour": 6, "to_hour": 20, "per_unit_hour": "0.06"}]},
        {"center": "nowhere", "unit_type": "core", "per_unit_hour": "1"}]}
    book = call("POST", A + "/price-books", 201, json={"document": document}).json()
    assert book["in_force"] and book["document"] == document
    warnings = {warning["field"]: warning["detail"] for warning in book["warnings"]}
    assert "no center nowhere" in warnings["entries[1].center"]
    assert "beta/core-large has no price" in warnings["entries"]
    later = call("POST", A + "/price-books", 201, json={"document": document, "valid_from": "2040-01-01T00:00:00Z"})
    assert not later.json()["in_force"] and later.headers["Location"].endswith(f"/{later.json()['version']}")
    call("POST", A + "/price-books", 400, json={"document": document, "valid_from": "2020-01-01T00:00:00Z"})
    answer = call("POST", A + "/price-books", 400, json={"document": {
        "currency": "euro", "entries": [{"center": "alpha", "unit_type": "core", "per_unit_hour": 0.12}]}})
    assert {"document.currency", "document.entries[0].per_unit_hour"} == {e["field"] for e in answer.json()["errors"]}
    assert call("GET", A + "/price-books/current").json()["version"] == book["version"]
    page = call("GET", A + "/price-books?page_size=1").json()
    assert page["items"][0]["version"] == later.json()["version"]
    page = call("GET", A + f"/price-books?page_size=1&page_token={page['next_page_token']}").json()
    assert page["items"][0]["version"] == book["version"] and page["next_page_token"] is None
    call("GET", A + f"/price-books/{later.json()['version']}")
    call("GET", A + "/price-books/77", 404)
    call("GET", A + "/price-books/first", 404)
    trial = call("POST", A + "/price-books:try", json={"document": document, "from": "2020-01-01T00:00:00Z"}).json()
    assert trial["currency"] == "EUR"
    call("POST", A + "/price-books:try", 400, json={"document": document})


def test_billing(call, network):
    job = network.submit(command=["true"])["id"]
    network.wait_job(job)
    usage = wait_until(lambda: call("GET", A + f"/usage?job_id={job}").json()["items"], 60)[0]
    wait_until(lambda: call("GET", A + f"/jobs/{job}/cost").json()["is_final"], 60)
    call("GET", A + "/jobs/job_none/cost", 404)
    call("GET", A + f"/score-evidence/{usage['score_evidence_id']}")
    call("GET", A + "/score-evidence/none", 404)
    call("GET", A + "/usage?page_size=1&center=alpha&from=2026-01-01")
    call("GET", A + "/usage?from=yesterday", 400)
    period = usage["until"][:7]
    for form in ("json", "csv", "html"):
        call("GET", A + f"/statements?project=default&period={period}&format={form}")
    call("GET", A + f"/statements?center=alpha&period={period}")
    call("GET", A + "/statements?project=default", 400)
    assert call("GET", A + "/billing-periods").json()["items"][0]["state"] == "open"
    call("POST", A + f"/billing-periods/{period}/close", 409)
    call("POST", A + "/billing-periods/soon/close", 400)
    assert call("GET", A + "/ledger:verify").json()["good"]
    for form in ("focus", "jsonl", "ledger", "apel", "apel-summary", "sacct"):
        call("GET", A + f"/exports/{form}" + (f"?period={period}" if form != "ledger" else ""))
    call("GET", A + f"/exports/ledger?period={period}", 400)
    call("GET", A + "/exports/pdf", 404)
    call("GET", A + "/exports/focus?version=0.5", 400)


def test_export_schedules(call):
    order = {"name": "monthly", "cron": "0 5 3 * *", "format": "focus", "destination": "folder"}
    schedule = call("POST", A + "/export-schedules", 201, json=order).json()
    call("POST", A + "/export-schedules", 409, json=order)
    call("POST", A + "/export-schedules", 400, json={**order, "destination": "s3://bucket"})
    path = A + f"/export-schedules/{schedule['id']}"
    assert call("GET", A + "/export-schedules").json()["items"] == [call("GET", path).json()]
    call("GET", A + "/export-schedules/none", 404)
    call("PATCH", path, 400, json={"months": "next"})
    call("PATCH", path, 412, json={"months": "current"}, headers={"If-Match": '"99"'})
    call("PATCH", path, json={"months": "current", "parameters": {"project": "default"}})
    call("POST", path + "/run", 202)
    wait_until(lambda: call("GET", path).json()["last_file"], 60)
    call("PATCH", path, json={"enabled": False})
    call("POST", path + "/run", 409)
    call("DELETE", path, 412, headers={"If-Match": '"1"'})
    call("DELETE", path, 204)


def manifest_of(operator):
    """An operator as the server shows it, without what the server adds."""
    added = {"origin", "created_at", "created_by", "withdrawn_at", "withdrawn_by", "key_id", "object_sha256", "object_bytes"}
    return {name: value for name, value in operator.items() if name not in added}


def elf_header():
    """The least that says "shared object for x86_64"; nothing could load it."""
    return b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x03\x00\x3e\x00" + bytes(44)


def test_fetch_test(call):
    answer = call("GET", A + "/fetch-test?bytes=70000&seed=9")
    assert answer.content == bytes((i * 131 + (i >> 8) * 31 + 9) & 0xff for i in range(70000))
    assert answer.headers["Content-Length"] == "70000"
    call("GET", A + "/fetch-test?bytes=0&seed=x", 400)


def test_metering(call):
    policies = call("GET", A + "/metric-policies").json()["items"]
    call("GET", A + f"/metric-policies/{policies[0]['id']}")
    document = {"id": "points", "kind": "intervals",
                "figures": [{"figure": "time_s", "weight": 1, "steps": [{"below": 1, "points": 100}, {"points": 10}]}]}
    call("POST", A + "/metric-policies", 201, json={"document": document})
    call("POST", A + "/metric-policies", 400, json={"document": {"id": "points"}})
    call("POST", A + "/metric-policies:try", json={"document": dict(document, id="tried")})
    call("POST", A + "/metric-policies:try", json={"policy": "points@1"})
    call("POST", A + "/metric-policies:try", 400, json={"policy": "no_such"})
    call("POST", A + "/metric-policies", 201, json={"document": {
        "id": "mixed", "kind": "combined", "policies": [{"policy": "points", "weight": 0.25},
                                                        {"policy": policies[0]["id"] + "@1", "weight": 0.75}],
        "aggregate": {"categories": {"hpc": 1}, "operators": {"hpc": {"dgemm": 1}}}}})
    call("POST", A + "/metric-policies/points:activate", json={})
    scores = call("GET", A + "/scores?policy=points@1&page_size=1").json()
    assert scores["items"]
    call("GET", A + "/scores?policy=no_such", 400)
    call("POST", A + f"/metric-policies/{policies[0]['id']}:activate")
    call("GET", A + "/scores?operator=dgemm")
    for by in ("category", "unit_type", "job_type"):
        page = call("GET", A + f"/scores?by={by}&policy=mixed&page_size=2").json()
        assert all(score["by"] == by for score in page["items"]) and (page["items"] or by == "job_type")
    refused = call("GET", A + "/scores?by=luck&page_size=1", 400).json()
    assert [error["field"] for error in refused["errors"]] == ["by"]
    call("GET", A + "/scores?by=category&job_type=x", 400)
    measured = scores["items"][0]
    history = A + f"/scores/history?operator={measured['operator']}&unit_type={measured['unit_type_id']}"
    counted = f"&version={measured['operator_version']}&unit_count={measured['unit_count']}"
    points = call("GET", history + counted + "&since=2020-01-01T00:00:00Z&page_size=1").json()["items"]
    assert points[0]["probe_run_id"]
    size = ",".join(f"{name}={value}" for name, value in points[0]["parameters"].items())
    assert call("GET", history + f"&parameters={size}").json()["items"]
    refused = call("GET", history + "&parameters=large&since=2030-01-01T00:00:00Z&until=2020-01-01T00:00:00Z", 400).json()
    assert {error["field"] for error in refused["errors"]} == {"parameters", "until"}
    refused = call("GET", A + "/scores/history", 400).json()
    assert {error["field"] for error in refused["errors"]} == {"unit_type", "operator"}
    call("GET", A + "/scaling-curves")
    call("GET", A + "/network-windows?size_bytes=1e9")
    refused = call("GET", A + "/network-windows?size_bytes=-1&latest_start=never", 400).json()
    assert {error["field"] for error in refused["errors"]} == {"size_bytes", "latest_start"}
    assert call("GET", A + "/trust").json()["verification"]["enabled"]
    # Computed with what others leave of the processors.
    wait_until(lambda: call("GET", A + "/trust").json()["items"][0]["verified"]["result_count"] > 0, 300, "a verified result")
    call("GET", A + "/predictions?ended=true&page_size=1")
    call("GET", A + "/predictions?center=alpha&unit_type=alpha/core&job_type=x")
    refused = call("GET", A + "/predictions?ended=maybe", 400).json()
    assert [error["field"] for error in refused["errors"]] == ["ended"]
    call("GET", A + "/predictions:calibration")
    call("GET", A + "/probe-findings?open=true&kind=clock&page_size=1")
    refused = call("GET", A + "/probe-findings?open=maybe&kind=luck", 400).json()
    assert {error["field"] for error in refused["errors"]} == {"open", "kind"}
    call("POST", A + "/probe-findings/999999:dismiss", 404, json={"reason": "none such"})
    call("POST", A + "/probe-findings/1:dismiss", 400, json={"reason": ""})


def test_jobs(call):
    job = call("POST", A + "/jobs", 201, json={"command": ["/bin/echo", "hello"]}).json()
    call("POST", A + "/jobs", 201, json=[{"command": ["/bin/true"]}, {"script": "#!/bin/sh\nexit 3\n"}])
    call("POST", A + "/jobs", 400, json={"command": ["/bin/true"], "surplus": 1})
    call("POST", A + "/jobs", 422, json={"command": ["/bin/true"], "units": {"count": 100000, "max": 100000}})
    call("POST", A + "/placements:preview", json={"command": ["/bin/true"], "operators": [{"id": "dgemm"}]})
    moving = {"command": ["/bin/true"], "operators": [{"id": "dgemm"}], "network": "auto", "deadline": "2099-01-01T00:00:00Z",
              "data": {"in": [{"url": "https://data.example/a", "bytes": 1e9}], "out_bytes": 1e6},
              "units": {"count": "auto", "ignore_knee": True}}
    call("POST", A + "/placements:preview", json=moving)
    otherwise = {"exclude_centers": ["alpha"], "free_centers": ["beta"], "now": "2098-01-01T00:00:00Z"}
    asked = call("POST", A + "/placements:preview", json={**moving, "what_if": otherwise}).json()
    assert asked["what_if_decision"]["filter_trace"]["steps"]
    call("POST", A + "/placements:preview", 400, json={**moving, "what_if": {"only_centers": ["none"]}})
    call("POST", A + "/jobs", 400, json={**moving, "deadline": "2020-01-01T00:00:00Z"})
    text = call("GET", A + f"/jobs/{job['id']}/logs/stdout?follow=true").text
    assert text == "hello\n"
    call("GET", A + "/jobs?label=all")
    call("GET", A + "/jobs?sort=-name")
    for by in ("state", "project", "type", "center"):
        assert call("GET", A + f"/job-groups?by={by}").json()["groups"]
    call("GET", A + "/job-groups", 400)
    call("GET", A + f"/jobs/{job['id']}")
    call("GET", A + f"/jobs/{job['id']}/events")
    call("GET", A + f"/jobs/{job['id']}/placement")
    assert call("GET", A + f"/jobs/{job['id']}/placement?inputs=true").json()["inputs"]["request"]
    call("GET", A + f"/jobs/{job['id']}/placement?inputs=perhaps", 400)
    decided = call("GET", A + f"/jobs/{job['id']}/placement").json()["cycle_id"]
    wait_until(lambda: decided in call("GET", A + "/cycles?page_size=100").text, 60, "the job's cycle to be kept")
    assert call("GET", A + f"/cycles/{decided}/replay").json()["is_same"]
    assert call("GET", A + f"/cycles/{decided}/replay?job={job['id']}").json()["job"]["is_start"]
    call("GET", A + f"/cycles/{decided}/replay?job=none", 400)
    call("POST", A + f"/jobs/{job['id']}:cancel", 409)
    sleeper = call("POST", A + "/jobs", 201, json={"command": ["/bin/sleep", "600"]}).json()
    call("POST", A + f"/jobs/{sleeper['id']}:cancel", 202)
    call("GET", A + "/jobs/job_wrong", 404)


def in_hours(hours):
    import datetime
    moment = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=hours)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def test_reservations_and_maintenance(call):
    unit_type = call("GET", A + "/unit-types?center=beta").json()["items"][0]
    units = unit_type["unit_count"]
    call("PUT", A + "/projects/p", json={"share": 1})
    order = {"project": "p", "center": "beta", "unit_type": unit_type["name"], "unit_count": units,
             "starts_at": in_hours(48), "ends_at": in_hours(50)}
    made = call("POST", A + "/reservations", 201, json=order).json()
    taken = call("POST", A + "/reservations", 409, json={**order, "unit_count": 1}).json()
    assert {error["field"] for error in taken["errors"]} == {"unit_count", "starts_at"}
    assert made["ends_at"][:19] in taken["errors"][1]["detail"]
    call("POST", A + "/reservations", 422, json={**order, "unit_count": units + 1})
    wrong = call("POST", A + "/reservations", 400, json={"center": "", "unit_count": 0, "starts_at": in_hours(-2), "x": 1})
    assert {error["field"] for error in wrong.json()["errors"]} == {
        "center", "unit_type", "unit_count", "starts_at", "ends_at", "x"}
    call("POST", A + "/reservations", 400, json={**order, "center": "nowhere"})
    call("GET", A + f"/reservations/{made['id']}")
    call("GET", A + "/reservations/rsv_none", 404)
    assert [one["id"] for one in call("GET", A + "/reservations?project=p&open=true&page_size=1").json()["items"]] == [made["id"]]
    call("GET", A + "/reservations?open=perhaps", 400)

    window = {"center": "beta", "starts_at": in_hours(49), "ends_at": in_hours(51), "reason": "cooling"}
    met = call("POST", A + "/maintenance-windows", 409, json=window).json()
    assert made["id"] in met["errors"][0]["detail"]
    planned = call("POST", A + "/maintenance-windows", 201, json={**window, "cancel_reservations": True}).json()
    assert planned["cancelled_reservations"] == [made["id"]]
    assert call("GET", A + f"/reservations/{made['id']}").json()["state"] == "cancelled"
    call("POST", A + "/reservations", 409, json=order)
    call("POST", A + "/maintenance-windows", 400, json={"center": "beta", "ends_at": in_hours(-1)})
    call("GET", A + f"/maintenance-windows/{planned['id']}")
    call("GET", A + "/maintenance-windows?center=beta&open=true")
    assert call("DELETE", A + f"/maintenance-windows/{planned['id']}").json()["state"] == "cancelled"
    call("DELETE", A + "/maintenance-windows/mnt_none", 404)
    again = call("POST", A + "/reservations", 201, json=order).json()
    assert call("DELETE", A + f"/reservations/{again['id']}").json()["cancelled_at"]
    call("DELETE", A + f"/reservations/{again['id']}")


def test_speedup(call):
    question = {"class": "quadratic", "seconds_per_100mb": 0.2, "input_gb": 1, "machines": 1000, "per_aggregation": 10,
                "network_gb_s": 10, "bus_gb_s": 12.8, "gpu_parallelism": 64}
    answer = call("POST", A + "/speedup:predict", json=question).json()
    assert set(answer) == {"cpu_s", "gpu_s", "speedup", "run_on"} and abs(answer["speedup"] - 2.3162) < 5e-5
    call("POST", A + "/speedup:predict", 400, json={**question, "seconds_per_100mb": 0, "center": "alpha"})
    open_question = {"class": "linear", "input_gb": 1, "machines": 10, "gpu_parallelism": 64, "center": "alpha",
                     "network_gb_s": 1, "operator": "dgemm"}
    known = call("POST", A + "/speedup:predict", json=open_question).json()
    assert known["coefficients"]["seconds_per_100mb"]["source"] == "measured"
    assert known["coefficients"]["bus_gb_s"]["source"] == "default"
    missing = call("POST", A + "/speedup:predict", 400, json={**open_question, "operator": "never"}).json()
    assert "was not measured" in missing["errors"][0]["detail"]
    call("POST", A + "/speedup:predict", 400, json={**open_question, "center": "nowhere"})
    del question["seconds_per_100mb"]
    assert len(call("POST", A + "/speedup:curve", json={**question, "points": 5}).json()["items"]) == 5
    call("POST", A + "/speedup:curve", 400, json={**question, "points": 1})
    call("GET", A + "/speedup-accuracy?center=alpha&page_size=1")


def test_what_jobs_teach(call):
    job = call("POST", A + "/jobs", 201, json={"command": ["/bin/true"], "type": "openapi/taught", "metering_wait_s": 0,
                                               "operators": [{"id": "dgemm", "parameters": {"m": 80}, "count": 3000}]}).json()
    call("GET", A + f"/jobs/{job['id']}/operators")
    call("GET", A + "/jobs/job_wrong/operators", 404)
    path = A + "/job-types/openapi%2Ftaught"
    wait_until(lambda: call.session.get(call.url + path).status_code == 200, 120, "the learned type")
    call("GET", path)
    call("GET", A + "/job-types/none", 404)
    call("GET", A + "/job-types")
    many = call("POST", A + "/probe-tasks", 201, json={"from_job": job["id"], "form": "several_tasks"}).json()["items"]
    call("POST", A + f"/probe-tasks/{many[0]['id']}:retire")
    call("POST", A + "/probe-tasks", 400, json={"from_job": "job_wrong"})
    call("PUT", A + "/projects/p", json={"profile_jobs": False})
    call("PUT", A + "/projects/p", 412, json={"profile_jobs": True}, headers={"If-Match": '"99"'})
    call("PUT", A + "/projects/p", 400, json={})
    call("GET", A + "/projects/p")
    call("GET", A + "/projects/none", 404)
    shared = {"share": 2, "most_units": 100, "most_score_hours": 1e6, "most_cost": "1000.50", "centers": ["alpha"]}
    assert call("PUT", A + "/projects/p", json=shared).json()["most_cost"] == "1000.5"
    refused = call("PUT", A + "/projects/p", 400, json={"share": 0, "most_cost": 5, "centers": ["a", "a"]}).json()
    assert {error["field"] for error in refused["errors"]} == {"share", "most_cost", "centers"}
    refused = call("PUT", A + "/projects/p", 400, json={"centers": ["nowhere"]}).json()
    assert "there are alpha" in refused["errors"][0]["detail"]
    call("GET", A + "/projects/p/use")
    call("GET", A + "/projects/none/use")
    call("GET", A + "/projects")


def test_project_members(call):
    token = call("POST", A + "/tokens", 201, json={"name": "member", "role": "user", "valid_s": 600}).json()
    path = A + "/projects/closed/members"
    call("PUT", path + "/nobody", 400, json={})
    member = call("PUT", path + f"/{token['id']}", json={"reserve_unit_hours": 12.5}).json()
    assert call("GET", path).json()["items"] == [member]
    call("PUT", path + f"/{token['id']}", 400, json={"reserve_unit_hours": -1})
    call("DELETE", path + "/member", 409)
    call("DELETE", path + "/nobody", 404)
    call("DELETE", path + "/member?open=perhaps", 400)
    call("DELETE", path + "/member?open=true")
    call("DELETE", A + f"/tokens/{token['id']}", 204)


def test_tokens(call):
    token = call("POST", A + "/tokens", 201, json={"name": "t", "role": "viewer", "valid_s": 60}).json()
    call("GET", A + "/tokens")
    call("DELETE", A + f"/tokens/{token['id']}", 204)
    call("POST", A + "/tokens", 400, json={"name": "t", "role": "king"})


def test_accounts_sessions_and_the_audit_log(call):
    ada = {"name": "ada", "role": "viewer", "password": "correct horse battery"}
    call("POST", A + "/users", 201, json=ada)
    call("POST", A + "/users", 409, json=ada)
    call("POST", A + "/users", 400, json={"name": "a/b", "role": "king", "password": "short"})
    call("GET", A + "/users/ada")
    assert [user["name"] for user in call("GET", A + "/users").json()["items"]] == ["ada"]
    browser = copy.copy(call)  # what it calls is seen as called by both
    browser.session = requests.Session()
    browser.session.trust_env, browser.session.verify = False, call.session.verify
    browser("GET", A + "/session", 401)
    browser("POST", A + "/session", 401, json={"name": "ada", "password": "wrong horse"})
    browser("POST", A + "/session", 400, json={"name": "ada"})
    session = browser("POST", A + "/session", json={"name": "ada", "password": ada["password"]}).json()
    assert browser("GET", A + "/session").json() == session and session["account"] == "ada"
    new = {"old_password": ada["password"], "new_password": "incorrect horse battery"}
    browser("POST", A + "/session/password", 403, json=new)
    csrf = {"X-CSRF-Token": session["csrf_token"]}
    browser("POST", A + "/session/password", 204, json=new, headers=csrf)
    browser("DELETE", A + "/session", 204, headers=csrf)
    browser("GET", A + "/session", 401)
    assert call("GET", A + "/session").json()["csrf_token"] is None
    call("PATCH", A + "/users/ada", json={"role": "expert", "disabled": True})
    browser("POST", A + "/session", 401, json={"name": "ada", "password": new["new_password"]})
    call("DELETE", A + "/users/ada", 204)
    call("DELETE", A + "/users/ada", 404)
    acts = call("GET", A + "/audit-log", params={"subject": "ada", "page_size": 2}).json()
    assert [act["action"] for act in acts["items"]] == ["account.remove", "account.change"]
    call("GET", A + "/audit-log", 400, params={"page_token": "zzz"})
    checked = wait_until(lambda: (answer := call("GET", A + "/audit-log:verify").json())["unchained"] == 0 and answer, 60)
    assert checked["good"] and checked["acts"] == checked["last_number"] > 5
    known = f"{checked['last_number']}:{checked['last_sha256']}"
    assert call("GET", A + "/audit-log:verify", params={"known": known}).json()["good"]
    call("GET", A + "/audit-log:verify", 400, params={"known": "1:x"})


def test_without_a_provider_only_passwords_and_tokens_sign_in(call):
    assert call("GET", A + "/session/oidc").json() == {"name": None}
    call("GET", A + "/session/oidc/start", 404)
    call("GET", A + "/session/oidc/callback?state=x&code=y", 404)


def test_a_repeated_post_is_replayed(call):
    headers = {"Idempotency-Key": "openapi-once"}
    first = call("POST", A + "/jobs", 201, json={"command": ["/bin/true"]}, headers=headers)
    again = call("POST", A + "/jobs", 201, json={"command": ["/bin/true"]}, headers=headers)
    assert again.json()["id"] == first.json()["id"]
    assert again.headers["Idempotent-Replayed"] == "true"
    call("POST", A + "/jobs", 409, json={"command": ["/bin/false"]}, headers=headers)


def test_events(call):
    with call.session.get(call.url + A + "/events", stream=True, timeout=60, headers={"Last-Event-ID": "0"}) as answer:
        assert answer.headers["Content-Type"].startswith("text/event-stream")
        data = next(line for line in answer.iter_lines(decode_unicode=True) if line.startswith("data:"))
    schema = {"$ref": "#/components/schemas/JobEvent"}
    assert not check.schema_errors(schema, check.yaml.safe_load(data[len("data:"):]))
    call.seen.add("streamEvents")


def test_strangers_are_refused(network):
    answer = requests.get(network.url + A + "/centers", verify=str(network.ca), timeout=60)
    assert answer.status_code == 401
    check.check_requests_response(answer)


SUB_UNITS = """cores = "0"
[[device]]
kind = "npu"
count = 20
variable = "NPU"
[[unit_type]]
name = "npu"
resource_type = "npu"
cores_per_unit = 0
memory_bytes_per_unit = 1000000
[[sub_units]]
kind = "npu-part"
unit_type = "npu"
total = 10
"""


def test_sub_units(call, network):
    for name in ("lender", "borrower"):  # at the end: other tests know who is there
        network.add_agent(name, SUB_UNITS)

    def settled():
        kinds = call("GET", A + "/sub-units?page_size=1").json()["items"]
        return len(kinds) == 1 and len(kinds[0]["centers"]) == 2 and all(c["settled"] for c in kinds[0]["centers"])

    wait_until(settled, 60, "both centers having their own")
    order = {"center": "borrower", "kind": "npu-part", "action": "gain", "count": 4, "reason": "busy"}
    gain = call("POST", A + "/sub-unit-requests", 201, json=order).json()
    call("POST", A + "/sub-unit-requests", 409, json=order)
    call("POST", A + "/sub-unit-requests", 422, json={**order, "center": "lender", "count": 11})
    wrong = call("POST", A + "/sub-unit-requests", 400, json={**order, "action": "steal", "count": 0, "x": 1}).json()
    assert {error["field"] for error in wrong["errors"]} == {"action", "count", "x"}
    balance = {"center": "lender", "kind": "npu-part", "action": "balance", "transfer_load": 1, "compute_load": 0.6}
    release = call("POST", A + "/sub-unit-requests", 201, json=balance).json()
    assert (release["action"], release["count"]) == ("release", 4)
    grant = wait_until(lambda: [g for g in call("GET", A + "/sub-unit-grants?kind=npu-part&center=lender").json()["items"]
                                if g["state"] == "granted"], 60, "the grant")[0]
    wait_until(lambda: call("GET", A + f"/sub-unit-requests/{gain['id']}").json()["state"] == "done", 60)
    call("GET", A + "/sub-unit-requests/sur_none", 404)
    call("GET", A + "/sub-unit-requests?kind=npu-part&center=borrower&open=false&page_size=1")
    call("GET", A + "/sub-unit-requests?open=perhaps", 400)
    call("DELETE", A + f"/sub-unit-requests/{gain['id']}", 409)
    call("DELETE", A + "/sub-unit-requests/sur_none", 404)
    waiting = call("POST", A + "/sub-unit-requests", 201, json={**order, "count": 1}).json()
    assert call("DELETE", A + f"/sub-unit-requests/{waiting['id']}").json()["state"] == "cancelled"
    back = call("POST", A + f"/sub-unit-grants/{grant['id']}:undo", 201, json={}).json()
    assert back["undo_of"] == grant["id"]
    call("POST", A + "/sub-unit-grants/sug_none:undo", 404, json={})
    wait_until(settled, 60, "both having their own again")
    call("POST", A + f"/sub-unit-grants/{grant['id']}:undo", 409, json={})
    events = call("GET", A + "/sub-unit-events?kind=npu-part&page_size=2").json()
    call("GET", A + f"/sub-unit-events?kind=npu-part&page_token={events['next_page_token']}")


def test_shared_gpus(call):
    assert call("GET", A + "/shared-gpus?center=alpha&job=job_none&page_size=1").json()["items"] == []


def test_balance(call, network):
    gpu = BalancedGpu(network, name="balancer")  # at the end: other tests know who is there
    gpu.run_job()
    gpu.wait_for_steps(2)
    units = call("GET", A + "/balanced-units?center=balancer&page_size=1").json()["items"]
    assert units[0]["unit"] == "gpu0" and units[0]["last"]["dry_run"]
    steps = A + "/centers/balancer/units/gpu0/balance"
    page = call("GET", steps + "?page_size=1&since=2026-01-01T00:00:00Z").json()
    call("GET", steps + f"?page_size=1&page_token={page['next_page_token']}")
    call("GET", steps + "?since=yesterday", 400)
    call("GET", A + "/centers/balancer/units/none/balance", 404)
    call("GET", A + "/centers/balancer/units/none/balance/events", 404)
    with call.session.get(network.url + steps + "/events?after=0", stream=True, timeout=60) as answer:
        assert answer.headers["Content-Type"].startswith("text/event-stream")
        data = next(line for line in answer.iter_lines(decode_unicode=True) if line.startswith("data:"))
    assert not check.schema_errors({"$ref": "#/components/schemas/BalanceStep"}, json.loads(data[len("data:"):]))
    call.seen.add("streamBalanceSteps")


def test_every_operation_was_held_to_the_document(call):
    everything = {operation["operationId"] for _, _, operation in check.operations()}
    assert everything - call.seen == set()
