#include "server/billing/bill_statement.hpp"

#include "core/base/escape_markup.hpp"
#include "core/model/money.hpp"
#include "server/billing/csv_text.hpp"
#include "server/billing/ledger_store.hpp"
#include "server/store/column.hpp"

#include <pqxx/pqxx>

#include <array>

namespace fathom::server {
namespace {

#define FATHOM_STATEMENT_SUMS                                                                                          \
    " AS counterpart, unit_type, meter, currency, unit_price_micros, is_correction, "                                  \
    "least(sum(quantity_nano), 9e18)::bigint AS quantity_nano, sum(list_micros)::bigint AS list_micros, "              \
    "sum(billed_micros)::bigint AS billed_micros, count(*) AS charge_count, "                                          \
    "count(DISTINCT nullif(job_id, '')) AS job_count FROM charge "
#define FATHOM_STATEMENT_ORDER "GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY currency, 1, unit_type, is_correction, meter, 5"

constexpr const char* kSelectOfProject =
    "SELECT center" FATHOM_STATEMENT_SUMS
    "WHERE project = $1 AND payer = 'project' AND period = ($2 || '-01')::date " FATHOM_STATEMENT_ORDER;
constexpr const char* kSelectOfCenter =
    "SELECT CASE WHEN payer = 'project' THEN project ELSE '(network)' END" FATHOM_STATEMENT_SUMS
    "WHERE center = $1 AND period = ($2 || '-01')::date " FATHOM_STATEMENT_ORDER;
constexpr const char* kSelectClosedAt = "SELECT closed_at FROM billing_period WHERE period = ($1 || '-01')::date";

/// For people.
std::string_view words_of(Meter meter)
{
    constexpr std::array<std::string_view, 6> kWords{"score-hours", "unit-hours",      "GB moved",
                                                     "GB-hours",    "idle unit-hours", "minimum charges"};
    return kWords.at(static_cast<std::size_t>(meter));
}

/// What the statement is about: what is owed, by the project or to the center.
std::int64_t amount_of(const BillStatement& statement, std::int64_t list_micros, std::int64_t billed_micros)
{
    return statement.of == BillStatement::Of::kProject ? billed_micros : list_micros;
}

std::string html_row(const std::vector<std::string>& cells, const char* tag)
{
    std::string row = "<tr>";
    for (const std::string& cell : cells)
        row += std::string("<") + tag + ">" + escape_markup(cell) + "</" + tag + ">";
    return row + "</tr>\n";
}

constexpr std::string_view kStyle =
    "body{font:14px/1.45 sans-serif;margin:2em auto;max-width:60em;color:#111;background:#fff}"
    "table{border-collapse:collapse;width:100%}th,td{padding:.3em .6em;border-bottom:1px solid #bbb;text-align:left}"
    "td:nth-child(n+4),th:nth-child(n+4){text-align:right;font-variant-numeric:tabular-nums}"
    "tfoot td{font-weight:bold;border-top:2px solid #111}code{font-size:11px;word-break:break-all}"
    "@media print{body{margin:0;max-width:none}}";

} // namespace

BillStatement select_statement(pqxx::work& transaction, BillStatement::Of of, const std::string& name,
                               const std::string& period)
{
    BillStatement statement;
    statement.of = of;
    statement.name = name;
    statement.period = period;
    const LedgerHead head = select_head(transaction);
    statement.last_seq = head.seq;
    statement.head_sha256 = head.sha256;
    const pqxx::result closed = transaction.exec_params(kSelectClosedAt, period);
    if (!closed.empty()) statement.closed_at = to_timestamp(closed[0][0]);
    const char* sql = of == BillStatement::Of::kProject ? kSelectOfProject : kSelectOfCenter;
    for (const pqxx::row& row : transaction.exec_params(sql, name, period)) {
        StatementLine line;
        line.counterpart = row["counterpart"].as<std::string>();
        line.unit_type = row["unit_type"].as<std::string>();
        line.meter = parse_meter(row["meter"].c_str()).value_or(Meter::kScoreHours);
        line.currency = row["currency"].as<std::string>();
        line.unit_price_micros = row["unit_price_micros"].as<std::int64_t>();
        line.quantity_nano = row["quantity_nano"].as<std::int64_t>();
        line.list_micros = row["list_micros"].as<std::int64_t>();
        line.billed_micros = row["billed_micros"].as<std::int64_t>();
        line.charge_count = row["charge_count"].as<std::int64_t>();
        line.job_count = row["job_count"].as<std::int64_t>();
        line.is_correction = row["is_correction"].as<bool>();
        if (statement.totals.empty() || statement.totals.back().currency != line.currency)
            statement.totals.push_back({line.currency, 0, 0});
        statement.totals.back().list_micros += line.list_micros;
        statement.totals.back().billed_micros += line.billed_micros;
        statement.lines.push_back(std::move(line));
    }
    return statement;
}

Json to_json(const BillStatement& statement)
{
    Json lines = Json::array();
    for (const StatementLine& line : statement.lines)
        lines.push_back({{statement.of == BillStatement::Of::kProject ? "center" : "project", line.counterpart},
                         {"unit_type", line.unit_type},
                         {"meter", to_string(line.meter)},
                         {"currency", line.currency},
                         {"unit_price", format_amount(line.unit_price_micros)},
                         {"quantity", decimal_text(line.quantity_nano, 9)},
                         {"list_cost", format_amount(line.list_micros)},
                         {"billed_cost", format_amount(line.billed_micros)},
                         {"charges", line.charge_count},
                         {"jobs", line.job_count},
                         {"is_correction", line.is_correction}});
    Json totals = Json::array();
    for (const StatementTotal& total : statement.totals)
        totals.push_back({{"currency", total.currency},
                          {"amount", format_amount(amount_of(statement, total.list_micros, total.billed_micros))},
                          {"list_cost", format_amount(total.list_micros)},
                          {"billed_cost", format_amount(total.billed_micros)}});
    return {{"of", statement.of == BillStatement::Of::kProject ? "project" : "center"},
            {"name", statement.name},
            {"period", statement.period},
            {"state", statement.closed_at ? "closed" : "open"},
            {"closed_at", time_json(statement.closed_at)},
            {"last_entry", statement.last_seq},
            {"head_sha256", statement.head_sha256},
            {"lines", std::move(lines)},
            {"totals", std::move(totals)}};
}

std::string statement_csv(const BillStatement& statement)
{
    std::string out = statement.of == BillStatement::Of::kProject ? "center" : "project";
    out += ",unit_type,meter,unit_price,quantity,list_cost,billed_cost,currency,jobs,is_correction\n";
    for (const StatementLine& line : statement.lines) {
        append_csv_name(out, line.counterpart);
        out += ',';
        append_csv_name(out, line.unit_type);
        out += ',';
        out += to_string(line.meter);
        out += ',' + format_amount(line.unit_price_micros) + ',' + decimal_text(line.quantity_nano, 9) + ',' +
               format_amount(line.list_micros) + ',' + format_amount(line.billed_micros) + ',' + line.currency + ',' +
               std::to_string(line.job_count) + (line.is_correction ? ",true\n" : ",false\n");
    }
    for (const StatementTotal& total : statement.totals)
        out += "total,,,,," + format_amount(total.list_micros) + ',' + format_amount(total.billed_micros) + ',' +
               total.currency + ",,\n";
    return out;
}

std::string statement_html(const BillStatement& statement)
{
    const bool is_project = statement.of == BillStatement::Of::kProject;
    const std::string title = (is_project ? "Statement of project " : "Payable to center ") + statement.name;
    std::string out = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" +
                      escape_markup(title) + ", " + statement.period + "</title><style>" + std::string(kStyle) +
                      "</style></head><body>\n<h1>" + escape_markup(title) + "</h1>\n<p>Month " + statement.period +
                      " (UTC), " +
                      (statement.closed_at ? "closed " + format_rfc3339(*statement.closed_at).substr(0, 19) + "Z"
                                           : std::string("still open: amounts may grow")) +
                      ".</p>\n<table><thead>" +
                      html_row({is_project ? "Center" : "Project", "Unit type", "For", "Quantity", "Price", "List",
                                "Billed", "Currency", "Jobs"},
                               "th") +
                      "</thead><tbody>\n";
    for (const StatementLine& line : statement.lines)
        out += html_row({line.counterpart.empty() ? "(network)" : line.counterpart, line.unit_type,
                         std::string(words_of(line.meter)) + (line.is_correction ? " (correction)" : ""),
                         decimal_text(line.quantity_nano, 9), format_amount(line.unit_price_micros),
                         format_amount(line.list_micros), format_amount(line.billed_micros), line.currency,
                         std::to_string(line.job_count)},
                        "td");
    out += "</tbody><tfoot>\n";
    for (const StatementTotal& total : statement.totals)
        out += html_row({"Total", "", "", "", "", format_amount(total.list_micros), format_amount(total.billed_micros),
                         total.currency, ""},
                        "td");
    out += "</tfoot></table>\n<p>Ledger up to entry " + std::to_string(statement.last_seq) + ", SHA-256 <code>" +
           statement.head_sha256 + "</code></p>\n</body></html>\n";
    return out;
}

} // namespace fathom::server
