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


def follow(rest, path, ended):
    try:
        with rest.call("GET", path, stream=True) as answer:
            assert answer.status_code == 200
            for _ in answer.iter_content(1):
                pass
    except requests.RequestException:
        pass  # cut off
    ended.append(time.monotonic())


def test_streams_end_when_their_token_is_revoked(network):
    network.add_agent("alpha")
    token = network.rest.post("/tokens", {"name": "reader", "role": "expert"})
    job = network.submit(command=["sleep", "60"])
    ended = []
    threads = []
    for path in ("/events", f"/jobs/{job['id']}/logs/stdout?follow=true"):
        rest = Rest(network.server.url, network.server.ca, token["token"])
        threads.append(threading.Thread(target=follow, args=(rest, path, ended), daemon=True))
        threads[-1].start()
    time.sleep(2)
    assert not ended

    revoked = time.monotonic()
    assert network.rest.call("DELETE", f"/tokens/{token['id']}").status_code == 204
    for thread in threads:
        thread.join(20)

    assert len(ended) == 2 and max(ended) - revoked < 20
    network.rest.call("POST", f"/jobs/{job['id']}:cancel")
