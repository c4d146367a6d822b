#include "server/routing/output_inputs.hpp"

#include "server/identity/job_scope.hpp"
#include "server/store/column.hpp"
#include "server/store/sql_array.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

#include <algorithm>
#include <map>
#include <set>

namespace fathom::server {
namespace {

constexpr std::size_t kMaxNamedPaths = 8; ///< in an error
constexpr std::size_t kMaxKeptAt = 16;    ///< centers that an input names

// What was stored is told with the end of the attempt that a job ended with: its newest. Its center is believed to have
// a copy for as long as those that have fetched one.
constexpr Statement kSelectStoredOutputs{"routing_select_stored_outputs", R"sql(
    SELECT j.id, j.label, j.submitted_by, j.project, j.state, coalesce(j.spec -> 'outputs', '[]') AS declared,
           coalesce(a.outputs, '[]') AS stored, coalesce(a.center_id, '') AS center_id,
           CASE WHEN j.state_changed_at > now() - interval '7 days' THEN coalesce(c.facts -> 'keeps_outputs_bytes', '0')
                ELSE '0' END AS keeps_bytes
    FROM job j
    LEFT JOIN LATERAL (SELECT center_id, outputs FROM attempt WHERE job_id = j.id ORDER BY epoch DESC LIMIT 1) a ON true
    LEFT JOIN center c ON c.id = a.center_id
    WHERE j.id = ANY ($1::text[]))sql"};

// Where nobody has used a copy for so long, it is hardly there any more. No more centers than kMaxKeptAt, the newest
// first.
constexpr Statement kSelectKeptOutputs{"routing_select_kept_outputs", R"sql(
    SELECT job_id, path, center_id
    FROM (SELECT *, row_number() OVER (PARTITION BY job_id, path ORDER BY told_at DESC, center_id) AS place
          FROM kept_output WHERE job_id = ANY ($1::text[]) AND told_at > now() - interval '7 days') newest
    WHERE place <= 16
    ORDER BY job_id, path, place)sql"};

// The center keeps what it has fetched over the network, up to its bound. Names are of one length up to their paths:
// "job:", an id of 30 letters, "/". In one order, for those that end at the same time.
constexpr Statement kInsertKeptOutputs{"routing_insert_kept_outputs", R"sql(
    INSERT INTO kept_output (job_id, path, center_id)
    SELECT DISTINCT substr(i.input ->> 'from', 5, 30), substr(i.input ->> 'from', 36), a.center_id
    FROM attempt a JOIN job j ON j.id = a.job_id JOIN center c ON c.id = a.center_id
    CROSS JOIN LATERAL jsonb_array_elements(j.spec -> 'inputs') AS i (input)
    WHERE a.id = $1 AND i.input ->> 'from' LIKE 'job:%' AND i.input ->> 'url' NOT LIKE 'file:%'
      AND CASE WHEN jsonb_typeof(c.facts -> 'keeps_outputs_bytes') = 'number'
               THEN (c.facts ->> 'keeps_outputs_bytes')::numeric >= greatest(1, (i.input ->> 'size_bytes')::numeric)
               ELSE false END
      AND EXISTS (SELECT 1 FROM job e WHERE e.id = substr(i.input ->> 'from', 5, 30))
    ORDER BY 1, 2
    ON CONFLICT (job_id, path, center_id) DO UPDATE SET told_at = excluded.told_at)sql"};

/// A job whose outputs are asked for.
struct Earlier {
    JobState state{};
    std::vector<JobOutput> declared;
    std::vector<StoredOutput> stored;
    std::string center_id;
    std::int64_t keeps_bytes{}; ///< that its center keeps at most; 0: none, or it ended long ago
    std::multimap<std::string, std::string> kept_since; ///< by path: centers that have fetched it
};

Earlier to_earlier(const pqxx::row& row)
{
    Earlier job;
    job.state = parse_job_state(row["state"].c_str()).value_or(JobState::kQueued);
    // Ours: they were checked before they were stored.
    std::vector<FieldError> ignored;
    const Json outputs = {{"declared", {{"outputs", to_json_value(row["declared"])}}},
                          {"stored", {{"outputs", to_json_value(row["stored"])}}}};
    ObjectReader declared(outputs["declared"], "", ignored);
    ObjectReader stored(outputs["stored"], "", ignored);
    job.declared = parse_job_outputs(declared, ignored);
    job.stored = parse_stored_outputs(stored, ignored);
    job.center_id = row["center_id"].as<std::string>();
    const Json keeps_bytes = to_json_value(row["keeps_bytes"]); // an agent's word
    if (keeps_bytes.is_number_integer()) job.keeps_bytes = keeps_bytes.get<std::int64_t>();
    return job;
}

std::vector<std::string> ids_of(const std::map<std::string, Earlier>& jobs)
{
    std::vector<std::string> ids;
    ids.reserve(jobs.size());
    for (const auto& [id, job] : jobs)
        ids.push_back(id);
    return ids;
}

/// Those that the submitter may read, by their ids.
std::map<std::string, Earlier> select_earlier(pqxx::transaction_base& transaction, const std::set<std::string>& ids,
                                              const JobReader& submitter)
{
    const JobScope scope = job_scope_of(submitter.principal);
    std::map<std::string, Earlier> jobs;
    for (const pqxx::row& row :
         exec(transaction, kSelectStoredOutputs, sql_array(std::vector<std::string>(ids.begin(), ids.end())))) {
        const LookedAtJob job{row["id"].as<std::string>(), row["label"].as<std::string>(),
                              row["submitted_by"].as<std::string>(), row["project"].as<std::string>()};
        if (!scope.includes(job.submitted_by, job.project)) continue;
        record_job_look(transaction, submitter, "job.read_output", job);
        jobs.emplace(job.id, to_earlier(row));
    }
    for (const pqxx::row& row : exec(transaction, kSelectKeptOutputs, sql_array(ids_of(jobs))))
        jobs.at(row["job_id"].as<std::string>())
            .kept_since.emplace(row["path"].as<std::string>(), row["center_id"].as<std::string>());
    return jobs;
}

/// Why a job has not stored an output of that path.
std::string describe_missing(const Earlier& job)
{
    if (!is_final(job.state))
        return "the job is " + std::string(to_string(job.state)) + ": its outputs are there once it has succeeded";
    if (job.stored.empty()) return "the job has stored no outputs";
    std::string text = "the job has stored no output of that path; those that it has stored are ";
    for (std::size_t i = 0; i < std::min(job.stored.size(), kMaxNamedPaths); ++i)
        text += (i > 0 ? ", " : "") + job.stored[i].path;
    return text + (job.stored.size() > kMaxNamedPaths ? " and others" : "");
}

template <class Output>
const Output* find_output(const std::vector<Output>& outputs, const std::string& path)
{
    const auto found =
        std::find_if(outputs.begin(), outputs.end(), [&](const Output& output) { return output.path == path; });
    return found == outputs.end() ? nullptr : &*found;
}

/// Its own center, unless the file is beyond what that keeps at all, and those that have fetched it since; as far as is
/// known: copies are given up for newer files.
std::vector<std::string> centers_that_keep(const Earlier& job, const StoredOutput& stored)
{
    std::set<std::string> centers;
    if (job.keeps_bytes > 0 && stored.size_bytes <= job.keeps_bytes) centers.insert(job.center_id);
    const auto [begin, end] = job.kept_since.equal_range(stored.path); // the newest first
    for (auto one = begin; one != end && centers.size() < kMaxKeptAt; ++one)
        centers.insert(one->second);
    return {centers.begin(), centers.end()};
}

/// @return what is wrong; empty: nothing, and the input has what is known of the output.
std::string fill_in(JobInput& input, const std::map<std::string, Earlier>& jobs)
{
    const std::optional<OutputName> name = parse_output_name(input.from);
    const auto found = name ? jobs.find(name->job.value) : jobs.end();
    if (found == jobs.end()) return "there is no such job, or none that you may read";
    const Earlier& job = found->second;
    const StoredOutput* const stored = find_output(job.stored, name->path);
    const JobOutput* const declared = find_output(job.declared, name->path);
    if (stored == nullptr || declared == nullptr) return describe_missing(job);
    if (!input.sha256.empty() && input.sha256 != stored->sha256)
        return "the output has another SHA-256: " + stored->sha256;
    if (input.size_bytes && *input.size_bytes != stored->size_bytes)
        return "the output has " + std::to_string(stored->size_bytes) + " bytes";
    if (input.url.empty()) input.url = declared->url;
    input.sha256 = stored->sha256;
    input.size_bytes = stored->size_bytes;
    input.kept_at = centers_that_keep(job, *stored);
    return {};
}

} // namespace

bool take_outputs(std::span<const JobSpec> specs)
{
    return std::any_of(specs.begin(), specs.end(), [](const JobSpec& spec) {
        return std::any_of(spec.inputs.begin(), spec.inputs.end(),
                           [](const JobInput& input) { return !input.from.empty(); });
    });
}

std::vector<OutputProblem> find_outputs(pqxx::transaction_base& transaction, std::span<JobSpec> specs,
                                        const JobReader& submitter)
{
    std::set<std::string> ids;
    for (const JobSpec& spec : specs) {
        for (const JobInput& input : spec.inputs) {
            if (const std::optional<OutputName> name = parse_output_name(input.from)) ids.insert(name->job.value);
        }
    }
    const std::map<std::string, Earlier> jobs = select_earlier(transaction, ids, submitter);
    std::vector<OutputProblem> problems;
    for (std::size_t i = 0; i < specs.size(); ++i) {
        for (std::size_t k = 0; k < specs[i].inputs.size(); ++k) {
            JobInput& input = specs[i].inputs[k];
            const std::string problem = input.from.empty() ? std::string() : fill_in(input, jobs);
            if (!problem.empty())
                problems.push_back({i, {"inputs[" + std::to_string(k) + "]", input.from + ": " + problem}});
        }
    }
    return problems;
}

void insert_kept_outputs(pqxx::transaction_base& transaction, const AttemptId& attempt)
{
    exec(transaction, kInsertKeptOutputs, attempt.value);
}

} // namespace fathom::server
