#include "server/probing/findings/check_result.hpp"

#include "core/decide/measurement/cache_rule.hpp"
#include "core/decide/measurement/memory_level.hpp"
#include "core/decide/measurement/plausibility.hpp"
#include "core/decide/statistics/sample_statistics.hpp"
#include "core/model/operator_place.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

namespace fathom::server {
namespace {

constexpr std::size_t kLargestResult = 4UL << 20U;

/// Figures that both sides compute from the same numbers differ by rounding only.
bool agrees(double a, double b)
{
    return std::isfinite(a) && std::isfinite(b) && std::abs(a - b) <= 1e-6 * std::max(std::abs(a), std::abs(b));
}

using Faults = std::vector<ResultFault>;

/// @param times  median and interval, with all threads or with one.
void check_median(const auto& times, const SampleStatistics& statistics, const std::string& path, Faults& faults)
{
    const auto nonsense = [&](const char* field, const char* detail) {
        faults.push_back({FindingKind::kNonsense, {path + field, detail}});
    };
    if (!agrees(times.median_s, statistics.median)) nonsense(".median_s", "is not the median of the samples");
    if (!agrees(times.ci_low_s, statistics.ci_low) || !agrees(times.ci_high_s, statistics.ci_high))
        nonsense(".ci_low_s", "is not the confidence interval of the samples");
}

void check_statistics(const OperatorResult& result, const std::string& path, Faults& faults)
{
    check_median(result, summarize(result.samples_s, result.disturbed), path, faults);
    if (result.one_thread)
        check_median(*result.one_thread, summarize(result.one_thread->samples_s, {}), path + ".one_thread", faults);
    if (result.alone) check_median(*result.alone, summarize(result.alone->samples_s, {}), path + ".alone", faults);
    const auto count = static_cast<std::int64_t>(result.samples_s.size());
    if (std::any_of(result.outliers.begin(), result.outliers.end(),
                    [&](std::int64_t i) { return i < 0 || i >= count; }))
        faults.push_back({FindingKind::kNonsense, {path + ".outliers", "point outside the samples"}});
}

void check_formula(const std::string& formula, const OperatorResult& result, double claimed, const std::string& field,
                   Faults& faults)
{
    const Result<double> expected = evaluate_formula(formula, result.parameters);
    if (!expected || !agrees(claimed, *expected))
        faults.push_back({FindingKind::kNonsense, {field, "is not what the manifest's formula gives"}});
}

/// The operators of a task that no result was found for yet.
class OpenUses {
  public:
    explicit OpenUses(const ProbeTask& task) : task_(&task), is_taken_(task.operators.size()) {}

    /// What the result is of; nullptr: nothing of the task. One size may be there once for a library call and once for
    /// what no operator covers: they have counts of their own.
    const OperatorUse* take(const OperatorResult& result)
    {
        const std::vector<OperatorUse>& uses = task_->operators;
        std::optional<std::size_t> found;
        for (std::size_t i = 0; i < uses.size(); ++i) {
            if (!is_same_place(uses[i], result)) continue;
            const bool is_open = is_taken_[i] == 0;
            if (!found || (is_open && is_taken_[*found] != 0)) found = i;
            if (!is_open || uses[i].count != result.count) continue;
            found = i;
            break;
        }
        if (!found) return nullptr;
        is_taken_[*found] = 1;
        return &uses[*found];
    }

  private:
    const ProbeTask* task_;
    std::vector<std::uint8_t> is_taken_;
};

void check_operator(const OperatorResult& result, const std::string& path, OpenUses& uses,
                    const OperatorLibrary& library, Faults& faults)
{
    const OperatorUse* const use = uses.take(result);
    if (use == nullptr) {
        faults.push_back({FindingKind::kWrongResult,
                          {path, operator_key(result.id, result.parameters) + " is not in the task as it was sent"}});
        return;
    }
    if (use->version != 0 && use->version != result.version)
        faults.push_back({FindingKind::kVersion,
                          {path + ".version", "is " + std::to_string(result.version) + ", the task asks for " +
                                                  std::to_string(use->version)}});
    if (use->count != result.count)
        faults.push_back({FindingKind::kWrongResult, {path + ".count", "is not the task's"}});
    check_statistics(result, path, faults);
    const OperatorLibrary::Version* version = library.find(result.id, result.version);
    if (version == nullptr) {
        faults.push_back({FindingKind::kVersion, {path + ".version", "is not in the library"}});
        return;
    }
    check_formula(version->manifest.operation_count, result, result.operations, path + ".operations", faults);
    check_formula(version->manifest.byte_count, result, result.bytes, path + ".bytes", faults);
    if (!agrees(version->manifest.tolerance, result.tolerance) || version->manifest.precision != result.precision)
        faults.push_back(
            {FindingKind::kNonsense, {path + ".tolerance", "tolerance and precision must be the manifest's"}});
}

void check_operators(const ProbeResult& result, const ProbeTask& task, const OperatorLibrary& library, Faults& faults)
{
    OpenUses uses(task);
    for (std::size_t i = 0; i < result.operators.size(); ++i)
        check_operator(result.operators[i], "operators[" + std::to_string(i) + "]", uses, library, faults);
    for (const OperatorUse& use : task.operators) {
        // The same operator at the same size may have several places in the data flow (M5).
        const auto is_it = [&](const auto& item) { return item.id == use.id && item.parameters == use.parameters; };
        const auto times = std::count_if(result.operators.begin(), result.operators.end(), is_it);
        const auto asked = std::count_if(task.operators.begin(), task.operators.end(), is_it);
        if (times != asked)
            faults.push_back({FindingKind::kWrongResult,
                              {"operators", operator_key(use.id, use.parameters) + " stands there " +
                                                std::to_string(times) + " times, right is " + std::to_string(asked)}});
    }
}

} // namespace

Result<ProbeResult> read_probe_result(const std::string& text)
{
    const Result<Json> json = parse_json(text, {.max_bytes = kLargestResult});
    if (!json) return json.error();
    // Facts may hold anything; what the database cannot hold is refused like other nonsense.
    if (contains_nul(*json)) return Error{Errc::kInvalid, "the probe result holds a NUL character"};
    return parse_probe_result(*json);
}

std::vector<ResultFault> check_probe_result(const ProbeResult& result, const ProbeTask& task, std::int64_t unit_count,
                                            const OperatorLibrary& library)
{
    Faults faults;
    // Every runner sends back the seed that it was given: another one is that of another run.
    if (result.seed != task.seed)
        faults.push_back({FindingKind::kChecksum, {"seed", "is not this run's: the result is of another run"}});
    if (result.unit_count != unit_count)
        faults.push_back({FindingKind::kWrongResult,
                          {"unit_count", "is " + std::to_string(result.unit_count) + ", ordered were " +
                                             std::to_string(unit_count)}});
    if (std::string problem = check_sums(result); !problem.empty())
        faults.push_back({FindingKind::kNonsense, {"wall_s", std::move(problem)}});
    check_operators(result, task, library, faults);
    return faults;
}

std::vector<ResultFault> check_copies(const ProbeResult& result, const ProbeTask& task, std::int64_t copies,
                                      const OperatorLibrary& library)
{
    Faults faults = check_probe_result(result, task, 1, library);
    const auto printed = static_cast<std::int64_t>(result.copies.size()) + 1;
    if (printed != copies)
        faults.push_back({FindingKind::kWrongResult,
                          {"copies", "are " + std::to_string(printed) + ", ordered were " + std::to_string(copies)}});
    for (std::size_t i = 0; i < result.operators.size(); ++i) {
        if (!result.operators[i].alone)
            faults.push_back({FindingKind::kWrongResult,
                              {"operators[" + std::to_string(i) + "].alone", "is missing: what it took by itself"}});
    }
    for (std::size_t i = 0; i < result.copies.size(); ++i) {
        for (ResultFault& fault : check_probe_result(result.copies[i], task, 1, library)) {
            fault.error.field.insert(0, "copies[" + std::to_string(i) + "].");
            faults.push_back(std::move(fault));
        }
    }
    return faults;
}

void judge_caches(ProbeResult& result, const OperatorLibrary& library)
{
    const std::optional<std::int64_t> caches_bytes = measured_caches(result);
    for (OperatorResult& item : result.operators) {
        const OperatorManifest* const manifest = library.manifest(item.id, item.version);
        if (manifest == nullptr) continue; // check_probe_result() refuses such a result
        item.cache_verdict = check_cache_rule(*manifest, item.parameters, caches_bytes);
        item.memory_level = memory_level(*manifest, item.parameters, result);
    }
}

Finding to_finding(const std::vector<ResultFault>& faults)
{
    constexpr std::size_t kMaxEvidence = 20;
    Finding finding{faults.front().kind, {}, Json::object()};
    Json fields = Json::array();
    finding.detail = "not a result of this task:";
    for (const ResultFault& fault : faults) {
        finding.kind = std::min(finding.kind, fault.kind);
        finding.detail += (fields.empty() ? " " : "; ") + fault.error.field + " " + fault.error.detail;
        if (fields.size() < kMaxEvidence)
            fields.push_back({{"field", fault.error.field}, {"detail", fault.error.detail}});
    }
    finding.evidence["faults"] = std::move(fields);
    return finding;
}

} // namespace fathom::server
