"""A center's expert submits an operator; it runs once an admin of the network has approved it."""
import json

import pytest

from network import Network, agent_config, wait_until
from operator_package import EXAMPLES, build_package, create_key, manifest_in


@pytest.fixture(scope="module")
def network():
    net = Network()
    try:
        key = create_key(net, net.folder / "dana.key")
        net.add_agent("alpha", agent_config(extra=f'operator_keys = "{net.folder / "dana.key.pub"}"'))
        net.cli("operator", "key", "add", "--name", "dana", "--center", "alpha", net.folder / "dana.key.pub")
        net.key = key
        net.expert_token = net.rest.post("/tokens", {"name": "expert", "role": "expert"})["token"]
        net.expert = net.rest_of(net.server, net.expert_token)
        yield net
    finally:
        net.close()


def package_of(net, **changes):
    folder = EXAMPLES / "dense_lu"
    manifest = {**manifest_in(folder), **changes}
    return build_package(net, folder / "dense_lu.c", manifest, net.folder / "dana.key", token=net.expert_token)


def submitted(net, package):
    return json.loads(net.cli("--output", "json", "operator", "submit", package, token=net.expert_token))


def test_an_operator_of_a_center_runs_once_it_is_approved(network):
    package = package_of(network)
    network.cli("operator", "upload", package, expect=1, token=network.expert_token)  # a center's key

    review = submitted(network, package)

    assert (review["state"], review["center"], review["key_id"]) == ("awaiting_review", "alpha", network.key)
    assert network.expert.call("GET", "/operators/dense_lu").status_code == 404
    answer = network.expert.call("POST", "/probe-runs", json={"operators": [{"id": "dense_lu"}]})
    assert answer.status_code == 400, answer.text  # its own center has no use of it either
    assert "dense_lu" in network.cli("operator", "review", "list", "--state", "awaiting_review")
    saved = network.folder / "saved.json"
    network.cli("operator", "review", "package", review["id"], "-o", saved)
    assert json.loads(saved.read_text()) == json.loads(package.read_text())
    # An expert cannot approve.
    assert network.expert.call("POST", f"/operator-reviews/{review['id']}:approve").status_code == 403

    network.cli("operator", "review", "approve", review["id"])

    assert network.expert.get("/operators/dense_lu")["key_id"] == network.key
    run = network.rest.post("/probe-runs", {"operators": [{"id": "dense_lu"}]})["items"][0]
    ended = wait_until(lambda: (lambda now: now if now["state"] != "queued" else None)(
        network.rest.get(f"/probe-runs/{run['id']}")), 120, "the end of the probe run")
    assert ended["state"] == "succeeded", ended["error"]
    actions = [entry["action"] for entry in network.rest.items("/audit-log")]
    assert {"operator.submit", "operator.approve"} <= set(actions)


def test_a_rejection_says_why_and_nothing_runs(network):
    review = submitted(network, package_of(network, id="their_lu"))

    network.cli("operator", "review", "reject", review["id"], "--reason", "no check of its result")

    shown = next(one for one in network.rest.items("/operator-reviews?state=rejected") if one["id"] == review["id"])
    assert shown["reason"] == "no check of its result" and shown["decided_at"]
    assert network.expert.call("GET", "/operators/their_lu").status_code == 404
    assert "no check of its result" in network.cli("operator", "review", "list")
