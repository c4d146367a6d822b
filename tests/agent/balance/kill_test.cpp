// A process that balances a unit is killed, and what it has set is put back.
#include "tests/agent/balance/balance_fixture.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

using namespace test;

constexpr double kPeriod_s = 0.05;

/// A process of its own that balances the host's unit, until it is told to stop by a byte, or killed.
class BalancingProcess {
  public:
    explicit BalancingProcess(const BalancedHost& host)
    {
        if (::pipe(stop_) != 0) throw std::runtime_error("no pipe");
        process_ = ::fork();
        if (process_ != 0) return;
        NoSubUnits sub_units;
        BalanceService service(host.config(), host.places(), host.trace(), sub_units);
        ::_exit(run_balance(service, kPeriod_s, stop_[0]) ? 0 : 1);
    }
    ~BalancingProcess()
    {
        ::kill(process_, SIGKILL);
        wait();
        ::close(stop_[0]);
        ::close(stop_[1]);
    }
    BalancingProcess(const BalancingProcess&) = delete;
    BalancingProcess& operator=(const BalancingProcess&) = delete;

    void kill() const { ::kill(process_, SIGKILL); }
    void stop() const { ASSERT_EQ(::write(stop_[1], "s", 1), 1); }
    /// Its exit code; -1 when it was killed.
    int wait() const
    {
        int status = 0;
        if (::waitpid(process_, &status, 0) != process_) return -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

  private:
    int stop_[2]{};
    pid_t process_{};
};

TEST(BalanceProcessKilled, IsPutBackByTheNextStart)
{
    const BalancedHost host;
    host.run_job();
    {
        const BalancingProcess process(host);
        ASSERT_TRUE(host.compute_until([&] { return host.is_changed(); }));
        process.kill();
        EXPECT_EQ(process.wait(), -1);
    }
    EXPECT_TRUE(host.is_changed()) << "the kill left it so";
    ASSERT_TRUE(is_there(host.journal()));

    NoSubUnits none;
    put_back_earlier_changes(host.journal(), none);

    EXPECT_EQ(read(host.limit(0)), "1500000");
    EXPECT_EQ(read(host.limit(1)), "1500000");
    EXPECT_FALSE(is_there(host.journal()));
}

TEST(BalanceProcessKilled, AtAnyMomentLeavesNothingThatTheNextStartDoesNotPutBack)
{
    for (int delay_ms = 0; delay_ms < 200; delay_ms += 17) {
        const BalancedHost host;
        host.run_job();
        {
            const BalancingProcess process(host);
            const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(delay_ms);
            host.compute_until([&] { return std::chrono::steady_clock::now() >= until; });
        } // killed
        NoSubUnits none;
        put_back_earlier_changes(host.journal(), none);
        for (const int cpu : {0, 1})
            EXPECT_EQ(read(host.limit(cpu)).substr(0, 7), "1500000") << delay_ms;
        EXPECT_FALSE(is_there(host.journal()));
    }
}

TEST(BalanceProcessStopped, PutsBackBeforeItEnds)
{
    const BalancedHost host;
    host.run_job();
    const BalancingProcess process(host);
    ASSERT_TRUE(host.compute_until([&] { return host.is_changed(); }));
    process.stop();
    EXPECT_EQ(process.wait(), 0);
    EXPECT_EQ(read(host.limit(0)), "1500000");
    EXPECT_FALSE(is_there(host.journal()));
}

TEST(BalanceProcessOfAnotherStart, TakesUpWhereNothingIsChanged)
{
    const BalancedHost host;
    const UnitJob job = host.run_job();
    {
        const BalancingProcess process(host);
        ASSERT_TRUE(host.compute_until([&] { return host.is_changed(); }));
    } // killed
    host.end_job(job);
    const BalancingProcess next(host);
    EXPECT_TRUE(host.compute_until([&] { return read(host.limit(0)) == "1500000" && !is_there(host.journal()); }));
}

} // namespace
} // namespace fathom::agent
