"""The measuring part of tests/bench/console: a large network, then a browser that looks at it."""
import argparse
import collections
import json
import os
import pathlib
import subprocess
import time

from console_copies import Database, LargeNetwork
from console_network import KINDS, PROJECTS, ROOT, SmallNetwork

BROWSER = ROOT / "web" / "tests" / "bench" / "console.mjs"
CENTER = "center-0001"
BALANCED_UNIT = "gpu0"


def parse_arguments():
    parser = argparse.ArgumentParser(prog="tests/bench/console")
    parser.add_argument("--jobs", type=int, default=10000)
    parser.add_argument("--centers", type=int, default=1000)
    parser.add_argument("--loads", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--no-axe", dest="axe", action="store_false")
    parser.add_argument("--pictures", type=pathlib.Path)
    arguments = parser.parse_args()
    # Fewer lack one of the kinds of rows that are looked for.
    if arguments.centers < 200 or arguments.jobs < 1000:
        parser.error("not a large network: at least 200 centers and 1000 jobs")
    return arguments


def fill(small, jobs, centers):
    """Makes the large network. @return its database, and the id of a job that waits"""
    began = time.monotonic()
    small.start()
    submitters = small.make_people()
    print(f"two centers measured, {len(KINDS)} jobs run: {time.monotonic() - began:.0f} s", flush=True)
    began = time.monotonic()
    large = LargeNetwork(Database(small.net.server.state_dir, os.environ.get("FATHOM_PG_USER", "fathom")))
    large.copy_centers(centers)
    large.copy_prices()
    large.copy_probe_runs()
    large.add_balanced_unit(CENTER, BALANCED_UNIT)
    large.copy_jobs([(share, small.jobs[kind]) for kind, (share, _) in KINDS.items()], PROJECTS, submitters, jobs)
    large.finish()
    print(f"their rows copied: {time.monotonic() - began:.0f} s", flush=True)
    small.make_plans([(place.center, place.unit_type) for places in large.usable().values() for place in places])
    waiting = small.make_waiting_jobs()
    print(f"all that was used metered and posted after {small.wait_for_bills(large.database):.0f} s", flush=True)
    return large.database, waiting


def print_network(database):
    states = database.rows("SELECT state, count(*) FROM job WHERE label = 'job' GROUP BY 1 ORDER BY 2 DESC")
    counts = {table: database.value(f"SELECT count(*) FROM {table}")
              for table in ("center", "unit_type", "attempt", "job_event", "placement", "probe_run", "measurement", "usage_record")}
    print(f"jobs: {', '.join(f'{count} {state}' for state, count in states)}")
    print(", ".join(f"{count} {table}" for table, count in counts.items()), flush=True)


def order_for_browser(small, database, waiting, arguments):
    """Which things pages are looked at with, and what is done how often."""
    job = database.value("SELECT id FROM job WHERE state = 'succeeded' AND name LIKE 'relaxation-%%' ORDER BY id DESC LIMIT 1")
    unit_type = database.value("SELECT u.id FROM unit_type u JOIN center c ON c.id = u.center_id WHERE c.name = %s LIMIT 1", CENTER)
    run, probe_order, task = database.rows("SELECT id, order_id, probe_task_id FROM probe_run WHERE order_id <> id ORDER BY id LIMIT 1")[0]
    # The newest: the waiting jobs are in it, and retention takes it last.
    cycle = database.value("SELECT id FROM schedule_cycle ORDER BY decided_at DESC, id DESC LIMIT 1")
    return {
        "url": small.net.server.url, "token": small.net.admin_token, "project": PROJECTS[0], "loads": arguments.loads,
        "repeats": arguments.repeats, "axe": arguments.axe, "jobPath": f"/jobs/{job}", "centerPath": f"/centers/{CENTER}",
        "things": {"unitType": unit_type, "project": PROJECTS[0], "priceVersion": 1, "run": run, "order": probe_order, "operator": "dgemm",
                   "task": task, "job": job, "policy": "by-intervals", "balancedUnit": f"{CENTER}/{BALANCED_UNIT}", "cycle": cycle},
        "paths": [f"/jobs/{waiting}", "/probe-tasks/compose"],
        "pictures": arguments.pictures and {"folder": str(arguments.pictures), "paths": ["/", "/jobs", "/centers", "/scores"]},
    }


def browse(folder, order):
    """Has the browser do what the order says. @return what it measured"""
    order_file, answer_file = folder / "order.json", folder / "answer.json"
    order_file.write_text(json.dumps(order))
    process = subprocess.Popen(["node", BROWSER, order_file, answer_file], stdin=subprocess.DEVNULL)
    try:
        if process.wait() != 0:
            raise SystemExit("console: the browser's part failed")
    finally:
        # It closes the browser.
        process.terminate()
        process.wait()
    return json.loads(answer_file.read_text())


def print_pages(pages):
    print(f"\n{'CONTENT':>9} {'BLOCKED':>9} {'ELEMENTS':>9} {'REST':>9}  PAGE, and its slowest answer of REST; ms, medians")
    for page in sorted(pages, key=lambda page: -page["content_ms"]):
        print(f"{page['content_ms']:9.0f} {page['blocked_ms']:9.0f} {page['elements']:9} {page['slowest']['ms']:9.0f}  "
              f"{page['path']}   {page['slowest']['path']}")
    print("BLOCKED: in tasks of the page above 50 ms, until nothing more was asked for\n")


def print_interactions(interactions):
    print(f"{'MS':>9} {'FRAME':>9} {'TIMING':>9}  INTERACTION; medians")
    for one in sorted(interactions, key=lambda one: -one["ms"]):
        print(f"{one['ms']:9.0f} {one['frame_ms']:9.0f} {one['event_timing_ms']:9.0f}  {one['name']}")
    print("FRAME: until the frame that shows it; TIMING: the browser's own figure, 0 below 16\n")


def print_violations(violations):
    """Each rule with its pages: on a long table one fault is many."""
    by_rule = collections.defaultdict(collections.Counter)
    for one in violations:
        by_rule[one["text"].split(":", 1)[0]][one["path"]] += 1
    for rule, pages in by_rule.items():
        print(f"axe, {rule}: " + ", ".join(f"{count} on {path}" for path, count in pages.items()))
        print("   e.g. " + next(one["text"] for one in violations if one["text"].startswith(rule + ":")).replace("\n", " ")[:300])


def print_figures(answer, has_axe):
    first, pages = answer["first_visit"], answer["pages"]
    slowest = max((page["slowest"] for page in pages), key=lambda one: one["ms"])
    print(f"slowest answer of REST: {slowest['ms']:.0f} ms, {slowest['path']}")
    print(f"files of the sign-in alone: {first['sign_in_bytes'] / 1024:.1f} KiB")
    for complaint in answer["complaints"]:
        print(f"the browser complained: {complaint}")
    print(f"RESULT initial_gzip_kib {first['file_bytes'] / 1024:.1f} KiB")
    print(f"RESULT initial_rest_kib {first['rest_bytes'] / 1024:.1f} KiB")
    print(f"RESULT first_content_ms {max(page['content_ms'] for page in pages):.0f} ms")
    print(f"RESULT pages_within_1000ms {100 * sum(page['content_ms'] <= 1000 for page in pages) / len(pages):.0f} %")
    print(f"RESULT interaction_ms {max(one['ms'] for one in answer['interactions']):.0f} ms")
    if has_axe:
        print(f"RESULT axe_violations {len(answer['violations'])} elements")
    print(f"RESULT slowest_rest_ms {slowest['ms']:.0f} ms")


def main():
    arguments = parse_arguments()
    if arguments.pictures:
        arguments.pictures.mkdir(parents=True, exist_ok=True)
    small = SmallNetwork()
    try:
        database, waiting = fill(small, arguments.jobs, arguments.centers)
        print_network(database)
        order = order_for_browser(small, database, waiting, arguments)
        database.close()
        before = os.getloadavg()[0]
        answer = browse(small.net.folder, order)
        print(f"load of the machine: {before:.1f} before, {os.getloadavg()[0]:.1f} after the browser's part")
    finally:
        small.close()
    print_pages(answer["pages"])
    print_interactions(answer["interactions"])
    print_violations(answer["violations"])
    print_figures(answer, arguments.axe)


if __name__ == "__main__":
    main()
