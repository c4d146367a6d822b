#include "core/decide/corun/decide_corun.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>

namespace fathom {
namespace {

using RunningSet = std::vector<const RunningKernel*>;
using WaitingSet = std::vector<const WaitingKernel*>;

/// A step that could be taken.
struct Candidate {
    RunningSet victims; ///< by id
    const WaitingKernel* launch{};
    double combined_then{};
    std::optional<PreemptionFigures> figures;

    /// What is gained by pre-empting, in cycles of normalized IPC.
    double gain() const { return figures ? figures->after - figures->before : 0; }
};

/// What pairs are known by, whether it runs or waits.
struct Member {
    const std::string* id{};
    PairMember pair;
    double weight{};
};

Member member_of(const RunningKernel& kernel)
{
    return {&kernel.id, {kernel.kind, kernel.kernel_class}, kernel.weight};
}

Member member_of(const WaitingKernel& kernel)
{
    return {&kernel.id, {kernel.kind, kernel.kernel_class}, kernel.weight};
}

/// The members of a combination in order of their ids, so that sums do not depend on the order of the input.
std::vector<Member> members_of(const RunningSet& running, const RunningSet& without, const WaitingKernel* with)
{
    std::vector<Member> members;
    members.reserve(running.size() + 1);
    for (const RunningKernel* kernel : running) {
        if (std::find(without.begin(), without.end(), kernel) == without.end()) members.push_back(member_of(*kernel));
    }
    if (with == nullptr) return members;
    const auto place =
        std::find_if(members.begin(), members.end(), [&](const Member& member) { return *member.id > with->id; });
    members.insert(place, member_of(*with));
    return members;
}

/// Σ weight · normalized IPC as expected; empty: they cannot run together.
std::optional<double> combined(const std::vector<Member>& members, const PairModel& pairs)
{
    double sum = 0;
    for (const Member& one : members) {
        double share = 1;
        for (const Member& other : members) {
            if (&one == &other) continue;
            if (pairs.is_excluded(one.pair, other.pair)) return std::nullopt;
            share *= pairs.expect(one.pair, other.pair).share;
        }
        sum += one.weight * share;
    }
    return sum;
}

std::vector<PairBasis> basis_of(const std::vector<Member>& members, const PairModel& pairs)
{
    std::vector<PairBasis> basis;
    for (const Member& one : members) {
        for (const Member& other : members) {
            if (&one != &other) basis.push_back({*one.id, *other.id, pairs.expect(one.pair, other.pair)});
        }
    }
    return basis;
}

/// Whether a waiting kernel comes before another of an equal combination.
bool comes_first(const WaitingKernel& a, const WaitingKernel& b)
{
    if (a.was_preempted != b.was_preempted) return a.was_preempted;
    if (a.order != b.order) return a.order < b.order;
    return a.id < b.id;
}

/// The alternatives from one state.
class Alternatives {
  public:
    Alternatives(const CorunState& state, const PairModel& pairs) : settings_(state.settings), pairs_(pairs)
    {
        for (const RunningKernel& kernel : state.running)
            running_.push_back(&kernel);
        for (const WaitingKernel& kernel : state.waiting)
            waiting_.push_back(&kernel);
        const auto by_id = [](const auto* a, const auto* b) { return a->id < b->id; };
        std::sort(running_.begin(), running_.end(), by_id);
        std::sort(waiting_.begin(), waiting_.end(), by_id);
        for (const RunningKernel* kernel : running_)
            combined_now_ += kernel->weight * kernel->normalized();
    }

    CorunDecision decide() const
    {
        const bool has_room = running_.size() < settings_.limit;
        const std::optional<Candidate> launch = has_room ? best_launch() : std::nullopt;
        const bool is_worth =
            launch && (!settings_.may_run_fewer || running_.empty() || launch->combined_then > combined_now_);
        if (is_worth) return decision(CorunAction::kLaunch, *launch);
        if (has_room && !settings_.may_run_fewer) return keep(std::nullopt);
        const std::optional<Candidate> preemption = best_preemption();
        if (preemption && preemption->figures->pays()) return decision(CorunAction::kPreempt, *preemption);
        return keep(preemption ? preemption : launch);
    }

  private:
    std::optional<Candidate> best_launch() const
    {
        std::optional<Candidate> best;
        for (const WaitingKernel* kernel : waiting_) {
            const std::optional<double> sum = combined(members_of(running_, {}, kernel), pairs_);
            const bool is_better = sum && (!best || *sum > best->combined_then ||
                                           (*sum == best->combined_then && comes_first(*kernel, *best->launch)));
            if (is_better) best = Candidate{{}, kernel, *sum, {}};
        }
        return best;
    }

    /// Of those with a better combination: that which gains most; where none pays, the best combination.
    std::optional<Candidate> best_preemption() const
    {
        std::optional<Candidate> best;
        for (const RunningKernel* victim : running_)
            consider_victims({victim}, best);
        if (settings_.may_run_fewer && running_.size() > 1) consider_victims(running_, best);
        return best;
    }

    void consider_victims(const RunningSet& victims, std::optional<Candidate>& best) const
    {
        for (const WaitingKernel* kernel : waiting_)
            consider(victims, kernel, best);
        if (settings_.may_run_fewer && victims.size() < running_.size()) consider(victims, nullptr, best);
    }

    void consider(const RunningSet& victims, const WaitingKernel* kernel, std::optional<Candidate>& best) const
    {
        const std::optional<double> sum = combined(members_of(running_, victims, kernel), pairs_);
        if (!sum || *sum <= combined_now_) return;
        Candidate candidate{victims, kernel, *sum, weigh(victims, *sum)};
        if (!best || is_better(candidate, *best)) best = std::move(candidate);
    }

    static bool is_better(const Candidate& a, const Candidate& b)
    {
        if (a.figures->pays() != b.figures->pays()) return a.figures->pays();
        if (a.figures->pays() && a.gain() != b.gain()) return a.gain() > b.gain();
        if (a.combined_then != b.combined_then) return a.combined_then > b.combined_then;
        if (a.launch != b.launch) {
            // Pre-empting with none in its place comes last.
            if (a.launch == nullptr || b.launch == nullptr) return b.launch == nullptr;
            return comes_first(*a.launch, *b.launch);
        }
        return std::lexicographical_compare(a.victims.begin(), a.victims.end(), b.victims.begin(), b.victims.end(),
                                            [](const auto* one, const auto* other) { return one->id < other->id; });
    }

    PreemptionFigures weigh(const RunningSet& victims, double combined_then) const
    {
        PreemptionTerms terms;
        terms.combined_now = combined_now_;
        terms.combined_then = combined_then;
        terms.rest_cycles = std::numeric_limits<double>::infinity();
        double miss_rate = 0;
        for (const RunningKernel* kernel : running_) {
            terms.rest_cycles = std::min(terms.rest_cycles, rest_cycles(*kernel));
            if (std::find(victims.begin(), victims.end(), kernel) != victims.end()) continue;
            miss_rate = std::max(miss_rate, kernel->l2_miss_rate);
            terms.survivors_decayed +=
                kernel->weight * kernel->normalized() * preempt_decay(kernel->kernel_class, settings_.memory_decay);
        }
        for (const RunningKernel* victim : victims)
            terms.preempt_cycles += victim->preempt_cycles.value_or(
                preempt_cycles(miss_rate, victim->register_bytes, victim->shared_bytes, victim->thread_blocks));
        return weigh_preemption(terms);
    }

    CorunDecision decision(CorunAction action, const Candidate& candidate) const
    {
        CorunDecision result;
        result.action = action;
        if (candidate.launch != nullptr) result.launch = candidate.launch->id;
        for (const RunningKernel* victim : candidate.victims)
            result.victims.push_back(victim->id);
        result.combined_now = combined_now_;
        result.combined_then = candidate.combined_then;
        result.figures = candidate.figures;
        result.basis = basis_of(members_of(running_, candidate.victims, candidate.launch), pairs_);
        result.reason = reason(result);
        return result;
    }

    CorunDecision keep(const std::optional<Candidate>& closest) const
    {
        if (closest) return decision(CorunAction::kKeep, *closest);
        CorunDecision result;
        result.combined_now = combined_now_;
        result.combined_then = combined_now_;
        if (waiting_.empty())
            result.reason = "no kernel waits";
        else if (running_.size() < settings_.limit)
            result.reason = "no waiting kernel can run beside what runs";
        else
            result.reason = "no waiting kernel makes a better combination than what runs";
        return result;
    }

    std::string reason(const CorunDecision& d) const
    {
        const std::string sums =
            fmt::format("combined normalized IPC {:.4g} against {:.4g} now", d.combined_then, d.combined_now);
        if (d.action == CorunAction::kLaunch)
            return running_.empty() ? fmt::format("{} is the first in line, nothing runs", d.launch)
                                    : fmt::format("{} makes the best combination: {}", d.launch, sums);
        if (!d.figures) return fmt::format("{} is held back: {}", d.launch, sums);
        const std::string victims = fmt::format("{}", fmt::join(d.victims, " and "));
        const std::string change = d.launch.empty() ? fmt::format("pre-empting {}", victims)
                                                    : fmt::format("pre-empting {} for {}", victims, d.launch);
        const PreemptionFigures& f = *d.figures;
        if (f.preempt_cycles >= f.rest_cycles)
            return fmt::format("{} takes {:.6g} cycles, and the first kernel ends in {:.6g}", change, f.preempt_cycles,
                               f.rest_cycles);
        return fmt::format("{} does {:.6g} cycles' work until the first kernel ends, against {:.6g} without: {}",
                           change, f.after, f.before, sums);
    }

    const CorunSettings& settings_;
    const PairModel& pairs_;
    RunningSet running_;
    WaitingSet waiting_;
    double combined_now_{};
};

void append(std::vector<FieldError>& errors, std::vector<FieldError> more)
{
    errors.insert(errors.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

std::vector<FieldError> check_state(const CorunState& state)
{
    std::vector<FieldError> errors;
    const CorunSettings& settings = state.settings;
    if (settings.limit < 1 || settings.limit > kMaxConcurrent)
        errors.push_back({"limit", fmt::format("must be between 1 and {}", kMaxConcurrent)});
    if (!(settings.memory_decay >= kMinMemoryDecay && settings.memory_decay <= kMaxMemoryDecay))
        errors.push_back({"memory_decay", fmt::format("must be between {} and {}", kMinMemoryDecay, kMaxMemoryDecay)});
    if (state.running.size() > settings.limit)
        errors.push_back({"running", fmt::format("must have at most {} kernels, as the limit says", settings.limit)});
    if (state.waiting.size() > kMaxWaiting)
        errors.push_back({"waiting", fmt::format("must have at most {} kernels", kMaxWaiting)});
    std::set<std::string, std::less<>> ids;
    const auto check_all = [&](const auto& kernels, const char* name) {
        for (std::size_t i = 0; i < kernels.size(); ++i) {
            const std::string path = fmt::format("{}[{}].", name, i);
            append(errors, check_kernel(kernels[i], path));
            if (!ids.insert(kernels[i].id).second) errors.push_back({path + "id", "is duplicated"});
        }
    };
    check_all(state.running, "running");
    check_all(state.waiting, "waiting");
    return errors;
}

} // namespace

std::string_view to_string(CorunAction action)
{
    switch (action) {
    case CorunAction::kKeep:
        return "keep";
    case CorunAction::kLaunch:
        return "launch";
    case CorunAction::kPreempt:
        return "preempt";
    }
    return "keep";
}

Result<CorunDecision> decide_corun(const CorunState& state, const PairModel& pairs)
{
    if (std::vector<FieldError> errors = check_state(state); !errors.empty()) {
        const std::size_t count = errors.size();
        return Error{Errc::kInvalid, fmt::format("the GPU's state has {} {}", count, count == 1 ? "error" : "errors"),
                     std::move(errors)};
    }
    return Alternatives(state, pairs).decide();
}

} // namespace fathom
