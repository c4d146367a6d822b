#include "cli/billing/bill_reconcile.hpp"

#include "cli/client/json_view.hpp"
#include "cli/text/format_units.hpp"
#include "core/base/file.hpp"

#include <cmath>
#include <map>
#include <optional>
#include <sstream>

namespace fathom::cli {
namespace {

constexpr std::size_t kMaxFileBytes = 256UL << 20U;

struct ReconcileOptions {
    std::string file;
    std::string center;
    std::string from;
    std::string until;
    double tolerance_s = 2;
};

/// An attempt as one side accounted it; empty where that side does not know it.
struct Accounted {
    std::optional<double> ours_s;
    std::optional<double> theirs_s;
    std::string job_id;
};
using Accounts = std::map<std::string, Accounted>;

std::vector<std::string> split(const std::string& line)
{
    std::vector<std::string> fields;
    std::istringstream text(line);
    for (std::string field; std::getline(text, field, '|');)
        fields.push_back(field);
    return fields;
}

/// Seconds of [DD-]HH:MM:SS, or of a plain number.
std::optional<double> parse_elapsed(const std::string& text)
{
    double seconds = 0;
    double part = 0;
    bool has_digits = false;
    for (const char c : text) {
        if (c >= '0' && c <= '9') {
            part = part * 10 + (c - '0');
            has_digits = true;
        } else if (c == '-') {
            seconds = part * 24;
            part = 0;
        } else if (c == ':') {
            seconds = (seconds + part) * 60;
            part = 0;
        } else {
            return std::nullopt;
        }
    }
    if (!has_digits) return std::nullopt;
    return seconds + part;
}

/// The attempt's id is its name in the batch system: JobName of `sacct -P`, whose first line names the fields.
Result<void> read_batch_system(const std::string& file, Accounts& accounts)
{
    const Result<std::string> text = read_file(file, kMaxFileBytes);
    if (!text) return Error{Errc::kInvalid, file + ": " + text.error().detail};
    std::istringstream lines(*text);
    std::string line;
    std::getline(lines, line);
    std::size_t name_at = std::string::npos;
    std::size_t elapsed_at = std::string::npos;
    const std::vector<std::string> heads = split(line);
    for (std::size_t i = 0; i < heads.size(); ++i) {
        if (heads[i] == "JobName") name_at = i;
        if (heads[i] == "ElapsedRaw" || (heads[i] == "Elapsed" && elapsed_at == std::string::npos)) elapsed_at = i;
    }
    if (name_at == std::string::npos || elapsed_at == std::string::npos)
        return Error{Errc::kInvalid, file + ": the first line must name JobName and ElapsedRaw, as sacct -P does"};
    while (std::getline(lines, line)) {
        const std::vector<std::string> fields = split(line);
        if (fields.size() <= std::max(name_at, elapsed_at) || !fields[name_at].starts_with("att_")) continue;
        const std::optional<double> elapsed = parse_elapsed(fields[elapsed_at]);
        if (!elapsed) return Error{Errc::kInvalid, file + ": no time: " + fields[elapsed_at]};
        Accounted& one = accounts[fields[name_at]];
        one.theirs_s = one.theirs_s.value_or(0) + *elapsed;
    }
    return {};
}

Result<void> read_usage(Session& session, const ReconcileOptions& options, Accounts& accounts)
{
    const Query query{{"center", options.center}, {"from", options.from}, {"until", options.until}};
    const Result<Session::List> usage = session.list("/usage", query, std::nullopt);
    if (!usage) return usage.error();
    for (const Json& one : items_of(usage->json)) {
        const std::string attempt = text_of(one, "attempt_id", "");
        const std::optional<Timestamp> from = time_of(one, "from");
        const std::optional<Timestamp> until = time_of(one, "until");
        // Newest first: an earlier revision no longer holds. What never ran the batch system may not know.
        if (attempt.empty() || !from || !until || accounts[attempt].ours_s) continue;
        accounts[attempt].ours_s = Seconds(*until - *from).count();
        accounts[attempt].job_id = text_of(one, "job_id");
    }
    return {};
}

bool differs(const Accounted& one, double tolerance_s)
{
    return std::abs(one.ours_s.value_or(0) - one.theirs_s.value_or(0)) > tolerance_s;
}

Json report_of(const Accounts& accounts, double tolerance_s)
{
    Json differences = Json::array();
    double ours_s = 0;
    double theirs_s = 0;
    for (const auto& [attempt, one] : accounts) {
        ours_s += one.ours_s.value_or(0);
        theirs_s += one.theirs_s.value_or(0);
        if (!differs(one, tolerance_s)) continue;
        differences.push_back({{"attempt_id", attempt},
                               {"job_id", one.job_id.empty() ? Json() : Json(one.job_id)},
                               {"metered_s", one.ours_s ? Json(*one.ours_s) : Json()},
                               {"accounted_s", one.theirs_s ? Json(*one.theirs_s) : Json()},
                               {"difference_s", one.ours_s.value_or(0) - one.theirs_s.value_or(0)}});
    }
    return {{"attempts", accounts.size()},
            {"metered_s", ours_s},
            {"accounted_s", theirs_s},
            {"tolerance_s", tolerance_s},
            {"differences", std::move(differences)}};
}

std::string seconds_text(const Json& json, const char* name)
{
    const std::optional<double> seconds = number_of(json, name);
    return seconds ? format_duration(*seconds) : "not known";
}

std::string report_text(const Json& report, const TableStyle& style)
{
    Table table({{"ATTEMPT"},
                 {"JOB", Align::kLeft, 1},
                 {"METERED", Align::kRight},
                 {"BATCH SYSTEM", Align::kRight},
                 {"DIFFERENCE", Align::kRight}});
    for (const Json& one : items_of(report, "differences")) {
        const double difference_s = number_of(one, "difference_s").value_or(0);
        table.add_row({text_of(one, "attempt_id"), text_of(one, "job_id"), seconds_text(one, "metered_s"),
                       seconds_text(one, "accounted_s"),
                       (difference_s < 0 ? "-" : "+") + format_duration(std::abs(difference_s))});
    }
    return count_of(report, "attempts") + " attempts: metered " + seconds_text(report, "metered_s") +
           ", by the batch system " + seconds_text(report, "accounted_s") + ". " +
           (table.empty()
                ? "No attempt differs by more than the tolerance.\n"
                : std::to_string(items_of(report, "differences").size()) + " differ:\n\n" + table.render(style));
}

Outcome reconcile(Session& session, const ReconcileOptions& options)
{
    Accounts accounts;
    if (const Result<void> read = read_batch_system(options.file, accounts); !read) return read.error();
    if (const Result<void> read = read_usage(session, options, accounts); !read) return read.error();
    const Json report = report_of(accounts, options.tolerance_s);
    const Outcome printed =
        print_answer(session, report, [&](const Json& json) { return report_text(json, table_style(session)); });
    if (!printed) return printed;
    return items_of(report, "differences").empty() ? ExitCode::kOk : ExitCode::kFailed;
}

} // namespace

void add_bill_reconcile(CLI::App& noun, Invocation& invocation)
{
    auto options = std::make_shared<ReconcileOptions>();
    CLI::App& verb =
        add_verb(noun, "reconcile", "Compare what was metered with what a center's batch system accounted",
                 "sacct -P --allocations --format=JobName,ElapsedRaw -S 2026-11-01 -E 2026-12-01 > theirs\n"
                 "  fathom bill reconcile theirs --center alpha --from 2026-11-01 --until 2026-12-01");
    add_required(verb, "FILE", options->file, "What sacct -P printed there, with JobName and ElapsedRaw");
    verb.add_option("--center", options->center, "The center")->required();
    verb.add_option("--from", options->from, "Only what ended then or later")->required();
    verb.add_option("--until", options->until, "Only what ended before")->required();
    verb.add_option("--tolerance-s", options->tolerance_s, "Seconds of an attempt that are no difference (default: 2)")
        ->check(CLI::Range(0.0, 86400.0));
    on_chosen(verb, invocation, std::move(options), reconcile);
}

} // namespace fathom::cli
