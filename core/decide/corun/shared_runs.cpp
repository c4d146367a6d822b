#include "core/decide/corun/shared_runs.hpp"

#include "core/base/portable_math.hpp"
#include "core/decide/statistics/sample_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace fathom {
namespace {

/// Two others at the same time, as where one of them follows the other, for at most this part of the run.
constexpr double kMaxCrowdedShare = 0.05;

struct Newest {
    std::vector<double> values;

    void add(double value)
    {
        if (values.size() < kMaxRunsOfPair) values.push_back(value);
    }
};

/// By kind and place.
using PacesAlone = std::map<std::pair<std::string_view, std::string_view>, Newest>;

PacesAlone paces_alone(std::span<const SharedRun> runs)
{
    PacesAlone alone;
    for (const SharedRun& run : runs) {
        if (run.beside.empty() && run.pace > 0) alone[{run.kind, run.place}].add(run.pace);
    }
    return alone;
}

/// Of the time together, the part in which a run at this pace did what it would have done alone in all of it.
double kept_share(const SharedRun& run, double pace_alone)
{
    const double together = std::min(run.together_share, 1.0);
    const double done = pace_alone / run.pace - (1 - together);
    return std::clamp(done / together, kMinLearnedShare, kMaxLearnedShare);
}

double spread_of(const std::vector<double>& values)
{
    if (values.size() < 2) return 0;
    double mean = 0;
    for (const double value : values)
        mean += value / static_cast<double>(values.size());
    double squares = 0;
    for (const double value : values)
        squares += portable::square(value - mean);
    return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

/// What both kept; the kind with the lower name is `a`.
struct PairRuns {
    Newest a;
    Newest b;
    KernelClass a_class{KernelClass::kUnknown};
    KernelClass b_class{KernelClass::kUnknown};
};

GpuPair pair_of(std::string_view a, std::string_view b, const PairRuns& runs)
{
    const Newest& other = a == b ? runs.a : runs.b;
    return {.a = std::string(a),
            .b = std::string(b),
            .a_class = runs.a_class,
            .b_class = runs.b_class,
            .a_share = median(runs.a.values),
            .b_share = median(other.values),
            .count = static_cast<std::int64_t>(std::min(runs.a.values.size(), other.values.size())),
            .a_spread = spread_of(runs.a.values),
            .b_spread = spread_of(other.values)};
}

void note_class(KernelClass& known, KernelClass told)
{
    if (known == KernelClass::kUnknown) known = told;
}

} // namespace

std::optional<double> share_together(std::vector<TogetherSpan> spans, double run_s)
{
    std::sort(spans.begin(), spans.end(),
              [](const TogetherSpan& a, const TogetherSpan& b) { return a.from_s < b.from_s; });
    double together_s = 0;
    double crowded_s = 0;
    double until_s = 0; // of those before
    for (const TogetherSpan& span : spans) {
        const double from_s = std::clamp(span.from_s, 0.0, run_s);
        const double end_s = std::clamp(span.until_s, from_s, run_s);
        crowded_s += std::max(0.0, std::min(until_s, end_s) - from_s);
        together_s += std::max(0.0, end_s - std::max(from_s, until_s));
        until_s = std::max(until_s, end_s);
    }
    if (crowded_s > kMaxCrowdedShare * run_s) return std::nullopt;
    return std::min(1.0, together_s / run_s); // sums of rounded spans may be more
}

std::vector<GpuPair> learn_pairs(std::span<const SharedRun> runs)
{
    const PacesAlone alone = paces_alone(runs);
    std::map<std::pair<std::string_view, std::string_view>, PairRuns> known;
    std::vector<std::pair<std::string_view, std::string_view>> order; // the newest first
    for (const SharedRun& run : runs) {
        if (run.beside.empty() || !(run.pace > 0) || run.together_share < kMinTogetherShare) continue;
        const auto paces = alone.find({run.kind, run.place});
        if (paces == alone.end()) continue;
        const double share = kept_share(run, median(paces->second.values));
        const std::pair<std::string_view, std::string_view> names = std::minmax<std::string_view>(run.kind, run.beside);
        const auto [at, is_new] = known.try_emplace(names);
        if (is_new) order.push_back(names);
        PairRuns& pair = at->second;
        const bool is_a = run.kind == names.first;
        (is_a ? pair.a : pair.b).add(share);
        note_class(pair.a_class, is_a ? run.kernel_class : run.beside_class);
        note_class(pair.b_class, is_a ? run.beside_class : run.kernel_class);
    }
    std::vector<GpuPair> pairs;
    for (const auto& [a, b] : order) {
        const PairRuns& both = known.at({a, b});
        if (!both.a.values.empty() && (a == b || !both.b.values.empty())) pairs.push_back(pair_of(a, b, both));
    }
    return pairs;
}

std::vector<GpuPair> pairs_for(const std::string& kind, std::span<const GpuPair> pairs, std::size_t most)
{
    std::vector<GpuPair> chosen;
    for (const bool is_own : {true, false}) {
        for (const GpuPair& pair : pairs) {
            if (chosen.size() == most) return chosen;
            if ((pair.a == kind || pair.b == kind) == is_own) chosen.push_back(pair);
        }
    }
    return chosen;
}

PairModel pair_model_of(std::span<const GpuPair> pairs)
{
    PairModel model;
    for (const GpuPair& pair : pairs) {
        // What is refused leaves the model as it was, and classes tell of that pair.
        [[maybe_unused]] const Result<void> added = model.add({.a = {pair.a, pair.a_class},
                                                               .b = {pair.b, pair.b_class},
                                                               .a_share = pair.a_share,
                                                               .b_share = pair.b_share,
                                                               .count = pair.count,
                                                               .a_spread = pair.a_spread,
                                                               .b_spread = pair.b_spread});
    }
    model.refit();
    return model;
}

} // namespace fathom
