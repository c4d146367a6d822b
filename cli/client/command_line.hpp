#pragma once

#include "cli/client/session.hpp"
#include "cli/text/table.hpp"

#include <CLI/CLI.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fathom::cli {

/// What the command line asks for, filled while it is parsed.
struct Invocation {
    std::function<Outcome(Session&)> action; ///< of the chosen command
    std::vector<std::string> program;        ///< everything after `--`
    bool has_program = false;                ///< there was a `--`
    bool takes_program = false;              ///< the chosen command knows what to do with it
};

/// A group of commands, `fathom center`.
CLI::App& add_noun(CLI::App& app, const std::string& name, const std::string& description);

/// A command, `fathom center list`, with an example for its --help.
CLI::App& add_verb(CLI::App& noun, const std::string& name, const std::string& description, const std::string& example);

/// Runs `run(session, *options)` when the command was chosen.
template <class Options>
void on_chosen(CLI::App& verb, Invocation& invocation, std::shared_ptr<Options> options,
               Outcome (*run)(Session&, const Options&))
{
    verb.callback([&invocation, options, run] {
        invocation.action = [options, run](Session& session) { return run(session, *options); };
    });
}

/// A positional argument that must be there and not empty.
void add_required(CLI::App& verb, const std::string& name, std::string& value, const std::string& description);

/// The options of every list.
struct ListOptions {
    std::optional<std::int64_t> limit;
};
void add_list_options(CLI::App& verb, ListOptions& options);

/// For commands with one positional argument.
struct NameOptions {
    std::string name;
};

// What commands print. In JSON it is the server's answer; in tables it is for people.

TableStyle table_style(Session& session);

/// How a list is shown to people.
struct ListView {
    std::string path;
    Query query;
    std::function<Table(const Json& items, Timestamp now)> table;
    std::string when_empty;                    ///< said on standard error, with a way out
    std::optional<std::int64_t> table_limit{}; ///< unless --limit is given
};
Outcome print_list(Session& session, const ListView& view, const ListOptions& options);

/// Prints the answer, as JSON or what `render` makes of it.
Outcome print_answer(Session& session, const Result<Json>& answer,
                     const std::function<std::string(const Json&)>& render);

/// JSON on standard output, indented, with a line end.
void print_json(Session& session, const Json& json);

/// A line for people on standard error.
void say(Session& session, const std::string& line);

/// Writes a secret, the answer's `field`, to a file that only its owner can read, or to standard output when there is
/// no file. In JSON the answer is printed too, without the secret when a file holds it.
Outcome deliver_secret(Session& session, Json answer, const std::string& output_file, const char* field = "token");

// One function for each noun; each adds its group and commands.
void add_center_commands(CLI::App& app, Invocation& invocation);
void add_enrolment_token_commands(CLI::App& app, Invocation& invocation);
/// `fathom center enrol-token`: the same as `fathom enrolment-token create`.
void add_enrolment_token_create(CLI::App& noun, const std::string& verb, Invocation& invocation);
void add_unit_commands(CLI::App& app, Invocation& invocation);
void add_operator_commands(CLI::App& app, Invocation& invocation);
/// `fathom operator add`, `change`, `withdraw`
void add_operator_change_commands(CLI::App& noun, Invocation& invocation);
/// `fathom operator sign`, `upload`
void add_operator_package_commands(CLI::App& noun, Invocation& invocation);
/// `fathom operator key`
void add_operator_key_commands(CLI::App& noun, Invocation& invocation);
/// Under `operator`.
void add_operator_diversity(CLI::App& noun, Invocation& invocation);
void add_probe_commands(CLI::App& app, Invocation& invocation);
/// `fathom probe task`
void add_probe_task_commands(CLI::App& probe, Invocation& invocation);
/// `fathom probe schedule`
void add_probe_schedule_commands(CLI::App& probe, Invocation& invocation);
/// Under `probe`.
void add_probe_compare(CLI::App& probe, Invocation& invocation);
/// `fathom probe task compose`
void add_probe_task_compose(CLI::App& task, Invocation& invocation);
void add_policy_commands(CLI::App& app, Invocation& invocation);
void add_price_commands(CLI::App& app, Invocation& invocation);
void add_bill_commands(CLI::App& app, Invocation& invocation);
/// `fathom bill export`
void add_bill_export(CLI::App& noun, Invocation& invocation);
/// `fathom bill schedule`
void add_bill_schedule(CLI::App& bill, Invocation& invocation);
/// `fathom bill reconcile`
void add_bill_reconcile(CLI::App& noun, Invocation& invocation);
void add_score_commands(CLI::App& app, Invocation& invocation);
void add_job_commands(CLI::App& app, Invocation& invocation);
/// `fathom place`
void add_place_commands(CLI::App& app, Invocation& invocation);
/// `fathom replay`
void add_replay_commands(CLI::App& app, Invocation& invocation);
/// `fathom job submit` and `fathom job preview`
void add_job_submit_commands(CLI::App& job, Invocation& invocation);
/// `fathom job wait`, `logs`
void add_job_follow_commands(CLI::App& job, Invocation& invocation);
void add_reservation_commands(CLI::App& app, Invocation& invocation);
void add_maintenance_commands(CLI::App& app, Invocation& invocation);
void add_scaling_commands(CLI::App& app, Invocation& invocation);
void add_window_commands(CLI::App& app, Invocation& invocation);
void add_accuracy_commands(CLI::App& app, Invocation& invocation);
void add_trust_commands(CLI::App& app, Invocation& invocation);
void add_finding_commands(CLI::App& app, Invocation& invocation);
/// `fathom speedup`: computed here, without a server.
void add_speedup_commands(CLI::App& app, Invocation& invocation);
/// `fathom corun`: computed here, without a server.
void add_corun_commands(CLI::App& app, Invocation& invocation);
/// `fathom predict`: computed here, without a server.
void add_predict_commands(CLI::App& app, Invocation& invocation);
/// `fathom simulate`: computed here, without a server.
void add_simulate_commands(CLI::App& app, Invocation& invocation);
/// `fathom simulate export`
void add_simulate_export(CLI::App& simulate, Invocation& invocation);
/// `fathom job operators`
void add_job_operators_command(CLI::App& job, Invocation& invocation);
void add_job_type_commands(CLI::App& app, Invocation& invocation);
void add_project_commands(CLI::App& app, Invocation& invocation);
void add_token_commands(CLI::App& app, Invocation& invocation);
void add_user_commands(CLI::App& app, Invocation& invocation);
void add_audit_commands(CLI::App& app, Invocation& invocation);
void add_event_commands(CLI::App& app, Invocation& invocation);

} // namespace fathom::cli
