#include "server/job_types/learning_store.hpp"

#include "core/base/log.hpp"
#include "core/base/log_limit.hpp"
#include "server/rows/operator_mix.hpp"
#include "server/store/column.hpp"
#include "server/store/sql_array.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

// Files and scripts are not what is asked for.
constexpr const char* kSelectEvidence = R"sql(
    SELECT j.id, j.label, j.name, j.job_type, j.submitted_by, j.operators_from, j.spec - 'files' AS spec, p.profile,
           coalesce(a.unit_type_id, '') AS unit_type_id, coalesce(a.unit_count, 1) AS unit_count,
           (SELECT jsonb_object_agg(o.operator_id || ' ' || o.parameters_key,
                                    jsonb_build_object('actual_s', o.actual_s, 'predicted_s', o.predicted_s,
                                                       'low_s', o.low_s, 'high_s', o.high_s, 'basis', o.basis))
            FROM operator_outcome o WHERE o.attempt_id = a.id) AS outcomes
    FROM job j
    LEFT JOIN LATERAL (SELECT id, unit_type_id, unit_count FROM attempt WHERE job_id = j.id ORDER BY epoch DESC LIMIT 1) a ON true
    LEFT JOIN attempt_profile p ON p.attempt_id = a.id
    WHERE j.id = $1)sql";

constexpr const char* kPopLearningQueue = R"sql(
    DELETE FROM learning_queue WHERE (job_type, submitted_by, project) IN (
        SELECT job_type, submitted_by, project FROM learning_queue ORDER BY noted_at LIMIT $1 FOR UPDATE SKIP LOCKED)
    RETURNING job_id)sql";

constexpr const char* kUpsertJobType = R"sql(
    INSERT INTO job_type (name, origin, mix, operators, profiled, learned_from, probe_task_id, submitted_by, project, known_run, own_loops)
    VALUES ($1, $2, $3::jsonb, $4::jsonb, $5::boolean, $6, nullif($7, ''), $8, $9, nullif($10::jsonb, 'null'::jsonb),
            nullif($11::jsonb, 'null'::jsonb))
    ON CONFLICT (name, submitted_by, project) DO UPDATE SET mix = excluded.mix, operators = excluded.operators, profiled = excluded.profiled,
        learned_from = excluded.learned_from, probe_task_id = excluded.probe_task_id, learned_at = now(),
        known_run = excluded.known_run, own_loops = excluded.own_loops)sql";

// Literals, so that statements are joined by the compiler and stay constants.
#define FATHOM_JOB_TYPE_COLUMNS                                                                                        \
    "name, origin, mix, operators, profiled, learned_from, learned_at, coalesce(probe_task_id, '') AS probe_task_id, " \
    "submitted_by, project, known_run -> 'unlisted' AS unlisted, own_loops "

constexpr const char* kSelectJobType =
    "SELECT " FATHOM_JOB_TYPE_COLUMNS "FROM job_type WHERE name = $1 AND submitted_by = $2 AND project = $3";
// Of several submitters' the caller's own comes first, then the newest.
constexpr const char* kSelectShownJobType =
    "SELECT " FATHOM_JOB_TYPE_COLUMNS "FROM job_type WHERE name = $1 "
    "AND " FATHOM_IN_JOB_SCOPE("job_type", "$3", "$4") "ORDER BY submitted_by <> $2, learned_at DESC LIMIT 1";
constexpr const char* kSelectJobTypes =
    "SELECT DISTINCT ON (name) " FATHOM_JOB_TYPE_COLUMNS "FROM job_type WHERE name > $1 AND " FATHOM_IN_JOB_SCOPE(
        "job_type", "$4", "$5") "ORDER BY "
                                "name, submitted_by <> $3, learned_at DESC LIMIT $2";

JobTypeOrigin to_origin(const std::string& text)
{
    if (text == "mix") return JobTypeOrigin::kMix;
    return text == "user" ? JobTypeOrigin::kUser : JobTypeOrigin::kApplication;
}

Json operators_json(const std::vector<OperatorUse>& operators)
{
    Json json = Json::array();
    for (const OperatorUse& use : operators)
        json.push_back(to_json(use));
    return json;
}

/// With a run as it is kept. Empty for what an older replica kept.
std::optional<LeftOutOperators> read_left_out(const Json& json)
{
    if (!json.is_object()) return std::nullopt;
    std::vector<FieldError> errors;
    ObjectReader reader(json, "unlisted", errors);
    const LeftOutOperators left_out{.count = reader.required_integer("count", 0, 1'000'000),
                                    .share = reader.optional_number("share", 0, 1e6)};
    return errors.empty() ? std::optional(left_out) : std::nullopt;
}

/// Loops as they are told now: a replica of the version before keeps `likeness` of them.
Json with_similarity(Json loops)
{
    for (Json& loop : loops) {
        if (!loop.is_object() || !loop.contains("likeness")) continue;
        Json similarity = loop["likeness"];
        loop.erase("likeness");
        loop["similarity"] = std::move(similarity);
    }
    return loops;
}

/// Empty for what a newer replica wrote or what is broken, of which a line in the log tells.
std::optional<JobTypeRecord> to_job_type(const pqxx::row& row)
{
    JobTypeRecord type;
    type.name = row["name"].as<std::string>();
    type.origin = to_origin(row["origin"].as<std::string>());
    std::optional<OperatorMix> mix = read_mix(to_json_value(row["mix"]), type.name);
    if (!mix) return std::nullopt;
    type.mix = std::move(*mix);
    std::vector<FieldError> errors;
    for (const Json& item : to_json_value(row["operators"]))
        type.operators.push_back(parse_operator_use(item, "operators", errors));
    if (!errors.empty()) {
        log_limited("job_type_unreadable", {{"job_type", type.name}, {"error", errors.front().detail}});
        return std::nullopt;
    }
    type.profiled = row["profiled"].as<bool>();
    type.learned_from = row["learned_from"].as<std::string>();
    type.learned_at = to_timestamp(row["learned_at"]);
    type.probe_task_id = row["probe_task_id"].as<std::string>();
    type.submitted_by = row["submitted_by"].as<std::string>();
    type.project = row["project"].as<std::string>();
    type.unlisted = read_left_out(to_json_value(row["unlisted"]));
    type.own_loops = with_similarity(to_json_value(row["own_loops"]));
    return type;
}

} // namespace

std::optional<JobEvidence> select_evidence(pqxx::work& transaction, const std::string& job)
{
    const pqxx::result rows = transaction.exec_params(kSelectEvidence, job);
    if (rows.empty()) return std::nullopt;
    const pqxx::row row = rows[0];
    Result<JobSpec> spec = parse_job_spec(to_json_value(row["spec"]));
    if (!spec) {
        log_warning("job_unreadable", {{"job_id", job}, {"error", describe(spec.error())}});
        return std::nullopt;
    }
    return JobEvidence{.id = {row["id"].as<std::string>()},
                       .label = row["label"].as<std::string>(),
                       .name = row["name"].as<std::string>(),
                       .job_type = row["job_type"].as<std::string>(),
                       .submitted_by = row["submitted_by"].as<std::string>(),
                       .operators_from = row["operators_from"].as<std::string>(),
                       .spec = std::move(*spec),
                       .unit_type_id = row["unit_type_id"].as<std::string>(),
                       .unit_count = row["unit_count"].as<std::int64_t>(),
                       .profile = to_json_value(row["profile"]),
                       .outcomes = to_json_value(row["outcomes"])};
}

std::vector<JobId> pop_learning_queue(pqxx::work& transaction, std::int64_t limit)
{
    std::vector<JobId> jobs;
    for (const pqxx::row& row : transaction.exec_params(kPopLearningQueue, limit))
        jobs.push_back({row[0].as<std::string>()});
    return jobs;
}

void upsert_job_type(pqxx::work& transaction, const JobTypeRecord& type)
{
    Json known_run = type.known_run;
    if (known_run.is_object() && type.unlisted) known_run["unlisted"] = to_json(*type.unlisted);
    transaction.exec_params0(kUpsertJobType, type.name, std::string(to_string(type.origin)), Json(type.mix).dump(),
                             operators_json(type.operators).dump(), type.profiled, type.learned_from,
                             type.probe_task_id, type.submitted_by, type.project, known_run.dump(),
                             type.own_loops.dump());
}

std::optional<JobTypeRecord> select_job_type(pqxx::work& transaction, const std::string& name,
                                             const std::string& submitted_by, const std::string& project)
{
    const pqxx::result rows = transaction.exec_params(kSelectJobType, name, submitted_by, project);
    if (rows.empty()) return std::nullopt;
    return to_job_type(rows[0]);
}

std::optional<JobTypeRecord> select_shown_job_type(pqxx::work& transaction, const std::string& name,
                                                   const JobTypeReader& reader)
{
    const pqxx::result rows = transaction.exec_params(kSelectShownJobType, name, reader.token_id, reader.scope.owner,
                                                      sql_array(reader.scope.projects));
    if (rows.empty()) return std::nullopt;
    return to_job_type(rows[0]);
}

Page<JobTypeRecord> select_job_types(pqxx::work& transaction, std::int64_t size, const std::string& after,
                                     const JobTypeReader& reader)
{
    const pqxx::result rows = transaction.exec_params(kSelectJobTypes, after, size + 1, reader.token_id,
                                                      reader.scope.owner, sql_array(reader.scope.projects));
    return page_of_readable(rows, size, to_job_type,
                            [](const pqxx::row& row) { return row["name"].as<std::string>(); });
}

Json to_json(const JobTypeRecord& type)
{
    return {{"name", type.name},
            {"origin", to_string(type.origin)},
            {"mix", type.mix},
            {"operators", operators_json(type.operators)},
            {"profiled", type.profiled},
            {"learned_from", type.learned_from},
            {"learned_at", format_rfc3339(type.learned_at)},
            {"probe_task_id", text_or_null(type.probe_task_id)},
            {"own_loops", type.own_loops},
            {"unlisted", type.unlisted ? to_json(*type.unlisted) : Json()},
            {"unprobed", to_json(type.unprobed)}};
}

Json to_json(const LeftOutOperators& left_out)
{
    return {{"count", left_out.count}, {"share", left_out.share ? Json(*left_out.share) : Json()}};
}

} // namespace fathom::server
