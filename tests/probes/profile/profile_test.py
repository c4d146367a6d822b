"""fathom-profile as its users start it: exact counts however a program reaches its libraries."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

import pytest

from profiling import BIN, HOST, PLUGIN, PROFILE, TARGET, counts, profile, run


def test_blas_is_counted_by_its_sizes(tmp_path):
    found = counts(profile(tmp_path, [TARGET, "blas"]), "m", "n", "k")
    assert found[("cblas_dgemm", 64, 32, 16)] == 3
    assert found[("cblas_dgemm", 32, 16, 8)] == 2
    assert found[("dgemm_", 32, 8, 32)] == 4
    assert found[("cblas_saxpy", None, 4, None)] == 1
    assert sum(calls for (symbol, *_), calls in found.items() if symbol == "cblas_dtrsm") == 2


def test_calls_are_matched_with_a_given_library(tmp_path):
    dgemm = pathlib.Path(__file__).resolve().parents[3] / "probes" / "operators" / "dgemm" / "manifest.json"
    manifest = {**json.loads(dgemm.read_text()), "id": "products"}
    listed = {**manifest, "origin": "expert", "created_at": "2026-11-28T08:00:00Z", "created_by": "tok_1", "withdrawn_at": None,
              "withdrawn_by": None, "key_id": None, "object_sha256": None, "object_bytes": None}
    library, report = tmp_path / "library.json", tmp_path / "profile.json"
    for content in ({"items": [listed]}, [manifest]):  # as `fathom operator list` prints it, and as agents write it
        library.write_text(json.dumps(content))
        ended = run([TARGET, "blas"], "--output", "json", "--no-calibration", "--library", str(library), "--output-file",
                    str(report))
        assert ended.returncode == 0, ended.stderr
        result = json.loads(report.read_text())
        assert {line["operator"] for line in result["observed"] if line["symbol"] == "cblas_dgemm"} == {"products"}

    library.write_text(json.dumps([{**manifest, "tolerance": 7}]))
    ended = run([TARGET, "blas"], "--library", str(library))
    assert ended.returncode == 125 and "tolerance" in ended.stderr


def test_what_a_job_is_known_to_execute_narrows_the_search(tmp_path):
    dgemm = pathlib.Path(__file__).resolve().parents[3] / "probes" / "operators" / "dgemm" / "manifest.json"
    manifest = json.loads(dgemm.read_text())
    manifest["signature"]["symbols"] = ["no_such_entry_point"]
    # Alike but for the category, which is not that of the calls: without more the smaller id is taken.
    items = [{**manifest, "id": "products_a", "category": "io"}, {**manifest, "id": "products_b", "category": "data"}]
    library, report = tmp_path / "library.json", tmp_path / "profile.json"
    for known, expected in ((None, "products_a"), (["products_b"], "products_b"), (["unheard_of", 7], "products_a")):
        library.write_text(json.dumps({"items": items, **({} if known is None else {"known_operators": known})}))
        ended = run([TARGET, "blas"], "--output", "json", "--no-calibration", "--library", str(library), "--output-file",
                    str(report))
        assert ended.returncode == 0, ended.stderr
        result = json.loads(report.read_text())
        assert {line["operator"] for line in result["observed"] if line["symbol"] == "cblas_dgemm"} == {expected}


def test_only_the_outermost_call_counts_and_workspace_queries_do_not(tmp_path):
    result = profile(tmp_path, [TARGET, "lapack"])
    assert counts(result, "order", "rhs") == {("dgesv_", 48, 5): 1, ("dsyevd_", 40, None): 1}


def test_plans_are_resolved_to_sizes(tmp_path):
    result = profile(tmp_path, [TARGET, "fft"])
    found = counts(result, "n", "n0", "n1")
    assert found == {
        ("fftw_execute/3d", 32, None, None): 8,
        ("fftw_execute/1d", 128, None, None): 1,
        ("fftw_execute/2d", None, 16, 20): 1,
        ("fftw_execute/2d", None, 64, 48): 1,
        ("fftwf_execute/1d", None, 256, None): 5,
        ("fftw_execute/2d", None, 24, 30): 7,
    }
    batches = {line["symbol"]: line["batch"] for line in result["observed"] if "batch" in line}
    assert batches["fftw_execute/1d"] == 10


def test_sparse_kernels_know_their_nonzeros(tmp_path):
    found = counts(profile(tmp_path, [TARGET, "sparse"]), "matrix_rows", "nonzeros")
    assert found[("cholmod_sdmult", 50, 50)] == 3
    assert found[("cs_di_gaxpy", 4, 4)] == 2
    assert found[("umfpack_di_numeric", 4, 4)] == 1


def test_onednn_tells_the_sizes_of_its_primitives(tmp_path):
    result = profile(tmp_path, [TARGET, "onednn"])
    by_symbol = {line["symbol"]: line for line in result["observed"]}
    convolution = by_symbol["dnnl_convolution"]
    assert convolution["calls"] == 3 and convolution["operator"] == "conv2d"
    assert convolution["parameters"] == {
        "batch": 2, "channels_in": 8, "channels_out": 16, "height": 10, "width": 10, "kernel": 3}
    assert by_symbol["dnnl_sgemm"]["calls"] == 2
    assert by_symbol["dnnl_sgemm"]["parameters"] == {"m": 16, "n": 24, "k": 32}


def test_compressed_buffers_are_counted_by_their_bytes(tmp_path):
    result = profile(tmp_path, [TARGET, "buffers"])
    assert counts(result, "bytes") == {("compress2", 900_000): 3, ("uncompress", 600_000): 2}
    uses = {use["id"]: use for use in result["operators"]}
    assert uses["compression"]["parameters"] == {"bytes": 900_000, "random_percent": 10}
    assert uses["compression"]["count"] == 1 and uses["decompression"]["parameters"]["bytes"] == 600_000
    assert uses["compression"]["serial"] is True


def test_streams_are_counted_by_what_went_through_them(tmp_path):
    """However many calls that takes: Python's module lets its output grow step by step."""
    script = tmp_path / "streams.py"
    script.write_text("""
import zlib
data = bytes(range(256)) * 16384  # 4 MiB
for _ in range(3):
    packed = zlib.compress(data)
for _ in range(2):
    assert zlib.decompress(packed) == data
""")
    result = profile(tmp_path, ["/usr/bin/python3", str(script)])
    found = {line["symbol"]: line for line in result["observed"]}
    assert found["deflate"]["parameters"] == found["inflate"]["parameters"] == {"bytes": 2_097_152}
    counted = {use["id"]: use["count"] for use in result["operators"]}
    assert counted == {"compression": 6, "decompression": 4}


def test_functions_of_others_with_names_of_zlib_are_left_alone(tmp_path):
    (tmp_path / "own.c").write_text("long inflate(long a, long b) { return a + b; }\n")
    (tmp_path / "main.c").write_text(
        '#include <stdio.h>\nlong inflate(long, long);\nint main(void) { printf("%ld\\n", inflate(40, 2)); return 0; }\n')
    library, program = tmp_path / "libown.so", tmp_path / "main"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, tmp_path / "own.c"], check=True)
    subprocess.run(["gcc", "-o", program, tmp_path / "main.c", library], check=True)
    assert counts(profile(tmp_path, [str(program)], stdout_is="42\n")) == {}


@pytest.mark.parametrize("how, code, symbol, calls", [
    ("threads", 0, (16, 16, 16), 4000),
    ("dlsym", 0, (8, 8, 8), 13),
    ("fork", 0, (64, 32, 16), 14),
    ("exec", 0, (64, 32, 16), 16),
    ("closed", 0, (64, 32, 16), 3),
    ("exit", 42, (64, 32, 16), 5),
    ("abort", 128 + signal.SIGABRT, (64, 32, 16), 6),
    ("kill", 128 + signal.SIGKILL, (64, 32, 16), 7),
    ("longjmp", 0, (64, 32, 16), 5),
    ("coroutine", 0, (16, 8, 4), 1),
])
def test_counts_are_exact_however_a_program_calls_and_ends(tmp_path, how, code, symbol, calls):
    found = counts(profile(tmp_path, [TARGET, how], code), "m", "n", "k")
    assert found[("cblas_dgemm", *symbol)] == calls


def test_children_that_are_forked_while_other_threads_look_functions_up_do_not_hang(tmp_path):
    """Their only thread cannot wait for a lock that a thread of the parent holds."""
    children = 1000
    result = profile(tmp_path, [HOST, "fork", PLUGIN, str(children)],
                     env={**os.environ, "OPENBLAS_NUM_THREADS": "1"}, stdout_is=f"{children}\n")
    assert counts(result, "m", "n", "k")[("cblas_dgemm", 8, 8, 8)] == 5 * children


def test_a_pool_of_python_processes_is_counted(tmp_path):
    """Without threads of its own: OpenBLAS's locks do not survive a fork while another thread multiplies."""
    script = tmp_path / "pool.py"
    script.write_text("""
import multiprocessing
import numpy as np
a, b = np.ones((48, 40)), np.ones((40, 36))
def product(i):
    return (a @ b)[0, 0]
for _ in range(5):
    product(0)
    with multiprocessing.get_context("fork").Pool(4) as pool:
        assert pool.map(product, range(40)) == [40.0] * 40
""")
    result = profile(tmp_path, ["/usr/bin/python3", str(script)], env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
    assert counts(result, "m", "n", "k")[("cblas_dgemm", 48, 36, 40)] == 5 + 200


def test_an_entry_whose_writer_was_killed_is_waited_for_once(tmp_path):
    """A call tries 64 entries; whoever comes later finds them given up, and its calls are counted without sizes."""
    result = profile(tmp_path, [str(BIN / "profile_killed_writers"), PLUGIN], stdout_is="64\n")
    assert counts(result) == {("cblas_ddot",): 1000}


@pytest.mark.parametrize("rooms, counted", [({"/dev/shm": "64k"}, True), ({"/dev/shm": "64k", "/tmp": "64k"}, False)])
def test_a_full_memory_folder_does_not_kill_the_program(tmp_path, rooms, counted):
    """The counts go to the next folder, or nowhere."""
    mounts = " && ".join(f"mount -t tmpfs -o size={size} none {folder}" for folder, size in rooms.items())
    command = [PROFILE, "--output", "json", "--no-calibration", "--", TARGET, "blas"]
    environment = {name: value for name, value in os.environ.items() if name != "TMPDIR"}
    # A plain user may mount where it is root: in a user namespace of its own.
    alone = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--mount"]
    if subprocess.run([*alone, "true"], capture_output=True).returncode != 0:
        pytest.skip("no mount namespaces here")
    ended = subprocess.run([*alone, "sh", "-c", f'{mounts} && exec "$@"', "sh", *command],
                           capture_output=True, text=True, timeout=120, env=environment)
    assert ended.returncode == 0, ended.stderr
    result = json.loads(ended.stdout)
    assert (counts(result).get(("cblas_dgemm",)) == 5) == counted
    assert any("no room for /tmp" in note for note in result["notes"]) != counted


def test_functions_that_no_library_has_are_not_there(tmp_path):
    """A program may ask for optional functions by weak symbols and by name, and call what it finds."""
    profile(tmp_path, [HOST, "optional", PLUGIN, "0"], stdout_is="0 0 0\n")


def test_weak_symbols_that_a_library_has_are_counted(tmp_path):
    result = profile(tmp_path, [HOST + "_with_blas", "optional", PLUGIN, "0"], stdout_is="1 1 1\n")
    assert counts(result) == {("cblas_dgemm",): 2}


def test_vector_functions_are_counted(tmp_path):
    source = tmp_path / "vector.c"
    source.write_text("""
        #include <math.h>
        #include <stdio.h>
        static double x[4096], y[4096];
        int main(void) {
            for (int i = 0; i < 4096; ++i) x[i] = i * 1e-3;
            for (int r = 0; r < 100; ++r) { for (int i = 0; i < 4096; ++i) y[i] += sin(x[i]); x[r] += 1e-9; }
            printf("%.10f\\n", y[77]);
        }""")
    program = str(tmp_path / "vector")
    subprocess.run(["gcc", "-O3", "-ffast-math", "-mno-avx", str(source), "-o", program, "-lmvec", "-lm"], check=True)
    alone = subprocess.run([program], capture_output=True, text=True, check=True)
    report = tmp_path / "profile.json"
    ended = run([program], "--output", "json", "--no-calibration", "--output-file", str(report))
    assert ended.stdout == alone.stdout
    assert counts(json.loads(report.read_text())) == {("_ZGVbN2v_sin",): 100 * 4096 // 2}


def test_numpy_without_changes(tmp_path):
    script = tmp_path / "dense_algebra.py"
    script.write_text("""
import numpy as np
rng = np.random.default_rng(1)
a, b = rng.random((300, 400)), rng.random((400, 200))
for _ in range(30):
    c = a @ b
A, x = rng.random((250, 250)), rng.random((250, 3))
for _ in range(7):
    x = np.linalg.solve(A, x)
print(c.sum(), np.abs(x).max())
""")
    alone = subprocess.run(["/usr/bin/python3", str(script)], capture_output=True, text=True, check=True)
    report = tmp_path / "profile.json"
    ended = run(["/usr/bin/python3", str(script)], "--output", "json", "--no-calibration", "--output-file", str(report))
    assert ended.stdout == alone.stdout
    result = json.loads(report.read_text())
    assert counts(result, "m", "n", "k")[("cblas_dgemm", 300, 200, 400)] == 30
    assert counts(result, "order", "rhs")[("dgesv_", 250, 3)] == 7
    use = next(use for use in result["operators"] if use["parameters"] == {"m": 300, "n": 200, "k": 400})
    assert use["id"] == "dgemm" and use["count"] == 30


@pytest.mark.skipif(shutil.which("pw.x") is None, reason="quantum-espresso is not installed")
def test_quantum_espresso_without_changes(tmp_path):
    (tmp_path / "si.in").write_text("""&control
 calculation='scf', prefix='si', pseudo_dir='/usr/share/espresso/pseudo', outdir='./out', disk_io='none'
/
&system
 ibrav=2, celldm(1)=10.2, nat=2, ntyp=1, ecutwfc=20
/
&electrons
 conv_thr=1e-8
/
ATOMIC_SPECIES
 Si 28.086 Si.pz-vbc.UPF
ATOMIC_POSITIONS alat
 Si 0 0 0
 Si 0.25 0.25 0.25
K_POINTS automatic
 2 2 2 0 0 0
""")
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1",
                   "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

    def physics(text):  # everything but times
        return [line for line in text.splitlines()
                if not any(word in line for word in ("CPU", "WALL", "cpu time", "starts on", "terminated on", "MB"))]

    command = ["pw.x", "-in", "si.in"]
    keywords = {"cwd": tmp_path, "env": environment}
    alone = subprocess.run(command, capture_output=True, text=True, check=True, **keywords)
    results = []
    for number in range(2):
        report = tmp_path / f"{number}.json"
        ended = run(command, "--output", "json", "--no-calibration", "--output-file", str(report), **keywords)
        assert physics(ended.stdout) == physics(alone.stdout)
        results.append(json.loads(report.read_text()))
    found = [counts(result, "m", "n", "k") for result in results]
    assert found[0] == found[1]
    symbols = {symbol for symbol, *_ in found[0]}
    assert {"fftw_execute/3d", "zgemm_"} & symbols and "zhegvx_" in symbols
    assert all(use["count"] >= 1 for use in results[0]["operators"]) and results[0]["operators"]


def test_the_job_block_is_yaml_and_stands_for_the_remainder(tmp_path):
    import yaml
    report = tmp_path / "operators.yaml"
    script = "x = 0\nfor i in range(20_000_000): x += i"
    ended = run([sys.executable, "-c", script], "--format", "job", "--output-file", str(report))
    assert ended.returncode == 0, ended.stderr
    uses = yaml.safe_load(report.read_text())["operators"]
    assert {use["remainder"] for use in uses} <= {"memory", "compute", "io"}
    computing = [use for use in uses if use["remainder"] == "compute"]
    assert max(use["count"] for use in computing) > 1 and sum(use["share"] for use in computing) > 0.3
    # What the loops are like stands for them where the kernel shows them; elsewhere sines do, alone.
    if re.search("not looked at: (the|this) kernel", run(["true"]).stderr):
        assert [use["id"] for use in computing] == ["trigonometric"]
    else:
        assert {use["id"] for use in computing} <= {"random_access", "sort", "spmv", "stream_triad", "trigonometric"}


def test_time_in_mpi_is_no_computing(tmp_path):
    result = profile(tmp_path, [str(BIN / "profile_mpi_program")], stdout_is="0 0 3\n")
    assert counts(result) == {("mpi/MPI_Allreduce",): 2, ("mpi/mpi_wait_",): 1}  # the barrier within is theirs
    assert result["operators"] == [] and result["missed"] > 0.7
    assert result["remainder"]["compute"] + result["remainder"]["memory"] < 0.3


def test_the_entry_points_that_are_counted_are_shown():
    shown = subprocess.run([PROFILE, "--symbols"], capture_output=True, text=True, timeout=60, check=True).stdout
    lines = {tuple(line.split(maxsplit=2)) for line in shown.splitlines()[1:]}
    assert ("dgemm", "cblas_dgemm", "counted") in lines and ("fft3d", "fftw_execute/3d", "counted") in lines
    assert any(line[:2] == ("sort", "qsort") and line[2].startswith("not counted: ") for line in lines)
    assert subprocess.run([PROFILE], capture_output=True, timeout=60).returncode == 125


def test_waiting_and_file_io_are_told_from_computing(tmp_path):
    result = profile(tmp_path, ["/bin/sleep", "6"])  # which outweighs what starting takes on a busy machine
    assert result["remainder"]["waiting"] > 0.8
    # What it computes for, of the time that it takes: that is what it has of a processor.
    share = tmp_path / "share"
    script = ("import time; t = time.time()\nwhile time.process_time() < 0.6: pass\n"
              f"open({str(share)!r}, 'w').write(str(min(1, time.process_time() / (time.time() - t))))")
    result = profile(tmp_path, [sys.executable, "-c", script])
    assert result["remainder"]["compute"] + result["remainder"]["memory"] > 0.7 * float(share.read_text())


def test_streaming_through_memory_is_told_from_computing(tmp_path):
    programs = {"stream": "a[i] = b[i] + 0.5 * c[i]", "compute": "a[i % 1024] += b[i % 1024] * 1.0001 / (1.5 + a[i % 512])"}
    for name, step in programs.items():
        source = tmp_path / f"{name}.c"
        source.write_text(f"""
            #include <stdio.h>
            #include <stdlib.h>
            int main(void) {{
                const size_t n = 16000000;
                double *a = calloc(n, 8), *b = calloc(n, 8), *c = calloc(n, 8);
                for (size_t i = 0; i < n; ++i) a[i] = b[i] = c[i] = 1;
                for (int r = 0; r < 60; ++r) for (size_t i = 0; i < n; ++i) {step};
                printf("%g\\n", a[5]);
            }}""")
        subprocess.run(["gcc", "-O2", str(source), "-o", str(tmp_path / name)], check=True)

    def is_told():
        remainder = {name: profile(tmp_path, [str(tmp_path / name)])["remainder"] for name in programs}
        memory = {name: part["memory"] for name, part in remainder.items()}
        # Whether such a machine shows the pages changes from second to second, and a busy one leaves little time to
        # look: each profile finds out for itself.
        hidden = [name for name, part in remainder.items() if "memory cannot be told from compute" in part["method"]]
        assert all(memory[name] == 0 for name in hidden), "claims what it cannot see"
        return bool(hidden) or memory["stream"] > memory["compute"] + 0.2

    assert any(is_told() for _ in range(3)), "others on the machine move memory, too, now and then"
