"""An agent's connection to fathomd as far as a benchmark needs one: it says hello, lives, and asks when its messages were read."""
import base64
import http.client
import json
import os
import socket
import ssl
import struct
import subprocess

TEXT, CLOSE, PING, PONG = 1, 8, 9, 10
LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
ANSWER_LIMIT_S = 60


def frame(kind, payload):
    """A whole WebSocket message or control frame of a client, which masks what it sends (RFC 6455)."""
    mask = os.urandom(4)
    if len(payload) < 126:
        head = struct.pack("!BB", 0x80 | kind, 0x80 | len(payload))
    elif len(payload) < 1 << 16:
        head = struct.pack("!BBH", 0x80 | kind, 0x80 | 126, len(payload))
    else:
        head = struct.pack("!BBQ", 0x80 | kind, 0x80 | 127, len(payload))
    return head + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))


def read_frame(stream):
    """@param stream  with read(count), of a server, which does not mask. @return kind and payload"""
    first, second = stream.read(2)
    length = second & 0x7F
    if length >= 126:
        size = 2 if length == 126 else 8
        length = int.from_bytes(stream.read(size), "big")
    return first & 0x0F, stream.read(length)


def message(kind, body):
    identifier = "msg_0" + "".join(LETTERS[byte % 32] for byte in os.urandom(25))
    return json.dumps({"v": 1, "id": identifier, "type": kind, "body": body}).encode()


def enrol(rest, name, folder):
    """A center of this name with a certificate of its own. @return what the server said, with the file of certificate and key"""
    key = folder / f"{name}.key.pem"
    request = subprocess.run(
        ["openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-subj",
         "/CN=fathom-agent"], capture_output=True, text=True, check=True).stdout
    token = rest.post("/enrolment-tokens", {"center_name": name})["token"]
    enrolment = rest.post("/agents:enrol", {"token": token, "signing_request_pem": request})
    credential = folder / f"{name}.pem"
    credential.write_text(enrolment["certificate_pem"] + key.read_text())
    return {**enrolment, "credential": credential}


class LinkClient:
    """Of a center that offers no units. For one thread."""

    def __init__(self, enrolment):
        trusted = ssl.create_default_context(cadata=enrolment["ca_pem"])
        trusted.load_cert_chain(enrolment["credential"])
        connection = socket.create_connection(("127.0.0.1", enrolment["agent_port"]), ANSWER_LIMIT_S)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = trusted.wrap_socket(connection, server_hostname="127.0.0.1")
        self.stream = self.socket.makefile("rb")
        self.pings = 0
        self.upgrade()
        self.say("hello", {"agent_version": "0.1.0", "catalog": {"unit_types": [], "facts": {}}, "inventory": []})
        while self.hear() != "welcome":
            pass

    def upgrade(self):
        self.socket.sendall(b"GET /link/v1 HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + base64.b64encode(os.urandom(16)) + b"\r\n\r\n")
        status = self.stream.readline()
        http.client.parse_headers(self.stream)
        assert b" 101 " in status, status

    def say(self, kind, body):
        self.socket.sendall(frame(TEXT, message(kind, body)))

    def hear(self):
        """Answers what comes next, and says what it was: a message's type, or the number of the ping that was answered."""
        kind, payload = read_frame(self.stream)
        if kind == PING:
            self.socket.sendall(frame(PONG, payload))
        elif kind == PONG:
            return int(payload)
        elif kind == TEXT:
            told = json.loads(payload)
            if told["type"] not in ("welcome", "ack"):
                self.say("ack", {"of": told["id"]})
            return told["type"]
        assert kind != CLOSE, f"the server has closed the connection: {payload}"
        return None

    def beat(self):
        """Sends a heartbeat and waits until the server has taken it in: of a connection everything is read in order, and the answer
        to a ping behind it comes when the next message is waited for."""
        self.pings += 1
        heartbeat = message("heartbeat", {"load_1min": 0.5, "running_attempts": 0, "spooled_messages": 0})
        self.socket.sendall(frame(TEXT, heartbeat) + frame(PING, str(self.pings).encode()))
        while self.hear() != self.pings:
            pass

    def close(self):
        self.socket.close()
