"""Every route asks for the permission that the document names: no token, and a token of each role, at each of them."""
import re
import time

import pytest
import requests

import openapi_check as check
from network import Network, wait_until

ROLES = ("viewer", "user", "expert", "operator", "billing", "auditor", "admin")
OPERATIONS = [(method, path, operation) for path, method, operation in check.operations()]
OPEN = {"signIn", "getSignInProvider", "startProviderSignIn", "finishProviderSignIn", "enrolAgent",
        "fetchTest", "getHealth", "getReadiness", "getOpenApi"}


@pytest.fixture(scope="module")
def network():
    with Network() as net:
        yield net


@pytest.fixture(scope="module")
def tokens(network):
    """A token of each role, and what it may do."""
    found = {}
    for role in ROLES:
        token = network.rest.post("/tokens", {"name": role, "role": role})["token"]
        found[role] = token, set(status_of(network, "get", "/api/v1/session", token, whole=True).json()["permissions"])
    return found


def status_of(network, method, path, token=None, whole=False):
    """Asked for what there is none of, with a body that is none. Who may ask no more for now asks again."""
    session = requests.Session()
    session.trust_env = False
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    end = time.monotonic() + 120
    while True:
        with session.request(method, network.server.url + re.sub(r"\{[^}]+\}", "none-of-these", path), headers=headers, timeout=120,
                             verify=str(network.server.ca), stream=not whole) as answer:
            if answer.status_code != 429 or time.monotonic() > end:
                return answer if whole else answer.status_code
        time.sleep(1)


def test_every_operation_is_open_on_purpose_or_names_its_permission():
    known = set(check.document()["components"]["schemas"]["Permission"]["enum"])
    for method, path, operation in OPERATIONS:
        if operation.get("security") == []:
            assert operation["operationId"] in OPEN and "x-permission" not in operation, f"{method} {path}"
        else:
            assert operation.get("x-permission") in known, f"{method} {path}"


def test_roles_have_more_and_more_rights_but_for_what_is_not_their_work(tokens):
    allowed = {role: permissions for role, (_, permissions) in tokens.items()}
    assert allowed["viewer"] < allowed["expert"] < allowed["operator"] < allowed["admin"] and allowed["user"] < allowed["expert"]
    assert allowed["viewer"] < allowed["auditor"] < allowed["admin"] and allowed["billing"] < allowed["admin"]
    assert "submit_jobs" not in allowed["viewer"] and "read_all_jobs" not in allowed["user"]
    assert "manage_billing" not in allowed["operator"] and "read_audit_log" not in allowed["operator"]
    assert not allowed["billing"] & {"submit_jobs", "manage_network", "manage_metering", "manage_tokens", "read_uploads"}
    assert not {one for one in allowed["auditor"] if not one.startswith("read_")}


@pytest.mark.parametrize("method,path,operation", [pytest.param(*entry, id=entry[2]["operationId"])
                                                   for entry in OPERATIONS if entry[2].get("security") != []])
def test_a_route_lets_in_who_may_and_nobody_else(network, tokens, method, path, operation):
    assert status_of(network, method, path) == 401
    for role, (token, permissions) in tokens.items():
        status = status_of(network, method, path, token)
        if operation["x-permission"] in permissions:
            assert status not in (401, 403), role
        else:
            assert status == 403, role


LED = [entry for entry in OPERATIONS if "x-project-role" in entry[2]]


def about(path, project):
    """The path of a request about a project: it is in the path, or in the query."""
    named = path.replace("{name}", project).replace("{format}", "focus")
    if named == path or "{format}" in path:
        return f"{named}?project={project}" + ("&period=2026-01" if "statements" in path else "")
    return named


@pytest.mark.parametrize("method,path,operation", [pytest.param(*entry, id=entry[2]["operationId"]) for entry in LED])
def test_leads_use_what_is_about_their_project_and_nothing_of_others(network, tokens, method, path, operation):
    assert operation["x-project-role"] == "lead"
    token, _ = tokens["user"]
    member = network.rest.call("PUT", "/projects/led/members/user", json={"role": "lead"}).json()
    assert (member["name"], member["role"]) == ("user", "lead")
    network.rest.call("PUT", "/projects/seen/members/user", json={"role": "viewer"})

    def led():
        return status_of(network, "get", "/api/v1/session", token, whole=True).json()["projects"] == {"led": "lead", "seen": "viewer"}
    wait_until(led, 120, "the new role")

    assert status_of(network, method, about(path, "led"), token) not in (401, 403)
    assert status_of(network, method, about(path, "seen"), token) == 403
    assert status_of(network, method, about(path, "others"), token) == 403
