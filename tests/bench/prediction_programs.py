"""Real programs of Debian packages with small inputs: seconds each."""
import dataclasses
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Callable

INPUTS = pathlib.Path(__file__).parent / "prediction_inputs"
HPCC_EXAMPLE = pathlib.Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")


@dataclasses.dataclass
class Program:
    name: str
    folder: pathlib.Path
    command: Callable


def prepare_gromacs(folder):
    """A box of water."""
    for command in (["gmx", "-quiet", "solvate", "-cs", "spc216.gro", "-box", "4", "4", "4", "-o", "water.gro", "-p",
                     "water.top"],
                    ["gmx", "-quiet", "grompp", "-f", "water.mdp", "-c", "water.gro", "-p", "water.top", "-o",
                     "water.tpr", "-maxwarn", "2"]):
        subprocess.run(command, cwd=folder, check=True, capture_output=True)


def unpack_scipy(folder):
    """SciPy's Debian package cannot be installed beside the Boost that Fathom is built with: it is unpacked."""
    try:
        import scipy  # noqa: F401
        return {}
    except ImportError:
        pass
    packages = folder / "scipy"
    packages.mkdir()
    subprocess.run(["apt-get", "download", "-q", "python3-scipy"], cwd=packages, check=True, capture_output=True)
    package = next(packages.glob("python3-scipy_*.deb"))
    subprocess.run(["dpkg-deb", "-x", package.name, "."], cwd=packages, check=True)
    return {"PYTHONPATH": str(packages / "usr/lib/python3/dist-packages")}


def prepare_hpcc(folder):
    """The package's example on one process, with a larger matrix."""
    text = HPCC_EXAMPLE.read_text()
    for old, new in (("1000         Ns", "2000         Ns"), ("2            Ps", "1            Ps"),
                     ("2            Qs", "1            Qs")):
        if old not in text:
            sys.exit(f"prediction: {HPCC_EXAMPLE} is not as expected: no line {old!r}")
        text = text.replace(old, new, 1)
    (folder / "hpccinf.txt").write_text(text)


def programs(folder):
    place = folder / "programs"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(INPUTS, place)
    prepare_gromacs(place)
    prepare_hpcc(place)
    scipy = unpack_scipy(place)
    python = ["/usr/bin/env", *[f"{name}={value}" for name, value in scipy.items()], "/usr/bin/python3"]

    def fixed(*command):
        return lambda _: list(command)

    return [
        Program("pw.x", place, fixed("pw.x", "-in", "si8.in")),
        Program("gromacs", place, lambda units: ["gmx", "-quiet", "mdrun", "-s", "water.tpr", "-deffnm", "run", "-ntmpi",
                                                 "1", "-ntomp", str(units.cores()), "-pin", "off"]),
        Program("lammps", place, fixed("lmp", "-in", "melt.in", "-log", "none")),
        Program("lammps-k", place, fixed("lmp", "-in", "salt.in", "-log", "none")),
        Program("octave", place, fixed("octave", "--no-gui", "--no-init-file", "--norc", "dense.m")),
        Program("numpy", place, fixed("/usr/bin/python3", "statistics_by_numpy.py")),
        Program("scipy", place, fixed(*python, "field_by_scipy.py")),
        Program("hpcc", place, fixed("mpirun", "-np", "1", "--bind-to", "none", "hpcc")),
    ]
