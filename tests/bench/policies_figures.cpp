#include "tests/bench/policies_figures.hpp"

#include "simulator/policies/policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fathom::simulation {
namespace {

constexpr double kHour_s = 3600;
constexpr double kHighLoad = 0.695; ///< loads are rounded to hundredths where they are shown

void print_figure(std::string_view name, const std::optional<double>& value, int decimals, std::string_view unit)
{
    if (value)
        fmt::print("RESULT {} {:.{}f} {}\n", name, *value, decimals, unit);
    else
        fmt::print("left out: {}, no world that it is of was simulated\n", name);
}

void print_extreme(std::string_view title, const Extreme& extreme)
{
    if (extreme.value()) fmt::print("{}: {:.3f}, {}\n", title, *extreme.value(), extreme.world());
}

} // namespace

bool is_naive(std::string_view policy)
{
    return find_policy(policy).knowledge == KnowledgeKind::kNominal;
}

void Extreme::add(double value, const std::string& world)
{
    const bool is_worse = !value_ || (kind_ == Kind::kMin ? value < *value_ : value > *value_);
    if (!is_worse) return;
    value_ = value;
    world_ = world;
}

void MeanFactor::add(double factor)
{
    logs_ += std::log(factor);
    ++count_;
}

std::optional<double> MeanFactor::value() const
{
    if (count_ == 0) return std::nullopt;
    return std::exp(logs_ / static_cast<double>(count_));
}

void PolicyFigures::add_gap(double ours_s, double oracle_s, const LeastMeans& least)
{
    if (!least.interrupted_s) {
        fmt::print("of that {:.2f} by other jobs; order and not interrupting were not told apart\n",
                   least.pooled_s / least.alone_s);
        return;
    }
    const double interrupted_s = *least.interrupted_s;
    fmt::print("of that {:.3f} by knowledge, {:.3f} by not interrupting, {:.3f} by order and unlike units, {:.2f} by "
               "other jobs\n",
               ours_s / oracle_s, oracle_s / interrupted_s, interrupted_s / least.pooled_s,
               least.pooled_s / least.alone_s);
    gap_.knowledge.add(ours_s / oracle_s);
    gap_.not_interrupting.add(oracle_s / interrupted_s);
    gap_.order.add(interrupted_s / least.pooled_s);
    gap_.other_jobs.add(least.pooled_s / least.alone_s);
}

void PolicyFigures::add(const PolicyWorld& world, const PolicyRows& rows, const LeastMeans& least)
{
    const double ours_s = rows.at(kOurs).mean_completion_s;
    std::string_view best;
    for (const auto& [name, row] : rows) {
        undone_ += row.undone.size();
        if (is_naive(name) && (best.empty() || row.mean_completion_s < rows.at(best).mean_completion_s)) best = name;
    }
    const double naive_s = rows.at(best).mean_completion_s;
    const double oracle_s = rows.at(kOracle).mean_completion_s;
    const double over_oracle = ours_s / oracle_s;
    const double least_s = least.alone_s;
    fmt::print("best naive policy: {}, {:.2f} times as long as Fathom (no policy could reach more than {:.2f}); Fathom "
               "over the oracle: {:.3f}, over each job alone: {:.2f}\n",
               best, naive_s / ours_s, naive_s / least_s, over_oracle, ours_s / least_s);
    add_gap(ours_s, oracle_s, least);
    for (OfKnowledge* const figures : {&all_, &by_knowledge_[world.knowledge]}) {
        if (world.load >= kHighLoad) figures->gain.add(naive_s / ours_s, world.name);
        figures->over_oracle.add(over_oracle, world.name);
    }
    if (world.load >= kHighLoad) gains_.add(naive_s / ours_s);
    over_least_.add(ours_s / least_s, world.name);
    if (world.is_reference) reference_s_ = ours_s;
}

void PolicyFigures::print() const
{
    fmt::print("\n");
    print_extreme("least gain over the best naive policy", all_.gain);
    print_extreme("most over the oracle", all_.over_oracle);
    print_extreme("most over each job alone", over_least_);
    const auto of = [&](WorkKnowledge knowledge) {
        const auto found = by_knowledge_.find(knowledge);
        return found == by_knowledge_.end() ? OfKnowledge{} : found->second;
    };
    const OfKnowledge profiled = of(WorkKnowledge::kProfile);
    const OfKnowledge estimated = of(WorkKnowledge::kEstimate);
    print_figure("worst_gain_over_naive", all_.gain.value(), 2, "times");
    print_figure("worst_gain_over_naive_profiled", profiled.gain.value(), 2, "times");
    print_figure("worst_gain_over_naive_estimated", estimated.gain.value(), 2, "times");
    print_figure("mean_gain_over_naive", gains_.value(), 2, "times");
    print_figure("worst_over_oracle", all_.over_oracle.value(), 3, "times");
    print_figure("worst_over_oracle_profiled", profiled.over_oracle.value(), 3, "times");
    print_figure("worst_over_oracle_estimated", estimated.over_oracle.value(), 3, "times");
    print_figure("worst_over_lower_bound", over_least_.value(), 2, "times");
    print_figure("gap_by_knowledge", gap_.knowledge.value(), 3, "times");
    print_figure("gap_by_not_interrupting", gap_.not_interrupting.value(), 3, "times");
    print_figure("gap_by_order", gap_.order.value(), 3, "times");
    print_figure("gap_by_other_jobs", gap_.other_jobs.value(), 3, "times");
    const std::optional<double> reference_h = reference_s_ ? std::optional(*reference_s_ / kHour_s) : std::nullopt;
    print_figure("gavel_mean_jct_h", reference_h, 2, "h");
    fmt::print("RESULT jobs_not_ended {} jobs\n", undone_);
}

} // namespace fathom::simulation
