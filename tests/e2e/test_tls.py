"""Both listeners as a scanner sees them, held to what SSL Labs asks of the grade A+ (SSL Server Rating Guide, 2009q): TLS 1.2 and
1.3 alone, only ciphers with forward secrecy and authenticated encryption, a strong key, no compression, no renegotiation, no
Heartbleed, and a browser that is told to come by TLS only."""
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest

ALLOWED = {"tls 1.2", "tls 1.3"}
HALF_A_YEAR_S = 15_768_000


@pytest.fixture(scope="module", params=["port", "agent_port"])
def scan(network, request):
    port = getattr(network.server, request.param)
    outcome = subprocess.run(["sslscan", "--xml=-", "--timeout=60", f"127.0.0.1:{port}"],
                             capture_output=True, text=True, timeout=900)
    assert outcome.returncode == 0, outcome.stderr
    return ElementTree.fromstring(outcome.stdout).find("ssltest")


def test_only_tls_1_2_and_1_3(scan):
    enabled = {f"{one.get('type')} {one.get('version')}" for one in scan.iter("protocol") if one.get("enabled") == "1"}
    assert enabled == ALLOWED


def test_every_cipher_has_forward_secrecy_and_authenticated_encryption(scan):
    ciphers = [(one.get("sslversion"), one.get("cipher"), int(one.get("bits"))) for one in scan.iter("cipher")]
    assert len(ciphers) >= 4
    for version, name, bits in ciphers:
        assert bits >= 128, name
        assert version == "TLSv1.3" or (name.startswith("ECDHE-") and ("GCM" in name or "POLY1305" in name)), name


def test_the_key_is_strong_and_its_certificate_valid(scan):
    certificate = scan.find("certificates/certificate")
    key = certificate.find("pk")
    assert key.get("type") == "EC" and key.get("curve_name") in ("prime256v1", "secp384r1")
    assert certificate.findtext("signature-algorithm") in ("ecdsa-with-SHA256", "ecdsa-with-SHA384")
    assert certificate.findtext("expired") == "false" and certificate.findtext("self-signed") == "false"


def test_no_known_weakness(scan):
    assert all(one.get("supported") == "0" for one in scan.iter("compression"))
    assert all(one.get("supported") == "0" for one in scan.iter("renegotiation")), "a client could ask for work without end"
    assert all(one.get("vulnerable") == "0" for one in scan.iter("heartbleed"))
    assert all(int(one.get("bits")) >= 112 for one in scan.iter("group"))


def test_browsers_come_by_tls_only(network):
    answer = network.rest.session.get(network.server.url + "/", timeout=60)
    policy = dict(part.strip().partition("=")[::2] for part in answer.headers["Strict-Transport-Security"].split(";"))
    assert int(policy["max-age"]) >= HALF_A_YEAR_S
