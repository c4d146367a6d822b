"""fathomd's processes: who they are, and that none outlives the others (docs/security.md)."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

from network import Network, wait_until
from processes import children, descendants, has_tcp_socket, is_gone, status

SERVER, SUPERVISOR = "fathomd-server", "fathomd"


@pytest.fixture
def network():
    with Network() as net:
        yield net


def server_pid(net):
    """The process that hears the network."""
    return next(p for p in children(net.server.process.process.pid) if status(p)["Name"] == SERVER)


def test_what_hears_the_network_is_not_root(network):
    server = server_pid(network)
    mine, supervisor = status(server), status(network.server.process.process.pid)
    assert int(mine["NoNewPrivs"]) == 1
    assert int(mine["CapEff"], 16) == 0 or os.geteuid() != 0 and mine["CapEff"] == supervisor["CapEff"]
    if os.geteuid() != 0:
        return  # nothing of it is root
    assert supervisor["Name"] == SUPERVISOR and not has_tcp_socket(network.server.process.process.pid)
    assert has_tcp_socket(server)
    ids = set(mine["Uid"].split())
    assert len(ids) == 1 and ids != {"0"} and "0" not in mine["Groups"].split() and int(mine["CapPrm"], 16) == 0
    postgres = status(network.server.postgres_pid())
    assert set(postgres["Uid"].split()).isdisjoint(ids | {"0"}), "the database has a user of its own"
    # The state folder stays root's: what the server says is written there by the supervisor.
    folder = network.server.state_dir
    assert (folder / "admin.token").stat().st_uid == 0 and (folder / "admin.token").stat().st_mode & 0o777 == 0o600
    as_server = ["setpriv", f"--reuid={ids.pop()}", f"--regid={mine['Gid'].split()[0]}", "--clear-groups"]
    for name in ("admin.token", "fathomd.lock", "postgres/data/PG_VERSION"):
        assert subprocess.run([*as_server, "cat", folder / name], capture_output=True).returncode != 0, name
    assert subprocess.run([*as_server, "touch", folder / "mine"], capture_output=True).returncode != 0


def test_a_kill_leaves_nothing_and_the_next_start_works(network):
    for name, whom in (("supervisor", lambda: network.server.process.process.pid), ("server", lambda: server_pid(network))):
        supervisor = network.server.process.process
        family = [supervisor.pid, *descendants(supervisor.pid)]
        os.kill(whom(), signal.SIGKILL)
        assert supervisor.wait(120) in (-signal.SIGKILL, 128 + signal.SIGKILL)
        network.server.start()  # at once: it waits for what is still ending
        wait_until(lambda: all(is_gone(pid) for pid in family), 120, "the end of all its processes")
        network.add_agent(f"after-the-{name}")
    assert '"event":"server_ended"' in network.server.process.log()


def test_a_kill_leaves_nothing_also_where_processes_have_no_descriptors(network):
    network.server.process.stop()
    wrapper = pathlib.Path(__file__).with_name("without_process_descriptors.py")
    network.server.process.arguments = [sys.executable, str(wrapper), *network.server.process.arguments]
    network.server.start()
    supervisor = network.server.process.process
    family = [supervisor.pid, *descendants(supervisor.pid)]
    os.kill(server_pid(network), signal.SIGKILL)
    assert supervisor.wait(120) == 128 + signal.SIGKILL
    wait_until(lambda: all(is_gone(pid) for pid in family), 120, "the end of all its processes")


def end_by_many_signals(supervisor, server):
    """Its exit status, and the time from the first signal to the last."""
    both = (supervisor.pid, server)
    began = time.monotonic()
    # Halted, so that the first has not ended both before the second gets the signal.
    for number in (signal.SIGSTOP, signal.SIGTERM, signal.SIGCONT):
        for pid in both:
            os.kill(pid, number)
    # Again and again: however late one comes, it does not end what is ending. Within a second they are one signal.
    while supervisor.poll() is None and time.monotonic() < began + 0.3:
        for pid in both:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
    took_s = time.monotonic() - began
    return supervisor.wait(120), took_s


def test_a_signal_to_every_process_ends_it_in_order(network):
    """As systemd sends it."""
    for _ in range(5):
        supervisor = network.server.process.process
        status, took_s = end_by_many_signals(supervisor, server_pid(network))
        if status == 0 or took_s < 1:
            break
        network.server.start()  # this machine has made more than one signal of them
    assert status == 0
    log = network.server.process.log()
    assert '"event":"embedded_postgres_stopped"' in log and log.rstrip().endswith('"event":"stopped"}')


def test_a_taken_port_is_told_before_anything_is_made(network, tmp_path):
    folder = tmp_path / "second"
    program = network.server.process.arguments[0]
    outcome = subprocess.run([program, "--state-dir", folder, "--listen", f"127.0.0.1:{network.server.port}",
                              "--agent-listen", "127.0.0.1:0"], capture_output=True, text=True, timeout=300)
    assert outcome.returncode == 1
    assert f"cannot listen on 127.0.0.1:{network.server.port}: " in outcome.stderr
    assert not (folder / "postgres").exists()


def test_a_provider_that_is_set_up_by_halves_is_told_before_anything_is_made(network, tmp_path):
    program = network.server.process.arguments[0]
    (tmp_path / "ca.pem").write_text("no certificate")
    whole = {"oidc-issuer": "https://id.example.org", "oidc-client-id": "fathom", "public-url": "https://fathom.example.org",
             "oidc-roles": "hpc=user"}
    wrong = [({"oidc-roles": ""}, "oidc_roles"), ({"oidc-roles": "hpc=king"}, "king"), ({"oidc-client-id": ""}, "oidc_client_id"),
             ({"public-url": ""}, "public_url"), ({"public-url": "https://fathom.example.org/console"}, "public"),
             ({"oidc-issuer": "http://id.example.org"}, "https://"), ({"oidc-scopes": "profile"}, "oidc_scopes"),
             ({"oidc-client-secret-file": str(tmp_path / "none")}, "oidc_client_secret_file"),
             ({"oidc-ca-file": str(tmp_path / "ca.pem")}, "oidc_ca_file")]
    for change, word in wrong:
        flags = [part for name, value in {**whole, **change}.items() for part in (f"--{name}", value)]
        outcome = subprocess.run([program, "--state-dir", tmp_path / "second", *flags], capture_output=True, text=True, timeout=300)
        assert outcome.returncode == 2 and word in outcome.stderr, (change, outcome.stderr)
    assert not (tmp_path / "second").exists()


@contextlib.contextmanager
def waiting_for_a_lock(network):
    """Statements of the server wait for it; the latest has just begun to. Gives since how many seconds that waits, None: none does.
    Statements may take 15 s: so long a stop waits for this one."""
    command = next(json.loads(line)["psql"] for line in network.server.process.log().splitlines() if '"psql"' in line).removeprefix("sudo ")

    def waiting_since_s():
        asked = ("SELECT extract(epoch FROM clock_timestamp() - max(query_start)) FROM pg_stat_activity "
                 "WHERE wait_event_type = 'Lock' AND backend_type = 'client backend'")
        told = subprocess.run(f'{command} -qAtc "{asked}"', shell=True, capture_output=True, text=True, timeout=120, check=True).stdout
        return float(told) if told.strip() else None

    lock = subprocess.Popen(f"{command} -qAtc 'BEGIN' -c 'LOCK TABLE job, center, job_event' -c 'SELECT 1' "
                            "-c 'SELECT pg_sleep(120)'", shell=True, stdout=subprocess.PIPE, text=True)
    try:
        assert lock.stdout.readline() == "1\n"
        time.sleep(4)  # the router, the periodic tasks and the gauges wait for the lock now
        wait_until(lambda: (waiting_since_s() or 100) < 3, 100, "a statement that has just begun to wait")
        yield waiting_since_s
    finally:
        lock.kill()


def test_a_stop_waits_for_statements_that_take_long(network):
    """Rooms must not be destroyed below a task that waits for the database. The signal comes twice, as from systemd, which sends it to
    all processes; the second time late, as from a supervisor that is held up."""
    process, log = network.server.process.process, network.server.process.log
    with waiting_for_a_lock(network) as waiting_since_s:
        began = time.monotonic()
        os.kill(server_pid(network), signal.SIGTERM)
        waited_s = waiting_since_s()
        assert waited_s is not None, "nothing had to be waited for"
        wait_until(lambda: '"event":"stopping"' in log() and time.monotonic() > began + 1.5, 120, "the server stopping for some time")
        process.send_signal(signal.SIGTERM)

        assert process.wait(120) == 0
        assert time.monotonic() - began > min(5, 14 - waited_s), "the lock was not waited for"
    assert '"event":"server_stopped"' in log() and "tasks_left" not in log()


def test_who_asks_for_a_stop_again_later_does_not_wait_for_it(network):
    process, log = network.server.process.process, network.server.process.log
    with waiting_for_a_lock(network):
        # All of the first second are one.
        while process.poll() is None:
            process.send_signal(signal.SIGTERM)
            time.sleep(0.1)
    assert process.returncode == 1
    assert '"event":"stopping_at_once"' in log() and '"event":"embedded_postgres_stopped"' in log()
    assert '"event":"server_stopped"' not in log()
    network.server.start()
