#include "core/base/json_reader.hpp"
#include "fake_server.hpp"

#include <gmock/gmock.h>

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

} // namespace
} // namespace fathom::cli::test
