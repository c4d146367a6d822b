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

# What hpcc reads: a value a line, in its fixed order; what follows it on the line is for people. One process, and a matrix
# that takes some seconds. Not the package's own example, which lies among the documents that small systems leave out.
HPCC_INPUT = """The HPC Challenge on one process
two lines for people
out    name of a file that hpcc does not use
8      output to a file
1      number of problem sizes
2000   N
1      number of block sizes
80     NB
0      processes by rows
1      number of process grids
1      P
1      Q
16.0   threshold
1      number of panel factorizations
2      right-looking
1      number of stopping criteria
4      NBMIN
1      number of divisions
2      NDIV
1      number of recursive factorizations
1      Crout
1      number of broadcasts
1      modified ring
1      number of depths
1      depth
2      swap: mixed
64     swapping threshold
0      L1 transposed
0      U transposed
1      equilibration
8      alignment
a line between
0      further problem sizes for PTRANS
1200   N
0      further block sizes for PTRANS
40     NB
"""


def real_programs():
    """Programs of Debian packages, whose code nobody here wrote: the HPC Challenge, and OpenSSL deriving a key."""
    return [
        {"name": "hpcc", "command": ["hpcc"], "files": {"hpccinf.txt": HPCC_INPUT}},
        {"name": "openssl", "command": ["openssl", "enc", "-aes-256-cbc", "-pbkdf2", "-iter", "8000000", "-k", "secret",
                                        "-S", "0123456789abcdef", "-in", "/etc/os-release", "-out", "/dev/null"]},
    ]


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


def submit(net, program, center, **more):
    path = net.state_dir / "job.json"
    path.write_text(json.dumps({**program, "units": {"center": center, "count": 1}, **more}))
    job = net.json("job", "submit", path)
    say(f"submitted {program['name']} to {center}: {job['id']}")
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


def run_one(net, program, center, **more):
    job_id = submit(net, program, center, **more)
    job = follow(net, [job_id], ENDED)[job_id]
    if job["state"] != "succeeded":
        say(net.cli("job", "logs", "--stderr", job_id))
        raise Failed(f"{job['name']} did not succeed: {job['end_reason']}")
    return job


def wait_for_probes(net):
    """What a profiled run taught is measured everywhere by itself."""
    quiet = 0
    end = time.monotonic() + 300
    while quiet < 4:
        net.check()
        quiet = 0 if any(run["state"] == "queued" for run in net.json("probe", "list")["items"]) else quiet + 1
        if time.monotonic() > end:
            raise Failed("the probes of what was learned did not end within 5 minutes")
        time.sleep(0.5)


def run_programs(net):
    headline("3. Two real programs: profiled at alpha, then predicted and run at beta")
    ended = []
    for program in real_programs():
        first = run_one(net, program, "alpha", profile=True)
        say(f"{program['name']} took {first['run_s']:.2f} s at alpha; what it executed:")
        say(net.cli("job", "operators", first["id"]))
        wait_for_probes(net)
        second = run_one(net, program, "beta")
        headline(f"{program['name']}: {second['state']}")
        say(net.cli("job", "explain", second["id"]))
        ended.append((first, second))
    headline("Predicted against actual run time")
    errors = []
    for first, second in ended:
        predicted, actual = second["predicted"]["run_s"], second["run_s"]
        errors.append(abs(predicted / actual - 1))
        say(f"  {second['name']:10} alpha {first['run_s']:6.2f} s   beta predicted {predicted:6.2f} s   actual "
            f"{actual:6.2f} s   actual/predicted {actual / predicted:.2f}")
    say_noise(net, max(errors))


def say_noise(net, error):
    """What the machine's own measurements say of an error: how much samples of one operator differ on one unit."""
    spreads = sorted(score["spread"] for score in net.json("score", "list")["items"])
    usual = spreads[len(spreads) // 2] if spreads else 0
    noisy = usual > 0.05
    say(f"  this machine's own noise: samples of one operator on one unit differ by {100 * usual:.0f} % (median of "
        f"{len(spreads)} measurements)" + (": it is busy with other things, and so are these figures" if noisy else ""))
    if error > 0.15 and not noisy:
        say("  note: an error of more than 15 % on a quiet machine is worth a report")


def show_what_next(net):
    headline("Go on yourself")
    server_dir = net.state_dir / "server"
    say(f"""  export FATHOM_URL={net.url} FATHOM_CA={server_dir}/ca.pem FATHOM_TOKEN_FILE={server_dir}/admin.token
  {net.programs}/fathom job submit --operators dgemm=50 --units 1 --wait -- python3 -c 'print(6 * 7)'
  {net.programs}/fathom token create --name me --role user        # a token of your own
  curl --cacert {server_dir}/ca.pem -H "Authorization: Bearer $(cat {server_dir}/admin.token)" {net.url}/api/v1/scores
Console: {net.url}/   sign in with the token that {server_dir}/admin.token holds
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
