#pragma once

#include "core/decide/billing/rate.hpp"
#include "server/store/page.hpp"
#include "server/store/transaction.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What was used: rows of usage_record, which are added and never changed. All functions take the caller's transaction,
/// block, and let pqxx's exceptions through to Database::run.
namespace fathom::server {

/// A row of usage_record.
struct UsageRecord {
    std::int64_t id{};
    std::string source; ///< what it meters: the attempt's id, reservation/ID, or storage/PROJECT/START
    std::int64_t revision{1};
    UsageKind kind{UsageKind::kCompute};
    Payer payer{Payer::kProject};
    std::string project;
    std::string submitted_by;
    std::string job_id; ///< empty for what is no job
    std::string job_name;
    std::string job_type;
    std::string attempt_id;
    std::string probe_run_id; ///< of a probe
    std::string center;
    std::string unit_type;
    std::string resource_type;
    std::int64_t unit_count{};
    std::string units; ///< JSON array: which units it held
    std::int64_t cores_per_unit{};
    std::optional<Timestamp> submitted_at;
    Timestamp from{};
    Timestamp until{};
    std::string outcome;
    std::optional<std::int64_t> exit_code;
    std::int64_t cpu_us{};
    std::int64_t max_resident_bytes{};
    std::int64_t moved_bytes{};
    std::int64_t stored_bytes{};
    std::int64_t idle_unit_us{};
    std::int64_t energy_j{};
    std::int64_t score_milli{};
    std::string evidence_id; ///< empty: none
    Timestamp recorded_at{};
};

/// As rate() takes it. Views into the record.
Usage usage_of(const UsageRecord& record);
Json to_json(const UsageRecord& record);

struct UsageFilter {
    std::string project;            ///< empty: all
    std::string center;             ///< the same
    std::string job_id;             ///< the same
    std::optional<Timestamp> from;  ///< that ended at or after
    std::optional<Timestamp> until; ///< that ended before
    bool newest_revisions = false;
};
/// Newest first; `after` is the id of the last one seen, "" for the first page.
Page<UsageRecord> select_usage_page(pqxx::work& transaction, const UsageFilter& filter, std::int64_t size,
                                    const std::string& after);
/// Oldest first, after this id.
std::vector<UsageRecord> select_usage_after(pqxx::work& transaction, const UsageFilter& filter, std::int64_t after_id,
                                            std::int64_t most);
/// What projects were billed for usage that ended in the filter's time.
struct BilledProject {
    std::string project;
    std::string currency;
    std::int64_t billed_micros{};
};
std::vector<BilledProject> select_billed(pqxx::work& transaction, const UsageFilter& filter);
/// Those of these ids, in any order.
std::vector<UsageRecord> select_usage_of(pqxx::work& transaction, const std::vector<std::int64_t>& ids);
struct UsageCounts {
    std::int64_t all{};
    std::int64_t unposted{}; ///< of them
};
UsageCounts count_usage(pqxx::work& transaction);
/// The evidence of a score as JSON text. Empty: there is none of this id.
std::string select_score_evidence(pqxx::work& transaction, const std::string& id);

} // namespace fathom::server
