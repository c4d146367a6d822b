#include "core/decide/probing/background_pace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace fathom {
namespace {

constexpr double kLook_s = 0.25;

/// A host whose kernel gives background work more than half of a processor that a job wants, as between control groups
/// where priorities do not count; watched with ps: 60 to 70 %.
class Host {
  public:
    /// Lets `wanted` (0..1 by processor) be used by jobs for so long, while the work is on `processor`.
    void run(std::array<double, 2> wanted, std::size_t processor, double seconds)
    {
        for (double passed_s = 0; passed_s < seconds; passed_s += kLook_s) {
            const double own_s = pace_.may_run() ? std::max(0.65 * kLook_s, (1 - wanted[processor]) * kLook_s) : 0;
            std::array<double, 2> busy_s{};
            for (std::size_t i = 0; i < wanted.size(); ++i) {
                const double ours_s = i == processor ? own_s : 0;
                const double got_s = std::min(wanted[i] * kLook_s, kLook_s - ours_s);
                taken_s_ += wanted[i] * kLook_s - got_s;
                jobs_s_ += wanted[i] * kLook_s;
                busy_s[i] = got_s + ours_s;
            }
            done_s_ += own_s;
            pace_.next({kLook_s, busy_s, own_s, processor});
        }
    }
    double taken_share() const { return taken_s_ / jobs_s_; }
    double done_s() const { return done_s_; }

  private:
    BackgroundPace pace_;
    double taken_s_ = 0;
    double jobs_s_ = 0;
    double done_s_ = 0;
};

TEST(BackgroundPace, WhereEveryProcessorIsUsedItGetsOnAndTakesLessThanAHundredth)
{
    Host host;
    host.run({1, 1}, 0, 3600);

    EXPECT_GT(host.done_s(), 15) << "else what waits for it never ends on a host that is always used";
    EXPECT_LT(host.taken_share(), 0.01);
}

TEST(BackgroundPace, RunsWhereOneIsIdle)
{
    Host host;
    host.run({1, 0}, 1, 60);

    EXPECT_GT(host.done_s(), 59);
    EXPECT_EQ(host.taken_share(), 0);
}

TEST(BackgroundPace, PutOnAJobsProcessorItTakesLessThanAHundredth)
{
    // One processor is idle, and still the kernel runs it where the job is, each time.
    Host host;
    host.run({1, 0}, 0, 3600);

    EXPECT_GT(host.done_s(), 0);
    EXPECT_LT(host.taken_share(), 0.01);
}

TEST(BackgroundPace, AJobThatComesWhileItRunsLosesOneLook)
{
    Host host;
    host.run({0, 0}, 0, 10);
    host.run({1, 1}, 0, 60);

    EXPECT_LT(host.taken_share(), 0.01);
}

TEST(BackgroundPace, GoesOnWhenTheJobsHaveEnded)
{
    Host host;
    host.run({1, 0}, 0, 5);
    host.run({0, 0}, 0, 60);

    EXPECT_GT(host.done_s(), 30);
}

} // namespace
} // namespace fathom
