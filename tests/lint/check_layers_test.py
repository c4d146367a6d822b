"""The lint of layers, on made-up files: what a pure folder must not have is found, and nothing else."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import check_layers  # noqa: E402

PATH = "core/decide/routing/route.cpp"


@pytest.mark.parametrize("line", [
    "const auto start = std::chrono::steady_clock::now();",
    "const Timestamp at = clock.now();",
    "std::mt19937_64 random(seed);",
    "#include <random>",
    "#include <atomic>",
    "#include <shared_mutex>",
    "#include <future>",
    "#include <cstdio>",
    "#include <fstream>",
    '#include "core/base/log.hpp"',
    '#include "core/base/file.hpp"',
    '#include "core/base/open_file.hpp"',
    '#include "core/base/packet_socket.hpp"',
    '#include "core/base/write_all.hpp"',
    "    static int calls = 0;",
    "    static std::map<std::string, int> kept;",
    "    thread_local std::string text;",
    "return std::getenv(name);",
    "return std::exp(x);",
    "return std::pow(x, 2.0);",
    "return std::log10(x);",
    "return std::powf(x, y);",
    "return 2 * exp(x);",
    "return ::log(x);",
    "using std::exp;",
])
def test_is_found(line):
    assert len(check_layers.check(PATH, line + "\n")) == 1


@pytest.mark.parametrize("line", [
    "return portable::exp(x) + std::sqrt(y);",
    "const double logs = std::logic_error; // std::log() would differ",
    "    static const Json kNone = Json::object();",
    "    static constexpr double kHalf = 0.5;",
    "    static Reservation reservation_of(const ReadyJob& job, const Candidate& winner);",
    "double waited_s(Timestamp now);",
    "    static double rate(double now) { return now; }",
    "return run.log(x) + shape->exp(y) + log_of(z) + catalog(z) + folder.of + log();",
])
def test_is_left_alone(line):
    assert check_layers.check(PATH, line + "\n") == []


def test_other_folders_may():
    assert check_layers.check("agent/jobs/jobs.cpp", "#include <atomic>\nclock.now();\nstd::exp(x);\n") == []
    assert check_layers.check("server/routing/router.cpp", "#include <atomic>\nclock.now();\n") == []
    assert check_layers.check("simulator/report/report_axis.cpp", "std::pow(10, x);\n") == []


@pytest.mark.parametrize("path", ["server/routing/router.cpp", "simulator/knowledge/knowledge.cpp", "simulator/live/export.cpp"])
def test_what_feeds_decisions_has_functions_that_are_the_same_everywhere(path):
    assert len(check_layers.check(path, "std::exp(x);\nstd::sqrt(x);\n")) == 1


def test_an_exception_is_of_one_word_in_one_file():
    text = "    static thread_local int a;\n    static int b = 0;\n"
    assert len(check_layers.check("core/model/formula.cpp", text)) == 1
    assert len(check_layers.check("core/model/job.cpp", text)) == 2


def test_every_file_has_a_rule_and_every_rule_a_file():
    one_each = [folder + "/file.cpp" for folder in check_layers.ALLOWED]
    assert check_layers.unruled(one_each) == []
    assert check_layers.unruled(one_each[1:]) == ["core/base: has rules here, but no sources"]
    assert check_layers.unruled(one_each + ["gateway/file.cpp"])[0].startswith("gateway/file.cpp: no rule")


def test_arrows_between_large_folders():
    assert check_layers.check("simulator/world/draw.cpp", '#include "cli/jobs/explain.hpp"\n')
    assert check_layers.check("simulator/report/report.cpp", '#include "cli/text/format_units.hpp"\n') == []
    assert check_layers.check("cli/text/table.cpp", '#include "core/net/client.hpp"\n')
    assert check_layers.check("simulator/policies/policy.cpp", '#include "simulator/world/truth.hpp"\n')
    assert check_layers.check("simulator/engine/simulation.cpp", '#include "simulator/world/truth.hpp"\n') == []


@pytest.mark.parametrize("line", [
    "const Timestamp now = SystemClock().now();",
    "const auto now = std::chrono::system_clock::now();",
    "const KnownJobType* known = catalog_->get()->find_job_type(name, owner);",
    "const CatalogSnapshot& catalog = *catalog_->get();",
])
def test_rooms_take_the_time_and_keep_the_snapshot(line):
    assert len(check_layers.check("server/jobs/jobs_service.cpp", line + "\n")) == 1


@pytest.mark.parametrize("line", [
    "const CatalogPointer catalog = catalog_->get();",
    "const Timestamp now = clock_->now(); // not SystemClock",
    "const auto began = std::chrono::steady_clock::now();",
])
def test_rooms_may_all_else(line):
    assert check_layers.check("server/jobs/jobs_service.cpp", line + "\n") == []


def test_the_clock_is_made_where_all_is_wired():
    assert check_layers.check("server/app/application.hpp", "const SystemClock clock_;\n") == []
