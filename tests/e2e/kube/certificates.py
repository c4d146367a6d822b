"""Certificates of a cluster's servers, made with openssl."""
import subprocess


def openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


class Authority:
    """`folder`/ca.pem, and certificates signed by it."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self.ca = folder / "ca.pem"
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", 2, "-subj", "/CN=kubernetes-ca",
                "-addext", "keyUsage=critical,keyCertSign,cRLSign", "-keyout", folder / "ca.key", "-out", self.ca)

    def sign(self, name, subject=None):
        """(certificate, key) of a server on this machine or, by its subject, of a client."""
        key, request, certificate = (self.folder / f"{name}.{end}" for end in ("key", "csr", "pem"))
        openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", subject or f"/CN={name}", "-keyout", key, "-out", request)
        extensions = self.folder / f"{name}.ext"
        extensions.write_text("subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:kubernetes.default.svc\n"
                              "keyUsage=digitalSignature,keyEncipherment\nextendedKeyUsage=serverAuth,clientAuth\n")
        openssl("x509", "-req", "-in", request, "-CA", self.ca, "-CAkey", self.folder / "ca.key", "-CAcreateserial", "-days", 2,
                "-extfile", extensions, "-out", certificate)
        return certificate, key
