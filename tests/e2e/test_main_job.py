"""The main job, end to end: two centers measured, a program routed by what was measured (M1, M8–M10, M15–M17, M22, M23)."""
import json
import math
from urllib.parse import quote

import pytest

from conftest import best_core_type
from network import ENDED, wait_until

DGEMM = {"id": "dgemm", "parameters": {"m": 512, "n": 512, "k": 512}, "count": 200}


def ended_run(network, run_id):
    wait_until(lambda: network.rest.get(f"/probe-runs/{run_id}")["state"] != "queued", 180, "the probe run's end")
    return network.rest.get(f"/probe-runs/{run_id}")


def measure(network, order):
    """Runs a probe on both centers, which must succeed; or its parts must, where it takes too long on a busy machine."""
    runs = network.rest.post("/probe-runs", order)["items"]
    assert {run["center"] for run in runs} == {"alpha", "beta"}
    left = [run["id"] for run in runs]
    while left:
        run = ended_run(network, left.pop())
        if run["state"] != "succeeded":
            parts = [part["id"] for part in network.rest.items("/probe-runs") if part["divides_run_id"] == run["id"]]
            assert parts, run["error"]
            left += parts


@pytest.fixture(scope="module")
def measured(network):
    """Both centers measured with the default task."""
    measure(network, {})
    return network


def test_every_operator_of_every_unit_type_gets_a_score_with_its_spread(measured):
    scores = measured.rest.items("/scores")
    offered = {(u["center"], o) for u in measured.rest.items("/unit-types") for o in u["operators"]}
    assert {o for _, o in offered} >= {"dgemm", "fft1d", "fft3d", "spmv", "conv2d", "stream_triad", "sgemm", "sort"}
    surveyed = {(center, operator) for center, operator in offered  # over time, or when named, instead
                if operator != "network_fetch" and not operator.startswith(("mpi_", "tcp_"))}
    assert {(s["center"], s["operator"]) for s in scores} >= surveyed
    for score in scores:
        assert score["ci_low_s"] <= score["median_s"] <= score["ci_high_s"]
        assert score["sample_count"] >= 5 and score["spread"] >= 0
        assert score["error"] <= score["tolerance"], score
        assert score["score"] > 0


def test_the_network_is_measured_from_the_metascheduler(measured):
    measure(measured, {"operators": [{"id": "network_fetch"}]})
    windows = measured.rest.items("/network-windows?size_bytes=1e9")
    assert {w["center"] for w in windows} == {"alpha", "beta"}
    for window in windows:
        assert window["sample_count"] == 1 and window["now"]["rate_bytes"] > 1e6
        assert window["best_window"]["transfer_s"] == pytest.approx(1e9 / window["now"]["rate_bytes"])


def test_how_far_and_how_fast_data_are_compressed_is_measured(measured):
    size = {"bytes": 1_000_000, "random_percent": 10}
    measure(measured, {"operators": [{"id": id, "parameters": size} for id in ("compression", "decompression")]})
    question = {"class": "linear", "seconds_per_100mb": 0.01, "input_gb": 1, "machines": 10, "network_gb_s": 1,
                "gpu_parallelism": 64, "center": "alpha", "compressed": True}
    found = measured.rest.post("/speedup:predict", question, expect=200)["coefficients"]
    assert found["compressed_fraction"]["source"] == found["compression_gb_s"]["source"] == "measured"
    assert 0.25 < found["compressed_fraction"]["value"] < 0.45
    assert 0.001 < found["compression_gb_s"]["value"] < 10


def test_the_centers_really_differ_in_dgemm(measured):
    rate = {s["center"]: s["rate_flops"] for s in measured.rest.items("/scores?operator=dgemm")}
    assert rate["beta"] > 1.5 * rate["alpha"]


@pytest.mark.skipif(best_core_type() == "Prescott", reason="needs a processor with AVX: nothing holds others back")
def test_advice_names_what_holds_a_unit_back(network):
    measure(network, {"operators": [{"id": "dgemm", "parameters": {"m": 512, "n": 512, "k": 512}}]})
    advice = {u["center"]: {a["kind"]: a for a in u["advice"]} for u in network.rest.items("/unit-types")}
    assert advice["alpha"]["blas_core"]["evidence"]["openblas_core"] == "Prescott"
    better = advice["alpha"]["blas_core"]["evidence"]["openblas_better_core"]
    assert better in advice["alpha"]["blas_core"]["remedy"]
    assert "blas_core" not in advice["beta"]

    shown = network.cli("unit", "show", "alpha/core")
    assert f"OPENBLAS_CORETYPE={better}" in shown and "Prescott" in shown
    unit_type = next(u for u in network.rest.items("/unit-types?center=alpha") if u["name"] == "core")
    assert json.loads(network.cli("unit", "show", unit_type["id"], "--output", "json"))["advice"]
    network.cli("unit", "show", "alpha/other", expect=5)


def test_a_dense_job_goes_to_the_center_that_is_measured_faster_and_says_why(measured):
    job = measured.submit(name="dense", command=["sh", "-c", "echo ran on $FATHOM_UNITS unit; echo to-stderr >&2"],
                          operators=[DGEMM])
    ended = measured.wait_job(job["id"])
    assert ended["state"] == "succeeded" and ended["exit_code"] == 0
    assert ended["attempt"]["center"] == "beta"

    placement = measured.rest.get(f"/jobs/{job['id']}/placement")
    candidates = placement["decision"]["candidates"]
    assert [c["center"] for c in candidates] == ["beta", "alpha"]
    assert candidates[0]["prediction"]["run_s"] < candidates[1]["prediction"]["run_s"]
    assert candidates[0]["prediction"]["operators"][0]["basis"] == "measured"
    assert "later" in candidates[1]["reason"]
    assert placement["actual"]["run_s"] > 0

    assert measured.rest.call("GET", f"/jobs/{job['id']}/logs/stdout").content == b"ran on 1 unit\n"
    assert measured.rest.call("GET", f"/jobs/{job['id']}/logs/stderr").content == b"to-stderr\n"


def is_measuring(network):
    return any(run["state"] == "queued" for run in network.rest.items("/probe-runs"))


def ratios_of_probes(network):
    """How many times as long as at alpha operators take at beta, as both were measured: on a busy machine anything."""
    median_s = {(s["operator"], s["center"]): s["median_s"] for s in network.rest.items("/scores")}
    return [time / median_s[operator, "alpha"] for (operator, center), time in median_s.items()
            if center == "beta" and (operator, "alpha") in median_s]


def test_a_profiled_run_predicts_its_program_elsewhere_and_the_last_run_there_the_next(measured):
    """A program of Debian that calls no library which Fathom knows: all of it is remainder. How near predictions come is for
    tests/bench/prediction to say."""
    network = measured
    job = {"name": "key", "command": ["openssl", "enc", "-aes-256-cbc", "-pbkdf2", "-iter", "3000000", "-k", "secret", "-S",
                                      "0123456789abcdef", "-in", "/etc/os-release", "-out", "/dev/null"]}
    first = network.wait_job(network.submit(**job, profile=True, units={"center": "alpha", "count": 1})["id"])
    assert first["state"] == "succeeded", first["end_reason"]
    wait_until(lambda: any(t["learned_from"] == first["id"] for t in network.rest.items("/job-types")), 120, "what the type learns")
    for _ in range(3):
        wait_until(lambda: not is_measuring(network), 120, "the end of all probes")

    second = network.wait_job(network.submit(**job, units={"center": "beta", "count": 1})["id"])
    assert second["type"] == first["type"] == "app/openssl" and second["operators_from"] == first["id"]
    winner = network.rest.get(f"/jobs/{second['id']}/placement")["decision"]["candidates"][0]
    assert [r["rung"] for r in winner["rungs"]] == ["reference"] and "alpha/core" in winner["rungs"][0]["text"]
    ratios = ratios_of_probes(network)
    assert 0.8 * min(ratios) < winner["prediction"]["run_s"] / first["run_s"] < 1.25 * max(ratios)
    assert "Basis:" in network.cli("job", "explain", second["id"])

    there = {**job, "units": {"center": "beta", "count": 1}}

    def predicted_by_runs():
        place = network.rest.post("/placements:preview", there, expect=200)["decision"]["candidates"][0]
        return place if place["rungs"][0]["rung"] == "runs" else None
    place = wait_until(predicted_by_runs, 120, "the run that ended being known")
    weight = place["rungs"][0]["weight"]
    assert weight > 0.6
    # What the run took counts so much, and what was predicted of it the rest: where the machine held it up these differ.
    mixed_s = second["run_s"] ** weight * winner["prediction"]["run_s"] ** (1 - weight)
    low_s, high_s = sorted((second["run_s"], mixed_s))
    assert 0.75 * low_s <= place["prediction"]["run_s"] <= 1.25 * high_s
    third = network.wait_job(network.submit(**there)["id"])
    decided = network.rest.get(f"/jobs/{third['id']}/placement")["decision"]["candidates"][0]
    assert decided["rungs"] == place["rungs"]


def test_a_job_of_an_unmeasured_size_is_measured_first(measured):
    size = {"m": 300, "n": 300, "k": 300}
    job = measured.submit(name="fresh", command=["true"], metering_wait_s=300,
                          operators=[{"id": "dgemm", "parameters": size, "count": 5000}])
    ended = measured.wait_job(job["id"], 360)
    assert ended["state"] == "succeeded"

    states = [e["state"] for e in measured.rest.items(f"/jobs/{job['id']}/events")]
    assert states == ["queued", "metering", "placed", "dispatched", "running", "succeeded"] or \
        states == ["queued", "metering", "queued", "placed", "dispatched", "running", "succeeded"]
    # One of the two was the pre-test of the new task. Jobs that ran before may have had theirs meanwhile.
    wanted = [{"id": "dgemm", "version": 1, "parameters": size, "count": 5}]
    tasks = {t["id"] for t in measured.rest.items("/probe-tasks") if t["document"]["operators"] == wanted}
    assert len(tasks) == 1
    runs = [r for r in measured.rest.items("/probe-runs")
            if r["cause"] in ("pretest", "arrival") and r["probe_task_id"] in tasks]
    assert {r["center"] for r in runs} == {"alpha", "beta"}
    # M11's first half: the second job of the type is placed at once.
    again = measured.submit(name="again", command=["true"], operators=[{"id": "dgemm", "parameters": size, "count": 5000}])
    measured.wait_job(again["id"])
    assert "metering" not in [e["state"] for e in measured.rest.items(f"/jobs/{again['id']}/events")]


def test_a_job_that_must_not_wait_for_metering_is_placed_on_what_is_known(measured):
    job = measured.submit(name="hasty", command=["true"], metering_wait_s=0,
                          operators=[{"id": "dgemm", "parameters": {"m": 200, "n": 200, "k": 200}}])
    assert measured.wait_job(job["id"])["state"] == "succeeded"
    decision = measured.rest.get(f"/jobs/{job['id']}/placement")["decision"]
    assert any("scaled" in text or "interpolated" in text or "measure" in text for text in decision["assumptions"])


def test_probes_are_ordinary_jobs_with_a_label(measured):
    # What the jobs so far have taught may still be on its way to the centers.
    probes = wait_until(lambda: (lambda found: found if all(p["state"] in ENDED for p in found) else None)(
        measured.rest.items("/jobs?label=probe")), 120, "the end of all probes")
    assert any(p["state"] == "succeeded" for p in probes)
    assert probes[0]["spec"]["command"][0] == "fathom-probe"
    assert not any(j["label"] == "probe" for j in measured.rest.items("/jobs"))


def test_same_work_same_scale_and_raw_results_are_kept(measured):
    run = next(run for run in measured.rest.items("/probe-runs") if run["state"] == "succeeded")
    result = measured.rest.get(f"/probe-runs/{run['id']}")["result"]
    assert result["unit_count"] == 1
    for operator in result["operators"]:
        assert len(operator["samples_s"]) >= 5 and operator["checksum"]


def test_what_the_center_chooses_is_reported(measured):
    runs = measured.rest.post("/probe-runs", {"operators": [{**DGEMM, "count": 1}], "selection": "center"})["items"]
    assert {r["selection"] for r in runs} == {"center"} and len(runs) == 2
    for run in runs:
        wait_until(lambda: measured.rest.get(f"/probe-runs/{run['id']}")["state"] != "queued", 120, "the run")
        ended = measured.rest.get(f"/probe-runs/{run['id']}")
        assert ended["state"] == "succeeded", ended["error"]
        assert ended["unit_type"] in ("core", "core-large")


def test_another_policy_gives_other_scores_from_the_same_results(measured):
    measured.rest.post("/metric-policies", {"document": {
        "id": "golden", "kind": "intervals", "figures": [
            {"figure": "time_s", "weight": 0.7, "steps": [{"below": 1000, "points": 100}, {"points": 10}]},
            {"figure": "error", "weight": 0.3, "steps": [{"below": 1, "points": 80}, {"points": 0}]}]}})
    scores = measured.rest.items("/scores?policy=golden")
    assert scores and all(s["score"] == pytest.approx(94) for s in scores)


def test_scores_over_several_operators_can_be_recomputed_by_hand(measured):
    for by in ("category", "unit_type"):
        scores = measured.rest.items(f"/scores?by={by}")
        assert {s["center"] for s in scores if s["score"]} == {"alpha", "beta"}, by
        for score in scores:
            parts = score["parts"]
            missing = [p for p in parts if p["score"] is None]
            assert score["missing_parts"] == len(missing) and (score["score"] is None) == bool(missing)
            if missing:
                assert missing[0]["operator"] in score["missing_reason"]
                continue
            assert sum(p["weight"] for p in parts) == pytest.approx(1)
            mean = math.exp(sum(p["weight"] * math.log(p["score"]) for p in parts)) * score["trust_factor"]
            below = math.sqrt(sum((p["weight"] * math.log(p["score"] / p["score_low"])) ** 2 for p in parts))
            above = math.sqrt(sum((p["weight"] * math.log(p["score_high"] / p["score"])) ** 2 for p in parts))
            assert score["score"] == pytest.approx(mean)
            assert score["score_low"] == pytest.approx(mean * math.exp(-below))
            assert score["score_high"] == pytest.approx(mean * math.exp(above))
            assert all(measured.rest.get(f"/probe-runs/{p['probe_run_id']}")["state"] == "succeeded" for p in parts[:1])


def test_a_job_type_is_scored_by_what_its_jobs_execute(measured):
    measured.wait_job(measured.submit(name="typed", command=["true"], operators=[DGEMM])["id"])
    types = wait_until(lambda: [t["name"] for t in measured.rest.items("/job-types") if "dgemm" in t["name"]], 120,
                       "a type was learned")
    scores = {s["center"]: s for s in measured.rest.items(f"/scores?by=job_type&job_type={quote(types[0], safe='')}")}
    assert scores["beta"]["score"] > 1.5 * scores["alpha"]["score"]
    assert "beta" in measured.cli("score", "list", "--job-type", types[0])


def test_a_policy_is_tried_before_it_is_activated(measured, tmp_path):
    (tmp_path / "faulty.json").write_text(json.dumps({"id": "f", "kind": "intervals", "figures": [
        {"figure": "time_s", "weight": 0.9, "steps": [{"below": 1, "points": 2}, {"from": 3, "points": 1}]}]}))
    measured.cli("policy", "try", str(tmp_path / "faulty.json"), expect=2)
    reference = measured.rest.get("/metric-policies/relative-v1")["document"]
    slower = dict(reference, id="slower", reference=[dict(f, median_s=2 * f["median_s"]) for f in reference["reference"]])
    (tmp_path / "slower.json").write_text(json.dumps(slower))

    trial = json.loads(measured.cli("policy", "try", str(tmp_path / "slower.json"), "--output", "json"))

    assert trial["active_policy"].startswith("relative-v1@") and trial["policy"] == "slower@1"
    assert len(trial["unit_types"]) == trial["unit_type_count"] == 2
    for changed in trial["unit_types"] + trial["operators"]:
        assert changed["score_after"] == pytest.approx(2 * changed["score_before"])
        assert changed["rank_after"] == changed["rank_before"]
    assert not any(p["id"] == "slower" for p in measured.rest.items("/metric-policies"))
    assert "slower@1" in measured.cli("policy", "add", str(tmp_path / "slower.json"))
    text = measured.cli("policy", "activate", "slower")
    assert "alpha" in text and "→" in text
    measured.cli("policy", "activate", "relative-v1")
    # What scores are made from does not change with the policy. A probe may end between two questions.
    wait_until(lambda: scores_under(measured, "slower") == pytest.approx(
        {key: 2 * score for key, score in scores_under(measured, "relative-v1").items()}), 120, "scores twice as high")


def scores_under(net, policy):
    return {(score["center"], score["operator"], json.dumps(score["parameters"])): score["score"]
            for score in net.rest.items(f"/scores?policy={policy}")}


def test_an_impossible_job_is_refused_at_once_with_the_reason_per_center(measured):
    answer = measured.rest.call("POST", "/jobs", json={"command": ["true"], "units": {"count": 1000}})
    assert answer.status_code == 422
    problem = answer.json()
    assert problem["code"] == "infeasible"
    assert sorted(e["field"] for e in problem["errors"]) == ["alpha/core", "beta/core-large", "units.count"]


def test_the_command_line_does_the_same(measured):
    table = measured.cli("score", "list")
    assert "alpha" in table and "dgemm" in table
    assert "alpha" in measured.cli("center", "list") and "core-large" in measured.cli("unit", "list")
    text = measured.cli("job", "submit", "--operators", "dgemm:m=512;n=512;k=512=100", "--units", "1", "--wait",
                        "--output", "json", "--", "sh", "-c", "echo $0 $1", "a b", "c")
    job = json.loads(text)
    assert job["state"] == "succeeded"
    assert measured.cli("job", "logs", job["id"]) == "a b c\n"
    explained = measured.cli("job", "explain", job["id"])
    assert "beta" in explained and "alpha" in explained
    assert measured.cli("job", "show", "job_01ARZ3NDEKTSV4RRFFQ69G5FAV", expect=5) == ""
