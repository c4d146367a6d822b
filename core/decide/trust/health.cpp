#include "core/decide/trust/health.hpp"

#include "core/base/clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace fathom {
namespace {

constexpr std::chrono::seconds kMaxPause = std::chrono::hours(1);

/// Fewest submitters whose ambiguous failures count: one may fail on purpose, also where there is nobody else.
constexpr std::int64_t kMinSubmitters = 2;

/// Failures that the jobs may have brought about, or the center.
struct AmbiguousFailures {
    std::int64_t count{};
    std::set<std::string_view> met_by;
    std::set<std::string_view> unit_types;
};

bool is_ambiguous(const EndedAttempt& one, const QuarantineRule& rule, const HealthEvidence& evidence)
{
    if (one.was_lost_running) return true;
    if (!one.has_failed || one.run_s > rule.quick_failure_s) return false;
    return std::find(evidence.types_that_succeed.begin(), evidence.types_that_succeed.end(), one.job_type) !=
           evidence.types_that_succeed.end();
}

bool were_met_by_enough(const AmbiguousFailures& ambiguous, const QuarantineRule& rule, const HealthEvidence& evidence)
{
    const std::int64_t wanted = std::min(rule.ambiguous_failure_submitters, evidence.submitters);
    return std::ssize(ambiguous.met_by) >= std::max(kMinSubmitters, wanted);
}

bool are_too_many(std::int64_t failures, std::int64_t attempts, const QuarantineRule& rule)
{
    const double least = rule.failure_share * static_cast<double>(attempts);
    return attempts > 0 && failures >= rule.least_failures && static_cast<double>(failures) >= least;
}

std::string reason_of(const QuarantineVerdict& verdict, const QuarantineRule& rule)
{
    if (verdict.failures == 0) return {};
    return fmt::format("{} of {} attempts failed by its fault within {:g} min", verdict.failures, verdict.attempts,
                       static_cast<double>(rule.window.count()) / 60);
}

std::chrono::seconds doubled(std::chrono::seconds pause, std::int64_t times)
{
    for (std::int64_t i = 0; i < times && pause < kMaxPause; ++i)
        pause *= 2;
    return std::min(pause, kMaxPause);
}

} // namespace

QuarantineVerdict judge_center(std::span<const EndedAttempt> attempts, const HealthEvidence& evidence,
                               const QuarantineRule& rule, Timestamp now)
{
    QuarantineVerdict verdict;
    AmbiguousFailures ambiguous;
    for (const EndedAttempt& one : attempts) {
        if (one.ended_at <= now - rule.window || one.ended_at > now) continue;
        ++verdict.attempts;
        if (one.is_centers_fault) {
            ++verdict.failures;
        } else if (is_ambiguous(one, rule, evidence)) {
            ++ambiguous.count;
            ambiguous.met_by.insert(one.submitter);
            ambiguous.unit_types.insert(one.unit_type);
        }
    }
    const bool do_users_agree = were_met_by_enough(ambiguous, rule, evidence);
    const bool do_all_count = do_users_agree || evidence.has_failed_probe;
    if (do_all_count) verdict.failures += ambiguous.count;
    verdict.is_bad = are_too_many(verdict.failures, verdict.attempts, rule);
    verdict.reason = reason_of(verdict, rule);
    if (do_all_count && !do_users_agree && ambiguous.count > 0) verdict.reason += ", and so did a probe";
    if (!do_all_count && !verdict.is_bad && are_too_many(verdict.failures + ambiguous.count, verdict.attempts, rule))
        verdict.suspected_unit_types.assign(ambiguous.unit_types.begin(), ambiguous.unit_types.end());
    return verdict;
}

std::chrono::seconds pause_before_probe(const QuarantineRule& rule, std::int64_t good_in_a_row,
                                        std::int64_t bad_in_a_row)
{
    if (good_in_a_row > 0) return std::chrono::seconds(0);
    return doubled(rule.probe_pause, bad_in_a_row);
}

std::chrono::seconds pause_before_next_check(const QuarantineRule& rule, std::int64_t checks)
{
    return doubled(rule.probe_pause, checks);
}

} // namespace fathom
