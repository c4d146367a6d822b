"""The running server answers as the document says: tokens, accounts, sessions, the audit log."""
import copy

import requests

import openapi_check as check
from network import wait_until
from openapi_caller import A


def test_tokens(call):
    token = call("POST", A + "/tokens", 201, json={"name": "t", "role": "viewer", "valid_s": 600}).json()
    call("GET", A + "/tokens")
    call("DELETE", A + f"/tokens/{token['id']}", 204)
    call("POST", A + "/tokens", 400, json={"name": "t", "role": "king"})


def test_accounts_sessions_and_the_audit_log(call):
    ada = {"name": "ada", "role": "viewer", "password": "correct horse battery"}
    call("POST", A + "/users", 201, json=ada)
    call("POST", A + "/users", 409, json=ada)
    call("POST", A + "/users", 400, json={"name": "a/b", "role": "king", "password": "short"})
    call("GET", A + "/users/ada")
    assert [user["name"] for user in call("GET", A + "/users").json()["items"]] == ["ada"]
    browser = copy.copy(call)  # what it calls is seen as called by both
    browser.session = requests.Session()
    browser.session.trust_env, browser.session.verify = False, call.session.verify
    browser("GET", A + "/session", 401)
    browser("POST", A + "/session", 401, json={"name": "ada", "password": "wrong horse"})
    browser("POST", A + "/session", 400, json={"name": "ada"})
    session = browser("POST", A + "/session", json={"name": "ada", "password": ada["password"]}).json()
    assert browser("GET", A + "/session").json() == session and session["account"] == "ada"
    new = {"old_password": ada["password"], "new_password": "incorrect horse battery"}
    browser("POST", A + "/session/password", 403, json=new)
    csrf = {"X-CSRF-Token": session["csrf_token"]}
    browser("POST", A + "/session/password", 204, json=new, headers=csrf)
    browser("DELETE", A + "/session", 204, headers=csrf)
    browser("GET", A + "/session", 401)
    assert call("GET", A + "/session").json()["csrf_token"] is None
    call("PATCH", A + "/users/ada", json={"role": "expert", "disabled": True})
    browser("POST", A + "/session", 401, json={"name": "ada", "password": new["new_password"]})
    call("DELETE", A + "/users/ada", 204)
    call("DELETE", A + "/users/ada", 404)
    acts = call("GET", A + "/audit-log", params={"subject": "ada", "page_size": 2}).json()
    assert [act["action"] for act in acts["items"]] == ["account.remove", "account.change"]
    within = {"subject": "ada", "since": acts["items"][-1]["at"], "until": "2100-01-01T00:00:00Z"}
    assert acts["items"][0]["id"] in [act["id"] for act in call("GET", A + "/audit-log", params=within).json()["items"]]
    call("GET", A + "/audit-log", 400, params={"since": within["until"], "until": within["since"]})
    call("GET", A + "/audit-log", 400, params={"page_token": "zzz"})
    checked = wait_until(lambda: (answer := call("GET", A + "/audit-log:verify").json())["unchained"] == 0 and answer, 120)
    assert checked["good"] and checked["acts"] == checked["last_number"] > 5
    known = f"{checked['last_number']}:{checked['last_sha256']}"
    assert call("GET", A + "/audit-log:verify", params={"known": known}).json()["good"]
    call("GET", A + "/audit-log:verify", 400, params={"known": "1:x"})


def test_without_a_provider_only_passwords_and_tokens_sign_in(call):
    assert call("GET", A + "/session/oidc").json() == {"name": None}
    call("GET", A + "/session/oidc/start", 404)
    call("GET", A + "/session/oidc/callback?state=x&code=y", 404)


def test_strangers_are_refused(shared_network):
    answer = requests.get(shared_network.url + A + "/centers", verify=str(shared_network.ca), timeout=60)
    assert answer.status_code == 401
    check.check_requests_response(answer)


def without_replicas(authority):
    """These say when they were seen last."""
    return {name: value for name, value in authority.items() if name != "replicas"}


def test_authority(call):
    before = without_replicas(call("GET", A + "/authority").json())
    assert before["phase"] == "none" and before["next"] is None
    begun = call("POST", A + "/authority:rotate", json={"step": "begin"}).json()
    assert begun["phase"] == "begun" and begun["current"] == before["current"]
    call("POST", A + "/authority:rotate", 409, json={"step": "finish", "force": True})
    call("POST", A + "/authority:rotate", 400, json={"step": "renew"})
    assert without_replicas(call("POST", A + "/authority:rotate", json={"step": "cancel"}).json()) == before
