"""Real programs of Debian packages with small inputs: seconds each."""
import dataclasses
import pathlib
import random
import shutil
import subprocess
import sys

INPUTS = pathlib.Path(__file__).parent / "prediction_inputs"
HPCC_EXAMPLE = pathlib.Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")


@dataclasses.dataclass
class Program:
    """A program as its user submits it: what it reads lies in a shared folder, what it writes goes where it runs."""
    name: str
    command: list
    files: dict = dataclasses.field(default_factory=dict)

    def job(self):
        return {"command": self.command, **({"files": self.files} if self.files else {})}


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


def prepare_data(folder):
    """A text to compress and functions to compile, the same in every run."""
    # Few words are frequent and none comes in a period, as in languages: a text that repeats is compressed in no time.
    words = [f"w{number}" for number in range(5000)]
    text = random.Random(1).choices(words, weights=[1 / rank for rank in range(1, len(words) + 1)], k=800_000)
    (folder / "text.txt").write_text(" ".join(text))
    functions = [f"""double f{i}(double *a, int n)
{{
    double s = {i};
    for (int j = 1; j < n; ++j) {{
        s += a[j] * a[j - 1] + {i % 7} / (1.0 + a[j] * a[j]);
        if (s > {1000 + i}) s -= a[(j * {i + 3}) % n];
        switch (j % 5) {{ case 0: s *= 1.01; break; case 1: s += 2; break; case 3: s -= a[0]; break; default: s += j; }}
    }}
    return s;
}}""" for i in range(900)]
    (folder / "functions.c").write_text("\n".join(functions))


def make_readable(folder):
    """Jobs run as another user."""
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)


def programs(folder, wanted):
    """@param wanted  names; empty: all"""
    def is_wanted(name):
        return not wanted or name in wanted

    place = folder / "programs"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(INPUTS, place)
    if is_wanted("gromacs"):
        prepare_gromacs(place)
    prepare_hpcc(place)
    scipy = unpack_scipy(place) if is_wanted("scipy") else {}
    python = ["/usr/bin/env", *[f"{name}={value}" for name, value in scipy.items()], "/usr/bin/python3"]
    prepare_data(place)
    make_readable(place)
    path = {name: str(place / name) for name in ("si8.in", "water.tpr", "melt.in", "salt.in", "dense.m", "fit.R",
                                                 "orders.sql", "statistics_by_numpy.py", "field_by_scipy.py", "loop.py",
                                                 "text.txt", "functions.c")}
    found = [
        Program("pw.x", ["pw.x", "-in", path["si8.in"]]),
        Program("gromacs", ["gmx", "-quiet", "mdrun", "-s", path["water.tpr"], "-deffnm", "run", "-ntmpi", "1", "-pin",
                            "off"]),
        Program("lammps", ["lmp", "-in", path["melt.in"], "-log", "none"]),
        Program("lammps-k", ["lmp", "-in", path["salt.in"], "-log", "none"]),
        Program("octave", ["octave", "--no-gui", "--no-init-file", "--norc", path["dense.m"]]),
        Program("numpy", ["/usr/bin/python3", path["statistics_by_numpy.py"]]),
        Program("scipy", [*python, path["field_by_scipy.py"]]),
        Program("hpcc", ["mpirun", "-np", "1", "--bind-to", "none", "hpcc"],
                {"hpccinf.txt": (place / "hpccinf.txt").read_text()}),
        Program("R", ["Rscript", path["fit.R"]]),
        Program("openssl", ["openssl", "enc", "-aes-256-cbc", "-pbkdf2", "-iter", "6000000", "-k", "secret", "-S",
                            "0123456789abcdef", "-in", path["loop.py"], "-out", "/dev/null"]),
        Program("zstd", ["zstd", "-q", "-17", "-T1", "-f", "-o", "text.zst", path["text.txt"]]),
        Program("sqlite", ["sqlite3", ":memory:", f".read {path['orders.sql']}"]),
        Program("gcc", ["gcc", "-O2", "-c", "-o", "functions.o", path["functions.c"]]),
        Program("ffmpeg", ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=640x360:rate=25:duration=12",
                           "-c:v", "libx264", "-threads", "1", "-f", "null", "-"]),
        Program("loop", ["/usr/bin/python3", path["loop.py"]]),
    ]
    found = [one for one in found if is_wanted(one.name)]
    missing = [one.name for one in found if shutil.which(one.command[0]) is None]
    if missing:
        print(f"prediction: not installed (deploy/install-dependencies --bench): {', '.join(missing)}", file=sys.stderr)
    return [one for one in found if one.name not in missing]
