#include "cli/billing/bill.hpp"

#include "cli/billing/bill_export.hpp"
#include "cli/billing/bill_reconcile.hpp"
#include "cli/billing/bill_schedule.hpp"
#include "cli/client/json_view.hpp"
#include "cli/text/format_units.hpp"
#include "core/base/secret.hpp"

#include <ostream>

namespace fathom::cli {
namespace {

struct UsageOptions : ListOptions {
    std::string project;
    std::string center;
    std::string job;
    std::string from;
    std::string until;
};

struct StatementOptions {
    std::string project;
    std::string center;
    std::string period;
    std::string format = "table";
};

struct NoOptions {};

/// "2 x alpha/core" of a record; what it is where it has no place.
std::string place_text(const Json& usage)
{
    if (text_of(usage, "center", "").empty()) return text_of(usage, "kind");
    return text_of(usage, "unit_count") + " x " + text_of(usage, "center") + "/" + text_of(usage, "unit_type");
}

/// How long, or how much.
std::string amount_text(const Json& usage)
{
    const std::optional<Timestamp> from = time_of(usage, "from");
    const std::optional<Timestamp> until = time_of(usage, "until");
    if (text_of(usage, "kind") == "storage") return format_bytes(number_of(usage, "stored_bytes").value_or(0));
    if (text_of(usage, "kind") == "reservation")
        return format_duration(number_of(usage, "idle_unit_s").value_or(0)) + " idle";
    return from && until ? format_duration(Seconds(*until - *from).count()) : "-";
}

Table usage_table(const Json& items, Timestamp now)
{
    Table table({{"USAGE", Align::kRight},
                 {"ENDED", Align::kLeft, 2},
                 {"PROJECT"},
                 {"UNITS"},
                 {"USED", Align::kRight},
                 {"SCORE", Align::kRight, 1},
                 {"PAID BY", Align::kLeft, 3},
                 {"JOB", Align::kLeft, 4}});
    for (const Json& usage : items) {
        const std::string revision = text_of(usage, "revision");
        const std::optional<double> score = number_of(usage, "score");
        table.add_row({text_of(usage, "id") + (revision == "1" ? "" : " (revision " + revision + ")"),
                       age_of(usage, "until", now), text_of(usage, "project"), place_text(usage), amount_text(usage),
                       score ? format_number(*score) : "-", text_of(usage, "paid_by"), text_of(usage, "job_id")});
    }
    return table;
}

Outcome list_usage(Session& session, const UsageOptions& options)
{
    return print_list(session,
                      {.path = "/usage",
                       .query = {{"project", options.project},
                                 {"center", options.center},
                                 {"job_id", options.job},
                                 {"from", options.from},
                                 {"until", options.until}},
                       .table = usage_table,
                       .when_empty = "Nothing has been used yet; usage is recorded soon after a job has ended.",
                       .table_limit = 50},
                      options);
}

std::string statement_text(const Json& statement, const TableStyle& style)
{
    const bool is_project = text_of(statement, "of") == "project";
    Table table({{is_project ? "CENTER" : "PROJECT"},
                 {"UNIT TYPE", Align::kLeft, 2},
                 {"FOR"},
                 {"QUANTITY", Align::kRight},
                 {"PRICE", Align::kRight, 1},
                 {"LIST", Align::kRight, 3},
                 {"BILLED", Align::kRight},
                 {"CURRENCY"},
                 {"JOBS", Align::kRight, 4}});
    for (const Json& line : items_of(statement, "lines"))
        table.add_row({text_of(line, is_project ? "center" : "project", "(network)"), text_of(line, "unit_type"),
                       text_of(line, "meter") + (is_true(line, "is_correction") ? " (correction)" : ""),
                       text_of(line, "quantity"), text_of(line, "unit_price"), text_of(line, "list_cost"),
                       text_of(line, "billed_cost"), text_of(line, "currency"), text_of(line, "jobs")});
    std::string out = (is_project ? "Project " : "Payable to center ") + text_of(statement, "name") + ", " +
                      text_of(statement, "period") + " (" + text_of(statement, "state") + ")\n\n" +
                      (table.empty() ? "Nothing was charged.\n" : table.render(style));
    for (const Json& total : items_of(statement, "totals"))
        out += "\nTotal " + text_of(total, "amount") + " " + text_of(total, "currency");
    return out + "\nLedger up to entry " + text_of(statement, "last_entry") + ", " +
           text_of(statement, "head_sha256").substr(0, 16) + "…\n";
}

Outcome show_statement(Session& session, const StatementOptions& options)
{
    const bool is_text = options.format == "csv" || options.format == "html";
    const Query query{{"project", options.project},
                      {"center", options.center},
                      {"period", options.period},
                      {"format", is_text ? options.format : ""}};
    if (!is_text)
        return print_answer(session, session.get("/statements", query),
                            [&](const Json& statement) { return statement_text(statement, table_style(session)); });
    std::ostream& out = *session.console().out;
    const auto write = [&out](std::string_view text) {
        out << text;
        return out.good();
    };
    if (const Result<void> written = session.stream("/statements", query, {}, write); !written) return written.error();
    return ExitCode::kOk;
}

Table periods_table(const Json& items, Timestamp now)
{
    Table table(
        {{"PERIOD"}, {"STATE"}, {"ENTRIES", Align::kRight}, {"CLOSED", Align::kRight, 1}, {"BY", Align::kLeft, 2}});
    for (const Json& period : items)
        table.add_row({text_of(period, "period"), text_of(period, "state"), count_of(period, "entries"),
                       age_of(period, "closed_at", now), text_of(period, "closed_by")});
    return table;
}

Outcome list_periods(Session& session, const NoOptions&)
{
    return print_answer(session, session.get("/billing-periods"), [&](const Json& answer) {
        const Json& items = items_of(answer);
        return items.empty() ? "No month has entries yet.\n"
                             : periods_table(items, session.now()).render(table_style(session));
    });
}

Outcome close_period(Session& session, const NameOptions& options)
{
    return print_answer(session,
                        session.post("/billing-periods/" + path_segment(options.name) + "/close", Json::object()),
                        [](const Json& period) {
                            return text_of(period, "period") + " is closed with " + count_of(period, "entries") +
                                   " entries; what is late for it goes to the next month.\n";
                        });
}

/// Computes the ledger's chain here, from the entries' own text.
class ChainReader {
  public:
    /// False at the first fault.
    bool feed(std::string_view data)
    {
        rest_ += data;
        std::size_t begin = 0;
        for (std::size_t end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n', begin)) {
            if (!read(std::string_view(rest_).substr(begin, end - begin))) return false;
            begin = end + 1;
        }
        rest_.erase(0, begin);
        return true;
    }

    std::int64_t entries = 0;
    std::string last_hash = std::string(64, '0');
    std::string fault;

  private:
    bool read(std::string_view line)
    {
        const Result<Json> entry = parse_json(line);
        const std::string text = entry ? text_of(*entry, "text", "") : std::string();
        const std::string hash = sha256_hex(last_hash + "\n" + text);
        const bool is_next = text.starts_with("entry\t" + std::to_string(entries + 1) + "\t");
        if (!entry || !is_next || text_of(*entry, "previous_sha256") != last_hash ||
            text_of(*entry, "sha256") != hash) {
            fault = "the chain of hashes breaks at entry " + std::to_string(entries + 1);
            return false;
        }
        last_hash = hash;
        ++entries;
        return true;
    }

    std::string rest_;
};

std::string verdict(const Json& check, const ChainReader& chain)
{
    std::string out = "Computed here:  " + format_count(chain.entries) + " entries, " +
                      (chain.fault.empty() ? "chained to " + chain.last_hash : chain.fault) + "\n" +
                      "By the server:  " + count_of(check, "entries") + " entries with " + count_of(check, "charges") +
                      " charges for " + count_of(check, "usage_records") + " usage records, " +
                      count_of(check, "unrated") + " of them not posted yet\n";
    for (const Json& fault : items_of(check, "faults"))
        out += "  fault: " + (fault.is_string() ? fault.get<std::string>() : fault.dump()) + "\n";
    return out + (is_true(check, "good") && chain.fault.empty() ? "Nothing is missing, doubled or changed.\n"
                                                                : "THE LEDGER IS NOT VALID.\n");
}

Outcome verify_ledger(Session& session, const NoOptions&)
{
    const Result<Json> check = session.get("/ledger:verify");
    if (!check) return check.error();
    ChainReader chain;
    const Result<void> read =
        session.stream("/exports/ledger", {}, {}, [&](std::string_view data) { return chain.feed(data); });
    if (!read && chain.fault.empty()) return read.error();
    Json answer = *check;
    answer["computed_here"] = {{"entries", chain.entries},
                               {"head_sha256", chain.last_hash},
                               {"fault", chain.fault.empty() ? Json() : Json(chain.fault)}};
    const bool is_good = is_true(*check, "good") && chain.fault.empty();
    const Outcome printed = print_answer(session, answer, [&](const Json& json) { return verdict(json, chain); });
    if (!printed) return printed;
    return is_good ? ExitCode::kOk : ExitCode::kFailed;
}

void add_reading_verbs(CLI::App& noun, Invocation& invocation)
{
    auto usage_options = std::make_shared<UsageOptions>();
    CLI::App& usage = add_verb(noun, "usage", "What was used, newest first", "fathom bill usage --project materials");
    usage.add_option("--project", usage_options->project, "Only of this project");
    usage.add_option("--center", usage_options->center, "Only at this center");
    usage.add_option("--job", usage_options->job, "Only of this job");
    usage.add_option("--from", usage_options->from, "Only what ended then or later: 2026-11-01");
    usage.add_option("--until,--to", usage_options->until, "Only what ended before: 2026-12-01");
    add_list_options(usage, *usage_options);
    on_chosen(usage, invocation, std::move(usage_options), list_usage);

    auto statement_options = std::make_shared<StatementOptions>();
    CLI::App& statement = add_verb(noun, "statement", "What a project owes for a month, or a center is owed",
                                   "fathom bill statement --project materials --period 2026-11 --format html > m.html");
    statement.add_option("--project", statement_options->project, "The project that owes");
    statement.add_option("--center", statement_options->center, "The center that is owed");
    statement.add_option("--period", statement_options->period, "The month: 2026-11")->required();
    statement.add_option("--format", statement_options->format, "table (default), csv, or html to print")
        ->check(CLI::IsMember({"table", "csv", "html"}));
    on_chosen(statement, invocation, std::move(statement_options), show_statement);
}

} // namespace

void add_bill_commands(CLI::App& app, Invocation& invocation)
{
    CLI::App& noun = add_noun(app, "bill", "What was used, what it costs, who owes whom");
    add_reading_verbs(noun, invocation);
    add_bill_export(noun, invocation);
    add_bill_schedule(noun, invocation);
    add_bill_reconcile(noun, invocation);
    on_chosen(add_verb(noun, "periods", "Months, and which of them are closed", "fathom bill periods"), invocation,
              std::make_shared<NoOptions>(), list_periods);
    add_named_verb(noun, invocation,
                   {"close", "Close a month: nothing is posted to it any more", "fathom bill close 2026-11"},
                   {"PERIOD", "The month: 2026-11"}, close_period);
    on_chosen(add_verb(noun, "verify", "Check the whole ledger, here and at the server", "fathom bill verify"),
              invocation, std::make_shared<NoOptions>(), verify_ledger);
}

} // namespace fathom::cli
