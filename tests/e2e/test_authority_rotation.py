"""The network's authority is replaced by another while a job runs: two replicas, an agent that goes along and one that is away."""
import json
import os
import socket
import ssl
import subprocess

import pytest

from network import Network, wait_until

LIMIT_S = 120  # replicas look every second, agents renew within one


@pytest.fixture(scope="module")
def network():
    with Network() as net:
        yield net


def url_of_database(net):
    psql = [json.loads(line)["psql"] for line in net.server.process.log().splitlines() if '"psql"' in line][-1]
    user = subprocess.run(f"{psql.removeprefix('sudo ')} -qAtc \"$STATEMENT\"", shell=True, check=True, capture_output=True, text=True,
                          timeout=60, env={**os.environ, "STATEMENT": "SELECT current_user"}).stdout.strip()
    lines = next(iter(net.server.state_dir.rglob("postmaster.pid"))).read_text().splitlines()
    return f"postgresql:///fathom?host={lines[4].strip()}&port={lines[3].strip()}&user={user}"


def connect(port, ca, pair=None):
    context = ssl.create_default_context(cafile=str(ca))
    if pair:
        context.load_cert_chain(*map(str, pair))
    return context.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=60), server_hostname="127.0.0.1")


def is_shown_to(ca, port):
    """Whether who trusts this file alone believes the listener."""
    try:
        with connect(port, ca):
            return True
    except ssl.SSLCertVerificationError:
        return False


def is_let_in(server, pair):
    """Whether the agents' listener answers who comes with this certificate."""
    try:
        with connect(server.agent_port, server.ca, pair) as connection:
            connection.sendall(b"GET /api/v1/fetch-test HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            return connection.recv(16).startswith(b"HTTP/1.1")
    except (ssl.SSLError, ConnectionError):
        return False


def copy_of_certificate(agent, folder):
    """What the agent shows now, as somebody who copied it has it for ever."""
    folder.mkdir()
    pair = []
    for name in ("agent-cert.pem", "agent-key.pem"):
        pair.append(folder / name)
        pair[-1].write_bytes((agent.state_dir / "agent" / name).read_bytes())
    return pair


def is_pair(agent):
    """Whether its certificate and its key belong together: one is written after the other."""
    try:
        ssl.create_default_context().load_cert_chain(*(agent.state_dir / "agent" / name for name in ("agent-cert.pem", "agent-key.pem")))
        return True
    except ssl.SSLError:
        return False


def refusal(net, **order):
    answer = net.rest.call("POST", "/authority:rotate", json=order)
    assert answer.status_code == 409, answer.text
    return answer.json()["detail"]


def wait_for_centers(net, *names):
    """Until the rotation waits for these centers alone; how it stands."""
    def stands():
        state = net.rest.get("/authority")
        return state if [center["center_name"] for center in state["waits_for"]] == list(names) else None
    return wait_until(stands, LIMIT_S, f"the rotation waiting for {names}", pause_s=0.2)


def wait_for_bundle(net, pem):
    wait_until(lambda: all(server.ca.read_text() == pem for server in net.servers), LIMIT_S, "ca.pem of both replicas")


def wait_for_replicas(net, signer_sha256):
    """Until all servers say that they follow, and sign by this authority."""
    def follow():
        states = [(one["state"], one["signer_sha256"]) for one in net.rest.get("/authority")["replicas"]]
        return states.count(("follows", signer_sha256)) >= len(net.servers)
    wait_until(follow, LIMIT_S, "all replicas following", pause_s=0.2)


def test_the_authority_is_replaced_while_a_job_runs(network):
    alpha, beta = network.add_agent("alpha"), network.add_agent("beta")
    replica = network.add_server(database=url_of_database(network))
    go_on = network.folder / "go-on"
    job = network.submit(command=["sh", "-c", f"while ! test -e {go_on}; do sleep 0.1; done"], units={"center": "alpha"})
    wait_until(lambda: network.job(job["id"])["state"] == "running", 120, "the job running")
    beta.process.stop()
    old_pair = copy_of_certificate(alpha, network.folder / "old-alpha")
    beta_pair = copy_of_certificate(beta, network.folder / "old-beta")
    old_only = network.folder / "old.pem"
    old_only.write_text(network.server.ca.read_text())
    assert "fathom authority rotate --begin" in network.cli("authority", "show")
    assert "rotate --begin" in refusal(network, step="switch", force=True)

    # Begin: all are told of both; the old one signs.
    assert "rotate --switch" in network.cli("authority", "rotate", "--begin")
    begun = wait_for_centers(network, "beta")
    assert begun["phase"] == "begun" and begun["ca_pem"].count("BEGIN CERTIFICATE") == 2
    wait_for_bundle(network, begun["ca_pem"])
    wait_for_replicas(network, begun["current"]["sha256"])
    assert (alpha.state_dir / "agent" / "ca.pem").read_text() == begun["ca_pem"]
    for server in network.servers:
        assert is_shown_to(old_only, server.port) and is_shown_to(old_only, server.agent_port)
        assert is_let_in(server, old_pair)
    told = refusal(network, step="switch")
    assert "beta" in told and "alpha" not in told

    # Switch: the new one signs, certificates of both are good.
    assert "beta" in network.cli("authority", "rotate", "--switch", "--force", "--yes")
    switched = wait_for_centers(network, "beta")
    assert switched["phase"] == "switched" and switched["current"]["sha256"] == begun["next"]["sha256"]
    assert switched["past"]["sha256"] == begun["current"]["sha256"]
    wait_for_bundle(network, switched["ca_pem"])
    wait_for_replicas(network, switched["current"]["sha256"])
    new_only = network.folder / "new.pem"
    end = "-----END CERTIFICATE-----\n"
    new_only.write_text(switched["ca_pem"].split(end)[0] + end)
    certificate = alpha.state_dir / "agent" / "agent-cert.pem"
    wait_until(lambda: certificate.read_bytes() != old_pair[0].read_bytes() and is_pair(alpha), LIMIT_S, "alpha's new certificate")
    new_pair = copy_of_certificate(alpha, network.folder / "new-alpha")
    for server in network.servers:
        for port in (server.port, server.agent_port):
            wait_until(lambda: is_shown_to(new_only, port), LIMIT_S, f"the new certificate of {server.name}")
            assert not is_shown_to(old_only, port)
        assert is_let_in(server, old_pair) and is_let_in(server, new_pair)
    told = refusal(network, step="finish")
    assert "beta" in told and "alpha" not in told
    assert "rotate --finish" in refusal(network, step="cancel")

    # Finish: the old one is nothing any more.
    network.cli("authority", "rotate", "--finish", "--force", "--yes")
    wait_for_bundle(network, new_only.read_text())
    for server in network.servers:
        for pair in (old_pair, beta_pair):
            wait_until(lambda: not is_let_in(server, pair), LIMIT_S, f"the refusal of an old certificate by {server.name}")
        assert is_let_in(server, new_pair)
    wait_until(lambda: (alpha.state_dir / "agent" / "ca.pem").read_text() == new_only.read_text(), LIMIT_S, "alpha trusting one")

    # The agent comes back, and what it ran was not disturbed.
    before = network.center("alpha")["connected_at"]
    alpha.process.stop()
    alpha.start()
    wait_until(lambda: network.center("alpha")["connected_at"] > before, 120, "alpha coming back")
    assert network.job(job["id"])["state"] == "running"
    go_on.touch()
    assert network.wait_job(job["id"])["state"] == "succeeded"
    actions = [entry["action"] for entry in network.rest.items("/audit-log") if entry["action"].startswith("authority.")]
    assert sorted(actions) == ["authority.begin", "authority.finish", "authority.switch"]
    assert not any("PRIVATE" in server.process.log() for server in network.servers)
    assert replica.process.alive()


def authority_without_replicas(network):
    """These say how long ago they followed."""
    return {name: value for name, value in network.rest.get("/authority").items() if name != "replicas"}


def test_a_cancelled_rotation_leaves_no_trace(network):
    before = authority_without_replicas(network)
    alpha = network.agents[0]

    network.cli("authority", "rotate", "--begin")
    wait_until(lambda: (alpha.state_dir / "agent" / "ca.pem").read_text().count("BEGIN") == 2, LIMIT_S, "alpha trusting both")
    network.cli("authority", "rotate", "--cancel")

    wait_until(lambda: authority_without_replicas(network) == before, LIMIT_S, "the authority being as before")
    wait_for_bundle(network, before["ca_pem"])
    wait_until(lambda: (alpha.state_dir / "agent" / "ca.pem").read_text() == before["ca_pem"], LIMIT_S, "alpha trusting one")


def test_only_administrators_see_and_replace_it(network):
    operator = network.rest.post("/tokens", {"name": "runs it", "role": "operator"})["token"]
    rest = network.rest_of(network.server, operator)
    assert rest.call("GET", "/authority").status_code == 403
    assert rest.call("POST", "/authority:rotate", json={"step": "begin"}).status_code == 403
