"""Measures the reference figures of a relative metric policy; started by tests/bench/reference_machine."""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

PROBE = pathlib.Path(os.environ.get("FATHOM_BIN", "build/release/bin")) / "fathom-probe"
POLICY = pathlib.Path(__file__).resolve().parents[2] / "server/metering/policies/relative-v1.json"
OPERATORS = pathlib.Path(__file__).resolve().parents[2] / "probes/operators"


def manifests(wanted):
    found = [json.loads(path.read_text()) for path in sorted(OPERATORS.glob("*/manifest.json"))]
    unknown = set(wanted) - {manifest["id"] for manifest in found}
    if unknown:
        sys.exit(f"no such operator: {', '.join(sorted(unknown))}")
    # The reference machine is one core: nothing runs between processes there.
    found = [manifest for manifest in found if not manifest["id"].startswith(("mpi_", "tcp_"))]
    return [manifest for manifest in found if not wanted or manifest["id"] in wanted]


def sizes_of(manifest):
    """The default size and that of each class, every one once."""
    defaults = {p["name"]: p["default"] for p in manifest["parameters"]}
    sizes = [defaults] + [dict(defaults, **c["parameters"]) for c in manifest.get("size_classes", [])]
    return [size for i, size in enumerate(sizes) if size not in sizes[:i]]


def measure(operator, parameters, options):
    """One size by a process of its own, so that no size is measured on what another left in the caches."""
    task = {"name": "reference", "operators": [{"id": operator, "parameters": parameters}],
            "repeats": options.repeats, "limit_s": 120, "sample_budget_s": options.budget_s}
    ran = subprocess.run([PROBE, "--task", "-"], input=json.dumps(task), capture_output=True, text=True)
    if ran.returncode != 0:
        sys.exit(f"fathom-probe failed on {operator} {parameters}:\n{ran.stderr}")
    result = json.loads(ran.stdout)
    return result["operators"][0], result["host"]


def figure_of(operator, parameters, result):
    half_width = (result["ci_high_s"] - result["ci_low_s"]) / 2 / result["median_s"]
    print(f"{operator} {parameters}: {result['median_s']:.4g} s ± {100 * half_width:.1f} %", file=sys.stderr)
    if result["error"] > result["tolerance"]:
        sys.exit(f"{operator} {parameters}: the result is wrong by {result['error']}")
    return {"operator": operator, "parameters": parameters, "operations": result["operations"],
            "bytes": result["bytes"], "median_s": float(f"{result['median_s']:.4g}")}


def core_type():
    flags = re.search(r"^flags\s*:(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    return "SkylakeX" if flags and "avx512f" in flags.group(1).split() else "Haswell"


def machine_of(host, libraries):
    names = ", ".join(sorted(libraries))
    system = re.search(r'^PRETTY_NAME="(.*)"$', pathlib.Path("/etc/os-release").read_text(), re.M).group(1)
    return (f"One core of {host.get('cpu_model', 'an unknown processor')}, {system}; {names} (OpenBLAS core type "
            f"{os.environ['OPENBLAS_CORETYPE']}); files on the local disk and in the page cache, network_fetch over "
            "the loopback device")


def line_of(figure):
    return "    " + json.dumps(figure)


def write(machine, figures):
    """Into the policy, one line a figure, by operator and work."""
    policy = json.loads(POLICY.read_text())
    measured = {figure["operator"] for figure in figures}
    figures = [figure for figure in policy.pop("reference") if figure["operator"] not in measured] + figures
    figures.sort(key=lambda figure: (figure["operator"], figure["operations"] or figure["bytes"]))
    policy["reference_machine"] = machine
    head = json.dumps(policy, indent=2, ensure_ascii=False).rstrip("}\n")
    lines = ",\n".join(line_of(figure) for figure in figures)
    POLICY.write_text(f'{head},\n  "reference": [\n{lines}\n  ]\n}}\n')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--budget-s", type=float, default=5)
    parser.add_argument("--operator", action="append", default=[])
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    os.environ.setdefault("OPENBLAS_CORETYPE", core_type())
    print(f"load of the machine: {os.getloadavg()[0]:.2f}", file=sys.stderr)
    figures, libraries, host = [], set(), {}
    for manifest in manifests(options.operator):
        for size in sizes_of(manifest):
            result, host = measure(manifest["id"], size, options)
            figures.append(figure_of(manifest["id"], size, result))
            libraries.add(" ".join(result["library"].split()[:2]).rstrip(","))
    machine = machine_of(host, {library for library in libraries if not library.startswith("own")})
    if options.write:
        write(machine, figures)
        return
    lines = ",\n".join(line_of(figure) for figure in figures)
    print(f'"reference_machine": {json.dumps(machine, ensure_ascii=False)},\n"reference": [\n{lines}\n]')


if __name__ == "__main__":
    main()
