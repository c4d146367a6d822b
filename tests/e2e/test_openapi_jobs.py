"""The running server answers as the document says: jobs, their projects, what is reserved for them, what they teach."""
import datetime

import openapi_check as check
from network import wait_until
from openapi_caller import A


def test_jobs(call, shared_network):
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
    shared_network.wait_job(job["id"])
    doubled = call("POST", A + "/simulations", json={
        "days": 1, "max_jobs": 100, "changes": [{"kind": "scale_units", "center": "beta", "factor": 2}]}).json()
    assert doubled["job_count"] > 0 and [one["center"] for one in doubled["after"]["centers"]] == ["alpha", "beta"]
    call("POST", A + "/simulations", 400, json={"changes": []})
    call("POST", A + "/simulations", 400, json={"changes": [{"kind": "remove_center", "center": "none"}]})
    call("POST", A + "/jobs", 400, json={**moving, "deadline": "2020-01-01T00:00:00Z"})
    text = call("GET", A + f"/jobs/{job['id']}/logs/stdout?follow=true").text
    assert text == "hello\n"
    assert call("GET", A + f"/jobs/{job['id']}/logs/stdout?attempt=1").text == "hello\n"
    call("GET", A + f"/jobs/{job['id']}/logs/stdout?attempt=2", 404)
    call("GET", A + f"/jobs/{job['id']}/output?path=none", 404)
    call("GET", A + f"/jobs/{job['id']}/output", 400)
    call("GET", A + "/jobs?label=all")
    begun = f"submitted_after={job['submitted_at']}&name={job['name']}"
    assert job["id"] in call("GET", A + f"/jobs?{begun}&submitted_by={job['submitted_by']}").text
    assert job["id"] not in call("GET", A + f"/jobs?submitted_before={job['submitted_at']}").text
    assert call("GET", A + "/jobs?center=none&unit_type=none/none&type=none").json()["items"] == []
    call("GET", A + "/jobs?submitted_after=yesterday", 400)
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
    wait_until(lambda: decided in call("GET", A + "/cycles?page_size=100").text, 120, "the job's cycle to be kept")
    cycle = call("GET", A + f"/cycles/{decided}").json()
    listed = call("GET", A + f"/cycles/{decided}/jobs?page_size=1000").json()["items"]
    assert len(listed) == cycle["job_count"] and job["id"] in [one["job_id"] for one in listed if one["is_start"]]
    within = {"since": cycle["decided_at"], "until": "2100-01-01T00:00:00Z", "page_size": 1000}
    assert decided in [one["id"] for one in call("GET", A + "/cycles", params=within).json()["items"]]
    call("GET", A + "/cycles", 400, params={"since": within["until"], "until": within["since"]})
    call("GET", A + "/cycles/none", 404)
    call("GET", A + "/cycles/none/jobs", 404)
    assert call("GET", A + f"/cycles/{decided}/replay").json()["is_same"]
    assert call("GET", A + f"/cycles/{decided}/replay?job={job['id']}").json()["job"]["is_start"]
    call("GET", A + f"/cycles/{decided}/replay?job=none", 400)
    call("POST", A + f"/jobs/{job['id']}:cancel", 409)
    sleeper = call("POST", A + "/jobs", 201, json={"command": ["/bin/sleep", "600"]}).json()
    call("POST", A + f"/jobs/{sleeper['id']}:cancel", 202)
    token = call("POST", A + "/tokens", 201, json={"name": "other", "role": "user", "valid_s": 600}).json()["token"]
    others = call("POST", A + "/jobs", 201, json={"command": ["/bin/sleep", "600"]}, headers={"Authorization": f"Bearer {token}"}).json()
    call("POST", A + f"/jobs/{others['id']}:cancel", 202)
    call("GET", A + "/jobs/job_wrong", 404)


def test_a_repeated_post_is_replayed(call):
    headers = {"Idempotency-Key": "openapi-once"}
    first = call("POST", A + "/jobs", 201, json={"command": ["/bin/true"]}, headers=headers)
    again = call("POST", A + "/jobs", 201, json={"command": ["/bin/true"]}, headers=headers)
    assert again.json()["id"] == first.json()["id"]
    assert again.headers["Idempotent-Replayed"] == "true"
    call("POST", A + "/jobs", 409, json={"command": ["/bin/false"]}, headers=headers)


def test_events(call):
    with call.session.get(call.url + A + "/events", stream=True, timeout=120, headers={"Last-Event-ID": "0"}) as answer:
        assert answer.headers["Content-Type"].startswith("text/event-stream")
        data = next(line for line in answer.iter_lines(decode_unicode=True) if line.startswith("data:"))
    schema = {"$ref": "#/components/schemas/JobEvent"}
    assert not check.schema_errors(schema, check.yaml.safe_load(data[len("data:"):]))
    call.seen.add("streamEvents")


def in_hours(hours):
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
    call("POST", A + "/speedup:predict", 400, json={**question, "class": "measured"})
    measured = call("POST", A + "/speedup:predict", json={**question, "class": "measured", "exponent": 2}).json()
    assert abs(measured["speedup"] - answer["speedup"]) < 1e-9
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
    assert call("GET", A + f"/jobs/{job['id']}/gpus").json()["items"] == []
    call("GET", A + "/jobs/job_wrong/gpus", 404)
    path = A + "/job-types/openapi%2Ftaught"
    wait_until(lambda: call.session.get(call.url + path, timeout=120).status_code == 200, 120, "the learned type")
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
    shared = {"share": 2, "max_units": 100, "max_score_hours": 1e6, "max_cost": "1000.50", "centers": ["alpha"]}
    assert call("PUT", A + "/projects/p", json=shared).json()["max_cost"] == "1000.5"
    refused = call("PUT", A + "/projects/p", 400, json={"share": 0, "max_cost": 5, "centers": ["a", "a"]}).json()
    assert {error["field"] for error in refused["errors"]} == {"share", "max_cost", "centers"}
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
