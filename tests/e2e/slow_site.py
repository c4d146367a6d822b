"""Data sites behind links whose rate is set: each in a network namespace of its own, which ends with its site."""
import os
import pathlib
import shutil
import subprocess

from network import wait_until

DATA_SITE = pathlib.Path(__file__).parent.parent / "bench" / "data_site.py"
ENVIRONMENT = {**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin"}  # where plain users' PATH lacks tc


def run(*arguments):
    return subprocess.run([str(a) for a in arguments], capture_output=True, text=True, env=ENVIRONMENT)


def why_impossible():
    """Why links cannot be shaped here, for a skipped test; None where they can."""
    for tool in ("ip", "tc"):
        if not shutil.which(tool, path=ENVIRONMENT["PATH"]):
            return f"needs the program {tool} (package iproute2)"
    try:
        with SlowSite(200, 8):
            return None
    except OSError as error:
        return f"network namespaces with a token bucket filter do not work here (tests/e2e/in_own_network helps): {error}"


class SlowSite:
    """One data site; `index` (1..255) keeps the names and addresses of several apart."""

    def __init__(self, index, rate_mbit):
        self.outer, self.inner = f"fo{os.getpid() % 100000}x{index}", f"fi{os.getpid() % 100000}x{index}"
        self.network = f"10.213.{index}"
        self.processes = []
        try:
            self.build(rate_mbit)
        except OSError:
            self.close()
            raise

    def build(self, rate_mbit):
        # It keeps the namespace until its input ends.
        self.holder = self.start("unshare", "--net", "cat", stderr=subprocess.PIPE)
        wait_until(self.is_held, 120, "a network namespace")
        self.must("ip", "link", "add", self.outer, "type", "veth", "peer", "name", self.inner)
        self.must("ip", "link", "set", self.inner, "netns", self.holder.pid)
        self.must("ip", "addr", "add", f"{self.network}.1/30", "dev", self.outer)
        self.must("ip", "link", "set", self.outer, "up")
        self.inside("ip", "addr", "add", f"{self.network}.2/30", "dev", self.inner)
        self.inside("ip", "link", "set", self.inner, "up")
        self.inside("tc", "qdisc", "add", *self.bucket(rate_mbit))
        site = self.start(*self.entering(), "/usr/bin/python3", DATA_SITE, f"{self.network}.2")
        self.url = site.stdout.readline().strip()
        if not self.url:
            raise OSError("the data site does not start")

    def start(self, *arguments, stderr=subprocess.DEVNULL):
        self.processes.append(subprocess.Popen(
            [str(a) for a in arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, text=True,
            env=ENVIRONMENT))
        return self.processes[-1]

    def is_held(self):
        if self.holder.poll() is not None:
            raise OSError(self.holder.stderr.read().strip())
        return os.readlink(f"/proc/{self.holder.pid}/ns/net") != os.readlink("/proc/self/ns/net")

    def entering(self):
        return ["nsenter", f"--net=/proc/{self.holder.pid}/ns/net", "--"]

    def bucket(self, rate_mbit):
        # A bucket far smaller than a transfer, so that the rate is what counts.
        return ["dev", self.inner, "root", "tbf", "rate", f"{rate_mbit}mbit", "burst", "16kb", "latency", "400ms"]

    def set_rate(self, rate_mbit):
        self.inside("tc", "qdisc", "change", *self.bucket(rate_mbit))

    @staticmethod
    def must(*arguments):
        outcome = run(*arguments)
        if outcome.returncode != 0:
            raise OSError(" ".join(map(str, arguments)) + ": " + outcome.stderr.strip())

    def inside(self, *arguments):
        self.must(*self.entering(), *arguments)

    def close(self):
        for process in reversed(self.processes):
            process.stdin.close()
            try:
                process.wait(120)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        run("ip", "link", "del", self.outer)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
