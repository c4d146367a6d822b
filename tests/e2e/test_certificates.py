"""The certificate of the REST listener by file: shown there alone, replaced while connections live, refused when it is not fit."""
import pathlib
import socket
import ssl
import subprocess

import pytest

from network import Network, wait_until

LOOK_S = 120  # fathomd looks every ten seconds


def openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, timeout=60)


class Issuer:
    """An authority that is not the network's, as a public one."""

    def __init__(self, folder):
        self.folder = folder
        self.pem = folder / "issuer.pem"
        self.key = folder / "issuer.key"
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", 30, "-subj", "/CN=Issuer",
                "-addext", "keyUsage=critical,keyCertSign", "-keyout", self.key, "-out", self.pem)

    def pair(self, days):
        """Certificate with its chain and key, as text, and the serial number."""
        request, key, certificate, extensions = (self.folder / f"pair.{ending}" for ending in ("csr", "key", "pem", "ext"))
        extensions.write_text("subjectAltName=IP:127.0.0.1\n")
        openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=127.0.0.1",
                "-keyout", key, "-out", request)
        openssl("x509", "-req", "-in", request, "-CA", self.pem, "-CAkey", self.key, "-CAcreateserial", "-days", days,
                "-extfile", extensions, "-out", certificate)
        serial = subprocess.run(["openssl", "x509", "-in", certificate, "-noout", "-serial"], check=True, capture_output=True,
                                text=True).stdout.strip().removeprefix("serial=")
        return certificate.read_text() + self.pem.read_text(), key.read_text(), serial


class Files:
    """What fathomd's settings name; the key as only the owner may read it."""

    def __init__(self, folder):
        self.certificate, self.key = folder / "rest.pem", folder / "rest.key"

    def write(self, certificate, key):
        for path, text in ((self.certificate, certificate), (self.key, key)):
            new = pathlib.Path(f"{path}.new")
            new.touch(mode=0o600)
            new.write_text(text)
            new.replace(path)

    def settings(self):
        return ("--tls-certificate", self.certificate, "--tls-key", self.key)


@pytest.fixture(scope="module")
def issuer(tmp_path_factory):
    return Issuer(tmp_path_factory.mktemp("issuer"))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return Files(tmp_path_factory.mktemp("files"))


@pytest.fixture(scope="module")
def network(issuer, files):
    certificate, key, _ = issuer.pair(days=30)
    files.write(certificate, key)
    with Network(settings=files.settings(), rest_ca=issuer.pem) as net:
        yield net


def connect(port, ca):
    return ssl.create_default_context(cafile=str(ca)).wrap_socket(
        socket.create_connection(("127.0.0.1", port), timeout=60), server_hostname="127.0.0.1")


def shown(port, ca):
    """The serial number of what a new connection is shown."""
    with connect(port, ca) as connection:
        return connection.getpeercert()["serialNumber"]


def ask(connection):
    """One request on a connection that stays open; the status line."""
    connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    answer = b""
    while b"\r\n\r\n" not in answer:
        part = connection.recv(4096)
        assert part, "the connection has ended"
        answer += part
    return answer.split(b"\r\n")[0]


def test_people_see_the_file_and_agents_the_networks_own(network, issuer):
    ours = shown(network.server.port, issuer.pem)
    assert shown(network.server.agent_port, network.server.ca) != ours
    for port, ca in ((network.server.port, network.server.ca), (network.server.agent_port, issuer.pem)):
        with pytest.raises(ssl.SSLCertVerificationError):
            shown(port, ca)
    network.add_agent("alpha")  # enrols, and comes with its own certificate
    assert network.cli("center", "list")
    gauges = {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in network.rest.call("GET", "/metrics").text.splitlines()
              if line.startswith("fathom_certificate_expires_seconds")}
    days = {name.split('"')[1]: seconds / 86400 for name, seconds in gauges.items()}
    assert 29 < days["rest"] <= 30 and days["agents"] > 365 and days["authority"] > 3000


def test_a_new_pair_is_shown_while_connections_live(network, issuer, files):
    certificate, key, serial = issuer.pair(days=5)
    with connect(network.server.port, issuer.pem) as living:
        files.write(certificate, key)

        def is_shown():
            assert ask(living) == b"HTTP/1.1 200 OK"  # which also keeps it from being closed as idle
            return shown(network.server.port, issuer.pem) == serial
        wait_until(is_shown, LOOK_S, "the new certificate", pause_s=1)
        assert ask(living) == b"HTTP/1.1 200 OK"
        assert living.getpeercert()["serialNumber"] != serial
    assert network.server.process.log().count('"event":"certificate_expires_soon"') == 1


def test_a_bad_pair_is_refused_and_the_old_one_stays(network, issuer, files):
    before = shown(network.server.port, issuer.pem)
    certificate, key, serial = issuer.pair(days=20)
    _, key_of_another, _ = issuer.pair(days=20)
    for bad, why in (((certificate, key_of_another), "does not belong to the certificate"), (("notes", key), "is not PEM"),
                     ((certificate[:-200], key), "cut off or damaged")):
        files.write(*bad)
        wait_until(lambda: any('"event":"certificate_refused"' in line and why in line and str(files.certificate) in line
                               for line in network.server.process.log().splitlines()), LOOK_S, f"the refusal: {why}")
        assert shown(network.server.port, issuer.pem) == before
    files.write(certificate, key)
    wait_until(lambda: shown(network.server.port, issuer.pem) == serial, LOOK_S, "the mended certificate", pause_s=1)
    assert "PRIVATE KEY" not in network.server.process.log()


def test_a_bad_pair_at_the_start_is_told_before_anything_is_made(network, issuer, tmp_path):
    program = network.server.process.arguments[0]
    bad = Files(tmp_path)
    certificate, key, _ = issuer.pair(days=20)

    def start(*settings):
        state = tmp_path / "second"
        outcome = subprocess.run([program, "--state-dir", state, "--listen", "127.0.0.1:0", "--agent-listen", "127.0.0.1:0", *settings],
                                 capture_output=True, text=True, timeout=300)
        assert not (state / "postgres").exists()
        return outcome.returncode, outcome.stderr

    code, said = start(*bad.settings())
    assert code == 1 and f"cannot open {bad.certificate}: No such file" in said
    bad.write(certificate, issuer.key.read_text())
    code, said = start(*bad.settings())
    assert code == 1 and f"tls_key {bad.key}: the private key does not belong to the certificate" in said
    bad.key.write_text("")
    code, said = start(*bad.settings())
    assert code == 1 and "the private key is not an unencrypted PEM key" in said
    code, said = start("--tls-certificate", bad.certificate)
    assert code == 2 and "tls_certificate and tls_key need each other" in said
    bad.write(certificate, key)
    bad.certificate.unlink()
    bad.certificate.mkdir()
    code, said = start(*bad.settings())
    assert code == 1 and f"{bad.certificate} is no plain file" in said
