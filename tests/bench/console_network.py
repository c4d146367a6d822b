"""A network with a past for tests/bench/console: what runs for real in it, and what is asked for over REST.

Two real centers are measured and run jobs of each kind; console_copies.py then makes a large network of their rows."""
import datetime
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "e2e"))
from network import Network, wait_until  # noqa: E402

DATA_SITE = pathlib.Path(__file__).with_name("data_site.py")
# Copies of centers have no agent: they must not be found to be silent while the benchmark lasts. Nor shall copies of jobs,
# whose run times say nothing of the copied unit types, have these measured again.
SETTINGS = ["--suspect-after-s", "80000", "--lost-after-s", "86400", "--drift-jobs", "0"]
# vgpu: devices that need no cores of their own, and whose sub-units may go to other centers.
ALPHA = """cores = "0"
[environment]
FATHOM_FETCH_URL = "{site}"
[[device]]
kind = "vgpu"
count = 16
variable = "VGPU_VISIBLE_DEVICES"
[[unit_type]]
name = "core"
cores_per_unit = 1
unit_count = 1
[[unit_type]]
name = "vgpu"
resource_type = "vgpu"
cores_per_unit = 0
memory_bytes_per_unit = 1000000
[[sub_units]]
kind = "vgpu"
unit_type = "vgpu"
total = 8
"""
BETA = """cores = "0,1"
[environment]
FATHOM_FETCH_URL = "{site}"
[[unit_type]]
name = "core-large"
cores_per_unit = 1
unit_count = 2
"""
# What is measured: few and small, since every copied unit type gets all of them.
PROBED = [
    {"id": "dgemm", "parameters": {"m": 256, "n": 256, "k": 256}},
    {"id": "fft3d", "parameters": {"n": 32}},
    {"id": "spmv", "parameters": {"rows": 50000}},
    {"id": "stream_triad", "parameters": {"n": 500000}},
    {"id": "conv2d", "parameters": {"batch": 1, "channels_in": 16, "channels_out": 16, "height": 28, "width": 28, "kernel": 3}},
    {"id": "network_fetch", "parameters": {"bytes": 65536}},
]
DGEMM = {"id": "dgemm", "parameters": {"m": 256, "n": 256, "k": 256}, "count": 200}
FFT = {"id": "fft3d", "parameters": {"n": 32}, "count": 300}
SPMV = {"id": "spmv", "parameters": {"rows": 50000}, "count": 100}
SAY = "for i in 1 2 3 4 5; do echo step $i; sleep 0.05; done"
# How many of a hundred copied jobs are copies of which real one.
KINDS = {
    "relaxation": (34, {"type": "materials/relaxation", "command": ["sh", "-c", SAY], "operators": [DGEMM, FFT]}),
    "spectrum": (24, {"type": "signals/spectrum", "command": ["sh", "-c", SAY], "operators": [FFT]}),
    "solver": (20, {"type": "flows/solver", "command": ["sh", "-c", SAY], "operators": [SPMV, DGEMM]}),
    "import": (9, {"type": "data/import", "command": ["sh", "-c", "seq 1 300"]}),
    "wrong": (4, {"type": "data/import", "command": ["sh", "-c", "echo no such file >&2; exit 3"]}),
    "too long": (2, {"type": "flows/solver", "command": ["sleep", "60"], "wall_limit_s": 1, "operators": [SPMV]}),
    "stopped": (4, {"type": "flows/solver", "command": ["sleep", "60"], "operators": [SPMV]}),
    "running": (3, {"type": "materials/relaxation", "command": ["sleep", "20000"], "operators": [DGEMM]}),
}
PROJECTS = [f"{field}-{number}" for field in ("materials", "flows", "climate", "genomes") for number in range(1, 7)]
WAITING_JOBS = 200


def later(hours):
    moment = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=hours)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


class DataSite:
    """What network_fetch fetches from."""

    def __init__(self):
        self.process = subprocess.Popen(["/usr/bin/python3", DATA_SITE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class SmallNetwork:
    """fathomd and two centers, measured, that have run a job of each kind."""

    def __init__(self):
        self.site = DataSite()
        self.net = Network(SETTINGS)
        self.rest = self.net.rest
        self.jobs = {}  # kind -> id

    def close(self):
        self.net.close()
        self.site.close()

    def start(self):
        self.net.add_agent("alpha", ALPHA.format(site=self.site.url))
        self.net.add_agent("beta", BETA.format(site=self.site.url))
        self.measure()
        self.rest.post("/price-books", {"document": {"currency": "EUR", "entries": [
            {"center": "*", "unit_type": "*", "per_score_hour": "3.6", "unit_power_w": 120, "carbon_g_per_kwh": 300}]}})
        for kind, (_, spec) in KINDS.items():
            self.jobs[kind] = self.net.submit(name=kind, metering_wait_s=0, **spec)["id"]
            self.bring_about(kind)

    def measure(self):
        runs = self.rest.post("/probe-runs", {"operators": PROBED, "unit_counts": [1, 2]})["items"]
        for run in runs:
            state = wait_until(lambda: self.ended_run(run["id"]), 600, "a probe run's end")
            assert state == "succeeded", self.rest.get(f"/probe-runs/{run['id']}")

    def ended_run(self, run):
        """Its state, once it has ended."""
        found = self.rest.get(f"/probe-runs/{run}")
        return found["state"] if found["state"] != "queued" else None

    def bring_about(self, kind):
        """Until the job is in the state that its copies will have."""
        job = self.jobs[kind]
        if kind in ("stopped", "running"):
            wait_until(lambda: self.net.job(job)["state"] == "running", 120, f"{kind}: its start")
        if kind == "stopped":
            assert self.rest.call("POST", f"/jobs/{job}:cancel").ok
        if kind != "running":
            self.net.wait_job(job)

    def make_people(self):
        """Accounts, tokens and projects. @return ids of tokens that submit jobs"""
        for number in range(25):
            self.rest.post("/users", {"name": f"person{number:02}", "role": "user", "password": f"a staple for battery {number:02}"})
        for project in PROJECTS:
            self.put(f"/projects/{project}", {"share": 1, "max_units": 100000})
        for center in range(15):
            self.rest.post("/enrolment-tokens", {"center_name": f"not-yet-{center}"})
        tokens = [self.rest.post("/tokens", {"name": f"group-{number}", "role": "user"}) for number in range(30)]
        return [token["id"] for token in tokens]

    def put(self, path, body):
        answer = self.rest.call("PUT", path, json=body)
        assert answer.ok, answer.text

    def make_plans(self, places):
        """Schedules, a policy, a calendar. `places`: (center, unit type) that take jobs"""
        for number in range(5):
            self.rest.post("/probe-schedules", {"name": f"weekly {number}", "cron": f"{number} 3 * * 0", "order": {"operators": PROBED[:1]}})
        figures = [{"figure": "time_s", "weight": 1, "steps": [{"below": 1, "points": 100}, {"points": 10}]}]
        self.rest.post("/metric-policies", {"document": {"id": "by-intervals", "kind": "intervals", "figures": figures}})
        for number, (center, _) in enumerate(places[:40]):
            self.rest.post("/maintenance-windows", {"center": center, "starts_at": later(4 * number + 1),
                                                    "ends_at": later(4 * number + 9), "reason": "cooling is renewed"})
        for number, (center, unit_type) in enumerate(places[40:80]):
            self.rest.post("/reservations", {"project": PROJECTS[number % len(PROJECTS)], "center": center, "unit_type": unit_type,
                                             "unit_count": 1, "starts_at": later(3 * number + 1), "ends_at": later(3 * number + 30)})

    def make_waiting_jobs(self):
        """Jobs for the one center whose only unit runs one that does not end. @return the id of one of them"""
        units = {"center": "alpha", "type": "core", "count": 1}
        self.net.submit(name="keeps alpha", command=["sleep", "20000"], units=units, metering_wait_s=0)
        jobs = [{"name": f"waiting-{number}", "project": PROJECTS[number % len(PROJECTS)], "type": "flows/solver", "command": ["true"],
                 "operators": [SPMV], "units": units, "metering_wait_s": 0} for number in range(WAITING_JOBS)]
        made = [job["id"] for first in range(0, WAITING_JOBS, 100)
                for job in self.rest.post("/jobs", jobs[first:first + 100])["items"]]
        return made[-1]

    def wait_for_bills(self, database):
        """Until the server has metered and posted what the copied jobs used: that is no part of what is measured."""
        began = time.monotonic()
        wait_until(lambda: not database.value("SELECT count(*) FROM attempt WHERE state = 'ended' AND NOT metered") and
                   database.value("SELECT (SELECT max(id) FROM usage_record) <= (SELECT usage_id FROM ledger_head)"),
                   900, "the ledger of all jobs", pause_s=1)
        return time.monotonic() - began
