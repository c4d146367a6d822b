#include "server/probing/findings/run_evidence.hpp"

#include "server/probing/tasks/probing_store.hpp"

#include <pqxx/pqxx>

#include <algorithm>

namespace fathom::server {
namespace {

// now() is when this transaction began: when the report of the end had arrived. The center's own times are no evidence.
constexpr const char* kSelectTimes = R"sql(
    SELECT (SELECT extract(epoch FROM now() - max(e.at))::float8 FROM job_event e, center c
            WHERE e.job_id = $1 AND e.state = 'running' AND c.id = $2
              AND (c.connected_at IS NULL OR e.at > c.connected_at) AND e.at > pg_postmaster_start_time()) AS seen_s,
           (SELECT extract(epoch FROM now() - max(dispatched_at))::float8 FROM attempt WHERE job_id = $1) AS ordered_s,
           (SELECT cores_per_unit FROM unit_type WHERE id = $3) AS cores_per_unit)sql";

constexpr const char* kSelectClocked = R"sql(
    SELECT id, (result ->> 'wall_s')::float8 AS claimed_s, seen_s FROM probe_run
    WHERE unit_type_id = $1 AND state = 'succeeded' AND seen_s IS NOT NULL AND id <> $2
    ORDER BY ended_at DESC LIMIT 7)sql";

/// A time since a moment before; none when our clock has gone back since then, which is not the center's doing.
std::optional<double> to_seconds(const pqxx::field& field)
{
    if (field.is_null() || field.as<double>() < 0) return std::nullopt;
    return field.as<double>();
}

/// The time since the order includes every delay: only that it is too short says something.
std::string order_problem(const ProbeResult& result, const RunEvidence& evidence)
{
    if (!evidence.ordered_s || result.wall_s <= *evidence.ordered_s) return {};
    return check_clock(std::vector<ClockedRun>{{result.wall_s, *evidence.ordered_s}});
}

std::string clock_problem(const ProbeResult& result, const RunEvidence& evidence)
{
    if (!evidence.seen_s || *evidence.seen_s < result.wall_s) return {};
    return check_clock(std::vector<ClockedRun>{{result.wall_s, *evidence.seen_s}});
}

/// As clock_problem, of this run with those before it.
std::string pattern_problem(const ProbeResult& result, const RunEvidence& evidence)
{
    if (!evidence.seen_s || *evidence.seen_s < result.wall_s) return {};
    std::vector<ClockedRun> runs = evidence.clocked;
    runs.push_back({result.wall_s, *evidence.seen_s});
    return check_clock(runs);
}

Json clock_figures(const ProbeResult& result, const RunEvidence& evidence)
{
    return {{"claimed_s", result.wall_s},
            {"clock_step_s", result.clock_step_s},
            {"seen_s", evidence.seen_s ? Json(*evidence.seen_s) : Json()},
            {"ordered_s", evidence.ordered_s ? Json(*evidence.ordered_s) : Json()}};
}

std::optional<Finding> rate_finding(const OperatorResult& item, const ClaimedHardware& hardware)
{
    std::string problem = check_rates(item, hardware);
    if (problem.empty()) return std::nullopt;
    return Finding{FindingKind::kRate, std::move(problem),
                   Json{{"median_s", item.median_s}, {"cores", hardware.cores}, {"isa", hardware.isa}}};
}

} // namespace

RunEvidence select_evidence(pqxx::transaction_base& transaction, const EndingRun& run)
{
    RunEvidence evidence;
    evidence.unit_count = std::max<std::int64_t>(1, run.unit_count);
    const pqxx::row times =
        transaction.exec_params1(kSelectTimes, run.job_id.value, run.center_id.value, run.unit_type_id.value);
    evidence.seen_s = to_seconds(times["seen_s"]);
    evidence.ordered_s = to_seconds(times["ordered_s"]);
    evidence.cores = times["cores_per_unit"].as<std::int64_t>(0) * evidence.unit_count;
    for (const pqxx::row& row : transaction.exec_params(kSelectClocked, run.unit_type_id.value, run.id.value)) {
        evidence.clocked.push_back({row["claimed_s"].as<double>(0), row["seen_s"].as<double>()});
        evidence.clocked_runs.push_back(row["id"].as<std::string>());
    }
    std::reverse(evidence.clocked.begin(), evidence.clocked.end());
    std::reverse(evidence.clocked_runs.begin(), evidence.clocked_runs.end());
    return evidence;
}

std::optional<Finding> judge_evidence(const ProbeResult& result, const RunEvidence& evidence)
{
    if (std::string problem = order_problem(result, evidence); !problem.empty())
        return Finding{FindingKind::kClock, std::move(problem), clock_figures(result, evidence)};
    if (std::string problem = clock_problem(result, evidence); !problem.empty())
        return Finding{FindingKind::kClock, std::move(problem), clock_figures(result, evidence), true};
    if (std::string problem = pattern_problem(result, evidence); !problem.empty()) {
        Json figures = clock_figures(result, evidence);
        figures["runs_before"] = evidence.clocked_runs;
        return Finding{.kind = FindingKind::kClock,
                       .detail = std::move(problem),
                       .evidence = std::move(figures),
                       .is_pattern = true};
    }
    if (std::string problem = check_unexplained(result); !problem.empty())
        return Finding{FindingKind::kClock, std::move(problem),
                       Json{{"claimed_s", result.wall_s}, {"accounted_s", accounted_s(result)}}};
    ClaimedHardware hardware = claimed_hardware(result, evidence.unit_count);
    if (evidence.cores > 0) hardware.cores = std::min(hardware.cores, evidence.cores);
    for (const OperatorResult& item : result.operators) {
        if (std::optional<Finding> finding = rate_finding(item, hardware)) return finding;
        if (!item.one_thread) continue;
        OperatorResult alone = item;
        alone.median_s = item.one_thread->median_s;
        ClaimedHardware core = hardware;
        core.cores = 1;
        if (std::optional<Finding> finding = rate_finding(alone, core)) return finding;
    }
    return std::nullopt;
}

} // namespace fathom::server
