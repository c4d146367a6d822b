"""The web console: its types, style and logic; its size; and people's ways through it, in a real browser against a real
network whose fathomd serves it."""
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
WEB = ROOT / "web"
BUNDLE = pathlib.Path(os.environ["FATHOM_BIN"]).parent / "server/console/bundle"


def run(*command):
    """What it printed stands in the failure."""
    done = subprocess.run(command, cwd=WEB, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", check=False)
    print(done.stdout[-20000:])
    assert done.returncode == 0, f"{' '.join(map(str, command))} ended with {done.returncode}"


def test_types_and_style():
    run("npm", "run", "--silent", "check")


def test_logic():
    run("npm", "test", "--silent")


def test_what_a_browser_loads_first_is_small():
    run("node", "dev/size.mjs", BUNDLE)


@pytest.mark.parametrize("spec", sorted(path.name for path in (WEB / "tests/e2e").glob("*.spec.mjs")))
def test_people_find_their_way(spec):
    run("node", "--test", f"tests/e2e/{spec}")
