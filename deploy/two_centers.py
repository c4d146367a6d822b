"""Runs two centers on this machine and shows the main job. Started by deploy/quickstart, which has the help text."""
import argparse
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
OPERATORS = ["dgemm", "fft1d", "fft3d", "spmv", "conv2d", "stream_triad"]

DENSE = """
import numpy
a = numpy.random.default_rng(1).random((1200, 1200))
b = a.copy()
for _ in range(100):
    b = a @ b
    b /= numpy.abs(b).max()
print('dominant eigenvalue of a random 1200 x 1200 matrix: %.6f' % ((a @ b).sum() / b.sum()))
"""
FFT = """
import numpy, pyfftw
a = pyfftw.empty_aligned((128, 128, 128), dtype='complex128')
b = pyfftw.empty_aligned((128, 128, 128), dtype='complex128')
transform = pyfftw.FFTW(a, b, axes=(0, 1, 2), planning_timelimit=1.0)
a[:] = numpy.random.default_rng(1).random(a.shape) + 1j
for _ in range(160):
    transform()
energy = (abs(b) ** 2).sum() / (abs(a) ** 2).sum() / a.size
print('160 transforms of 128^3 points; energy kept to %.1e' % abs(energy - 1))
"""


class Failed(Exception):
    """A step did not work; the text says what and what to do."""


def say(text=""):
    print(text, flush=True)


def headline(text):
    say(f"\n\033[1m{text}\033[0m" if sys.stdout.isatty() else f"\n== {text}")


def parse_arguments():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--once", action="store_true")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--state-dir", type=pathlib.Path)
    parser.add_argument("--listen")
    parser.add_argument("--agent-listen")
    return parser.parse_args()


def others_may_enter(path):
    """Whether an unprivileged user can reach the folder: jobs and PostgreSQL never run as root."""
    return all(folder.stat().st_mode & 0o001 for folder in [path, *path.parents] if folder.exists())


def choose_state_dir(asked):
    if asked:
        return asked.resolve()
    inside = ROOT / ".state" / "quickstart"
    if os.geteuid() == 0 and not others_may_enter(ROOT):
        # A clone below /root, say: PostgreSQL and the jobs drop root's rights and could not enter it.
        return pathlib.Path("/var/lib/fathom-quickstart")
    return inside


def choose_programs(state_dir):
    """The folder with the built programs; a copy where unprivileged users could not reach the build."""
    built = ROOT / "build" / "release" / "bin"
    if os.geteuid() != 0 or others_may_enter(built):
        return built
    copy = state_dir / "bin"
    copy.mkdir(exist_ok=True)
    for name in ("fathomd", "fathom-agent", "fathom-probe", "fathom-operator-host", "fathom-profile",
                 "libfathom-profile.so", "fathom-operators-cuda.so", "fathom"):
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


def blas_core_types():
    """Two settings of OpenBLAS that this processor can run and that differ: (slower, best)."""
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    flags = next((line for line in lines if line.startswith("flags")), "").split()
    # Where 512 bits are executed in two halves, SkylakeX is no faster than Haswell.
    is_intel = any(line.startswith("vendor_id") and "GenuineIntel" in line for line in lines)
    if is_intel and "avx512f" in flags and "avx512vl" in flags:
        return "Haswell", "SkylakeX"
    if "avx2" in flags:
        return "Nehalem", "Haswell"
    return "Prescott", "Nehalem"


def center_configs():
    """The two centers' config files: other cores, other cuts, other library settings."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        say("note: this machine has one core only: the centers share it and disturb each other's measurements")
    half = max(1, len(cores) // 2)
    first, second = cores[:half], cores[half:] or cores
    slower, best = blas_core_types()
    cut = min(2, len(second))
    def config(cores, name, cores_per_unit, memory_gib, core_type):
        return (f'cores = "{",".join(map(str, cores))}"\n'
                f'[environment]\nOPENBLAS_CORETYPE = "{core_type}"\n'
                f'[[unit_type]]\nname = "{name}"\ncores_per_unit = {cores_per_unit}\n'
                f"memory_bytes_per_unit = {memory_gib << 30}\n")
    return {"alpha": config(first, "core", 1, 2, slower), "beta": config(second, "core-large", cut, 4, best)}


class Network:
    """The processes of the demonstration, and the command line that talks to them."""

    def __init__(self, state_dir, listen, agent_listen):
        self.state_dir = state_dir
        self.programs = choose_programs(state_dir)
        self.listen, self.agent_listen = listen, agent_listen
        self.url = f"https://{listen}"
        self.processes = []

    def start(self, name, *arguments):
        log_path = self.state_dir / f"{name}.log"
        with open(log_path, "ab") as log:
            # In a session of its own: Ctrl-C is ours to handle, in order.
            process = subprocess.Popen([str(a) for a in arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                       start_new_session=True)
        self.processes.append((name, process, log_path))

    def check(self):
        for name, process, log_path in self.processes:
            if process.poll() is not None:
                tail = "\n".join(log_path.read_text(errors="replace").splitlines()[-8:])
                raise Failed(f"{name} ended with status {process.returncode}; the end of {log_path}:\n{tail}")

    def stop(self):
        for name, process, _ in reversed(self.processes):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(30)
                except subprocess.TimeoutExpired:
                    process.kill()
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


def start_server(net):
    headline("1. The metascheduler and two centers")
    server_dir = net.state_dir / "server"
    known = server_dir.exists()
    server_dir.mkdir(parents=True, exist_ok=True)
    net.start("fathomd", net.programs / "fathomd", "--state-dir", server_dir, "--listen", net.listen,
              "--agent-listen", net.agent_listen)
    net.wait(lambda: (server_dir / "admin.token").exists() and
             (lambda text: text and json.loads(text))(net.cli("center", "list", "--output", "json", check=False)),
             90, "starting fathomd")
    say(f"fathomd is up at {net.url} with its embedded PostgreSQL" + (", its data found again" if known else ""))


def start_agents(net):
    for name, config in center_configs().items():
        folder = net.state_dir / name
        folder.mkdir(exist_ok=True)
        config_file = net.state_dir / f"{name}.toml"
        config_file.write_text(config)
        if not any((folder / place).exists() for place in ("agent/agent.json", "agent.json")):  # the second: older agents
            token_file = net.state_dir / f"{name}.token"
            token_file.unlink(missing_ok=True)
            net.cli("enrolment-token", "create", "--center", name, "--output-file", token_file)
            enrolment = subprocess.run(
                [net.programs / "fathom-agent", "enrol", "--server", net.agent_listen, "--ca",
                 net.state_dir / "server" / "ca.pem", "--token-file", token_file, "--state-dir", folder])
            token_file.unlink()
            if enrolment.returncode != 0:
                raise Failed(f"enrolling the agent of {name} failed")
        net.start(name, net.programs / "fathom-agent", "run", "--state-dir", folder, "--config", config_file)
    net.wait(lambda: all(c["state"] == "online" for c in net.json("center", "list")["items"]
                         if c["name"] in center_configs()), 60, "connecting the agents")
    say("alpha and beta are enrolled and connected over mutual TLS\n")
    say(net.cli("unit", "list"))


def measured_operators(net):
    return {(s["center"], s["operator"]) for s in net.json("score", "list")["items"]}


def measure(net):
    headline("2. What the centers can do, measured")
    wanted = {(center, operator) for center in center_configs() for operator in OPERATORS}
    if wanted <= measured_operators(net):
        say("measured in an earlier run; `fathom probe run` measures again\n")
    else:
        begin = time.monotonic()
        runs = net.json("probe", "run")["items"]
        last = None
        while True:
            net.check()
            states = {run["center"]: net.json("probe", "show", run["id"]) for run in runs}
            line = ", ".join(f"{center} {run['state']}" for center, run in states.items())
            if line != last:
                say(f"  {time.monotonic() - begin:5.1f} s  probe runs: {line}")
                last = line
            if all(run["state"] != "queued" for run in states.values()):
                break
            if time.monotonic() - begin > 300:
                raise Failed("the probe runs did not end within 5 minutes")
            time.sleep(0.5)
        for run in states.values():
            if run["state"] != "succeeded":
                raise Failed(f"the probe run on {run['center']} failed: {run['error']}")
        say()
    say(net.cli("score", "list"))
    if not wanted <= measured_operators(net):
        raise Failed("some operators have no score")


def submit(net, name, operators, command):
    job = net.json("job", "submit", "--name", name, "--operators", operators, "--units", "1", "--", *command)
    say(f"submitted {name}: {job['id']}")
    return job["id"]


def follow(net, job_ids, until):
    """Shows the jobs' states until `until` holds for all of them."""
    last = {}
    begin = time.monotonic()
    while True:
        net.check()
        jobs = {job_id: net.json("job", "show", job_id) for job_id in job_ids}
        for job_id, job in jobs.items():
            place = f" at {job['attempt']['center']}/{job['attempt']['unit_type']}" if job["attempt"] else ""
            line = f"{job['name']}: {job['state']}{place}"
            if last.get(job_id) != line:
                say(f"  {time.monotonic() - begin:5.1f} s  {line}")
                last[job_id] = line
        if all(job["state"] in until for job in jobs.values()):
            return jobs
        if time.monotonic() - begin > 300:
            raise Failed("the jobs did not get that far within 5 minutes")
        time.sleep(0.3)


ENDED = ("succeeded", "failed", "cancelled")


def run_programs(net):
    headline("3. Two real programs, routed by what was measured")
    dense = submit(net, "numpy-eigenvalue", "dgemm:m=1200;n=1200;k=1200=100", ["/usr/bin/python3", "-c", DENSE])
    follow(net, [dense], ("running", *ENDED))
    fft = submit(net, "fftw-transforms", "fft3d:n=128=160", ["/usr/bin/python3", "-c", FFT])
    jobs = follow(net, [dense, fft], ENDED)
    for job_id, job in jobs.items():
        headline(f"{job['name']}: {job['state']}")
        say(net.cli("job", "explain", job_id))
        say("its output:")
        for line in net.cli("job", "logs", job_id).splitlines():
            say(f"  {line}")
        if job["state"] != "succeeded":
            say(net.cli("job", "logs", "--stderr", job_id))
            raise Failed(f"{job['name']} did not succeed: {job['end_reason']}")
    headline("Predicted against actual run time")
    for job in jobs.values():
        predicted, actual = job["predicted"]["run_s"], job["run_s"]
        where = f"{job['attempt']['center']}/{job['attempt']['unit_type']}"
        say(f"  {job['name']:20} {where:16} predicted {predicted:6.2f} s   actual {actual:6.2f} s   "
            f"actual/predicted {actual / predicted:.2f}")


def show_what_next(net):
    headline("Go on yourself")
    server_dir = net.state_dir / "server"
    say(f"""  export FATHOM_URL={net.url} FATHOM_CA={server_dir}/ca.pem FATHOM_TOKEN_FILE={server_dir}/admin.token
  {net.programs}/fathom job submit --operators dgemm=50 --units 1 --wait -- python3 -c 'print(6 * 7)'
  {net.programs}/fathom token create --name me --role user        # a token of your own
  curl --cacert {server_dir}/ca.pem -H "Authorization: Bearer $(cat {server_dir}/admin.token)" {net.url}/api/v1/scores
REST: {net.url}   its description: {net.url}/openapi.json   logs and data: {net.state_dir}""")


def demonstrate(net):
    start_server(net)
    start_agents(net)
    measure(net)
    run_programs(net)


def main():
    arguments = parse_arguments()
    signal.signal(signal.SIGTERM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
    state_dir = choose_state_dir(arguments.state_dir)
    if arguments.fresh and (state_dir / "server").exists():
        for name in ("server", "alpha", "beta"):
            shutil.rmtree(state_dir / name, ignore_errors=True)
    state_dir.mkdir(parents=True, exist_ok=True)
    if os.geteuid() == 0 and not others_may_enter(state_dir):
        say(f"quickstart: unprivileged users cannot enter {state_dir}, and PostgreSQL and the jobs run as such: "
            "choose another --state-dir")
        return 1
    net = Network(state_dir, choose_address(arguments.listen, 8443), choose_address(arguments.agent_listen, 8444))
    try:
        demonstrate(net)
        show_what_next(net)
        if arguments.once:
            return 0
        say("\nUp until Ctrl-C.")
        while True:
            net.check()
            time.sleep(1)
    except Failed as failure:
        say(f"\nquickstart: {failure}")
        return 1
    except KeyboardInterrupt:
        say("\nstopping")
        return 130 if arguments.once else 0
    finally:
        net.stop()


if __name__ == "__main__":
    sys.exit(main())
