"""Runs fathom-profile on a program and reads what it wrote."""
import json
import os
import pathlib
import subprocess

BIN = pathlib.Path(os.environ["FATHOM_BIN"])
PROFILE = str(BIN / "fathom-profile")
TARGET = str(BIN / "profile_target")
HOST = str(BIN / "profile_host")
PLUGIN = str(BIN / "libprofile_plugin.so")


def run(command, *options, **keywords):
    return subprocess.run([PROFILE, *options, "--", *command], capture_output=True, text=True, timeout=120, **keywords)


def profile(tmp_path, command, code=0, stdout_is=None, **keywords):
    """The profile of a program as JSON, without operators for the remainder."""
    report = tmp_path / "profile.json"
    ended = run(command, "--output", "json", "--no-calibration", "--output-file", str(report), **keywords)
    assert ended.returncode == code, ended.stderr
    assert stdout_is in (None, ended.stdout)
    result = json.loads(report.read_text())
    rest = result["remainder"]
    shares = result["coverage"] + result["missed"] + sum(rest[kind] for kind in ("memory", "compute", "io", "waiting"))
    assert abs(shares - 1) < 1e-3
    return result


def counts(result, *names):
    """(symbol, sizes by name) -> calls."""
    found = {}
    for line in result["observed"]:
        key = (line["symbol"], *(line["parameters"].get(name) for name in names))
        found[key] = found.get(key, 0) + line["calls"]
    return found
