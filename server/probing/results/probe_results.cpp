#include "server/probing/results/probe_results.hpp"

#include "core/base/secret.hpp"
#include "core/base/utf8_prefix.hpp"
#include "core/decide/probing/shrink_task.hpp"
#include "server/probing/findings/check_result.hpp"
#include "server/probing/findings/run_evidence.hpp"
#include "server/probing/findings/verification_store.hpp"
#include "server/probing/results/lost_runs.hpp"
#include "server/probing/results/result_store.hpp"
#include "server/probing/tasks/full_benchmark_split.hpp"
#include "server/probing/tasks/task_release.hpp"
#include "server/store/after_commit.hpp"
#include "server/store/log_after_commit.hpp"
#include "server/store/notifier.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>

namespace fathom::server {
namespace {

constexpr std::size_t kMaxReasonLength = 4000;
constexpr std::string_view kRunner = "fathom-probe: ";

/// Long texts are for the log; a row needs the gist.
std::string gist_of(std::string_view text)
{
    return std::string(utf8_prefix(text, kMaxReasonLength));
}

/// The last thing that the runner said of itself: "the task took longer than its limit of 10 s: …".
std::string last_words(const std::string& stderr_text)
{
    const std::size_t begin = stderr_text.rfind(kRunner);
    if (begin == std::string::npos) return {};
    const std::size_t end = std::min(stderr_text.find('\n', begin), stderr_text.size());
    std::string words = stderr_text.substr(begin + kRunner.size(), end - begin - kRunner.size());
    // Whatever a program wrote there must fit into a column of text.
    std::erase_if(
        words, [](char c) { return static_cast<unsigned char>(c) < 0x20U || static_cast<unsigned char>(c) >= 0x7FU; });
    return words;
}

std::string failure_of(const EndedProbeJob& ended)
{
    const std::string words = last_words(ended.stderr_text);
    return words.empty() ? ended.reason : ended.reason + ": " + words;
}

/// Whether the runner, or its center, ended it for its time. The runner's words are ours: probes/runner/run_task.cpp.
bool took_too_long(const EndedProbeJob& ended)
{
    return ended.outcome == AttemptOutcome::kWallLimit ||
           last_words(ended.stderr_text).find("longer than its limit") != std::string::npos;
}

std::string figure(double value)
{
    std::array<char, 32> text{};
    const auto [end, error] =
        std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, 3);
    return error == std::errc{} ? std::string(text.data(), end) : std::string("?");
}

/// Empty when the result is right and in time.
std::string fault_of(const ProbeResult& result, const ProbeTask& task)
{
    for (const OperatorResult& item : result.operators) {
        if (item.error > item.tolerance)
            return "the result of " + operator_key(item.id, item.parameters) + " is wrong: relative error " +
                   figure(item.error) + ", tolerance " + figure(item.tolerance);
    }
    if (result.wall_s > task.limit_s)
        return "it took " + figure(result.wall_s) + " s, its limit is " + figure(task.limit_s) + " s";
    return {};
}

/// Of a run without a result. What ended through its center is measured again (LostRuns).
const char* state_after(const EndedProbeJob& ended, const EndingRun& run)
{
    if (run.job_cancelled) return "cancelled";
    return ended.outcome && is_centers_doing(*ended.outcome) ? "lost" : "failed";
}

TestVerdict verdict_on(const EndedProbeJob& ended, const EndingRun& run)
{
    using Kind = TestVerdict::Kind;
    const bool has_run = ended.outcome == AttemptOutcome::kExited || ended.outcome == AttemptOutcome::kSignalled ||
                         ended.outcome == AttemptOutcome::kWallLimit || ended.outcome == AttemptOutcome::kOutOfMemory;
    return {.kind = has_run ? Kind::kRefused : Kind::kNotConcluded,
            .reason = gist_of(failure_of(ended)),
            .wall_s = 0,
            // Who cancelled it does not want to see it again at the next place.
            .may_retry = !run.job_cancelled};
}

/// What took too long is tried again at a quarter of the work: a few turns of that reach any limit.
constexpr double kShrunk = 0.25;

TestVerdict verdict_on(const ProbeResult& result, const ProbeTask& task)
{
    using Kind = TestVerdict::Kind;
    std::string fault = fault_of(result, task);
    const Kind kind = fault.empty() ? Kind::kPassed : Kind::kRefused;
    return {.kind = kind, .reason = std::move(fault), .wall_s = result.wall_s, .may_retry = true};
}

/// Nobody outside can know which results are verified.
bool draw(double share)
{
    constexpr double kSteps = 1 << 30U;
    std::array<std::uint8_t, sizeof(std::uint32_t)> bytes{};
    fill_random(bytes);
    const auto random = static_cast<double>(std::bit_cast<std::uint32_t>(bytes) & ((1U << 30U) - 1));
    return random < share * kSteps;
}

FindingPlace place_of(const EndingRun& run)
{
    return {run.center_id, run.unit_type_id, run.id};
}

} // namespace

void ProbeResults::quarantine_result(pqxx::work& transaction, const EndingRun& run, const Finding& finding) const
{
    if (!insert_finding(transaction, place_of(run), finding)) return;
    after_commit([metrics = metrics_, kind = std::string(to_string(finding.kind))] {
        metrics->count("fathom_probe_findings_total", "Quarantined results of probes.", {{"kind", kind}});
    });
}

Result<std::optional<Finding>> ProbeResults::store(pqxx::work& transaction, const EndingRun& run,
                                                   const std::string& text, std::optional<ProbeResult>& right) const
{
    const OperatorLibraryPointer library = operators_->library();
    Result<ProbeResult> result = read_probe_result(text);
    if (!result) {
        const bool is_empty = text.find_first_not_of(" \t\r\n") == std::string::npos;
        return std::optional(
            Finding{FindingKind::kNonsense,
                    is_empty ? "the probe wrote no result" : "not a result of this task: " + describe(result.error()),
                    Json{{"output_bytes", text.size()}}});
    }
    if (run.task.operators.empty()) // read_task_document()
        return std::optional(Finding{FindingKind::kNonsense, "its probe task cannot be read by this release",
                                     Json{{"probe_task_id", run.probe_task_id.value}}});
    const std::vector<ResultFault> faults = run.mode == ScalingMode::kThroughput
                                                ? check_copies(*result, run.task, run.unit_count, *library)
                                                : check_probe_result(*result, run.task, run.unit_count, *library);
    if (!faults.empty()) return std::optional(to_finding(faults));
    const RunEvidence evidence = select_evidence(transaction, run);
    std::optional<Finding> finding = judge_evidence(*result, evidence);
    if (finding) {
        if (finding->is_pattern)
            void_measurements(transaction, run.center_id, evidence.clocked_runs, "clock: " + finding->detail);
        return finding;
    }
    judge_caches(*result, *library);
    store_result(transaction, run, *result, evidence.seen_s, *library);
    if (choice_.is_possible) choose_verification(transaction, run, *result, draw(choice_.share));
    right = std::move(*result);
    return std::optional<Finding>();
}

std::optional<ProbeTask> ProbeResults::smaller_task(const EndingRun& run) const
{
    const OperatorLibraryPointer library = operators_->library();
    const auto manifests = [&](std::string_view id, std::int64_t version) { return library->manifest(id, version); };
    return shrink_task(run.asked, kShrunk, manifests);
}

void ProbeResults::probe_job_started(pqxx::work& transaction, const JobId& job,
                                     const std::vector<std::string>& able_unit_types)
{
    update_able_unit_types(transaction, job, able_unit_types);
}

void ProbeResults::keep_unexpected(pqxx::work& transaction, const EndingRun& run, const EndedProbeJob& ended) const
{
    const bool is_second = run.state == "succeeded";
    const Finding finding{is_second ? FindingKind::kDoubled : FindingKind::kLate,
                          is_second ? "a second result of the run" : "the run had ended without it: " + run.state,
                          Json{{"run_state", run.state}, {"output_bytes", ended.stdout_text.size()}}};
    quarantine_result(transaction, run, finding);
}

Result<void> ProbeResults::end_failed(pqxx::work& transaction, const EndingRun& run, const EndedProbeJob& ended)
{
    Result<bool> is_split = false;
    if (!run.is_pretest && !run.job_cancelled && took_too_long(ended))
        is_split = split_full_benchmark(transaction, *writer_, run);
    if (!is_split) return is_split.error();
    const std::string parts = *is_split ? "; its operators are measured in two parts now" : "";
    end_run(transaction, run.id, state_after(ended, run), gist_of(failure_of(ended)) + parts);
    if (!run.is_pretest) return {};
    TestVerdict verdict = verdict_on(ended, run);
    if (took_too_long(ended)) verdict.smaller = smaller_task(run);
    return conclude_test(transaction, *writer_, run, verdict);
}

Result<void> ProbeResults::repeat_late(pqxx::work& transaction, const EndingRun& run, const EndedProbeJob& ended,
                                       const Finding& finding)
{
    log_after_commit(LogLevel::kWarning, "probe_result_late",
                     {{"probe_run_id", run.id.value},
                      {"job_id", ended.job.value},
                      {"reason", finding.detail},
                      {"effect", "it is measured once more"}});
    end_run(transaction, run.id, "lost", gist_of("its end was told late, so it is measured again: " + finding.detail));
    return repeat_run(transaction, *writer_, run.id.value);
}

Result<void> ProbeResults::refuse(pqxx::work& transaction, const EndingRun& run, const EndedProbeJob& ended,
                                  const Finding& finding)
{
    const std::string error = gist_of(finding.detail);
    log_after_commit(LogLevel::kWarning, "probe_result_refused",
                     {{"probe_run_id", run.id.value}, {"job_id", ended.job.value}, {"error", error}});
    quarantine_result(transaction, run, finding);
    end_run(transaction, run.id, "failed", error);
    if (!run.is_pretest) return {};
    const TestVerdict verdict{.kind = TestVerdict::Kind::kRefused, .reason = error, .wall_s = 0, .may_retry = true};
    return conclude_test(transaction, *writer_, run, verdict);
}

Result<void> ProbeResults::probe_job_ended(pqxx::work& transaction, const EndedProbeJob& ended)
{
    const std::optional<EndingRun> run = lock_run_of_job(transaction, ended.job);
    if (!run) return {};
    if (!run->queued) {
        // A run is cancelled before its job only where its operator was withdrawn: the center may have been quicker.
        if (ended.succeeded && run->state != "cancelled") keep_unexpected(transaction, *run, ended);
        return {};
    }
    // Jobs that wait for this run go on, whatever came of it, or wait for its repeat.
    notify(transaction, "route", "");
    if (!ended.succeeded) return end_failed(transaction, *run, ended);
    std::optional<ProbeResult> right;
    const Result<std::optional<Finding>> stored = store(transaction, *run, ended.stdout_text, right);
    if (!stored) return stored.error();
    if (const std::optional<Finding>& finding = *stored; finding) {
        if (finding->may_be_late && !run->is_repeat) return repeat_late(transaction, *run, ended, *finding);
        return refuse(transaction, *run, ended, *finding);
    }
    notify(transaction, "catalog", run->center_id.value);
    if (!run->is_pretest) return {};
    TestVerdict verdict = verdict_on(*right, run->task);
    if (right->wall_s > run->task.limit_s) verdict.smaller = smaller_task(*run);
    return conclude_test(transaction, *writer_, *run, verdict);
}

Result<void> ProbeResults::probe_job_reported_late(pqxx::work& transaction, const EndedProbeJob& ended)
{
    const std::optional<EndingRun> run = lock_run_of_job(transaction, ended.job);
    if (!run) return {};
    const bool is_second = run->state == "succeeded";
    const Finding finding{is_second ? FindingKind::kDoubled : FindingKind::kLate,
                          is_second ? "a second result of the run" : "its attempt had ended: " + ended.reason,
                          Json{{"run_state", run->state}}};
    quarantine_result(transaction, *run, finding);
    return {};
}

} // namespace fathom::server
