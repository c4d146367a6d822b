#include "core/decide/prediction/predict_from_reference.hpp"

#include "core/base/portable_math.hpp"
#include "core/decide/measurement/operator_size.hpp"
#include "core/decide/prediction/operator_estimate.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace fathom {
namespace {

/// Runs of one program on one machine differ by some percent, and so do two rounds of probes. An assumption until
/// residuals are learned.
constexpr double kRunDeviation = 0.03;

/// Of what no operator stands for, as a standard deviation of a logarithm: it may be anything.
constexpr double kUnknownDeviation = 0.35;

/// More neighbours would pull the ratio of sizes far away into it.
constexpr std::size_t kMaxNeighbours = 3;

/// A size of an operator that was measured on both unit types.
struct Ratio {
    const MeasuredOperator* there;
    double log_work;
    double log_intensity;
    double log_ratio; ///< of the times, there to reference
    double deviation; ///< of log_ratio
};

/// The newest of each size, then of the smaller run id.
std::map<std::string, const MeasuredOperator*> newest_by_size(std::span<const MeasuredOperator> measured,
                                                              const std::string& operator_id)
{
    std::map<std::string, const MeasuredOperator*> newest;
    for (const MeasuredOperator& one : measured) {
        if (one.operator_id != operator_id || !(one.median_s > 0)) continue;
        const MeasuredOperator*& place = newest[one.parameters_key];
        if (place == nullptr || one.measured_at > place->measured_at ||
            (one.measured_at == place->measured_at && one.probe_run_id < place->probe_run_id))
            place = &one;
    }
    return newest;
}

std::vector<Ratio> ratios_of(const std::string& operator_id, const UnitMeasurements& reference,
                             const UnitMeasurements& there)
{
    const auto before = newest_by_size(reference.operators, operator_id);
    std::vector<Ratio> ratios;
    for (const auto& [key, measured] : newest_by_size(there.operators, operator_id)) {
        const auto same = before.find(key);
        if (same == before.end()) continue;
        ratios.push_back({measured, portable::log(size_work(measured->operations, measured->bytes)),
                          size_log_intensity(measured->operations, measured->bytes),
                          portable::log(measured->median_s / same->second->median_s),
                          portable::hypot(deviation_of(*measured), deviation_of(*same->second))});
    }
    return ratios;
}

/// The ratio at a demand's size.
struct RatioThere {
    PredictionBasis basis{PredictionBasis::kUnknown};
    double log_ratio{};
    double deviation{};
    const MeasuredOperator* evidence = nullptr;
};

RatioThere ratio_at(const OperatorDemand& demand, std::vector<Ratio> ratios)
{
    if (ratios.empty()) return {};
    for (const Ratio& ratio : ratios) {
        if (ratio.there->parameters_key == demand.parameters_key)
            return {PredictionBasis::kMeasured, ratio.log_ratio, ratio.deviation, ratio.there};
    }
    const double log_work = portable::log(size_work(demand.operations, demand.bytes));
    const double log_intensity = size_log_intensity(demand.operations, demand.bytes);
    const auto distance = [&](const Ratio& ratio) {
        return portable::hypot(ratio.log_work - log_work, ratio.log_intensity - log_intensity);
    };
    std::sort(ratios.begin(), ratios.end(), [&](const Ratio& a, const Ratio& b) {
        const double first = distance(a);
        const double second = distance(b);
        return first != second ? first < second : a.there->parameters_key < b.there->parameters_key;
    });
    ratios.resize(std::min(ratios.size(), kMaxNeighbours));
    constexpr double kMinDistance = 1e-6; // another shape of the same work and intensity
    double weights = 0;
    RatioThere result;
    for (const Ratio& ratio : ratios) {
        const double weight = portable::pow(std::max(distance(ratio), kMinDistance), -2);
        weights += weight;
        result.log_ratio += weight * ratio.log_ratio;
        result.deviation += weight * ratio.deviation;
    }
    result.log_ratio /= weights;
    result.deviation = portable::hypot(result.deviation / weights, deviation_at(distance(ratios.front())));
    const auto [least, most] = std::minmax_element(
        ratios.begin(), ratios.end(), [](const Ratio& a, const Ratio& b) { return a.log_work < b.log_work; });
    const bool is_between = least->log_work <= log_work && log_work <= most->log_work;
    result.basis = is_between ? PredictionBasis::kInterpolated : PredictionBasis::kScaled;
    result.evidence = ratios.front().there;
    return result;
}

/// How much faster the remainder is on `cores` than on one: Amdahl, with the serial fraction that gave the parallelism
/// seen on `reference_cores`.
double remainder_speedup(double parallelism, std::int64_t reference_cores, std::int64_t cores)
{
    const auto seen_on = static_cast<double>(reference_cores);
    if (reference_cores <= 1) return 1;
    const double speedup = std::clamp(parallelism, 1.0, seen_on);
    const double serial = (1 / speedup - 1 / seen_on) / (1 - 1 / seen_on);
    return 1 / (serial + (1 - serial) / static_cast<double>(std::max<std::int64_t>(cores, 1)));
}

/// Files are read by one thread in any case.
bool is_of_program_threads(const OperatorDemand& demand)
{
    return demand.is_serial || (!demand.remainder.empty() && demand.remainder != "io");
}

/// Measurements with one thread, as far as there are any.
UnitMeasurements with_one_thread(const UnitMeasurements& units)
{
    if (units.one_core.empty()) return units;
    return {.operators = units.one_core, .cores = 1, .one_core = {}};
}

/// What turns the ratio of probes into that of the program's own threads.
double threads_log_factor(const ReferenceRun& reference, const UnitMeasurements& there)
{
    const auto spread = [](const UnitMeasurements& units) {
        return static_cast<double>(std::max<std::int64_t>(with_one_thread(units).cores, 1));
    };
    const std::int64_t cores = reference.units.cores;
    return portable::log(spread(there) / spread(reference.units) *
                         remainder_speedup(reference.parallelism, cores, cores) /
                         remainder_speedup(reference.parallelism, cores, there.cores));
}

/// Memory and compute are told apart by estimates; I/O is seen as such.
bool is_estimated_class(const OperatorDemand& demand)
{
    return demand.remainder == "memory" || demand.remainder == "compute" || demand.remainder == "latency";
}

/// By how much the classes of the remainder differ in their ratios: what it would cost to take one for another.
double spread_of_remainder(std::span<const OperatorDemand> demands, std::span<const RatioThere> ratios)
{
    double least = 0;
    double most = 0;
    bool any = false;
    for (std::size_t i = 0; i < demands.size(); ++i) {
        if (!is_estimated_class(demands[i]) || ratios[i].basis == PredictionBasis::kUnknown) continue;
        least = any ? std::min(least, ratios[i].log_ratio) : ratios[i].log_ratio;
        most = any ? std::max(most, ratios[i].log_ratio) : ratios[i].log_ratio;
        any = true;
    }
    return most - least;
}

/// Of what may lie anywhere between two values, as a standard deviation of their distance: 1 / √12.
constexpr double kAnywhereBetween = 0.288675;

/// Moves what only resembles its operator towards the core's speed in general, as far as it is known.
void apply_similarity(std::span<const OperatorDemand> demands, std::vector<RatioThere>& ratios,
                      const ReferenceRun& reference, const UnitMeasurements& there)
{
    // What is not known to be like an operator tells most of the core in general.
    const auto core = std::max_element(demands.begin(), demands.end(), [](const auto& a, const auto& b) {
        const auto generality = [](const OperatorDemand& demand) {
            return demand.remainder == "compute" ? demand.similarity : -1;
        };
        return generality(a) < generality(b);
    });
    if (core == demands.end() || core->remainder != "compute") return;
    const RatioThere general = ratios[static_cast<std::size_t>(core - demands.begin())];
    if (general.basis == PredictionBasis::kUnknown) return;
    // The program's own threads say nothing of those of a library. How much of what its routines compute beside the
    // operator it divides among all cores nobody knows: from nothing to all of it.
    const RatioThere on_all_cores = ratio_at(*core, ratios_of(core->operator_id, reference.units, there));
    const double gain =
        on_all_cores.basis == PredictionBasis::kUnknown ? 0 : on_all_cores.log_ratio - general.log_ratio;
    constexpr double kDoubt = 0.25; // of the way between the two, as a standard deviation
    for (std::size_t i = 0; i < demands.size(); ++i) {
        if (demands[i].similarity >= 1 || ratios[i].basis == PredictionBasis::kUnknown) continue;
        const double unlike = 1 - std::max(0.0, demands[i].similarity);
        const bool is_of_library = demands[i].remainder.empty() && !demands[i].is_serial;
        const double of_threads = is_of_library ? gain : 0;
        const double way = general.log_ratio + of_threads / 2 - ratios[i].log_ratio;
        ratios[i].log_ratio += unlike * way;
        ratios[i].deviation =
            portable::hypot(portable::hypot(ratios[i].deviation, kDoubt * way), unlike * kAnywhereBetween * of_threads);
    }
}

/// Of what was never measured there: from unit types that are alike.
RatioThere estimate_ratio(const OperatorDemand& demand, const ReferenceRun& reference, const EstimateSource& missing)
{
    if (missing.estimates == nullptr) return {};
    const auto measured = newest_by_size(reference.units.operators, demand.operator_id);
    const auto before = measured.find(demand.parameters_key);
    if (before == measured.end()) return {};
    const auto estimate = missing.estimates->find(demand.operator_id, demand.parameters_key, missing.unit_type);
    if (!estimate || !(estimate->execution_s > 0)) return {};
    return {PredictionBasis::kEstimated, portable::log(estimate->execution_s / before->second->median_s),
            portable::hypot(estimate->deviation, deviation_of(*before->second)), nullptr};
}

/// By how much the logarithm of a ratio is off, as a standard deviation, for a loop that has nothing in common with the
/// operator that stands for it.
constexpr double kDoubtOfLoops = 0.5;

std::vector<RatioThere> find_ratios(std::span<const OperatorDemand> demands, const ReferenceRun& reference,
                                    const UnitMeasurements& there, const EstimateSource& missing)
{
    std::map<std::pair<std::string, bool>, std::vector<Ratio>> by_operator;
    std::vector<RatioThere> found;
    for (const OperatorDemand& demand : demands) {
        const bool is_own = is_of_program_threads(demand);
        const auto [place, is_new] = by_operator.try_emplace({demand.operator_id, is_own});
        if (is_new) {
            place->second =
                is_own ? ratios_of(demand.operator_id, with_one_thread(reference.units), with_one_thread(there))
                       : ratios_of(demand.operator_id, reference.units, there);
        }
        RatioThere ratio = ratio_at(demand, place->second);
        if (ratio.basis == PredictionBasis::kUnknown && !is_own) ratio = estimate_ratio(demand, reference, missing);
        if (is_own && ratio.basis != PredictionBasis::kUnknown) ratio.log_ratio += threads_log_factor(reference, there);
        found.push_back(ratio);
    }
    apply_similarity(demands, found, reference, there);
    const double half_spread = spread_of_remainder(demands, found) / 2;
    for (std::size_t i = 0; i < demands.size(); ++i) {
        if (!is_estimated_class(demands[i])) continue;
        const double unlike = 1 - std::clamp(demands[i].similarity, 0.0, 1.0);
        found[i].deviation = portable::hypot(portable::hypot(found[i].deviation, half_spread), kDoubtOfLoops * unlike);
    }
    return found;
}

/// What operators without a ratio are scaled by: the mean over those that have one, by their shares.
double mean_ratio(std::span<const OperatorDemand> demands, std::span<const RatioThere> ratios)
{
    double shares = 0;
    double sum = 0;
    for (std::size_t i = 0; i < demands.size(); ++i) {
        if (ratios[i].basis == PredictionBasis::kUnknown) continue;
        shares += demands[i].share;
        sum += demands[i].share * portable::exp(ratios[i].log_ratio);
    }
    return shares > 0 ? sum / shares : 1;
}

OperatorPrediction describe(const OperatorDemand& demand, const RatioThere& ratio, double total_s)
{
    OperatorPrediction prediction;
    prediction.operator_id = demand.operator_id;
    prediction.parameters_key = demand.parameters_key;
    prediction.count = demand.count;
    prediction.basis = ratio.basis;
    prediction.total_s = total_s;
    prediction.execution_s = total_s / static_cast<double>(std::max<std::int64_t>(demand.count, 1));
    prediction.low_s = total_s * portable::exp(-kWidthOf80Percent * ratio.deviation);
    prediction.high_s = total_s * portable::exp(kWidthOf80Percent * ratio.deviation);
    prediction.remainder = demand.remainder;
    if (ratio.evidence != nullptr) {
        prediction.probe_run_id = ratio.evidence->probe_run_id;
        prediction.measured_at = ratio.evidence->measured_at;
    }
    return prediction;
}

} // namespace

namespace {

/// The known run with each part multiplied by its ratio.
RunPrediction scale_parts(std::span<const OperatorDemand> demands, const ReferenceRun& reference,
                          std::vector<RatioThere> ratios)
{
    RunPrediction prediction;
    prediction.basis = RawBasis::kReference;
    const double mean = mean_ratio(demands, ratios);
    double variance = 0; // of the run time, in squared seconds
    double unsure_s = 0; // what is scaled like the rest
    double shares = std::clamp(reference.waiting_share, 0.0, 1.0);
    prediction.waiting_s = shares * reference.run_s;
    for (std::size_t i = 0; i < demands.size(); ++i) {
        const double share = std::clamp(demands[i].share, 0.0, std::max(0.0, 1 - shares));
        shares += share;
        const bool is_unknown = ratios[i].basis == PredictionBasis::kUnknown;
        if (is_unknown) {
            ratios[i].log_ratio = portable::log(mean);
            ratios[i].deviation = kUnknownDeviation;
            prediction.unknown_share += share;
        }
        if (is_unknown || ratios[i].basis == PredictionBasis::kEstimated) ++prediction.estimated_operators;
        const double total_s = share * reference.run_s * portable::exp(ratios[i].log_ratio);
        prediction.run_s += total_s;
        (is_unknown ? unsure_s : variance) += is_unknown ? total_s : portable::square(total_s * ratios[i].deviation);
        prediction.operators.push_back(describe(demands[i], ratios[i], total_s));
    }
    prediction.unmatched_s = (1 - shares) * reference.run_s * mean;
    variance += portable::square((unsure_s + prediction.unmatched_s) * kUnknownDeviation);
    prediction.run_s += prediction.unmatched_s + prediction.waiting_s;
    if (prediction.run_s <= 0) return prediction;
    const double deviation = portable::hypot(std::sqrt(variance) / prediction.run_s, kRunDeviation);
    prediction.low_s = prediction.run_s * portable::exp(-kWidthOf80Percent * deviation);
    prediction.high_s = prediction.run_s * portable::exp(kWidthOf80Percent * deviation);
    return prediction;
}

} // namespace

RunPrediction predict_from_reference(std::span<const OperatorDemand> demands, const ReferenceRun& reference,
                                     const UnitMeasurements& there, const EstimateSource& missing)
{
    return scale_parts(demands, reference, find_ratios(demands, reference, there, missing));
}

RunPrediction repeat_reference(std::span<const OperatorDemand> demands, const ReferenceRun& reference)
{
    RunPrediction prediction =
        scale_parts(demands, reference, std::vector<RatioThere>(demands.size(), {PredictionBasis::kMeasured, 0, 0}));
    // What no operator stands for took what it took here, too.
    if (prediction.run_s <= 0) return prediction;
    prediction.low_s = prediction.run_s * portable::exp(-kWidthOf80Percent * kRunDeviation);
    prediction.high_s = prediction.run_s * portable::exp(kWidthOf80Percent * kRunDeviation);
    return prediction;
}

} // namespace fathom
