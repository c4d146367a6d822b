#include "core/base/open_file.hpp"
#include "core/base/run_program.hpp"

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <thread>
#include <unistd.h>

namespace fathom {
namespace {

using namespace std::chrono_literals;

TEST(RunProgram, GivesWhatAProgramWroteAndHowItEnded)
{
    EXPECT_EQ(run_program({"/bin/sh", "-c", "echo $A; echo no >&2"}, {{"A", "one"}}, 60s).value(), "one\n");
    const ProgramAnswer answer =
        run_program_to_end({"/bin/sh", "-c", "echo $A >&2; exit 3"}, {{"A", "two"}}, 60s, 100).value();
    EXPECT_EQ(answer.exit_code, 3);
    EXPECT_EQ(answer.text, "two\n");
    EXPECT_EQ(run_program({"/nonexistent/program"}, {}, 60s).error().code, Errc::kNotFound);
}

TEST(RunProgram, GivesAProgramItsInputAndDropsItsErrors)
{
    const std::string input(300'000, 'x'); // more than a pipe holds
    EXPECT_EQ(run_program_on(input, {"/bin/sh", "-c", "cat; echo no >&2"}, {}, 60s).value(), input);
    EXPECT_EQ(run_program_on("", {"/bin/cat"}, {}, 60s).value(), "");
    EXPECT_EQ(run_program_on("x", {"/bin/sh", "-c", "exit 3"}, {}, 60s).error().code, Errc::kUnavailable);
}

TEST(RunProgram, LetsAProgramHaveItsSignalsWhateverIsBlockedHere)
{
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ASSERT_EQ(::pthread_sigmask(SIG_SETMASK, &all, &before), 0);
    const Result<ProgramAnswer> answer = run_program_to_end({"/bin/sh", "-c", "kill $$; sleep 60"}, {}, 30s, 100);
    ASSERT_EQ(::pthread_sigmask(SIG_SETMASK, &before, nullptr), 0);

    EXPECT_EQ(answer.value().exit_code, 128 + SIGTERM);
}

TEST(RunProgram, KillsAProgramThatTakesTooLongAndWhatItStarted)
{
    // The second one has closed its output: nothing but its end is waited for.
    for (const char* line : {"sleep 1000 & wait", "exec >/dev/null 2>&1; sleep 1000 & wait"}) {
        std::array<int, 2> ends{};
        ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
        const OpenFile alive(ends[0]);
        OpenFile held(ends[1]); // by all of them
        ASSERT_EQ(::fcntl(held.number(), F_SETFD, 0), 0);

        const Result<ProgramAnswer> answer = run_program_to_end({"/bin/sh", "-c", line}, {}, 1s, 100);

        ASSERT_FALSE(answer) << line;
        EXPECT_EQ(answer.error().code, Errc::kDeadline) << line;
        EXPECT_EQ(answer.error().detail, "/bin/sh took too long") << line;
        held = OpenFile();
        pollfd waiting{alive.number(), POLLIN, 0};
        EXPECT_EQ(::poll(&waiting, 1, 60'000), 1) << line << ": one of them is still alive";
    }
}

TEST(RunProgram, EndsAProgramThatIsNotWantedAnyMore)
{
    const std::stop_source wanted;
    EXPECT_EQ(run_program_until(wanted.get_token(), {"/bin/sh", "-c", "echo one"}, {}, 60s).value(), "one\n");
    for (const char* const before : {"", "exec >&-; "}) { // also one that writes nothing more
        std::stop_source stop;
        std::array<int, 2> ends{};
        ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
        const OpenFile told(ends[0]);
        OpenFile tells(ends[1]);
        ASSERT_EQ(::fcntl(tells.number(), F_SETFD, 0), 0);
        const std::string line = before + ("echo >/proc/self/fd/" + std::to_string(tells.number()));
        // Once it runs, which it says.
        std::thread stopper([&] {
            char byte = 0;
            if (::read(told.number(), &byte, 1) == 1) stop.request_stop();
        });

        const Result<std::string> output =
            run_program_until(stop.get_token(), {"/bin/sh", "-c", line + "; exec sleep 1000"}, {}, 600s);
        tells = OpenFile(); // where it did not run
        stopper.join();

        ASSERT_FALSE(output) << line;
        EXPECT_EQ(output.error().code, Errc::kUnavailable) << line;
        EXPECT_EQ(output.error().detail, "/bin/sh was stopped") << line;
    }
}

} // namespace
} // namespace fathom
