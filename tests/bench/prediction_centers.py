"""fathomd and centers of this machine that truly differ: OpenBLAS kernels, cores, processor time, neighbours."""
import os
import pathlib
import sys
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
from network import Agent, Network, agent_config, wait_until  # noqa: E402
from prediction_units import Quota  # noqa: E402

QUOTA_CORES = 0.6
# Between looks at a job. Each costs client, server and database some milliseconds, and twenty a second some percent of a core,
# which jobs pay where all cores are held.
PAUSE_S = 0.5
PAIR = "pair"  # two units of one core, on one of which a job may be a neighbour


class Center:
    """What is known of a center without measuring it."""

    def __init__(self, name, kernels, cpus, quota=None, units=1):
        self.name, self.kernels, self.cpus, self.quota, self.units = name, kernels, cpus, quota, units

    def cores_per_unit(self):
        return len(self.cpus) // self.units

    def power(self):
        """Of a unit: cores times quota; the clock is the same on one machine."""
        return self.quota.cores if self.quota else self.cores_per_unit()

    def describe(self):
        quota = f", {100 * self.quota.cores:.0f} % of a core's time" if self.quota else ""
        units = f"{self.units} units of " if self.units > 1 else ""
        return f"{self.name}: {units}{self.cores_per_unit()} core(s), OpenBLAS kernels for {self.kernels}{quota}"


def centers(quota):
    """The one where programs are profiled comes first; the last, where there is one, is the pair, for neighbours."""
    cpus = sorted(os.sched_getaffinity(0))
    flags = pathlib.Path("/proc/cpuinfo").read_text()
    if "avx2" not in flags:
        sys.exit("prediction: this processor has too few kernels to choose from")
    best = "SkylakeX" if "avx512vl" in flags else "Haswell"
    found = [Center("reference", best, cpus[:1]), Center("older", "Prescott", cpus[:1])]
    if quota.folder is not None:
        found.append(Center("quota", "Haswell", cpus[:1], quota))
    if len(cpus) >= 2:
        found.append(Center("two-cores", "Sandybridge", cpus[:2]))
        found.append(Center(PAIR, "Prescott", cpus[:2], units=2))
    return found


class ProgramFailed(SystemExit):
    """A job did not succeed: nothing can be said without it, unless who ran it knows better."""


class Bench(Network):
    """The network of the benchmark. Its centers share cores, as those of a network do not: one at a time is open, the others
    are drained, so that neither jobs nor probes of one disturb another's."""

    def __init__(self, chosen, inputs):
        super().__init__(settings=["--verify-one-in", "0"])
        self.inputs = inputs
        self.open_center = None
        for center in chosen:
            self.add_center(center)
            self.open_only(center.name)
            self.wait_for_probes()

    def open_only(self, name):
        """Of the centers that are there."""
        if self.open_center == name:
            return
        for center, is_drained in ((self.open_center, True), (name, False)):
            if center is not None:
                answer = self.rest.call("PATCH", f"/centers/{center}", json={"drained": is_drained})
                assert answer.status_code == 200, answer.text
        self.open_center = name

    def add_center(self, center):
        config = agent_config(cores=",".join(map(str, center.cpus)), unit_name="unit",
                              cores_per_unit=center.cores_per_unit(), unit_count=center.units,
                              environment={"OPENBLAS_CORETYPE": center.kernels,
                                           "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
        agent = Agent(self.folder, center.name, config).enrol(self.server, self.rest)
        agent.config.write_text(agent.config.read_text().replace(
            'shared_folders = "', f'shared_folders = "{self.inputs},', 1))
        if center.quota is not None:
            # The groups of its jobs are made below the agent's own.
            agent.process.arguments = ["sh", "-c", 'echo $$ > "$0" && exec "$@"',
                                       str(center.quota.folder / "cgroup.procs"), *agent.process.arguments]
        agent.start()
        self.agents.append(agent)
        wait_until(lambda: self.center(center.name)["state"] == "online", 120, f"center {center.name} being online")

    def wait_for_probes(self, limit_s=900):
        """Until nothing is to be measured any more, center by center, and what was measured is known to the router."""
        quiet = []

        def is_quiet():
            queued = [run["center"] for run in self.rest.items("/probe-runs?state=queued")]
            if queued and self.open_center not in queued:
                self.open_only(queued[0])
            quiet.append(not queued)
            return len(quiet) >= 3 and all(quiet[-3:])
        wait_until(is_quiet, limit_s, "the end of all probes", pause_s=0.7)

    def wait_until_learned(self, job_id, job_type, limit_s=300):
        """Until its type has what the job was seen to execute, and that is measured at all centers."""
        def is_released():
            self.wait_for_probes()
            answer = self.rest.call("GET", f"/job-types/{urllib.parse.quote(job_type, safe='')}")
            if answer.status_code != 200 or answer.json()["learned_from"] != job_id:
                return False
            task = answer.json()["probe_task_id"]
            return task is None or self.rest.get(f"/probe-tasks/{task}")["state"] == "released"
        wait_until(is_released, limit_s, f"what {job_type} was seen to execute being measured", pause_s=0.7)
        self.wait_for_probes()

    def know_machine(self, center, limit_s=240):
        """Until the center has measured, as after its first profiled job, what such jobs would else hold their units for."""
        self.open_only(center)
        job = self.submit(name="first-profiled", command=["/usr/bin/true"], units={"center": center, "count": 1}, profile=True)
        self.wait_job(job["id"])
        self.wait_for_probes()
        agent = next(agent for agent in self.agents if agent.process.name == center)
        try:
            wait_until(lambda: "machine_measured_for_profiles" in agent.process.log(), limit_s, "an idle machine", pause_s=1)
        except AssertionError as error:
            print(f"prediction: {error}: profiled jobs measure it while they hold their units", file=sys.stderr)

    def measure_copies(self, job_type, center):
        """What neighbours cost jobs of the type there; left out where nothing of the type is known to measure."""
        answer = self.rest.call("POST", "/probe-runs", json={
            "job_type": job_type, "selection": "user", "unit_types": [f"{center}/unit"], "mode": "throughput"})
        if answer.status_code >= 300:
            print(f"prediction: no copies of {job_type}: {answer.text}", file=sys.stderr)
            return
        self.wait_for_probes()
        for run in answer.json()["items"]:
            ended = self.rest.get(f"/probe-runs/{run['id']}")
            if ended["state"] != "succeeded":
                print(f"prediction: copies of {job_type}: {ended['state']}, {ended['error']}", file=sys.stderr)

    def run(self, name, job, center, **more):
        """One job on a center, ended, with its row of the ledger."""
        self.open_only(center)
        spec = {"name": name, "units": {"center": center, "count": 1}, "wall_limit_s": 600, **job, **more}
        ended = self.wait_job(self.submit(**spec)["id"], limit_s=900, pause_s=PAUSE_S)
        if ended["state"] != "succeeded":
            stderr = self.rest.call("GET", f"/jobs/{ended['id']}/logs/stderr").text
            raise ProgramFailed(f"prediction: {name} on {center}: {ended['state']}, {ended['end_reason']}\n{stderr[-2000:]}")
        decision = self.rest.get(f"/jobs/{ended['id']}/placement")["decision"]
        row = next(r for r in self.rest.items("/predictions") if r["job_id"] == ended["id"])
        return ended, row, decision["candidates"][decision["winner"]]
