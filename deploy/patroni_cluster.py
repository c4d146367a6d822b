"""The cluster of deploy/patroni: its folder, its processes, and how it stands."""
import collections
import concurrent.futures
import contextlib
import fcntl
import http.client
import json
import os
import pathlib
import pwd
import random
import shutil
import signal
import socket
import ssl
import subprocess
import time
import urllib.request

import patroni_settings
from network import Failed, others_may_enter

NAMES = ("node-1", "node-2", "node-3")
PORTS_OF_A_NODE = ("postgresql", "patroni", "etcd", "etcd_peers")
START_LIMIT_S, CONNECT_LIMIT_S, STOP_LIMIT_S = 180, 60, 60
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
INSTALL = "deploy/install-dependencies --patroni"

Node = collections.namedtuple("Node", "name folder ports")


def free_ports(count):
    """Below those that connections of this machine go out by: a node that is started again needs its own."""
    found = []
    with contextlib.ExitStack() as held:
        for port in random.sample(range(20000, 32000), 12000):
            if len(found) == count:
                return found
            probe = held.enter_context(socket.socket())
            with contextlib.suppress(OSError):
                probe.bind(("127.0.0.1", port))
                found.append(port)
    raise Failed("there are no free ports between 20000 and 32000: name some with --port and --first-port")


def refuse_taken(ports):
    for port in ports:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError as error:
                raise Failed(f"port {port} of 127.0.0.1 cannot be had ({error.strerror}): choose others with --port and "
                             "--first-port") from None


def find_postgresql():
    """The folder of the newest server's programs."""
    found = [path.parent for path in pathlib.Path("/usr/lib/postgresql").glob("*/bin/postgres")]
    if not found:
        raise Failed(f"there is no PostgreSQL server below /usr/lib/postgresql: {INSTALL}")
    return str(max(found, key=lambda folder: int(folder.parent.name)))


def start_ticks(pid):
    """When the process started, which tells it from a later one with its id; None where it has ended."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] == "Z" else int(fields[19])


def wait_until(condition, limit_s, failure):
    end = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > end:
            raise Failed(failure())
        time.sleep(0.2)


def is_primary(standing):
    return standing.get("role") in ("master", "primary") and standing.get("state") == "running"


class Daemon:
    """A program that outlives the command that starts it; FILE.pid has its process id, FILE.log what it says."""

    def __init__(self, file):
        self.pid_file, self.log = file.with_suffix(".pid"), file.with_suffix(".log")

    def pid(self):
        """None where it does not run."""
        with contextlib.suppress(FileNotFoundError, ValueError):
            pid, ticks = map(int, self.pid_file.read_text().split())
            if start_ticks(pid) == ticks:
                return pid
        return None

    def start(self, command, who):
        if self.pid():
            return
        with open(self.log, "ab") as log:
            child = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                     cwd="/", start_new_session=True, env={"PATH": PATH, "LC_ALL": "C.UTF-8"}, **who)
        self.pid_file.write_text(f"{child.pid}\n{start_ticks(child.pid)}\n")

    def stop(self):
        pid = self.pid()
        if pid:
            end_process(pid, signal.SIGTERM)
        self.pid_file.unlink(missing_ok=True)


def end_process(pid, number):
    ticks = start_ticks(pid)
    if ticks is None:
        return
    for one, limit_s in ((number, STOP_LIMIT_S), (signal.SIGKILL, STOP_LIMIT_S)):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, one)
        with contextlib.suppress(Failed):
            wait_until(lambda: start_ticks(pid) != ticks, limit_s, lambda: f"process {pid} does not end")
            return
    raise Failed(f"process {pid} does not end")


class Cluster:
    """All of it, in one folder. That belongs to who makes it, but for the nodes' own folders, in which the servers' user keeps
    its data: root opens nothing there."""

    def __init__(self, folder, user):
        self.folder = folder
        self.account = self._find_account(user) if os.geteuid() == 0 else None
        self.who = {"user": self.account.pw_uid, "group": self.account.pw_gid, "extra_groups": []} if self.account else {}
        self.balancer = Daemon(folder / "run" / "haproxy")
        self.port, self.nodes, self.programs = None, [], None

    def up(self, port, first_port):
        self._check_installed()
        self._make_folder()
        with self._locked():
            if not self._description.exists():
                self._describe(port, first_port)
            self.load()
            self._refuse_other_ports(port, first_port)
            self._write_settings()
            self._start()
            self._make_database()

    def down(self):
        """The primary ends last of the servers, so that it is the one at the next start."""
        with self._locked(), concurrent.futures.ThreadPoolExecutor() as pool:
            standing = self.standing()
            primary = [node for node in self.nodes if is_primary(standing.get(node.name, {}))]
            self.balancer.stop()
            for nodes in ([node for node in self.nodes if node not in primary], primary):
                list(pool.map(self._end_server, nodes))
            list(pool.map(lambda node: self.daemon(node, "etcd").stop(), self.nodes))

    def daemon(self, node, program):
        return Daemon(self.folder / "run" / f"{node.name}-{program}")

    def load(self):
        if not self._description.exists():
            raise Failed(f"there is no cluster in {self.folder}: deploy/patroni up makes one")
        known = json.loads(self._description.read_text())
        self.port, self.programs = known["port"], known["programs"]
        self.nodes = [Node(name, self.folder / name, ports) for name, ports in known["nodes"].items()]

    def standing(self):
        """What each node's Patroni says of its server now, by the node's name; a standby's state is what the primary sees of it."""
        context = ssl.create_default_context(cafile=self.folder / "ca.pem")
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))
        told = {}
        for node in self.nodes:
            with contextlib.suppress(OSError, ValueError, http.client.HTTPException):
                with opener.open(f"https://127.0.0.1:{node.ports['patroni']}/patroni", timeout=5) as answer:
                    told[node.name] = json.load(answer)
        for primary in filter(is_primary, list(told.values())):
            for seen in primary.get("replication", []):
                if seen["application_name"] in told:
                    told[seen["application_name"]]["state"] = seen["state"]
        return told

    def what_is_wrong(self):
        """Empty where all is as it should be."""
        stopped = [node.name for node in self.nodes if not self.daemon(node, "etcd").pid()]
        standing = self.standing()
        primaries = [name for name, one in standing.items() if is_primary(one)]
        others = [node.name for node in self.nodes if node.name not in primaries]
        absent = [name for name in others if standing.get(name, {}).get("state") != "streaming"]
        if not self.balancer.pid():
            return "HAProxy does not run"
        if stopped:
            return f"etcd does not run: {', '.join(stopped)}"
        if len(primaries) != 1:
            return "there is no primary" if not primaries else f"a former primary has not stepped back yet: {', '.join(primaries)}"
        if absent:
            return f"not following the primary: {', '.join(absent)}"
        if not any(standing[name].get("sync_standby") for name in others):
            return "the primary has no synchronous standby yet"
        return ""

    @property
    def _description(self):
        return self.folder / "cluster.json"

    @staticmethod
    def _find_account(user):
        try:
            account = pwd.getpwnam(user)
        except KeyError:
            raise Failed(f"there is no user {user}, which Debian's PostgreSQL makes: {INSTALL}, or choose another with --user") from None
        if account.pw_uid == 0:
            raise Failed("PostgreSQL does not run as root: choose another with --user")
        return account

    @staticmethod
    def _check_installed():
        for program in ("patroni", "etcd", "haproxy", "openssl"):
            if not shutil.which(program, path=PATH):
                raise Failed(f"{program} is not installed: {INSTALL}")

    def _make_folder(self):
        """Others than its owner go through it to ca.pem, fathomd among them."""
        (self.folder / "run").mkdir(parents=True, exist_ok=True)
        for folder in (self.folder, self.folder / "run"):
            folder.chmod(0o755)
        if self.account and not others_may_enter(self.folder):
            raise Failed(f"{self.account.pw_name} cannot enter {self.folder}: choose another --state-dir")

    @contextlib.contextmanager
    def _locked(self):
        with open(self.folder / "lock", "w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Failed(f"another deploy/patroni is at work in {self.folder}") from None
            yield

    def _describe(self, port, first_port):
        """What stays as it is from the first start on. The description comes last: without it all is made anew."""
        per_node = len(PORTS_OF_A_NODE)
        count = per_node * len(NAMES)
        chosen = list(range(first_port, first_port + count)) if first_port else []
        chosen += free_ports(1 + count - len(chosen))
        if port:
            chosen[-1] = port
        if len(set(chosen)) <= count or not all(0 < one < 65536 for one in chosen):
            raise Failed(f"--port and --first-port give no {count + 1} different ports")
        refuse_taken(chosen)
        for name in NAMES:
            (self.folder / name).mkdir(0o700, exist_ok=True)
            if self.account:
                os.chown(self.folder / name, self.account.pw_uid, self.account.pw_gid)
        patroni_settings.make_certificates(self.folder)
        (self.folder / "ca.pem").chmod(0o644)
        self._share(self.folder / "cluster.pem")
        self._share(self.folder / "cluster.key")
        self._write(self.folder / "passwords.json", json.dumps(patroni_settings.make_passwords()))
        nodes = {name: dict(zip(PORTS_OF_A_NODE, chosen[number * per_node:])) for number, name in enumerate(NAMES)}
        self._write(self._description, json.dumps({"port": chosen[-1], "programs": find_postgresql(), "nodes": nodes}, indent=2))

    def _refuse_other_ports(self, port, first_port):
        first = self.nodes[0].ports["postgresql"]
        if port not in (None, self.port) or first_port not in (None, first):
            raise Failed(f"this cluster has its ports already, --port {self.port} and --first-port {first}: choose another --state-dir")

    def _write_settings(self):
        self._passwords = json.loads((self.folder / "passwords.json").read_text())
        for node in self.nodes:
            self._write(self._settings_of(node), patroni_settings.patroni_settings(
                self.folder, node, self.nodes, self._passwords, self.programs), shared=True)
        self._write(self.folder / "run" / "haproxy.cfg",
                    patroni_settings.haproxy_settings(self.folder, self.port, self.nodes), shared=True)
        self._write(self.folder / "url", f"postgresql://fathom:{self._passwords['fathom']}@127.0.0.1:{self.port}/fathom"
                                         f"?sslmode=verify-full&sslrootcert={self.folder}/ca.pem\n")

    def _start(self):
        for node in self.nodes:
            self.daemon(node, "etcd").start(patroni_settings.etcd_command(self.folder, node, self.nodes), self.who)
        for node in self.nodes:
            self.daemon(node, "patroni").start(["patroni", self._settings_of(node)], self.who)
        self.balancer.start(["haproxy", "-db", "-f", self.folder / "run" / "haproxy.cfg"], self.who)
        wait_until(lambda: not self.what_is_wrong(), START_LIMIT_S,
                   lambda: f"after {START_LIMIT_S} s: {self.what_is_wrong()}; {self.folder}/run/*.log say more")

    def _make_database(self):
        """By the way that fathomd takes, which is open a moment after Patroni says who the primary is."""
        import psycopg2
        target = {"host": "127.0.0.1", "port": self.port, "user": "postgres", "password": self._passwords["postgres"],
                  "dbname": "postgres", "sslmode": "verify-full", "sslrootcert": self.folder / "ca.pem", "connect_timeout": 5}
        refusal = ""

        def is_made():
            nonlocal refusal
            try:
                with contextlib.closing(psycopg2.connect(**target)) as connection:
                    connection.autocommit = True
                    self._make_database_by(connection.cursor())
                    return True
            except psycopg2.OperationalError as error:
                refusal = str(error).strip()
                return False
        wait_until(is_made, CONNECT_LIMIT_S, lambda: f"the primary cannot be reached by HAProxy: {refusal}")

    def _make_database_by(self, cursor):
        for catalog, column, statement, values in (
                ("pg_roles", "rolname", "CREATE ROLE fathom LOGIN PASSWORD %s", [self._passwords["fathom"]]),
                ("pg_database", "datname", "CREATE DATABASE fathom OWNER fathom", None)):
            cursor.execute(f"SELECT FROM {catalog} WHERE {column} = 'fathom'")
            if not cursor.rowcount:
                cursor.execute(statement, values)

    def _settings_of(self, node):
        return self.folder / "run" / f"{node.name}.yml"

    def _end_server(self, node):
        """Patroni ends PostgreSQL; one whose Patroni was killed is still there."""
        self.daemon(node, "patroni").stop()

        def control(*arguments):
            return subprocess.run([f"{self.programs}/pg_ctl", "-D", node.folder / "data", *arguments], cwd="/",
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, **self.who).returncode == 0
        if control("status") and not control("stop", "-m", "fast", "-w", "-t", str(STOP_LIMIT_S)):
            raise Failed(f"PostgreSQL of {node.name} does not end")

    def _share(self, path):
        """The servers' user may read it; nobody else."""
        if self.account:
            os.chown(path, 0, self.account.pw_gid)
        path.chmod(0o640 if self.account else 0o600)

    def _write(self, path, text, shared=False):
        """As a whole or not at all; secret."""
        new = path.with_name(path.name + ".new")
        new.unlink(missing_ok=True)
        new.touch(0o600)
        new.write_text(text)
        if shared:
            self._share(new)
        new.replace(path)
