#include "server/learning/quarantine_watch.hpp"

#include "server/centers/center_change.hpp"
#include "server/store/after_commit.hpp"
#include "server/store/log_after_commit.hpp"
#include "server/store/savepoint.hpp"

#include <algorithm>

namespace fathom::server {
namespace {

HealthEvidence evidence_elsewhere(const std::vector<CenterAttempts>& centers, const CenterAttempts& here)
{
    HealthEvidence evidence;
    std::set<std::string> submitters;
    for (const CenterAttempts& center : centers) {
        submitters.insert(center.submitters.begin(), center.submitters.end());
        if (center.id == here.id) continue;
        evidence.types_that_succeed.insert(evidence.types_that_succeed.end(), center.types_that_succeed.begin(),
                                           center.types_that_succeed.end());
    }
    evidence.submitters = std::ssize(submitters);
    return evidence;
}

bool is_check_due(const SuspectProbes& probes, const QuarantineRule& rule, Timestamp now)
{
    if (!probes.is_reachable || probes.has_probe_queued) return false;
    return probes.count == 0 || now >= probes.last_ended_at + pause_before_next_check(rule, probes.count);
}

} // namespace

Result<void> QuarantineWatch::look(pqxx::work& transaction) const
{
    const Timestamp now = clock_->now();
    if (Result<void> judged = judge_all(transaction, now); !judged) return judged;
    for (const QuarantinedCenter& center : select_quarantined(transaction)) {
        const Result<void> done = try_part(transaction, "quarantine_not_followed", {"center", center.name},
                                           [&] { return follow(transaction, center, now); });
        if (!done) return done;
    }
    return {};
}

Result<void> QuarantineWatch::judge_all(pqxx::work& transaction, Timestamp now) const
{
    if (rule_.least_failures <= 0) return {}; // switched off
    const std::vector<CenterAttempts> centers = select_center_attempts(transaction, rule_.window);
    for (const CenterAttempts& center : centers) {
        if (!center.is_judged) continue;
        HealthEvidence evidence = evidence_elsewhere(centers, center);
        QuarantineVerdict verdict = judge_center(center.attempts, evidence, rule_, now);
        SuspectProbes probes;
        if (!verdict.suspected_unit_types.empty()) {
            probes = select_suspect_probes(transaction, center.id, rule_.window);
            evidence.has_failed_probe = probes.has_failed;
            verdict = judge_center(center.attempts, evidence, rule_, now);
        }
        if (verdict.is_bad) quarantine(transaction, center, verdict);
        if (verdict.suspected_unit_types.empty() || !is_check_due(probes, rule_, now)) continue;
        const HealthProbePlace where{center.id, std::move(verdict.suspected_unit_types), probes.count};
        const Result<void> done = try_part(transaction, "suspected_center_not_checked", {"center", center.name},
                                           [&] { return check_suspect(transaction, center.name, where, now); });
        if (!done) return done;
    }
    return {};
}

Result<void> QuarantineWatch::check_suspect(pqxx::work& transaction, const std::string& name,
                                            const HealthProbePlace& where, Timestamp now) const
{
    const Result<HealthProbe> probe = probes_->queue(transaction, where, now);
    if (!probe) return probe.error();
    if (probe->run)
        log_after_commit(LogLevel::kInfo, "suspected_center_probed",
                         {{"center", name}, {"probe_run_id", probe->run->value}});
    else
        log_after_commit(LogLevel::kDebug, "suspected_center_not_probed",
                         {{"center", name}, {"reason", probe->obstacle}});
    after_commit([metrics = metrics_, outcome = probe->run ? "probed" : "not_probed"] {
        metrics->count("fathom_suspected_center_checks_total",
                       "Looks at suspected centers when a probe of them was due.", {{"outcome", outcome}});
    });
    return {};
}

void QuarantineWatch::quarantine(pqxx::work& transaction, const CenterAttempts& center,
                                 const QuarantineVerdict& verdict) const
{
    Json evidence{{"failures", verdict.failures}, {"attempts", verdict.attempts}};
    if (!quarantine_center(transaction, {actor_, ""}, center.id, verdict.reason, std::move(evidence))) return;
    after_commit([metrics = metrics_] {
        metrics->count("fathom_center_quarantines_total",
                       "Centers that were closed to jobs since they failed too many.");
    });
}

Result<void> QuarantineWatch::follow(pqxx::work& transaction, const QuarantinedCenter& center, Timestamp now) const
{
    if (center.good_probes >= rule_.good_probes) {
        release_center(transaction, {actor_, ""}, center.id, {{"good_probes", center.good_probes}});
        return {};
    }
    if (!center.is_reachable || center.has_probe_queued) return {};
    if (now < center.last_word_at + pause_before_probe(rule_, center.good_probes, center.bad_probes)) return {};
    const HealthProbePlace where{.center = center.id, .turn = center.probe_count};
    const Result<HealthProbe> probe = probes_->queue(transaction, where, now);
    if (!probe) return probe.error();
    note_quarantine_obstacle(transaction, center.id, probe->obstacle);
    if (probe->run)
        log_after_commit(LogLevel::kInfo, "quarantined_center_probed",
                         {{"center", center.name}, {"probe_run_id", probe->run->value}});
    return {};
}

} // namespace fathom::server
