"""From a job to a released probe task (M3–M7, M10, M11): tried first, refused with its figure, composed, learned."""
import json
import math
import os
import subprocess

import pytest

import openapi_check
from network import BIN, wait_until

SIZE = {"m": 320, "n": 320, "k": 320}


def events(network, job):
    return [(e["state"], e["cause"]) for e in network.rest.items(f"/jobs/{job['id']}/events")]


def task_in(network, task_id, *states):
    return wait_until(lambda: (lambda task: task if task["state"] in states else None)(
        network.rest.get(f"/probe-tasks/{task_id}")), 120, f"task {task_id} being {states}")


def compose(network, operators, name, **more):
    return network.rest.post("/probe-tasks", {"document": {"name": name, "operators": operators, **more}})


def sizes_of(task):
    """Of each operator, in their order: the product of its parameters."""
    return [math.prod(o["parameters"].values()) for o in task["document"]["operators"]]


def bases_of(placement):
    """What the times of operators rest on, at all candidates."""
    return {o["basis"] for c in placement["decision"]["candidates"] for o in c["prediction"]["operators"]}


def test_a_job_of_an_unmeasured_type_is_tried_released_measured_and_placed(network):
    job = network.submit(name="fresh", type="e2e/fresh", command=["true"], metering_wait_s=300,
                         operators=[{"id": "dgemm", "parameters": SIZE, "count": 3000},
                                    {"id": "fft3d", "parameters": {"n": 48}, "count": 1}])
    assert network.wait_job(job["id"], 360)["state"] == "succeeded"
    told = events(network, job)
    assert told[1][0] == "metering" and "its probe task is tried first" in told[1][1]

    tasks = network.rest.items("/probe-tasks?job_type=e2e%2Ffresh")
    assert [t["state"] for t in tasks] == ["released"] and tasks[0]["pretest_s"] < 10
    assert {o["id"]: o["count"] for o in tasks[0]["document"]["operators"]} == {"dgemm": 3, "fft3d": 1}  # M4
    runs = network.rest.items(f"/probe-runs?probe_task={tasks[0]['id']}")
    assert sorted(r["cause"] for r in runs) == ["arrival", "pretest"]
    assert {r["center"] for r in runs} == {"alpha", "beta"} and {r["state"] for r in runs} == {"succeeded"}
    assert all(0 < r["queue_wait_s"] < 600 for r in runs)  # M15
    assert runs[-1]["id"] == tasks[0]["pretest_run_id"]
    decision = network.rest.get(f"/jobs/{job['id']}/placement")["decision"]
    assert decision["candidates"][0]["prediction"]["operators"][0]["basis"] == "measured"


def test_a_learned_type_needs_no_operators_and_is_placed_at_once(network):
    job_type = wait_until(lambda: network.rest.call("GET", "/job-types/e2e%2Ffresh").status_code == 200 and
                          network.rest.get("/job-types/e2e%2Ffresh"), 120, "the learned type")
    assert job_type["origin"] == "user" and not job_type["profiled"]

    def submitted():  # the snapshot that admission reads follows within a moment
        job = network.submit(name="again", type="e2e/fresh", command=["true"])
        network.wait_job(job["id"])
        return job if job["operators_from"] else None
    second = wait_until(submitted, 120, "a job that takes over its type's operators")
    assert second["operators_from"] == job_type["learned_from"]
    assert {o["id"] for o in second["spec"]["operators"]} == {"dgemm", "fft3d"}
    assert "metering" not in [state for state, _ in events(network, second)]
    assert network.rest.get(f"/jobs/{second['id']}/operators")["source"] == "type"
    assert "learned them from" in network.cli("job", "show", second["id"])
    assert "e2e/fresh" in network.cli("job-type", "list")
    assert "dgemm" in network.cli("job-type", "show", "e2e/fresh")
    runs = json.loads(network.cli("probe", "run", "--job-type", "e2e/fresh", "--wait", "--output", "json"))["items"]
    assert {r["state"] for r in runs} == {"succeeded"} and len(runs) == 2


def test_a_task_that_takes_too_long_is_refused_with_its_figure(network):
    big = {"m": 4096, "n": 4096, "k": 4096}
    task = compose(network, [{"id": "dgemm", "parameters": big, "count": 50}], "slow", limit_s=1)
    assert task["state"] == "draft"
    assert network.rest.call("POST", "/probe-runs", json={"probe_task_id": task["id"]}).status_code == 409
    problem = network.rest.post(f"/probe-tasks/{task['id']}:release", {}, expect=409)
    assert "never tested" in problem["detail"]
    network.cli("probe", "task", "test", task["id"], expect=1)
    refused = task_in(network, task["id"], "refused")
    assert "limit of 1 s" in refused["state_reason"] and refused["pretest_s"] is None
    problem = network.rest.post(f"/probe-tasks/{task['id']}:release", {}, expect=409)
    assert "limit of 1 s" in problem["detail"]
    assert "refused" in network.cli("probe", "task", "list")


def test_a_refused_task_of_a_job_is_made_smaller_until_it_fits(network):
    """Nine operators at their largest sizes, seven samples each: no core does that in ten seconds."""
    wanted = {"dgemm", "sgemm", "conjugate_gradient", "random_access", "fft2d", "fft3d", "sort", "spmv", "stream_triad"}
    huge = [{"id": o["id"], "parameters": o["size_classes"][-1]["parameters"], "count": 10**6}
            for o in network.rest.items("/operators") if o["id"] in wanted]
    job = network.submit(name="huge", type="e2e/huge", command=["true"], operators=huge, metering_wait_s=600)
    assert network.wait_job(job["id"], 700)["state"] == "succeeded"
    tasks = network.rest.items("/probe-tasks?job_type=e2e%2Fhuge")  # the newest first
    assert [t["state"] for t in tasks] == ["released"] + ["refused"] * (len(tasks) - 1) and len(tasks) > 1, tasks
    released = tasks[0]
    assert released["pretest_s"] < 10
    for smaller, larger in zip(tasks, tasks[1:]):
        assert "limit of 10 s" in larger["state_reason"] and smaller["id"] in larger["state_reason"], larger
        pairs = list(zip(sizes_of(smaller), sizes_of(larger), strict=True))
        assert all(ours <= others for ours, others in pairs) and any(ours < others for ours, others in pairs), pairs
    # Once: the next job of the type is placed at once, on what the smaller sizes say.
    again = network.submit(name="again", type="e2e/huge", command=["true"], operators=huge)
    network.wait_job(again["id"])
    assert "metering" not in [state for state, _ in events(network, again)]
    best = network.rest.get(f"/jobs/{again['id']}/placement")["decision"]["candidates"][0]
    assert {o["basis"] for o in best["prediction"]["operators"]} <= {"measured", "interpolated", "scaled"}


def test_data_flow_golden_through_rest(network):
    size = {"m": 128, "n": 128, "k": 128}
    task = compose(network, [{"id": "dgemm", "parameters": size, "count": 3, "label": "P1"},
                             {"id": "dgemm", "parameters": size, "count": 2, "label": "P2"},
                             {"id": "dgemm", "parameters": size, "count": 1, "label": "P3", "inputs": ["P1", "P2"]}], "flow")
    network.rest.post(f"/probe-tasks/{task['id']}:test", {}, expect=202)
    tested = task_in(network, task["id"], "tested", "refused")
    assert tested["state"] == "tested", tested["state_reason"]
    result = network.rest.get(f"/probe-runs/{tested['pretest_run_id']}")["result"]
    assert [(o["label"], o["count"]) for o in result["operators"]] == [("P1", 3), ("P2", 2), ("P3", 1)]
    cyclic = [{"id": "dgemm", "label": "A", "inputs": ["B"]}, {"id": "dgemm", "label": "B", "inputs": ["A"]}]
    answer = network.rest.call("POST", "/probe-tasks", json={"document": {"name": "x", "operators": cyclic}})
    assert answer.status_code == 400 and answer.json()["errors"]


def test_scaled_counts_golden_through_rest(network):
    sizes = (64, 400, 1500)  # of different size classes
    operators = [{"id": "dgemm", "parameters": {"m": n, "n": n, "k": n}, "count": count}
                 for n, count in zip(sizes, (3000, 2000, 1000))] + [{"id": "spmv", "count": 1}]
    job = network.submit(name="scaled", type="e2e/scaled", command=["true"], operators=operators, metering_wait_s=0)
    network.wait_job(job["id"])
    answer = network.rest.post("/probe-tasks", {"from_job": job["id"], "form": "several_tasks"})
    made = [o for t in answer["items"] for o in t["document"]["operators"]]
    assert len(answer["items"]) == 4  # M5: nothing is shared, so each stands alone
    assert {o["parameters"].get("m"): o["count"] for o in made} == {64: 3, 400: 2, 1500: 1, None: 1}


def test_an_expert_turns_a_dense_solve_into_three_dgemms(network):
    """M6. The operators are what numpy.linalg.solve of 1500 unknowns executes, block by block."""
    blocks = [{"id": "dgemm", "parameters": {"m": m, "n": m, "k": 64}, "count": c}
              for m, c in ((1400, 3000), (900, 2000), (400, 1000))]
    job = network.submit(name="dense solve", type="e2e/solve", command=["true"],
                         operators=[*blocks, {"id": "stream_triad", "count": 10}], metering_wait_s=0)
    network.wait_job(job["id"])
    table = network.cli("job", "operators", job["id"])
    assert "dgemm:1" in table and "dgemm:3" in table and "stream_triad:1" in table and "3000" in table

    composed = json.loads(network.cli(
        "probe", "task", "compose", "--from-job", job["id"], "--pick", "dgemm", "--pick", "dgemm:2", "--pick", "dgemm:3",
        "--name", "dense solve", "--limit-s", "60", "--release", "--output", "json"))
    assert composed["state"] == "released" and composed["job_type"] == "e2e/solve" and composed["from_job"] == job["id"]
    assert [(o["id"], o["count"]) for o in composed["document"]["operators"]] == [("dgemm", 3), ("dgemm", 2), ("dgemm", 1)]
    runs = json.loads(network.cli("probe", "run", "--task", composed["id"], "--wait", "--output", "json"))["items"]
    assert {r["center"] for r in runs} == {"alpha", "beta"} and {r["state"] for r in runs} == {"succeeded"}

    text = network.cli("probe", "task", "compose", "--operator", "dgemm:m=256,n=256,k=256,count=3", "--operator",
                       "dgemm:m=256,n=256,k=256", "--connect", "P1->P2", "--name", "by hand", "--test")
    assert "passed its test" in text
    wrong = network.cli("probe", "task", "compose", "--from-job", job["id"], "--pick", "dgemm:9", "--name", "x", expect=2)
    assert wrong == ""
    network.cli("probe", "task", "retire", composed["id"])
    assert network.rest.get(f"/probe-tasks/{composed['id']}")["state"] == "retired"
    assert network.rest.call("POST", "/probe-runs", json={"probe_task_id": composed["id"]}).status_code == 409


def test_the_profile_of_a_dense_solve_shows_three_products_and_an_expert_picks_each(network):
    """M6. numpy solves systems of two sizes, by LAPACK, and multiplies once: three products of different sizes, none of which its
    owner has named."""
    program = ("import numpy as np; a = np.random.default_rng(1).random((600, 600)); s = a[:400, :400];"
               "[np.linalg.solve(a, a[0]) for _ in range(30)]; [np.linalg.solve(s, s[0]) for _ in range(20)]; a @ a")
    job = network.submit(name="solve", type="e2e/three", command=["python3", "-c", program], profile=True, metering_wait_s=0)
    assert network.wait_job(job["id"])["state"] == "succeeded"
    products = {o["count"]: o["parameters"]["m"] for o in network.rest.get(f"/jobs/{job['id']}/operators")["operators"]
                if o["id"] == "dgemm"}
    assert set(products) == {30, 20, 1} and products[1] == 600
    for count, order in ((30, 600), (20, 400)):
        assert products[count] ** 3 == pytest.approx(order ** 3 / 3, rel=0.02)  # a third of a product's work each

    shown = [o["count"] for o in network.rest.get(f"/jobs/{job['id']}/operators")["operators"] if o["id"] == "dgemm"]
    picks = [f"dgemm:{1 + shown.index(count)}" for count in (1, 30, 20)]
    composed = json.loads(network.cli("probe", "task", "compose", "--from-job", job["id"], "--pick", picks[0], "--pick", picks[1],
                                      "--pick", picks[2], "--ratio", "10", "--name", "three sizes", "--output", "json"))
    assert [(o["id"], o["parameters"]["m"], o["count"]) for o in composed["document"]["operators"]] == [
        ("dgemm", 600, 1), ("dgemm", products[30], 3), ("dgemm", products[20], 2)]


def test_a_profiled_dense_solve_teaches_its_application_and_becomes_three_dgemms(network):
    """M3, M6, M11 without a word from the submitter: numpy unmodified, counted at its center."""
    program = ("import numpy as np; r = np.random.default_rng(1); a = r.random((1200, 1200)); b = r.random(1200);"
               "[np.linalg.solve(a, b) for _ in range(60)]; a @ a")  # long enough for numpy's import to be the smaller part
    job = network.submit(name="solve", command=["python3", "-c", program], profile=True)
    ended = network.wait_job(job["id"])
    assert ended["state"] == "succeeded" and not ended["attempt"]["detail"], ended["attempt"]["detail"]
    work = network.rest.get(f"/jobs/{job['id']}/operators")
    assert work["source"] == "profile" and work["coverage"] > 0.3 and work["wall_s"] > 0
    products = [(o["parameters"]["m"], o["count"]) for o in work["operators"] if o["id"] == "dgemm"]
    solves, [product] = [p for p in products if p[1] == 60], [p for p in products if p[1] == 1]
    assert len(solves) == 1 and solves[0][0] ** 3 == pytest.approx(1200 ** 3 / 3, rel=0.01)  # a third of a product's work each
    assert product == (1200, 1)
    assert "counted while it ran" in network.cli("job", "operators", job["id"])

    composed = json.loads(network.cli("probe", "task", "compose", "--from-job", job["id"], "--pick", "dgemm:2", "--pick", "dgemm",
                                      "--pick", "dgemm:2", "--name", "three", "--limit-s", "60", "--release",
                                      "--output", "json"))
    assert composed["state"] == "released"
    picked = [(o["id"], o["parameters"]["m"]) for o in composed["document"]["operators"]]
    assert picked == [("dgemm", products[1][0]), ("dgemm", products[0][0]), ("dgemm", products[1][0])]

    name = ended["type"].replace("/", "%2F")
    assert ended["type"].startswith("app/python-")
    learned = wait_until(lambda: network.rest.call("GET", f"/job-types/{name}").status_code == 200 and
                         network.rest.get(f"/job-types/{name}"), 120, "the learned type")
    assert learned["profiled"] and learned["origin"] == "application"
    task_in(network, learned["probe_task_id"], "released")
    wait_until(lambda: {r["center"] for r in network.rest.items(f"/probe-runs?probe_task={learned['probe_task_id']}")
                        if r["state"] == "succeeded"} == {"alpha", "beta"}, 120, "the type being measured everywhere")
    again = {"name": "again", "command": ["python3", "-c", program]}
    wait_until(lambda: "unknown" not in bases_of(network.rest.post("/placements:preview", again, expect=200)), 120,
               "the measurements of all of its operators in decisions")
    again = network.submit(**again)
    assert again["operators_from"] == job["id"]
    network.wait_job(again["id"])
    assert "metering" not in [state for state, _ in events(network, again)]  # placed at once, from stored results
    # The task joins sizes of one class, so some sizes are read between two that were measured.
    assert bases_of(network.rest.get(f"/jobs/{again['id']}/placement")) <= {"measured", "interpolated", "scaled"}


def test_a_stale_change_is_refused(network):
    task = compose(network, [{"id": "dgemm", "parameters": {"m": 96, "n": 96, "k": 96}}], "stale")
    path = f"/probe-tasks/{task['id']}:retire"
    assert network.rest.call("POST", path, json={}, headers={"If-Match": '"99"'}).status_code == 412
    assert network.rest.call("POST", path, json={}, headers={"If-Match": f'"{task["version"]}"'}).status_code == 200


def test_only_experts_compose_and_set_projects(network):
    token = network.rest.post("/tokens", {"name": "ann", "role": "user"})["token"]
    user = network.rest_of(network.server, token)
    assert user.call("POST", "/probe-tasks", json={"document": {"name": "x", "operators": [{"id": "dgemm"}]}}).status_code == 403
    assert user.call("PUT", "/projects/p", json={"profile_jobs": True}).status_code == 403
    assert "profiled" in network.cli("project", "set", "materials", "--profile-jobs", "on")
    profiled = wait_until(lambda: (lambda job: job if job["spec"]["profile"] else None)(
        network.submit(project="materials", command=["true"])), 120, "a job of the project being profiled")
    network.wait_job(profiled["id"])
    network.cli("project", "set", "materials", "--profile-jobs", "off")


def test_a_result_of_several_cores_is_as_the_document_says():
    task = {"name": "cores", "repeats": 3, "target_interval": 0,
            "operators": [{"id": "dgemm", "parameters": SIZE}, {"id": "trigonometric", "parameters": {"n": 200_000}}]}
    outcome = subprocess.run([BIN / "fathom-probe", "--task", "-"], input=json.dumps(task), capture_output=True, text=True,
                             check=True, env={**os.environ, "FATHOM_CORES": "2"})
    result = json.loads(outcome.stdout)

    assert not openapi_check.schema_errors({"$ref": "#/components/schemas/ProbeResult"}, result)
    if result["cores"] > 1:
        assert ["one_thread" in o for o in result["operators"]] == [False, True]
