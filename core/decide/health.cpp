#include "core/decide/health.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fathom {

QuarantineVerdict judge_center(std::span<const EndedAttempt> attempts,
                               const std::vector<std::string>& types_that_succeed_elsewhere, const QuarantineRule& rule,
                               Timestamp now)
{
    QuarantineVerdict verdict;
    const auto succeeds_elsewhere = [&](const std::string& job_type) {
        return std::find(types_that_succeed_elsewhere.begin(), types_that_succeed_elsewhere.end(), job_type) !=
               types_that_succeed_elsewhere.end();
    };
    for (const EndedAttempt& one : attempts) {
        if (one.ended_at <= now - rule.window || one.ended_at > now) continue;
        ++verdict.attempts;
        const bool is_quick = one.has_failed && one.run_s <= rule.quick_failure_s && succeeds_elsewhere(one.job_type);
        if (one.is_centers_fault || is_quick) ++verdict.failures;
    }
    const double least = rule.failure_share * static_cast<double>(verdict.attempts);
    verdict.is_bad = verdict.attempts > 0 && verdict.failures >= rule.least_failures &&
                     static_cast<double>(verdict.failures) >= least;
    if (verdict.failures > 0)
        verdict.reason = fmt::format("{} of {} attempts failed by its fault within {:g} min", verdict.failures,
                                     verdict.attempts, static_cast<double>(rule.window.count()) / 60);
    return verdict;
}

} // namespace fathom
