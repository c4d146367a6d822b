"""A real object store with Amazon's S3 interface: OpenStack Swift of Debian's packages, objects in memory."""
import getpass
import hashlib
import hmac
import os
import pathlib
import subprocess
import sys
import time
import urllib.parse

from network import Process, free_port, wait_until

USER, KEY, REGION = "test:tester", "not-a-secret", "center-1"
KINDS = ("account", "container", "object", "proxy")
PORTS = (*KINDS, "memcached")  # which keeps the tokens of Swift's own interface
TIMEOUTS = "conn_timeout = 60\nnode_timeout = 60\n"  # of the servers with each other: on a busy machine half a second is little


def make_rings(folder, ports):
    from swift.common.ring import RingBuilder
    for kind in KINDS[:3]:
        builder = RingBuilder(part_power=4, replicas=1, min_part_hours=0)
        builder.add_dev({"id": 0, "region": 1, "zone": 1, "ip": "127.0.0.1", "port": ports[kind], "device": "disk",
                         "weight": 1, "replication_ip": "127.0.0.1", "replication_port": ports[kind]})
        builder.rebalance()
        builder.get_ring().save(str(folder / f"{kind}.ring.gz"))


def configure(folder, ports, tls):
    (folder / "swift.conf").write_text("[swift-hash]\nswift_hash_path_suffix = a\nswift_hash_path_prefix = b\n"
                                       "[storage-policy:0]\nname = Policy-0\ndefault = yes\n")
    (folder / "disk").mkdir()
    common = (f"bind_ip = 127.0.0.1\nworkers = 0\nuser = {getpass.getuser()}\nswift_dir = {folder}\n"
              f"devices = {folder}\nmount_check = false\n")
    for kind, application in (("account", "account"), ("container", "container"), ("object", "mem_object")):
        (folder / f"{kind}.conf").write_text(
            f"[DEFAULT]\nbind_port = {ports[kind]}\n{common}[pipeline:main]\npipeline = {kind}-server\n"
            f"[app:{kind}-server]\nuse = egg:swift#{application}\n{TIMEOUTS}")
    (folder / "proxy.conf").write_text(
        f"[DEFAULT]\nbind_port = {ports['proxy']}\n"
        + (f"cert_file = {folder}/cert.pem\nkey_file = {folder}/key.pem\n" if tls else "") + common +
        "[pipeline:main]\npipeline = catch_errors cache s3api tempauth proxy-server\n"
        f"[app:proxy-server]\nuse = egg:swift#proxy\naccount_autocreate = true\n{TIMEOUTS}"
        "error_suppression_limit = 1000000\n"  # else who asks before all four answer is turned away for a minute
        "[filter:catch_errors]\nuse = egg:swift#catch_errors\n"
        f"[filter:cache]\nuse = egg:swift#memcache\nmemcache_servers = 127.0.0.1:{ports['memcached']}\n"
        "connect_timeout = 60\npool_timeout = 60\nio_timeout = 60\n"
        f"[filter:s3api]\nuse = egg:swift#s3api\nlocation = {REGION}\n"
        f"[filter:tempauth]\nuse = egg:swift#tempauth\nuser_{USER.replace(':', '_')} = {KEY} .admin\n")


def make_certificate(folder):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", folder / "key.pem", "-out", folder / "cert.pem"],
                   check=True, capture_output=True)


def signed_query(method, host, path, moment, key=(USER, KEY), region=REGION, seconds=600):
    """What gives whoever has it this one right for a while, as S3's clients sign it (Signature Version 4, in the query)."""
    scope = f"{moment[:8]}/{region}/s3/aws4_request"
    query = urllib.parse.urlencode({"X-Amz-Algorithm": "AWS4-HMAC-SHA256", "X-Amz-Credential": f"{key[0]}/{scope}",
                                    "X-Amz-Date": moment, "X-Amz-Expires": seconds, "X-Amz-SignedHeaders": "host"},
                                   quote_via=urllib.parse.quote, safe="")
    request = "\n".join([method, urllib.parse.quote(path), query, f"host:{host}", "", "host", "UNSIGNED-PAYLOAD"])
    text = "\n".join(["AWS4-HMAC-SHA256", moment, scope, hashlib.sha256(request.encode()).hexdigest()])
    signing = f"AWS4{key[1]}".encode()
    for part in scope.split("/"):
        signing = hmac.new(signing, part.encode(), hashlib.sha256).digest()
    return f"{query}&X-Amz-Signature={hmac.new(signing, text.encode(), hashlib.sha256).hexdigest()}"


class ObjectStore:
    """Four servers with a folder of their own; stop() ends them. Without TLS only for clients that trust no certificate of ours."""

    def __init__(self, folder, tls=True):
        self.folder = pathlib.Path(folder)
        ports = {name: free_port() for name in PORTS}
        configure(self.folder, ports, tls)
        make_certificate(self.folder)
        subprocess.run([sys.executable, __file__, "rings", self.folder, *map(str, ports.values())], check=True)
        self.endpoint = f"{'https' if tls else 'http'}://127.0.0.1:{ports['proxy']}"
        self.ca_file = self.folder / "cert.pem"
        self.servers = [Process(kind, [sys.executable, __file__, kind, self.folder], self.folder / f"{kind}.log").start()
                        for kind in KINDS]
        self.servers.append(Process("memcached", ["memcached", "-l", "127.0.0.1", "-p", ports["memcached"], "-u",
                                                  getpass.getuser()], self.folder / "memcached.log").start())
        wait_until(self.answers, 120, "the object store answers")

    def settings(self):
        """Of fathomd, as its environment."""
        return {"FATHOMD_S3_ENDPOINT": self.endpoint, "FATHOMD_S3_REGION": REGION, "FATHOMD_S3_ACCESS_KEY": USER,
                "FATHOMD_S3_SECRET_KEY": KEY, "FATHOMD_S3_CA_FILE": str(self.ca_file)}

    def signed_url(self, method, path):
        """Of an object: a URL by which anybody may do that for ten minutes."""
        host = urllib.parse.urlsplit(self.endpoint).netloc
        moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        return f"{self.endpoint}{path}?{signed_query(method, host, path, moment)}"

    def call(self, method, path, **arguments):
        """By Swift's own interface, not S3's: what lies there, as another client sees it."""
        import requests
        session = requests.Session()
        session.trust_env = False
        session.verify = str(self.ca_file)
        login = session.get(f"{self.endpoint}/auth/v1.0", headers={"X-Auth-User": USER,
                                                                   "X-Auth-Key": KEY})
        login.raise_for_status()
        return session.request(method, login.headers["X-Storage-Url"] + path,
                               headers={"X-Auth-Token": login.headers["X-Auth-Token"]}, **arguments)

    def answers(self):
        import requests
        try:
            return all(self.call("PUT", path).status_code < 300 for path in ("/ready", "/ready/ready"))
        except requests.RequestException:
            return False

    def stop(self):
        for server in self.servers:
            server.stop()


def serve(kind, folder):
    from swift.common import utils
    utils.SWIFT_CONF_FILE = str(folder / "swift.conf")
    if kind == "rings":
        make_rings(folder, dict(zip(PORTS, map(int, sys.argv[3:]))))
        return 0
    from swift.common.wsgi import run_wsgi
    return run_wsgi(str(folder / f"{kind}.conf"), f"{kind}-server")


if __name__ == "__main__":
    os.environ.pop("FATHOM_SANITIZED", None)
    sys.exit(serve(sys.argv[1], pathlib.Path(sys.argv[2])))
