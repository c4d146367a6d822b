#include "cli/probes/finding.hpp"

#include "cli/client/json_view.hpp"

namespace fathom::cli {
namespace {

struct FindingListOptions : ListOptions {
    std::string center;
    std::string kind;
    bool is_open = false;
};

struct DismissOptions {
    std::string id;
    std::string reason;
};

/// The kinds that cannot come about honestly.
bool costs_trust(const std::string& kind)
{
    return kind == "checksum" || kind == "clock" || kind == "rate";
}

Table findings_table(const Json& findings, Timestamp now)
{
    Table table({{"ID", Align::kRight},
                 {"FOUND", Align::kRight, 1},
                 {"CENTER"},
                 {"UNIT TYPE", Align::kLeft, 1},
                 {"KIND"},
                 {"STATE"},
                 {"PROBE RUN", Align::kLeft, 2},
                 {"WHAT", Align::kLeft, 0, true}});
    for (const Json& one : findings) {
        const std::string kind = text_of(one, "kind");
        const bool is_open = member(one, "dismissed_at").is_null();
        const bool hurts = is_open && costs_trust(kind);
        table.add_row({text_of(one, "id"), age_of(one, "found_at", now), text_of(one, "center"),
                       text_of(one, "unit_type"), Cell(kind, hurts ? Tone::kBad : Tone::kPlain),
                       is_open ? Cell("open") : Cell("dismissed", Tone::kFaint), text_of(one, "probe_run_id"),
                       text_of(one, "detail")});
    }
    return table;
}

Outcome list_findings(Session& session, const FindingListOptions& options)
{
    Query query;
    if (!options.center.empty()) query.emplace_back("center", options.center);
    if (!options.kind.empty()) query.emplace_back("kind", options.kind);
    if (options.is_open) query.emplace_back("open", "true");
    return print_list(session,
                      {.path = "/probe-findings",
                       .query = std::move(query),
                       .table = findings_table,
                       .when_empty = "No such findings: no result of a probe was quarantined."},
                      options);
}

Outcome dismiss_finding(Session& session, const DismissOptions& options)
{
    const Json body{{"reason", options.reason}};
    return print_answer(session, session.post("/probe-findings/" + path_segment(options.id) + ":dismiss", body),
                        [](const Json& finding) {
                            return "Finding " + text_of(finding, "id") + " costs center " + text_of(finding, "center") +
                                   " no trust any more. Measurements that it made void stay void; `fathom probe run` "
                                   "measures anew.\n";
                        });
}

} // namespace

void add_finding_commands(CLI::App& app, Invocation& invocation)
{
    CLI::App& noun = add_noun(app, "finding", "Quarantined results of probes, and why");
    auto list_options = std::make_shared<FindingListOptions>();
    CLI::App& list = add_verb(noun, "list", "Findings, newest first", "fathom finding list --open --center alpha");
    list.add_option("--center", list_options->center, "Of this center: its name or id");
    list.add_option("--kind", list_options->kind,
                    "checksum, clock, rate, version, wrong_result, nonsense, doubled or late");
    list.add_flag("--open", list_options->is_open, "Without those that were dismissed");
    add_list_options(list, *list_options);
    on_chosen(list, invocation, std::move(list_options), list_findings);

    auto dismiss_options = std::make_shared<DismissOptions>();
    CLI::App& dismiss = add_verb(noun, "dismiss", "It was no fault of the center: give its trust back",
                                 "fathom finding dismiss 7 --reason \"the machine had been suspended\"");
    add_required(dismiss, "ID", dismiss_options->id, "As `fathom finding list` shows it");
    dismiss.add_option("--reason", dismiss_options->reason, "Why; it is kept in the audit log")->required();
    on_chosen(dismiss, invocation, std::move(dismiss_options), dismiss_finding);
}

} // namespace fathom::cli
