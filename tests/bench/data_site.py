#!/usr/bin/env python3
"""A data site for the network_fetch probe, on the loopback device or the address given: prints its URL, serves until its
input ends."""
import http.server
import sys
import threading
import urllib.parse

TABLE = bytes((low * 131) & 0xFF for low in range(256))
MOST_BYTES = 1 << 28


def content(size, seed):
    """Byte i is (131*i + 31*(i >> 8) + seed) & 255: 256 rows of 256 bytes, then the same again."""
    rows = [bytes((byte + 31 * row + seed) & 0xFF for byte in TABLE) for row in range(256)]
    turn = b"".join(rows)
    return (turn * (size // len(turn) + 1))[:size]


class DataSite(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # the connection stays open
    # Head and body are two writes: else the second would wait for the acknowledgement of the first, which is delayed by 40 ms.
    disable_nagle_algorithm = True
    known = {}

    def do_GET(self):
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        key = (min(int(query["bytes"][0]), MOST_BYTES), int(query["seed"][0]))
        body = self.known.setdefault(key, None) or content(*key)
        self.known[key] = body
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


def main():
    address = sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1"
    server = http.server.ThreadingHTTPServer((address, 0), DataSite)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"http://{address}:{server.server_port}/api/v1/fetch-test", flush=True)
    sys.stdin.read()


main()
