"""A Fathom that is lost with its disk comes back from its backup, and goes on at another PostgreSQL."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys

import pytest

from network import BIN, Network, SLOWER, wait_running, wait_until

sys.path.append(str(pathlib.Path(__file__).parents[1] / "faults"))
from cluster import PostgreSqlServer  # noqa: E402

PASSWORD = "pass word'\\1"  # what is wrongly quoted shows


class KeptToken(Network):
    """The administrator has copied the token: a new state folder has none."""

    @property
    def admin_token(self):
        if not hasattr(self, "kept_token"):
            self.kept_token = super().admin_token
        return self.kept_token


@pytest.fixture(scope="module")
def network():
    net = KeptToken()
    try:
        assert net.admin_token
        for center in ("alpha", "beta", "gamma"):  # of one unit each, so that three jobs run at once
            net.add_agent(center)
        yield net
    finally:
        net.close()


@pytest.fixture(scope="module")
def postgres(network):
    """Another server, whose user gets in by a password alone."""
    server = PostgreSqlServer(network.folder / "postgres")
    server.initialize()
    try:
        server.execute(f"CREATE ROLE keeper LOGIN PASSWORD '{PASSWORD.replace(chr(39), chr(39) * 2)}'")
        access = server.data / "pg_hba.conf"
        access.write_text("local all fathom trust\nlocal all keeper scram-sha-256\n")
        server.execute("SELECT pg_reload_conf()")
        yield server
    finally:
        server.stop()


def url_of(postgres, database):
    escaped = PASSWORD.replace("\\", "\\\\").replace("'", "\\'")
    return f"host='{postgres.folder}' user=keeper dbname={database} password='{escaped}'"


def fathomd(*arguments, expect=0, environment=None):
    """One of its commands; what it wrote."""
    outcome = subprocess.run([BIN / "fathomd", *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                             env={**os.environ, **(environment or {})}, timeout=300 * SLOWER)
    text = outcome.stdout + outcome.stderr
    assert outcome.returncode == expect, f"fathomd {arguments}: exit {outcome.returncode}\n{text}"
    assert PASSWORD not in text
    return text


def stdout_of(network, job_id):
    return network.rest.call("GET", f"/jobs/{job_id}/logs/stdout").content.decode()


def wait_all_online(network):
    for agent in network.agents:
        network.wait_online(agent)


def has_process(command):
    return command in subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout.splitlines()


def lose(state_dir):
    """All of it. @return the key that was saved elsewhere"""
    key = (state_dir / "authority.key").read_bytes()
    note = state_dir / "postgres-socket-folder"  # root's stands outside, and the next start cannot know of it
    if note.exists():
        shutil.rmtree(note.read_text(), ignore_errors=True)
    shutil.rmtree(state_dir)
    return key


def start_restored(server, key):
    server.state_dir.chmod(0o755)
    file = server.state_dir / "authority.key"
    file.touch(0o600)
    file.write_bytes(key)
    server.start()


def is_like_before(network, before):
    assert network.rest.items("/scores") == before["scores"]
    job = network.job(before["job"]["id"])
    assert {**job, "event_seq": None} == {**before["job"], "event_seq": None}
    assert stdout_of(network, job["id"]) == "kept\n"
    user = network.rest_of(network.server, before["user_token"])
    assert user.call("GET", "/jobs").status_code == 200


@pytest.fixture(scope="module")
def backup(network):
    """Made while fathomd runs and jobs run, with what was true then."""
    rest = network.rest
    runs = rest.post("/probe-runs", {"operators": [{"id": "dgemm", "parameters": {"m": 128, "n": 128, "k": 128}}]})["items"]
    wait_until(lambda: all(rest.get(f"/probe-runs/{run['id']}")["state"] == "succeeded" for run in runs), 120, "probes' ends")
    job = network.submit(command=["echo", "kept"], name="kept")
    before = {"job": network.wait_job(job["id"]), "scores": wait_until(lambda: rest.items("/scores"), 120, "scores"),
              "user_token": rest.post("/tokens", {"name": "user", "role": "user"})["token"],
              "file": network.folder / "backups" / "fathom.backup", "gate": network.folder / "gate"}
    before["file"].parent.mkdir()
    before["running"] = network.submit(script=f"#!/bin/sh\nwhile [ ! -e {before['gate']} ]; do sleep 0.2; done\necho through\n")["id"]
    wait_running(network, before["running"])

    text = fathomd("backup", "--state-dir", network.server.state_dir, "--output", before["file"])

    assert "secret" in text and before["file"].stat().st_mode & 0o777 == 0o600
    assert os.listdir(before["file"].parent) == ["fathom.backup"]
    assert before["file"].read_bytes()[:5] == b"PGDMP"
    return before


def test_a_backup_leaves_what_runs_alone_and_replaces_nothing_unasked(network, backup):
    state_dir, file = network.server.state_dir, backup["file"]
    content = file.read_bytes()
    assert "exists" in fathomd("backup", "--state-dir", state_dir, "--output", file, expect=1)
    assert file.read_bytes() == content
    fathomd("backup", "--state-dir", state_dir, "--output", file, "--force")
    assert file.read_bytes() != content and os.listdir(file.parent) == ["fathom.backup"]
    assert network.job(backup["running"])["state"] == "running"
    assert "must be given" in fathomd("backup", "--state-dir", state_dir, expect=2)
    assert "no embedded database" in fathomd("backup", "--state-dir", network.folder / "none", "--output",
                                             network.folder / "x", expect=1)
    assert not (network.folder / "none").exists() and not (network.folder / "x").exists()


def socket_of(network):
    """The folder of the embedded database's socket."""
    commands = [line for line in network.server.process.log().splitlines() if '"psql"' in line]
    return commands[-1].split("-h '")[1].split("'")[0]


def test_it_backs_up_a_fathomd_that_an_update_has_not_started_anew(network, backup):
    """That of an earlier release has no account of its own in its database."""
    def rename(old, new):
        subprocess.run(["psql", "-h", socket_of(network), "-U", "fathom", "postgres", "-qc", f"ALTER ROLE {old} RENAME TO {new}"],
                       check=True, timeout=60 * SLOWER)
    file = network.folder / "of-earlier-release"
    rename("fathomd", "renamed")
    try:
        fathomd("backup", "--state-dir", network.server.state_dir, "--output", file)
    finally:
        rename("renamed", "fathomd")
    assert file.read_bytes()[:5] == b"PGDMP"


def programs_of(pid):
    return subprocess.run(["ps", "-o", "args=", "--ppid", str(pid)], capture_output=True, text=True).stdout


def test_a_stop_leaves_no_half_backup(network, backup):
    """Of whatever moment: a second one, of a database that is locked for a while."""
    lock = subprocess.Popen(["psql", "-h", socket_of(network), "-U", "fathomd", "fathom", "-qAtc", "BEGIN", "-c", "LOCK TABLE audit_log", "-c",
                             "SELECT 1", "-c", "SELECT pg_sleep(600)"], stdout=subprocess.PIPE, text=True)
    try:
        assert lock.stdout.readline() == "1\n"
        folder = backup["file"].parent
        process = subprocess.Popen([BIN / "fathomd", "backup", "--state-dir", network.server.state_dir, "--output",
                                    folder / "second"], stderr=subprocess.PIPE, text=True)
        wait_until(lambda: "--format=custom" in programs_of(process.pid), 120, "pg_dump")
        assert len(os.listdir(folder)) == 2
        process.send_signal(signal.SIGINT)
        assert process.wait(120) == 130
        assert "stopped" in process.stderr.read() and os.listdir(folder) == ["fathom.backup"]
    finally:
        lock.kill()
        lock.wait()


def test_restore_refuses_what_it_should(network, backup):
    assert "stop fathomd first" in fathomd("restore", "--state-dir", network.server.state_dir, backup["file"], expect=1)
    new = network.folder / "refused"
    other = network.folder / "other"
    other.write_text("no backup")
    assert "not a backup" in fathomd("restore", "--state-dir", new, other, expect=1)
    half = network.folder / "half"
    half.write_bytes(backup["file"].read_bytes()[:3000])
    assert "cannot be read" in fathomd("restore", "--state-dir", new, half, expect=1)
    assert "No such file" in fathomd("restore", "--state-dir", new, network.folder / "missing", expect=1)
    assert not new.exists(), "nothing is made for a file of no use"


def test_a_restore_that_fails_leaves_the_database_empty(network, backup):
    state_dir, cut = network.folder / "cut", network.folder / "cut-off"
    cut.write_bytes(backup["file"].read_bytes()[:-2000])
    assert "pg_restore" in fathomd("restore", "--state-dir", state_dir, cut, expect=1)
    fathomd("restore", "--state-dir", state_dir, backup["file"])


def test_what_was_lost_with_its_disk_comes_back(network, backup):
    """The agent connects to it by the certificate that it has; what ran goes on, what ended meanwhile is told as lost."""
    ended_since = network.submit(command=["echo", "unknown to the backup"])["id"]
    network.wait_job(ended_since)
    sleep = f"sleep {os.getpid()}.5"  # no other run's
    runs_since = network.submit(command=sleep.split())["id"]
    wait_running(network, runs_since)
    server = network.server
    server.process.kill()
    ca = server.ca.read_bytes()
    key = lose(server.state_dir)

    fathomd("restore", "--state-dir", server.state_dir, backup["file"])
    started = subprocess.run(server.process.arguments, capture_output=True, text=True, timeout=60 * SLOWER)
    assert started.returncode == 1 and "authority.key" in started.stderr, started.stderr
    start_restored(server, key)

    assert server.ca.read_bytes() == ca and not (server.state_dir / "admin.token").exists()
    is_like_before(network, backup)
    for job in (ended_since, runs_since):
        assert network.rest.call("GET", f"/jobs/{job}").status_code == 404
    wait_all_online(network)
    assert network.job(backup["running"])["state"] == "running"
    wait_until(lambda: not has_process(sleep), 120, "the end of what nobody knows of")
    backup["gate"].touch()
    assert network.wait_job(backup["running"])["state"] == "succeeded"
    assert stdout_of(network, backup["running"]) == "through\n"
    new = network.submit(command=["echo", "after"])
    assert network.wait_job(new["id"])["state"] == "succeeded"


def test_a_job_that_ended_after_the_backup_is_told_as_lost(network, backup):
    gate, file = network.folder / "gate2", backup["file"].parent / "of-running"
    job = network.submit(script=f"#!/bin/sh\nwhile [ ! -e {gate} ]; do sleep 0.2; done\n")["id"]
    wait_running(network, job)
    fathomd("backup", "--state-dir", network.server.state_dir, "--output", file)
    gate.touch()
    network.wait_job(job)
    network.server.process.stop()
    key = lose(network.server.state_dir)

    fathomd("restore", "--state-dir", network.server.state_dir, file)
    start_restored(network.server, key)

    job = network.wait_job(job)
    assert job["state"] == "failed" and job["end_reason"].startswith("lost: "), job


def test_a_backup_of_a_fathom_that_does_not_run_is_the_same(network, backup):
    server = network.server
    assert server.process.stop() == 0
    file = network.folder / "at-rest"
    fathomd("backup", "--state-dir", server.state_dir, "--output", file)
    assert "not empty" in fathomd("restore", "--state-dir", server.state_dir, file, expect=1)
    fathomd("restore", "--state-dir", network.folder / "copy", file)
    server.start()
    is_like_before(network, backup)
    wait_all_online(network)


def test_a_newer_backup_and_another_database_are_refused(network, backup, postgres):
    for name, statement in (("newer", "INSERT INTO schema_migration VALUES (9999, 'from_the_future', 'x', now())"),
                            ("foreign", "DROP TABLE schema_migration")):
        postgres.run("createdb", "-h", postgres.folder, "-U", "fathom", "-O", "keeper", name)
        environment = {"FATHOMD_DATABASE": url_of(postgres, name)}
        fathomd("restore", "--state-dir", network.folder / f"lock-{name}", backup["file"], environment=environment)
        whole = f"host={postgres.folder} user=fathom dbname={name}"
        subprocess.run(["psql", "-qd", whole, "-c", statement], check=True)
        file = network.folder / name
        if name == "foreign":
            assert "nothing of Fathom" in fathomd("backup", "--output", file, environment=environment, expect=1)
            subprocess.run(["pg_dump", "-Fc", "-f", file, "-d", whole], check=True)
        else:
            fathomd("backup", "--output", file, environment=environment)
        text = fathomd("restore", "--state-dir", network.folder / "refused", file, expect=1)
        assert ("does not know" if name == "newer" else "not of Fathom") in text, text
        assert not (network.folder / "refused").exists()


def test_it_moves_to_another_postgresql_and_goes_on(network, backup, postgres):
    server = network.server
    move = ["move-database", "--state-dir", server.state_dir]
    postgres.run("createdb", "-h", postgres.folder, "-U", "fathom", "-O", "keeper", "moved")
    target = {"FATHOMD_TO": url_of(postgres, "moved")}
    assert "stop fathomd first" in fathomd(*move, environment=target, expect=1)
    assert server.process.stop() == 0
    assert "not empty" in fathomd(*move, environment={"FATHOMD_TO": url_of(postgres, "newer")}, expect=1)
    wrong = {"FATHOMD_TO": url_of(postgres, "moved").replace("user=keeper", "user=nobody")}
    assert "does not let us in" in fathomd(*move, environment=wrong, expect=1)

    text = fathomd(*move, environment=target)

    assert f"host='{postgres.folder}'" in text and "dbname='moved'" in text and "***" in text
    started = subprocess.run(server.process.arguments, capture_output=True, text=True, timeout=60 * SLOWER)
    assert started.returncode == 1 and "was moved to" in started.stderr, "two Fathoms would run the same jobs"
    server.process.environment["FATHOMD_DATABASE"] = target["FATHOMD_TO"]
    server.start()
    is_like_before(network, backup)
    wait_all_online(network)
    job = network.submit(command=["echo", "moved"])
    assert network.wait_job(job["id"])["state"] == "succeeded"
    assert postgres.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = 'moved'")[0][0] > 0
    file = network.folder / "of-the-moved"
    fathomd("backup", "--output", file, environment=target | {"FATHOMD_DATABASE": target["FATHOMD_TO"]})
    assert file.read_bytes()[:5] == b"PGDMP"
