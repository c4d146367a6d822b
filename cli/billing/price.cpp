#include "cli/billing/price.hpp"

#include "cli/client/input_file.hpp"
#include "cli/client/json_view.hpp"
#include "cli/text/format_units.hpp"
#include "core/model/price_book.hpp"

namespace fathom::cli {
namespace {

struct ShowOptions {
    std::string version = "current";
};

struct SetOptions {
    std::string file;
    std::string from;
};

struct TryOptions {
    std::string file;
    std::string from;
    std::string until;
};

std::string number_text(const Json& json, std::string_view name, std::string_view unit)
{
    const std::optional<double> value = number_of(json, name);
    return value ? format_number(*value) + " " + std::string(unit) : "-";
}

/// "0.10 a score-hour + 0.02 a unit-hour"
std::string prices_text(const Json& prices)
{
    const std::string score = text_of(prices, "per_score_hour", "");
    const std::string unit = text_of(prices, "per_unit_hour", "");
    return (score.empty() ? "" : score + " a score-hour") + (score.empty() || unit.empty() ? "" : " + ") +
           (unit.empty() ? "" : unit + " a unit-hour");
}

/// "sat, sun 06-20 h: 0.06 a unit-hour; every day 22-24 h: 0.05 a unit-hour"
std::string bands_text(const Json& entry)
{
    std::string text;
    for (const Json& band : items_of(entry, "bands")) {
        const std::string days = items_of(band, "days").empty() ? "every day" : joined_texts(band, "days");
        text += (text.empty() ? "" : "; ") + days + " " + text_of(band, "from_hour", "0") + "-" +
                text_of(band, "to_hour", "24") + " h: " + prices_text(band);
    }
    return text.empty() ? "-" : text;
}

Table prices_table(const Json& document)
{
    Table table({{"CENTER"},
                 {"UNIT TYPE"},
                 {"PRICE (" + text_of(document, "currency") + ")"},
                 {"AT OTHER HOURS (UTC)", Align::kLeft, 2, true},
                 {"POWER", Align::kRight, 1},
                 {"CARBON", Align::kRight, 3}});
    for (const Json& entry : items_of(document, "entries"))
        table.add_row({text_of(entry, "center"), text_of(entry, "unit_type"), prices_text(entry), bands_text(entry),
                       number_text(entry, "unit_power_w", "W"), number_text(entry, "carbon_g_per_kwh", "g/kWh")});
    return table;
}

/// What the book says beside the prices of units, a line each.
std::string terms_text(const Json& document)
{
    const std::string currency = text_of(document, "currency");
    std::string out;
    const auto add = [&](const char* name, const std::string& words) {
        if (const std::string price = text_of(document, name, ""); !price.empty())
            out += price + " " + currency + " " + words + "\n";
    };
    add("per_gb_moved", "for 10^9 bytes moved");
    add("per_gb_hour_stored", "for 10^9 bytes of output kept for an hour");
    add("minimum_charge", "at least for a run");
    for (const Json& discount : items_of(document, "discounts"))
        out += text_of(discount, "percent") + " % off for project " + text_of(discount, "project") + "\n";
    for (const Json& budget : items_of(document, "budgets"))
        out += "project " + text_of(budget, "project") + " may be billed " + text_of(budget, "per_month") + " " +
               currency + " a month; beyond it jobs are " +
               (text_of(budget, "action") == "refuse" ? "refused" : "still taken") + "\n";
    return out.empty() ? out : "\n" + out;
}

/// "in force since 2026-12-01 00:00:00 UTC (3 d ago)"
std::string validity(const Json& book, Timestamp now)
{
    const std::optional<Timestamp> from = time_of(book, "valid_from");
    if (!from) return "-";
    const std::string when = format_time(*from) + " (" + format_age(*from, now) + ")";
    if (is_true(book, "in_force")) return "in force since " + when;
    return (*from > now ? "comes into force " : "replaced; was set for ") + when;
}

Outcome show_prices(Session& session, const ShowOptions& options)
{
    return print_answer(session, session.get("/price-books/" + path_segment(options.version)), [&](const Json& book) {
        return "Version " + text_of(book, "version") + ", " + validity(book, session.now()) + "\n\n" +
               prices_table(member(book, "document")).render(table_style(session)) +
               terms_text(member(book, "document"));
    });
}

Table versions_table(const Json& books, Timestamp now)
{
    Table table({{"VERSION", Align::kRight},
                 {"VALID"},
                 {"CURRENCY"},
                 {"ENTRIES", Align::kRight},
                 {"SET", Align::kRight, 1},
                 {"BY", Align::kLeft, 2}});
    for (const Json& book : books)
        table.add_row({text_of(book, "version"),
                       Cell(validity(book, now), is_true(book, "in_force") ? Tone::kGood : Tone::kFaint),
                       text_of(book, "currency"), count_of(book, "entry_count"), age_of(book, "created_at", now),
                       text_of(book, "created_by")});
    return table;
}

Outcome list_prices(Session& session, const ListOptions& options)
{
    return print_list(session,
                      {.path = "/price-books",
                       .query = {},
                       .table = versions_table,
                       .when_empty = "Nothing has a price yet; `fathom price set --help` shows how to set prices."},
                      options);
}

/// A date is its first moment, as in the commands of bills.
std::string with_time(const std::string& moment)
{
    constexpr std::size_t kDateLength = 10; // 2026-11-01
    return moment.size() == kDateLength ? moment + "T00:00:00Z" : moment;
}

Outcome set_prices(Session& session, const SetOptions& options)
{
    const Result<Json> document = read_input_file(options.file, session.console());
    if (!document) return document.error();
    // The file is checked here too, since its own names of fields are clearer than those of the request.
    if (const Result<PriceBook> book = parse_price_book(*document); !book) return in_file(options.file, book.error());
    Json order{{"document", *document}};
    if (!options.from.empty()) order["valid_from"] = with_time(options.from);
    return print_answer(session, session.post("/price-books", order), [&](const Json& book) {
        for (const Json& warning : items_of(book, "warnings"))
            say(session, "warning: " + text_of(warning, "field") + ": " + text_of(warning, "detail"));
        return "Version " + text_of(book, "version") + " of the price book, " + validity(book, session.now()) + ".\n";
    });
}

Outcome try_prices(Session& session, const TryOptions& options)
{
    const Result<Json> document = read_input_file(options.file, session.console());
    if (!document) return document.error();
    if (const Result<PriceBook> book = parse_price_book(*document); !book) return in_file(options.file, book.error());
    Json order{{"document", *document}, {"from", with_time(options.from)}};
    if (!options.until.empty()) order["until"] = with_time(options.until);
    return print_answer(session, session.post("/price-books:try", order), [&](const Json& trial) {
        Table table({{"PROJECT"}, {"BY THIS BOOK", Align::kRight}, {"BILLED", Align::kRight}});
        for (const Json& project : items_of(trial, "projects")) {
            std::string billed;
            for (const auto& [currency, amount] : member(project, "billed").items())
                billed += (billed.empty() ? "" : ", ") + amount.get<std::string>() + " " + currency;
            table.add_row({text_of(project, "project"),
                           text_of(project, "trial_cost") + " " + text_of(trial, "currency"),
                           billed.empty() ? "-" : billed});
        }
        return count_of(trial, "usage_records") + " records of usage\n\n" + table.render(table_style(session));
    });
}

} // namespace

void add_price_commands(CLI::App& app, Invocation& invocation)
{
    CLI::App& noun = add_noun(app, "price", "What units cost and draw");
    auto show_options = std::make_shared<ShowOptions>();
    CLI::App& show = add_verb(noun, "show", "The prices in force, or those of a version", "fathom price show");
    show.add_option("VERSION", show_options->version, "A version as `fathom price list` shows it (default: current)");
    on_chosen(show, invocation, std::move(show_options), show_prices);

    add_list_verb(noun, invocation, "Versions of the price book, newest first", "fathom price list", list_prices);

    auto set_options = std::make_shared<SetOptions>();
    CLI::App& set = add_verb(
        noun, "set", "Replace all prices by those of FILE, now or from a moment on",
        "fathom price set prices.yaml --from 2026-12-01T00:00:00Z\n"
        "  prices.yaml:\n"
        "    currency: EUR\n"
        "    entries:\n"
        "      - {center: alpha, unit_type: core, per_unit_hour: \"0.12\", unit_power_w: 11.5,\n"
        "         bands: [{days: [sat, sun], from_hour: 0, to_hour: 24, per_unit_hour: \"0.06\"}]}\n"
        "      - {center: beta, unit_type: \"*\", per_unit_hour: \"0.30\"}\n"
        "      - {center: \"*\", unit_type: \"*\", per_score_hour: \"0.10\"}   # all others, by measured compute");
    add_required(set, "FILE", set_options->file, "The prices as YAML or JSON, - for standard input");
    set.add_option("--from", set_options->from,
                   "From when they hold: 2026-12-01, or 2026-12-01T06:00:00Z (default: now)");
    on_chosen(set, invocation, std::move(set_options), set_prices);

    auto try_options = std::make_shared<TryOptions>();
    CLI::App& trial = add_verb(noun, "try", "What past usage would have cost by the prices of FILE; nothing is changed",
                               "fathom price try prices.yaml --from 2026-11-01T00:00:00Z");
    add_required(trial, "FILE", try_options->file, "The prices as YAML or JSON, - for standard input");
    trial.add_option("--from", try_options->from, "Usage that ended then or later: 2026-11-01")->required();
    trial.add_option("--until", try_options->until, "Usage that ended before (default: now)");
    on_chosen(trial, invocation, std::move(try_options), try_prices);
}

} // namespace fathom::cli
