"""What people without rights cannot do to a server: keep agents out, or read on after their token was revoked."""
import contextlib
import socket
import ssl
import struct
import threading
import time

import pytest
import requests

from network import ENDED, Agent, Network, Rest, Server, agent_config, wait_until


@pytest.fixture
def network():
    with Network() as net:
        yield net


class FrugalNetwork(Network):
    """Its server may open few files."""

    def add_server(self, **arguments):
        server = Server(self.folder, f"fathomd-{len(self.servers)}", **arguments)
        server.process.arguments = ["sh", "-c", 'ulimit -n 256; exec "$@"', "sh", *server.process.arguments]
        self.servers.append(server)
        return server.start()


@pytest.fixture
def frugal_network():
    net = FrugalNetwork()
    try:
        yield net
    finally:
        net.close()


def idle_strangers(port, count):
    """Connections that do nothing: each second one has not even begun TLS."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    sockets = []
    for number in range(count):
        sockets.append(socket.create_connection(("127.0.0.1", port)))
        if number % 2 == 0:
            sockets[-1].settimeout(60)
            try:
                sockets[-1] = context.wrap_socket(sockets[-1])
            except OSError:
                pass  # the server may drop it
    return sockets


@contextlib.contextmanager
def crowd_of_strangers(port, count):
    """Idle ones for as long as the block takes: others come before those of now are sent away, which is after ten seconds."""
    crowds, is_over = [idle_strangers(port, count)], threading.Event()

    def come_again():
        while not is_over.wait(5):
            crowds.append(idle_strangers(port, count))
            del crowds[:-2]
    thread = threading.Thread(target=come_again, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
        crowds.clear()


def test_idle_strangers_keep_no_agent_out(frugal_network):
    net = frugal_network
    began = time.monotonic()
    agent = Agent(net.folder, "alpha", agent_config()).enrol(net.server, net.rest)
    net.agents.append(agent)

    with crowd_of_strangers(net.server.agent_port, 250):
        agent.start()
        wait_until(lambda: net.center("alpha")["state"] == "online", 120, "the agent being online among strangers")

    told = net.server.process.log().count("too_many_connections")
    assert told <= 3 + (time.monotonic() - began) / 10, "not one line for each"


class Follower(threading.Thread):
    """Reads a stream until the server ends it: not when nothing comes for a while."""

    def __init__(self, network, token, path):
        super().__init__(daemon=True)
        self.session = Rest(network.server.url, network.server.ca, token).session
        self.url, self.begun = f"{network.server.url}/api/v1{path}", threading.Event()

    def run(self):
        try:
            with self.session.get(self.url, stream=True, timeout=600) as answer:
                assert answer.status_code == 200
                self.begun.set()
                for _ in answer.iter_content(1):
                    pass
        except requests.RequestException:
            pass  # cut off


def end_of_streams_s(network, job):
    """How long streams go on after their token was revoked."""
    token = network.rest.post("/tokens", {"name": "reader", "role": "expert"})
    followers = [Follower(network, token["token"], path) for path in ("/events", f"/jobs/{job['id']}/logs/stdout?follow=true")]
    for follower in followers:
        follower.start()
        assert follower.begun.wait(120)
    time.sleep(1)
    assert all(follower.is_alive() for follower in followers)

    revoked = time.monotonic()
    assert network.rest.call("DELETE", f"/tokens/{token['id']}").status_code == 204
    for follower in followers:
        follower.join(120)
        assert not follower.is_alive()
    return time.monotonic() - revoked


def test_streams_end_when_their_token_is_revoked(network):
    network.add_agent("alpha")
    job = network.submit(command=["sleep", "600"])
    for _ in range(3):  # where the machine is held up for a while, the next time tells
        took_s = end_of_streams_s(network, job)
        if took_s < 20:
            break

    assert took_s < 20
    assert network.job(job["id"])["state"] not in ENDED, "they did not end with the job"
    network.rest.call("POST", f"/jobs/{job['id']}:cancel")


class Balancer:
    """Passes connections on to a server on 127.0.0.2, and tells who made each by a PROXY header, version 2."""

    def __init__(self, target, port=0, client="192.0.2.7"):
        self.target, self.client = target, client
        self.listener = socket.create_server(("127.0.0.1", port))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def header(self):
        addresses = socket.inet_aton(self.client) + socket.inet_aton("192.0.2.1") + struct.pack(">HH", 51234, 443)
        return b"\r\n\r\n\0\r\nQUIT\n\x21\x11" + struct.pack(">H", len(addresses)) + addresses

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.2", self.target))
                server.sendall(self.header())
            except OSError:
                client.close()  # the server does not listen yet
                continue
            for source, target in ((client, server), (server, client)):
                threading.Thread(target=pass_on, args=(source, target), daemon=True).start()

    def close(self):
        self.listener.close()


def pass_on(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # one side is gone


class BalancedServer(Server):
    """Stands on 127.0.0.2 behind a balancer for each of its ports: people and agents know 127.0.0.1 only."""

    def __init__(self, folder, name="fathomd", database=None, settings=()):
        super().__init__(folder, name, database, [*settings, "--proxy-networks", "127.0.0.0/8"])
        self.process.arguments = [str(argument).replace("127.0.0.1:", "127.0.0.2:") for argument in
                                  self.process.arguments] + ["--public-names", "127.0.0.1"]
        self.balancers = [Balancer(self.port, self.port), Balancer(self.agent_port)]
        self.agent_port = self.balancers[1].port  # as agents know it
        self.process.arguments += ["--agent-public-port", str(self.agent_port)]


class BalancedNetwork(Network):
    def add_server(self, **arguments):
        server = BalancedServer(self.folder, f"fathomd-{len(self.servers)}", **arguments)
        self.servers.append(server)
        return server.start()


@pytest.fixture
def balanced_network():
    net = BalancedNetwork()
    try:
        yield net
    finally:
        net.close()
        for server in net.servers:
            for balancer in server.balancers:
                balancer.close()


def status_of_guess(net, port, host="127.0.0.1", session=requests):
    secret = net.admin_token
    guess = secret[:8] + ("B" if secret[8] == "A" else "A") + secret[9:]
    answer = session.get(f"https://{host}:{port}/api/v1/jobs", verify=str(net.server.ca), timeout=120,
                          headers={"Authorization": f"Bearer {guess}"})
    return answer.status_code


def test_who_guesses_tokens_locks_out_nobody_else_behind_the_balancer(balanced_network):
    net = balanced_network
    agent = net.add_agent("alpha")
    other = Balancer(net.server.port, client="198.51.100.4")

    # One connection for all: failures are forgiven with time, and a busy machine needs some for each handshake.
    guesser = requests.Session()
    guesser.trust_env = False
    assert status_of_guess(net, net.server.port, session=guesser) == 401
    wait_until(lambda: status_of_guess(net, net.server.port, session=guesser) == 429, 120, "a refusal", pause_s=0)
    assert status_of_guess(net, other.port) == 401
    assert net.center(agent.name)["state"] == "online"
    with pytest.raises(requests.RequestException):  # only balancers may come from there
        status_of_guess(net, net.server.port, "127.0.0.2")
    wait_until(lambda: "proxy_header_refused" in net.server.process.log(), 120, "the refusal being said")
    other.close()
