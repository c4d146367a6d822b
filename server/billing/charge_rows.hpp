#pragma once

#include "core/decide/billing/rate.hpp"
#include "server/store/transaction.hpp"

#include <pqxx/result>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// The lines of the ledger for exports and statements, page by page in the order in which they were posted.
namespace fathom::server {

/// A line, as it lies in the page that was read. Times are UTC as PostgreSQL writes them: "2026-11-02 04:00:00.25".
struct ChargeRow {
    std::int64_t seq{};
    std::int64_t line{};
    std::string_view period; ///< "2026-11-01"
    std::int64_t usage_id{};
    std::string_view payer;
    std::string_view project;
    std::string_view center;
    std::string_view unit_type;
    std::string_view resource_type;
    std::string_view job_id;
    std::string_view job_name;
    std::string_view attempt_id;
    std::int64_t unit_count{};
    std::int64_t score_milli{};
    std::string_view evidence_id; ///< empty: none
    bool is_correction{};
    Meter meter{Meter::kScoreHours};
    std::int64_t book_version{};
    std::string_view currency;
    std::string_view from;
    std::string_view until;
    std::int64_t quantity_nano{};
    std::int64_t unit_price_micros{};
    std::int64_t list_micros{};
    std::int64_t billed_micros{};
};

/// A page and the rows that lie in it.
struct ChargePage {
    pqxx::result result;
    std::vector<ChargeRow> rows;
};

/// Which lines.
struct ChargeFilter {
    std::string project;       ///< empty: all
    std::string center;        ///< the same
    std::string period;        ///< "2026-11": only those that count in it; empty: all
    std::string from;          ///< RFC 3339: only those that end at or after it; empty: all
    std::string until;         ///< only those that end before it
    std::int64_t last_seq = 0; ///< nothing that was posted later
};

/// Where a page begins: after this line.
struct ChargePosition {
    std::int64_t seq{};
    std::int64_t line{};
};

/// Blocks; pqxx's exceptions pass through.
ChargePage select_charges(pqxx::work& transaction, const ChargeFilter& filter, ChargePosition after, std::int64_t most);
/// The entry before the first that can hold a line of the filter: nothing need be read before it.
std::int64_t select_first_seq(pqxx::work& transaction, const ChargeFilter& filter);

} // namespace fathom::server
