"""The compiler refuses what a target does not link (cmake/FathomLayers.cmake): tried with the tree's own command lines."""
import json
import os
import pathlib
import shlex
import subprocess

import pytest

BUILD = pathlib.Path(os.environ["FATHOM_BIN"]).parent
REFUSED = "does not directly depend on a module exporting"


def compile_with(target, include, tmp_path):
    """What the compiler says of one of the target's sources, made to include a header first."""
    commands = json.loads((BUILD / "compile_commands.json").read_text())
    command = next(one for one in commands if f"/{target}.dir/" in one["command"])
    arguments = shlex.split(command["command"])
    source = tmp_path / "wrong.cpp"
    source.write_text(f'#include "{include}"\n')
    arguments[arguments.index("-c") + 1] = str(source)
    arguments[arguments.index("-o") + 1] = str(tmp_path / "wrong.o")
    done = subprocess.run([*arguments, "-fsyntax-only"], cwd=command["directory"], capture_output=True, text=True)
    return done.returncode, done.stderr


@pytest.mark.parametrize("target, include", [
    ("fathom_decide_queue", "core/decide/routing/route.hpp"),
    ("fathom_decide_prediction", "core/decide/history/run_history.hpp"),
    ("fathom_model", "core/decide/statistics/sample_statistics.hpp"),
    ("fathom_net", "core/model/job.hpp"),
    ("fathom_schedule", "core/net/client.hpp"),
    ("fathom_simulator_world", "simulator/engine/simulation.hpp"),
    ("fathom_cli_text", "cli/client/session.hpp"),
    ("fathom_store", "server/routing/routing_service.hpp"),
    ("fathom_agent_link", "server/store/database.hpp"),
])
def test_refused(target, include, tmp_path):
    status, said = compile_with(target, include, tmp_path)
    assert status != 0 and REFUSED in said, said


def test_what_it_links_is_let_in(tmp_path):
    status, said = compile_with("fathom_schedule", "core/decide/routing/route.hpp", tmp_path)
    assert status == 0, said
