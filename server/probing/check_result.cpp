#include "server/probing/check_result.hpp"

#include "core/decide/sample_statistics.hpp"

#include <algorithm>
#include <cmath>

namespace fathom::server {
namespace {

constexpr std::size_t kLargestResult = 4UL << 20U;

/// Figures that both sides compute from the same numbers differ by rounding only.
bool agrees(double a, double b)
{
    return std::isfinite(a) && std::isfinite(b) && std::abs(a - b) <= 1e-6 * std::max(std::abs(a), std::abs(b));
}

void check_statistics(const OperatorResult& result, const std::string& path, std::vector<FieldError>& errors)
{
    const SampleStatistics statistics = summarize(result.samples_s, result.disturbed);
    if (!agrees(result.median_s, statistics.median))
        errors.push_back({path + ".median_s", "is not the median of the samples"});
    if (result.ci_low_s > result.median_s || result.ci_high_s < result.median_s)
        errors.push_back({path + ".ci_low_s", "the confidence interval does not hold the median"});
    const auto count = static_cast<std::int64_t>(result.samples_s.size());
    if (std::any_of(result.outliers.begin(), result.outliers.end(),
                    [&](std::int64_t i) { return i < 0 || i >= count; }))
        errors.push_back({path + ".outliers", "point outside the samples"});
}

void check_formula(const std::string& formula, const OperatorResult& result, double claimed, const std::string& field,
                   std::vector<FieldError>& errors)
{
    const Result<double> expected = evaluate_formula(formula, result.parameters);
    if (!expected || !agrees(claimed, *expected)) errors.push_back({field, "is not what the manifest's formula gives"});
}

void check_operator(const OperatorResult& result, const std::string& path, const ProbeTask& task,
                    const OperatorLibrary& library, std::vector<FieldError>& errors)
{
    const auto use = std::find_if(task.operators.begin(), task.operators.end(), [&](const OperatorUse& asked) {
        return asked.id == result.id && asked.parameters == result.parameters && asked.label == result.label;
    });
    if (use == task.operators.end()) {
        errors.push_back({path, operator_key(result.id, result.parameters) + " is not in the task"});
        return;
    }
    if (use->version != 0 && use->version != result.version)
        errors.push_back({path + ".version", "is " + std::to_string(result.version) + ", the task asks for " +
                                                 std::to_string(use->version)});
    if (use->count != result.count) errors.push_back({path + ".count", "is not the task's"});
    check_statistics(result, path, errors);
    const OperatorLibrary::Version* version = library.find(result.id, result.version);
    if (version == nullptr) {
        errors.push_back({path + ".version", "is not in the library"});
        return;
    }
    check_formula(version->manifest.operation_count, result, result.operations, path + ".operations", errors);
    check_formula(version->manifest.byte_count, result, result.bytes, path + ".bytes", errors);
    if (!agrees(version->manifest.tolerance, result.tolerance) || version->manifest.precision != result.precision)
        errors.push_back({path + ".tolerance", "tolerance and precision must be the manifest's"});
}

} // namespace

Result<ProbeResult> read_probe_result(const std::string& text, const ProbeTask& task, std::int64_t unit_count,
                                      const OperatorLibrary& library)
{
    const Result<Json> json = parse_json(text, {.max_bytes = kLargestResult});
    if (!json) return json.error();
    // Facts may hold anything; what the database cannot hold is refused like other nonsense.
    if (contains_nul(*json)) return Error{Errc::kInvalid, "the probe result holds a NUL character"};
    Result<ProbeResult> result = parse_probe_result(*json);
    if (!result) return result;

    std::vector<FieldError> errors;
    if (result->unit_count != unit_count)
        errors.push_back({"unit_count",
                          "is " + std::to_string(result->unit_count) + ", ordered were " + std::to_string(unit_count)});
    if (result->start_up_s > result->wall_s) errors.push_back({"start_up_s", "is longer than wall_s"});
    for (std::size_t i = 0; i < result->operators.size(); ++i) {
        const OperatorResult& item = result->operators[i];
        check_operator(item, "operators[" + std::to_string(i) + "]", task, library, errors);
    }
    for (const OperatorUse& use : task.operators) {
        // The same operator at the same size may have several places in the data flow (M5).
        const auto is_it = [&](const auto& item) { return item.id == use.id && item.parameters == use.parameters; };
        const auto times = std::count_if(result->operators.begin(), result->operators.end(), is_it);
        const auto asked = std::count_if(task.operators.begin(), task.operators.end(), is_it);
        if (times != asked)
            errors.push_back({"operators", operator_key(use.id, use.parameters) + " stands there " +
                                               std::to_string(times) + " times, right is " + std::to_string(asked)});
    }
    return value_or_errors(std::move(*result), std::move(errors), "the probe result");
}

} // namespace fathom::server
