"""A large network out of a small one's rows, for tests/bench/console: each copied row is a real one with other ids, places
and times, so that it is consistent with the schema whatever columns that gains."""
import dataclasses
import datetime
import json
import math
import random

import psycopg2
import psycopg2.extras

CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
CPU_MODELS = ["AMD EPYC 9654", "AMD EPYC 7763", "Intel Xeon Platinum 8480+", "Intel Xeon Gold 6338", "Ampere Altra"]
# Of a hundred centers: those that somebody should look at, and what is changed in their row. All others are online.
TROUBLES = {
    3: "UPDATE center SET drained = true, drain_reason = 'new kernel' WHERE id = %s",
    17: "UPDATE center SET quarantined_at = now() - interval '1 hour', quarantine_reason = '6 of 8 attempts failed' WHERE id = %s",
    29: "UPDATE center SET state = 'suspect', last_seen_at = now() - interval '82000 s' WHERE id = %s",
    41: "UPDATE center SET state = 'lost', last_seen_at = now() - interval '100000 s' WHERE id = %s",
    53: "UPDATE center SET certificate_not_after = now() + interval '5 days' WHERE id = %s",
    67: "UPDATE center SET revoked_at = now() - interval '2 days' WHERE id = %s",
}
COPY_COLUMNS = """number int, from_job text, job_id text, from_attempt text, attempt_id text, from_center_id text, center_id text,
    from_center text, center text, from_unit_type_id text, unit_type_id text, shift interval"""


@dataclasses.dataclass(frozen=True)
class Place:
    """A unit type, real or copied."""
    center_id: str
    center: str
    unit_type_id: str
    unit_type: str


class Database:
    """fathomd's own PostgreSQL, as who it belongs to."""

    def __init__(self, state_dir, user):
        lines = next(state_dir.rglob("postmaster.pid")).read_text().splitlines()
        self.connection = psycopg2.connect(host=lines[4].strip(), port=lines[3].strip(), user=user, dbname="fathom")
        self.connection.autocommit = True
        self.cursor = self.connection.cursor()

    def rows(self, statement, *values):
        self.cursor.execute(statement, values)
        return self.cursor.fetchall() if self.cursor.description else []

    def value(self, statement, *values):
        return self.rows(statement, *values)[0][0]

    def columns(self, table):
        """name -> type of what can be written."""
        return dict(self.rows("SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = 'public' AND "
                              "table_name = %s AND is_generated = 'NEVER' AND is_identity = 'NO' ORDER BY ordinal_position", table))

    def make_table(self, name, columns, rows):
        """A table that lasts as long as the connection."""
        self.rows(f"CREATE TEMPORARY TABLE {name} ({columns})")
        psycopg2.extras.execute_values(self.cursor, f"INSERT INTO {name} VALUES %s", rows, page_size=1000)
        self.rows(f"ANALYZE {name}")

    def copy(self, table, copies, on, changes):
        """Inserts into `table` a copy of its row t for each row c of `copies`. What `changes` does not name stays as it is,
        but for moments, which c.shift moves."""
        columns = self.columns(table)
        values = [changes.get(name, f"t.{name} + c.shift" if kind == "timestamp with time zone" else f"t.{name}")
                  for name, kind in columns.items()]
        self.rows(f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(values)} FROM {copies} c JOIN {table} t ON {on} "
                  "ORDER BY c.number")

    def close(self):
        self.connection.close()


def new_id(prefix, at=None):
    """As the product's: a prefix and a ULID, so that ids sort by time."""
    milliseconds = int((at or datetime.datetime.now(datetime.timezone.utc)).timestamp() * 1000)
    bits = milliseconds << 80 | random.getrandbits(80)
    return f"{prefix}_" + "".join(CROCKFORD[bits >> shift & 31] for shift in range(125, -1, -5))


def elsewhere(text):
    """SQL of a document with the copy's place and attempt instead of the original's."""
    for old, new in (("from_attempt", "attempt_id"), ("from_unit_type_id", "unit_type_id"), ("from_center_id", "center_id")):
        text = f"replace({text}, c.{old}, c.{new})"
    return f"""replace({text}, '"' || c.from_center || '"', '"' || c.center || '"')::jsonb"""


class LargeNetwork:
    """Fills the database; `random` draws the same network each time."""

    def __init__(self, database):
        self.database = database
        self.random = random.Random(1)
        self.now = datetime.datetime.now(datetime.timezone.utc)
        self.pairs = []  # (real unit type, its copy)

    def read_places(self):
        return [Place(*row) for row in self.database.rows(
            "SELECT c.id, c.name, u.id, u.name FROM unit_type u JOIN center c ON c.id = u.center_id ORDER BY u.id")]

    def copy_centers(self, count):
        """Centers with two to four unit types each."""
        kinds = {place.unit_type: place for place in self.read_places()}
        wanted = [("core", kinds["core"]), ("core-large", kinds["core-large"]), ("core-fast", kinds["core"]), ("vgpu", kinds["vgpu"])]
        enrolled = self.now - datetime.timedelta(days=60)
        centers = []
        for number in range(count):
            center = (new_id("ctr", enrolled), f"center-{number:04}")
            centers.append((number, kinds["core"].center_id, *center, datetime.timedelta(days=-60)))
            for kind, original in self.random.sample(wanted, self.random.choice((2, 3, 3, 4))):
                self.pairs.append((original, Place(*center, new_id("ut", enrolled), kind)))
        self.database.make_table("center_copy", "number int, from_id text, id text, name text, shift interval", centers)
        self.database.copy("center", "center_copy", "t.id = c.from_id", {
            "id": "c.id", "name": "c.name", "certificate_serial": "md5(c.id)", "last_seen_at": "now()",
            "certificate_not_after": "t.certificate_not_after", "probe_requested_at": "NULL", "probe_request_reason": "''",
            "facts": "jsonb_set(t.facts, '{hostname}', to_jsonb('login.' || c.name || '.example'))"})
        self.copy_unit_types()
        for number, _, center_id, _, _ in centers:
            if number % 100 in TROUBLES:
                self.database.rows(TROUBLES[number % 100], center_id)

    def copy_unit_types(self):
        self.database.make_table("place_copy", """number int, from_unit_type_id text, center_id text, unit_type_id text, unit_type text,
            unit_count bigint, cpu_model text, shift interval""", [
                (number, original.unit_type_id, copy.center_id, copy.unit_type_id, copy.unit_type, self.random.choice((4, 8, 16, 32, 64)),
                 self.random.choice(CPU_MODELS), datetime.timedelta(days=-60)) for number, (original, copy) in enumerate(self.pairs)])
        self.database.copy("unit_type", "place_copy", "t.id = c.from_unit_type_id", {
            "id": "c.unit_type_id", "center_id": "c.center_id", "name": "c.unit_type", "unit_count": "c.unit_count",
            "facts": "jsonb_set(t.facts, '{cpu_model}', to_jsonb(c.cpu_model))"})
        self.database.copy("sub_unit_holding", "place_copy", "t.unit_type = c.unit_type", {"center_id": "c.center_id"})
        # No honest center leaves findings, and a cheating one is another matter: these rows are written by hand.
        self.database.rows("""INSERT INTO probe_finding (center_id, unit_type_id, kind, detail, evidence, found_at)
            SELECT center_id, unit_type_id, 'late', 'the result came 40 s after its limit', '{"limit_s": 60, "took_s": 100}',
                   now() - number * interval '20 minutes' FROM place_copy WHERE number < 60""")

    def usable(self):
        """The copied unit types at centers that take jobs, by the real one's name."""
        found = {}
        for original, copy in self.pairs:
            if int(copy.center.removeprefix("center-")) % 100 not in TROUBLES:
                found.setdefault(original.unit_type, []).append(copy)
        return found

    def original(self, job):
        """The row of a real job, with its one attempt."""
        names = ("job_id", "name", "submitted_at", "state", "attempt_id", *(field.name for field in dataclasses.fields(Place)))
        [row] = self.database.rows(
            "SELECT j.id, j.name, j.submitted_at, j.state, a.id, c.id, c.name, u.id, u.name FROM job j JOIN attempt a ON a.job_id = j.id "
            "JOIN center c ON c.id = a.center_id JOIN unit_type u ON u.id = a.unit_type_id WHERE j.id = %s", job)
        return dict(zip(names, row))

    def copy_jobs(self, kinds, projects, submitters, count):
        """`kinds`: [(how many of a hundred, id of a real job)]. Jobs that ended are spread over 30 days, those that run over
        the last hour."""
        places = self.usable()
        originals = [original for share, job in kinds for original in [self.original(job)] * share]
        rows = []
        for number in range(count):
            original = originals[number % len(originals)]
            oldest_min, newest_min = (60, 1) if original["state"] == "running" else (30 * 24 * 60, 70)
            at = self.now - datetime.timedelta(minutes=self.random.uniform(newest_min, oldest_min))
            rows.append((at, original, self.random.choice(places[original["unit_type"]])))
        rows.sort(key=lambda row: row[0])
        self.database.make_table("job_copy", f"{COPY_COLUMNS}, project text, submitted_by text, name text", [
            (number, *self.copied(original, place, at), projects[number % len(projects)], self.random.choice(submitters),
             f"{original['name']}-{number}") for number, (at, original, place) in enumerate(rows)])
        self.copy_work("job_copy", {"name": "c.name", "project": "c.project", "submitted_by": "c.submitted_by",
                                    "spec": "t.spec || jsonb_build_object('project', c.project, 'name', c.name)"})
        self.database.copy("prediction", "job_copy", "t.attempt_id = c.from_attempt", {
            "attempt_id": "c.attempt_id", "job_id": "c.job_id", "unit_type_id": "c.unit_type_id", "project": "c.project",
            "submitted_by": "c.submitted_by", "actual_run_s": "t.actual_run_s * (0.8 + 0.4 * random())"})
        self.database.rows("INSERT INTO stored_change (submitted_by, project, bytes) SELECT c.submitted_by, c.project, sum(j.spec_bytes) "
                           "FROM job_copy c JOIN job j ON j.id = c.job_id GROUP BY 1, 2")

    @staticmethod
    def copied(original, place, at):
        """Values of COPY_COLUMNS but for the number."""
        return (original["job_id"], new_id("job", at), original["attempt_id"], new_id("att", at), original["center_id"], place.center_id,
                original["center"], place.center, original["unit_type_id"], place.unit_type_id, at - original["submitted_at"])

    def copy_work(self, copies, changes_of_job):
        """Jobs with all that hangs on them."""
        here = {"attempt_id": "c.attempt_id", "job_id": "c.job_id", "center_id": "c.center_id", "unit_type_id": "c.unit_type_id"}
        self.database.copy("job", copies, "t.id = c.from_job", {"id": "c.job_id", **changes_of_job})
        # The server itself meters and counts what they used.
        self.database.copy("attempt", copies, "t.id = c.from_attempt", {
            **here, "id": "c.attempt_id", "metered": "false", "counted": "false"})
        self.database.copy("placement", copies, "t.attempt_id = c.from_attempt", {**here, "decision": elsewhere("t.decision::text")})
        self.database.copy("job_event", copies, "t.job_id = c.from_job", {
            **here, "evidence": elsewhere("t.evidence::text"), "cause": "replace(t.cause, c.from_center, c.center)"})
        for table in ("job_output", "attempt_output"):
            self.database.copy(table, copies, "t.attempt_id = c.from_attempt", here)

    def copy_prices(self):
        """What was used before there were prices costs nothing: the same prices, for what is older than the network."""
        self.database.rows("INSERT INTO price_book (document, valid_from, created_at, created_by) SELECT document, "
                           "valid_from - interval '60 days', created_at - interval '60 days', created_by FROM price_book")

    def copy_probe_runs(self):
        """Every copied unit type was measured as the real one, and is faster or slower."""
        rows = []
        for run_id, job in self.database.rows("SELECT id, job_id FROM probe_run WHERE state = 'succeeded'"):
            original = self.original(job)
            for real, place in self.pairs:
                if real.unit_type_id == original["unit_type_id"]:
                    at = self.now - datetime.timedelta(minutes=self.random.uniform(70, 7 * 24 * 60))
                    rows.append((at, original, place, run_id))
        rows.sort(key=lambda row: row[0])
        self.database.make_table("probe_copy", f"{COPY_COLUMNS}, from_run text, run_id text, factor float8", [
            (number, *self.copied(original, place, at), run_id, new_id("prn", at), self.random.uniform(0.4, 1.6))
            for number, (at, original, place, run_id) in enumerate(rows)])
        self.copy_work("probe_copy", {})
        here = {"unit_type_id": "c.unit_type_id", "center_id": "c.center_id"}
        self.database.copy("probe_run", "probe_copy", "t.id = c.from_run", {
            **here, "id": "c.run_id", "job_id": "c.job_id", "order_id": "c.run_id", "verification": "'none'"})
        times = ("median_s", "ci_low_s", "ci_high_s", "one_thread_median_s", "one_thread_ci_low_s", "one_thread_ci_high_s")
        self.database.copy("measurement", "probe_copy", "t.probe_run_id = c.from_run", {
            **here, "probe_run_id": "c.run_id", **{time: f"t.{time} * c.factor" for time in times}})

    def add_balanced_unit(self, center, name, steps=3600):
        """A GPU whose loop has told a step a second: no device is here to be balanced."""
        unit = self.database.value("INSERT INTO balanced_unit (center_id, name, last_number) SELECT id, %s, %s FROM center "
                                   "WHERE name = %s RETURNING id", name, steps, center)
        rows = []
        for number in range(1, steps + 1):
            transfer = 0.5 + 0.4 * math.sin(number / 60) + self.random.gauss(0, 0.02)
            load = 0.5 + 0.3 * math.cos(number / 90) + self.random.gauss(0, 0.02)
            figures = {"transfer": transfer, "load": load, "sample_transfer": transfer, "sample_load": load,
                       "error": transfer - load, "change": 0.01, "region": "near", "output": 0.5 * (transfer - load),
                       "gains": {"proportional": 0.5, "integral": 0.1, "derivative": 0.05}}
            acts = number % 30 == 0
            rows.append((unit, number, self.now - datetime.timedelta(seconds=steps - number), "", json.dumps({
                **figures, "dry_run": False, "outcome": "acted" if acts else "within_band", "law": "pid", "band": 0.05,
                "actions": {"sub_units": 1 if acts else 0, "clock_mhz": 0, "precision_steps": 0}, "wanted_sub_units": 4,
                "reason": "transfer-bound" if transfer > load else "compute-bound", "faults": []})))
        psycopg2.extras.execute_values(self.database.cursor,
                                       "INSERT INTO balance_step (unit_id, number, at, attempt_id, step) VALUES %s", rows,
                                       page_size=1000)

    def finish(self):
        """As the server would after having written all that: others are told, and the planner knows what there is."""
        self.database.rows("ANALYZE")
        self.database.rows("SELECT pg_notify('fathom', 'catalog ')")
