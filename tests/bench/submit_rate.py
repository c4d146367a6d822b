"""The measuring part of tests/bench/submit_rate."""
import contextlib
import os
import pathlib
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "e2e"))
from network import BIN, Network, agent_config  # noqa: E402
from slurm_peer import private_slurm  # noqa: E402

CLIENTS = 16
BATCH = 100
JOB = ('{"name": "bench", "command": ["true"], "operators": '
       '[{"id": "dgemm", "parameters": {"m": 512, "n": 512, "k": 512}, "count": 3000}]}')
SLURM_JOB = ('{"script": "#!/bin/sh\\ntrue\\n", "job": {"name": "bench", "hold": true, "ntasks": 1, '
             '"current_working_directory": "/", "environment": {"PATH": "/bin:/usr/bin"}}}')


class Target:
    """What is posted where, and what each round measured."""

    def __init__(self, name, url, headers, body, requests, jobs_each=1):
        self.name, self.url, self.headers, self.body = name, url, headers, body
        self.requests, self.jobs_each = requests, jobs_each
        self.rates, self.p99s_ms = [], []

    def measure(self):
        rate, p99_ms = self.load()
        self.rates.append(rate * self.jobs_each)
        self.p99s_ms.append(p99_ms)
        print(f"  {self.name:<10} {self.rates[-1]:7.0f}/s, p99 {p99_ms:6.1f} ms", flush=True)

    def load(self):
        """Requests per second, p99 in milliseconds."""
        return hey(self.url, self.requests, self.headers, self.body)

    @property
    def rate(self):
        return statistics.median(self.rates)

    @property
    def p99_ms(self):
        return statistics.median(self.p99s_ms)


def hey(url, requests, headers, body):
    """Runs hey; (requests per second, p99 in milliseconds)."""
    arguments = ["hey", "-n", str(requests), "-c", str(CLIENTS), "-m", "POST", "-T", "application/json", "-D", str(body)]
    for name, value in headers.items():
        arguments += ["-H", f"{name}: {value}"]
    text = subprocess.run(arguments + [url], capture_output=True, text=True, check=True).stdout
    rate = re.search(r"Requests/sec:\s*([\d.]+)", text)
    p99 = re.search(r"99% in ([\d.]+) secs", text)
    statuses = re.findall(r"\[(\d+)\]\s+\d+ responses", text)
    failed = not statuses or any(not status.startswith("2") for status in statuses)
    if failed or not rate or not p99 or "Error distribution" in text:
        sys.exit(f"some requests to {url} failed:\n{text}")
    return float(rate.group(1)), float(p99.group(1)) * 1000


KEYED_SCRIPT = """
local body, prefix, count = nil, nil, 0
local threads = 0
function setup(thread)
    threads = threads + 1
    thread:set("number", threads)
end
function init(arguments)
    local file = io.open(arguments[1], "rb")
    body = file:read("*a")
    file:close()
    prefix = arguments[2] .. "-" .. number .. "-"
    wrk.headers["Authorization"] = arguments[3]
    wrk.headers["Content-Type"] = "application/json"
end
function request()
    count = count + 1
    wrk.headers["Idempotency-Key"] = prefix .. count
    return wrk.format("POST", nil, wrk.headers, body)
end
"""


class KeyedTarget(Target):
    """As `fathom job submit` sends jobs: each under an Idempotency-Key of its own, which hey cannot."""

    SECONDS = 5

    def __init__(self, name, url, headers, body, script):
        super().__init__(name, url, headers, body, 0)
        self.script = script

    def load(self):
        text = subprocess.run(
            ["wrk", "--threads", "2", "--connections", str(CLIENTS), "--duration", f"{self.SECONDS}s", "--latency",
             "--script", str(self.script), self.url, "--", str(self.body), f"round{len(self.rates)}",
             self.headers["Authorization"]], capture_output=True, text=True, check=True).stdout
        rate = re.search(r"Requests/sec:\s*([\d.]+)", text)
        p99 = re.search(r"99%\s+([\d.]+)(us|ms|s)\n", text)
        if not rate or not p99 or "Non-2xx" in text or "Socket errors" in text:
            sys.exit(f"some requests to {self.url} failed:\n{text}")
        return float(rate.group(1)), float(p99.group(1)) * {"us": 0.001, "ms": 1, "s": 1000}[p99.group(2)]


def pgbench(net):
    """Single-row durable inserts with as many clients, over the Unix socket; a second."""
    lines = next(net.server.state_dir.rglob("postmaster.pid")).read_text().splitlines()
    user = os.environ.get("FATHOM_PG_USER", "fathom")
    connection = ["-h", lines[4].strip(), "-p", lines[3].strip(), "-U", user]
    subprocess.run(["psql", "-q", *connection, "fathom", "-c",
                    "CREATE TABLE IF NOT EXISTS bench_row (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body text)"],
                   check=True)
    script = net.folder / "insert.sql"
    script.write_text("INSERT INTO bench_row (body) VALUES (repeat('x', 600));\n")
    text = subprocess.run(["pgbench", "-n", *connection, "-c", str(CLIENTS), "-j", "2", "-T", "8", "-f", str(script), "fathom"],
                          capture_output=True, text=True, check=True).stdout
    return float(re.search(r"tps = ([\d.]+)", text).group(1))


@contextlib.contextmanager
def https_echo(folder):
    """Bare Beast with a certificate of the kind that fathomd has; its URL."""
    key, certificate = folder / "echo-key.pem", folder / "echo.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
                    "-subj", "/CN=localhost", "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    process = subprocess.Popen([BIN / "https_echo", certificate, key], stdout=subprocess.PIPE, text=True)
    try:
        yield f"https://127.0.0.1:{process.stdout.readline().strip()}/"
    finally:
        process.terminate()
        process.wait()


def ratio(ours, other):
    """The median over rounds: what disturbs a round disturbs both sides of it."""
    return statistics.median(a / b for a, b in zip(ours.rates, other.rates))


def measure(targets, rounds):
    """In turn, each second round backwards: nobody always profits from what another left behind."""
    for i in range(rounds):
        print(f"round {i + 1} of {rounds}, {CLIENTS} keep-alive clients")
        for target in targets if i % 2 == 0 else reversed(targets):
            target.measure()


def main():
    requests, rounds = int(sys.argv[1]), int(sys.argv[2])
    # More than one person may have waiting; that they are counted stays part of what is timed. More often than one
    # token may ask, too.
    net = Network(settings=["--max-queued-of-token", "100000000", "--max-queued-of-project", "100000000",
                            "--requests-per-s-of-token", "1000000"])
    with contextlib.ExitStack() as stack:
        stack.callback(net.close)
        net.add_agent("alpha", agent_config())
        net.rest.call("PATCH", "/centers/alpha", json={"drained": True})
        files = {"job": JOB, "batch": "[" + ",".join([JOB] * BATCH) + "]", "slurm": SLURM_JOB}
        files["keyed.lua"] = KEYED_SCRIPT
        for name, text in files.items():
            (net.folder / name).write_text(text)
        jobs_url, headers = net.server.url + "/api/v1/jobs", {"Authorization": f"Bearer {net.admin_token}"}
        ours = Target("ours", jobs_url, headers, net.folder / "job", requests)
        batches = Target("batches", jobs_url, headers, net.folder / "batch", max(requests // BATCH, 10 * CLIENTS), BATCH)
        echo = Target("https_echo", stack.enter_context(https_echo(net.folder)), headers, net.folder / "job", requests)
        keyed = KeyedTarget("keyed", jobs_url, headers, net.folder / "job", net.folder / "keyed.lua")
        targets = [ours, echo, keyed, batches]
        found = stack.enter_context(private_slurm())
        if found:
            peer = Target("slurmrestd", found.rest_url + "/slurm/v0.0.38/job/submit",
                          {"X-SLURM-USER-NAME": "nobody", "X-SLURM-USER-TOKEN": found.rest_token},
                          net.folder / "slurm", max(requests // 4, CLIENTS))
            targets.append(peer)
        measure(targets, rounds)
        inserts_per_s = pgbench(net)
        print(f"pgbench: {inserts_per_s:.0f}/s")
    print(f"RESULT submissions_per_s {ours.rate:.0f} 1/s")
    print(f"RESULT submission_p99_ms {ours.p99_ms:.1f} ms")
    print(f"RESULT keyed_submissions_per_s {keyed.rate:.0f} 1/s")
    print(f"RESULT keyed_submission_p99_ms {keyed.p99_ms:.1f} ms")
    print(f"RESULT batch_jobs_per_s {batches.rate:.0f} 1/s")
    print(f"RESULT pgbench_inserts_per_s {inserts_per_s:.0f} 1/s")
    print(f"RESULT https_echo_per_s {echo.rate:.0f} 1/s")
    print(f"RESULT ratio_to_https_echo {ratio(ours, echo):.3f} ratio")
    if found:
        print(f"RESULT slurmrestd_submissions_per_s {peer.rate:.0f} 1/s")
        print(f"RESULT slurmrestd_p99_ms {peer.p99_ms:.1f} ms")
        print(f"RESULT ratio_to_slurmrestd {ratio(ours, peer):.2f} ratio")


if __name__ == "__main__":
    main()
