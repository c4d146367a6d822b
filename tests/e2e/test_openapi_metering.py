"""The running server answers as the document says: scores, what measurements tell."""
from network import wait_until
from openapi_caller import A


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
    call("GET", A + "/load-curves?unit_type=alpha/core")
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
    call("GET", A + "/predictions:operators?operator=dgemm&unit_type=alpha/core&center=alpha")
    call("GET", A + "/probe-findings?open=true&kind=clock&page_size=1")
    refused = call("GET", A + "/probe-findings?open=maybe&kind=luck", 400).json()
    assert {error["field"] for error in refused["errors"]} == {"open", "kind"}
    call("POST", A + "/probe-findings/999999:dismiss", 404, json={"reason": "none such"})
    call("POST", A + "/probe-findings/1:dismiss", 400, json={"reason": ""})
