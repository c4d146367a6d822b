"""A server of HTTPS for the API and for nodes, whose connections a test can drop."""
import contextlib
import http.server
import socket
import ssl
import threading


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, handler, certificate, key, port=0):
        super().__init__(("127.0.0.1", port), handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        # Not in the thread that accepts: a client that is silent would hold up all others.
        self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self.lock = threading.Lock()
        self.connections = set()
        self.is_closing = False
        self.thread = threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    @property
    def port(self):
        return self.server_address[1]

    def process_request(self, request, client_address):
        with self.lock:
            self.connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request):
        with self.lock:
            self.connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request, client_address):
        """Clients that go away are no errors of the server's."""

    def drop_connections(self):
        with self.lock:
            dropped = list(self.connections)
        for connection in dropped:
            drop(connection)

    def close(self):
        self.is_closing = True
        self.shutdown()
        self.server_close()
        self.drop_connections()


def drop(connection):
    """Without a word: the client sees its connection closed amid an answer."""
    with contextlib.suppress(OSError, ValueError):
        socket.socket.shutdown(connection, socket.SHUT_RDWR)
