"""The web console without a browser: its types, style, logic and size."""
import os
import pathlib

from in_web import run_in_web

BUNDLE = pathlib.Path(os.environ["FATHOM_BIN"]).parent / "server/console/bundle"


def test_types_and_style():
    run_in_web("npm", "run", "--silent", "check")


def test_logic():
    run_in_web("npm", "test", "--silent")


def test_what_a_browser_loads_first_is_small():
    run_in_web("node", "dev/size.mjs", BUNDLE)
