#include "tests/probes/probe_program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>
#include <vector>

/// That fathom-probe ends when its time is over, and when it is told to.
namespace fathom {
namespace {

using testing::HasSubstr;

constexpr const char* kEndlessTask = R"({"name": "endless", "limit_s": 60, "operators": [
    {"id": "dgemm", "parameters": {"m": 9000, "n": 9000, "k": 9000}}]})";

/// Of many cores some seconds of processor time are gone in a fraction of a second.
const std::vector<std::string> kTwoCores{"FATHOM_CORES=2"};

/// What the children that have ended used of processors, which is the same however busy the machine is.
double ended_children_cpu_s()
{
    rusage used{};
    EXPECT_EQ(getrusage(RUSAGE_CHILDREN, &used), 0);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// What a process that runs has used of processors until now.
double running_cpu_s(pid_t process)
{
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string line;
    std::getline(file, line);
    std::istringstream fields(line.substr(line.rfind(')') + 1)); // from the third on
    std::string ignored;
    for (int field = 3; field < 14; ++field)
        fields >> ignored;
    double user = 0;
    double system = 0;
    fields >> user >> system;
    return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

TEST_F(ProbeProgram, StopsInTheMiddleOfACallWhenTheLimitIsOver)
{
    const std::string product = "dgemm(k=9000,m=9000,n=9000)";
    Outcome outcome;
    // On a busy machine half a second may be over before the product begins.
    for (const std::string limit_s : {"0.5", "4"}) {
        const double before_s = ended_children_cpu_s();

        outcome = run_task(R"({"name": "t", "limit_s": )" + limit_s +
                               R"(, "operators": [{"id": "dgemm", "parameters": {"m": 9000, "n": 9000, "k": 9000}}]})",
                           kTwoCores);

        EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
        EXPECT_THAT(outcome.err, HasSubstr("took longer than its limit of " + limit_s + " s: stopped after "));
        EXPECT_EQ(outcome.out, "");
        EXPECT_LT(ended_children_cpu_s() - before_s, 10); // the product alone takes longer
        if (outcome.err.find(product) != std::string::npos) break;
    }
    EXPECT_THAT(outcome.err, HasSubstr(product));
}

TEST_F(ProbeProgram, GivesUpWhenTheLimitIsOutOfReach)
{
    const Outcome outcome =
        run_task(R"({"name": "t", "limit_s": 60, "repeats": 1000, "min_sample_s": 0.2, "operators": [
        {"id": "dgemm", "parameters": {"m": 32, "n": 32, "k": 32}}]})");

    EXPECT_EQ(outcome.exit_code, 3);
    constexpr std::string_view kWouldTake = "took longer than its limit of 60 s: it would take about ";
    const std::size_t at = outcome.err.find(kWouldTake);
    ASSERT_NE(at, std::string::npos) << outcome.err;
    // 1000 samples of 0.2 s, or a little longer ones on a busy machine.
    EXPECT_GE(std::stod(outcome.err.substr(at + kWouldTake.size())), 190);
}

/// Whether the process has said what is to happen on this signal.
bool catches(pid_t process, int signal)
{
    std::ifstream status("/proc/" + std::to_string(process) + "/status");
    constexpr std::string_view kCaught = "SigCgt:\t";
    for (std::string line; std::getline(status, line);) {
        if (!line.starts_with(kCaught)) continue;
        const std::uint64_t caught = std::stoull(line.substr(kCaught.size()), nullptr, 16);
        return (caught >> static_cast<unsigned>(signal - 1) & 1U) != 0;
    }
    return false;
}

TEST_F(ProbeProgram, EndsAtOnceOnSignals)
{
    for (const int signal : {SIGTERM, SIGINT}) {
        const pid_t child = start({"--task", write("task.json", kEndlessTask)}, kTwoCores);
        for (int i = 0; i < 6000 && !catches(child, signal); ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        std::this_thread::sleep_for(std::chrono::milliseconds(600)); // well inside the product
        const double before_s = ended_children_cpu_s() + running_cpu_s(child);
        kill(child, signal);

        const Outcome outcome = wait(child);

        EXPECT_EQ(outcome.exit_code, 128 + signal);
        EXPECT_EQ(outcome.out, "");
        EXPECT_LT(ended_children_cpu_s() - before_s, 10); // the product takes longer
    }
}

} // namespace
} // namespace fathom
