"""The processes of the quickstart: what it starts, watches, asks and ends."""
import fcntl
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
TERMINATOR = pathlib.Path(__file__).with_name("end_with_parent.py")


class Failed(Exception):
    """A step did not work; the text says what and what to do."""


def say(text=""):
    print(text, flush=True)


def headline(text):
    say(f"\n\033[1m{text}\033[0m" if sys.stdout.isatty() else f"\n== {text}")


def others_may_enter(path):
    """Whether an unprivileged user can reach the folder: jobs and PostgreSQL never run as root."""
    return all(folder.stat().st_mode & 0o001 for folder in [path, *path.parents] if folder.exists())


def choose_state_dir(asked, name):
    if asked:
        return asked.resolve()
    if os.geteuid() == 0 and not others_may_enter(ROOT):
        # A clone below /root, say: PostgreSQL and the jobs drop root's rights and could not enter it.
        return pathlib.Path(f"/var/lib/fathom-{name}")
    return ROOT / ".state" / name


def lock_folder(state_dir):
    """A file that is locked as long as anybody has it open."""
    lock = open(state_dir / "lock", "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Failed(f"another quickstart uses {state_dir}, or is ending there: end it with Ctrl-C, or choose another "
                     "--state-dir") from None
    return lock


def choose_programs(asked, state_dir):
    """The folder with the built programs; a copy where unprivileged users could not reach the build."""
    built = asked.resolve() if asked else ROOT / "build" / "release" / "bin"
    if not (built / "fathomd").exists():
        raise Failed(f"there is no fathomd in {built}")
    if os.geteuid() != 0 or others_may_enter(built):
        return built
    copy = state_dir / "bin"
    copy.mkdir(exist_ok=True)
    for name in ("fathomd", "fathom-agent", "fathom-probe", "fathom-mpi-probe", "fathom-tcp-probe", "fathom-operator-host", "fathom-profile",
                 "fathom-stage", "libfathom-profile.so", "fathom-operators-cuda.so", "fathom"):
        if (built / name).exists():  # without nvcc there is no library of operators for GPUs
            shutil.copy2(built / name, copy / name)
    return copy


def choose_address(asked, preferred):
    if asked:
        return asked
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", preferred))
        except OSError:
            probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


class Network:
    """The processes of the demonstration, and the command line that talks to them."""

    def __init__(self, state_dir, programs, listen, agent_listen, lock):
        self.state_dir, self.programs = state_dir, programs
        self.listen, self.agent_listen = listen, agent_listen
        self.url = f"https://{listen}"
        self.processes = []
        # Ends them, also when this process is killed; the folder is locked until then.
        self.terminator = subprocess.Popen([sys.executable, str(TERMINATOR)], stdin=subprocess.PIPE, text=True,
                                      pass_fds=[lock.fileno()], start_new_session=True)

    def start(self, name, *arguments):
        log_path = self.state_dir / f"{name}.log"
        with open(log_path, "ab") as log:
            # In a session of its own: Ctrl-C is ours to handle, in order.
            process = subprocess.Popen([str(a) for a in arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                       start_new_session=True)
        self.processes.append((name, process, log_path))
        self.at_end({"pid": process.pid})

    def at_end(self, order):
        """What is to be ended or run at the end, before all that was told earlier."""
        try:
            self.terminator.stdin.write(json.dumps(order) + "\n")
            self.terminator.stdin.flush()
        except BrokenPipeError:
            raise Failed("the process that ends the others was killed") from None

    def check(self):
        for name, process, log_path in self.processes:
            if process.poll() is not None:
                tail = "\n".join(log_path.read_text(errors="replace").splitlines()[-8:])
                raise Failed(f"{name} ended with status {process.returncode}; the end of {log_path}:\n{tail}")
        if self.terminator.poll() is not None:
            raise Failed("the process that ends the others was killed")

    def stop(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        try:
            self.terminator.stdin.close()
        except BrokenPipeError:
            pass
        if self.terminator.wait() != 0:
            for _, process, _ in reversed(self.processes):
                process.terminate()
        for _, process, _ in self.processes:
            process.wait()
        self.processes.clear()

    def cli(self, *arguments, check=True):
        environment = {**os.environ, "FATHOM_URL": self.url, "FATHOM_CA": str(self.state_dir / "server" / "ca.pem"),
                       "FATHOM_TOKEN_FILE": str(self.state_dir / "server" / "admin.token")}
        environment.pop("FATHOM_TOKEN", None)
        outcome = subprocess.run([str(self.programs / "fathom"), *map(str, arguments)], env=environment, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE if not check else None)
        if check and outcome.returncode != 0:
            raise Failed(f"`fathom {' '.join(map(str, arguments))}` ended with status {outcome.returncode}")
        return outcome.stdout

    def json(self, noun, verb, *arguments):
        return json.loads(self.cli(noun, verb, "--output", "json", *arguments))

    def wait(self, condition, limit_s, what):
        end = time.monotonic() + limit_s
        while not (value := condition()):
            self.check()
            if time.monotonic() > end:
                raise Failed(f"{what} took longer than {limit_s} s; see the logs in {self.state_dir}")
            time.sleep(0.2)
        return value
