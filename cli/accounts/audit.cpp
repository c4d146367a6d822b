#include "cli/accounts/audit.hpp"

#include "cli/client/json_view.hpp"

namespace fathom::cli {
namespace {

struct AuditOptions {
    ListOptions list;
    std::string actor;
    std::string action;
    std::string subject;
    std::string since;
    std::string until;
};

Table audit_table(const Json& entries, Timestamp)
{
    Table table({{"AT"}, {"WHO"}, {"ACTION"}, {"SUBJECT"}, {"DETAIL", Align::kLeft, 1}, {"REQUEST", Align::kLeft, 2}});
    for (const Json& entry : entries) {
        const std::string name = text_of(entry, "actor_name");
        const std::string detail = member(entry, "detail").empty() ? "-" : member(entry, "detail").dump();
        table.add_row({text_of(entry, "at"), name == "-" ? text_of(entry, "actor") : name, text_of(entry, "action"),
                       text_of(entry, "subject"), detail, text_of(entry, "request_id")});
    }
    return table;
}

Outcome list_audit_log(Session& session, const AuditOptions& options)
{
    Query query;
    if (!options.actor.empty()) query.emplace_back("actor", options.actor);
    if (!options.action.empty()) query.emplace_back("action", options.action);
    if (!options.subject.empty()) query.emplace_back("subject", options.subject);
    if (!options.since.empty()) query.emplace_back("since", options.since);
    if (!options.until.empty()) query.emplace_back("until", options.until);
    return print_list(session,
                      {.path = "/audit-log",
                       .query = std::move(query),
                       .table = audit_table,
                       .when_empty = "No such acts in what the server keeps of its audit log."},
                      options.list);
}

struct VerifyOptions {
    std::string known;
};

Outcome verify_audit_log(Session& session, const VerifyOptions& options)
{
    Query query;
    if (!options.known.empty()) query.emplace_back("known", options.known);
    const Result<Json> check = session.get("/audit-log:verify", query);
    const Outcome printed = print_answer(session, check, [](const Json& answer) {
        const std::string end = text_of(answer, "last_number") + ":" + text_of(answer, "last_sha256");
        std::string out = text_of(answer, "acts") + " acts, the last is " + end + "\n";
        if (is_true(answer, "good"))
            return out + "Nothing is missing or changed. Note the last one elsewhere, for --known.\n";
        return out + "THE AUDIT LOG WAS CHANGED: " + text_of(answer, "fault") + ".\n";
    });
    if (!printed) return printed;
    return is_true(*check, "good") ? ExitCode::kOk : ExitCode::kFailed;
}

} // namespace

void add_audit_commands(CLI::App& app, Invocation& invocation)
{
    CLI::App& noun = add_noun(app, "audit", "The audit log: every privileged act, who did it, and on what");
    auto options = std::make_shared<AuditOptions>();
    CLI::App& list = add_verb(noun, "list", "Privileged acts, newest first", "fathom audit list --subject alpha");
    add_list_options(list, options->list);
    list.add_option("--actor", options->actor, "Only of this token, account's identity, center or replica, by id");
    list.add_option("--action", options->action, "Only acts of this kind, such as token.create");
    list.add_option("--subject", options->subject, "Only acts on this");
    list.add_option("--since", options->since, "Only acts of that time and later, such as 2026-11-01T00:00:00Z");
    list.add_option("--until", options->until, "Only acts before that time");
    on_chosen(list, invocation, std::move(options), list_audit_log);

    auto verify_options = std::make_shared<VerifyOptions>();
    CLI::App& verify = add_verb(noun, "verify", "Check that nothing of the audit log was changed or left out",
                                "fathom audit verify --known 4711:9f86d081884c7d65…");
    verify.add_option("--known", verify_options->known, "NUMBER:SHA256 that an earlier check said");
    on_chosen(verify, invocation, std::move(verify_options), verify_audit_log);
}

} // namespace fathom::cli
