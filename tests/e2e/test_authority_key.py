"""The authority's key: in the database only encrypted, with a key that lies in a file of the replicas."""
import json
import os
import shutil
import socket
import ssl
import subprocess

import pytest

from network import Network, Server, wait_until


@pytest.fixture(scope="module")
def network():
    with Network() as net:
        yield net


def sql(net, statement):
    """As the machine's administrator may ask the embedded database."""
    commands = [json.loads(line)["psql"] for line in net.server.process.log().splitlines() if '"psql"' in line]
    return subprocess.run(f"{commands[-1].removeprefix('sudo ')} -qAtc \"$STATEMENT\"", shell=True, check=True, capture_output=True, text=True,
                          timeout=60, env={**os.environ, "STATEMENT": statement}).stdout.strip()


def url_of_database(net):
    lines = next(iter(net.server.state_dir.rglob("postmaster.pid"))).read_text().splitlines()
    return f"postgresql:///fathom?host={lines[4].strip()}&port={lines[3].strip()}&user={sql(net, 'SELECT current_user')}"


def refusal(server):
    """Starts what is not to start; what it says then."""
    known = len(server.process.log()) if server.process.log_path.exists() else 0
    server.process.start()
    assert server.process.process.wait(120) == 1
    return server.process.log()[known:]


def test_a_dump_does_not_have_the_key(network):
    key = network.server.state_dir / "authority.key"
    assert key.stat().st_mode & 0o777 == 0o600 and len(key.read_text().strip()) == 64
    assert sql(network, "SELECT key_pem IS NULL AND sealed_key IS NOT NULL FROM authority") == "t"
    row = sql(network, "SELECT encode(sealed_key, 'escape') FROM authority")
    assert len(row) > 100 and "PRIVATE" not in row
    assert key.read_text().strip() not in network.server.process.log()
    network.add_agent("alpha")  # its certificate is signed


def test_a_restart_keeps_the_authority(network):
    before = network.server.ca.read_text()
    assert network.server.process.stop() == 0
    network.server.start()
    assert network.server.ca.read_text() == before
    network.wait_online(network.agents[0])


def test_a_replica_needs_the_same_key(network):
    url = url_of_database(network)
    first = network.server.state_dir / "authority.key"
    replica = Server(network.folder, "replica", url)
    own = replica.state_dir / "authority.key"
    replica.process.arguments = [str(own) if part == str(first) else part for part in replica.process.arguments]
    assert str(own) in replica.process.arguments

    assert f"there is no {own}, with which the network's authority" in refusal(replica)
    assert not own.exists()
    own.write_text("ab" * 32 + "\n")
    own.chmod(0o644)
    assert f"{own} does not open the network's authority in the database" in refusal(replica)
    own.write_text("not a key\n")
    assert f"{own} must hold 64 hexadecimal digits" in refusal(replica)
    assert '"event":"authority_key_readable_by_all"' in replica.process.log()
    shutil.copy(first, own)
    network.servers.append(replica)
    replica.start()
    assert replica.ca.read_text() == network.server.ca.read_text()
    with ssl.create_default_context(cafile=str(network.server.ca)).wrap_socket(
            socket.create_connection(("127.0.0.1", replica.agent_port), timeout=60), server_hostname="127.0.0.1"):
        pass  # signed by the same authority
    assert replica.process.stop() == 0


def test_a_key_in_clear_is_encrypted_at_the_next_start(network):
    before = network.server.ca.read_text()
    # As an older fathomd left it: another network's authority, which openssl makes here.
    key, certificate = network.folder / "plain.key", network.folder / "plain.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "99",
                    "-subj", "/CN=Older", "-keyout", key, "-out", certificate], check=True, capture_output=True, timeout=60)
    sql(network, f"UPDATE authority SET sealed_key = NULL, key_pem = '{key.read_text()}', certificate_pem = '{certificate.read_text()}'")
    assert network.server.process.stop() == 0

    network.server.start()

    assert network.server.ca.read_text() == certificate.read_text() != before
    assert sql(network, "SELECT key_pem IS NULL AND sealed_key IS NOT NULL FROM authority") == "t"
    wait_until(lambda: '"event":"authority_encrypted"' in network.server.process.log(), 120, "the log of it")
