#include "simulator/live/export_rates.hpp"

#include "core/decide/statistics/sample_statistics.hpp"

#include <algorithm>
#include <cmath>

namespace fathom::simulation {
namespace {

/// Of a decision's candidates not all are told: with more unit types than this each center is asked for by itself.
constexpr std::size_t kMaxAtOnce = 24;
constexpr std::size_t kMaxPredictionsOfType = 5000; ///< of a job type, whose medians stand for what is not predicted

/// Seconds by unit type's id; 0 where it could run but nothing is known.
using Times = std::map<std::string, double>;

Json preview_of(const std::string& type, const Json& sample, const Json& units)
{
    const Json& spec = member(sample, "spec");
    Json job = {{"command", {"true"}}, {"type", type}, {"units", units}, {"metering_wait_s", 0}};
    if (!items_of(spec, "operators").empty()) job["operators"] = spec["operators"];
    return job;
}

/// The decision; null where the network refuses such a job.
Result<Json> ask(NetworkSource& source, const Json& job)
{
    Result<Json> answer = source.post("/placements:preview", job);
    if (answer) return member(*answer, "decision");
    const Errc code = answer.error().code;
    if (code == Errc::kInvalid || code == Errc::kInfeasible || code == Errc::kConflict) return Json();
    return answer.error();
}

double computing_s(const Json& candidate)
{
    return number_of(member(candidate, "scaling"), "compute_s").value_or(0);
}

Result<Times> predicted_times(NetworkSource& source, const std::string& type, const Json& sample,
                              std::int64_t unit_count, const Json& unit_types)
{
    std::set<std::string> centers{""};
    if (unit_types.size() > kMaxAtOnce) {
        centers.clear();
        for (const Json& unit_type : unit_types)
            centers.insert(text_of(unit_type, "center"));
    }
    Times times;
    for (const std::string& center : centers) {
        Json units = {{"count", unit_count}};
        if (!center.empty()) units["center"] = center;
        const Result<Json> decision = ask(source, preview_of(type, sample, units));
        if (!decision) return decision.error();
        for (const Json& candidate : items_of(*decision, "candidates")) {
            if (is_true(candidate, "feasible")) times[text_of(candidate, "unit_type_id")] = computing_s(candidate);
        }
    }
    return times;
}

bool is_known(const Times& times)
{
    return std::any_of(times.begin(), times.end(), [](const auto& one) { return one.second > 0; });
}

/// Medians of what jobs of the type took, on one count.
Result<Times> seen_times(NetworkSource& source, const std::string& type, std::int64_t unit_count)
{
    const Result<Json> list =
        list_items(source, "/predictions", {{"job_type", type}, {"ended", "true"}}, kMaxPredictionsOfType);
    if (!list) return list.error();
    std::map<std::string, std::vector<double>> runs;
    for (const Json& item : *list) {
        const double run_s = number_of(item, "actual_run_s").value_or(0);
        if (text_of(item, "outcome") == "succeeded" && run_s > 0 && number_of(item, "unit_count") == unit_count)
            runs[text_of(item, "unit_type_id")].push_back(run_s);
    }
    Times times;
    for (auto& [unit_type, samples] : runs)
        times[unit_type] = median(std::move(samples));
    return times;
}

/// Rates from times: 1 where it is quickest; a middling one where nothing is known.
void set_rates(const Times& times, ExportedType& type)
{
    std::vector<double> known;
    for (const auto& [unit_type, run_s] : times) {
        if (run_s > 0) known.push_back(run_s);
    }
    type.least_s = known.empty() ? 0 : *std::min_element(known.begin(), known.end());
    const double middling = known.empty() ? 1 : type.least_s / median(known);
    for (const auto& [unit_type, run_s] : times)
        type.rates[unit_type] = run_s > 0 ? type.least_s / run_s : middling;
}

} // namespace

std::optional<double> ExportedType::work_of(double run_s, const std::string& unit_type_id,
                                            std::int64_t unit_count) const
{
    const auto rate = rates.find(unit_type_id);
    if (rate == rates.end()) return std::nullopt;
    double speedup = 1;
    if (const auto table = speedups.find(unit_type_id); table != speedups.end()) {
        // Every count that jobs had was asked for; where nothing was predicted the nearest one below stands for it.
        const auto above = table->second.upper_bound(unit_count);
        if (above != table->second.begin()) speedup = std::prev(above)->second;
    }
    return run_s * rate->second * speedup;
}

std::set<std::int64_t> counts_between(std::int64_t least, std::int64_t most)
{
    std::set<std::int64_t> counts{least};
    for (std::int64_t count = 1; count < most; count *= 2) {
        if (count > least) counts.insert(count);
    }
    if (most > least) counts.insert(most);
    return counts;
}

Result<void> find_rates(NetworkSource& source, const std::string& name, const Json& unit_types, ExportedType& type)
{
    type.least_count = *type.counts.begin();
    Result<Times> least = predicted_times(source, name, type.sample, type.least_count, unit_types);
    if (!least) return least.error();
    const bool is_predicted = is_known(*least);
    if (!is_predicted) {
        const Result<Times> seen = seen_times(source, name, type.least_count);
        if (!seen) return seen.error();
        for (const auto& [unit_type, run_s] : *seen)
            (*least)[unit_type] = run_s;
    }
    set_rates(*least, type);
    if (!is_predicted) return {};
    for (const std::int64_t count : type.counts) {
        const Result<Times> times =
            count == type.least_count ? least : predicted_times(source, name, type.sample, count, unit_types);
        if (!times) return times.error();
        for (const auto& [unit_type, run_s] : *times) {
            const auto single = least->find(unit_type);
            if (run_s > 0 && single != least->end() && single->second > 0)
                type.speedups[unit_type][count] = single->second / run_s;
        }
    }
    return {};
}

Result<std::optional<ExpectedRun>> expected_run(NetworkSource& source, const Json& job)
{
    const Json& spec = member(job, "spec");
    Json request = preview_of(text_of(job, "type"), job, member(spec, "units"));
    request["project"] = text_of(job, "project");
    const Result<Json> decision = ask(source, request);
    if (!decision) return decision.error();
    const Json& winner = member(*decision, "winner");
    const Json& candidates = items_of(*decision, "candidates");
    if (!winner.is_number_unsigned() || winner.get<std::size_t>() >= candidates.size())
        return std::optional<ExpectedRun>();
    const Json& candidate = candidates[winner.get<std::size_t>()];
    ExpectedRun run{.run_s = computing_s(candidate), .unit_type_id = text_of(candidate, "unit_type_id")};
    run.unit_count = static_cast<std::int64_t>(number_of(candidate, "unit_count").value_or(1));
    return run.run_s > 0 ? std::optional(run) : std::optional<ExpectedRun>();
}

} // namespace fathom::simulation
