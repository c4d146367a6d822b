#include "server/learning/quarantine_watch.hpp"

#include "core/base/log.hpp"
#include "server/centers/center_change.hpp"
#include "server/store/savepoint.hpp"

#include <algorithm>

namespace fathom::server {
namespace {

WindowElsewhere elsewhere(const std::vector<CenterAttempts>& centers, const CenterAttempts& here)
{
    WindowElsewhere window;
    std::set<std::string> submitters;
    for (const CenterAttempts& center : centers) {
        submitters.insert(center.submitters.begin(), center.submitters.end());
        if (center.id == here.id) continue;
        window.types_that_succeed.insert(window.types_that_succeed.end(), center.types_that_succeed.begin(),
                                         center.types_that_succeed.end());
    }
    window.submitters = std::ssize(submitters);
    return window;
}

} // namespace

Result<void> QuarantineWatch::look(pqxx::work& transaction) const
{
    const Timestamp now = clock_->now();
    judge_all(transaction, now);
    for (const QuarantinedCenter& center : select_quarantined(transaction)) {
        const Result<void> done = try_part(transaction, "quarantine_not_followed", {"center", center.name},
                                           [&] { return follow(transaction, center, now); });
        if (!done) return done;
    }
    return {};
}

void QuarantineWatch::judge_all(pqxx::work& transaction, Timestamp now) const
{
    if (rule_.least_failures <= 0) return; // switched off
    const std::vector<CenterAttempts> centers = select_center_attempts(transaction, rule_.window);
    for (const CenterAttempts& center : centers) {
        if (!center.is_judged) continue;
        const QuarantineVerdict verdict = judge_center(center.attempts, elsewhere(centers, center), rule_, now);
        if (verdict.is_bad) quarantine(transaction, center, verdict);
    }
}

void QuarantineWatch::quarantine(pqxx::work& transaction, const CenterAttempts& center,
                                 const QuarantineVerdict& verdict) const
{
    Json evidence{{"failures", verdict.failures}, {"attempts", verdict.attempts}};
    if (!quarantine_center(transaction, {actor_, ""}, center.id, verdict.reason, std::move(evidence))) return;
    metrics_->count("fathom_center_quarantines_total", "Centers that were closed to jobs since they failed too many.");
}

Result<void> QuarantineWatch::follow(pqxx::work& transaction, const QuarantinedCenter& center, Timestamp now) const
{
    if (center.good_probes >= rule_.good_probes) {
        release_center(transaction, {actor_, ""}, center.id, {{"good_probes", center.good_probes}});
        return {};
    }
    if (!center.is_reachable || center.has_probe_queued) return {};
    if (now < center.last_word_at + pause_before_probe(rule_, center.good_probes, center.bad_probes)) return {};
    const Result<HealthProbe> probe = probes_->queue(transaction, center.id, center.probe_count, now);
    if (!probe) return probe.error();
    note_quarantine_obstacle(transaction, center.id, probe->obstacle);
    if (probe->run)
        log_info("quarantined_center_probed", {{"center", center.name}, {"probe_run_id", probe->run->value}});
    return {};
}

} // namespace fathom::server
