#include "cli/jobs/job_outputs.hpp"

#include "cli/client/json_view.hpp"
#include "cli/jobs/output_download.hpp"
#include "cli/text/format_units.hpp"
#include "core/model/data_location.hpp"

#include <ostream>

namespace fathom::cli {
namespace {

struct OutputsOptions {
    std::string id;
    std::string path; ///< empty: all are listed
    std::string file;
};

/// The job's outputs in its order, those that are stored with size and checksum.
Json outputs_of(const Json& job)
{
    Json outputs = Json::array();
    for (const Json& declared : items_of(member(job, "spec"), "outputs")) {
        const std::string path = text_of(declared, "path");
        Json output = {{"path", path}, {"url", text_of(declared, "url")}, {"size_bytes", nullptr}, {"sha256", nullptr}};
        for (const Json& stored : items_of(member(job, "attempt"), "outputs")) {
            if (text_of(stored, "path") != path) continue;
            output["size_bytes"] = member(stored, "size_bytes");
            output["sha256"] = member(stored, "sha256");
        }
        outputs.push_back(std::move(output));
    }
    return outputs;
}

std::string outputs_text(Session& session, const Json& job)
{
    bool is_any_stored = false;
    Table table({{"PATH", Align::kLeft, 0, true},
                 {"SIZE", Align::kRight},
                 {"SHA-256", Align::kLeft, 2},
                 {"TO", Align::kLeft, 1, true}});
    for (const Json& output : outputs_of(job)) {
        const std::optional<double> size_bytes = number_of(output, "size_bytes");
        is_any_stored = is_any_stored || size_bytes.has_value();
        table.add_row({text_of(output, "path"), size_bytes ? format_bytes(*size_bytes) : "-", text_of(output, "sha256"),
                       shown_url(text_of(output, "url"))});
    }
    if (table.empty()) return "It has no outputs; `outputs` in job.yaml or `--upload` name them.\n";
    const std::string state = text_of(job, "state");
    const std::string reason = text_of(job, "end_reason", "");
    std::string text = table.render(table_style(session));
    if (is_any_stored)
        text += "\nA later job takes one that is stored by --input job:" + text_of(job, "id") + "/PATH=PATH.\n";
    if (state != "succeeded") text += "\nThe job is " + state + (reason.empty() ? "" : ": " + reason) + "\n";
    return text;
}

Outcome list_outputs(Session& session, const OutputsOptions& options)
{
    const Result<Json> job = session.get("/jobs/" + path_segment(options.id));
    if (!job) return job.error();
    if (session.wants_json())
        print_json(session, {{"items", outputs_of(*job)}});
    else
        *session.console().out << outputs_text(session, *job);
    return ExitCode::kOk;
}

Outcome fetch_output(Session& session, const OutputsOptions& options)
{
    const Result<Json> fetched =
        download_output(session, {.job = options.id, .path = options.path, .file = options.file});
    return print_answer(session, fetched, [](const Json& output) {
        return text_of(output, "file") + ": " + format_bytes(number_of(output, "size_bytes").value_or(0)) + " from " +
               text_of(output, "from") + ", SHA-256 as stored\n";
    });
}

Outcome run_outputs(Session& session, const OutputsOptions& options)
{
    if (!options.path.empty()) return fetch_output(session, options);
    if (!options.file.empty()) return Error{Errc::kInvalid, "--to needs the PATH of the output that is to be fetched"};
    return list_outputs(session, options);
}

} // namespace

void add_job_outputs_command(CLI::App& job, Invocation& invocation)
{
    auto options = std::make_shared<OutputsOptions>();
    CLI::App& command =
        add_verb(job, "outputs", "Which files its center stores where, and which of them stand there; or fetches one",
                 "fathom job outputs job_01JD0000000000000000000000 out/sums.csv --to sums.csv");
    add_required(command, "ID", options->id, "The job's id");
    command.add_option("PATH", options->path,
                       "Fetch this output from where it was stored, or else from the copy that its center keeps, and "
                       "check it; goes on "
                       "where an earlier try broke off");
    command.add_option("--to", options->file, "The file it becomes, which must not be there (default: its name, here)");
    on_chosen(command, invocation, std::move(options), run_outputs);
}

} // namespace fathom::cli
