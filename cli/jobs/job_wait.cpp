#include "cli/jobs/job_wait.hpp"

#include "cli/client/command_line.hpp"
#include "cli/client/event_stream.hpp"
#include "cli/client/json_view.hpp"
#include "cli/text/display_text.hpp"
#include "cli/text/format_units.hpp"
#include "cli/text/wait_time.hpp"
#include "core/model/job.hpp"

namespace fathom::cli {
namespace {

using namespace std::chrono_literals;

/// With live events, how often the job is asked for all the same: an event may be missed while a
/// replica of the server goes down.
constexpr std::chrono::milliseconds kAskEvery = 10s;
/// A server out of reach is waited for so long: it may be restarting, and the job goes on meanwhile.
constexpr double kServerAway_s = 60;

bool is_reached(const Json& job, JobWaitOptions::Until until)
{
    const std::optional<JobState> state = parse_job_state(text_of(job, "state"));
    if (!state) return false; // also of null: the server is away
    return is_final(*state) || (until == JobWaitOptions::Until::kStarted && *state == JobState::kRunning);
}

/// Says each state once, as it comes.
class StateReport {
  public:
    StateReport(Session& session, bool verbose)
        : session_(&session), shown_(verbose || session.console().err_is_terminal)
    {
    }

    void say_state(const std::string& state, const std::string& detail)
    {
        if (!shown_ || state == last_) return;
        last_ = state;
        const std::string time = format_rfc3339(session_->now()).substr(11, 8);
        say(*session_, "  " + time + "  " + printable(state + (detail.empty() ? "" : "  " + detail)));
    }

    /// Nothing of null: the server is away.
    void say_job(const Json& job)
    {
        if (!job.is_object()) return;
        const Json& attempt = member(job, "attempt");
        const std::string place =
            attempt.is_object() ? "at " + text_of(attempt, "center") + "/" + text_of(attempt, "unit_type") : "";
        const std::string waiting = text_of(job, "waiting_reason", "");
        say_state(text_of(job, "state"), waiting.empty() ? place : waiting);
    }

  private:
    Session* session_;
    bool shown_;
    std::string last_{};
};

/// Asks for the job; while the server is away, answers null for a minute.
class JobReader {
  public:
    JobReader(Session& session, const std::string& id) : session_(&session), path_("/jobs/" + path_segment(id)) {}

    Result<Json> read()
    {
        Result<Json> job = session_->get(path_);
        if (job) {
            was_read_ = true;
            away_.reset();
            return job;
        }
        if (!was_read_ || job.error().code != Errc::kUnavailable) return job;
        if (!away_) away_.emplace(kServerAway_s);
        return away_->has_passed() ? job : Result<Json>(Json());
    }

  private:
    Session* session_;
    std::string path_;
    bool was_read_ = false;
    std::optional<WaitTime> away_{};
};

} // namespace

Result<Json> wait_for_job(Session& session, const std::string& id, const JobWaitOptions& options)
{
    StateReport report(session, options.verbose);
    JobReader reader(session, id);
    WaitTime time(options.timeout_s);
    // Asked first, so that a job that has ended, or does not exist, opens no stream.
    Result<Json> job = reader.read();
    if (!job) return job;
    if (is_reached(*job, options.until)) return job;
    Result<Session> own = session.open_another();
    if (!own) return own.error();
    JobEvents events(std::move(*own), id);
    bool was_live = false;
    for (;;) {
        report.say_job(*job);
        if (is_reached(*job, options.until)) return job;
        if (time.has_passed())
            return Error{Errc::kDeadline, "job " + id + " is still " + text_of(*job, "state", "not known") +
                                              "; it goes on (`fathom job wait " + id + "`)"};
        // What happened before the stream stood is not in it: ask once more before relying on it.
        const bool is_live = events.is_live();
        const auto pause = !is_live ? time.next_pause() : time.at_most(was_live ? kAskEvery : 0ms);
        was_live = is_live;
        for (const Json& event : events.take(pause))
            report.say_state(text_of(event, "state"), text_of(event, "cause", ""));
        job = reader.read();
        if (!job) return job;
    }
}

std::string job_summary(const Json& job)
{
    std::string text = "job " + text_of(job, "id") + " " + text_of(job, "state");
    const Json& attempt = member(job, "attempt");
    if (attempt.is_object()) text += " at " + text_of(attempt, "center") + "/" + text_of(attempt, "unit_type");
    std::string details;
    const auto add = [&](const std::string& detail) { details += (details.empty() ? ": " : ", ") + detail; };
    if (number_of(job, "exit_code")) add("exit code " + text_of(job, "exit_code"));
    if (number_of(job, "run_s")) {
        const std::string predicted = duration_of(member(job, "predicted"), "run_s");
        add("run " + duration_of(job, "run_s") + (predicted == "-" ? "" : " (predicted " + predicted + ")"));
    }
    const std::string reason = text_of(job, "end_reason", "");
    if (!reason.empty() && text_of(job, "state") != "succeeded") add(reason);
    return printable(text + details);
}

ExitCode exit_code_of_job(const Json& job)
{
    return text_of(job, "state") == "succeeded" ? ExitCode::kOk : ExitCode::kFailed;
}

std::string interrupt_text(const std::string& id)
{
    return "fathom: job " + id + " goes on; `fathom job cancel " + id + "` cancels it\n";
}

} // namespace fathom::cli
