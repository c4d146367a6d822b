"""Projects share the network: quotas, what was used, and jobs that start together."""
import pytest

from network import wait_until


def ended(network, job):
    return network.wait_job(job["id"])


def test_a_project_keeps_to_its_units_and_says_what_it_used(network):
    said = network.cli("project", "set", "narrow", "--share", "2", "--max-units", "1", "--max-cost", "250.50")
    assert "Project narrow: share 2.00; units at once: 1; in a month: score-hours no limit, cost 250.5; centers: all" in said
    # Decisions follow within a moment of the setting.
    wait_until(lambda: network.rest.get("/projects/narrow/use")["quota"]["max_units"] == 1, what="the quota in decisions")
    gate = network.folder / "may-end"
    jobs = [network.submit(project="narrow", command=["sh", "-c", f"until [ -e {gate} ]; do sleep 0.1; done"]) for _ in range(2)]
    waits = wait_until(lambda: next((job for job in map(lambda j: network.job(j["id"]), jobs)
                                     if "quota" in (job["waiting_reason"] or "")), None), 120, "one job waiting for quota")
    gate.touch()
    assert "its project holds 1 of the 1 units that it may hold at once" in waits["waiting_reason"]
    assert [ended(network, job)["state"] for job in jobs] == ["succeeded", "succeeded"]

    run_s = sum(network.job(job["id"])["run_s"] for job in jobs)
    use = network.rest.get("/projects/narrow/use")
    assert use["units"] == 0 and 3600 * use["unit_hours"] == pytest.approx(run_s)
    assert use["score_hours"] > 0 and use["quota"]["max_units"] == 1
    shown = network.cli("project", "show", "narrow")
    assert "0 of 1" in shown and "of 250.5" in shown and "core" in shown
    assert "fathom project set" in network.cli("project", "set", "--help")


def test_a_project_that_nobody_set_up_is_refused_with_the_nearest_name(network):
    network.cli("project", "set", "materials", "--share", "1")
    refused = network.rest.post("/jobs", {"project": "materiels", "command": ["true"]}, expect=400)
    assert "did you mean materials?" in refused["errors"][0]["detail"] and "fathom project set" in refused["detail"]
    assert network.wait_job(network.submit(project="materials", command=["true"])["id"])["state"] == "succeeded"


def test_a_gang_starts_when_all_its_members_are_there(network):
    network.cli("project", "set", "pair", "--share", "1")
    first = network.submit(project="pair", command=["sleep", "1"], gang={"id": "both", "size": 2})
    wait_until(lambda: network.job(first["id"])["waiting_reason"] == "waits for 1 more member of gang both", 120,
               "the first member waiting for the second")
    second = network.submit(project="pair", command=["sleep", "1"], gang={"id": "both", "size": 2})
    jobs = [ended(network, job) for job in (first, second)]
    assert [job["state"] for job in jobs] == ["succeeded", "succeeded"]
    assert jobs[0]["attempt"]["created_at"] == jobs[1]["attempt"]["created_at"], "placed in one go"
