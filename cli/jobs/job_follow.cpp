#include "cli/jobs/job_follow.hpp"

#include "cli/client/interrupt.hpp"
#include "cli/client/json_view.hpp"
#include "cli/jobs/job_log.hpp"
#include "cli/jobs/job_wait.hpp"

#include <ostream>

namespace fathom::cli {
namespace {

struct WaitOptions {
    std::string id;
    JobWaitOptions waiting;
};

struct LogsOptions {
    std::string id;
    bool of_stderr = false;
    bool follow = false;
    std::int64_t offset_bytes = 0;
    std::string attempt;
};

Outcome wait_command(Session& session, const WaitOptions& options)
{
    const InterruptNotice notice(interrupt_text(options.id));
    const Result<Json> job = wait_for_job(session, options.id, options.waiting);
    if (!job) return job.error();
    if (session.wants_json())
        print_json(session, *job);
    else
        *session.console().out << job_summary(*job) << "\n";
    return exit_code_of_job(*job);
}

Outcome logs_command(Session& session, const LogsOptions& options)
{
    const InterruptNotice notice(interrupt_text(options.id));
    if (options.follow) {
        const Result<Json> job = wait_for_job(session, options.id, {.until = JobWaitOptions::Until::kStarted});
        if (!job) return job.error();
    }
    const JobLogOptions log{.stream = options.of_stderr ? LogStream::kStderr : LogStream::kStdout,
                            .follow = options.follow,
                            .offset_bytes = options.offset_bytes,
                            .attempt = options.attempt};
    const Result<void> copied = copy_job_log(session, options.id, log, *session.console().out);
    if (!copied) return copied.error();
    return ExitCode::kOk;
}

} // namespace

void add_job_follow_commands(CLI::App& job, Invocation& invocation)
{
    auto wait_options = std::make_shared<WaitOptions>();
    CLI::App& wait = add_verb(job, "wait", "Wait until a job has ended; exit 0 when it succeeded, else 1",
                              "fathom job wait job_01JD0000000000000000000000 --timeout-s 600");
    add_required(wait, "ID", wait_options->id, "The job's id");
    wait.add_option("--timeout-s", wait_options->waiting.timeout_s, "Give up waiting (exit 7); the job goes on")
        ->check(CLI::NonNegativeNumber);
    wait.add_flag("--verbose", wait_options->waiting.verbose, "Show state changes also when not on a terminal");
    on_chosen(wait, invocation, std::move(wait_options), wait_command);

    auto logs_options = std::make_shared<LogsOptions>();
    CLI::App& logs = add_verb(job, "logs", "What a job has printed, byte for byte",
                              "fathom job logs job_01JD0000000000000000000000 --follow");
    add_required(logs, "ID", logs_options->id, "The job's id");
    logs.add_flag("--stderr", logs_options->of_stderr, "Its standard error instead of its standard output");
    logs.add_flag("--follow", logs_options->follow, "Go on until it ends");
    logs.add_option("--offset-bytes", logs_options->offset_bytes, "Leave out so many bytes at the start")
        ->check(CLI::NonNegativeNumber);
    logs.add_option("--attempt", logs_options->attempt,
                    "Of this attempt instead of the newest: its number, 1 for the first, or its id");
    on_chosen(logs, invocation, std::move(logs_options), logs_command);
}

} // namespace fathom::cli
