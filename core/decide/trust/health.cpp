#include "core/decide/trust/health.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

namespace fathom {
namespace {

constexpr std::chrono::seconds kMaxPause = std::chrono::hours(1);

} // namespace

QuarantineVerdict judge_center(std::span<const EndedAttempt> attempts, const WindowElsewhere& elsewhere,
                               const QuarantineRule& rule, Timestamp now)
{
    QuarantineVerdict verdict;
    const auto succeeds_elsewhere = [&](const std::string& job_type) {
        return std::find(elsewhere.types_that_succeed.begin(), elsewhere.types_that_succeed.end(), job_type) !=
               elsewhere.types_that_succeed.end();
    };
    std::int64_t quick = 0;
    std::set<std::string_view> met_by;
    for (const EndedAttempt& one : attempts) {
        if (one.ended_at <= now - rule.window || one.ended_at > now) continue;
        ++verdict.attempts;
        if (one.is_centers_fault) {
            ++verdict.failures;
        } else if (one.has_failed && one.run_s <= rule.quick_failure_s && succeeds_elsewhere(one.job_type)) {
            ++quick;
            met_by.insert(one.submitter);
        }
    }
    if (std::ssize(met_by) >= std::min(rule.quick_failure_submitters, elsewhere.submitters)) verdict.failures += quick;
    const double least = rule.failure_share * static_cast<double>(verdict.attempts);
    verdict.is_bad = verdict.attempts > 0 && verdict.failures >= rule.least_failures &&
                     static_cast<double>(verdict.failures) >= least;
    if (verdict.failures > 0)
        verdict.reason = fmt::format("{} of {} attempts failed by its fault within {:g} min", verdict.failures,
                                     verdict.attempts, static_cast<double>(rule.window.count()) / 60);
    return verdict;
}

std::chrono::seconds pause_before_probe(const QuarantineRule& rule, std::int64_t good_in_a_row,
                                        std::int64_t bad_in_a_row)
{
    if (good_in_a_row > 0) return std::chrono::seconds(0);
    std::chrono::seconds pause = rule.probe_pause;
    for (std::int64_t i = 0; i < bad_in_a_row && pause < kMaxPause; ++i)
        pause *= 2;
    return std::min(pause, kMaxPause);
}

} // namespace fathom
