#include "core/decide/corun/turn_pairs.hpp"

#include "core/decide/corun/choose_device.hpp"
#include "core/decide/corun/decide_corun.hpp"
#include "core/decide/corun/kernel_times.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

namespace fathom {
namespace {

/// A pace is that of so many iterations: fewer say more of the host's other work than of the GPU.
constexpr std::int64_t kMinIterations = 8;
/// A newer pace alone counts as much as all before: programs have phases.
constexpr double kNewest = 0.5;
/// For so long what is found of those that run beside each other is expected to hold: it is what a change gains by.
constexpr double kHorizon_s = 60;
constexpr double kMinRest_s = 1e-3;
/// What is learned of runs is of this kernel.
constexpr std::string_view kIteration = "iteration";
/// Below an equal part by more than this: a pace is not known better.
constexpr double kShareTolerance = 0.05;
/// Programs come and go for years; what is learned of more kinds than this begins anew.
constexpr std::size_t kMaxKinds = 256;
/// Of pairs that are known from elsewhere, and that nobody has taken yet.
constexpr std::size_t kMaxKnown = 4096;
constexpr std::size_t kMaxMeasured = 1024;
/// What was measured elsewhere counts as so many times here at most: soon the mean is that of this GPU.
constexpr std::int64_t kMaxElsewhere = 4;

} // namespace

void TurnPairs::add(const std::string& program, const PacedProgram& how)
{
    programs_.try_emplace(program).first->second.how = how;
    begin_with_known(how);
}

void TurnPairs::know(std::span<const GpuPair> pairs)
{
    for (GpuPair pair : pairs) {
        if (pair.b < pair.a) {
            std::swap(pair.a, pair.b);
            std::swap(pair.a_share, pair.b_share);
        }
        if (known_.size() >= kMaxKnown) known_.clear();
        const std::pair kinds(pair.a, pair.b);
        known_.insert_or_assign(kinds, std::move(pair));
    }
    for (const auto& [name, program] : programs_)
        begin_with_known(program.how);
}

/// With everybody who is there, itself too: two may be of its kind.
void TurnPairs::begin_with_known(const PacedProgram& one)
{
    if (one.known_as.empty() || known_.empty()) return;
    bool has_begun = false;
    for (const auto& [name, program] : programs_)
        has_begun = begin_with_known(one, program.how) || has_begun;
    if (has_begun) pairs_.refit();
}

/// @return  whether a pair came to be known.
bool TurnPairs::begin_with_known(const PacedProgram& one, const PacedProgram& other)
{
    const bool is_first = one.known_as <= other.known_as;
    const PacedProgram& a = is_first ? one : other;
    const PacedProgram& b = is_first ? other : one;
    const auto found = known_.find({a.known_as, b.known_as});
    const PairMember a_member{a.kind, a.kernel_class};
    const PairMember b_member{b.kind, b.kernel_class};
    if (pairs_.kind_count() >= kMaxKinds) return false;
    if (found == known_.end() || pairs_.expect(a_member, b_member).source == PairSource::kMeasured) return false;
    const GpuPair& pair = found->second;
    return pairs_
        .add({.a = a_member,
              .b = b_member,
              .a_share = pair.a_share,
              .b_share = pair.b_share,
              .count = std::min(pair.count, kMaxElsewhere)})
        .has_value();
}

void TurnPairs::set_input_size(const std::string& program, double size)
{
    const auto found = programs_.find(program);
    if (found != programs_.end()) found->second.how.input_size = size;
}

void TurnPairs::remove(const std::string& program)
{
    const auto found = programs_.find(program);
    if (found == programs_.end()) return;
    learn_run(found->second);
    programs_.erase(found);
}

void TurnPairs::learn_run(const Program& one)
{
    if (!one.how.has_kind || one.all_iterations < kMinIterations) return;
    const auto had = static_cast<double>(one.all_iterations);
    const std::string application = sized_application(one.how.kind, one.how.input_size);
    const std::optional<ExpectedIterations> expected = expected_iterations(one.how.kind, one.how.input_size);
    if (!expected && kinds_of_runs_.size() >= kMaxKinds) {
        runs_ = InstructionModel();
        kinds_of_runs_.clear();
    }
    const Result<void> learned = runs_.learn({.application = application,
                                              .kernel = std::string(kIteration),
                                              .input_size = size_to_learn(one.how.input_size),
                                              .instructions = had});
    if (!learned) return;
    Forecasts& forecasts = kinds_of_runs_[application];
    if (!expected) return;
    ++forecasts.count;
    forecasts.off += std::abs(expected->likely / had - 1);
}

std::optional<ExpectedIterations> TurnPairs::expected_iterations(const std::string& kind,
                                                                 std::optional<double> input_size) const
{
    const std::string application = sized_application(kind, input_size);
    const auto known = kinds_of_runs_.find(application);
    if (known == kinds_of_runs_.end()) return std::nullopt; // what other kinds had says nothing of it
    const Result<InstructionPrediction> all = runs_.predict(application, kIteration, size_to_learn(input_size));
    if (!all) return std::nullopt;
    ExpectedIterations expected{all->instructions, all->low, all->high, all->runs};
    const Forecasts& forecasts = known->second;
    if (forecasts.count > 0) expected.mean_error = forecasts.off / static_cast<double>(forecasts.count);
    return expected;
}

double TurnPairs::rest_s(const Program& one) const
{
    if (!one.alone_pace || !one.how.has_kind) return kHorizon_s;
    const std::optional<ExpectedIterations> all = expected_iterations(one.how.kind, one.how.input_size);
    const double left = all ? all->high - static_cast<double>(one.all_iterations) : 0;
    // Of one that had more than nine of ten nobody knows when it ends.
    if (!(left > 0)) return kHorizon_s;
    return std::clamp(left / *one.alone_pace, kMinRest_s, kHorizon_s);
}

void TurnPairs::forget_run(Program& one)
{
    one.iterations = 0;
    one.share.reset();
    one.is_share_new = false;
}

void TurnPairs::run_beside(const std::string& program, const std::set<std::string>& others)
{
    const auto found = programs_.find(program);
    if (found == programs_.end() || found->second.beside == others) return;
    found->second.beside = others;
    forget_run(found->second);
}

void TurnPairs::stop(const std::string& program)
{
    const auto found = programs_.find(program);
    if (found == programs_.end()) return;
    found->second.beside.reset();
    forget_run(found->second);
}

bool TurnPairs::end_iteration(const std::string& program, double now_s)
{
    const auto found = programs_.find(program);
    if (found == programs_.end()) return false;
    Program& one = found->second;
    ++one.all_iterations;
    if (!one.beside) return false;
    // The first that ends here has begun before.
    if (one.iterations++ == 0) one.first_end_s = now_s;
    if (one.iterations <= kMinIterations || now_s <= one.first_end_s) return false;
    const double pace = static_cast<double>(one.iterations - 1) / (now_s - one.first_end_s);
    one.iterations = 1;
    one.first_end_s = now_s;
    if (one.beside->empty()) {
        one.alone_pace = one.alone_pace ? kNewest * pace + (1 - kNewest) * *one.alone_pace : pace;
        return false;
    }
    if (!one.alone_pace) return false;
    one.share = std::clamp(pace / *one.alone_pace, kMinShare, kMaxShare);
    one.is_share_new = true;
    learn_pair(one);
    return true;
}

/// Where exactly two ran beside each other, and of both it is known: not where one has a third on another GPU.
void TurnPairs::learn_pair(Program& one)
{
    if (one.beside->size() != 1) return;
    const auto found = programs_.find(*one.beside->begin());
    if (found == programs_.end() || !found->second.is_share_new) return;
    Program& other = found->second;
    if (!other.beside || other.beside->size() != 1) return;
    if (pairs_.kind_count() >= kMaxKinds) {
        pairs_ = PairModel();
        for (const auto& [name, program] : programs_)
            begin_with_known(program.how);
    }
    const std::size_t known_before = pairs_.pair_count();
    const bool is_learned = pairs_
                                .add({.a = {one.how.kind, one.how.kernel_class},
                                      .b = {other.how.kind, other.how.kernel_class},
                                      .a_share = *one.share,
                                      .b_share = *other.share})
                                .has_value();
    if (is_learned) {
        if (measured_.size() >= kMaxMeasured) measured_.erase(measured_.begin());
        measured_.push_back({*other.beside->begin(), found->first, *one.share, *other.share});
        one.is_share_new = other.is_share_new = false;
    }
    if (pairs_.pair_count() != known_before) pairs_.refit();
}

const TurnPairs::Program* TurnPairs::find(const std::string& program) const
{
    const auto found = programs_.find(program);
    return found == programs_.end() ? nullptr : &found->second;
}

PairMember TurnPairs::member(const std::string& program) const
{
    const Program* const one = find(program);
    return one == nullptr ? PairMember{} : PairMember{one->how.kind, one->how.kernel_class};
}

/// Whether it can be told what it would do beside others, or found soon.
bool TurnPairs::is_known(const std::string& program) const
{
    const Program* const one = find(program);
    return one != nullptr && (one->how.kernel_class != KernelClass::kUnknown || one->alone_pace);
}

bool TurnPairs::is_measured(const std::string& program, const std::string& beside) const
{
    return pairs_.expect(member(program), member(beside)).source == PairSource::kMeasured;
}

std::optional<double> TurnPairs::share_of(const std::string& program) const
{
    const Program* const one = find(program);
    return one == nullptr ? std::nullopt : one->share;
}

RunningKernel TurnPairs::running(const std::string& program, double ipc) const
{
    const PairMember own = member(program);
    const Program* const one = find(program);
    return {.id = program,
            .kind = std::string(own.kind),
            .kernel_class = own.kernel_class,
            .instructions = one == nullptr ? kHorizon_s : rest_s(*one),
            .ipc = ipc,
            .ipc_alone = 1};
}

/// Of its pace, beside these: as measured where they run beside it now, else as expected.
double TurnPairs::share_beside(const std::string& program, const std::vector<std::string>& holders) const
{
    std::set<std::string> others(holders.begin(), holders.end());
    others.erase(program);
    const Program* const one = find(program);
    if (one != nullptr && one->beside == others && one->share) return *one->share;
    double share = 1;
    for (const std::string& other : others)
        share *= pairs_.expect(member(program), member(other)).share;
    return share;
}

std::string TurnPairs::choose(const std::vector<std::string>& holders, const std::vector<std::string>& waiting) const
{
    CorunState state;
    state.settings.limit = at_once_;
    state.settings.may_run_fewer = true;
    std::vector<PairMember> tenants;
    for (const std::string& holder : holders) {
        tenants.push_back(member(holder));
        state.running.push_back(running(holder, share_beside(holder, holders)));
    }
    for (const std::string& one : waiting) {
        const PairMember newcomer = member(one);
        const auto can_tell = [&](const std::string& holder) {
            return (is_known(one) && is_known(holder)) || is_measured(one, holder);
        };
        if (holders.empty() ? !is_known(one) : !std::all_of(holders.begin(), holders.end(), can_tell)) continue;
        if (!expect_beside(newcomer, tenants, pairs_).keeps_equal_parts()) continue;
        state.waiting.push_back({.id = one,
                                 .kind = std::string(newcomer.kind),
                                 .kernel_class = newcomer.kernel_class,
                                 .order = static_cast<std::int64_t>(state.waiting.size())});
    }
    if (state.waiting.empty()) return {};
    const Result<CorunDecision> decision = decide_corun(state, pairs_);
    return decision && decision->action == CorunAction::kLaunch ? decision->launch : std::string();
}

std::string TurnPairs::find_worse(const std::vector<TurnHolder>& holders) const
{
    if (holders.size() < 2) return {};
    CorunState state;
    state.settings.limit = std::max(at_once_, holders.size());
    state.settings.may_run_fewer = true;
    const double equal_part = 1 / static_cast<double>(holders.size());
    bool is_below = false;
    const TurnHolder* most = nullptr;
    double most_share = 0;
    for (const TurnHolder& holder : holders) {
        const std::optional<double> share = share_of(holder.program);
        // Of who cannot be measured nothing is found out while it runs.
        if (!share) return {};
        is_below = is_below || *share < equal_part - kShareTolerance;
        if (most == nullptr || *share > most_share) most = &holder;
        most_share = std::max(most_share, *share);
        state.running.push_back(running(holder.program, *share));
        state.running.back().preempt_cycles = holder.switch_s;
    }
    if (is_below) return most->program;
    const Result<CorunDecision> decision = decide_corun(state, pairs_);
    return decision && decision->action == CorunAction::kPreempt ? decision->victims.front() : std::string();
}

} // namespace fathom
