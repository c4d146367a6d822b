"""Whatever a client sends, the answer is a problem document that names the field, and the server goes on."""
import json
import socket
import ssl
import subprocess

import pytest

from network import BIN

JOB = {"command": ["true"]}

REFUSED = [
    # (case, body as sent, status, field that the problem names or None)
    ("no body", b"", 400, None),
    ("not JSON", b"{", 400, None),
    ("a number", b"7", 400, None),
    ("NaN", b'{"command":["true"],"wall_limit_s":NaN}', 400, None),
    ("a number that no double holds", b'{"command":["true"],"wall_limit_s":1e999}', 400, None),
    ("bad UTF-8", b'{"command":["\xff\xfe"]}', 400, None),
    ("deep nesting", b"[" * 5000 + b"]" * 5000, 400, None),
    ("deep nesting in a field", b'{"command":' + b"[" * 100 + b"]" * 100 + b"}", 400, None),
    ("an unknown field", {**JOB, "surprise": 1}, 400, "surprise"),
    ("a wrong type", {"command": "true"}, 400, "command"),
    ("an item of a wrong type", {"command": ["true", 7]}, 400, "command[1]"),
    ("a huge number", {**JOB, "wall_limit_s": 2**70}, 400, "wall_limit_s"),
    ("a negative number", {**JOB, "wall_limit_s": -1}, 400, "wall_limit_s"),
    ("a fraction", {**JOB, "units": {"count": 1.5}}, 400, "units.count"),
    ("an impossible count", {**JOB, "units": {"count": 0}}, 400, "units.count"),
    ("min over max", {**JOB, "units": {"min": 5, "max": 2}}, 400, "units.max"),
    ("an unknown operator", {**JOB, "operators": [{"id": "warp"}]}, 400, "operators[0].id"),
    ("an unknown parameter", {**JOB, "operators": [{"id": "dgemm", "parameters": {"q": 1}}]}, 400,
     "operators[0].parameters.q"),
    ("a parameter out of range", {**JOB, "operators": [{"id": "dgemm", "parameters": {"m": 0}}]}, 400,
     "operators[0].parameters.m"),
    ("an unknown unit type", {**JOB, "units": {"type": "quantum"}}, 422, "units.type"),
    ("an unknown center", {**JOB, "units": {"center": "gamma"}}, 422, "units.center"),
    ("more units than exist", {**JOB, "units": {"count": 100000}}, 422, "units.count"),
    ("why not, for each unit type", {**JOB, "units": {"count": 100000}}, 422, "alpha/core"),
    ("an unknown data site", {**JOB, "data": {"sites": ["alpha", "gamma"]}}, 422, "data.sites[1]"),
    ("a center that is not among its data's", {**JOB, "units": {"center": "alpha"}, "data": {"sites": ["beta"]}}, 400,
     "units.center"),
    ("a count that contradicts its limits", {**JOB, "units": {"count": 9, "max": 8}}, 400, "units.count"),
    ("an unknown device", {**JOB, "units": {"device": "tpu"}}, 400, "units.device"),
    ("a device that nobody has", {**JOB, "units": {"device": "gpu"}}, 422, "units.device"),
    ("instruction sets that nobody has", {**JOB, "units": {"isa": ["avx1024"]}}, 422, "units.isa"),
    ("more memory than anybody has", {**JOB, "units": {"memory_bytes": 10**17}}, 422, "units.memory_bytes"),
    ("a deadline in the past", {**JOB, "deadline": "2020-01-01T00:00:00Z"}, 400, "deadline"),
    ("a deadline that is no time", {**JOB, "deadline": "tomorrow"}, 400, "deadline"),
    ("a budget of nothing", {**JOB, "budget": {"amount": "0", "currency": "EUR"}}, 400, "budget.amount"),
    ("a budget that is no amount", {**JOB, "budget": {"amount": "ten", "currency": "EUR"}}, 400, "budget.amount"),
    ("a budget in no currency", {**JOB, "budget": {"amount": "10", "currency": "euros"}}, 400, "budget.currency"),
    ("a budget where nothing has a price", {**JOB, "budget": {"amount": "10", "currency": "EUR"}}, 400, "budget"),
    ("a negative weight", {**JOB, "prefer": {"time": 1.5, "cost": -0.5}}, 400, "prefer.cost"),
    ("weights that do not sum to one", {**JOB, "prefer": {"time": 0.5, "cost": 0.4}}, 400, "prefer"),
    ("an unknown preference", {**JOB, "prefer": "prettiest"}, 400, "prefer"),
    ("a priority out of range", {**JOB, "priority": 1000}, 400, "priority"),
    ("a gang of one", {**JOB, "gang": {"id": "g", "size": 1}}, 400, "gang.size"),
    ("neither command nor script", {"name": "x"}, 400, "command"),
    ("both", {**JOB, "script": "true"}, 400, "command"),
    ("a NUL character", b'{"command":["a\\u0000b"]}', 400, "command[0]"),
    ("a file that leaves its folder", {**JOB, "files": {"../x": ""}}, 400, "files.../x"),
    ("a strange variable", {**JOB, "environment": {"A=B": "1"}}, 400, "environment.A=B"),
    ("an error in one of many", [JOB, {**JOB, "surprise": 1}], 400, "[1].surprise"),
    ("an empty list", [], 400, None),
]


@pytest.mark.parametrize("case,body,status,field", REFUSED, ids=[r[0] for r in REFUSED])
def test_a_wrong_job_is_refused_with_its_field(network, case, body, status, field):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    answer = network.rest.patient("POST", "/jobs", status, data=data, headers={"Content-Type": "application/json"})
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == "application/problem+json"
    problem = answer.json()
    assert problem["status"] == status and problem["detail"] and problem["request_id"].startswith("req_")
    if field:
        assert field in [e["field"] for e in problem["errors"]], problem
    assert network.rest.get("/readyz")["status"]


def test_all_errors_come_at_once(network):
    answer = network.rest.call("POST", "/jobs", json={
        "name": "", "wall_limit_s": 0, "surprise": 1, "units": {"count": "many"}, "operators": [{"count": 0}]})
    fields = {e["field"] for e in answer.json()["errors"]}
    assert fields >= {"name", "wall_limit_s", "surprise", "units.count", "operators[0].id", "operators[0].count", "command"}


def refusal(network, job):
    """Each field and what is said of it."""
    answer = network.rest.call("POST", "/jobs", json={**JOB, **job})
    assert answer.status_code in (400, 422), answer.text
    return {error["field"]: error["detail"] for error in answer.json()["errors"]}


def test_a_refusal_names_the_nearest_that_there_is(network):
    largest = max(network.rest.items("/unit-types"), key=lambda unit: unit["unit_count"])["unit_count"]
    said = refusal(network, {"units": {"count": 100000}})["units.count"]
    assert said.startswith("no unit type that could run it has 100000 units; the largest is ")
    assert said.endswith(f" with {largest}"), said
    assert refusal(network, {"units": {"center": "aplha"}})["units.center"] == \
        "there is no center aplha; did you mean alpha?"
    assert refusal(network, {"units": {"isa": ["avx1024"]}})["units.isa"].endswith("which lacks avx1024")
    assert "the largest are those of" in refusal(network, {"units": {"memory_bytes": 10**17}})["units.memory_bytes"]
    assert refusal(network, {"prefer": {"time": 0.5, "cost": 0.4}})["prefer"] == \
        "the weights of time, cost and energy must sum to 1, not 0.9"


def test_an_oversize_body_is_refused(network):
    answer = network.rest.call("POST", "/jobs", data=b"x" * (5 << 20))
    assert answer.status_code == 413


def test_nothing_was_accepted(network):
    assert network.rest.items("/jobs") == []


@pytest.mark.parametrize("path,status", [
    ("/jobs/job_nonsense", 404), ("/jobs/job_01ARZ3NDEKTSV4RRFFQ69G5FAV", 404), ("/jobs/%ff", 400),
    ("/nothing", 404), ("/jobs?page_size=0", 400), ("/jobs?page_size=x", 400), ("/jobs?surprise=1", 400),
    ("/jobs?page_token=garbage", 400), ("/jobs?page_token=MTr__g", 400), ("/jobs?state=asleep", 400), ("/centers/ctr_x", 404), ("/scores?policy=none", 400),
])
def test_a_wrong_address_is_refused(network, path, status):
    answer = network.rest.patient("GET", path, status)
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == "application/problem+json"


def test_a_wrong_method_names_the_right_ones(network):
    answer = network.rest.call("DELETE", "/jobs")
    assert answer.status_code == 405 and "POST" in answer.headers["Allow"]


def test_who_may_do_what(network):
    rest = network.rest
    assert network.rest_of(network.server, "fth_wrong").call("GET", "/jobs").status_code == 401
    nobody = network.rest_of(network.server)
    del nobody.session.headers["Authorization"]
    assert nobody.call("GET", "/jobs").status_code == 401
    assert nobody.call("GET", "/healthz").status_code == 200

    tokens = {role: rest.post("/tokens", {"name": role, "role": role})["token"] for role in ("viewer", "user", "expert")}
    as_role = {role: network.rest_of(network.server, token) for role, token in tokens.items()}
    assert as_role["viewer"].call("POST", "/jobs", json=JOB).status_code == 403
    assert as_role["user"].call("POST", "/tokens", json={"name": "x", "role": "admin"}).status_code == 403
    assert as_role["user"].call("POST", "/probe-runs", json={}).status_code == 403
    assert as_role["expert"].call("POST", "/enrolment-tokens", json={"center_name": "x"}).status_code == 403

    mine = as_role["user"].post("/jobs", JOB)
    other = network.rest_of(network.server, rest.post("/tokens", {"name": "other", "role": "user"})["token"])
    assert other.call("GET", f"/jobs/{mine['id']}").status_code == 404
    assert other.call("POST", f"/jobs/{mine['id']}:cancel").status_code == 404
    assert other.items("/jobs") == []
    assert as_role["viewer"].get(f"/jobs/{mine['id']}")["id"] == mine["id"]
    network.wait_job(mine["id"])

    token_id = next(t["id"] for t in rest.items("/tokens") if t["name"] == "user")
    assert rest.call("DELETE", f"/tokens/{token_id}").status_code == 204
    assert as_role["user"].call("GET", "/jobs").status_code == 401


def test_secrets_are_shown_once_and_never_logged(network):
    secret = network.rest.post("/tokens", {"name": "once", "role": "viewer"})["token"]
    assert secret not in network.rest.call("GET", "/tokens").text
    assert secret not in network.server.process.log() and network.admin_token not in network.server.process.log()
    assert (network.server.state_dir / "admin.token").stat().st_mode & 0o777 == 0o600


def test_an_idempotency_key_makes_one_job_of_two_requests(network):
    headers = {"Idempotency-Key": "k-1"}
    one = network.rest.call("POST", "/jobs", json=JOB, headers=headers)
    two = network.rest.call("POST", "/jobs", json=JOB, headers=headers)
    assert one.status_code == two.status_code == 201 and one.json()["id"] == two.json()["id"]
    other = network.rest.call("POST", "/jobs", json={"command": ["false"]}, headers=headers)
    assert other.status_code in (409, 422)
    network.wait_job(one.json()["id"])


def test_etags_guard_updates(network):
    center = network.rest.call("GET", "/centers/alpha")
    stale = network.rest.call("PATCH", "/centers/alpha", json={"drained": True}, headers={"If-Match": '"999999"'})
    assert stale.status_code == 412
    fresh = network.rest.call("PATCH", "/centers/alpha", json={"drained": True},
                              headers={"If-Match": center.headers["ETag"]})
    assert fresh.status_code == 200 and fresh.json()["drained"]
    network.rest.call("PATCH", "/centers/alpha", json={"drained": False})


def test_an_agent_port_gives_nothing_without_a_certificate(network):
    context = ssl.create_default_context(cafile=str(network.server.ca))
    with socket.create_connection(("127.0.0.1", network.server.agent_port)) as raw:
        with context.wrap_socket(raw, server_hostname="127.0.0.1") as tls:
            tls.sendall(b"GET /link/v1 HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
            received = b""
            while piece := tls.recv(4096):
                received += piece
    # The reason stands in the WebSocket's close frame (opcode 8), and nothing else came.
    head, _, frames = received.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 101") and frames[0] == 0x88 and b"certificate" in frames


def test_an_old_tls_version_is_refused(network):
    for port in (network.server.port, network.server.agent_port):
        outcome = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-tls1_1"],
                                 input=b"", capture_output=True)
        assert b"Cipher is (NONE)" in outcome.stdout or outcome.returncode != 0


def test_programs_say_what_is_wrong_with_their_settings(network, tmp_path):
    outcome = subprocess.run([BIN / "fathomd", "--listen", "nowhere", "--metering-period-s", "x"],
                             capture_output=True, text=True)
    assert outcome.returncode == 2 and "listen" in outcome.stderr and "metering_period_s" in outcome.stderr
    taken = subprocess.run([BIN / "fathomd", "--state-dir", tmp_path / "s", "--listen", f"127.0.0.1:{network.server.port}",
                            "--agent-listen", "127.0.0.1:0"], capture_output=True, text=True, timeout=300)
    assert taken.returncode == 1 and str(network.server.port) in taken.stderr
