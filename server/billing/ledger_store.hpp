#pragma once

#include "core/decide/billing/ledger.hpp"
#include "server/billing/usage_store.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

/// The ledger's rows. All functions take the caller's transaction, block, and let pqxx's exceptions through to
/// Database::run.
namespace fathom::server {

/// Where the ledger stands.
struct LedgerHead {
    std::int64_t seq{};
    std::string sha256;
    std::int64_t usage_id{}; ///< the last usage that was posted

    bool operator==(const LedgerHead&) const = default;
};
LedgerHead select_head(pqxx::work& transaction);
/// Others who post wait until the transaction ends.
LedgerHead lock_head(pqxx::work& transaction);
void update_head(pqxx::work& transaction, const LedgerHead& head);

/// An entry with the usage that it posts.
struct PostedEntry {
    LedgerEntry entry;
    UsageRecord usage; ///< id 0: it posts none
    std::string previous_sha256;
    std::string sha256;
};
void insert_entries(pqxx::work& transaction, const std::vector<PostedEntry>& entries);
/// After `after_seq`, in order.
std::vector<PostedEntry> select_entries(pqxx::work& transaction, std::int64_t after_seq, std::int64_t most);
/// The entry that posted the usage of this source before this revision; empty when there is none.
std::optional<PostedEntry> select_posted_before(pqxx::work& transaction, const std::string& source,
                                                std::int64_t revision);

/// What projects owe by month, "2026-11", and currency.
struct ProjectBill {
    std::string project;
    std::string period;
    std::string currency;
    std::int64_t billed_micros{};
};
/// Adds the charges of these entries. @return the new sums of the projects and months that they touch.
std::vector<ProjectBill> add_to_bills(pqxx::work& transaction, const std::vector<PostedEntry>& entries);
/// Keeps that a bill reached a part of its budget. False when that was known.
bool insert_budget_alert(pqxx::work& transaction, const ProjectBill& bill, int percent);

struct BillingPeriod {
    std::string period; ///< "2026-11"
    std::optional<Timestamp> closed_at;
    std::string closed_by;
    std::int64_t entries{};
};
/// Months with entries, newest first.
std::vector<BillingPeriod> select_periods(pqxx::work& transaction);
std::set<std::string> select_closed_periods(pqxx::work& transaction);
void insert_closed_period(pqxx::work& transaction, const std::string& period, const std::string& closed_by,
                          std::int64_t seq);

/// What keeps a month from being closed, for people; empty: nothing.
std::string find_obstacle_to_close(pqxx::work& transaction, const std::string& period);
/// What is wrong with the usage as a whole: attempts without usage, usage without an entry or with several, attempts of
/// a job that overlap, entries of a month that was closed before. One text each, at most 100.
std::vector<std::string> find_usage_faults(pqxx::work& transaction);

/// The month of a moment (UTC): "2026-11".
std::string period_of(Timestamp time);
/// The month after: "2026-12".
std::string next_period(const std::string& period);
/// Its first moment. Empty when the text is no month.
std::optional<Timestamp> start_of_period(const std::string& period);

} // namespace fathom::server
