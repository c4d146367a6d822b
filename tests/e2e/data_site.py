"""Where data of jobs lies, and is sent to."""
import functools
import http.server
import pathlib
import ssl
import subprocess
import threading


class Site:
    """Serves a folder by http or https, and takes uploads; the certificate is its own, which nobody trusts."""

    def __init__(self, folder, tls=False):
        handler = functools.partial(self.Handler, directory=str(folder))
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.asked, self.server.taken = [], {}
        self.server.goes_on = threading.Event()  # with what it sends slowly
        if tls:
            key, certificate = folder / "key.pem", folder / "certificate.pem"
            subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=127.0.0.1",
                            "-keyout", key, "-out", certificate], check=True, capture_output=True)
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def do_GET(self):
            self.server.asked.append(self.path)
            if self.path.startswith("/slow/"):
                self.send_slowly()
            else:
                super().do_GET()

        def send_slowly(self):
            """A million bytes at once, one more now and then until the test goes on, and then the rest."""
            content = pathlib.Path(self.translate_path(self.path)).read_bytes()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            at = 1_000_000
            self.wfile.write(content[:at])
            while not self.server.goes_on.wait(0.2):
                self.wfile.write(content[at:at + 1])
                at += 1
            self.wfile.write(content[at:])

        def do_PUT(self):
            content = self.rfile.read(int(self.headers["Content-Length"]))
            is_open = not self.path.startswith("/closed/")
            if is_open:
                self.server.taken[self.path] = content
            self.send_response(201 if is_open else 403)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *arguments):
            pass
