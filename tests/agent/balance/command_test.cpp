#include "agent/app/balance_command.hpp"
#include "agent/balance/balance_trace.hpp"
#include "tests/agent/balance/balance_fixture.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>

namespace fathom::agent {
namespace {

using namespace test;
using testing::HasSubstr;

struct CommandAnswer {
    int exit_code{};
    std::string output;
    std::string errors;
};

CommandAnswer run(std::vector<const char*> arguments)
{
    arguments.insert(arguments.begin(), "balance");
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    CommandAnswer answer;
    answer.exit_code = balance_command(static_cast<int>(arguments.size()), arguments.data());
    answer.output = testing::internal::GetCapturedStdout();
    answer.errors = testing::internal::GetCapturedStderr();
    return answer;
}

std::int64_t lines(const std::string& text)
{
    return std::count(text.begin(), text.end(), '\n');
}

TEST(BalanceCommand, ShowsTheLastStepsOfAUnit)
{
    const BalancedHost host;
    const std::string state = host.traces().parent_path().string();
    BalanceTrace trace = host.trace();
    for (int i = 0; i < 30; ++i) {
        RegulatorStep step;
        step.outcome = StepOutcome::kInBand;
        step.reason = "balanced " + std::to_string(i);
        trace.add({.at = {},
                   .unit = i % 3 == 0 ? "gpu0" : "gpu1",
                   .job = "att",
                   .is_dry_run = false,
                   .step = step,
                   .faults = {}});
    }
    const CommandAnswer all = run({"--state-dir", state.c_str()});
    EXPECT_EQ(all.exit_code, 0);
    EXPECT_EQ(lines(all.output), 20);
    EXPECT_THAT(all.output, HasSubstr("balanced 29\n"));
    const CommandAnswer one = run({"--state-dir", state.c_str(), "--unit", "gpu0", "--json", "--last", "3"});
    EXPECT_EQ(lines(one.output), 3);
    EXPECT_EQ(Json::parse(one.output.substr(0, one.output.find('\n')))["reason"], "balanced 21");
    EXPECT_EQ(lines(run({"--state-dir", state.c_str(), "--plot", "--last", "5"}).output), 5);
}

TEST(BalanceCommand, ItsHelpFitsATerminal)
{
    std::istringstream help(run({"--help"}).output);
    for (std::string line; std::getline(help, line);)
        EXPECT_LE(line.size(), 100U) << line;
}

TEST(BalanceCommand, SaysWhatIsMissingOrWrong)
{
    const BalancedHost host;
    const std::string state = host.traces().parent_path().string();
    EXPECT_THAT(run({"--state-dir", state.c_str()}).errors, HasSubstr("no step yet"));
    EXPECT_EQ(run({"--state-dir", "/nowhere"}).exit_code, 1);
    EXPECT_EQ(run({}).exit_code, 2);
    EXPECT_EQ(run({"--state-dir", state.c_str(), "--plot", "--json"}).exit_code, 2);
}

} // namespace
} // namespace fathom::agent
