"""What the scheduler decided on is kept, and the same comes out when it is decided again."""
import json

import openapi_check as check
from network import wait_until


def ask(network, path):
    """The answer of a replay, of which a token may ask for some at once and then for one in two seconds."""
    def answers():
        answer = network.rest.call("GET", path)
        return [] if answer.status_code == 429 else [answer]

    return wait_until(answers, 120, path)[0]


def replayed(network, cycle, job=""):
    answer = ask(network, f"/cycles/{cycle}/replay" + (f"?job={job}" if job else "")).json()
    assert not check.schema_errors({"$ref": "#/components/schemas/CycleReplay"}, answer)
    return answer


def cycles(network):
    return network.rest.get("/cycles?page_size=200")["items"]


def test_cycles_of_jobs_that_compete_come_out_again(network):
    # Two centers of one unit each, and jobs of three projects that all want them.
    for number in range(3):
        network.cli("project", "set", f"p{number}", "--share", "1")
    jobs = [job["id"] for job in network.rest.post("/jobs", [
        {"command": ["/bin/sleep", "1"], "units": {"count": 1}, "metering_wait_s": 0, "project": f"p{i % 3}", "priority": 10 * (i % 4),
         "type": f"replay/{i % 2}"} for i in range(12)])["items"]]
    for job in jobs:
        assert network.wait_job(job)["state"] == "succeeded"
    placements = {job: network.rest.get(f"/jobs/{job}/placement") for job in jobs}
    decided = {job: found["cycle_id"] for job, found in placements.items()}
    assert all(decided.values()), decided
    wait_until(lambda: set(decided.values()) <= {cycle["id"] for cycle in cycles(network)}, 120, "cycles to be kept")

    kept = {cycle["id"]: cycle for cycle in cycles(network)}
    assert max(kept[cycle]["job_count"] for cycle in decided.values()) > 2, "none competed"
    for job, cycle in decided.items():
        answer = replayed(network, cycle, job)
        assert answer["is_same"], answer["differences"]
        assert answer["job"]["is_start"] and answer["job"]["job_id"] == job
        # What was stored with the attempt is what came out.
        stored = placements[job]["decision"]
        again = answer["job"]["decision"]
        winner = again["candidates"][again["winner"]]
        assert winner["unit_type_id"] == stored["candidates"][stored["winner"]]["unit_type_id"]
        assert winner["completion_s"] == stored["candidates"][stored["winner"]]["completion_s"]
        assert again.get("rank_text") == stored.get("rank_text")

    # The list of its jobs says the same as the cycle that is decided again, without deciding anything.
    job, cycle = next(iter(decided.items()))
    listed = network.rest.get(f"/cycles/{cycle}/jobs?page_size=1000")["items"]
    place = next(one for one in listed if one["job_id"] == job)
    assert len(listed) == kept[cycle]["job_count"] and sum(one["is_start"] for one in listed) == kept[cycle]["start_count"]
    assert place["is_start"] and place["position"] == replayed(network, cycle, job)["job"]["position"]
    assert f"starts as no. {place['position']}" in network.cli("replay", cycle, "--jobs")

    # Those in which nobody started come out again, too; and a job that waits is told what went before it.
    crowded = max((cycle for cycle in kept.values()), key=lambda cycle: cycle["job_count"] - cycle["start_count"])
    assert replayed(network, crowded["id"])["is_same"]
    started = [job for job, cycle in decided.items() if cycle != crowded["id"]]
    of_it = network.rest.get(f"/cycles/{crowded['id']}/jobs?page_size=1000")["items"]
    waiting = replayed(network, crowded["id"], next(one["job_id"] for one in of_it if one["job_id"] in started))["job"]
    assert not waiting["is_start"] and waiting["waiting"]["reason"].startswith("waits for"), waiting

    job, cycle = next(iter(decided.items()))
    text = network.cli("replay", cycle, "--job", job)
    assert "The same plan comes out, bit for bit" in text and "starts as no. " in text, text
    assert cycle in network.cli("replay")
    as_json = json.loads(network.cli("--output", "json", "replay", cycle))
    assert as_json["is_same"] and as_json["job"] is None


def test_what_is_not_there_is_said(network):
    some = cycles(network)[0]["id"]
    assert network.rest.call("GET", f"/cycles/{some[:-1]}/replay").status_code == 404
    assert network.rest.call("GET", "/cycles/cyc_01JD0000000000000000000000/replay").status_code == 404
    assert network.rest.call("GET", f"/cycles/{some}/replay?job=mine").status_code == 400
    assert network.rest.call("GET", f"/cycles/{some}/replay?jobs=all").status_code == 400
    unknown = ask(network, f"/cycles/{some}/replay?job=job_01JD0000000000000000000000")
    assert unknown.status_code == 404 and "was not among" in unknown.text
    network.cli("replay", "--job", "job_01JD0000000000000000000000", expect=2)
