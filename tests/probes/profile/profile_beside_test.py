"""fathom-profile beside other tools, and what it costs a program that loads and closes libraries."""
import json
import os
import re
import subprocess

from profiling import HOST, PLUGIN, counts, run


def test_closing_a_library_costs_little_where_nothing_was_called(tmp_path):
    """What is remembered of libraries is forgotten once, not again at each dlclose()."""
    def ratio():
        ended = run([HOST, "closing", PLUGIN, "1000"], "--no-calibration", "--output-file", str(tmp_path / "profile"))
        return float(ended.stdout)

    # Others on the machine make either longer now and then.
    assert any(ratio() < 0.8 for _ in range(4)), "of the processor time that closing takes after a call"


OTHER_TOOL = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
static int lookups, closes;
static void* next(const char* name)
{
    void* found = dlvsym(RTLD_NEXT, name, "GLIBC_2.34");
    if (found == NULL) found = dlvsym(RTLD_NEXT, name, "GLIBC_2.2.5");
    return found == NULL ? dlvsym(RTLD_NEXT, name, "GLIBC_2.17") : found;
}
void* dlsym(void* handle, const char* name)
{
    ++lookups;
    return ((void* (*)(void*, const char*))next("dlsym"))(handle, name);
}
int dlclose(void* handle)
{
    ++closes;
    return ((int (*)(void*))next("dlclose"))(handle);
}
__attribute__((destructor)) static void tell(void) { fprintf(stderr, "tool %d %d\\n", lookups, closes); }
"""


def test_another_tool_that_stands_before_dlsym_and_dlclose_goes_on(tmp_path):
    """As tools that trace do: both hear of each call, whoever is asked first."""
    (tmp_path / "tool.c").write_text(OTHER_TOOL)
    tool = tmp_path / "tool.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", tool, tmp_path / "tool.c"], check=True)
    (tmp_path / "main.c").write_text("""
#include <dlfcn.h>
typedef double Dots(int);
int main(int count, char** arguments)
{
    void* plugin = count > 1 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : 0;
    Dots* dots = plugin ? (Dots*)dlsym(plugin, "plugin_dots") : 0;
    double (*dot)(int, const double*, int, const double*, int) = plugin ? dlsym(plugin, "cblas_ddot") : 0;
    const double a[4] = {1, 2, 3, 4};
    if (!dots || !dot || dot(4, a, 1, a, 1) != 30) return 9;
    dots(4);
    return dlclose(plugin);
}
""")
    program = tmp_path / "main"
    subprocess.run(["gcc", "-o", program, tmp_path / "main.c", "-ldl"], check=True)
    report = tmp_path / "profile.json"
    ended = run([str(program), PLUGIN], "--output", "json", "--no-calibration", "--output-file", str(report),
                env={**os.environ, "LD_PRELOAD": str(tool)})
    assert ended.returncode == 0, ended.stderr
    heard = [tuple(map(int, numbers)) for numbers in re.findall(r"tool (\d+) (\d+)", ended.stderr)]
    assert any(lookups >= 2 and closes >= 1 for lookups, closes in heard), ended.stderr
    assert counts(json.loads(report.read_text()))[("cblas_ddot",)] == 5
