#include "cli/run.hpp"

#include "cli/accounts/audit.hpp"
#include "cli/accounts/authority.hpp"
#include "cli/accounts/project.hpp"
#include "cli/accounts/token.hpp"
#include "cli/accounts/user.hpp"
#include "cli/billing/bill.hpp"
#include "cli/billing/price.hpp"
#include "cli/centers/center.hpp"
#include "cli/centers/enrolment_token.hpp"
#include "cli/centers/maintenance.hpp"
#include "cli/centers/reservation.hpp"
#include "cli/centers/unit.hpp"
#include "cli/jobs/accuracy.hpp"
#include "cli/jobs/event.hpp"
#include "cli/jobs/job.hpp"
#include "cli/jobs/job_type.hpp"
#include "cli/jobs/place.hpp"
#include "cli/jobs/replay.hpp"
#include "cli/operators/operator.hpp"
#include "cli/probes/finding.hpp"
#include "cli/probes/policy.hpp"
#include "cli/probes/probe.hpp"
#include "cli/probes/scaling.hpp"
#include "cli/probes/score.hpp"
#include "cli/probes/trust.hpp"
#include "cli/probes/window.hpp"
#include "cli/profile/predict.hpp"
#include "cli/profile/profile.hpp"
#include "cli/profile/speedup.hpp"
#include "cli/simulation/corun.hpp"
#include "cli/simulation/simulate.hpp"
#include "cli/text/display_text.hpp"

#include <algorithm>
#include <ostream>

namespace fathom::cli {
namespace {

constexpr const char* kFooter = R"(
Environment:
  FATHOM_URL         where the server is (default https://127.0.0.1:8443)
  FATHOM_TOKEN       the token itself, or …
  FATHOM_TOKEN_FILE  … a file that holds it (fathomd writes DIR/admin.token)
  FATHOM_CA          PEM file of the server's authority (fathomd writes DIR/ca.pem);
                     without it the system's authorities are trusted
  NO_COLOR           set: no colour
Flags win. The token is never a flag's value: other users can see arguments.

Exit codes:
  0  done; a job that was waited for has succeeded
  1  a job failed or was cancelled, or the server refused
  2  wrong usage or input        3  server not reached, or not trusted
  4  no valid token or right     5  not found
  6  no center can do it         7  --timeout-s has passed
  130  Ctrl-C; what was started goes on

Results go to standard output, messages to standard error.
`fathom NOUN VERB --help` shows each command with an example.)";

struct GlobalOptions {
    ConnectionOptions connection;
    std::string output = "table";
};

void add_global_options(CLI::App& app, GlobalOptions& options)
{
    app.add_option("--url", options.connection.url, "Where the server is");
    app.add_option("--token-file", options.connection.token_file, "File that holds the token");
    app.add_option("--ca", options.connection.ca_file, "PEM file of the server's authority");
    app.add_option("--output", options.output, "table (for people) or json (the server's own)")
        ->check(CLI::IsMember({"table", "json"}));
}

void add_version(CLI::App& app, Invocation& invocation)
{
    CLI::App& version = add_verb(app, "version", "The version of this program", "fathom version");
    version.callback([&invocation] {
        invocation.action = [](Session& session) -> Outcome {
            if (session.wants_json())
                print_json(session, {{"version", FATHOM_VERSION}});
            else
                *session.console().out << "fathom " FATHOM_VERSION "\n";
            return ExitCode::kOk;
        };
    });
}

void add_commands(CLI::App& app, Invocation& invocation)
{
    app.require_subcommand(1);
    app.footer(kFooter);
    app.set_version_flag("--version", "fathom " FATHOM_VERSION);
    add_job_commands(app, invocation);
    add_job_type_commands(app, invocation);
    add_project_commands(app, invocation);
    add_score_commands(app, invocation);
    add_profile_command(app, invocation);
    add_place_commands(app, invocation);
    add_replay_commands(app, invocation);
    add_predict_commands(app, invocation);
    add_simulate_commands(app, invocation);
    add_probe_commands(app, invocation);
    add_operator_commands(app, invocation);
    add_policy_commands(app, invocation);
    add_price_commands(app, invocation);
    add_bill_commands(app, invocation);
    add_center_commands(app, invocation);
    add_unit_commands(app, invocation);
    add_enrolment_token_commands(app, invocation);
    add_reservation_commands(app, invocation);
    add_maintenance_commands(app, invocation);
    add_scaling_commands(app, invocation);
    add_window_commands(app, invocation);
    add_accuracy_commands(app, invocation);
    add_trust_commands(app, invocation);
    add_finding_commands(app, invocation);
    add_speedup_commands(app, invocation);
    add_corun_commands(app, invocation);
    add_token_commands(app, invocation);
    add_user_commands(app, invocation);
    add_authority_commands(app, invocation);
    add_audit_commands(app, invocation);
    add_event_commands(app, invocation);
    add_version(app, invocation);
}

/// The deepest command that was recognised: `fathom job submit`.
std::string command_name(const CLI::App& app)
{
    const auto chosen = app.get_subcommands();
    return app.get_name() + (chosen.empty() ? "" : " " + command_name(*chosen.front()));
}

int usage_error(const Console& console, const std::string& what, const std::string& command)
{
    *console.err << "fathom: " << printable(what) << "\n  hint: `" << command << " --help` shows how it is used\n";
    return static_cast<int>(ExitCode::kUsage);
}

/// Cuts off the user's program, so that its arguments are never read as ours.
void split_program(std::vector<std::string>& arguments, Invocation& invocation)
{
    const auto mark = std::find(arguments.begin(), arguments.end(), "--");
    if (mark == arguments.end()) return;
    invocation.has_program = true;
    invocation.program.assign(mark + 1, arguments.end());
    arguments.erase(mark, arguments.end());
}

int perform(const Invocation& invocation, const Console& console, const GlobalOptions& options)
{
    Session session(console, options.connection, options.output == "json" ? OutputFormat::kJson : OutputFormat::kTable);
    const Outcome outcome = invocation.action(session);
    console.out->flush();
    if (outcome) return static_cast<int>(*outcome);
    const Error error = outcome.error();
    report_error(error, console);
    return static_cast<int>(exit_code_of(error.code));
}

} // namespace

int run(std::vector<std::string> arguments, const Console& console)
{
    CLI::App app("Runs jobs where measurements say that they run best.", "fathom");
    Invocation invocation;
    GlobalOptions options;
    add_global_options(app, options);
    add_commands(app, invocation);
    split_program(arguments, invocation);
    try {
        // CLI11 takes them last first.
        std::reverse(arguments.begin(), arguments.end());
        app.parse(std::move(arguments));
    } catch (const CLI::CallForVersion& version) {
        *console.out << version.what() << "\n";
        return static_cast<int>(ExitCode::kOk);
    } catch (const CLI::Success&) {
        *console.out << app.help() << "\n";
        return static_cast<int>(ExitCode::kOk);
    } catch (const CLI::ParseError& error) {
        return usage_error(console, error.what(), command_name(app));
    }
    if (invocation.has_program && !invocation.takes_program)
        return usage_error(console, "a program after -- makes sense only with profile, job submit and job preview",
                           command_name(app));
    return perform(invocation, console, options);
}

} // namespace fathom::cli
