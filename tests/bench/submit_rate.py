"""The measuring part of tests/bench/submit_rate."""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "e2e"))
from network import Network, agent_config  # noqa: E402

CLIENTS = 16


def hey(url, requests, headers, body):
    """Runs hey; (requests per second, p99 in milliseconds)."""
    arguments = ["hey", "-n", str(requests), "-c", str(CLIENTS), "-m", "POST", "-T", "application/json", "-D", str(body)]
    for name, value in headers.items():
        arguments += ["-H", f"{name}: {value}"]
    text = subprocess.run(arguments + [url], capture_output=True, text=True, check=True).stdout
    rate = float(re.search(r"Requests/sec:\s*([\d.]+)", text).group(1))
    p99 = re.search(r"99% in ([\d.]+) secs", text)
    statuses = re.findall(r"\[(\d+)\]\s+(\d+) responses", text)
    print(f"  {rate:.0f}/s, p99 {float(p99.group(1)) * 1000 if p99 else 0:.1f} ms, answers {statuses}")
    if any(not status.startswith("2") for status, _ in statuses) or "Error distribution" in text:
        sys.exit(f"some submissions failed:\n{text}")
    return rate, float(p99.group(1)) * 1000 if p99 else 0.0


def pgbench(net, folder):
    """Single-row durable inserts with as many clients, over the Unix socket."""
    lines = next(net.server.state_dir.rglob("postmaster.pid")).read_text().splitlines()
    user = os.environ.get("FATHOM_PG_USER", "fathom")
    connection = ["-h", lines[4].strip(), "-p", lines[3].strip(), "-U", user]
    subprocess.run(["psql", "-q", *connection, "fathom", "-c",
                    "CREATE TABLE IF NOT EXISTS bench_row (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body text)"],
                   check=True)
    script = folder / "insert.sql"
    script.write_text("INSERT INTO bench_row (body) VALUES (repeat('x', 600));\n")
    text = subprocess.run(["pgbench", "-n", *connection, "-c", str(CLIENTS), "-j", "2", "-T", "8", "-f", str(script), "fathom"],
                          capture_output=True, text=True, check=True).stdout
    rate = float(re.search(r"tps = ([\d.]+)", text).group(1))
    print(f"  {rate:.0f}/s")
    return rate


def slurm(folder, requests):
    """Submissions to slurmrestd; None when it cannot run here."""
    if os.geteuid() != 0:
        print("  not root: slurmd cannot start; left out")
        return None
    control = [str(ROOT / "tests/bench/slurm_for_comparison")]
    try:
        port = subprocess.run(control + ["start", str(folder)], stdout=subprocess.PIPE, text=True, check=True,
                              timeout=120).stdout.strip()
        body = folder / "job.json"
        body.write_text('{"script": "#!/bin/sh\\ntrue\\n", "job": {"name": "bench", "hold": true, "ntasks": 1, '
                        '"current_working_directory": "/tmp", "environment": {"PATH": "/bin:/usr/bin"}}}')
        headers = {"X-SLURM-USER-NAME": "nobody", "X-SLURM-USER-TOKEN": (folder / "token").read_text().strip()}
        return hey(f"http://127.0.0.1:{port}/slurm/v0.0.38/job/submit", requests, headers, body)
    finally:
        subprocess.run(control + ["stop", str(folder)], check=False)


def main():
    requests = int(sys.argv[1])
    net = Network()
    try:
        net.add_agent("alpha", agent_config())
        net.rest.call("PATCH", "/centers/alpha", json={"drained": True})
        body = net.folder / "job.json"
        body.write_text('{"name": "bench", "command": ["true"], "operators": '
                        '[{"id": "dgemm", "parameters": {"m": 512, "n": 512, "k": 512}, "count": 3000}]}')
        headers = {"Authorization": f"Bearer {net.admin_token}"}
        print(f"ours: {requests} submissions over HTTPS, {CLIENTS} keep-alive clients")
        ours = [hey(net.server.url + "/api/v1/jobs", requests, headers, body) for _ in range(3)]
        rate, p99 = sorted(ours)[1]
        print(f"pgbench: single-row durable inserts, {CLIENTS} clients")
        pg_rate = pgbench(net, net.folder)
    finally:
        net.close()
    folder = pathlib.Path(subprocess.run(["mktemp", "-d", "/tmp/slurm-bench-XXXXXX"], stdout=subprocess.PIPE, text=True,
                                         check=True).stdout.strip())
    print(f"slurmrestd: submissions over plain HTTP, {CLIENTS} keep-alive clients")
    peer = slurm(folder, min(requests, 5000))
    subprocess.run(["rm", "-rf", str(folder)], check=False)
    print(f"RESULT submissions_per_s {rate:.0f} 1/s")
    print(f"RESULT submission_p99_ms {p99:.1f} ms")
    print(f"RESULT pgbench_inserts_per_s {pg_rate:.0f} 1/s")
    if peer:
        print(f"RESULT slurmrestd_submissions_per_s {peer[0]:.0f} 1/s")
        print(f"RESULT slurmrestd_p99_ms {peer[1]:.1f} ms")
        print(f"RESULT ratio_to_slurmrestd {rate / peer[0]:.2f} ratio")


if __name__ == "__main__":
    main()
