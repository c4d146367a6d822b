#include "simulator/engine/center_queue.hpp"
#include "simulator/world/draw.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <queue>

namespace fathom::simulation {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

struct QueuedJob {
    double arrival_s{};
    std::int64_t unit_count{1};
    double limit_s{};
    double run_s{}; ///< really
};

/// Runs jobs, by arrival, through a queue. What the queue does at each moment can be looked at.
class Bench {
  public:
    explicit Bench(std::int64_t units) : free_units_(units) {}
    virtual ~Bench() = default;

    /// When each started; infinite: never.
    std::vector<double> run(const std::vector<QueuedJob>& jobs)
    {
        starts_s_.assign(jobs.size(), kNever);
        std::size_t next = 0;
        while (next < jobs.size() || !ends_.empty()) {
            const double arrival_s = next < jobs.size() ? jobs[next].arrival_s : kNever;
            const double now_s = ends_.empty() ? arrival_s : std::min(arrival_s, ends_.top().first);
            for (; !ends_.empty() && ends_.top().first <= now_s; ends_.pop()) {
                queue_.end(ends_.top().second);
                free_units_ += jobs[ends_.top().second].unit_count;
                note_end(ends_.top().second);
            }
            for (; next < jobs.size() && jobs[next].arrival_s <= now_s; ++next) {
                queue_.push({next, jobs[next].unit_count, jobs[next].limit_s, 1});
                note_push(next);
            }
            for (const CenterQueue::Waiting& one : queue_.start(now_s, free_units_, free_for_s(now_s))) {
                starts_s_[one.job] = now_s;
                free_units_ -= one.unit_count;
                EXPECT_GE(free_units_, 0);
                ends_.push({now_s + jobs[one.job].run_s, one.job});
                note_start(one.job, now_s);
            }
            look(now_s);
        }
        return starts_s_;
    }

  protected:
    virtual double free_for_s(double /*now_s*/) const { return kNever; }
    virtual void note_push(std::size_t /*job*/) {}
    virtual void note_start(std::size_t /*job*/, double /*now_s*/) {}
    virtual void note_end(std::size_t /*job*/) {}
    virtual void look(double /*now_s*/) {}

    std::int64_t free_units() const { return free_units_; }
    const CenterQueue& queue() const { return queue_; }
    const std::vector<double>& starts_s() const { return starts_s_; }

  private:
    using End = std::pair<double, std::size_t>;
    CenterQueue queue_;
    std::int64_t free_units_;
    std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
    std::vector<double> starts_s_;
};

// By hand, four units:
// job  arrives  units  limit  really
//  0      0       2      10     10     starts at 0
//  1      1       4       5      5     wants all: reserved for 10
//  2      2       2       8      8     fits now, and ends by 10: starts at 2
//  3      3       1       8      8     no unit is free; at 10 the first has all; starts at 15
//  4      4       2       1      1     the same: starts at 15
TEST(CenterQueue, HandComputedSchedule)
{
    const std::vector<QueuedJob> jobs{{0, 2, 10, 10}, {1, 4, 5, 5}, {2, 2, 8, 8}, {3, 1, 8, 8}, {4, 2, 1, 1}};
    EXPECT_THAT(Bench(4).run(jobs), testing::ElementsAre(0, 10, 2, 15, 15));
}

// Three of four units are busy until 10; the first waiting job wants two of them, so that two are to spare then. A long
// job of one unit takes the free one and one to spare; a second long one finds none free.
TEST(CenterQueue, BackfillsUnitsToSpareWithLongJobs)
{
    const std::vector<QueuedJob> jobs{{0, 3, 10, 10}, {1, 2, 5, 5}, {2, 1, 100, 100}, {3, 1, 100, 100}};
    EXPECT_THAT(Bench(4).run(jobs), testing::ElementsAre(0, 10, 2, 10));
}

TEST(CenterQueue, JobsThatEndEarlyLetTheFirstStartEarly)
{
    const std::vector<QueuedJob> jobs{{0, 2, 100, 10}, {1, 2, 100, 10}, {2, 2, 100, 10}};
    EXPECT_THAT(Bench(2).run(jobs), testing::ElementsAre(0, 10, 20));
}

class ClosedBetween100And200 : public Bench {
  public:
    using Bench::Bench;

  private:
    double free_for_s(double now_s) const override { return now_s >= 200 ? kNever : std::max(100 - now_s, 0.0); }
};

// The long job waits for the closure's end without holding up the short one.
TEST(CenterQueue, NothingRunsIntoAClosure)
{
    const std::vector<QueuedJob> jobs{{0, 1, 150, 150}, {1, 1, 50, 50}, {60, 1, 50, 50}, {200, 1, 10, 10}};
    EXPECT_THAT(ClosedBetween100And200(1).run(jobs), testing::ElementsAre(200, 1, 350, 400));
}

TEST(CenterQueue, AJobThatNeedsABrokenUnitHoldsUpNobody)
{
    CenterQueue queue;
    queue.push({.job = 0, .unit_count = 4, .limit_s = 10, .work = 40});
    queue.push({.job = 1, .unit_count = 3, .limit_s = 1000, .work = 3000});

    const std::vector<CenterQueue::Waiting> with_three = queue.start(0, 3, kNever);
    ASSERT_EQ(with_three.size(), 1U);
    EXPECT_EQ(with_three[0].job, 1U);

    EXPECT_TRUE(queue.start(10, 1, kNever).empty()); // the fourth is mended
    queue.end(1);
    const std::vector<CenterQueue::Waiting> with_all = queue.start(20, 4, kNever);
    ASSERT_EQ(with_all.size(), 1U);
    EXPECT_EQ(with_all[0].job, 0U);
}

TEST(CenterQueue, ReportsQueueAndWorkThatIsLeft)
{
    CenterQueue queue;
    queue.push({.job = 7, .unit_count = 2, .limit_s = 100, .work = 400});
    queue.push({.job = 8, .unit_count = 3, .limit_s = 10, .work = 30});
    queue.push({.job = 9, .unit_count = 1, .limit_s = 50, .work = 5});
    EXPECT_EQ(queue.queued_jobs(), 3);
    EXPECT_EQ(queue.queued_units(), 6);
    EXPECT_DOUBLE_EQ(queue.queued_work(), 435);

    EXPECT_EQ(queue.start(0, 3, kNever).size(), 2U); // the third needs less time than the second waits

    EXPECT_EQ(queue.queued_jobs(), 1);
    EXPECT_EQ(queue.queued_units(), 3);
    EXPECT_DOUBLE_EQ(queue.queued_work(), 30);
    EXPECT_DOUBLE_EQ(queue.running_work(0), 405);
    EXPECT_DOUBLE_EQ(queue.running_work(25), 302.5);
    EXPECT_DOUBLE_EQ(queue.running_work(75), 100); // job 9 is late: it has nothing left
    queue.end(7);
    EXPECT_NEAR(queue.running_work(25), 2.5, 1e-12);
    queue.end(9);
    EXPECT_EQ(queue.running_work(25), 0);
}

std::vector<QueuedJob> random_jobs(std::uint64_t seed, std::size_t count, std::int64_t units)
{
    Draw draw(seed);
    std::vector<QueuedJob> jobs;
    double now_s = 0;
    for (std::size_t i = 0; i < count; ++i) {
        now_s += std::floor(draw.exponential(20)); // some at one moment
        QueuedJob job{.arrival_s = now_s};
        job.unit_count = 1 + static_cast<std::int64_t>(draw.uniform() * draw.uniform() * static_cast<double>(units));
        job.limit_s = 1 + std::floor(draw.exponential(100));
        job.run_s = draw.uniform() < 0.3 ? job.limit_s : std::max(1.0, std::floor(job.limit_s * draw.uniform()));
        jobs.push_back(job);
    }
    return jobs;
}

/// EASY backfilling in the plainest way: all are looked at, every time.
class AgainstPlainRule : public Bench {
  public:
    AgainstPlainRule(std::int64_t units, const std::vector<QueuedJob>& jobs) : Bench(units), jobs_(&jobs) {}
    std::int64_t backfilled() const { return backfilled_; }

  private:
    void note_push(std::size_t job) override { waiting_.push_back(job); }
    void note_end(std::size_t job) override { limits_at_s_.erase(job); }
    void note_start(std::size_t job, double now_s) override
    {
        const auto place = std::find(waiting_.begin(), waiting_.end(), job);
        ASSERT_NE(place, waiting_.end());
        if (place != waiting_.begin()) ++backfilled_;
        if (const auto promised = promised_s_.find(job); promised != promised_s_.end())
            EXPECT_LE(now_s, promised->second) << "job " << job << " was delayed";
        waiting_.erase(place);
        limits_at_s_[job] = now_s + (*jobs_)[job].limit_s;
    }
    /// Nothing more could have started; and the first that waits is promised when it will.
    void look(double now_s) override
    {
        if (waiting_.empty()) return;
        const QueuedJob& first = (*jobs_)[waiting_.front()];
        std::int64_t units = free_units();
        ASSERT_LT(units, first.unit_count);
        std::multimap<double, std::int64_t> releases;
        for (const auto& [job, limit_at_s] : limits_at_s_)
            releases.emplace(limit_at_s, (*jobs_)[job].unit_count);
        double at_s = now_s;
        for (const auto& [release_s, released] : releases) {
            if (units >= first.unit_count && release_s > at_s) break;
            at_s = release_s;
            units += released;
        }
        const auto [promise, is_new] = promised_s_.emplace(waiting_.front(), at_s);
        EXPECT_LE(at_s, promise->second);
        for (std::size_t i = 1; i < waiting_.size(); ++i) {
            const QueuedJob& later = (*jobs_)[waiting_[i]];
            const bool delays = now_s + later.limit_s > at_s && later.unit_count > units - first.unit_count;
            EXPECT_TRUE(delays || later.unit_count > free_units()) << "job " << waiting_[i] << " could have started";
        }
        EXPECT_EQ(queue().queued_jobs(), static_cast<std::int64_t>(waiting_.size()));
    }

    const std::vector<QueuedJob>* jobs_;
    std::vector<std::size_t> waiting_;
    std::map<std::size_t, double> limits_at_s_;
    std::map<std::size_t, double> promised_s_;
    std::int64_t backfilled_ = 0;
};

TEST(CenterQueue, NeverDelaysTheFirstAndLeavesNothingOutThatCouldStart)
{
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const std::int64_t units = 4 + static_cast<std::int64_t>(seed) * 2;
        const std::vector<QueuedJob> jobs = random_jobs(seed, 600, units);
        AgainstPlainRule bench(units, jobs);
        const std::vector<double> starts_s = bench.run(jobs);
        EXPECT_TRUE(std::none_of(starts_s.begin(), starts_s.end(), [](double s) { return s == kNever; }));
        EXPECT_GT(bench.backfilled(), 10) << "seed " << seed;
    }
}

// A burst: the queue is looked through once, not at every arrival and end.
TEST(CenterQueue, TenThousandWaitingJobsAreNoBurden)
{
    constexpr std::size_t kJobs = 20000;
    Draw draw(3);
    std::vector<QueuedJob> jobs;
    for (std::size_t i = 0; i < kJobs; ++i) {
        const double limit_s = 1000 + std::floor(draw.exponential(1000));
        jobs.push_back({static_cast<double>(i), 1 + static_cast<std::int64_t>(draw.uniform() * 64), limit_s, limit_s});
    }
    const std::vector<double> starts_s = Bench(128).run(jobs);
    EXPECT_TRUE(std::none_of(starts_s.begin(), starts_s.end(), [](double s) { return s == kNever; }));
}

} // namespace
} // namespace fathom::simulation
