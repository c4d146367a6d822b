"""The running server answers as the document says: operators, probes, their schedules and budgets."""
import json
import pathlib

from network import wait_until
from openapi_caller import A


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
    asked = {"probe_task_id": task["id"], "selection": "ask", "answer_wait_s": 30, "unit_counts": [1, 2]}
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


def test_operators_are_changed_and_uploaded(call, shared_network, tmp_path):
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

    key = json.loads(shared_network.cli("--output", "json", "operator", "key", "create", "--output-file", tmp_path / "k"))
    public = pathlib.Path(key["public_key_file"]).read_text()
    call("POST", A + "/operator-keys", 201, json={"name": "openapi", "public_key_pem": public})
    call("POST", A + "/operator-keys", 409, json={"name": "openapi", "public_key_pem": public})
    call("POST", A + "/operator-keys", 400, json={"name": "openapi", "public_key_pem": "nonsense"})
    (tmp_path / "m.json").write_text(json.dumps({**manifest, "id": "from_openapi", "version": 1, "implementations": [
        {"resource_type": "cpu", "library": "uploaded"}]}))
    (tmp_path / "x.so").write_bytes(elf_header())
    shared_network.cli("operator", "sign", "--manifest", tmp_path / "m.json", "--object", tmp_path / "x.so", "--key",
                       tmp_path / "k", "-o", tmp_path / "p.json")
    package = json.loads((tmp_path / "p.json").read_text())
    call("POST", A + "/operators", 201, json={"package": package})
    call("POST", A + "/operators", 409, json={"package": package})
    call("POST", A + "/operators", 400, json={"package": {**package, "object_base64": "?"}})
    assert call("GET", A + "/operators/from_openapi/versions/1/package").json() == package
    assert call("GET", A + "/operator-keys").json()["items"][0]["operators"] == [{"id": "from_openapi", "version": 1}]
    call("DELETE", A + "/operators/from_openapi/versions/1", 204)
    call("DELETE", A + f"/operator-keys/{key['id']}")
    review_operators(call, shared_network, tmp_path)
    call("DELETE", A + "/operator-keys/0123456789abcdef", 404)


def review_operators(call, shared_network, tmp_path):
    """What a center's key signed is approved, or rejected, by somebody else."""
    key = json.loads(shared_network.cli("--output", "json", "operator", "key", "create", "--output-file", tmp_path / "c"))
    public = pathlib.Path(key["public_key_file"]).read_text()
    call("POST", A + "/operator-keys", 400, json={"name": "c", "public_key_pem": public, "center": "nowhere"})
    call("POST", A + "/operator-keys", 201, json={"name": "c", "public_key_pem": public, "center": "alpha"})
    manifest = json.loads((tmp_path / "m.json").read_text())
    expert = call("POST", A + "/tokens", 201, json={"name": "of a center", "role": "expert"}).json()["token"]
    reviews = []
    for name in ("from_center", "not_from_center"):
        (tmp_path / "c.json").write_text(json.dumps({**manifest, "id": name}))
        shared_network.cli("operator", "sign", "--manifest", tmp_path / "c.json", "--object", tmp_path / "x.so", "--key",
                           tmp_path / "c", "-o", tmp_path / "c-package.json")
        package = json.loads((tmp_path / "c-package.json").read_text())
        call("POST", A + "/operators", 409, json={"package": package})
        submit = {"json": {"package": package}, "headers": {"Authorization": f"Bearer {expert}"}}
        reviews.append(call("POST", A + "/operator-reviews", 201, **submit).json()["id"])
        call("POST", A + "/operator-reviews", 409, **submit)
    call("POST", A + "/operator-reviews", 400, json={"package": {}})
    assert len(call("GET", A + "/operator-reviews?state=awaiting_review").json()["items"]) == 2
    assert call("GET", A + f"/operator-reviews/{reviews[1]}/package").json() == package
    call("POST", A + f"/operator-reviews/{reviews[0]}:approve")
    call("POST", A + f"/operator-reviews/{reviews[0]}:approve", 409)
    call("GET", A + f"/operator-reviews/{reviews[0]}/package", 404)
    call("POST", A + f"/operator-reviews/{reviews[1]}:reject", 400, json={})
    call("POST", A + f"/operator-reviews/{reviews[1]}:reject", json={"reason": "not wanted"})
    call("POST", A + "/operator-reviews/orv_0:approve", 404)
    call("DELETE", A + "/operators/from_center/versions/1", 204)
    call("DELETE", A + f"/operator-keys/{key['id']}")


def manifest_of(operator):
    """An operator as the server shows it, without what the server adds."""
    added = {"origin", "created_at", "created_by", "withdrawn_at", "withdrawn_by", "key_id", "object_sha256", "object_bytes"}
    return {name: value for name, value in operator.items() if name not in added}


def elf_header():
    """The least that says "shared object for x86_64"; nothing could load it."""
    return b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x03\x00\x3e\x00" + bytes(44)
