#pragma once

#include "core/decide/billing/rate.hpp"
#include "server/store/transaction.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

/// What one job costs: expected when it was placed, so far while it runs, and what its project was charged.
namespace fathom::server {

/// A line of the job's bill, with what priced it.
struct JobCharge {
    std::int64_t seq{};
    std::string meter;
    std::string center;
    std::string unit_type;
    std::int64_t unit_count{};
    std::int64_t score_milli{};
    std::string evidence_id; ///< empty: none
    std::int64_t book_version{};
    std::string currency;
    std::int64_t quantity_nano{};
    std::int64_t unit_price_micros{};
    std::int64_t list_micros{};
    std::int64_t billed_micros{};
    std::string attempt_id;
};

struct JobCost {
    std::string submitted_by;
    std::string project;
    bool is_probe{}; ///< the network pays
    bool is_final{}; ///< it has ended, and all that it used is posted
    // Of its newest attempt.
    std::string currency;           ///< of what was expected; empty: nothing was
    std::optional<double> expected; ///< in units of the currency
    std::optional<double> expected_low;
    std::optional<double> expected_high;
    std::optional<Timestamp> running_since; ///< while it runs
    std::string center;
    std::string unit_type;
    std::string unit_type_id;
    std::int64_t unit_count{};
    std::vector<JobCharge> charges; ///< at most 1000
};

/// Empty when there is no such job. Blocks; pqxx's exceptions pass through.
std::optional<JobCost> select_job_cost(pqxx::work& transaction, const std::string& job_id);

/// What the running attempt has cost by `now`, by currency, at the list price less the project's discount.
std::map<std::string, std::int64_t> running_cost(const JobCost& cost, std::int64_t score_milli,
                                                 std::span<const RateBook> books, Timestamp now);

/// @param running  as running_cost() gives it; empty while nothing runs.
Json to_json(const JobCost& cost, const std::map<std::string, std::int64_t>& running);

} // namespace fathom::server
