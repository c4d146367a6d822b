"""PostgreSQL, two equal servers and two centers, each part a process of its own; the centers reach the servers by a balancer."""
import contextlib
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import psycopg2

sys.path.append(str(pathlib.Path(__file__).parents[1] / "e2e"))
from network import Agent, Rest, Server, agent_config, free_port, roomy_folder, wait_until  # noqa: E402
from processes import descendants, kill_all_of  # noqa: E402
from relay import Relay  # noqa: E402
from wall_clock import WallClock, build_moved_clock  # noqa: E402

SUSPECT_AFTER_S, LOST_AFTER_S = 3, 8
DISK_MIB = 192
CORES = sorted(os.sched_getaffinity(0))[:2]  # both centers have them all
PRICES = {"currency": "EUR", "entries": [{"center": "*", "unit_type": "*", "per_score_hour": "36"}]}
UNITS = {"alpha": len(CORES), "beta": len(CORES)}


class PostgreSqlServer:
    """One database server with a data folder of its own, at a Unix socket. Root starts it as another user."""

    def __init__(self, folder, environment=None):
        self.folder = folder
        self.environment = {**os.environ, **(environment or {})}
        self.data, self.log = folder / "data", folder / "postgres.log"
        programs = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/postgres"))
        assert programs, "there is no PostgreSQL server below /usr/lib/postgresql"
        self.bin = programs[-1].parent
        self.user = pwd.getpwnam("postgres") if os.geteuid() == 0 else None
        folder.mkdir()
        self._own(folder)

    def initialize(self):
        self.run("initdb", "-D", self.data, "-U", "fathom", "-A", "trust", "-E", "UTF8", "--no-locale")
        self.start()
        self.run("createdb", "-h", self.folder, "-U", "fathom", "fathom")

    def follow(self, primary):
        """Becomes a standby of it, from a copy of all that it has."""
        shutil.rmtree(self.data, ignore_errors=True)
        # By a slot, the primary keeps what the standby does not have yet: else a primary that recovers from a kill may have
        # removed it, and no commit is acknowledged any more.
        self.run("pg_basebackup", "-h", primary.folder, "-U", "fathom", "-D", self.data, "-R", "-c", "fast", "-X", "stream",
                 "-C", "-S", "standby")
        self.start()

    def start(self):
        # A postmaster that was killed is followed by its children; until these are gone its memory is in use.
        def has_started():
            options = f"-c listen_addresses= -c unix_socket_directories={self.folder} -c fsync=off -c max_connections=60"
            return self._call("pg_ctl", "-D", self.data, "-l", self.log, "-w", "-o", options, "start").returncode == 0
        wait_until(has_started, 120, "PostgreSQL being up", pause_s=0.2)

    def kill(self):
        os.kill(int((self.data / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)

    def stop(self):
        self._call("pg_ctl", "-D", self.data, "-m", "immediate", "stop")

    def execute(self, statement, *values):
        """Rows, where the statement gives some."""
        connection = psycopg2.connect(host=str(self.folder), user="fathom", dbname="fathom")
        connection.autocommit = True
        with contextlib.closing(connection), connection.cursor() as cursor:
            cursor.execute(statement, values or None)
            return cursor.fetchall() if cursor.description else []

    def run(self, program, *arguments):
        outcome = self._call(program, *arguments)
        assert outcome.returncode == 0, outcome.stderr

    def _own(self, folder):
        if self.user:
            os.chown(folder, self.user.pw_uid, self.user.pw_gid)

    def _call(self, program, *arguments):
        who = {"user": self.user.pw_uid, "group": self.user.pw_gid, "extra_groups": []} if self.user else {}
        # Not a pipe: what pg_ctl starts would keep it open.
        with tempfile.TemporaryFile("w+") as errors:
            outcome = subprocess.run([self.bin / program, *map(str, arguments)], stdin=subprocess.DEVNULL,
                                     stdout=subprocess.DEVNULL, stderr=errors, text=True, cwd="/",
                                     env=self.environment, **who)
            errors.seek(0)
            outcome.stderr = errors.read()
            return outcome


class PostgreSql:
    """A primary and a standby that has every transaction before its commit is acknowledged."""

    def __init__(self, folder, environment=None):
        folder.mkdir()
        folder.chmod(0o755)
        self.primary, self.standby = (PostgreSqlServer(folder / name, environment) for name in ("a", "b"))
        hosts = f"{self.primary.folder},{self.standby.folder}"
        self.url = f"postgresql:///fathom?host={hosts}&user=fathom&target_session_attrs=read-write"
        self.primary.initialize()
        self._add_standby()

    def start(self):
        self.primary.start()

    def kill(self):
        self.primary.kill()

    def stop(self):
        self.primary.stop()

    def fail_over(self):
        """The primary is gone, and the standby takes over."""
        self.primary.kill()
        self.primary, self.standby = self.standby, self.primary
        self.primary.run("pg_ctl", "-D", self.primary.data, "-w", "promote")

    def restore_standby(self):
        """The former primary comes back as the standby."""
        self.standby.stop()
        self._add_standby()

    def rows(self, statement, *values):
        return self.primary.execute(statement, *values)

    def close(self):
        for server in (self.standby, self.primary):
            server.stop()

    def _add_standby(self):
        self.standby.follow(self.primary)
        # After its copy was made: it is not to wait for a standby of its own when it takes over.
        self.primary.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.primary.execute("SELECT pg_reload_conf()")
        wait_until(lambda: self.rows("SELECT sync_state FROM pg_stat_replication") == [("sync",)], 60, "the standby's being up")


class SmallDisk:
    """A file system of a few MiB at a folder, which root can make, and fill."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_MIB}m,mode=755", "tmpfs", folder], check=True)

    def fill(self):
        with contextlib.suppress(OSError), open(self.folder / "ballast", "wb", buffering=0) as ballast:
            while True:
                ballast.write(bytes(65536))

    def make_room(self):
        (self.folder / "ballast").unlink(missing_ok=True)

    def unmount(self):
        subprocess.run(["umount", "-l", self.folder], check=False)


class Cluster:
    """Everything that a history needs; made once and used for one history after another. With `moves_clocks` each part but the
    relay has a wall clock of its own, in `clocks` by its name."""

    units = UNITS  # of each center
    server_count = 2

    def __init__(self, moves_clocks=False):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-faults-", dir=roomy_folder()))
        self.folder.chmod(0o755)
        self.runs = self.folder / "runs"
        self.runs.mkdir()
        self.runs.chmod(0o777)
        self.disks, self.relay, self.servers, self.agents = {}, None, [], []
        self.clock_library = build_moved_clock(self.folder) if moves_clocks else None
        self.clocks = {}
        self.database = PostgreSql(self.folder / "postgres", self._clock_of("postgresql"))
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    def _start(self):
        relay_port = free_port()
        for number in range(self.server_count):
            # By the former name of min_free_mib: an older version that is upgraded knows no other.
            settings = ["--suspect-after-s", str(SUSPECT_AFTER_S), "--lost-after-s", str(LOST_AFTER_S),
                        "--agent-public-port", str(relay_port), "--quarantine-failures", "0", "--least-free-mib", "0"]
            server = Server(self.folder, f"fathomd-{number}", self.database.url, settings)
            server.process.environment.update(self._clock_of(server.name))
            self.servers.append(server.start())
        self.relay = Relay(relay_port, [server.agent_port for server in self.servers]).start()
        self._add_agents()
        wait_until(lambda: all(self.center(name)["state"] == "online" for name in self.units), 120, "all centers being online")
        self.rest().post("/price-books", {"document": PRICES})

    def _add_agents(self):
        for name, units in self.units.items():
            if os.geteuid() == 0:
                self.disks[name] = SmallDisk(self.folder / f"agent-{name}")
            self._add_agent(name, agent_config(cores=",".join(map(str, CORES)), unit_count=units))

    def _add_agent(self, name, config):
        agent = Agent(self.folder, name, config).enrol(self.servers[0], self.rest())
        agent.process.environment.update(self._clock_of(name))
        self.agents.append(agent.start())

    def _clock_of(self, part):
        """What it is to be started with."""
        if not self.clock_library:
            return {}
        self.clocks[part] = WallClock(self.clock_library, self.folder / f"{part}.clock")
        return self.clocks[part].environment

    @property
    def token(self):
        return (self.servers[0].state_dir / "admin.token").read_text().strip()

    def rest(self, server=None):
        server = server or self.servers[0]
        return Rest(server.url, server.ca, self.token)

    def center(self, name):
        return next(c for c in self.rest().items("/centers") if c["name"] == name)

    def agent_tree(self, agent):
        """The processes of an agent without the supervisors of its jobs, which outlive it."""
        tree = [agent.process.process.pid, *descendants(agent.process.process.pid)]
        return [pid for pid in tree if not is_supervisor(pid)]

    def is_whole(self):
        """Every part is there, and hears the others."""
        try:
            return all(server.is_ready() for server in self.servers) and \
                all(self.center(name)["state"] == "online" for name in self.units)
        except (AssertionError, OSError):
            return False

    def dump_logs(self, lines=30):
        parts = [part.process for part in (*self.servers, *self.agents)]
        return "\n".join(f"--- {part.name}\n" + "\n".join(part.log().splitlines()[-lines:]) for part in parts)

    def close(self):
        try:
            self._stop()
        finally:  # what could not be stopped is killed
            self._remove()

    def _stop(self):
        if self.relay:
            self.relay.heal()
        for agent in self.agents:
            agent.process.ask_to_stop()
        for agent in self.agents:
            agent.process.stop()
        for server in self.servers:
            server.process.stop()
        self.database.close()
        if self.relay:
            self.relay.stop()

    def _remove(self):
        kill_all_of(self.folder)
        time.sleep(0.2)
        for disk in self.disks.values():
            disk.unmount()
        if not os.environ.get("FATHOM_KEEP"):
            shutil.rmtree(self.folder, ignore_errors=True)


def is_supervisor(pid):
    try:
        return b"supervis" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return True
