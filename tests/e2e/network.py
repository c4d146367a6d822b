"""Starts real parts of Fathom as processes: fathomd with its embedded PostgreSQL, agents, the CLI."""
import atexit
import functools
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import requests

from processes import kill_all_of

BIN = pathlib.Path(os.environ["FATHOM_BIN"])
ENDED = ("succeeded", "failed", "cancelled")  # states of jobs
SLOWER = 4 if os.environ.get("FATHOM_SANITIZED") else 1


@functools.cache
def probe_for_jobs():
    """fathom-probe, with fathom-stage beside it, where jobs reach it, too: root's run as another user, who may not enter a
    clone below /root."""
    program = BIN / "fathom-probe"
    if os.geteuid() != 0 or all(folder.stat().st_mode & 0o001 for folder in program.resolve().parents):
        return program
    folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-e2e-probe-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    folder.chmod(0o755)
    shutil.copy(BIN / "fathom-stage", folder)
    return pathlib.Path(shutil.copy(program, folder))


PORTS = range(10_000, 32_000)  # below those that the system gives to connections and to who asks for any
_taken_ports = []


def free_port():
    """A port that is this process's to use, and to use again after a restart: a lock by the name of an abstract socket keeps it
    from tests that run beside this one."""
    for port in random.sample(PORTS, len(PORTS)):
        lock = socket.socket(socket.AF_UNIX)
        try:
            lock.bind(f"\0fathom-port-{port}")
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", port))
        except OSError:
            lock.close()
            continue
        _taken_ports.append(lock)
        return port
    raise AssertionError("there is no free port")


def wait_until(condition, limit_s=120, what="the condition", pause_s=0.05):
    """Polls until the condition gives something true, and returns that."""
    end = time.monotonic() + limit_s * SLOWER
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"{what} did not come true within {limit_s * SLOWER} s")
        time.sleep(pause_s)


def roomy_folder():
    """Where state folders go: into memory where that has room, as flushing and deleting PostgreSQL's files takes a busy
    disk longer than most tests; None: where temporary files go. TMPDIR goes before."""
    memory = "/dev/shm"
    if "TMPDIR" in os.environ or not os.access(memory, os.W_OK):
        return None
    state = os.statvfs(memory)
    has_room = state.f_bavail * state.f_frsize >= 2 << 30
    return memory if has_room and not state.f_flag & os.ST_NOEXEC else None


class Process:
    """A program of ours with its log in a file."""

    def __init__(self, name, arguments, log_path, environment=None):
        self.name = name
        self.arguments = [str(a) for a in arguments]
        self.log_path = log_path
        self.environment = {**os.environ, **(environment or {})}
        self.process = None

    def start(self):
        log = open(self.log_path, "ab")
        self.process = subprocess.Popen(
            self.arguments, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=self.environment)
        log.close()
        return self

    def log(self):
        return self.log_path.read_text(errors="replace")

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        """kill -9: no chance to tidy up."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def ask_to_stop(self):
        """SIGTERM."""
        if self.alive():
            self.process.send_signal(signal.SIGTERM)

    def stop(self, limit_s=120):
        """SIGTERM; the exit status."""
        self.ask_to_stop()
        return self.wait_stopped(limit_s)

    def wait_stopped(self, limit_s=120):
        """The exit status of what was asked to stop, or has ended; None: it never ran."""
        if self.process is None:
            return None
        try:
            return self.process.wait(limit_s * SLOWER)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"{self.name} did not stop within {limit_s} s:\n{self.log()[-4000:]}")


class Rest:
    """The REST interface with one token."""

    def __init__(self, url, ca, token):
        self.url = url
        self.session = requests.Session()
        self.session.trust_env = False  # neither proxies nor another set of authorities
        self.session.verify = str(ca)
        if token:
            self.session.headers["Authorization"] = f"Bearer {token}"

    def call(self, method, path, **arguments):
        prefix = "" if path.startswith(("/healthz", "/readyz", "/metrics", "/openapi")) else "/api/v1"
        return self.session.request(method, self.url + prefix + path, timeout=120 * SLOWER, **arguments)

    def patient(self, method, path, expect, **arguments):
        """On a busy machine an answer may cost more than a token may ask for: then one comes again, as clients do."""
        end = time.monotonic() + 60 * SLOWER
        while True:
            answer = self.call(method, path, **arguments)
            if answer.status_code != 429 or expect == 429 or time.monotonic() > end:
                return answer
            time.sleep(min(float(answer.headers.get("Retry-After", 1)), 5))

    def get(self, path, **arguments):
        answer = self.patient("GET", path, 200, **arguments)
        assert answer.status_code == 200, f"GET {path}: {answer.status_code} {answer.text}"
        return answer.json()

    def post(self, path, body, expect=201, **arguments):
        answer = self.patient("POST", path, expect, json=body, **arguments)
        assert answer.status_code == expect, f"POST {path}: {answer.status_code} {answer.text}"
        return answer.json()

    def items(self, path):
        """Every item of a list, page by page."""
        items, token = [], None
        while True:
            separator = "&" if "?" in path else "?"
            page = self.get(path + (f"{separator}page_token={token}" if token else ""))
            items += page["items"]
            token = page["next_page_token"]
            if not token:
                return items


class Server:
    """One fathomd with a state folder of its own. "{url}" in its settings becomes its address; `rest_ca`: who vouches for its REST
    listener, where that is not the network's authority."""

    def __init__(self, folder, name="fathomd", database=None, settings=(), rest_ca=None):
        self.name = name
        self.rest_ca = rest_ca or folder / name / "ca.pem"
        self.state_dir = folder / name
        self.state_dir.mkdir(exist_ok=True)
        self.state_dir.chmod(0o755)
        self.port, self.agent_port = free_port(), free_port()
        self.url = f"https://127.0.0.1:{self.port}"
        arguments = [BIN / "fathomd", "--state-dir", self.state_dir, "--listen", f"127.0.0.1:{self.port}",
                     "--agent-listen", f"127.0.0.1:{self.agent_port}",
                     *(str(setting).replace("{url}", self.url) for setting in settings)]
        if "--probe-on-change" not in settings:
            arguments += ["--probe-on-change", "off"]  # a test says itself when what is measured
        if database:
            # All that share a database have the key of the first.
            arguments += ["--database", database, "--authority-key-file", folder / "fathomd-0" / "authority.key"]
        self.process = Process(name, arguments, folder / f"{name}.log")

    @property
    def ca(self):
        return self.state_dir / "ca.pem"

    def start(self):
        self.process.start()
        wait_until(self.is_ready, 120, f"{self.name} being ready")
        return self

    def is_ready(self):
        assert self.process.alive(), f"{self.name} ended:\n{self.process.log()[-4000:]}"
        try:
            return self.ca.exists() and requests.get(
                self.url + "/readyz", verify=str(self.rest_ca), timeout=20).status_code == 200
        except requests.RequestException:
            return False

    def postgres_pid(self):
        """The process id of the embedded PostgreSQL."""
        pids = [p for p in self.state_dir.rglob("postmaster.pid")]
        assert pids, "no postmaster.pid below the state folder"
        return int(pids[0].read_text().splitlines()[0])


class Agent:
    """One center's agent."""

    def __init__(self, folder, name, config):
        self.name = name
        self.state_dir = folder / f"agent-{name}"
        self.state_dir.mkdir(exist_ok=True)
        self.state_dir.chmod(0o755)
        self.config = folder / f"{name}.toml"
        # Jobs have temporary folders of their own; what a test lays out for them stands in this one.
        self.config.write_text(f'shared_folders = "{folder},{probe_for_jobs().parent}"\n{config}')
        self.process = Process(
            name, [BIN / "fathom-agent", "run", "--state-dir", self.state_dir, "--config", self.config],
            folder / f"{name}.log")

    def enrol(self, server, rest):
        token = rest.post("/enrolment-tokens", {"center_name": self.name})["token"]
        token_file = self.state_dir.parent / f"{self.name}.token"
        token_file.write_text(token)
        outcome = subprocess.run(
            [BIN / "fathom-agent", "enrol", "--server", f"127.0.0.1:{server.agent_port}", "--ca", server.ca,
             "--token-file", token_file, "--state-dir", self.state_dir], capture_output=True, text=True)
        assert outcome.returncode == 0, outcome.stderr
        token_file.unlink()
        return self

    def start(self):
        self.process.start()
        return self


def build_slow_products(folder, times):
    """A library that, preloaded, has products of matrices take so many times as long. On any processor."""
    library = folder / "slow_products.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", f"-DTIMES={times}", pathlib.Path(__file__).with_name("slow_products.c"),
                    "-ldl", "-o", library], check=True)
    return library


def agent_config(cores="0", unit_name="core", cores_per_unit=1, unit_count=1, environment=None, extra=""):
    """A config file of an agent; several units may share a core, which only tests do."""
    lines = [f'cores = "{cores}"', extra]
    if environment:
        lines += ["[environment]", *(f'{name} = "{value}"' for name, value in environment.items())]
    lines += ["[[unit_type]]", f'name = "{unit_name}"', f"cores_per_unit = {cores_per_unit}", f"unit_count = {unit_count}"]
    return "\n".join(lines) + "\n"


class Network:
    """A folder with a server and its agents; everything is stopped and removed at the end."""

    def __init__(self, settings=(), rest_ca=None):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-e2e-", dir=roomy_folder()))
        self.folder.chmod(0o755)
        self.exports = self.folder / "exports"  # of scheduled exports; fathomd is not root
        self.exports.mkdir()
        self.exports.chmod(0o777)
        self.servers, self.agents = [], []
        own = {"rest_ca": rest_ca} if rest_ca else {}
        self.server = self.add_server(settings=(*settings, "--export-folder", str(self.exports)), **own)

    def add_server(self, **arguments):
        server = Server(self.folder, f"fathomd-{len(self.servers)}", **arguments).start()
        self.servers.append(server)
        return server

    @property
    def admin_token(self):
        return (self.server.state_dir / "admin.token").read_text().strip()

    @property
    def rest(self):
        return self.rest_of(self.server)

    def rest_of(self, server, token=None):
        return Rest(server.url, server.rest_ca, token or self.admin_token)

    def add_agent(self, name, config=None, server=None):
        server = server or self.server
        agent = Agent(self.folder, name, config or agent_config()).enrol(server, self.rest).start()
        self.agents.append(agent)
        self.wait_online(agent)
        return agent

    def wait_online(self, agent):
        def is_online():
            assert agent.process.alive(), f"the agent of {agent.name} ended: {agent.process.log()[-2000:]}"
            return self.center(agent.name)["state"] == "online"
        wait_until(is_online, 120, f"center {agent.name} being online")

    def center(self, name):
        return next(c for c in self.rest.items("/centers") if c["name"] == name)

    def cli(self, *arguments, expect=0, stdin=None, token=None):
        """Runs `fathom`; its standard output."""
        environment = {**os.environ, "FATHOM_URL": self.server.url, "FATHOM_CA": str(self.server.rest_ca),
                       "FATHOM_TOKEN": token or self.admin_token}
        outcome = subprocess.run([BIN / "fathom", *map(str, arguments)], capture_output=True, text=True,
                                 env=environment, input=stdin, timeout=300 * SLOWER)
        assert outcome.returncode == expect, \
            f"fathom {arguments}: exit {outcome.returncode}\n{outcome.stdout}\n{outcome.stderr}"
        return outcome.stdout

    def submit(self, rest=None, **spec):
        return (rest or self.rest).post("/jobs", spec)

    def job(self, job_id, rest=None):
        return (rest or self.rest).get(f"/jobs/{job_id}")

    def wait_job(self, job_id, limit_s=120, rest=None, pause_s=0.05):
        """The job in its end state."""
        return wait_until(
            lambda: (lambda job: job if job["state"] in ENDED else None)(
                self.job(job_id, rest)), limit_s, f"the end of {job_id}", pause_s)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def stop_agents(self):
        """All at once. A batch system goes after them: with it gone, each of its commands takes an agent ten seconds."""
        alive = [agent.process for agent in self.agents if agent.process.alive()]
        for process in alive:
            process.ask_to_stop()
        for process in alive:
            process.wait_stopped()

    def close(self):
        self.stop_agents()
        for server in reversed(self.servers):
            if server.process.alive():
                server.process.stop()
        kill_all_of(self.folder)
        if not os.environ.get("FATHOM_KEEP"):
            shutil.rmtree(self.folder, ignore_errors=True)

    def dump_logs(self, lines=60):
        text = ""
        for process in [s.process for s in self.servers] + [a.process for a in self.agents]:
            text += f"--- {process.name}\n" + "\n".join(process.log().splitlines()[-lines:]) + "\n"
        return text


class Gate:
    """Holds up a job until the test opens it: how long a job runs is then the test's to say, whatever else its machine does."""

    def __init__(self, network, name):
        self.path = network.folder / f"gate-{name}"
        self.path.unlink(missing_ok=True)

    @property
    def passing(self):
        """What a job's shell waits by; not when the network is gone, as a batch system's job may outlive a test that failed."""
        return f"while test -d {self.path.parent} && ! test -e {self.path}; do sleep 0.1; done"

    def open(self):
        self.path.touch()


def attempt_of(network, job_id):
    """The last attempt of a job, once it has one."""
    return wait_until(lambda: network.job(job_id)["attempt"], 120, f"an attempt of {job_id}")


def wait_running(network, job_id):
    return wait_until(lambda: network.job(job_id)["state"] == "running", 120, f"{job_id} running")


def wait_told(network, job_id, words):
    """The reason why it waits at its center, once that has these words."""
    def reason():
        return ((network.job(job_id)["attempt"] or {}).get("center_queue") or {}).get("reason", "")
    return wait_until(lambda: words in reason() and reason(), 180, f"{words} being told of {job_id}")


def output_of(network, job_id):
    """What it wrote to its standard output."""
    return network.rest.call("GET", f"/jobs/{job_id}/logs/stdout").text


def save_json(path, value):
    path.write_text(json.dumps(value, indent=2))
