"""A client of the Kubernetes API, for the nodes and for tests."""
import contextlib
import json

import requests


class Client:
    def __init__(self, url, ca, token):
        self.url, self.ca, self.token = url, str(ca), token

    def call(self, method, path, body=None, timeout_s=60, **more):
        """The answer, whatever its status. requests.RequestException: there is none."""
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        if body is not None:
            headers["Content-Type"] = "application/merge-patch+json" if method == "PATCH" else "application/json"
        headers |= more.pop("headers", {})
        content = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        with requests.Session() as session:
            session.trust_env = False
            return session.request(method, self.url + path, data=content, headers=headers, verify=self.ca, timeout=timeout_s, **more)

    def done(self, method, path, body=None, **more):
        """The answer's object; AssertionError: it was refused."""
        answer = self.call(method, path, body, **more)
        assert answer.status_code < 300, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json()

    def events(self, path, limit_s=60):
        """(type, object) of a watch, until the server ends it. `path` has its query."""
        with requests.Session() as session:
            session.trust_env = False
            with session.get(self.url + path, headers={"Authorization": f"Bearer {self.token}"}, verify=self.ca, stream=True,
                             timeout=(60, limit_s)) as answer:
                assert answer.status_code == 200, f"{path}: {answer.status_code} {answer.text}"
                for line in answer.iter_lines(chunk_size=1):
                    if line:
                        event = json.loads(line)
                        yield event["type"], event["object"]

    def upsert(self, path, item):
        """As it is wanted, whether it was there or not."""
        answer = self.call("POST", path, item)
        if answer.status_code != 409:
            assert answer.status_code < 300, f"{path}: {answer.status_code} {answer.text}"

    def follow(self, path, query, seen, is_stopping):
        """Calls seen(object or None where it is gone, its uid) for each of a list and for each change, for good."""
        known = {}
        while not is_stopping.is_set():
            with contextlib.suppress(requests.RequestException, AssertionError, ValueError):
                listed = self.done("GET", f"{path}?{query}")
                fresh = {item["metadata"]["uid"]: item for item in listed["items"]}
                for uid in set(known) - set(fresh):
                    seen(None, uid)
                for uid, item in fresh.items():
                    seen(item, uid)
                known = fresh
                version = listed["metadata"]["resourceVersion"]
                watched = f"{path}?watch=1&{query}&resourceVersion={version}&timeoutSeconds=30"
                for kind, item in self.events(watched):
                    if kind == "ERROR" or is_stopping.is_set():
                        break
                    if kind == "BOOKMARK":
                        continue
                    uid = item["metadata"]["uid"]
                    if kind == "DELETED":
                        known.pop(uid, None)
                    else:
                        known[uid] = item
                    seen(None if kind == "DELETED" else item, uid)
            is_stopping.wait(0.2)
