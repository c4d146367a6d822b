#include "core/decide/history/asked_times.hpp"

#include "core/base/clock.hpp"
#include "core/base/portable_math.hpp"
#include "core/decide/history/run_calibration.hpp"
#include "core/decide/history/run_history.hpp"
#include "core/decide/history/typical_time.hpp"
#include "core/decide/prediction/predict.hpp"
#include "core/decide/statistics/weighted_median.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace fathom {
namespace {

/// Beyond so many half lives runs count next to nothing.
constexpr double kHalfLivesKept = 6;
/// What counts less in a prediction is not named.
constexpr double kNamedWeight = 0.05;
/// Of two that are both sure: neither counts for nothing then.
constexpr double kMinVariance = 1e-12;

struct AskedRatio {
    const AskedRun* run{};
    double log_share{}; ///< ln(actual / asked)
    double weight{};    ///< by its age
};

/// The newest first.
std::vector<AskedRatio> ratios_of(std::span<const AskedRun> runs, Timestamp now)
{
    std::vector<AskedRatio> ratios;
    ratios.reserve(runs.size());
    for (const AskedRun& run : runs) {
        const double weight = recency(run.ended_at, now);
        if (!is_time(run.asked_s) || !is_time(run.actual_s) || !(weight > 0)) continue;
        const double log_share = portable::log(run.actual_s / run.asked_s);
        ratios.push_back({&run, run.is_cut_off ? std::max(log_share, 0.0) : log_share, weight});
    }
    // By what they say, too: sums depend on their order, and runs come in any.
    std::sort(ratios.begin(), ratios.end(), [](const AskedRatio& a, const AskedRatio& b) {
        return std::tie(b.run->ended_at, a.log_share) < std::tie(a.run->ended_at, b.log_share);
    });
    return ratios;
}

std::string runs_text(std::int64_t count)
{
    return std::to_string(count) + (count == 1 ? " run" : " runs");
}

/// What a prediction from both rests on, the heavier first.
std::string weighed_text(const AskedShare& share, const RunEstimate& usual, double usual_weight)
{
    if (usual_weight < kNamedWeight) return share.basis;
    if (usual_weight > 1 - kNamedWeight) return usual.basis;
    const bool is_usual_first = usual_weight > 0.5;
    const std::string& first = is_usual_first ? usual.basis : share.basis;
    const std::string& second = is_usual_first ? share.basis : usual.basis;
    return fmt::format("{}, and by {:.0f} % from {}", first, 100 * std::min(usual_weight, 1 - usual_weight), second);
}

} // namespace

/// The newest runs of one group.
struct AskedTimes::Gathering {
    std::vector<WeightedValue> values;
    double half_life_runs{};
    std::int64_t count{};

    void add(const AskedRatio& ratio, double half_life)
    {
        half_life_runs = half_life;
        const double place = static_cast<double>(count++) / half_life;
        if (place < kHalfLivesKept) values.push_back({ratio.log_share, ratio.weight * portable::exp2(-place)});
    }
    Group group() const
    {
        Group made{.spread = {}, .weight = 0, .count = count};
        for (const WeightedValue& one : values)
            made.weight += one.weight;
        if (values.empty()) return made;
        made.spread = {weighted_quantile(values, 0.1), weighted_median(values), weighted_quantile(values, 0.9)};
        return made;
    }
};

struct AskedTimes::GatheringByType {
    Gathering all;
    std::map<std::string_view, Gathering> by_job_type;

    void add(const AskedRatio& ratio, double half_life_runs)
    {
        all.add(ratio, half_life_runs);
        if (!ratio.run->job_type.empty()) by_job_type[ratio.run->job_type].add(ratio, half_life_runs);
    }
    Groups groups() const
    {
        Groups made{.all = all.group(), .by_job_type = {}};
        for (const auto& [job_type, gathering] : by_job_type)
            made.by_job_type.emplace(job_type, gathering.group());
        return made;
    }
};

AskedTimes::AskedTimes(std::span<const AskedRun> runs, Timestamp now)
{
    GatheringByType network;
    std::map<std::string_view, GatheringByType> by_project;
    std::map<std::string_view, GatheringByType> by_owner;
    for (const AskedRatio& ratio : ratios_of(runs, now)) {
        network.add(ratio, kHalfLifeOfMany_runs);
        if (!ratio.run->project.empty()) by_project[ratio.run->project].add(ratio, kHalfLifeOfMany_runs);
        if (!ratio.run->owner.empty()) by_owner[ratio.run->owner].add(ratio, kHalfLifeOfUser_runs);
    }
    network_ = network.groups();
    for (const auto& [name, gathering] : by_project)
        by_project_.emplace(name, gathering.groups());
    for (const auto& [name, gathering] : by_owner)
        by_owner_.emplace(name, gathering.groups());
}

const AskedTimes::Group* AskedTimes::Groups::of_type(std::string_view job_type) const
{
    const auto found = by_job_type.find(job_type);
    return found == by_job_type.end() ? nullptr : &found->second;
}

const AskedTimes::Groups* AskedTimes::of(const ByName& groups, std::string_view name)
{
    const auto found = name.empty() ? groups.end() : groups.find(name);
    return found == groups.end() ? nullptr : &found->second;
}

/// Says what groups say together, one after the other.
struct AskedTimes::Blending {
    Spread spread{portable::log(0.1), portable::log(0.5), 0};
    double rest = 1; ///< of what came before the last group
    double heaviest = 0;
    std::int64_t run_count{};
    std::string_view whose; ///< the heaviest group's

    void add(const Group& group, std::string_view name)
    {
        const double share = group.weight / (group.weight + kPriorRuns);
        const auto between = [&](double& value, double own) { value += share * (own - value); };
        between(spread.low, group.spread.low);
        between(spread.middle, group.spread.middle);
        between(spread.high, group.spread.high);
        heaviest *= 1 - share;
        if (share < heaviest) return;
        heaviest = share;
        run_count = group.count;
        whose = name;
    }
};

std::optional<AskedShare> AskedTimes::find(std::string_view job_type, RunOwner owner) const
{
    if (network_.all.count == 0) return std::nullopt;
    const Groups* const project = of(by_project_, owner.project);
    const Groups* const user = of(by_owner_, owner.owner);
    Blending blending;
    const auto add = [&](const Group* group, std::string_view whose) {
        if (group != nullptr) blending.add(*group, whose);
    };
    add(&network_.all, " of all users");
    if (owner.owner.empty()) add(network_.of_type(job_type), " of its type");
    if (project != nullptr) add(&project->all, " of project ");
    if (project != nullptr) add(project->of_type(job_type), " of its type in project ");
    if (user != nullptr) add(&user->all, " of its user");
    if (user != nullptr) add(user->of_type(job_type), " of its type by its user");
    AskedShare share{.middle = portable::exp(blending.spread.middle),
                     .low = portable::exp(blending.spread.low),
                     .high = portable::exp(blending.spread.high),
                     .basis = {},
                     .run_count = blending.run_count};
    share.basis =
        fmt::format("{:.0f} % of the time asked for ({}{}{})", share.middle * 100, runs_text(blending.run_count),
                    blending.whose, blending.whose.ends_with("project ") ? owner.project : std::string_view());
    return share;
}

RunEstimate combine_asked(const std::optional<RunEstimate>& usual, const AskedShare& share, double asked_s,
                          const TimeRatio& there)
{
    double log_run = portable::log(share.middle * asked_s * there.ratio);
    const double of_place = kWidthOf80Percent * there.deviation;
    double below = portable::hypot(portable::log(share.middle / share.low), of_place);
    double above = portable::hypot(portable::log(share.high / share.middle), of_place);
    std::string basis = share.basis;
    if (usual) {
        const double usual_below = portable::log(usual->time.run_s / usual->time.low_s);
        const double usual_above = portable::log(usual->time.high_s / usual->time.run_s);
        const double variance = portable::square(below + above);
        const double usual_variance = portable::square(usual_below + usual_above);
        const double usual_weight = variance / std::max(variance + usual_variance, kMinVariance);
        const auto lean = [&](double& value, double other) { value += usual_weight * (other - value); };
        lean(log_run, portable::log(usual->time.run_s));
        lean(below, usual_below);
        lean(above, usual_above);
        basis = weighed_text(share, *usual, usual_weight);
    }
    const double run_s = std::min(portable::exp(log_run), asked_s);
    return {.time = {run_s, run_s * portable::exp(-below), std::min(run_s * portable::exp(above), asked_s)},
            .basis = std::move(basis),
            .job_count = usual ? usual->job_count : share.run_count};
}

} // namespace fathom
