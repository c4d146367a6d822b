#include "cli/jobs/job_count.hpp"

#include "cli/client/json_view.hpp"
#include "cli/jobs/job_filter.hpp"

#include <ostream>

namespace fathom::cli {
namespace {

struct JobCountOptions {
    std::string by = "state";
    JobFilterOptions filter;
};

/// "running 2, succeeded 5"
std::string states_text(const Json& group)
{
    const Json& states = member(group, "states");
    if (!states.is_object()) return "-";
    std::string text;
    for (const auto& [state, count] : states.items())
        text += (text.empty() ? "" : ", ") + state + " " + count.dump();
    return text;
}

std::string groups_text(Session& session, const Json& answer)
{
    const std::string by = text_of(answer, "by");
    std::string title = by;
    for (char& letter : title)
        letter = static_cast<char>(letter >= 'a' && letter <= 'z' ? letter - 'a' + 'A' : letter);
    // Of groups that are states themselves there is nothing more to say.
    std::vector<Column> columns{{title, Align::kLeft, 0, true}, {"JOBS", Align::kRight}};
    if (by != "state") columns.push_back({"STATES", Align::kLeft, 1, true});
    Table table(std::move(columns));
    for (const Json& group : items_of(answer, "groups")) {
        const std::string key = text_of(group, "key", "");
        std::vector<Cell> row{key.empty() ? "(none)" : key, count_of(group, "count")};
        if (by != "state") row.emplace_back(states_text(group));
        table.add_row(std::move(row));
    }
    return table.empty() ? "No jobs.\n" : table.render(table_style(session));
}

Outcome count_jobs(Session& session, const JobCountOptions& options)
{
    Query query = job_filter_query(options.filter);
    query.emplace_back("by", options.by);
    const Result<Json> answer = session.get("/job-groups", query);
    if (answer && !session.wants_json()) {
        const std::size_t shown = items_of(*answer, "groups").size();
        if (number_of(*answer, "group_count").value_or(0) > static_cast<double>(shown))
            say(session, "only the " + std::to_string(shown) + " largest groups are shown");
        if (is_true(*answer, "is_cut"))
            say(session, "only the newest " + count_of(*answer, "counted") + " jobs were counted");
    }
    return print_answer(session, answer, [&](const Json& groups) { return groups_text(session, groups); });
}

} // namespace

void add_job_count_command(CLI::App& job, Invocation& invocation)
{
    auto options = std::make_shared<JobCountOptions>();
    CLI::App& command = add_verb(job, "count", "How many jobs there are by state, project, type or center",
                                 "fathom job count --by project");
    command
        .add_option("--by", options->by, "state (the default), project, type, or center: that of the newest attempt")
        ->check(CLI::IsMember({"state", "project", "type", "center"}));
    add_job_filter_options(command, options->filter);
    on_chosen(command, invocation, std::move(options), count_jobs);
}

} // namespace fathom::cli
