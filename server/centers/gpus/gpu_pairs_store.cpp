#include "server/centers/gpus/gpu_pairs_store.hpp"

#include "core/base/secret.hpp"
#include "server/rows/gpu_kind.hpp"
#include "server/store/sql_array.hpp"

#include <pqxx/pqxx>

#include <algorithm>
#include <map>
#include <utility>

namespace fathom::server {
namespace {

constexpr const char* kSelectJobs = R"sql(
    SELECT j.id, coalesce(j.steps ->> 'type', j.job_type) AS job_type, j.submitted_by, j.project, a.unit_type_id
    FROM job j JOIN attempt a ON a.job_id = j.id
    WHERE j.id = ANY($2) AND j.job_type <> '' AND a.center_id = $1 AND a.state <> 'ended')sql";

constexpr const char* kUpdatePairs = R"sql(
    UPDATE gpu_pair k SET a_kept_pace = t.a_kept_pace, b_kept_pace = t.b_kept_pace, measured_count = t.count,
                          measured_at = now()
    FROM jsonb_to_recordset($1::jsonb)
         AS t(run text, a_kept_pace float8, b_kept_pace float8, count bigint)
    WHERE k.run = t.run AND t.count >= 1.25 * k.measured_count)sql";

// Without a conflict, so that what is known costs no number.
constexpr const char* kInsertPairs = R"sql(
    INSERT INTO gpu_pair (run, a_kind, b_kind, unit_type_id, a_kept_pace, b_kept_pace, measured_count)
    SELECT t.run, t.a_kind, t.b_kind, t.unit_type_id, t.a_kept_pace, t.b_kept_pace, t.count
    FROM jsonb_to_recordset($1::jsonb) AS t(run text, a_kind text, b_kind text, unit_type_id text, a_kept_pace float8,
                                            b_kept_pace float8, count bigint)
    WHERE NOT EXISTS (SELECT FROM gpu_pair k WHERE k.run = t.run)
    ON CONFLICT (run) DO NOTHING
    RETURNING id, a_kind, b_kind, unit_type_id)sql";

// Rows that another transaction removes at the same time are left to it.
constexpr const char* kDeleteOlderPairs = R"sql(
    DELETE FROM gpu_pair WHERE id IN (
        SELECT id FROM gpu_pair WHERE a_kind = $1 AND b_kind = $2 AND unit_type_id = $3
        ORDER BY id DESC OFFSET $4 FOR UPDATE SKIP LOCKED))sql";
constexpr const char* kDeleteOldestPairs = R"sql(
    DELETE FROM gpu_pair WHERE id IN (SELECT id FROM gpu_pair WHERE id <= $1 FOR UPDATE SKIP LOCKED))sql";

constexpr const char* kSelectPairsOfJob = R"sql(
    SELECT run, a_kept_pace, b_kept_pace, measured_count FROM gpu_pair WHERE run = ANY($1))sql";

struct PairedJob {
    std::string kind;
    std::string unit_type_id;
};

std::map<std::string, PairedJob> select_jobs(pqxx::transaction_base& transaction, const CenterId& center,
                                             std::span<const MeasuredJobPair> pairs)
{
    SqlArray names;
    for (const MeasuredJobPair& pair : pairs) {
        names.add(pair.a.job);
        names.add(pair.b.job);
    }
    std::map<std::string, PairedJob> jobs;
    for (const pqxx::row& row : transaction.exec_params(kSelectJobs, center.value, names.take()))
        jobs.insert_or_assign(
            row["id"].as<std::string>(),
            PairedJob{gpu_kind_of(row["job_type"].c_str(), {row["submitted_by"].c_str(), row["project"].c_str()},
                                  KernelClass::kUnknown),
                      row["unit_type_id"].as<std::string>()});
    return jobs;
}

/// @param a  less than `b`.
std::string run_of(const CenterId& center, const std::string& a, const std::string& b)
{
    return sha256_hex(center.value + "/" + a + "/" + b); // ids hold no slash
}

} // namespace

void keep_gpu_pairs(pqxx::transaction_base& transaction, const CenterId& center, std::span<const MeasuredJobPair> pairs)
{
    if (pairs.empty()) return;
    const std::map<std::string, PairedJob> jobs = select_jobs(transaction, center, pairs);
    std::map<std::string, Json> told; // each run once, in one order for all who write
    for (const MeasuredJobPair& pair : pairs) {
        const auto a = jobs.find(pair.a.job);
        const auto b = jobs.find(pair.b.job);
        if (a == jobs.end() || b == jobs.end() || a == b || a->second.unit_type_id != b->second.unit_type_id) continue;
        const std::string run = run_of(center, pair.a.job, pair.b.job);
        told[run] = {{"run", run},
                     {"a_kind", a->second.kind},
                     {"b_kind", b->second.kind},
                     {"unit_type_id", a->second.unit_type_id},
                     {"a_kept_pace", pair.a.kept_pace},
                     {"b_kept_pace", pair.b.kept_pace},
                     {"count", pair.count}};
    }
    if (told.empty()) return;
    Json rows = Json::array();
    for (auto& [run, row] : told)
        rows.push_back(std::move(row));
    const std::string text = rows.dump();
    transaction.exec_params0(kUpdatePairs, text);
    std::int64_t newest = 0;
    for (const pqxx::row& row : transaction.exec_params(kInsertPairs, text)) {
        newest = std::max(newest, row["id"].as<std::int64_t>());
        transaction.exec_params0(kDeleteOlderPairs, row["a_kind"].c_str(), row["b_kind"].c_str(),
                                 row["unit_type_id"].c_str(), kMaxKeptTurnPairs);
    }
    if (newest > kMaxTurnPairs) transaction.exec_params0(kDeleteOldestPairs, newest - kMaxTurnPairs);
}

std::vector<PairOfJob> select_gpu_pairs_of_job(pqxx::transaction_base& transaction, const CenterId& center,
                                               const std::string& job, std::span<const std::string> others)
{
    std::map<std::string, std::string> others_by_run;
    SqlArray runs;
    for (const std::string& other : others) {
        const std::string run = run_of(center, std::min(job, other), std::max(job, other));
        runs.add(run);
        others_by_run.insert_or_assign(run, other);
    }
    std::vector<PairOfJob> kept;
    if (others_by_run.empty()) return kept;
    for (const pqxx::row& row : transaction.exec_params(kSelectPairsOfJob, runs.take())) {
        PairOfJob& pair = kept.emplace_back(PairOfJob{.neighbour = others_by_run.at(row["run"].as<std::string>()),
                                                      .kept_pace = row["a_kept_pace"].as<double>(),
                                                      .neighbour_kept_pace = row["b_kept_pace"].as<double>(),
                                                      .count = row["measured_count"].as<std::int64_t>()});
        if (pair.neighbour < job) std::swap(pair.kept_pace, pair.neighbour_kept_pace);
    }
    std::sort(kept.begin(), kept.end(),
              [](const PairOfJob& one, const PairOfJob& other) { return one.neighbour < other.neighbour; });
    return kept;
}

Json to_json(const PairOfJob& pair)
{
    return {{"neighbour", pair.neighbour},
            {"kept_pace", pair.kept_pace},
            {"neighbour_kept_pace", pair.neighbour_kept_pace},
            {"count", pair.count}};
}

} // namespace fathom::server
