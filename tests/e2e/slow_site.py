"""Data sites behind links whose rate is set: each in a network namespace of its own."""
import os
import pathlib
import shutil
import subprocess

DATA_SITE = pathlib.Path(__file__).parent.parent / "bench" / "data_site.py"


def run(*arguments):
    return subprocess.run([str(a) for a in arguments], capture_output=True, text=True)


def why_impossible():
    """Why links cannot be shaped here, for a skipped test; None where they can."""
    if os.geteuid() != 0:
        return "needs root, for network namespaces"
    for tool in ("ip", "tc"):
        if not shutil.which(tool):
            return f"needs the program {tool} (package iproute2)"
    try:
        with SlowSite(200, 8):
            return None
    except OSError as error:
        return f"network namespaces with a token bucket filter do not work here: {error}"


class SlowSite:
    """One data site; `index` (1..255) keeps the names and addresses of several apart."""

    def __init__(self, index, rate_mbit):
        self.name = f"fathom{os.getpid() % 100000}x{index}"
        self.outer, self.inner = f"fo{os.getpid() % 100000}x{index}", f"fi{os.getpid() % 100000}x{index}"
        self.network = f"10.213.{index}"
        self.process = None
        try:
            self.build(rate_mbit)
        except OSError:
            self.close()
            raise

    def build(self, rate_mbit):
        self.must("ip", "netns", "add", self.name)
        self.must("ip", "link", "add", self.outer, "type", "veth", "peer", "name", self.inner)
        self.must("ip", "link", "set", self.inner, "netns", self.name)
        self.must("ip", "addr", "add", f"{self.network}.1/30", "dev", self.outer)
        self.must("ip", "link", "set", self.outer, "up")
        self.inside("ip", "addr", "add", f"{self.network}.2/30", "dev", self.inner)
        self.inside("ip", "link", "set", self.inner, "up")
        self.inside("tc", "qdisc", "add", *self.bucket(rate_mbit))
        self.process = subprocess.Popen(
            ["ip", "netns", "exec", self.name, "/usr/bin/python3", str(DATA_SITE), f"{self.network}.2"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            raise OSError("the data site does not start")

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
        self.must("ip", "netns", "exec", self.name, *arguments)

    def close(self):
        if self.process:
            self.process.stdin.close()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
        run("ip", "link", "del", self.outer)
        run("ip", "netns", "del", self.name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
