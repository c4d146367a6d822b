#include "cli/jobs/job_submit.hpp"

#include "cli/client/interrupt.hpp"
#include "cli/client/json_view.hpp"
#include "cli/jobs/explain.hpp"
#include "cli/jobs/job_log.hpp"
#include "cli/jobs/job_request.hpp"
#include "cli/jobs/job_wait.hpp"

#include <ostream>

namespace fathom::cli {
namespace {

struct SubmitOptions : JobRequestOptions {
    bool wait = false;
    bool follow = false;
    JobWaitOptions waiting;
};

/// What it computes, how, and whose it is.
void add_program_options(CLI::App& verb, JobRequestOptions& options)
{
    verb.add_option("FILE", options.file, "The job as YAML or JSON, - for standard input; or use the flags");
    verb.add_option("--operators", options.operators,
                    "What the program computes: ID[:PARAM=VALUE[;PARAM=VALUE…]]=COUNT, several joined by commas")
        ->allow_extra_args(false);
    verb.add_option("--units", options.units,
                    "How many units: a number, or auto (the default): up to the knee of its scaling");
    verb.add_flag("--ignore-knee", options.ignore_knee, "With auto: more units than the knee, where that is faster");
    verb.add_option("--unit-type", options.unit_type, "Only units of this type");
    verb.add_option("--center", options.center, "Only at this center");
    verb.add_option("--name", options.name, "For people (default: the program's name)");
    verb.add_option("--project", options.project, "Whose work it is (default: \"default\")");
    verb.add_option("--type", options.type, "The job type that measurements are kept under");
    verb.add_option("--env", options.environment, "Environment variable NAME=VALUE; may stand several times")
        ->allow_extra_args(false);
    verb.add_option("--secret-env", options.secrets,
                    "Name of an environment variable whose value here the job gets, and nobody else ever sees")
        ->allow_extra_args(false);
    verb.add_flag("--profile", options.profile, "Count the operators that it executes; its type learns from them");
}

/// What it fetches and stores.
void add_data_options(CLI::App& verb, JobRequestOptions& options)
{
    verb.add_option("--input", options.inputs,
                    "URL=PATH: what its center puts into its working folder first, by https, http, s3 or file:///, or "
                    "the output of an earlier job, job:ID/path; may stand several times")
        ->allow_extra_args(false);
    verb.add_option("--upload", options.uploads,
                    "PATH=URL: what its center stores from its working folder once it has succeeded, by PUT to https, "
                    "http or s3://, or into file:///; may stand several times")
        ->allow_extra_args(false);
    verb.add_option("--in-bytes", options.in_bytes, "Bytes that it fetches before it computes");
    verb.add_option("--out-bytes", options.out_bytes, "Bytes that it sends away at its end");
    verb.add_option("--network", options.network, "auto: may wait for a good network window; now: never does")
        ->check(CLI::IsMember({"auto", "now"}));
}

/// What its place is chosen by.
void add_wish_options(CLI::App& verb, JobRequestOptions& options)
{
    verb.add_option("--deadline", options.deadline, "By when it must have ended: 2030-12-01T18:00:00Z");
    verb.add_option("--budget", options.budget, "What it may cost at most: 12.50EUR");
    verb.add_option(
        "--prefer", options.prefer,
        "What its place is chosen by: fastest (default), cheapest, greenest, or weights: time=0.7,cost=0.3");
    verb.add_option("--priority", options.priority,
                    "-100 to 100 (default 0): among the jobs of its project first, then against others'; above 0 "
                    "only for operators and admins, unless fathomd's settings allow more");
}

/// What its units must have.
void add_need_options(CLI::App& verb, JobRequestOptions& options)
{
    verb.add_option("--device", options.device, "Only CPUs, or only GPUs")->check(CLI::IsMember({"cpu", "gpu"}));
    verb.add_option("--isa", options.isa, "An instruction set that it needs, such as avx512f; may stand several times")
        ->allow_extra_args(false);
    verb.add_option("--memory-bytes", options.memory_bytes, "Memory that each unit must have at least");
    verb.add_option("--gpu-persistent-bytes", options.gpu_persistent_bytes,
                    "Of each GPU's memory, what it needs across iterations: weights, optimizer state");
    verb.add_option("--gpu-temporary-bytes", options.gpu_temporary_bytes,
                    "Of each GPU's memory, what it needs within an iteration: activations, workspaces");
    verb.add_option("--sharing", options.sharing,
                    "exclusive: it gets whole devices, and no other job computes on them meanwhile; allowed (default)")
        ->check(CLI::IsMember({"allowed", "exclusive"}));
    verb.add_option("--site", options.sites, "A center that its data may be at; may stand several times")
        ->allow_extra_args(false);
}

/// How it is run.
void add_run_options(CLI::App& verb, JobRequestOptions& options)
{
    verb.add_option("--module", options.modules,
                    "An environment module that is loaded before it, such as gcc/12.2; may stand several times")
        ->allow_extra_args(false);
    verb.add_option("--container", options.container,
                    "The image of the container that it runs in, such as docker.io/library/debian:12, or the path of "
                    "its file at the center");
    verb.add_option("--wall-limit-s", options.wall_limit_s, "Kill it after so many seconds (default 86400)");
    verb.add_flag(
        "--requeue", options.requeue,
        "It may run again, from its beginning, when its center is lost with it, when a node fails, or when the "
        "center takes its units away for other jobs");
    verb.add_option("--metering-wait-s", options.metering_wait_s,
                    "Wait at most so long for measurements before it is placed (default 120)");
}

void add_request_options(CLI::App& verb, JobRequestOptions& options)
{
    add_program_options(verb, options);
    add_data_options(verb, options);
    add_wish_options(verb, options);
    add_need_options(verb, options);
    add_run_options(verb, options);
}

/// Follows one job's output, then gives the job as it ended.
Result<Json> follow_to_end(Session& session, const std::string& id, const JobWaitOptions& waiting)
{
    JobWaitOptions until_started = waiting;
    until_started.until = JobWaitOptions::Until::kStarted;
    const Result<Json> started = wait_for_job(session, id, until_started);
    if (!started) return started;
    if (const Result<void> followed = follow_job_logs(session, id); !followed) return followed.error();
    // Its last output may be here before its end is.
    return wait_for_job(session, id, waiting);
}

/// Waits for each job; their states at the end replace them in `jobs`.
Result<void> wait_for_all(Session& session, const SubmitOptions& options, Json& jobs)
{
    for (Json& job : jobs) {
        const std::string id = text_of(job, "id");
        const InterruptNotice notice(interrupt_text(jobs.size() == 1 ? id : "ID"));
        Result<Json> ended =
            options.follow ? follow_to_end(session, id, options.waiting) : wait_for_job(session, id, options.waiting);
        if (!ended) return ended.error();
        job = std::move(*ended);
        say(session, "fathom: " + job_summary(job));
    }
    return {};
}

/// The ids: on standard output, unless that carries the job's own output or the JSON at the end.
void announce(Session& session, const SubmitOptions& options, const Json& jobs)
{
    Console& console = session.console();
    const bool waits = options.wait || options.follow;
    for (const Json& job : jobs) {
        const std::string id = text_of(job, "id");
        if (options.follow || (waits && session.wants_json()))
            *console.err << id << "\n";
        else if (!session.wants_json())
            *console.out << id << "\n";
    }
    console.out->flush();
    console.err->flush();
    if (!waits && console.err_is_terminal && jobs.size() == 1)
        say(session, "`fathom job wait " + text_of(jobs[0], "id") +
                         "` waits for it; `fathom job explain` says where "
                         "it goes and why");
}

Outcome submit_job(Session& session, const SubmitOptions& options)
{
    const Result<Json> request = make_job_request(options, session.console());
    if (!request) return request.error();
    if (options.follow && request->is_array())
        return Error{Errc::kInvalid, "--follow shows one job's output; for a list use --wait"};
    Result<Json> answer = session.post("/jobs", *request);
    if (!answer) return answer.error();
    const bool many = request->is_array();
    Json jobs = many ? items_of(*answer) : Json::array({*answer});
    announce(session, options, jobs);
    ExitCode code = ExitCode::kOk;
    if (options.wait || options.follow) {
        if (const Result<void> waited = wait_for_all(session, options, jobs); !waited) return waited.error();
        for (const Json& job : jobs) {
            if (exit_code_of_job(job) != ExitCode::kOk) code = ExitCode::kFailed;
        }
    }
    // With --follow standard output carries what the job wrote, and nothing of ours between.
    if (session.wants_json() && !options.follow) print_json(session, many ? Json{{"items", jobs}} : jobs[0]);
    return code;
}

/// "It would cost 0.12 EUR (0.1–0.15)."; empty where nothing has a price.
std::string expected_cost_text(const Json& expected)
{
    const Json& cost = member(expected, "cost");
    if (!cost.is_object()) return "";
    return "\nIt would cost " + text_of(cost, "amount") + " " + text_of(cost, "currency") + " (" +
           text_of(member(expected, "low"), "amount") + "–" + text_of(member(expected, "high"), "amount") + ").\n";
}

Outcome preview_job(Session& session, const JobRequestOptions& options)
{
    const Result<Json> request = make_job_request(options, session.console());
    if (!request) return request.error();
    if (request->is_array()) return Error{Errc::kInvalid, "a preview is of one job, and the file holds a list"};
    const Result<Json> answer = session.post("/placements:preview", *request);
    const Outcome printed = print_answer(session, answer, [&](const Json& preview) {
        const Json& decision = member(preview, "decision");
        const std::string text = render_decision(decision, session.now(), table_style(session));
        if (!member(decision, "winner").is_number()) return text;
        return text + expected_cost_text(member(preview, "expected_cost")) +
               (is_true(decision, "can_start_now") ? "\nIt could start now.\n" : "\nIt would wait for its units.\n");
    });
    if (!printed) return printed;
    return member(member(*answer, "decision"), "winner").is_number() ? ExitCode::kOk : ExitCode::kInfeasible;
}

} // namespace

void add_job_submit_commands(CLI::App& job, Invocation& invocation)
{
    auto submit_options = std::make_shared<SubmitOptions>();
    CLI::App& submit = add_verb(job, "submit", "Hand in a job: FILE, or flags and -- PROGRAM ARGUMENTS…",
                                "fathom job submit job.yaml --wait\n"
                                "  fathom job submit --operators 'dgemm:m=512;n=512;k=512=3000,fft3d=20' --units 1 "
                                "--follow -- python3 scf.py\n"
                                "  fathom job submit --operators dgemm=3000 --in-bytes 2e9 "
                                "--deadline 2030-12-01T18:00:00Z -- ./fetch-and-solve\n"
                                "  fathom job submit --operators dgemm=3000 --prefer cheapest --budget 12.50EUR -- "
                                "./solve");
    add_request_options(submit, *submit_options);
    submit.add_flag("--wait", submit_options->wait, "Wait for its end; exit 1 when it fails");
    submit.add_flag("--follow", submit_options->follow, "Wait, and show what it prints as it comes");
    submit.add_flag("--verbose", submit_options->waiting.verbose, "Show state changes also when not on a terminal");
    submit.add_option("--timeout-s", submit_options->waiting.timeout_s, "Give up waiting (exit 7); the job goes on")
        ->check(CLI::NonNegativeNumber);
    submit.callback([&invocation, options = submit_options] {
        invocation.takes_program = true;
        invocation.action = [&invocation, options](Session& session) {
            options->program = invocation.program;
            return submit_job(session, *options);
        };
    });

    auto preview_options = std::make_shared<JobRequestOptions>();
    CLI::App& preview = add_verb(job, "preview", "Where a job would go and why, without handing it in",
                                 "fathom job preview --operators dgemm=3000 -- true");
    add_request_options(preview, *preview_options);
    preview.callback([&invocation, options = preview_options] {
        invocation.takes_program = true;
        invocation.action = [&invocation, options](Session& session) {
            options->program = invocation.program;
            return preview_job(session, *options);
        };
    });
}

} // namespace fathom::cli
