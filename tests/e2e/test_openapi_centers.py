"""The running server answers as the document says: centers, their resources, enrolment."""
import subprocess

import openapi_check as check
from network import wait_until
from openapi_caller import A


def test_system_routes(call):
    for path in ("/healthz", "/readyz", "/metrics"):
        call("GET", path)
    assert call("GET", "/openapi.json").json() == check.document()


def test_centers(call):
    centers = call("GET", A + "/centers").json()["items"]
    assert [center["name"] for center in centers] == ["alpha", "beta"]
    alpha = call("GET", A + "/centers/alpha")
    call("PATCH", A + "/centers/alpha", json={"drained": True, "drain_reason": "new kernel"}, headers={"If-Match": alpha.headers["ETag"]})
    call("PATCH", A + "/centers/alpha", 412, json={"drained": False}, headers={"If-Match": alpha.headers["ETag"]})
    call("PATCH", A + "/centers/alpha", json={"drained": False})
    call("PATCH", A + "/centers/alpha", 400, json={"drained": "yes"})
    call("GET", A + "/centers/nowhere", 404)
    unit_types = call("GET", A + "/unit-types?center=alpha").json()["items"]
    call("GET", A + f"/unit-types/{unit_types[0]['id']}")


def test_how_full_the_network_is(call):
    unit_types = [unit for unit in call("GET", A + "/unit-types").json()["items"] if unit["active"]]
    use = call("GET", A + "/unit-use?fullest=1").json()
    assert use["unit_type_count"] == len(unit_types)
    assert use["unit_count"] == sum(unit["unit_count"] for unit in unit_types)
    assert len(use["fullest"]) == 1 and use["fullest"][0]["id"] in {unit["id"] for unit in unit_types}
    for center in call("GET", A + "/centers").json()["items"]:
        assert center["unit_count"] == sum(unit["unit_count"] for unit in unit_types if unit["center"] == center["name"])
    call("GET", A + "/unit-use?fullest=0", 400)
    advised = call("GET", A + "/unit-types?advised=true").json()["items"]
    assert all(unit["advice"] for unit in advised)


def test_center_resources(call):
    path = A + "/centers/alpha/resources"
    before = call("GET", path)
    assert before.json()["state"] == "file" and before.json()["version"] == 0
    wrong = call("PUT", path, 400, json={"unit_types": [{"name": "", "cores_per_unit": -1}], "x": 1}).json()
    assert {error["field"] for error in wrong["errors"]} == {"unit_types[0].name", "unit_types[0].cores_per_unit", "x"}
    order = {"unit_types": [{"name": "core", "cores_per_unit": 1, "unit_count": 1},
                            {"name": "gpu", "resource_type": "cuda", "unit_count": 8}]}
    call("PUT", path, json=order, headers={"If-Match": before.headers["ETag"]})
    call("PUT", path, 412, json={"unit_types": []}, headers={"If-Match": before.headers["ETag"]})
    call("PUT", A + "/centers/nowhere/resources", 404, json=order)
    call("GET", A + "/centers/nowhere/resources", 404)
    wait_until(lambda: call("GET", path).json()["state"] == "differs", 120, "the agent saying what it lacks")
    assert call("GET", path).json()["reported"]["differences"][0]["seen"] == 0
    call("PUT", path, json={"unit_types": []})
    wait_until(lambda: call("GET", path).json()["state"] == "file", 120, "alpha offering what its file says")


def test_enrolment_and_revocation(call):
    order = {"center_name": "gamma", "valid_s": 600}
    token = call("POST", A + "/enrolment-tokens", 201, json=order).json()
    call("GET", A + "/enrolment-tokens")
    mistaken = call("POST", A + "/enrolment-tokens", 201, json=order).json()
    call("DELETE", A + f"/enrolment-tokens/{mistaken['id']}", 204)
    call("DELETE", A + "/enrolment-tokens/enr_none", 404)
    call("POST", A + "/enrolment-tokens", 400, json={"center_name": "a/b"})
    call("POST", A + "/agents:enrol", 400, json={"token": token["token"], "signing_request_pem": "nonsense"})
    call("POST", A + "/agents:enrol", 401, json={"token": "fen_wrong", "signing_request_pem": "nonsense"})
    call("POST", A + "/agents:enrol", 201, json={"token": token["token"], "signing_request_pem": signing_request()})
    call("POST", A + "/agents:enrol", 401, json={"token": token["token"], "signing_request_pem": "nonsense"})
    call("POST", A + "/centers/gamma:release")
    call("POST", A + "/centers/no-such:release", 404)
    call("POST", A + "/centers/gamma:revoke")


def signing_request():
    return subprocess.run(
        ["openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "/dev/null",
         "-subj", "/CN=agent"], capture_output=True, text=True, check=True).stdout
