#include "core/decide/health.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fathom {
namespace {

constexpr std::chrono::seconds kLongestPause = std::chrono::hours(1);

} // namespace

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

std::chrono::seconds pause_before_probe(const QuarantineRule& rule, std::int64_t good_in_a_row,
                                        std::int64_t bad_in_a_row)
{
    if (good_in_a_row > 0) return std::chrono::seconds(0);
    std::chrono::seconds pause = rule.probe_pause;
    for (std::int64_t i = 0; i < bad_in_a_row && pause < kLongestPause; ++i)
        pause *= 2;
    return std::min(pause, kLongestPause);
}

} // namespace fathom
