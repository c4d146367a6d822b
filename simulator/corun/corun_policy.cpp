#include "simulator/corun/corun_policy.hpp"

#include "core/decide/corun/decide_corun.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace fathom::simulation {
namespace {

/// So many of the waiting jobs are looked at, those that are expected to end first.
constexpr std::size_t kMaxLookedAt = 48;
/// What is inferred from pairs is inferred anew when so many times as many pairs are known.
constexpr double kRefitGrowth = 1.2;
/// A weight of progress that none of lower priority outweighs.
constexpr double kBeforeAllOthers = 1e6;
constexpr double kMinLeft_s = 1e-9; ///< decide_corun() takes nothing shorter

using Active = CorunActive;

bool by_arrival(const Active& a, const Active& b)
{
    if (a.is_high_priority != b.is_high_priority) return a.is_high_priority;
    return a.job < b.job; // jobs are numbered by arrival
}

bool by_length(const Active& a, const Active& b)
{
    if (a.is_high_priority != b.is_high_priority) return a.is_high_priority;
    if (a.left_s != b.left_s) return a.left_s < b.left_s;
    return a.job < b.job;
}

using ActiveOrder = bool (*)(const Active&, const Active&);

/// One job at a time, to its end.
class Exclusive : public CorunPolicy {
  public:
    explicit Exclusive(ActiveOrder comes_first) : comes_first_(comes_first) {}

    CorunStep next(const CorunView& view) override
    {
        if (!view.running.empty() || view.waiting.empty()) return {};
        return {{}, std::min_element(view.waiting.begin(), view.waiting.end(), comes_first_)->job};
    }

  private:
    ActiveOrder comes_first_;
};

/// One job at a time: that which is expected to end first; a shorter one pre-empts.
class ExclusiveShortestRemaining : public CorunPolicy {
  public:
    CorunStep next(const CorunView& view) override
    {
        if (view.waiting.empty()) return {};
        const Active& best = *std::min_element(view.waiting.begin(), view.waiting.end(), by_length);
        if (view.running.empty()) return {{}, best.job};
        const Active& running = view.running.front();
        const bool is_gain = best.is_high_priority != running.is_high_priority
                                 ? best.is_high_priority
                                 : best.left_s + 2 * view.world->preempt_s < running.left_s;
        if (!view.world->can_interrupt || !is_gain) return {};
        return {{running.job}, best.job};
    }
};

/// Whether it fits beside all that runs.
bool fits(const CorunView& view, const Active& candidate)
{
    return std::all_of(view.running.begin(), view.running.end(),
                       [&](const Active& running) { return view.world->shares.fits(candidate.kind, running.kind); });
}

/// Whatever is next and fits, as many as may run at the same time.
class SharedFirstCome : public CorunPolicy {
  public:
    CorunStep next(const CorunView& view) override
    {
        if (view.running.size() >= view.world->limit) return {};
        const Active* best = nullptr;
        for (const Active& candidate : view.waiting) {
            if (fits(view, candidate) && (best == nullptr || by_arrival(candidate, *best))) best = &candidate;
        }
        if (best == nullptr) return {};
        return {{}, best->job};
    }
};

/// What pairs of a world's kinds keep, as far as it was measured.
class LearnedPairs {
  public:
    explicit LearnedPairs(const CorunWorld& world) : world_(world)
    {
        for (std::size_t a = 0; a < world.kinds.size(); ++a) {
            for (std::size_t b = a; b < world.kinds.size(); ++b) {
                if (!world.shares.fits(a, b)) model_.exclude(member(a), member(b));
            }
        }
    }
    void observe(const CorunObservation& seen)
    {
        model_.add({.a = member(seen.a), .b = member(seen.b), .a_share = seen.a_share, .b_share = seen.b_share})
            .value();
        if (static_cast<double>(model_.pair_count()) < kRefitGrowth * static_cast<double>(fitted_pairs_)) return;
        if (model_.pair_count() == fitted_pairs_) return;
        model_.refit();
        fitted_pairs_ = model_.pair_count();
    }
    double share(std::size_t kind, std::size_t beside) const
    {
        return model_.expect(member(kind), member(beside)).share;
    }
    PairMember member(std::size_t kind) const { return {world_.kinds[kind].name, world_.kinds[kind].kernel_class}; }
    const PairModel& model() const { return model_; }

  private:
    const CorunWorld& world_;
    PairModel model_;
    std::size_t fitted_pairs_{};
};

/// The waiting job whose pair with what runs is expected to do most, from what was measured so far.
class GreedyBestPair : public CorunPolicy {
  public:
    explicit GreedyBestPair(const CorunWorld& world) : pairs_(world) {}

    CorunStep next(const CorunView& view) override
    {
        if (view.running.size() >= view.world->limit) return {};
        const Active* best = nullptr;
        double most = 0;
        for (const Active& candidate : view.waiting) {
            if (!fits(view, candidate)) continue;
            double sum = 1;
            for (const Active& running : view.running)
                sum = pairs_.share(candidate.kind, running.kind) + pairs_.share(running.kind, candidate.kind);
            const bool is_better = best == nullptr || candidate.is_high_priority > best->is_high_priority ||
                                   (candidate.is_high_priority == best->is_high_priority && sum > most);
            if (!is_better) continue;
            best = &candidate;
            most = sum;
        }
        if (best == nullptr) return {};
        return {{}, best->job};
    }
    void observe(const CorunObservation& seen) override { pairs_.observe(seen); }

  private:
    LearnedPairs pairs_;
};

/// decide_corun() on what was measured so far; a cycle of its figures is a second alone on the GPU. A job weighs as
/// much as there are jobs that end no earlier when the shortest goes first, itself and the next to come among them: so
/// many ends its progress brings forward.
class DecidedByCorun : public CorunPolicy {
  public:
    DecidedByCorun(const CorunWorld& world, const CorunPolicySettings& settings) : settings_(settings), pairs_(world) {}

    CorunStep next(const CorunView& view) override
    {
        weigh(view);
        CorunState state;
        state.settings = {view.world->limit, view.world->memory_decay, /*may_run_fewer=*/true};
        for (const Active& one : view.running)
            state.running.push_back(running_kernel(view, one));
        state.waiting = waiting_kernels(view);
        const CorunDecision decision = decide_corun(state, pairs_.model()).value();
        CorunStep step;
        if (decision.action == CorunAction::kKeep) return step;
        if (!decision.launch.empty()) step.launch = job_of(decision.launch);
        for (const std::string& victim : decision.victims)
            step.victims.push_back(job_of(victim));
        return step;
    }
    void observe(const CorunObservation& seen) override { pairs_.observe(seen); }

  private:
    static std::string id_of(std::size_t job) { return fmt::format("{:012}", job); }
    static std::size_t job_of(const std::string& id) { return std::stoull(id); }

    /// Expected lengths of all jobs by priority, each ascending, and whether one of high priority is late.
    void weigh(const CorunView& view)
    {
        lengths_s_[0].clear();
        lengths_s_[1].clear();
        some_is_late_ = false;
        for (const std::span<const Active> jobs : {view.running, view.waiting}) {
            for (const Active& one : jobs) {
                lengths_s_[one.is_high_priority ? 1 : 0].push_back(one.left_s);
                some_is_late_ = is_late(one, view.now_s) || some_is_late_;
            }
        }
        for (std::vector<double>& lengths_s : lengths_s_)
            std::sort(lengths_s.begin(), lengths_s.end());
    }
    /// Whether a job of high priority has lost more of its time than it may.
    bool is_late(const Active& one, double now_s)
    {
        if (!one.is_high_priority) return false;
        const double whole_s = whole_s_.try_emplace(one.job, one.left_s).first->second;
        const double delay_s = now_s - one.arrival_s - (whole_s - one.left_s);
        return delay_s > settings_.most_delay * whole_s;
    }
    double weight(const Active& one) const
    {
        const std::vector<double>& lengths_s = lengths_s_[one.is_high_priority ? 1 : 0];
        const auto later =
            1 + static_cast<double>(lengths_s.end() - std::lower_bound(lengths_s.begin(), lengths_s.end(), one.left_s));
        if (!one.is_high_priority) return later;
        const double factor = std::max(settings_.high_priority_weight, some_is_late_ ? kBeforeAllOthers : 0);
        return std::min(factor * (later + static_cast<double>(lengths_s_[0].size())), kMaxWeight);
    }
    RunningKernel running_kernel(const CorunView& view, const Active& one) const
    {
        double share = 1;
        for (const Active& other : view.running) {
            if (other.job != one.job) share *= pairs_.share(one.kind, other.kind);
        }
        RunningKernel kernel;
        kernel.id = id_of(one.job);
        kernel.kind = view.world->kinds[one.kind].name;
        kernel.kernel_class = view.world->kinds[one.kind].kernel_class;
        kernel.weight = weight(one);
        kernel.instructions = std::max(one.stage_left_s, kMinLeft_s);
        kernel.ipc_alone = 1;
        kernel.ipc = share;
        kernel.preempt_cycles = view.world->can_interrupt ? view.world->preempt_s : kMaxInstructions;
        return kernel;
    }
    /// Those of the largest weight.
    std::vector<WaitingKernel> waiting_kernels(const CorunView& view) const
    {
        std::vector<const Active*> first;
        for (const Active& one : view.waiting)
            first.push_back(&one);
        const std::size_t count = std::min(kMaxLookedAt, first.size());
        std::partial_sort(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(count), first.end(),
                          [](const Active* a, const Active* b) { return by_length(*a, *b); });
        std::vector<WaitingKernel> kernels;
        for (std::size_t i = 0; i < count; ++i) {
            const Active& one = *first[i];
            kernels.push_back({.id = id_of(one.job),
                               .kind = view.world->kinds[one.kind].name,
                               .kernel_class = view.world->kinds[one.kind].kernel_class,
                               .weight = weight(one),
                               .was_preempted = one.was_preempted,
                               .order = static_cast<std::int64_t>(one.job)});
        }
        return kernels;
    }

    CorunPolicySettings settings_;
    LearnedPairs pairs_;
    std::array<std::vector<double>, 2> lengths_s_; ///< of low and of high priority
    std::map<std::size_t, double> whole_s_;        ///< expected lengths of jobs of high priority, by job
    bool some_is_late_{};
};

using World = const CorunWorld&;
using Settings = const CorunPolicySettings&;

constexpr std::array<CorunPolicyName, 6> kCorunPolicies{{
    {"exclusive_fifo", "one job at a time, first come first served",
     [](World, Settings) -> std::unique_ptr<CorunPolicy> { return std::make_unique<Exclusive>(by_arrival); }},
    {"exclusive_shortest", "one job at a time, the shortest first",
     [](World, Settings) -> std::unique_ptr<CorunPolicy> { return std::make_unique<Exclusive>(by_length); }},
    {"exclusive_shortest_remaining", "one job at a time, a shorter one pre-empts",
     [](World, Settings) -> std::unique_ptr<CorunPolicy> { return std::make_unique<ExclusiveShortestRemaining>(); }},
    {"shared_fifo", "first come first served into each place, without pre-emption",
     [](World, Settings) -> std::unique_ptr<CorunPolicy> { return std::make_unique<SharedFirstCome>(); }},
    {"greedy_best_pair", "the best pair as measured so far, without pre-emption",
     [](World world, Settings) -> std::unique_ptr<CorunPolicy> { return std::make_unique<GreedyBestPair>(world); }},
    {"fathom", "pairs as measured so far, shortest first, pre-empting where it pays",
     [](World world, Settings settings) -> std::unique_ptr<CorunPolicy> {
         return std::make_unique<DecidedByCorun>(world, settings);
     }},
}};

} // namespace

std::span<const CorunPolicyName> corun_policies()
{
    return kCorunPolicies;
}

const CorunPolicyName* find_corun_policy(std::string_view name)
{
    const auto found = std::find_if(kCorunPolicies.begin(), kCorunPolicies.end(),
                                    [&](const CorunPolicyName& policy) { return policy.name == name; });
    return found == kCorunPolicies.end() ? nullptr : &*found;
}

} // namespace fathom::simulation
