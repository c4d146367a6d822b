#include "cli/jobs/replay.hpp"

#include "cli/client/json_view.hpp"
#include "cli/jobs/explain.hpp"
#include "cli/text/format_units.hpp"

#include <ostream>

namespace fathom::cli {
namespace {

struct ReplayOptions : ListOptions {
    std::string cycle; ///< id; empty: the newest are listed
    std::string job;   ///< id; empty: none is explained
    bool jobs = false; ///< lists what it decided on instead
    std::string since; ///< of the list of cycles; empty: from the oldest that is kept
    std::string until;
};

constexpr const char* kWhenNoCycles =
    "No such cycle is kept: none was decided then, or of late, or keep_cycles_mb is 0 (docs/operations.md).";

Table cycles_table(const Json& cycles, Timestamp now)
{
    Table table({{"CYCLE"},
                 {"DECIDED", Align::kRight},
                 {"JOBS", Align::kRight},
                 {"STARTED", Align::kRight},
                 {"TOOK", Align::kRight, 3},
                 {"KB", Align::kRight, 2},
                 {"BY", Align::kLeft, 1}});
    for (const Json& cycle : cycles)
        table.add_row({text_of(cycle, "id"), age_of(cycle, "decided_at", now), count_of(cycle, "job_count"),
                       count_of(cycle, "start_count"), duration_of(cycle, "decision_s"),
                       std::to_string(static_cast<long>(number_of(cycle, "bytes").value_or(0) / 1000)),
                       text_of(cycle, "decided_by")});
    return table;
}

std::string outcome_of(const Json& job)
{
    if (is_true(job, "is_start")) return "starts as no. " + text_of(job, "position");
    const std::string waits_for = text_of(job, "waits_for");
    if (waits_for == "host") return "waits for its host";
    return waits_for == "units" ? "waits for units" : "waits";
}

Table cycle_jobs_table(const Json& jobs, Timestamp)
{
    Table table({{"JOB"},
                 {"OUTCOME"},
                 {"AT"},
                 {"UNITS", Align::kRight},
                 {"WAITED", Align::kRight, 2},
                 {"START IN", Align::kRight, 1},
                 {"PREDICTED", Align::kRight},
                 {"PROJECT", Align::kLeft, 3}});
    for (const Json& job : jobs) {
        const Json& place = member(job, "place");
        const bool has_place = place.is_object();
        table.add_row({text_of(job, "job_id"), outcome_of(job),
                       has_place ? text_of(place, "center") + "/" + text_of(place, "unit_type") : "-",
                       count_of(place, "unit_count"), duration_of(job, "waited_s"), duration_of(place, "start_s"),
                       duration_of(place, "run_s"), text_of(job, "project")});
    }
    return table;
}

Table starts_table(const Json& starts)
{
    Table table({{"JOB"}, {"AT"}, {"UNITS", Align::kRight}, {"RUNS", Align::kRight}});
    for (const Json& start : starts)
        table.add_row({text_of(start, "job_id"), text_of(start, "center") + "/" + text_of(start, "unit_type"),
                       count_of(start, "unit_count"), duration_of(start, "run_s")});
    return table;
}

/// Where the job stood, the jobs before it, and the decision.
std::string job_text(Session& session, const Json& answer)
{
    const Json& job = member(answer, "job");
    std::string text = "Job:      " + text_of(job, "job_id") + "\n";
    const Json& waiting = member(job, "waiting");
    if (is_true(job, "is_start")) {
        text += "Place:    starts as no. " + text_of(job, "position") + " of " + text_of(answer, "start_count") + "\n";
    } else {
        text += "Place:    " + text_of(waiting, "reason") + "\n";
        text += "Rank:     " + text_of(waiting, "priority_rank") + ", " + count_of(waiting, "jobs_ahead") +
                " jobs before it\n";
    }
    const Json& before = items_of(job, "starts_before");
    if (!before.empty())
        text += "\nStarted before it at places that it could have had, the last first:\n" +
                starts_table(before).render(table_style(session));
    return text + "\n" + render_decision(member(job, "decision"), session.now(), table_style(session));
}

std::string replay_text(Session& session, const Json& answer)
{
    const Json& cycle = member(answer, "cycle");
    std::string text = is_true(answer, "is_same") ? "The same plan comes out, bit for bit: "
                                                  : "Another plan comes out than was stored; now it is ";
    text += count_of(answer, "start_count") + " started, " + count_of(answer, "wait_count") + " wait; decided " +
            age_of(cycle, "decided_at", session.now()) + " by " + text_of(cycle, "decided_by") + ".\n";
    for (const Json& difference : items_of(answer, "differences")) {
        if (difference.is_string()) text += "  - " + difference.get<std::string>() + "\n";
    }
    if (member(answer, "job").is_object()) text += "\n" + job_text(session, answer);
    return text;
}

Outcome list_cycles(Session& session, const ReplayOptions& options)
{
    Query query;
    if (!options.since.empty()) query.emplace_back("since", options.since);
    if (!options.until.empty()) query.emplace_back("until", options.until);
    return print_list(session,
                      {.path = "/cycles",
                       .query = std::move(query),
                       .table = cycles_table,
                       .when_empty = kWhenNoCycles,
                       .table_limit = 20},
                      options);
}

Outcome replay(Session& session, const ReplayOptions& options)
{
    if (options.cycle.empty() && (options.jobs || !options.job.empty()))
        return Error{Errc::kInvalid, std::string(options.jobs ? "--jobs" : "--job") +
                                         " needs the cycle: `fathom job explain` tells in which a job was decided"};
    if (options.cycle.empty()) return list_cycles(session, options);
    if (options.jobs)
        return print_list(session,
                          {.path = "/cycles/" + path_segment(options.cycle) + "/jobs",
                           .query = {},
                           .table = cycle_jobs_table,
                           .when_empty = "It decided on no job.",
                           .table_limit = 50},
                          options);
    const Result<Json> answer =
        session.get("/cycles/" + path_segment(options.cycle) + "/replay", {{"job", options.job}});
    const Outcome printed =
        print_answer(session, answer, [&](const Json& found) { return replay_text(session, found); });
    if (!printed) return printed;
    return is_true(*answer, "is_same") ? ExitCode::kOk : ExitCode::kFailed;
}

} // namespace

void add_replay_commands(CLI::App& app, Invocation& invocation)
{
    auto options = std::make_shared<ReplayOptions>();
    CLI::App& command =
        add_verb(app, "replay", "Decides a stored scheduling cycle again; exit 1 when another plan comes out",
                 "fathom replay\n"
                 "  fathom replay --since 2026-11-01T08:00:00Z --until 2026-11-01T09:00:00Z\n"
                 "  fathom replay cyc_01JD0000000000000000000000\n"
                 "  fathom replay cyc_01JD0000000000000000000000 --jobs\n"
                 "  fathom replay cyc_01JD0000000000000000000000 --job job_01JD0000000000000000000000");
    CLI::Option* cycle =
        command.add_option("CYCLE", options->cycle, "The cycle's id; without it the newest cycles are listed");
    command
        .add_option("--since", options->since, "Lists only cycles of that time and later, such as 2026-11-01T00:00:00Z")
        ->excludes(cycle);
    command.add_option("--until", options->until, "Lists only cycles before that time")->excludes(cycle);
    CLI::Option* job = command.add_option("--job", options->job, "Also explains this job's place in the cycle");
    command.add_flag("--jobs", options->jobs, "Lists the jobs that it decided on instead, with the place of each")
        ->excludes(job);
    add_list_options(command, *options);
    on_chosen(command, invocation, std::move(options), replay);
}

} // namespace fathom::cli
