#include "server/routing/output_inputs.hpp"

#include "server/identity/job_scope.hpp"
#include "server/store/column.hpp"
#include "server/store/sql_array.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace fathom::server {
namespace {

constexpr std::size_t kMaxNamedPaths = 8; ///< in an error
constexpr std::size_t kMaxKeptAt = 16;    ///< centers that an input names

// An input of a hundred bytes may name an output with a URL of 4 KiB, of a job with 64 of these: a request must neither
// fill the memory nor store a hundred times what it has sent.
constexpr std::size_t kMaxEarlierJobs = 1000; ///< that one request names
constexpr std::size_t kMaxReadAtOnce = 16;    ///< of these, each with up to half a MiB of what it says of its outputs
constexpr std::int64_t kMaxFoundBytes = std::int64_t{16} << 20U; ///< that the inputs of one request gain
constexpr std::size_t kMaxProblems = 100;                        ///< nobody reads more

// What was stored is told with the end of the attempt that a job ended with: its newest. Its center is believed to have
// a copy for as long as those that have fetched one. What a part of a job has stored for the next one is not the job's.
constexpr Statement kSelectStoredOutputs{"routing_select_stored_outputs", R"sql(
    SELECT j.id, j.label, j.submitted_by, j.project, j.state, coalesce(j.spec -> 'outputs', '[]') AS declared,
           CASE WHEN j.steps IS NULL OR j.state = 'succeeded' THEN coalesce(a.outputs, '[]') ELSE '[]' END AS stored,
           coalesce(a.center_id, '') AS center_id,
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
    std::vector<JobOutput> declared; ///< that are asked for, as below
    std::vector<StoredOutput> stored;
    std::vector<std::string> first_paths; ///< of all that are stored; one more than an error names
    std::string center_id;
    std::int64_t keeps_bytes{}; ///< that its center keeps at most; 0: none, or it ended long ago
    std::multimap<std::string, std::string> kept_since; ///< by path: centers that have fetched it
};

/// Paths of outputs, by the ids of their jobs.
using AskedPaths = std::map<std::string, std::set<std::string>>;

/// Gives up what is said of outputs that nobody asks for.
void keep_asked(Earlier& job, const std::set<std::string>& asked)
{
    for (std::size_t i = 0; i < std::min(job.stored.size(), kMaxNamedPaths + 1); ++i)
        job.first_paths.push_back(job.stored[i].path);
    std::erase_if(job.declared, [&](const JobOutput& output) { return !asked.contains(output.path); });
    std::erase_if(job.stored, [&](const StoredOutput& output) { return !asked.contains(output.path); });
}

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

/// Adds those that the submitter may read, by their ids.
void add_earlier(pqxx::transaction_base& transaction, const std::vector<std::string>& ids, const AskedPaths& asked,
                 const JobReader& submitter, std::map<std::string, Earlier>& jobs)
{
    const JobScope scope = job_scope_of(submitter.principal);
    std::vector<std::string> readable;
    for (const pqxx::row& row : exec(transaction, kSelectStoredOutputs, sql_array(ids))) {
        const LookedAtJob job{row["id"].as<std::string>(), row["label"].as<std::string>(),
                              row["submitted_by"].as<std::string>(), row["project"].as<std::string>()};
        if (!scope.includes(job.submitted_by, job.project)) continue;
        record_job_look(transaction, submitter, "job.read_output", job);
        Earlier earlier = to_earlier(row);
        keep_asked(earlier, asked.at(job.id));
        jobs.emplace(job.id, std::move(earlier));
        readable.push_back(job.id);
    }
    for (const pqxx::row& row : exec(transaction, kSelectKeptOutputs, sql_array(readable))) {
        const std::string id = row["job_id"].as<std::string>();
        std::string path = row["path"].as<std::string>();
        if (!asked.at(id).contains(path)) continue;
        jobs.at(id).kept_since.emplace(std::move(path), row["center_id"].as<std::string>());
    }
}

/// Those that the submitter may read, by their ids.
std::map<std::string, Earlier> select_earlier(pqxx::transaction_base& transaction, const AskedPaths& asked,
                                              const JobReader& submitter)
{
    std::map<std::string, Earlier> jobs;
    std::vector<std::string> ids;
    for (const auto& [id, paths] : asked) {
        ids.push_back(id);
        if (ids.size() < kMaxReadAtOnce) continue;
        add_earlier(transaction, ids, asked, submitter, jobs);
        ids.clear();
    }
    if (!ids.empty()) add_earlier(transaction, ids, asked, submitter, jobs);
    return jobs;
}

/// Why a job has not stored an output of that path.
std::string describe_missing(const Earlier& job)
{
    if (!is_final(job.state))
        return "the job is " + std::string(to_string(job.state)) + ": its outputs are there once it has succeeded";
    if (job.first_paths.empty()) return "the job has stored no outputs";
    std::string text = "the job has stored no output of that path; those that it has stored are ";
    for (std::size_t i = 0; i < std::min(job.first_paths.size(), kMaxNamedPaths); ++i)
        text += (i > 0 ? ", " : "") + job.first_paths[i];
    return text + (job.first_paths.size() > kMaxNamedPaths ? " and others" : "");
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

OutputProblem problem_of(std::span<const JobSpec> specs, std::size_t job, std::size_t input, std::string detail)
{
    return {job, {path_of_input(specs[job], input), std::move(detail)}};
}

/// Which outputs are asked for.
/// @param problems  what is wrong where they are of too many jobs
AskedPaths paths_asked_for(std::span<const JobSpec> specs, std::vector<OutputProblem>& problems)
{
    AskedPaths asked;
    for (std::size_t i = 0; i < specs.size(); ++i) {
        for (std::size_t k = 0; k < specs[i].inputs.size(); ++k) {
            const JobInput& input = specs[i].inputs[k];
            std::optional<OutputName> name = parse_output_name(input.from);
            if (!name) continue;
            asked[name->job.value].insert(std::move(name->path));
            if (asked.size() <= kMaxEarlierJobs) continue;
            problems.push_back(problem_of(specs, i, k,
                                          "one request may take outputs of " + std::to_string(kMaxEarlierJobs) +
                                              " earlier jobs at most: submit the jobs in parts"));
            return asked;
        }
    }
    return asked;
}

std::int64_t found_bytes_of(const JobInput& input)
{
    std::size_t bytes = input.url.size() + input.sha256.size();
    for (const std::string& center : input.kept_at)
        bytes += center.size();
    return static_cast<std::int64_t>(bytes);
}

/// What is wrong with an input whose output was looked for, if anything is; else it adds to the bytes that were found.
std::optional<std::string> take_output(JobInput& input, const std::map<std::string, Earlier>& jobs, std::int64_t& bytes)
{
    if (std::string problem = fill_in(input, jobs); !problem.empty()) return input.from + ": " + problem;
    bytes += found_bytes_of(input);
    if (bytes <= kMaxFoundBytes) return std::nullopt;
    return "what is known of the outputs that one request takes may have " + std::to_string(kMaxFoundBytes >> 20U) +
           " MiB, URLs above all: submit the jobs in parts";
}

} // namespace

bool take_outputs(std::span<const JobSpec> specs)
{
    return std::any_of(specs.begin(), specs.end(), [](const JobSpec& spec) {
        return std::any_of(spec.inputs.begin(), spec.inputs.end(),
                           [](const JobInput& input) { return !input.from.empty(); });
    });
}

FoundOutputs find_outputs(pqxx::transaction_base& transaction, std::span<JobSpec> specs, const JobReader& submitter)
{
    FoundOutputs found;
    const AskedPaths asked = paths_asked_for(specs, found.problems);
    if (!found.problems.empty()) return found;
    const std::map<std::string, Earlier> jobs = select_earlier(transaction, asked, submitter);
    for (std::size_t i = 0; i < specs.size(); ++i) {
        for (std::size_t k = 0; k < specs[i].inputs.size(); ++k) {
            JobInput& input = specs[i].inputs[k];
            if (input.from.empty()) continue;
            std::optional<std::string> problem = take_output(input, jobs, found.bytes);
            if (!problem) continue;
            found.problems.push_back(problem_of(specs, i, k, std::move(*problem)));
            if (found.bytes > kMaxFoundBytes) return found;
            if (found.problems.size() < kMaxProblems) continue;
            found.problems.push_back({i, {"inputs", "there are more errors than are listed here"}});
            return found;
        }
    }
    return found;
}

void insert_kept_outputs(pqxx::transaction_base& transaction, const AttemptId& attempt)
{
    exec(transaction, kInsertKeptOutputs, attempt.value);
}

} // namespace fathom::server
