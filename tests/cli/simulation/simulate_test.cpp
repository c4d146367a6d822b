#include "core/base/file.hpp"
#include "core/base/json_reader.hpp"
#include "tests/cli/client/fake_server.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <unistd.h>

namespace fathom::cli::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kCenters = R"({"currency": "CHF", "begins": "2026-11-16T00:00:00Z", "centers": [
  {"name": "alpha", "unit_types": [{"name": "core", "unit_count": 2, "rates": {"*": 1}, "price": {"per_unit_hour": "1"}}]},
  {"name": "beta", "unit_types": [{"name": "gpu", "unit_count": 1, "rates": {"*": 2}}]}]})";

constexpr const char* kJobs = R"({"arrival_s": 0, "work_s": 3600, "project": "physics"}
{"arrival_s": 0, "work_s": 3600, "project": "physics"}
{"arrival_s": 0, "work_s": 3600, "project": "materials"}
{"arrival_s": 10, "work_s": 3600, "project": "materials"}
{"arrival_s": 20, "work_s": -1}
)";

/// A folder with files to simulate.
class SimulateCommand : public testing::Test {
  protected:
    SimulateCommand()
        : folder_(std::filesystem::temp_directory_path() /
                  ("fathom-simulate-" + std::to_string(::getpid()) + "-" +
                   std::string(testing::UnitTest::GetInstance()->current_test_info()->name())))
    {
        std::filesystem::create_directories(folder_);
        write_file(path("centers.json"), kCenters).value();
        write_file(path("jobs.jsonl"), kJobs).value();
    }
    ~SimulateCommand() override { std::filesystem::remove_all(folder_); }

    std::string path(const std::string& name) const { return (folder_ / name).string(); }

    Ran simulate(std::vector<std::string> arguments) const
    {
        arguments.insert(arguments.begin(),
                         {"simulate", "--centers", path("centers.json"), "--workload", path("jobs.jsonl")});
        return fathom(std::move(arguments));
    }

    Json figures(std::vector<std::string> arguments) const
    {
        arguments.insert(arguments.end(),
                         {"--policy", "first_come", "--output", "json", "--set", "knowledge.run_noise=0"});
        const Ran ran = simulate(std::move(arguments));
        EXPECT_EQ(ran.code, 0) << ran.err;
        return Json::parse(ran.out)["policies"][0]["runs"][0]["figures"];
    }

  private:
    std::filesystem::path folder_;
};

TEST_F(SimulateCommand, ShowsPoliciesSideBySideAndWhatWasLeftOut)
{
    const Ran ran = simulate({"--policy", "fathom,oracle", "--seeds", "2", "--by", "project"});

    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.out,
                AllOf(HasSubstr("jobs.jsonl (json-lines), 4 jobs"), HasSubstr("2 centers, 2 unit types, 3 units"),
                      HasSubstr("AGAINST BEST"), HasSubstr("COST CHF"), HasSubstr("oracle"), HasSubstr("±"),
                      HasSubstr("materials"), HasSubstr("work_s must be between 1e-06"), HasSubstr(": line 5"),
                      Not(HasSubstr("DECISIONS/S"))));
    EXPECT_THAT(simulate({"--timing"}).out, HasSubstr("DECISIONS/S"));
}

TEST_F(SimulateCommand, GivesTheSameBytesForTheSameSeed)
{
    for (const char* format : {"json", "csv", "table"}) {
        const std::vector<std::string> arguments{"--policy", "all", "--output", format, "--seed", "7"};
        EXPECT_EQ(simulate(arguments).out, simulate(arguments).out) << format;
    }
    EXPECT_NE(simulate({"--output", "csv", "--seed", "7"}).out, simulate({"--output", "csv", "--seed", "8"}).out);
}

TEST_F(SimulateCommand, WritesARowForEachPolicyAndSeedAndForEachJob)
{
    const Ran ran = simulate({"--policy", "fathom,random", "--seeds", "3", "--output", "csv", "--jobs-csv",
                              path("jobs.csv"), "--report", path("report.html")});

    EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 1 + 2 * 3);
    const std::string jobs = read_file(path("jobs.csv")).value();
    EXPECT_EQ(std::count(jobs.begin(), jobs.end(), '\n'), 1 + 4 * 2 * 3);
    EXPECT_THAT(jobs, HasSubstr("fathom,1,1,,physics,,0,ended,0,"));
    EXPECT_THAT(read_file(path("report.html")).value(), HasSubstr("fathom simulate --centers"));

    simulate({"--policy", "random", "--load", "0.5", "--part", "one list", "--report", path("report.html")});
    EXPECT_THAT(read_file(path("report.html")).value(), HasSubstr("--part &#39;one list&#39;"));
}

TEST_F(SimulateCommand, ChangesWhatTheFilesSay)
{
    // Three jobs at once: 1800 s on the GPU, 3600 s on each core; the fourth comes after 10 s and has the GPU next.
    EXPECT_NEAR(figures({})["mean_wait_s"].get<double>(), 1790.0 / 4, 1e-6);
    EXPECT_EQ(figures({"--scale", "alpha=2"})["mean_wait_s"], 0);
    EXPECT_EQ(figures({"--scale", "alpha/core=1.5"})["mean_wait_s"], 0);
    EXPECT_EQ(figures({"--set", "beta/gpu.unit_count=2"})["mean_wait_s"], 0);
    EXPECT_EQ(figures({"--set", "alpha/core.price.per_unit_hour=3", "--count", "0:1", "--close", "beta=0..1d"})["cost"],
              3);
    EXPECT_GE(figures({"--close", "alpha=0..2h", "--close", "beta=0..2026-11-16T03:00:00Z"})["mean_wait_s"], 7190);
    EXPECT_NEAR(Json::parse(simulate({"--load", "0.5", "--output", "json"}).out)["scenario"]["load"].get<double>(), 0.5,
                1e-9);
}

TEST_F(SimulateCommand, ComparesBeforeAndAfterTheChanges)
{
    const std::vector<std::string> doubled{"--compare", "--policy", "first_come",           "--scale",
                                           "alpha=2",   "--set",    "knowledge.run_noise=0"};
    const auto with_output = [&](const char* format) {
        std::vector<std::string> arguments = doubled;
        arguments.insert(arguments.end(), {"--output", format});
        const Ran ran = simulate(std::move(arguments));
        EXPECT_EQ(ran.code, 0) << ran.err;
        return ran.out;
    };

    const Json json = Json::parse(with_output("json"));
    EXPECT_GT(json["before"]["figures"]["mean_wait_s"], 0);
    EXPECT_EQ(json["after"]["figures"]["mean_wait_s"], 0);
    EXPECT_EQ(json["after"]["centers"][0]["unit_count"], 4);
    EXPECT_THAT(with_output("table"), AllOf(HasSubstr("BEFORE"), HasSubstr("AFTER"), HasSubstr("-100.0 %"),
                                            HasSubstr("alpha"), HasSubstr("are left out: work_s must be")));
    const std::string csv = with_output("csv");
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 2 * 3) << "the network and two centers, twice";
    EXPECT_THAT(simulate({"--compare", "--policy", "first_come,fathom"}).out, HasSubstr("first_come → fathom"));
    EXPECT_THAT(simulate({"--compare", "--seeds", "2"}).err, HasSubstr("--compare does not go with"));
    EXPECT_THAT(simulate({"--compare", "--policy", "all"}).err, HasSubstr("before and after"));
}

TEST_F(SimulateCommand, ShowsWhatJobsGainWhereTheyShareGpus)
{
    write_file(path("centers.json"), R"({"centers": [{"name": "alpha", "unit_types": [
        {"name": "p100", "unit_count": 1, "rates": {"*": 1}}]}]})")
        .value();
    write_file(path("jobs.jsonl"), R"({"arrival_s": 0, "work_s": 3600, "job_type": "ResNet-18 16"}
{"arrival_s": 0, "work_s": 3600, "job_type": "ResNet-18 16"}
)")
        .value();
    write_file(path("pairs.csv"), "gpu,job_a,job_b,solo_a,solo_b,coloc_a,coloc_b\n"
                                  "p100,ResNet-18 (batch size 16),ResNet-18 (batch size 16),10,10,9,9\n")
        .value();
    const std::vector<std::string> both{"--policy",      "first_come", "--set",       "knowledge.run_noise=0",
                                        "--gpu-sharing", "both",       "--gpu-pairs", path("pairs.csv"),
                                        "--output",      "json"};

    const Ran ran = simulate(both);

    ASSERT_EQ(ran.code, 0) << ran.err;
    const Json policies = Json::parse(ran.out)["policies"];
    ASSERT_EQ(policies.size(), 2U);
    EXPECT_NEAR(policies[0]["runs"][0]["figures"]["mean_completion_s"].get<double>(), 5400, 1);
    EXPECT_NEAR(policies[1]["runs"][0]["figures"]["mean_completion_s"].get<double>(), 4000, 1);
    EXPECT_THAT(simulate({"--policy", "first_come", "--gpu-sharing", "on", "--gpu-pairs", path("pairs.csv")}).out,
                HasSubstr("first_come+sharing"));
    EXPECT_THAT(simulate({"--gpu-sharing", "on"}).err, HasSubstr("--gpu-sharing needs --gpu-pairs"));
    EXPECT_THAT(simulate({"--gpu-sharing", "on", "--gpu-pairs", path("none.csv")}).err, HasSubstr("none.csv"));
}

// By hand: CycleGAN and ResNet-18 keep 0.4 beside each other, and are seen to at the beginning. The third job would go
// to the P100 for its speed and take 125 s; the K80, which nobody has, does it in 55.6 s.
TEST_F(SimulateCommand, ShowsWhatJobsGainWherePairsChooseTheirPlaces)
{
    write_file(path("centers.json"), R"({"centers": [{"name": "alpha", "unit_types": [
        {"name": "p100", "unit_count": 1, "rates": {"*": 1}},
        {"name": "k80", "unit_count": 1, "rates": {"*": 0.9}}]}]})")
        .value();
    write_file(path("jobs.jsonl"), R"({"arrival_s": 0, "work_s": 1000, "job_type": "ResNet-18 16"}
{"arrival_s": 1, "work_s": 40, "job_type": "CycleGAN"}
{"arrival_s": 200, "work_s": 50, "job_type": "CycleGAN"}
)")
        .value();
    write_file(path("pairs.csv"), "gpu,job_a,job_b,solo_a,solo_b,coloc_a,coloc_b\n"
                                  "p100,ResNet-18 (batch size 16),CycleGAN,10,10,4,4\n"
                                  "k80,ResNet-18 (batch size 16),CycleGAN,10,10,4,4\n")
        .value();
    const auto mean_completion_s = [&](const std::string& counts_gpu_pairs) {
        const Ran ran =
            simulate({"--policy", "fathom", "--set", "knowledge.run_noise=0", "--set", "knowledge.job_noise=0", "--set",
                      "knowledge.measurement_noise=0", "--set", "knowledge.counts_gpu_pairs=" + counts_gpu_pairs,
                      "--gpu-sharing", "on", "--gpu-pairs", path("pairs.csv"), "--count", "2:3", "--output", "json"});
        EXPECT_EQ(ran.code, 0) << ran.err;
        return Json::parse(ran.out)["policies"][0]["runs"][0]["figures"]["mean_completion_s"].get<double>();
    };

    EXPECT_NEAR(mean_completion_s("true"), 50 / 0.9, 0.1);
    EXPECT_NEAR(mean_completion_s("false"), 125, 0.1);
}

TEST_F(SimulateCommand, SaysWhatIsWrongWithFlagsAndFiles)
{
    const auto refused = [&](std::vector<std::string> arguments, const char* text) {
        const Ran ran = simulate(std::move(arguments));
        EXPECT_EQ(ran.code, 2);
        EXPECT_THAT(ran.err, HasSubstr(text));
        EXPECT_EQ(ran.out, "");
    };
    refused({"--policy", "best"}, "but advantage_no_waiting, all, benchmark");
    refused({"--policy", "fathon"}, "did you mean fathom?");
    refused({"--scale", "gamma=2"}, "there are alpha, alpha/core, beta, beta/gpu");
    refused({"--scale", "beta=-2"}, "positive number");
    refused({"--set", "beta"}, "beta/core.unit_count=128");
    refused({"--set", "beta/gpu.unit_count.x=1"}, "unit_count has no fields");
    refused({"--set", "beta/gpu.colour=red"}, "centers[1].unit_types[0].colour: is not a known field");
    refused({"--set", "knowledge.job_noise=-1"}, "knowledge.job_noise: must be between 0");
    refused({"--set", "alpha.name=5", "--set", "beta.start_up_s=1"}, "with --set \"alpha.name=5\", the centers file");
    refused({"--set", "alpha.unit_types=5", "--scale", "alpha=2"}, "centers[0].unit_types");
    refused({"--set", "alpha/core.unit_count=many", "--scale", "alpha=2"}, "unit_count");
    refused({"--set", "alpha.maintenance=5", "--close", "alpha=0..9h"}, "maintenance");
    refused({"--measurement-noise", "-1", "--scale", "alpha=2"}, "with --measurement-noise");
    refused({"--close", "beta=9h"}, "from when to when");
    refused({"--close", "beta=soon..9h"}, "not \"soon\"");
    refused({"--close", "beta=9h..8h"}, "must be after from_s");
    refused({"--count", "3"}, "must be FIRST:END");
    refused({"--count", "3:9"}, "3:9 is not within the 4 jobs");
    refused({"--jobs-csv", path("no/such/folder.csv")}, "cannot write");
    refused({"--report", path("no/such/folder.html")}, "there is no folder");
    refused({"--report", path("")}, "it is a folder");
    refused({"--seed", "-1"}, "--seed");
    EXPECT_THAT(fathom({"simulate"}).err, HasSubstr("--centers FILE is required"));
    EXPECT_THAT(fathom({"simulate", "--centers", path("centers.json")}).err, HasSubstr("--workload FILE is required"));
}

constexpr const char* kUnitTypes = R"({"next_page_token": null, "items": [
  {"id": "ut_1", "center_id": "ctr_1", "center": "alpha", "name": "core", "resource_type": "cpu", "unit_count": 8,
   "memory_bytes_per_unit": 4000000000, "facts": {"isa": ["avx2"]}, "active": true},
  {"id": "ut_2", "center_id": "ctr_2", "center": "beta", "name": "gpu", "resource_type": "gpu", "unit_count": 2,
   "memory_bytes_per_unit": 16000000000, "facts": {}, "active": true},
  {"id": "ut_3", "center_id": "ctr_2", "center": "beta", "name": "old", "unit_count": 0, "active": true}]})";

/// Ended on two units; runs since before the span; waits.
constexpr const char* kServerJobs = R"({"next_page_token": null, "items": [
  {"id": "job_3", "type": "solver", "project": "physics", "submitted_by": "tok_1", "state": "queued",
   "submitted_at": "2024-11-22T11:58:00Z", "run_s": null, "attempt": null, "predicted": null, "started_at": null,
   "spec": {"command": ["secret"], "units": {"count": "auto", "min": 1, "max": 4, "device": "cpu"}, "priority": 5,
            "deadline": "2024-11-22T13:58:00Z", "budget": {"amount": "2.5", "currency": "EUR"}}},
  {"id": "job_4", "type": "solver", "project": "physics", "submitted_by": "tok_1", "state": "queued",
   "submitted_at": "2024-11-22T11:59:00Z", "run_s": null, "attempt": null, "predicted": null, "started_at": null,
   "spec": {"units": {"count": "auto", "min": 1, "max": 4, "device": "cpu"}}},
  {"id": "job_2", "type": "solver", "project": "physics", "submitted_by": "tok_1", "state": "succeeded",
   "submitted_at": "2024-11-22T10:00:00Z", "run_s": 50, "attempt": {"unit_type_id": "ut_1", "unit_count": 2},
   "spec": {"units": {"count": 2}, "wall_limit_s": 900, "data": {"in": [{"bytes": 1e9}], "out_bytes": 5}}},
  {"id": "job_1", "type": "solver", "project": "physics", "submitted_by": "tok_1", "state": "running",
   "submitted_at": "2024-11-12T00:00:00Z", "started_at": "2024-11-21T11:59:00Z", "run_s": null,
   "attempt": {"unit_type_id": "ut_2", "unit_type": "gpu", "center": "beta", "unit_count": 1},
   "predicted": {"run_s": 100}, "spec": {"units": {"count": 1}}},
  {"id": "job_9", "type": "solver", "state": "succeeded", "submitted_at": "2024-11-22T09:30:00Z", "run_s": 7,
   "attempt": {"unit_type_id": "ut_9", "unit_count": 1}, "spec": {"units": {"count": 1, "center": "gamma"}}},
  {"id": "job_0", "type": "solver", "state": "cancelled", "submitted_at": "2024-11-22T09:00:00Z", "run_s": null,
   "spec": {"units": {"count": 1}}}]})";

net::Response preview(double core_s, double gpu_s)
{
    const auto candidate = [](const char* unit_type, double run_s) {
        return Json{
            {"unit_type_id", unit_type}, {"feasible", true}, {"unit_count", 1}, {"scaling", {{"compute_s", run_s}}}};
    };
    const Json decision = {{"winner", 1}, {"candidates", {candidate("ut_1", core_s), candidate("ut_2", gpu_s)}}};
    return answer(200, Json{{"decision", decision}}.dump());
}

FakeServer::Answers running_network()
{
    constexpr const char* kNone = R"({"items": [], "next_page_token": null})";
    return {
        {"GET /api/v1/unit-types", {answer(200, kUnitTypes)}},
        {"GET /api/v1/price-books/current", {refusal(Errc::kNotFound, "nothing has a price")}},
        {"GET /api/v1/maintenance-windows", {answer(200, kNone)}},
        {"GET /api/v1/network-windows", {answer(200, R"({"next_page_token": null, "items": [
                {"center": "beta", "sample_count": 9, "hour_s": 3600, "now": {"rate_bytes": 100}, "hours_of_day": [
                 {"hour_of_day": 3, "median_rate_bytes": 300}], "hours": [{"hour_of_week": 27, "median_rate_bytes": 500}]}]})")}},
        {"GET /api/v1/scores", {answer(200, R"({"next_page_token": null, "items": [
                {"unit_type_id": "ut_2", "unit_count": 1, "rate_flops": 9e12}]})")}},
        {"GET /api/v1/predictions:calibration", {answer(200, R"({"run": {"job_count": 50, "median_error": 0.1}})")}},
        {"GET /api/v1/jobs", {answer(200, kServerJobs)}},
        // On 1, 2, 4 units; then the waiting job by itself.
        {"POST /api/v1/placements:preview", {preview(100, 25), preview(60, 25), preview(40, 25), preview(100, 25)}}};
}

TEST_F(SimulateCommand, ExportsARunningNetwork)
{
    const FakeServer server(running_network());

    const Ran ran = fathom(server, {"simulate", "export", "--centers", path("now.json"), "--workload",
                                    path("now.jsonl"), "--since", "2024-11-21T12:00:00Z"});

    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.err, AllOf(HasSubstr("4 jobs"), HasSubstr("3 of which have not ended"),
                               HasSubstr("left out: 1 jobs: never ran"),
                               HasSubstr("left out: 1 jobs: no unit type is what it asks for")));
    const Json centers = Json::parse(read_file(path("now.json")).value());
    EXPECT_EQ(centers["begins"], "2024-11-18T00:00:00.000000Z");
    EXPECT_EQ(centers["job_types"], Json::parse(R"([{"name": "solver", "scaling": "table"}])"));
    ASSERT_EQ(centers["centers"].size(), 2U);
    const Json& alpha = centers["centers"][0]["unit_types"][0];
    EXPECT_EQ(alpha["rates"]["solver"]["rate"], 0.25);
    EXPECT_EQ(alpha["rates"]["solver"]["speedups"][2], Json::parse(R"({"unit_count": 4, "speedup": 2.5})"));
    const Json& beta = centers["centers"][1];
    ASSERT_EQ(beta["unit_types"].size(), 1U) << "a type without units is left out";
    EXPECT_EQ(beta["unit_types"][0]["benchmark"], 9e12);
    EXPECT_EQ(beta["network_rate_bytes"][3], 300);
    EXPECT_EQ(beta["network_rate_bytes"][27], 500);
    EXPECT_EQ(beta["network_rate_bytes"][28], 100);
    EXPECT_NEAR(centers["knowledge"]["job_noise"].get<double>(), 0.1413, 1e-3);
}

TEST_F(SimulateCommand, ExportsJobsThatEndedAndRunAndWait)
{
    const FakeServer server(running_network());
    ASSERT_EQ(
        fathom(server, {"simulate", "export", "--workload", path("now.jsonl"), "--since", "2024-11-21T12:00:00Z"}).code,
        0);

    const std::string text = read_file(path("now.jsonl")).value();

    EXPECT_THAT(text, Not(HasSubstr("secret")));
    std::vector<Json> lines;
    for (std::size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1)
        lines.push_back(Json::parse(text.substr(begin, text.find('\n', begin) - begin)));
    ASSERT_EQ(lines.size(), 4U);
    // Ran a minute already when the span began, of 100 s; rate 1: 40 s are left, where it is.
    constexpr double kSince_s = (3 * 24 + 12) * 3600;
    EXPECT_EQ(lines[0]["arrival_s"], kSince_s);
    EXPECT_EQ(lines[0]["work_s"], 40);
    EXPECT_EQ(lines[0]["unit_types"], Json::parse(R"(["beta/gpu"])"));
    // 50 s on two cores of rate 1/4, 100/60 times as fast as one.
    EXPECT_NEAR(lines[1]["work_s"].get<double>(), 50 * 0.25 * 100 / 60, 1e-9);
    EXPECT_EQ(lines[1]["arrival_s"], kSince_s + 22 * 3600);
    EXPECT_EQ(lines[1]["unit_count"], 2);
    EXPECT_EQ(lines[1]["estimate_s"], 900);
    EXPECT_EQ(lines[1]["data_in_bytes"], 1e9);
    EXPECT_EQ(lines[2]["work_s"], 25);
    EXPECT_EQ(lines[2]["max_units"], 4);
    EXPECT_EQ(lines[2]["unit_types"], Json::parse(R"(["alpha/core"])"));
    EXPECT_EQ(lines[2]["deadline_in_s"], 7200);
    EXPECT_EQ(lines[2]["budget"], 2.5);
    EXPECT_EQ(lines[2]["priority"], 5);
    EXPECT_EQ(lines[3]["work_s"], 25);
    const std::vector<net::Request> requests = server.requests();
    EXPECT_EQ(std::count_if(requests.begin(), requests.end(),
                            [](const net::Request& one) { return one.target.find(":preview") != std::string::npos; }),
              3 + 1)
        << "on 1, 2 and 4 units, and once for both jobs that wait";
}

TEST_F(SimulateCommand, ExportNeedsAFileAndATimeThatHasCome)
{
    EXPECT_THAT(fathom({"simulate", "export"}).err, HasSubstr("nothing to write"));
    for (const char* since : {"tomorrow", "-1d", "2999-01-01T00:00:00Z"})
        EXPECT_THAT(fathom({"simulate", "export", "--workload", "x", "--since", since}).err, HasSubstr("--since"));
}

} // namespace
} // namespace fathom::cli::test
