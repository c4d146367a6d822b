"""Runs two centers on this machine and shows the main job. Started by deploy/quickstart, which has the help text."""
import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

from centers import LocalCenters
from network import (Failed, Network, choose_address, choose_programs, choose_state_dir, headline, lock_folder,
                     others_may_enter, say)
from slurm_centers import SlurmCenters

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


def parse_arguments():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--once", action="store_true")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--slurm", action="store_true")
    parser.add_argument("--state-dir", type=pathlib.Path)
    parser.add_argument("--programs", type=pathlib.Path)
    parser.add_argument("--listen")
    parser.add_argument("--agent-listen")
    return parser.parse_args()


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


def enrolled_at(folder):
    """The address at which an agent enrolled in an earlier run, which is the only one that it knows."""
    for place in ("agent/agent.json", "agent.json"):  # the second: older agents
        if (folder / place).exists():
            return json.loads((folder / place).read_text()).get("server")
    return None


def enrol(net, name, folder):
    token_file = net.state_dir / f"{name}.token"
    token_file.unlink(missing_ok=True)
    net.cli("enrolment-token", "create", "--center", name, "--output-file", token_file)
    enrolment = subprocess.run(
        [net.programs / "fathom-agent", "enrol", "--force", "--server", net.agent_listen, "--ca",
         net.state_dir / "server" / "ca.pem", "--token-file", token_file, "--state-dir", folder])
    token_file.unlink()
    if enrolment.returncode != 0:
        raise Failed(f"enrolling the agent of {name} failed")


def start_agents(net, centers):
    centers.start(net)
    configs = centers.configs(net)
    for name, config in configs.items():
        folder = net.state_dir / name
        folder.mkdir(exist_ok=True)
        config_file = net.state_dir / f"{name}.toml"
        config_file.write_text(config)
        if enrolled_at(folder) != net.agent_listen:
            enrol(net, name, folder)
        net.start(name, net.programs / "fathom-agent", "run", "--state-dir", folder, "--config", config_file)
    net.wait(lambda: all(c["state"] == "online" for c in net.json("center", "list")["items"]
                         if c["name"] in configs), 60, "connecting the agents")
    say("alpha and beta are enrolled and connected over mutual TLS\n")
    say(net.cli("unit", "list"))


def measured_operators(net):
    return {(s["center"], s["operator"]) for s in net.json("score", "list")["items"]}


def run_probes(net, names):
    """Measures centers, and shows how far that is. @return their probe runs in their end states"""
    begin = time.monotonic()
    runs = net.json("probe", "run", "--centers", *names)["items"]
    last = None
    while True:
        net.check()
        states = [net.json("probe", "show", run["id"]) for run in runs]
        line = ", ".join(f"{run['center']} {run['state']}" for run in states)
        if line != last:
            say(f"  {time.monotonic() - begin:5.1f} s  probe runs: {line}")
            last = line
        if all(run["state"] != "queued" for run in states):
            return states
        if time.monotonic() - begin > 300:
            raise Failed("the probe runs did not end within 5 minutes")
        time.sleep(0.5)


def unmeasured_centers(net):
    measured = measured_operators(net)
    return [center for center in ("alpha", "beta") if any((center, operator) not in measured for operator in OPERATORS)]


def run_probes_until_good(net, names):
    """Up to three times. On a slow or busy machine a run reaches its time limit; its operators are measured in parts then."""
    for left in (2, 1, 0):
        failed = [run for run in run_probes(net, names) if run["state"] != "succeeded"]
        for run in failed:
            say(f"the probe run on {run['center']} failed: {run['error']}")
        if not failed:
            return
        wait_for_probes(net)
        names = unmeasured_centers(net)
        if not names:
            return
        if not left:
            raise Failed(f"not all operators could be measured on {' and '.join(names)}: `fathom probe list` says why")
        say("what is missing is measured again")


def measure(net, centers):
    headline("2. What the centers can do, measured")
    if not unmeasured_centers(net):
        say("measured in an earlier run; `fathom probe run` measures again\n")
    else:
        run_probes_until_good(net, ["alpha", "beta"])
        say()
        centers.show_probes(net)
    say(net.cli("score", "list"))
    if unmeasured_centers(net):
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


def run_one(net, centers, program, center, **more):
    job_id = submit(net, program, center, **more)
    job = follow(net, [job_id], ENDED)[job_id]
    if job["state"] != "succeeded":
        say(net.cli("job", "logs", "--stderr", job_id))
        raise Failed(f"{job['name']} did not succeed: {job['end_reason']}")
    centers.show_job(net, job)
    return job


def wait_for_probes(net):
    """What is measured by itself: what a profiled run taught, and the parts of a run that took too long."""
    quiet = 0
    end = time.monotonic() + 600
    while quiet < 4:
        net.check()
        quiet = 0 if any(run["state"] == "queued" for run in net.json("probe", "list")["items"]) else quiet + 1
        if time.monotonic() > end:
            raise Failed("the probes did not end within 10 minutes: `fathom probe list` shows them")
        time.sleep(0.5)


def run_programs(net, centers):
    headline("3. Two real programs: profiled at alpha, then predicted and run at beta")
    ended = []
    for program in real_programs():
        first = run_one(net, centers, program, "alpha", profile=True)
        say(f"{program['name']} took {first['run_s']:.2f} s at alpha; what it executed:")
        say(net.cli("job", "operators", first["id"]))
        wait_for_probes(net)
        second = run_one(net, centers, program, "beta")
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


def show_what_next(net, centers):
    headline("Go on yourself")
    server_dir = net.state_dir / "server"
    say(f"""  export FATHOM_URL={net.url} FATHOM_CA={server_dir}/ca.pem FATHOM_TOKEN_FILE={server_dir}/admin.token
  {net.programs}/fathom job submit --operators dgemm=50 --units 1 --wait -- python3 -c 'print(6 * 7)'
  {net.programs}/fathom token create --name me --role user        # a token of your own
  curl --cacert {server_dir}/ca.pem -H "Authorization: Bearer $(cat {server_dir}/admin.token)" {net.url}/api/v1/scores
{centers.hints(net)}Console: {net.url}/   sign in with the token that {server_dir}/admin.token holds
REST: {net.url}   its description: {net.url}/openapi.json   logs and data: {net.state_dir}""")


def demonstrate(net, centers):
    centers.prepare(net)
    start_server(net)
    start_agents(net, centers)
    measure(net, centers)
    run_programs(net, centers)
    show_what_next(net, centers)


def prepare_state_dir(state_dir, centers, fresh):
    """@return the folder's lock."""
    state_dir.mkdir(parents=True, exist_ok=True)
    if os.geteuid() == 0 and not others_may_enter(state_dir):
        raise Failed(f"unprivileged users cannot enter {state_dir}, and PostgreSQL and the jobs run as such: "
                     "choose another --state-dir")
    lock = lock_folder(state_dir)
    if fresh and (state_dir / "server").exists():
        for name in ("server", "alpha", "beta", SlurmCenters.folder):
            shutil.rmtree(state_dir / name, ignore_errors=True)
    had_slurm = (state_dir / SlurmCenters.folder).exists()
    if (state_dir / "server").exists() and had_slurm != (centers.folder == SlurmCenters.folder):
        raise Failed(f"{state_dir} keeps an earlier run {'with' if had_slurm else 'without'} --slurm: choose another "
                     "--state-dir, or forget that run by --fresh")
    return lock


def tell(failure):
    say(f"\nquickstart: {failure}")
    return 1


def run(arguments):
    """@return the exit status."""
    centers = SlurmCenters() if arguments.slurm else LocalCenters()
    state_dir = choose_state_dir(arguments.state_dir, "quickstart-slurm" if arguments.slurm else "quickstart")
    lock = prepare_state_dir(state_dir, centers, arguments.fresh)
    net = Network(state_dir, choose_programs(arguments.programs, state_dir), choose_address(arguments.listen, 8443),
                  choose_address(arguments.agent_listen, 8444), lock)
    try:
        demonstrate(net, centers)
        if arguments.once:
            return 0
        say("\nUp until Ctrl-C.")
        while True:
            net.check()
            time.sleep(1)
    except Failed as failure:
        return tell(failure)
    except KeyboardInterrupt:
        say("\nstopping")
        return 130 if arguments.once else 0
    finally:
        net.stop()


def main():
    arguments = parse_arguments()
    signal.signal(signal.SIGTERM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
    try:
        return run(arguments)
    except Failed as failure:
        return tell(failure)


if __name__ == "__main__":
    sys.exit(main())
