#include "core/base/json_reader.hpp"
#include "tests/cli/client/fake_server.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace fathom::cli::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> golden_question(const std::string& verb)
{
    return {"speedup",
            verb,
            "--class",
            "quadratic",
            "--input-gb",
            "1",
            "--machines",
            "1000",
            "--per-aggregation",
            "10",
            "--network-gb-s",
            "10",
            "--bus-gb-s",
            "12.8",
            "--gpu-parallelism",
            "64",
            "--compressed-fraction",
            "0.3",
            "--compression-gb-s",
            "0.1"};
}

TEST(Speedup, PredictsWithoutAServer)
{
    std::vector<std::string> arguments = golden_question("predict");
    arguments.insert(arguments.end(), {"--seconds-per-100mb", "0.2", "--output", "json"});
    const Ran ran = fathom(arguments, {});

    ASSERT_EQ(ran.code, 0) << ran.err;
    const Json answer = Json::parse(ran.out);
    EXPECT_NEAR(answer["cpu_s"].get<double>(), 27.1111, 0.00005);
    EXPECT_NEAR(answer["gpu_s"].get<double>(), 14.9271, 0.00005);
    EXPECT_NEAR(answer["speedup"].get<double>(), 1.8162, 0.00005);
    EXPECT_EQ(answer["run_on"], "GPU");
}

TEST(Speedup, NamesTheFlagsThatAreWrong)
{
    const Ran ran = fathom({"speedup", "predict", "--class", "cubic", "--machines", "0.5"}, {});

    EXPECT_EQ(ran.code, 2);
    EXPECT_THAT(ran.err, AllOf(HasSubstr("--class: must be one of"), HasSubstr("--machines: "),
                               HasSubstr("--network-gb-s: is required")));
    EXPECT_THAT(ran.out, IsEmpty());
}

TEST(Speedup, DrawsACurve)
{
    std::vector<std::string> arguments = golden_question("curve");
    arguments.insert(arguments.end(), {"--points", "3"});
    const Ran ran = fathom(arguments, {});

    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.out, AllOf(HasSubstr("0.0010"), HasSubstr("10.0000"), HasSubstr("GPU     ####")));
}

TEST(Speedup, DrawsACurveForEachNetworkAndClass)
{
    const std::vector<std::string> arguments{
        "speedup", "curve",     "--input-gb",  "1",         "--machines",  "1000",     "--gpu-parallelism",
        "64",      "--network", "10GbE=0.125", "--network", "100Gb IB=10", "--points", "5"};
    const Ran shown = fathom(arguments, {});
    std::vector<std::string> as_json = arguments;
    as_json.insert(as_json.end(), {"--output", "json"});
    const Ran ran = fathom(as_json, {});

    ASSERT_EQ(shown.code, 0) << shown.err;
    EXPECT_THAT(shown.out,
                AllOf(HasSubstr("10GbE, 0.125 GB/s, linear\n"), HasSubstr("10GbE, 0.125 GB/s, quadratic\n"),
                      HasSubstr("100Gb IB, 10 GB/s, linear\n"), HasSubstr("100Gb IB, 10 GB/s, quadratic\n")));
    ASSERT_EQ(ran.code, 0) << ran.err;
    const Json curves = Json::parse(ran.out)["curves"];
    ASSERT_EQ(curves.size(), 4U);
    EXPECT_EQ(curves[3]["network"], "100Gb IB");
    EXPECT_EQ(curves[3]["class"], "quadratic");
    EXPECT_EQ(curves[3]["items"].size(), 5U);
    const auto at_most_t = [&](std::size_t i) { return curves[i]["items"][4]["speedup"].get<double>(); };
    EXPECT_GT(at_most_t(1), at_most_t(0)); // quadratic work gains more than linear work
    EXPECT_GT(at_most_t(2), at_most_t(0)); // and a fast network leaves more to be gained
}

TEST(Speedup, NamesTheNetworkThatIsNone)
{
    for (const std::string network : {"10GbE", "=1", "x=0", "x=fast"}) {
        const Ran ran = fathom({"speedup", "curve", "--input-gb", "1", "--machines", "10", "--gpu-parallelism", "64",
                                "--network", network},
                               {});
        EXPECT_EQ(ran.code, 2) << network;
        EXPECT_THAT(ran.err, HasSubstr("\"" + network + "\" is not NAME=GB/S"));
    }
}

/// A file with that content; gone with the test.
class PlanFile {
  public:
    explicit PlanFile(const std::string& text)
        : path_(std::filesystem::temp_directory_path() / ("fathom-plan-" + std::to_string(::getpid()) + ".json"))
    {
        std::ofstream(path_) << text;
    }
    ~PlanFile() { std::filesystem::remove(path_); }
    PlanFile(const PlanFile&) = delete;
    PlanFile& operator=(const PlanFile&) = delete;

    std::string path() const { return path_.string(); }

  private:
    std::filesystem::path path_;
};

/// A join whose inputs are a table of 1000 GB: spec 2's golden row with 100 Gb InfiniBand.
constexpr const char* kJoin =
    R"([{"Plan": {"Node Type": "Merge Join", "Plan Rows": 100000000, "Plan Width": 1000, "Plans": [
    {"Node Type": "Seq Scan", "Plan Rows": 1000000000, "Plan Width": 1000}]}}])";

TEST(SpeedupPlan, SaysOperatorByOperatorWhereItShouldRunAndWhatTheWholeGains)
{
    const PlanFile file(kJoin);
    const std::vector<std::string> arguments{"speedup",   "plan",
                                             file.path(), "--machines",
                                             "1000",      "--network-gb-s",
                                             "10",        "--gpu-parallelism",
                                             "64",        "--linear-seconds-per-100mb",
                                             "0.005",     "--quadratic-seconds-per-100mb",
                                             "0.2"};
    const Ran shown = fathom(arguments, {});
    std::vector<std::string> as_json = arguments;
    as_json.insert(as_json.end(), {"--output", "json"});
    const Ran ran = fathom(as_json, {});

    ASSERT_EQ(shown.code, 0) << shown.err;
    EXPECT_THAT(shown.out, AllOf(HasSubstr("Merge Join"), HasSubstr("2.316  GPU"), HasSubstr("All on CPUs "),
                                 HasSubstr("each where it is faster"), HasSubstr("STEP ON"),
                                 HasSubstr("On machines of one kind each: whole on GPUs, ")));
    ASSERT_EQ(ran.code, 0) << ran.err;
    const Json answer = Json::parse(ran.out);
    EXPECT_EQ(answer["operators"][0]["run_on"], "GPU");
    EXPECT_EQ(answer["operators"][1]["run_on"], "CPU");
    EXPECT_GT(answer["gain"].get<double>(), 1);
    EXPECT_EQ(answer["split"]["run"], "whole") << "what the scan hands on would take 100 s to other machines";
    EXPECT_EQ(answer["operators"][1]["step_on"], "GPU");
    EXPECT_EQ(answer["split"]["total_s"], answer["gpu_s"]);
}

TEST(SpeedupPlan, SaysWhatIsMissing)
{
    const PlanFile file(kJoin);
    const Ran no_t = fathom({"speedup", "plan", file.path(), "--machines", "10", "--network-gb-s", "1",
                             "--gpu-parallelism", "64", "--linear-seconds-per-100mb", "0.1"},
                            {});
    const Ran no_machines = fathom({"speedup", "plan", file.path()}, {});
    std::ofstream(file.path()) << "{}";
    const Ran no_plan = fathom({"speedup", "plan", file.path(), "--machines", "10"}, {});

    EXPECT_THAT(no_t.err, HasSubstr("\"Merge Join\" is not known"));
    EXPECT_THAT(no_machines.err, HasSubstr("--machines: is required"));
    EXPECT_THAT(no_plan.err, HasSubstr("there is no \"Plan\""));
    EXPECT_EQ(no_plan.code, 2);
}

} // namespace
} // namespace fathom::cli::test
