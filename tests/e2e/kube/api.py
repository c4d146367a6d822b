"""The stand-in's API server: paths, tokens and rights, answers and watches by HTTPS."""
import collections
import http.server
import json
import re
import time
import urllib.parse

import requests

from kube import errors, schema
from kube.selectors import selector
from kube.server import drop
from kube.verbs import KINDS

PATHS = re.compile(r"/(?:api/(?P<core>v1)|apis/(?P<group>batch)/v1)(?:/namespaces/(?P<namespace>[^/]+))?"
                   r"/(?P<resource>pods|nodes|jobs)(?:/(?P<name>[^/]+)(?:/(?P<part>status|log))?)?")
PUBLIC = {"/healthz": "ok", "/livez": "ok", "/readyz": "ok"}
BOOKMARK_S = 1.0
Call = collections.namedtuple("Call", "at verb resource name code")


def flag(query, name):
    return query.get(name, "") in ("1", "true", "True")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    cluster = None  # the StandIn; set in a class of its own

    def log_message(self, *_):
        """Nothing: `cluster.calls` keeps what was asked."""

    def do(self):
        self.verb, self.resource, self.name, self.query, self.body = "", "", "", {}, None
        try:
            length = int(self.headers.get("Content-Length") or 0)
            content = self.rfile.read(length) if length else b""
            path, _, text = self.path.partition("?")
            self.query = dict(urllib.parse.parse_qsl(text, keep_blank_values=True))
            self.answer(path, content)
        except errors.Refused as refused:
            self.send(refused.code, refused.status(), refused.retry_after_s)
        except OSError:  # the client is gone
            self.close_connection = True

    do_GET = do_POST = do_DELETE = do_PATCH = do_PUT = do

    def answer(self, path, content):
        if path in PUBLIC:
            return self.send(200, PUBLIC[path])
        if path == "/version":
            return self.send(200, self.cluster.version)
        user = self.user()
        found = PATHS.fullmatch(path)
        if not found or (found["resource"] == "jobs") != bool(found["group"]):
            raise errors.Refused(404, "NotFound", "the server could not find the requested resource")
        namespace, self.resource, self.name, part = found["namespace"], found["resource"], found["name"], found["part"]
        self.verb = self.verb_of(namespace)
        shown = self.resource + (f"/{part}" if part else "")
        if not user.may(self.verb, found["group"] or "", shown, namespace):
            where = f'in the namespace "{namespace}"' if namespace else "at the cluster scope"
            raise errors.Refused(403, "Forbidden", f'{errors.full_name(self.resource)} is forbidden: User "{user.name}" cannot '
                                 f'{self.verb} resource "{shown}" in API group "{found["group"] or ""}" {where}',
                                 {"kind": self.resource, **({"name": self.name} if self.name else {})})
        # Faults are the agent's to bear, not the nodes'.
        fault = self.cluster.faults.take(self.verb, shown) if user.rules is not None else None
        if fault and fault.action == "refuse":
            reason = {429: "TooManyRequests", 500: "InternalError", 503: "ServiceUnavailable"}.get(fault.code, "Unknown")
            raise errors.Refused(fault.code, reason, "the test wants it so", retry_after_s=fault.retry_after_s)
        if fault and fault.action == "drop":
            return self.drop()
        self.body = self.parsed(content)
        if self.verb == "watch":
            return self.watch(namespace)
        code, result = self.act(namespace, part)
        if fault and fault.action == "cut":
            return self.drop()
        return self.send(code, result)

    def user(self):
        kind, _, token = (self.headers.get("Authorization") or "").partition(" ")
        if kind != "Bearer":
            return self.cluster.anonymous
        if token not in self.cluster.users:
            raise errors.Refused(401, "Unauthorized", "Unauthorized")
        return self.cluster.users[token]

    def verb_of(self, namespace):
        if self.command == "GET" and not self.name:
            return "watch" if flag(self.query, "watch") else "list"
        needs_namespace = self.resource != "nodes" and not namespace
        if needs_namespace or (self.command == "POST") == bool(self.name) or self.command == "PUT":
            raise errors.Refused(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")
        named = {"GET": "get", "POST": "create", "PATCH": "patch", "DELETE": "delete" if self.name else "deletecollection"}
        return named[self.command]

    def parsed(self, content):
        if self.command in ("GET", "HEAD") or not content:
            return {}
        kind = (self.headers.get("Content-Type") or "application/json").partition(";")[0].strip()
        if kind not in (("application/merge-patch+json",) if self.command == "PATCH" else ("application/json",)):
            raise errors.Refused(415, "UnsupportedMediaType", "the body of the request was in an unknown format - accepted media "
                                 "types include: application/json")
        try:
            return json.loads(content)
        except ValueError as wrong:
            raise errors.bad_request(f"couldn't get version/kind; json parse error: {wrong}") from wrong

    def act(self, namespace, part):
        verbs, resource, name = self.cluster.verbs, self.resource, self.name
        if self.verb == "list":
            return 200, verbs.list(resource, namespace, self.query)
        if self.verb == "create":
            return 201, verbs.create(resource, namespace, self.body, self.query)
        if self.verb == "get" and part == "log":
            return self.log_of(verbs.store.get("pods", namespace, name))
        if self.verb == "get":
            return 200, verbs.store.get(resource, namespace, name)
        if self.verb == "patch":
            return 200, verbs.patch(resource, namespace, name, self.body, part)
        if self.verb != "delete":
            raise errors.Refused(405, "MethodNotAllowed", "the stand-in does not do that")
        schema.check_fields(self.body, schema.DELETE_OPTIONS, "DeleteOptions", "v1")
        options = {key: self.query[key] for key in ("propagationPolicy",) if key in self.query} | self.body
        if "gracePeriodSeconds" in self.query:
            options["gracePeriodSeconds"] = int(self.query["gracePeriodSeconds"])
        return 200, verbs.delete(resource, namespace, name, options)

    def log_of(self, pod):
        """As the pod's node gives it."""
        container = self.query.get("container") or pod["spec"]["containers"][0]["name"]
        if container not in [one["name"] for one in pod["spec"]["containers"]]:
            raise errors.bad_request(f"container {container} is not valid for pod {self.name}")
        if not pod["spec"].get("nodeName"):
            raise errors.bad_request(f'pod {self.name} does not have a host assigned')
        node = self.cluster.store.get("nodes", None, pod["spec"]["nodeName"])
        port = node["status"]["daemonEndpoints"]["kubeletEndpoint"]["Port"]
        rest = urllib.parse.urlencode({key: value for key, value in self.query.items() if key != "container"})
        try:
            given = requests.get(f"https://127.0.0.1:{port}/containerLogs/{pod['metadata']['namespace']}/{self.name}/{container}?{rest}",
                                 verify=str(self.cluster.ca), timeout=60)
        except requests.RequestException as wrong:
            raise errors.Refused(500, "InternalError", f"Internal error occurred: {wrong}") from wrong
        if given.status_code != 200:
            raise errors.Refused(given.status_code, "BadRequest", given.text)
        return 200, given.content

    def watch(self, namespace):
        store, resource = self.cluster.store, self.resource
        selects, version = selector(resource, self.query), self.query.get("resourceVersion") or "0"
        if not version.isdigit():
            raise errors.Refused(400, "BadRequest", f'resourceVersion: Invalid value: "{version}": invalid syntax')
        end = time.monotonic() + float(self.query.get("timeoutSeconds") or 1800)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.note(200)
        seen = int(version)
        if seen == 0:
            items, seen = store.list(resource, namespace)
            for item in filter(selects, items):
                self.event("ADDED", item)
        seen = max(seen, 0)
        last_bookmark = time.monotonic()
        is_first = True  # however late it is: what has happened already is told
        while not self.server.is_closing and (is_first or time.monotonic() < end):
            is_first = False
            try:
                changes = store.since(seen, min(0.2, max(end - time.monotonic(), 0)))
            except errors.Refused as refused:
                self.event("ERROR", refused.status())
                break
            for change in changes:
                self.tell(change, namespace, selects)
                seen = change.version
            if flag(self.query, "allowWatchBookmarks") and time.monotonic() - last_bookmark > BOOKMARK_S:
                last_bookmark = time.monotonic()
                kind, of = KINDS[resource]
                self.event("BOOKMARK", {"kind": kind, "apiVersion": of, "metadata": {"resourceVersion": str(seen),
                                                                                    "creationTimestamp": None}})
        if self.server.is_closing:
            return self.drop()
        self.wfile.write(b"0\r\n\r\n")

    def tell(self, change, namespace, selects):
        """For who watches a selection, what comes into it is added, and what leaves it deleted."""
        of = change.after or change.before
        if change.resource != self.resource or namespace not in (None, of["metadata"].get("namespace")):
            return
        was, is_in = bool(change.before and selects(change.before)), bool(change.after and selects(change.after))
        if was or is_in:
            kind = "MODIFIED" if was and is_in else "ADDED" if is_in else "DELETED"
            shown = {**of, "metadata": {**of["metadata"], "resourceVersion": str(change.version)}}
            self.event(kind, shown)

    def event(self, kind, item):
        line = json.dumps({"type": kind, "object": item}).encode() + b"\n"
        # Not in one piece: who reads must not take a piece for a line.
        for part in (line[:len(line) // 2], line[len(line) // 2:]):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
        self.wfile.flush()

    def drop(self):
        self.note(0)
        self.close_connection = True
        drop(self.connection)

    def note(self, code):
        self.cluster.calls.append(Call(time.monotonic(), self.verb, self.resource, self.name, code))

    def send(self, code, result, retry_after_s=None):
        self.note(code)
        content = result if isinstance(result, bytes) else (
            result.encode() if isinstance(result, str) else json.dumps(result).encode() + b"\n")
        self.send_response(code)
        self.send_header("Content-Type", "application/json" if isinstance(result, dict) else "text/plain")
        self.send_header("Content-Length", str(len(content)))
        if retry_after_s is not None:
            self.send_header("Retry-After", str(retry_after_s))
        self.end_headers()
        self.wfile.write(content)
