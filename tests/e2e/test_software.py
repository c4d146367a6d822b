"""Jobs that name modules or a container, at a center that has both, by programs in the place of Environment Modules and apptainer."""
import pytest

from network import Network, agent_config

MODULES = """module() {
    [ "$1" = load ] || return 2
    shift
    case "$*" in *none*) return 1 ;; esac
    export LOADED="$*"
}
"""
# Prints what it is asked, and runs what comes after the image.
APPTAINER = """#!/bin/sh
echo "apptainer $*"
[ "$1 $2 $4" = "exec --bind --pwd" ] || exit 2
shift 6
IN_CONTAINER=yes exec "$@"
"""


@pytest.fixture(scope="module")
def network():
    with Network() as network:
        software = network.folder / "software"
        software.mkdir(mode=0o755)
        (software / "modules.sh").write_text(MODULES)
        (software / "apptainer").write_text(APPTAINER)
        (software / "apptainer").chmod(0o755)
        settings = f'modules = "{software}/modules.sh"\ncontainer_runtime = "{software}/apptainer"'
        network.add_agent("with", agent_config(unit_name="core-with", extra=settings))
        network.add_agent("without", agent_config(unit_name="core-without", extra='modules = "off"\ncontainer_runtime = "off"'))
        yield network


def run(network, **spec):
    job = network.wait_job(network.submit(**{"wall_limit_s": 60, **spec})["id"])
    return job, network.rest.call("GET", f"/jobs/{job['id']}/logs/stdout").text


def test_what_a_center_has_is_its_fact(network):
    assert network.center("with")["facts"]["software"] == {"modules": True, "containers": True, "container_runtime": "apptainer"}
    assert "software" not in network.center("without")["facts"]


def test_a_job_goes_where_its_modules_are_and_finds_them(network):
    job, output = run(network, command=["sh", "-c", 'echo "$LOADED|$1"', "name", "it's"], modules=["gcc/12.2", "fftw"])

    assert job["state"] == "succeeded", job["end_reason"]
    assert job["attempt"]["center"] == "with"
    assert output == "gcc/12.2 fftw|it's\n"


def test_a_job_runs_in_its_container_in_its_folder(network):
    job, output = run(network, script="echo $IN_CONTAINER; cat note", files={"note": "here\n"}, container={"image": "/images/tool.sif"})

    assert job["state"] == "succeeded", job["end_reason"]
    assert job["attempt"]["center"] == "with"
    assert output.startswith("apptainer exec --bind /") and output.endswith("/images/tool.sif /bin/sh ./job-script\nyes\nhere\n"), output


def test_by_command_line_it_is_the_same(network):
    output = network.cli("job", "submit", "--module", "gcc", "--container", "docker.io/library/debian:12", "--follow", "--", "sh", "-c",
                         "echo $LOADED $IN_CONTAINER")

    assert "docker://docker.io/library/debian:12" in output and "gcc yes" in output


def test_a_module_that_is_not_there_keeps_the_command_from_running(network):
    job, output = run(network, command=["echo", "ran"], modules=["none/1"])

    assert (job["state"], job["exit_code"], output) == ("failed", 127, "")
    assert "modules of this job cannot be loaded" in network.rest.call("GET", f"/jobs/{job['id']}/logs/stderr").text


def test_a_center_without_them_is_left_out_with_the_reason(network):
    refused = network.rest.call("POST", "/jobs", json={"command": ["true"], "modules": ["gcc"], "units": {"center": "without"}})

    assert refused.status_code == 422, refused.text
    assert "has modules for jobs" in refused.text


def test_names_that_a_shell_would_take_for_something_else_are_refused(network):
    for spec, field in (({"modules": ["gcc; id"]}, "modules[0]"), ({"container": {"image": "-v /:/x"}}, "container.image")):
        refused = network.rest.call("POST", "/jobs", json={"command": ["true"], **spec})
        assert refused.status_code == 400 and field in refused.text, refused.text
