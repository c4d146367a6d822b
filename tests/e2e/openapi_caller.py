"""Calls a running server and holds its answers to schema/openapi.yaml."""
import time

import pytest
import requests

import openapi_check as check

A = "/api/v1"
CHANGING = ("POST", "PUT", "PATCH", "DELETE")


class Caller:
    """Sends requests and holds every answer to the document."""

    def __init__(self, network):
        self.url, self.session = network.url, requests.Session()
        self.session.trust_env = False  # else REQUESTS_CA_BUNDLE of the environment wins over verify
        self.session.verify = str(network.ca)
        self.session.headers["Authorization"] = f"Bearer {network.admin_token}"
        self.seen = set()
        self.changes = []  # (operationId, request id) of each change that was answered well

    def __call__(self, method, path, expect=200, **arguments):
        answer = self.patient(method, path, expect, **arguments)
        assert answer.status_code == expect, f"{method} {path}: {answer.status_code} {answer.text}"
        check.check_requests_response(answer)
        operation = check.find_operation(method, path)[1]["operationId"]
        self.seen.add(operation)
        if method in CHANGING and answer.ok:
            self.changes.append((operation, answer.headers["X-Request-Id"]))
        return answer

    def patient(self, method, path, expect, limit_s=60, **arguments):
        """On a busy machine more may be asked in a while than a token may: then it is asked again, as clients do."""
        end = time.monotonic() + limit_s
        while True:
            answer = self.session.request(method, self.url + path, timeout=120, **arguments)
            if answer.status_code != 429 or expect == 429 or time.monotonic() > end:
                return answer
            time.sleep(min(float(answer.headers.get("Retry-After", 1)), 5))


@pytest.fixture(scope="session")
def call(shared_network):
    """Of all files of a run, so that the last one can tell what was never called."""
    return Caller(shared_network)
