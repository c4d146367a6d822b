"""What people without rights cannot do to a server: keep agents out, or read on after their token was revoked."""
import socket
import ssl
import threading
import time

import pytest
import requests

from network import Agent, Network, Rest, Server, agent_config, wait_until


@pytest.fixture
def network():
    net = Network()
    try:
        yield net
    finally:
        net.close()


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
            sockets[-1].settimeout(10)
            try:
                sockets[-1] = context.wrap_socket(sockets[-1])
            except OSError:
                pass  # the server may drop it
    return sockets


def test_idle_strangers_keep_no_agent_out(frugal_network):
    net = frugal_network
    agent = Agent(net.folder, "alpha", agent_config()).enrol(net.server, net.rest)
    net.agents.append(agent)

    strangers = idle_strangers(net.server.agent_port, 250)
    agent.start()
    began = time.monotonic()
    wait_until(lambda: net.center("alpha")["state"] == "online", 25, "the agent being online among strangers")

    assert time.monotonic() - began < 25
    assert len(strangers) == 250
    assert net.server.process.log().count("too_many_connections") <= 3

