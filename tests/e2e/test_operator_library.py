"""A network whose library of operators is that of another fathomd (M2): over the same REST interface, copied, signed, and there
when the other is away."""
import json
import os
import subprocess

import pytest

from network import BIN, Network, agent_config, wait_until
from operator_package import EXAMPLES, build_package, create_key, manifest_in


class TwoNetworks:
    """`source` keeps the library, `follower` copies it."""

    def __init__(self):
        self.source = Network()
        try:
            self.key_file = self.source.folder / "ada.key"
            create_key(self.source, self.key_file)
            self.public_key = self.source.folder / "ada.key.pub"
            token_file = self.source.folder / "library.token"
            token_file.write_text(self.source.rest.post("/tokens", {"name": "library", "role": "viewer"})["token"] + "\n")
            self.follower = Network(settings=["--library-url", self.source.server.url, "--library-token-file", token_file,
                                              "--library-ca-file", self.source.server.ca, "--library-period-s", "1"])
        except BaseException:
            self.source.close()
            raise

    def close(self):
        self.follower.close()
        self.source.close()

    def change_there(self, id, description):
        """An expert's change at the source; its version."""
        manifest = json.loads(self.source.cli("--output", "json", "operator", "show", id))
        manifest["description"] = description
        file = self.source.folder / f"{id}.json"
        file.write_text(json.dumps(manifest))
        self.source.cli("operator", "change", file)
        return self.source.rest.get(f"/operators/{id}")["version"]

    def probe_here(self, operators):
        """The ended run of these operators at the follower's center."""
        run = self.follower.rest.post("/probe-runs", {"operators": operators})["items"][0]["id"]
        return wait_until(lambda: (lambda one: one if one["state"] != "queued" else None)(
            self.follower.rest.get(f"/probe-runs/{run}")), 120, "the probe run's end")


@pytest.fixture(scope="module")
def networks():
    two = TwoNetworks()
    yield two
    two.close()


@pytest.fixture
def network(networks):
    """For the report of failures."""
    return networks.follower


def test_a_change_there_comes_here_under_its_number(networks, network):
    version = networks.change_there("dgemm", "A dense product, as the source's experts tell of it.")

    here = wait_until(lambda: (lambda one: one if one["version"] == version else None)(network.rest.get("/operators/dgemm")), 120,
                      "the change having come")
    there = networks.source.rest.get("/operators/dgemm")
    assert {**here, "created_at": None, "created_by": None} == {**there, "created_at": None, "created_by": None}
    assert (here["origin"], here["created_by"]) == ("expert", "library")
    entries = network.rest.items("/audit-log?action=operator.copy")
    assert [(e["actor"], e["subject"], e["detail"]["from"]) for e in entries] == [("library", "dgemm", networks.source.server.url)]


def test_code_comes_once_its_key_is_trusted_here(networks, network):
    networks.source.cli("operator", "key", "add", "--name", "ada", networks.public_key)
    folder = EXAMPLES / "dense_lu"
    networks.source.cli("operator", "upload", build_package(networks.source, folder / "dense_lu.c", manifest_in(folder),
                                                            networks.key_file))
    wait_until(lambda: "library_differs" in network.server.process.log(), 120, "what cannot be had being said")
    assert network.rest.call("GET", "/operators/dense_lu").status_code == 404

    network.cli("operator", "key", "add", "--name", "ada", networks.public_key)
    wait_until(lambda: network.rest.call("GET", "/operators/dense_lu").status_code == 200, 120, "the operator having come")
    package = "/operators/dense_lu/versions/1/package"
    assert network.rest.get(package) == networks.source.rest.get(package)


def test_the_library_is_changed_where_it_comes_from(networks, network):
    manifest = json.loads(networks.source.cli("--output", "json", "operator", "show", "sort"))
    file = network.folder / "sort.json"
    file.write_text(json.dumps({**manifest, "description": "told here"}))
    plain = {name: value for name, value in manifest.items() if name not in
             ("origin", "created_at", "created_by", "withdrawn_at", "withdrawn_by", "key_id", "object_sha256", "object_bytes")}
    answer = network.rest.call("PUT", "/operators/sort", json={"manifest": {**plain, "description": "told here"}})
    assert answer.status_code == 409 and f"{networks.source.server.url}: change it there" in answer.json()["detail"]
    assert "change it there" in subprocess.run(
        [BIN / "fathom", "operator", "change", file], capture_output=True, text=True, timeout=300,
        env={**os.environ, "FATHOM_URL": network.server.url, "FATHOM_CA": str(network.server.ca),
             "FATHOM_TOKEN": network.admin_token}).stderr


def test_everything_goes_on_while_the_other_is_away(networks, network):
    version = network.rest.get("/operators/dgemm")["version"]
    networks.source.server.process.stop()
    wait_until(lambda: "library_not_reached" in network.server.process.log(), 120, "its absence being said")
    wait_until(lambda: "fathom_library_is_reached 0" in network.rest.call("GET", "/metrics").text, 120, "the gauge")
    network.server.process.stop()
    network.server.start()
    assert network.rest.get("/operators/dgemm")["version"] == version

    network.add_agent("alpha", agent_config(extra=f'operator_keys = "{networks.public_key}"'))
    run = networks.probe_here([{"id": "dgemm", "parameters": {"m": 64, "n": 64, "k": 64}},
                               {"id": "dense_lu", "parameters": {"n": 64}}])
    assert run["state"] == "succeeded", run["error"]
    assert {one["id"]: one["version"] for one in run["result"]["operators"]} == {"dgemm": version, "dense_lu": 1}


def test_what_is_withdrawn_there_is_withdrawn_here(networks, network):
    version = network.rest.get("/operators/dgemm")["version"]
    networks.source.server.start()
    networks.source.cli("operator", "withdraw", "dgemm", "--version", version)

    wait_until(lambda: network.rest.get(f"/operators/dgemm?version={version}")["withdrawn_by"] == "library", 120,
               "the withdrawal having come")
    assert network.rest.get("/operators/dgemm")["version"] == version - 1
    wait_until(lambda: "library_reached_again" in network.server.process.log(), 120, "its return being said")
    wait_until(lambda: "fathom_library_is_reached 1" in network.rest.call("GET", "/metrics").text, 120, "the gauge")


def test_settings_that_cannot_work_are_refused_at_the_start(networks, tmp_path):
    def refused(*settings):
        outcome = subprocess.run([BIN / "fathomd", "--state-dir", tmp_path / "state", *settings], capture_output=True, text=True,
                                 timeout=300)
        assert outcome.returncode != 0
        return outcome.stderr

    empty = tmp_path / "empty"
    empty.write_text("\n")
    assert "https://HOST" in refused("--library-url", "http://127.0.0.1:8443")
    assert "library_url needs library_token_file" in refused("--library-url", "https://127.0.0.1:8443")
    assert "there is no token in it" in refused("--library-url", "https://127.0.0.1:8443", "--library-token-file", empty)
    assert "library_ca_file" in refused("--library-url", "https://127.0.0.1:8443", "--library-token-file",
                                        networks.source.folder / "library.token", "--library-ca-file", tmp_path / "none.pem")
