#include "server/billing/job_cost.hpp"

#include "core/model/money.hpp"
#include "server/billing/csv_text.hpp"
#include "server/store/column.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

constexpr Statement kSelectJob{"billing_select_job_cost", R"sql(
    SELECT j.submitted_by, j.project, j.label = 'probe' AS is_probe,
           j.state IN ('succeeded', 'failed', 'cancelled')
               AND NOT EXISTS (SELECT 1 FROM attempt x WHERE x.job_id = j.id AND NOT x.metered)
               AND NOT EXISTS (SELECT 1 FROM usage_record u, ledger_head h WHERE u.job_id = j.id AND u.id > h.usage_id)
               AS is_final,
           a.state = 'running' AS is_running, a.started_at, c.name AS center, t.name AS unit_type, a.unit_type_id,
           a.unit_count, p.currency, p.cost, p.run_s, p.low_s, p.high_s
    FROM job j
         LEFT JOIN LATERAL (SELECT * FROM attempt WHERE job_id = j.id ORDER BY epoch DESC LIMIT 1) a ON true
         LEFT JOIN center c ON c.id = a.center_id LEFT JOIN unit_type t ON t.id = a.unit_type_id
         LEFT JOIN prediction p ON p.attempt_id = a.id
    WHERE j.id = $1)sql"};

constexpr Statement kSelectJobCharges{"billing_select_job_charges", R"sql(
    SELECT seq, meter, center, unit_type, unit_count, score_milli, coalesce(evidence_id, '') AS evidence_id,
           book_version, currency, quantity_nano, unit_price_micros, list_micros, billed_micros, attempt_id
    FROM charge WHERE job_id = $1 AND job_id <> '' ORDER BY seq, line LIMIT 1000)sql"};

JobCharge to_charge(const pqxx::row& row)
{
    const auto number = [&](const char* name) { return row[name].as<std::int64_t>(); };
    const auto text = [&](const char* name) { return row[name].as<std::string>(); };
    return {number("seq"),
            text("meter"),
            text("center"),
            text("unit_type"),
            number("unit_count"),
            number("score_milli"),
            text("evidence_id"),
            number("book_version"),
            text("currency"),
            number("quantity_nano"),
            number("unit_price_micros"),
            number("list_micros"),
            number("billed_micros"),
            text("attempt_id")};
}

/// Cost goes with the run time, so its interval does.
void read_expected(const pqxx::row& row, JobCost& cost)
{
    if (row["cost"].is_null()) return;
    cost.currency = row["currency"].as<std::string>();
    if (cost.currency.empty()) return;
    cost.expected = row["cost"].as<double>();
    const auto run_s = row["run_s"].as<double>();
    if (!(run_s > 0)) return;
    cost.expected_low = *cost.expected * row["low_s"].as<double>() / run_s;
    cost.expected_high = *cost.expected * row["high_s"].as<double>() / run_s;
}

Json money_or_null(const std::optional<double>& amount, const std::string& currency)
{
    return amount ? to_json(Money{to_micros(*amount), currency}) : Json();
}

Json amounts_json(const std::map<std::string, std::int64_t>& amounts)
{
    Json json = Json::array();
    for (const auto& [currency, micros] : amounts)
        json.push_back(to_json(Money{micros, currency}));
    return json;
}

Json charge_json(const JobCharge& charge)
{
    return {{"entry", charge.seq},
            {"attempt_id", charge.attempt_id},
            {"meter", charge.meter},
            {"center", charge.center},
            {"unit_type", charge.unit_type},
            {"unit_count", charge.unit_count},
            {"score", static_cast<double>(charge.score_milli) * 1e-3},
            {"score_evidence_id", text_or_null(charge.evidence_id)},
            {"price_book_version", charge.book_version},
            {"currency", charge.currency},
            {"quantity", decimal_text(charge.quantity_nano, 9)},
            {"unit_price", format_amount(charge.unit_price_micros)},
            {"list_cost", format_amount(charge.list_micros)},
            {"billed_cost", format_amount(charge.billed_micros)}};
}

} // namespace

std::optional<JobCost> select_job_cost(pqxx::work& transaction, const std::string& job_id)
{
    const pqxx::result rows = exec(transaction, kSelectJob, job_id);
    if (rows.empty()) return std::nullopt;
    const pqxx::row row = rows[0];
    JobCost cost;
    cost.submitted_by = row["submitted_by"].as<std::string>();
    cost.project = row["project"].as<std::string>();
    cost.is_probe = row["is_probe"].as<bool>();
    cost.is_final = row["is_final"].as<bool>();
    if (!row["unit_count"].is_null()) {
        cost.center = row["center"].as<std::string>();
        cost.unit_type = row["unit_type"].as<std::string>();
        cost.unit_type_id = row["unit_type_id"].as<std::string>();
        cost.unit_count = row["unit_count"].as<std::int64_t>();
        if (row["is_running"].as<bool>()) cost.running_since = to_optional_timestamp(row["started_at"]);
    }
    read_expected(row, cost);
    for (const pqxx::row& charge : exec(transaction, kSelectJobCharges, job_id))
        cost.charges.push_back(to_charge(charge));
    return cost;
}

std::map<std::string, std::int64_t> running_cost(const JobCost& cost, std::int64_t score_milli,
                                                 std::span<const RateBook> books, Timestamp now)
{
    std::map<std::string, std::int64_t> amounts;
    if (!cost.running_since || *cost.running_since >= now) return amounts;
    Usage usage;
    usage.payer = cost.is_probe ? Payer::kNetwork : Payer::kProject;
    usage.project = cost.project;
    usage.center = cost.center;
    usage.unit_type = cost.unit_type;
    usage.unit_count = cost.unit_count;
    usage.score_milli = score_milli;
    usage.origin = *cost.running_since;
    usage.from = usage.origin;
    usage.until = now;
    usage.is_last = false;
    const Result<std::vector<Charge>> charges = rate(usage, books);
    if (!charges) return amounts;
    for (const Charge& charge : *charges)
        amounts[charge.currency] += charge.billed_micros;
    return amounts;
}

Json to_json(const JobCost& cost, const std::map<std::string, std::int64_t>& running)
{
    std::map<std::string, std::int64_t> billed;
    Json charges = Json::array();
    for (const JobCharge& charge : cost.charges) {
        billed[charge.currency] += charge.billed_micros;
        charges.push_back(charge_json(charge));
    }
    Json expected;
    if (cost.expected)
        expected = {{"cost", money_or_null(cost.expected, cost.currency)},
                    {"low", money_or_null(cost.expected_low, cost.currency)},
                    {"high", money_or_null(cost.expected_high, cost.currency)}};
    return {{"paid_by", cost.is_probe ? "network" : "project"},
            {"is_final", cost.is_final},
            {"expected", std::move(expected)},
            {"running", amounts_json(running)},
            {"billed", amounts_json(billed)},
            {"charges", std::move(charges)}};
}

} // namespace fathom::server
