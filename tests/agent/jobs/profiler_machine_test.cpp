#include "agent/jobs/attempt_book.hpp"
#include "agent/jobs/profiler_machine.hpp"
#include "tests/agent/support/builders.hpp"
#include "tests/agent/support/fake_executor.hpp"

#include <gmock/gmock.h>

namespace fathom::agent {
namespace {

using namespace std::chrono_literals;

class ProfilerMachineTest : public testing::Test {
  protected:
    /// Whether the machine is to be measured after some time in which that many attempts held units.
    bool is_due_after(std::chrono::seconds time, std::int64_t running = 0, bool is_wanted = true)
    {
        now_ += time;
        return machine_.is_due(running, is_wanted, is_host_busy_, now_);
    }
    bool take(const Result<std::string>& output) { return machine_.take(output, now_); }

    ProfilerMachine machine_;
    bool is_host_busy_ = false;
    ProfilerMachine::Time now_ = ProfilerMachine::Time() + 1000h;
};

TEST_F(ProfilerMachineTest, IsMeasuredOnceNoAttemptHasHeldUnitsForSomeSeconds)
{
    EXPECT_FALSE(is_due_after(0s)) << "nobody knows what was before";
    EXPECT_FALSE(is_due_after(60s, 1)) << "a job runs";
    EXPECT_FALSE(is_due_after(2s)) << "the next one may follow";
    EXPECT_FALSE(is_due_after(60s, 0, false)) << "no job is profiled here";

    EXPECT_TRUE(is_due_after(1s));
    EXPECT_FALSE(is_due_after(1s)) << "it is being measured";
    EXPECT_EQ(machine_.text(), "");
    EXPECT_TRUE(take(std::string("{\"bandwidth_bytes_per_s\": 2e10}\n")));

    EXPECT_EQ(machine_.text(), R"({"bandwidth_bytes_per_s":20000000000.0})");
    EXPECT_FALSE(is_due_after(60s));
}

TEST_F(ProfilerMachineTest, IsEndedWhereAnAttemptBeginsAndTriedAgain)
{
    EXPECT_FALSE(is_due_after(0s));
    ASSERT_TRUE(is_due_after(6s));
    EXPECT_FALSE(machine_.must_stop());
    EXPECT_FALSE(is_due_after(1s, 1));

    EXPECT_TRUE(machine_.must_stop());
    EXPECT_FALSE(take(std::string("{}")));
    EXPECT_FALSE(machine_.must_stop());

    EXPECT_EQ(machine_.text(), "");
    EXPECT_FALSE(is_due_after(1s));
    EXPECT_TRUE(is_due_after(6s)) << "tried again";
}

TEST_F(ProfilerMachineTest, IsNotMeasuredWhileOthersComputeOnTheHost)
{
    is_host_busy_ = true;
    EXPECT_FALSE(is_due_after(60s));
    EXPECT_FALSE(is_due_after(60s));

    is_host_busy_ = false;
    EXPECT_FALSE(is_due_after(1s));
    EXPECT_TRUE(is_due_after(6s));

    is_host_busy_ = true; // by the program itself
    EXPECT_FALSE(is_due_after(1s));
    EXPECT_FALSE(machine_.must_stop());
    EXPECT_TRUE(take(std::string("{}")));
}

TEST_F(ProfilerMachineTest, IsMeasuredAgainAfterADayAndKnownMeanwhile)
{
    EXPECT_FALSE(is_due_after(0s));
    ASSERT_TRUE(is_due_after(6s));
    ASSERT_TRUE(take(std::string(R"({"a":1})")));
    EXPECT_FALSE(is_due_after(23h));

    EXPECT_TRUE(is_due_after(2h));

    EXPECT_EQ(machine_.text(), R"({"a":1})");
    EXPECT_TRUE(take(std::string(R"({"a":2})")));
    EXPECT_EQ(machine_.text(), R"({"a":2})");
}

TEST_F(ProfilerMachineTest, IsMeasuredAnewWhereItHasChanged)
{
    EXPECT_FALSE(is_due_after(0s));
    ASSERT_TRUE(is_due_after(6s));
    ASSERT_TRUE(take(std::string(R"({"a":1})")));

    machine_.forget();

    EXPECT_EQ(machine_.text(), "");
    EXPECT_FALSE(machine_.must_stop());
    ASSERT_TRUE(is_due_after(1s)) << "before a day is over";

    machine_.forget(); // while it is measured
    EXPECT_TRUE(machine_.must_stop());
    EXPECT_FALSE(take(std::string(R"({"a":2})")));
    EXPECT_EQ(machine_.text(), "");
    ASSERT_TRUE(is_due_after(1s));
    EXPECT_FALSE(machine_.must_stop());
    EXPECT_TRUE(take(std::string(R"({"a":3})")));
    EXPECT_EQ(machine_.text(), R"({"a":3})");
}

TEST_F(ProfilerMachineTest, IsNotTriedForAnHourWhereTheProgramFails)
{
    for (const Result<std::string>& output :
         {Result<std::string>(Error{Errc::kUnavailable, "ended with 125"}), Result<std::string>(std::string("[1]"))}) {
        is_due_after(0s);
        ASSERT_TRUE(is_due_after(2h));
        EXPECT_FALSE(take(output));
        EXPECT_FALSE(is_due_after(30min));
        EXPECT_EQ(machine_.text(), "");
    }
}

/// Orders such a job, and has it started.
void start_profiled(AttemptBook& book, test::FakeExecutor& executor, std::vector<std::string> known_operators)
{
    const SteadyTime now{1h};
    AttemptOrder order = test::shell_order("true");
    order.profile = true;
    order.known_operators = std::move(known_operators);
    executor.views[order.attempt_id] = {RunPhase::kAlive, Timestamp()};
    EXPECT_TRUE(book.accept(order));
    EXPECT_TRUE(book.store_orders(now));
    book.advance(now);
}

TEST(ProfiledJobs, AreToldWhatIsKnownOfTheMachineWithTheLibrary)
{
    const test::TemporaryFolder folder;
    Spool spool = Spool::open(folder.path() / "spool.db").value();
    test::FakeExecutor executor;
    const SystemClock clock{};
    AttemptBook book(spool, executor, clock, test::core_plan(3), {});
    ASSERT_TRUE(book.load());
    EXPECT_FALSE(book.has_profiled());

    book.profile_on(R"({"a":1})");
    start_profiled(book, executor, {"dgemm"});
    book.match_with("[1]");
    start_profiled(book, executor, {});
    start_profiled(book, executor, {"dgemm"});

    EXPECT_TRUE(book.has_profiled());
    EXPECT_THAT(executor.libraries,
                testing::ElementsAre(R"({"machine":{"a":1}})", R"({"items":[1],"machine":{"a":1}})",
                                     R"({"items":[1],"known_operators":["dgemm"],"machine":{"a":1}})"));
}

} // namespace
} // namespace fathom::agent
