#include "core/decide/probing/match.hpp"

#include "core/base/portable_math.hpp"
#include "core/base/result.hpp"
#include "core/decide/measurement/execution_count.hpp"
#include "core/model/formula.hpp"
#include "core/model/operator_manifest.hpp"
#include "core/model/probe_task.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom {
namespace {

/// Intensities this many powers of ten apart have nothing in common: 0.1 operations a byte is a vector sum,
/// 10 a blocked matrix product.
constexpr double kIntensityDecades = 2;

bool names_symbol(const OperatorManifest& manifest, std::string_view symbol)
{
    if (symbol.empty()) return false;
    const std::string wanted = plain_symbol(symbol);
    const std::vector<std::string>& known = manifest.signature.symbols;
    return std::any_of(known.begin(), known.end(), [&](const std::string& one) { return plain_symbol(one) == wanted; });
}

/// |a ∩ b| / |a ∪ b| of multisets.
double overlap(const std::vector<std::string>& a, const std::vector<std::string>& b)
{
    const std::multiset<std::string> first(a.begin(), a.end());
    const std::multiset<std::string> second(b.begin(), b.end());
    std::vector<std::string> both;
    std::set_intersection(first.begin(), first.end(), second.begin(), second.end(), std::back_inserter(both));
    const std::size_t all = first.size() + second.size() - both.size();
    return all == 0 ? 0 : static_cast<double>(both.size()) / static_cast<double>(all);
}

double formula_value(const std::string& formula, const Parameters& parameters)
{
    const Result<double> value = evaluate_formula(formula, parameters);
    return value ? *value : 0;
}

/// The observed parameters where the manifest has them, else its defaults; `is_complete` tells whether at
/// least one was there and all were in range.
Parameters observed_parameters(const ObservedOperation& observed, const OperatorManifest& manifest, bool& is_complete)
{
    Parameters values = manifest.default_parameters();
    bool any = false;
    is_complete = true;
    for (const OperatorParameter& parameter : manifest.parameters) {
        const auto found = observed.parameters.find(parameter.name);
        if (found == observed.parameters.end()) continue;
        any = true;
        is_complete = is_complete && found->second >= parameter.min && found->second <= parameter.max;
        values[parameter.name] = std::clamp(found->second, parameter.min, parameter.max);
    }
    is_complete = is_complete && (any || manifest.parameters.empty());
    return values;
}

/// Observed work in the manifest's measure: operations, or bytes for operators without any; 0 if unknown.
double observed_work(const ObservedOperation& observed, const OperatorManifest& manifest)
{
    const bool counts_operations = formula_value(manifest.operation_count, manifest.default_parameters()) > 0;
    return counts_operations ? observed.operations : observed.bytes;
}

/// The size at which an operator is compared with what was observed, and used for it.
Parameters matching_parameters(const ObservedOperation& observed, const OperatorManifest& manifest)
{
    bool is_complete = false;
    Parameters same = observed_parameters(observed, manifest, is_complete);
    if (is_complete) return same;
    const double work = observed_work(observed, manifest);
    return work > 0 ? parameters_for_work(manifest, work) : same;
}

double intensity_closeness(const ObservedOperation& observed, const OperatorManifest& manifest)
{
    const Parameters parameters = matching_parameters(observed, manifest);
    const double bytes = formula_value(manifest.byte_count, parameters);
    if (bytes <= 0) return 0;
    const double own = formula_value(manifest.operation_count, parameters) / bytes;
    const double other = observed.operations / observed.bytes;
    if (own <= 0 || other <= 0) return own <= 0 && other <= 0 ? 1 : 0;
    return std::max(0.0, 1 - std::abs(portable::log10(own / other)) / kIntensityDecades);
}

/// The operator's use that does the observed work.
OperatorUse equivalent_use(const ObservedOperation& observed, const OperatorManifest& manifest, bool is_exact)
{
    OperatorUse use;
    use.id = manifest.id;
    use.version = manifest.version;
    use.share = std::clamp(observed.share, 0.0, 1.0);
    bool is_complete = false;
    observed_parameters(observed, manifest, is_complete);
    use.parameters = matching_parameters(observed, manifest);
    use.count = observed.count;
    if (is_exact && is_complete) return use;
    const double work = observed_work(observed, manifest);
    if (work <= 0) return use;
    const double count = static_cast<double>(observed.count) * work / work_of(manifest, use.parameters);
    use.count = execution_count(count);
    return use;
}

struct Scored {
    const OperatorManifest* manifest;
    double score;
};

/// Best first; equal ones by id, then the newer version.
bool is_better(const Scored& a, const Scored& b)
{
    if (a.score != b.score) return a.score > b.score;
    if (a.manifest->id != b.manifest->id) return a.manifest->id < b.manifest->id;
    return a.manifest->version > b.manifest->version;
}

bool has_category(const std::vector<std::string>& categories, const OperatorManifest& manifest)
{
    return std::find(categories.begin(), categories.end(), manifest.category) != categories.end();
}

/// The operators to choose from: those that name the symbol; else those of the category if one of them is
/// good enough; else those of the job type's categories if one of them is; else all.
std::vector<Scored> candidates(const ObservedOperation& observed, std::span<const OperatorManifest> library,
                               const MatchRule& rule, bool& is_exact)
{
    std::vector<Scored> exact;
    std::vector<Scored> same_category;
    std::vector<Scored> of_type;
    std::vector<Scored> all;
    for (const OperatorManifest& manifest : library) {
        // Most units cannot run them, and a job that has one could run nowhere else: its time in MPI is told as such.
        if (is_exchange_operator(manifest.id)) continue;
        const Scored scored{&manifest, similarity(observed, manifest, rule)};
        all.push_back(scored);
        if (names_symbol(manifest, observed.symbol)) exact.push_back(scored);
        if (manifest.category == observed.category) same_category.push_back(scored);
        if (has_category(rule.type_categories, manifest)) of_type.push_back(scored);
    }
    is_exact = !exact.empty();
    for (std::vector<Scored>* chosen : {&exact, &same_category, &of_type}) {
        std::sort(chosen->begin(), chosen->end(), is_better);
        if (!chosen->empty() && (is_exact || chosen->front().score >= rule.threshold)) return std::move(*chosen);
    }
    std::sort(all.begin(), all.end(), is_better);
    return all;
}

OperationMatch match_one(const ObservedOperation& observed, std::span<const OperatorManifest> library,
                         const MatchRule& rule)
{
    OperationMatch match;
    const std::vector<Scored> found = candidates(observed, library, rule, match.is_exact);
    if (found.empty()) return match;
    const Scored& best = found.front();
    match.score = best.score;
    if (best.score < rule.threshold) return match;
    match.operator_id = best.manifest->id;
    match.use = equivalent_use(observed, *best.manifest, match.is_exact);
    std::set<std::string> tied;
    for (const Scored& other : found) {
        if (other.manifest->id != match.operator_id && best.score - other.score <= rule.tie_margin)
            tied.insert(other.manifest->id);
    }
    match.tied.assign(tied.begin(), tied.end());
    return match;
}

} // namespace

std::string plain_symbol(std::string_view symbol)
{
    std::string plain(symbol);
    std::transform(plain.begin(), plain.end(), plain.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    const auto strip = [&](std::string_view suffix) {
        if (plain.size() > suffix.size() && plain.ends_with(suffix)) plain.resize(plain.size() - suffix.size());
    };
    strip("_");
    strip("_64");
    if (plain.find("gemm64") != std::string::npos || plain.starts_with("cblas_")) strip("64");
    return plain;
}

double similarity(const ObservedOperation& observed, const OperatorManifest& manifest, const MatchRule& rule)
{
    if (names_symbol(manifest, observed.symbol)) return 1;
    // What was not observed takes no part, neither for nor against.
    double weight = 0;
    double sum = 0;
    const auto add = [&](double feature_weight, double value) {
        weight += feature_weight;
        sum += feature_weight * value;
    };
    if (!observed.argument_kinds.empty())
        add(rule.argument_weight, overlap(observed.argument_kinds, manifest.signature.argument_kinds));
    if (observed.bytes > 0) add(rule.intensity_weight, intensity_closeness(observed, manifest));
    if (!observed.category.empty()) add(rule.category_weight, observed.category == manifest.category ? 1 : 0);
    // The category alone says too little to be a similarity.
    return weight > rule.category_weight ? sum / weight : 0;
}

Parameters parameters_for_work(const OperatorManifest& manifest, double work)
{
    const Parameters shape = manifest.default_parameters();
    const auto scaled = [&](double factor) {
        Parameters values = shape;
        for (const OperatorParameter& parameter : manifest.parameters) {
            const double value = std::round(static_cast<double>(shape.at(parameter.name)) * factor);
            values[parameter.name] = static_cast<std::int64_t>(
                std::clamp(value, static_cast<double>(parameter.min), static_cast<double>(parameter.max)));
        }
        return values;
    };
    // Bisection on the logarithm of the factor: work grows with every parameter.
    double low = -32;
    double high = 32;
    for (int step = 0; step < 30; ++step) {
        const double middle = (low + high) / 2;
        (work_of(manifest, scaled(portable::exp2(middle))) < work ? low : high) = middle;
    }
    const Parameters below = scaled(portable::exp2(low));
    const Parameters above = scaled(portable::exp2(high));
    const auto distance = [&](const Parameters& at) { return std::abs(portable::log(work_of(manifest, at) / work)); };
    return distance(below) < distance(above) ? below : above;
}

MatchReport match_operations(std::span<const ObservedOperation> observed, std::span<const OperatorManifest> library,
                             const MatchRule& rule)
{
    MatchReport report;
    for (std::size_t i = 0; i < observed.size(); ++i) {
        OperationMatch match = match_one(observed[i], library, rule);
        match.observed = i;
        (match.operator_id.empty() ? report.missed_share : report.matched_share) += observed[i].share;
        report.matches.push_back(std::move(match));
    }
    return report;
}

} // namespace fathom
