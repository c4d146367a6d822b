#pragma once

#include "core/decide/billing/rate.hpp"
#include "server/store/transaction.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// Statements: what a project owes for a month, or what a center is owed, with lines that add up to it.
namespace fathom::server {

/// Charges of one kind at one price.
struct StatementLine {
    std::string counterpart; ///< of a project's statement the center, of a center's the project or "(network)"
    std::string unit_type;
    Meter meter{Meter::kScoreHours};
    std::string currency;
    std::int64_t unit_price_micros{};
    std::int64_t quantity_nano{};
    std::int64_t list_micros{};
    std::int64_t billed_micros{};
    std::int64_t charge_count{};
    std::int64_t job_count{};
    bool is_correction{};
};

struct StatementTotal {
    std::string currency;
    std::int64_t list_micros{};
    std::int64_t billed_micros{};
};

struct BillStatement {
    enum class Of { kProject, kCenter } of = Of::kProject;
    std::string name; ///< of the project or the center
    std::string period;
    std::optional<Timestamp> closed_at;
    std::int64_t last_seq{}; ///< the ledger's end when it was made
    std::string head_sha256;
    std::vector<StatementLine> lines;
    std::vector<StatementTotal> totals; ///< by currency
};

/// Blocks; pqxx's exceptions pass through. A month without charges has an empty statement.
BillStatement select_statement(pqxx::work& transaction, BillStatement::Of of, const std::string& name,
                               const std::string& period);

Json to_json(const BillStatement& statement);
/// Lines, then a total for each currency.
std::string statement_csv(const BillStatement& statement);
/// One page for people and printers, without anything from elsewhere.
std::string statement_html(const BillStatement& statement);

} // namespace fathom::server
