// Jobs of several processes that wait for each other on several GPUs.
#include "core/decide/gpu_memory/turns.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace fathom::gpu {
namespace {

using Orders = std::vector<TurnOrder>;

constexpr TurnSettings kSettings{.slice_s = 1, .most_slice_s = 5, .most_wait_s = 20, .most_overrun_s = 40};

/// Two jobs of two processes that have the same two GPUs, in another order.
Turns two_jobs()
{
    Turns turns(kSettings);
    turns.add("a0", {.gpus = {"gpu-0"}, .group = "a"}, 0);
    turns.add("a1", {.gpus = {"gpu-1"}, .group = "a"}, 0);
    turns.add("b0", {.gpus = {"gpu-1"}, .group = "b"}, 0);
    turns.add("b1", {.gpus = {"gpu-0"}, .group = "b"}, 0);
    return turns;
}

TEST(GpuTurnGroups, AllOfAGroupHaveTheTurnTogetherWhoeverComesFirst)
{
    Turns turns = two_jobs();
    turns.want("a0", 0);
    turns.want("b0", 0);
    EXPECT_EQ(turns.decide(0), (Orders{{"a0", TurnAction::kStart}}));
    turns.want("b1", 0.1);
    turns.want("a1", 0.2); // last, and on a GPU that b0 waits for

    EXPECT_EQ(turns.decide(0.2), (Orders{{"a1", TurnAction::kStart}}));
    EXPECT_EQ(turns.decide(1),
              (Orders{{"a0", TurnAction::kEndAfterIteration}, {"a1", TurnAction::kEndAfterIteration}}));
    turns.give_back("a0", 1.1);
    EXPECT_EQ(turns.decide(1.1), Orders{}) << "one of the group is left";
    turns.give_back("a1", 1.2);
    EXPECT_EQ(turns.decide(1.2), (Orders{{"b0", TurnAction::kStart}, {"b1", TurnAction::kStart}}));
}

TEST(GpuTurnGroups, NoneIsHeldBackBetweenKernelsButAfterTheLongestWait)
{
    Turns turns = two_jobs();
    turns.want("a0", 0);
    turns.want("b0", 0);
    (void)turns.decide(0);
    EXPECT_EQ(turns.decide(1), (Orders{{"a0", TurnAction::kEndAfterIteration}}));

    EXPECT_EQ(turns.decide(6), Orders{}) << "the longest slice is over";
    EXPECT_EQ(turns.next_moment_s(), 21);
    EXPECT_EQ(turns.decide(21), (Orders{{"a0", TurnAction::kEndNow}}));
    EXPECT_EQ(turns.decide(21 + 50), (Orders{{"a0", TurnAction::kEndByForce}}));
}

TEST(GpuTurnGroups, WhoGaveTheTurnBackTooEarlyGetsItAgainForWhatTheOthersWaitFor)
{
    Turns turns = two_jobs();
    for (const char* const one : {"a0", "a1", "b0", "b1"})
        turns.want(one, 0);
    (void)turns.decide(0);
    (void)turns.decide(1);
    // a0 is an iteration ahead: in a kernel it waits for what a1 does in its next one.
    turns.note_progress("a1", 7);
    turns.give_back("a1", 1.5);
    turns.want("a1", 1.5);
    EXPECT_EQ(turns.decide(1.7), Orders{}) << "nothing is known that a0 waits for";
    turns.note_progress("a0", 9);

    EXPECT_EQ(turns.decide(1.7), (Orders{{"a1", TurnAction::kStart, 9}, {"a1", TurnAction::kEndAfterIteration}}));
    turns.note_progress("a1", 9);
    turns.give_back("a1", 1.9);
    turns.want("a1", 1.9);
    EXPECT_EQ(turns.decide(3), Orders{}) << "it has done all that a0 waits for";
    turns.give_back("a0", 3.1);
    EXPECT_EQ(turns.decide(3.1).front(), (TurnOrder{"b0", TurnAction::kStart}));
}

TEST(GpuTurnGroups, WhereNothingIsKnownItGetsTheTurnAgainAfterAWhile)
{
    Turns turns = two_jobs();
    for (const char* const one : {"a0", "a1", "b0"})
        turns.want(one, 0);
    (void)turns.decide(0);
    (void)turns.decide(1);
    turns.give_back("a1", 1.5);
    turns.want("a1", 2);

    EXPECT_EQ(turns.next_moment_s(), 2 + kGroupTimeout_s);
    EXPECT_EQ(turns.decide(2 + kGroupTimeout_s),
              (Orders{{"a1", TurnAction::kStart}, {"a1", TurnAction::kEndAfterIteration}}));
}

/// Those that give the turn back and get it again in a circle are held up no longer than one that hangs.
TEST(GpuTurnGroups, ACircleEndsByForce)
{
    Turns turns = two_jobs();
    for (const char* const one : {"a0", "a1", "b0"})
        turns.want(one, 0);
    bool is_forced = false;
    double now = 0;
    std::int64_t progress = 0;
    for (; now < 1000 && !is_forced; now += 0.5) {
        for (const TurnOrder& order : turns.decide(now)) {
            is_forced |= order.action == TurnAction::kEndByForce;
            if (order.action != TurnAction::kEndNow) continue;
            // Never both at once: the other one has always a reason to go on.
            const std::string other = order.client == "a0" ? "a1" : "a0";
            if (!turns.has_turn(other)) continue;
            turns.note_progress(other, ++progress);
            turns.give_back(order.client, now);
            turns.want(order.client, now);
        }
    }
    EXPECT_TRUE(is_forced);
    EXPECT_LT(now, 21 + 2 * 50 + 10);
}

/// They had begun before anybody knew that they wait for each other.
TEST(GpuTurnGroups, GroupsThatFormWhileBothHaveAPartOfTheGpusLetGo)
{
    Turns turns(kSettings);
    turns.add("a0", {.gpus = {"gpu-0"}}, 0);
    turns.add("b0", {.gpus = {"gpu-1"}}, 0);
    turns.add("a1", {.gpus = {"gpu-1"}}, 0);
    turns.add("b1", {.gpus = {"gpu-0"}}, 0);
    turns.want("a0", 0);
    turns.want("b0", 0);
    EXPECT_EQ(turns.decide(0), (Orders{{"a0", TurnAction::kStart}, {"b0", TurnAction::kStart}}));
    turns.want("a1", 0);
    turns.want("b1", 0);
    turns.set_group("a0", "a", 0.1);
    turns.set_group("b0", "b", 0.1);
    EXPECT_EQ(turns.decide(0.1), Orders{});
    turns.set_group("a1", "a", 0.2);
    turns.set_group("b1", "b", 0.2);

    EXPECT_EQ(turns.decide(0.2), (Orders{{"a0", TurnAction::kEndNow}, {"b0", TurnAction::kEndNow}}));
    // Each is in a kernel already that waits for the other process of its job.
    EXPECT_EQ(turns.decide(10.1), Orders{});
    const Orders orders = turns.decide(10.2);
    EXPECT_TRUE(std::any_of(orders.begin(), orders.end(), [](const TurnOrder& one) {
        return one.action == TurnAction::kStart && (one.client == "a1" || one.client == "b1");
    }));
}

TEST(GpuTurnGroups, ThoseThatShareAGpuTakeTurnsThereByThemselves)
{
    Turns turns(kSettings);
    turns.add("a0", {.gpus = {"gpu-0"}, .group = "a"}, 0);
    turns.add("a1", {.gpus = {"gpu-0", "gpu-1"}, .group = "a"}, 0);
    turns.want("a0", 0);
    turns.want("a1", 0);

    EXPECT_EQ(turns.decide(0), (Orders{{"a0", TurnAction::kStart}}));
    EXPECT_EQ(turns.decide(1), (Orders{{"a0", TurnAction::kEndAfterIteration}}));
    EXPECT_EQ(turns.decide(5), (Orders{{"a0", TurnAction::kEndNow}}));
}

TEST(GpuTurnGroups, WhoEndsLeavesItsGpusToOthers)
{
    Turns turns = two_jobs();
    turns.want("a0", 0);
    turns.want("b0", 0);
    (void)turns.decide(0);

    turns.remove("a1", 0.5); // nobody of job a is left there

    EXPECT_EQ(turns.decide(0.5), Orders{}) << "b1's GPU is a0's still";
    turns.remove("a0", 0.6);
    EXPECT_EQ(turns.decide(0.6), (Orders{{"b0", TurnAction::kStart}}));
}

/// A process of a job that trains: its kernels wait for those of all others of the job in each collective call.
struct Process {
    std::string name;
    int job{};
    std::string gpu;
    bool has_turn{};
    bool is_to_end{};          ///< with its iteration
    bool is_giving_back{};     ///< waits for its work
    std::int64_t until{};      ///< as TurnOrder::until_progress
    std::int64_t launched{};   ///< collective calls
    std::int64_t iterations{}; ///< that its host has ended
    int left{};                ///< steps of 0.1 s to the end of the iteration
};

/// A model of what the preloaded libraries of all processes do, in steps of 0.1 s.
class Model {
  public:
    Model(std::vector<Process> processes, std::uint32_t seed) : processes_(std::move(processes)), random_(seed)
    {
        for (Process& one : processes_) {
            one.left = iteration_steps();
            turns_.add(one.name, {.gpus = {one.gpu}, .group = "job " + std::to_string(one.job)}, 0);
            turns_.want(one.name, 0);
        }
    }

    void run(double for_s)
    {
        for (const double until_s = now_ + for_s; now_ < until_s; now_ += 0.1) {
            for (const TurnOrder& order : turns_.decide(now_))
                obey(order);
            check_gpus();
            for (Process& one : processes_)
                step(one, now_);
        }
    }
    std::int64_t least_iterations() const
    {
        std::int64_t least = processes_.front().iterations;
        for (const Process& one : processes_)
            least = std::min(least, one.iterations);
        return least;
    }

  private:
    int iteration_steps() { return std::uniform_int_distribution<int>(1, 4)(random_); }

    Process& find(const std::string& name)
    {
        return *std::find_if(processes_.begin(), processes_.end(), [&](const auto& one) { return one.name == name; });
    }

    void obey(const TurnOrder& order)
    {
        Process& one = find(order.client);
        RC_ASSERT(order.action != TurnAction::kEndByForce);
        if (order.action == TurnAction::kStart) {
            one.has_turn = true;
            one.is_to_end = one.is_giving_back = false;
            one.until = order.until_progress;
        } else if (order.action == TurnAction::kEndAfterIteration) {
            one.is_to_end = true;
            turns_.note_progress(one.name, one.launched);
        } else {
            begin_to_give_back(one);
        }
    }

    void begin_to_give_back(Process& one)
    {
        if (!one.has_turn || one.is_giving_back) return;
        one.is_giving_back = true;
        turns_.note_progress(one.name, one.launched);
    }

    /// Whether all that it launched has ended.
    bool is_idle(const Process& one) const
    {
        return std::all_of(processes_.begin(), processes_.end(), [&](const Process& other) {
            return other.job != one.job || other.launched >= one.launched;
        });
    }

    void step(Process& one, double now)
    {
        if (!one.has_turn) return;
        if (!one.is_giving_back) work(one);
        if (!one.is_giving_back || !is_idle(one)) return;
        one.has_turn = false;
        turns_.give_back(one.name, now);
        turns_.want(one.name, now);
    }

    /// Its host may be ahead of its GPU by so many collective calls, as that of a framework is.
    void work(Process& one)
    {
        constexpr std::int64_t kAhead = 2;
        if (one.left == 0) {
            ++one.iterations;
            one.left = iteration_steps();
            if (one.is_to_end) begin_to_give_back(one);
            return;
        }
        std::int64_t done = one.launched;
        for (const Process& other : processes_) {
            if (other.job == one.job) done = std::min(done, other.launched);
        }
        if (one.launched - done >= kAhead) return; // its host waits
        if (one.left == 1) {
            if (one.until > 0 && one.launched >= one.until) {
                begin_to_give_back(one);
                return;
            }
            ++one.launched;
            if (one.is_to_end) turns_.note_progress(one.name, one.launched);
        }
        --one.left;
    }

    void check_gpus() const
    {
        std::map<std::string, int> holders;
        for (const Process& one : processes_) {
            if (!one.has_turn) continue;
            const auto [found, is_new] = holders.emplace(one.gpu, one.job);
            RC_ASSERT(is_new || found->second == one.job);
        }
    }

    Turns turns_{kSettings};
    std::vector<Process> processes_;
    std::mt19937 random_;
    double now_ = 0;
};

/// No two jobs have a GPU at once, none hangs, and each gets on.
RC_GTEST_PROP(GpuTurnGroupsProperty, NoDeadlockBetweenJobsThatShareGpusInAnyOrder, ())
{
    const int gpu_count = *rc::gen::inRange(1, 5);
    const int job_count = *rc::gen::inRange(1, 5);
    std::vector<Process> processes;
    for (int job = 0; job < job_count; ++job) {
        std::vector<int> gpus;
        for (int gpu = 0; gpu < gpu_count; ++gpu)
            gpus.push_back(gpu);
        const int ranks = *rc::gen::inRange(1, gpu_count + 1);
        for (int rank = 0; rank < ranks; ++rank) {
            const auto taken = gpus.begin() + *rc::gen::inRange(0, static_cast<int>(gpus.size()));
            processes.push_back({.name = std::to_string(job) + "." + std::to_string(rank),
                                 .job = job,
                                 .gpu = "gpu-" + std::to_string(*taken)});
            gpus.erase(taken);
        }
    }
    Model model(std::move(processes), *rc::gen::arbitrary<std::uint32_t>());

    model.run(120);
    const std::int64_t half = model.least_iterations();
    RC_ASSERT(half > 0);
    model.run(120);
    RC_ASSERT(model.least_iterations() > half);
}

} // namespace
} // namespace fathom::gpu
