"""The agent's two processes: who they are, and that neither outlives the other, while jobs do (docs/security.md)."""
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import uuid

import pytest

from network import BIN, Agent, Network, agent_config, wait_until
from processes import children, has_tcp_socket, is_gone, status

AGENT, HELPER = "fathom-agent", "fathom-helper"
ROOT = os.geteuid() == 0


@pytest.fixture(scope="module")
def network():
    with Network() as net:
        yield net


@pytest.fixture
def agent(network):
    """A center of this test's own."""
    started = network.add_agent(f"center-{len(network.agents)}")
    yield started
    started.process.stop()


def helper_pid(agent):
    return agent.process.process.pid


def agent_pid(agent):
    """The process that hears the network."""
    return next(p for p in children(helper_pid(agent)) if status(p)["Name"] == AGENT)


def start_waiting_job(network, agent):
    """A job that runs until the file that is returned with it appears."""
    gate = network.folder / f"go-{agent.name}"
    job = network.submit(command=["sh", "-c", f"id -u; while [ ! -e {gate} ]; do sleep 0.05; done; echo done; exit 5"],
                         units={"center": agent.name})
    wait_until(lambda: network.job(job["id"])["state"] == "running", 120, "the job running")
    return job["id"], gate


def wait_true_end(network, job_id, gate):
    gate.touch()
    ended = network.wait_job(job_id)
    assert (ended["state"], ended["exit_code"]) == ("failed", 5)
    output = network.rest.call("GET", f"/jobs/{job_id}/logs/stdout").text.split()
    assert output[1:] == ["done"], "it ran once"
    return int(output[0])


def test_what_hears_the_network_is_not_root(network, agent):
    job, gate = start_waiting_job(network, agent)
    mine, helper = status(agent_pid(agent)), status(helper_pid(agent))
    assert helper["Name"] == HELPER
    assert int(mine["NoNewPrivs"]) == 1
    uid = set(mine["Uid"].split())
    if not ROOT:
        assert uid == set(helper["Uid"].split()) and mine["CapEff"] == helper["CapEff"]
        wait_true_end(network, job, gate)
        return
    assert has_tcp_socket(agent_pid(agent)) and not has_tcp_socket(helper_pid(agent))
    assert len(uid) == 1 and uid != {"0"} and "0" not in mine["Groups"].split() + mine["Gid"].split()
    assert [int(mine[name], 16) for name in ("CapEff", "CapPrm", "CapInh", "CapAmb")] == [0, 0, 0, 0]
    assert os.stat(f"/proc/{agent_pid(agent)}/environ").st_uid == 0, "its memory is nobody's to read"

    folder, own = agent.state_dir, agent.state_dir / "agent"
    assert folder.stat().st_uid == 0 and own.stat().st_mode & 0o777 == 0o700
    assert {str(path.stat().st_uid) for path in [own, *own.iterdir()]} == uid
    attempt = next((folder / "attempts").iterdir())
    as_agent = ["setpriv", f"--reuid={next(iter(uid))}", f"--regid={mine['Gid'].split()[0]}", "--clear-groups"]
    for command in (["cat", folder / "agent.lock"], ["ls", folder / "attempts"], ["ls", attempt],
                    ["cat", attempt / "order.json"], ["cat", attempt / "stdout"], ["ls", attempt / "work"],
                    ["touch", folder / "new"], ["kill", "-0", str(helper_pid(agent))]):
        assert subprocess.run([*as_agent, *command], capture_output=True).returncode != 0, command
    job_uid = wait_true_end(network, job, gate)
    assert str(job_uid) not in uid | {"0", "65534"}
    # A job may neither read what is the agent's nor signal it.
    spy = network.submit(command=["sh", "-c", f"cat {own}/agent-key.pem && exit 3; kill -0 {agent_pid(agent)} && exit 4; exit 0"],
                         units={"center": agent.name})
    assert network.wait_job(spy["id"])["exit_code"] == 0


@pytest.mark.parametrize("whom", [helper_pid, agent_pid])
def test_a_kill_of_one_ends_the_other_and_no_job(network, agent, whom):
    job, gate = start_waiting_job(network, agent)
    both = [helper_pid(agent), agent_pid(agent)]
    os.kill(whom(agent), signal.SIGKILL)
    assert agent.process.process.wait(120) in (-signal.SIGKILL, 128 + signal.SIGKILL)
    agent.start()  # at once: it waits for what is still ending
    wait_until(lambda: all(is_gone(pid) for pid in both), 120, "the end of both")
    wait_until(lambda: agent.process.log().count('"event":"agent_ready"') == 2, 120, "the next start")
    assert network.job(job)["state"] == "running"
    wait_true_end(network, job, gate)
    if whom == agent_pid:
        assert '"event":"agent_process_ended"' in agent.process.log()


def test_the_helper_ends_with_the_agent_also_where_processes_have_no_descriptors(network, agent):
    agent.process.stop()
    wrapper = pathlib.Path(__file__).with_name("without_process_descriptors.py")
    agent.process.arguments = [sys.executable, str(wrapper), *agent.process.arguments]
    agent.start()
    wait_until(lambda: agent.process.log().count('"event":"agent_ready"') == 2, 120, "the next start")
    os.kill(agent_pid(agent), signal.SIGKILL)
    assert agent.process.process.wait(120) == 128 + signal.SIGKILL


def test_signals_to_both_are_as_one(network, agent):
    """As systemd sends them; root's settings are read by root."""
    agent.config.write_text(agent_config(unit_name="renamed"))
    agent.config.chmod(0o600)
    for pid in (helper_pid(agent), agent_pid(agent)):
        os.kill(pid, signal.SIGHUP)
    wait_until(lambda: '"catalog_changed":true' in agent.process.log(), 120, "the new settings")
    job = network.submit(command=["true"], units={"center": agent.name})
    assert network.wait_job(job["id"])["attempt"]["unit_type"] == "renamed"
    both = (agent_pid(agent), helper_pid(agent))
    while agent.process.process.poll() is None:  # again and again: however late the second one is
        for pid in both:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
    assert agent.process.process.returncode == 0
    assert '"event":"agent_stopped"' in agent.process.log()


def test_the_files_of_an_older_agent_are_taken_over(network, agent):
    job, gate = start_waiting_job(network, agent)
    agent.process.stop()
    own = agent.state_dir / "agent"
    (own / "library.json").unlink(missing_ok=True)  # which older agents did not have
    for path in own.iterdir():  # where and whose they were
        os.chown(path, os.geteuid(), os.getegid())
        path.rename(agent.state_dir / path.name)
    own.rmdir()
    agent.start()
    wait_true_end(network, job, gate)
    assert sorted(path.name for path in agent.state_dir.iterdir()) == ["agent", "agent.lock", "attempts"]
    if ROOT:
        assert own.stat().st_uid != 0


def test_root_gives_away_only_what_is_the_agents(network, agent, tmp_path):
    if not ROOT:
        return  # a plain user gives nothing away
    agent.process.stop()
    treasure = tmp_path / "treasure"
    treasure.write_text("root's")
    planted = agent.state_dir / "agent" / "spool.db-journal"
    planted.symlink_to(treasure)
    assert agent.start().process.process.wait(120) == 1
    assert "spool.db-journal in the agent's folder is no plain file" in agent.process.log()
    planted.unlink()
    (agent.state_dir / "agent" / "second-name").hardlink_to(agent.state_dir / "agent.lock")
    assert agent.start().process.process.wait(120) == 1
    assert treasure.stat().st_uid == 0 and (agent.state_dir / "agent.lock").stat().st_uid == 0


@pytest.mark.skipif(not ROOT, reason="only root's agent becomes a user that a folder is closed to")
def test_an_agent_in_a_closed_folder_sees_the_devices_of_its_machine(network, tmp_path):
    """It reaches fathom-probe by a view of its own, which hides nothing else from it."""
    tmp_path.chmod(0o700)
    programs = tmp_path / "bin"
    programs.mkdir()
    for program in ("fathom-agent", "fathom-probe"):
        shutil.copy(BIN / program, programs)
    device = pathlib.Path(f"/dev/shm/fathom-{uuid.uuid4()}")
    device.touch(mode=0o666)
    agent = Agent(network.folder, "closed", agent_config() + (
        f'[[device]]\nkind = "npu"\ncount = 1\nfile = "{device}"\n'
        '[[unit_type]]\nname = "npu"\nresource_type = "npu"\ncores_per_unit = 0\nmemory_bytes_per_unit = 1000000\n'))
    agent.process.arguments[0] = str(programs / "fathom-agent")
    agent.enrol(network.server, network.rest).start()
    network.agents.append(agent)
    try:
        network.wait_online(agent)
        types = {unit["name"]: unit for unit in network.rest.items("/unit-types?center=closed")}
        assert types["npu"]["unit_count"] == 1
        assert types["core"]["operators"], "fathom-probe was asked"
    finally:
        agent.process.stop()
        device.unlink()
