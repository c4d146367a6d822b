"""What an operator asks a running network: it is exported, and simulated as it is and otherwise."""
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
from datetime import datetime, timedelta, timezone

import pytest

from network import BIN, Gate, wait_until

DGEMM = {"id": "dgemm", "parameters": {"m": 512, "n": 512, "k": 512}}
JOB_COUNT = 10


def in_days(count):
    return (datetime.now(timezone.utc) + timedelta(days=count)).strftime("%Y-%m-%dT00:00:00Z")


def simulate(network, *arguments, expect=0):
    return json.loads(network.cli("simulate", *arguments, "--output", "json", expect=expect))


def figures(answer, policy):
    return next(p for p in answer["policies"] if p["policy"] == policy)["figures"]


def predicted_times(network):
    """Seconds that the network expects of a job of the type products, by center."""
    job = {"command": ["true"], "type": "products", "operators": [{**DGEMM, "count": 200}], "units": {"count": 1},
           "metering_wait_s": 0}
    decision = network.rest.post("/placements:preview", job, expect=200)["decision"]
    return {candidate["center"]: candidate["scaling"]["compute_s"] for candidate in decision["candidates"]}


def export_as_predicted(network, folder):
    """Exports until nothing was measured meanwhile; the times that the network expects at that moment."""
    times = {}

    def is_exported():
        nonlocal times
        before = predicted_times(network)
        network.cli("simulate", "export", "--centers", folder / "now.json", "--workload", folder / "jobs.jsonl")
        times = predicted_times(network)
        return times == before

    wait_until(is_exported, 120, "an export during which no measurement ended")
    return times


@pytest.fixture(scope="module")
def exported(network):
    """Two centers, measured and priced, one with maintenance planned; the files of their queue and of their past."""
    for run in network.rest.post("/probe-runs", {"operators": [DGEMM]})["items"]:
        wait_until(lambda: network.rest.get(f"/probe-runs/{run['id']}")["state"] == "succeeded", 120, "a probe run's end")
    prices = network.folder / "prices.json"
    prices.write_text(json.dumps({"currency": "EUR", "entries": [
        {"center": "alpha", "unit_type": "*", "per_unit_hour": "0.10", "unit_power_w": 12},
        {"center": "beta", "unit_type": "core-large", "per_unit_hour": "0.30",
         "bands": [{"days": ["sun"], "from_hour": 2, "to_hour": 5, "per_unit_hour": "0.15"}]}]}))
    network.cli("price", "set", prices)
    network.cli("maintenance", "plan", "--center", "alpha", "--starts-at", in_days(30), "--ends-at", in_days(31))
    for project in ("materials", "physics"):
        network.cli("project", "set", project, "--share", "1")
    gate = Gate(network, "exported")  # until then there is a queue
    jobs = network.rest.post("/jobs", [
        {"name": f"job-{i}", "type": "products", "project": "materials" if i % 2 else "physics", "units": {"count": 1},
         "command": ["sh", "-c", f"{gate.passing}; sleep 1"], "operators": [{**DGEMM, "count": 200}], "wall_limit_s": 600,
         "metering_wait_s": 0} for i in range(JOB_COUNT)])["items"]
    folder = network.folder
    network.cli("simulate", "export", "--centers", folder / "queue.json", "--workload", folder / "queue.jsonl",
                "--since", "now")
    gate.open()
    ended = [network.wait_job(job["id"]) for job in jobs]
    assert all(job["state"] == "succeeded" for job in ended)
    (folder / "took.json").write_text(json.dumps([job["run_s"] for job in ended]))
    (folder / "predicted.json").write_text(json.dumps(export_as_predicted(network, folder)))
    return folder


def test_the_network_is_exported_as_it_was_measured(exported, network):
    centers = json.loads((exported / "now.json").read_text())
    assert centers["currency"] == "EUR" and [c["name"] for c in centers["centers"]] == ["alpha", "beta"]
    alpha, beta = (c["unit_types"][0] for c in centers["centers"])
    predicted = json.loads((exported / "predicted.json").read_text())
    least_s = min(predicted.values())
    assert alpha["rates"]["products"] == pytest.approx(least_s / predicted["alpha"], rel=1e-6)
    assert beta["rates"]["products"] == pytest.approx(least_s / predicted["beta"], rel=1e-6)
    assert alpha["benchmark"] > 0 and beta["benchmark"] > 0
    assert beta["price"]["bands"][0]["days"] == ["sun"] and alpha["unit_power_w"] == 12
    assert len(centers["centers"][0]["maintenance"]) == 1
    assert network.admin_token not in (exported / "now.json").read_text() + (exported / "jobs.jsonl").read_text()


def test_past_jobs_are_exported_with_the_time_that_they_took(exported):
    lines = [json.loads(line) for line in (exported / "jobs.jsonl").read_text().splitlines()]
    assert len(lines) == JOB_COUNT
    assert {line["project"] for line in lines} == {"materials", "physics"}
    rates = {f"{c['name']}/{u['name']}": u["rates"]["products"]
             for c in json.loads((exported / "now.json").read_text())["centers"] for u in c["unit_types"]}
    ran = json.loads((exported / "took.json").read_text())
    for line in lines:
        assert line["job_type"] == "products" and line["unit_count"] == 1 and line["estimate_s"] == 600
        took_s = {round(line["work_s"] / rate, 1) for rate in rates.values()}
        assert any(abs(ran_s - one) < 0.2 for ran_s in ran for one in took_s), (took_s, ran)
    assert min(ran) > 0.9, "each slept a second"
    assert [line["arrival_s"] for line in lines] == sorted(line["arrival_s"] for line in lines)


def test_the_present_queue_is_exported_with_what_is_expected(exported):
    lines = [json.loads(line) for line in (exported / "queue.jsonl").read_text().splitlines()]
    assert lines and all(line["work_s"] > 0 for line in lines)
    assert len({line["arrival_s"] for line in lines}) == 1, "all of them are there at the moment of the export"


def test_twice_the_units_shorten_waits(exported, network):
    files = ["--centers", exported / "now.json", "--workload", exported / "jobs.jsonl", "--policy", "fathom"]
    as_it_is = figures(simulate(network, *files), "fathom")
    doubled = figures(simulate(network, *files, "--scale", "beta=2"), "fathom")
    assert as_it_is["ended"]["mean"] == doubled["ended"]["mean"] == JOB_COUNT
    assert as_it_is["cost"]["mean"] > 0
    assert doubled["mean_wait_s"]["mean"] < 0.9 * as_it_is["mean_wait_s"]["mean"]
    until = in_days(2)
    closed = figures(simulate(network, *files, "--close", f"alpha=0..{until}", "--close", f"beta=0..{until}"), "fathom")
    assert closed["mean_wait_s"]["mean"] > 86400, "nothing starts before both are open again"


def test_the_server_simulates_the_same_change(exported, network):
    change = {"kind": "scale_units", "center": "beta", "factor": 2}
    answer = network.rest.post("/simulations", {"days": 1, "changes": [change]}, expect=200)
    assert answer["job_count"] == JOB_COUNT and answer["currency"] == "EUR"
    before, after = answer["before"], answer["after"]
    assert before["figures"]["ended"] == after["figures"]["ended"] == JOB_COUNT
    assert after["figures"]["mean_wait_s"] < before["figures"]["mean_wait_s"]
    assert sum(before["waits"]) == sum(after["waits"]) == JOB_COUNT
    units = {center["center"]: center["unit_count"] for center in before["centers"]}
    assert {center["center"]: center["unit_count"] for center in after["centers"]} == {**units, "beta": 2 * units["beta"]}
    files = ["--centers", exported / "now.json", "--workload", exported / "jobs.jsonl"]
    same = json.loads(network.cli("simulate", *files, "--scale", "beta=2", "--compare", "--output", "json"))
    assert same["after"]["figures"]["ended"] == JOB_COUNT
    assert same["after"]["centers"][1]["unit_count"] == 2 * units["beta"]


def test_the_server_plans_what_ran_as_the_simulator_does(exported):
    run = exported / "run"
    run.mkdir()
    shutil.copy(exported / "now.json", run / "centers.json")
    shutil.copy(exported / "jobs.jsonl", run / "jobs.jsonl")
    outcome = subprocess.run([BIN / "simulator_exactness_test", "--gtest_filter=SamePlan.AlsoOfWhatRanInARealNetwork"],
                             capture_output=True, text=True, timeout=300, env={**os.environ, "FATHOM_RUN_FOLDER": str(run)})
    assert outcome.returncode == 0 and "[  PASSED  ] 1 test" in outcome.stdout, outcome.stdout + outcome.stderr


def test_equal_seeds_give_equal_bytes_and_a_report(exported, network):
    files = ["simulate", "--centers", exported / "now.json", "--workload", exported / "jobs.jsonl", "--seeds", "2"]
    report = exported / "report.html"
    first = network.cli(*files, "--output", "json", "--report", report, "--jobs-csv", exported / "jobs.csv")
    assert first == network.cli(*files, "--output", "json")
    assert "<html" in report.read_text() and "beta" in report.read_text()
    rows = (exported / "jobs.csv").read_text().splitlines()
    assert len(rows) == 1 + JOB_COUNT * 3 * 2, "three policies, two seeds"
    table = network.cli(*files, "--by", "project")
    assert "least_loaded" in table and "materials" in table


def test_bad_files_are_refused_by_line_and_path(exported, network):
    workload = exported / "bad.jsonl"
    workload.write_text((exported / "jobs.jsonl").read_text() + '{"arrival_s": 1}\n{"arrival_s": -1, "work_s": 2}\n')
    answer = simulate(network, "--centers", exported / "now.json", "--workload", workload, "--policy", "first_come")
    skips = {skip["rule"]: skip["lines"] for skip in answer["scenario"]["skips"]}
    assert skips["work_s is required"] == [JOB_COUNT + 1]
    assert any(rule.startswith("arrival_s must be") and lines == [JOB_COUNT + 2] for rule, lines in skips.items())

    centers = exported / "bad.json"
    centers.write_text('{"centers": [{"name": "a", "unit_types": [{"name": "u", "unit_count": 0, "rates": {"x": -1}}]}]}')
    outcome = subprocess.run([BIN / "fathom", "simulate", "--centers", centers, "--workload", workload],
                             capture_output=True, text=True, timeout=300)
    assert outcome.returncode == 2
    assert "centers[0].unit_types[0].unit_count" in outcome.stderr
    assert "centers[0].unit_types[0].rates.x" in outcome.stderr


def test_the_example_of_the_documentation_works(tmp_path):
    text = (pathlib.Path(__file__).parents[2] / "docs/simulation.md").read_text()
    blocks = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    centers, workload = tmp_path / "centers.json", tmp_path / "jobs.jsonl"
    centers.write_text(blocks[0])
    workload.write_text(blocks[1])
    outcome = subprocess.run(
        [BIN / "fathom", "simulate", "--centers", centers, "--workload", workload, "--policy", "all", "--output", "json"],
        capture_output=True, text=True, timeout=300)
    assert outcome.returncode == 0, outcome.stderr
    answer = json.loads(outcome.stdout)
    assert answer["scenario"]["skips"] == [] and answer["scenario"]["jobs"] == 4
    assert figures(answer, "fathom")["ended"]["mean"] == 4


def test_ctrl_c_prints_what_has_been_simulated(exported):
    """A queue that grows all the time keeps the simulation busy for long."""
    workload = exported / "many.jsonl"
    with workload.open("w") as out:
        for i in range(400_000):
            out.write(f'{{"arrival_s": {i}, "job_type": "products", "work_s": {1 + i % 97}}}\n')
    terminal, stderr = pty.openpty()
    process = subprocess.Popen(
        [BIN / "fathom", "simulate", "--centers", exported / "now.json", "--workload", workload, "--policy", "all"],
        stdout=subprocess.PIPE, stderr=stderr, text=True)
    os.close(stderr)
    shown = b""
    while b"waiting" not in shown:
        shown += os.read(terminal, 4096)
    assert b"fathom (1 of " in shown and b"simulated" in shown, "progress on the terminal"
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 130, shown
    assert "PARTIAL" in out and "Not simulated" in out
    while b"stopped" not in shown:
        shown += os.read(terminal, 4096)
    os.close(terminal)
