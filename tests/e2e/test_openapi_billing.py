"""The running server answers as the document says: prices, usage, statements, exports."""
from network import wait_until
from openapi_caller import A


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


def test_billing(call, shared_network):
    job = shared_network.submit(command=["true"])["id"]
    shared_network.wait_job(job)
    usage = wait_until(lambda: call("GET", A + f"/usage?job_id={job}").json()["items"], 120)[0]
    wait_until(lambda: call("GET", A + f"/jobs/{job}/cost").json()["is_final"], 120)
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
    assert call("POST", A + "/billing-periods/2020-01/close").json()["state"] == "closed"
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
    wait_until(lambda: call("GET", path).json()["last_file"], 120)
    call("PATCH", path, json={"enabled": False})
    call("POST", path + "/run", 409)
    call("DELETE", path, 412, headers={"If-Match": '"1"'})
    call("DELETE", path, 204)
