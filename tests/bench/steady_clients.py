"""Clients of fathomd that ask at a steady pace, whatever it has to do, and how long they wait for their answers."""
import http.client
import itertools
import math
import ssl
import sys
import threading
import time

from link_client import LinkClient, enrol

# Of each kind: few enough that they wait for nothing but what else the server does.
CLIENTS, ASKED_PER_S, ASKED_FOR_S = 2, 50, 30
# A server checks no token again within five seconds (TokenCache::kFresh): so many that each is asked with once in six.
TOKENS = 6 * ASKED_PER_S
FIRST_ASKED_S = 1  # connections and plans of queries are made then


def percentile(values, share):
    """The smallest value that at least this share of all does not exceed."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def ask_steadily(ask, per_s, seconds, clock=time.monotonic, sleep=time.sleep):
    """Asks at a steady pace. @return how long each answer took, in seconds; what had to wait for an earlier answer began when its
    time was, so that one that comes late counts as often as it kept somebody waiting."""
    waits = []
    start_s = clock()
    for number in range(round(per_s * seconds)):
        due_s = start_s + number / per_s
        early_s = due_s - clock()
        if early_s > 0:
            sleep(early_s)
            due_s = clock()  # when we were woken up is no fault of who is asked
        ask()
        waits.append(clock() - due_s)
    return waits


class RestClient:
    """One connection, whose answers are read and have to be good."""

    def __init__(self, server, path, tokens):
        context = ssl.create_default_context(cafile=str(server.ca))
        self.connection = http.client.HTTPSConnection("127.0.0.1", server.port, context=context, timeout=60)
        self.path = path
        self.tokens = itertools.cycle(tokens)

    def ask(self):
        self.connection.request("GET", self.path, headers={"Authorization": f"Bearer {next(self.tokens)}"})
        answer = self.connection.getresponse()
        text = answer.read()
        assert answer.status == 200, f"{self.path}: {answer.status} {text[:500]}"

    def close(self):
        self.connection.close()


class SteadyClients:
    """Of three kinds. requests: how a job stands that has long ended, which is read from the database. authentication: who one is, with
    tokens that are looked up each time. heartbeats: of agents, until they are taken in."""

    def __init__(self, net, ended_job):
        rest = net.rest
        tokens = [rest.post("/tokens", {"name": f"steady-{number}", "role": "user"})["token"] for number in range(TOKENS)]
        self.server, self.admin_token = net.server, net.admin_token
        self.job_path = f"/api/v1/jobs/{ended_job}"
        self.tokens = [tokens[client::CLIENTS] for client in range(CLIENTS)]
        self.enrolments = [enrol(rest, f"steady-{client}", net.folder) for client in range(CLIENTS)]

    def make(self, kind, client):
        """@return who asks, and how"""
        if kind == "requests":
            one = RestClient(self.server, self.job_path, [self.admin_token])
            return one, one.ask
        if kind == "authentication":
            one = RestClient(self.server, "/api/v1/session", self.tokens[client])
            return one, one.ask
        one = LinkClient(self.enrolments[client])
        return one, one.beat

    def p99_ms(self):
        """By kind; all ask at the same time."""
        waits = {kind: [] for kind in ("requests", "heartbeats", "authentication")}
        failures = []

        def work(kind, client):
            try:
                one, ask = self.make(kind, client)
                ask_steadily(ask, ASKED_PER_S / CLIENTS, FIRST_ASKED_S)
                waits[kind] += ask_steadily(ask, ASKED_PER_S / CLIENTS, ASKED_FOR_S)
                one.close()
            except Exception as error:  # whatever it is, the figures would not be of what they say
                failures.append(f"{kind}: {error!r}")

        threads = [threading.Thread(target=work, args=(kind, client)) for kind in waits for client in range(CLIENTS)]
        # A thread that has its answer goes on at once, not when the others' turn is over.
        sys.setswitchinterval(0.0005)
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            sys.exit("steady clients: " + "; ".join(failures))
        return {kind: 1000 * percentile(of_kind, 0.99) for kind, of_kind in waits.items()}
