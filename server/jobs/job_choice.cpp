#include "server/jobs/job_choice.hpp"

#include "core/base/ulid_time.hpp"
#include "server/store/sql_array.hpp"

#include <pqxx/pqxx>

#include <chrono>
#include <utility>

namespace fathom::server {
namespace {

/// So many jobs of a name are found by it and sorted; of more, enough are met on the way through all others.
constexpr std::int64_t kMaxRareNames = 5000;

/// A job's id is made by the clock of a replica before it is written at the database's time of its submission. Both
/// clocks are kept by NTP, and a job is written within seconds. A clock that was an hour off loses no job here.
constexpr std::chrono::hours kMaxIdDrift{1};
/// Of so few jobs that are left by everything but their place each one's place is looked up.
constexpr std::int64_t kMaxFew = 2000;

constexpr const char* kSelectUnitTypes = R"sql(
    SELECT u.id FROM unit_type u JOIN center c ON c.id = u.center_id
    WHERE ($1 = '' OR c.id = $1 OR c.name = $1) AND ($2 = '' OR u.id = $2 OR c.name || '/' || u.name = $2))sql";

// In the order of the index on names, so that no other way is taken: it is read from the first of them on.
constexpr const char* kCountNames = R"sql(
    SELECT count(*) FROM (SELECT FROM job j WHERE j.name LIKE $1 ORDER BY j.name USING ~<~ LIMIT $2) named)sql";

// Subqueries that give one value are asked once for each row that comes by, whatever the planner believes of how many
// these are.
constexpr const char* kIsNewestAttempt = "a.epoch = (SELECT max(epoch) FROM attempt WHERE job_id = a.job_id)";
constexpr const char* kNewestUnitType =
    "(SELECT unit_type_id FROM attempt WHERE job_id = j.id ORDER BY epoch DESC LIMIT 1)";

/// The pattern of LIKE for what begins with the text.
std::string pattern_of(const std::string& prefix)
{
    std::string pattern;
    for (const char one : prefix) {
        if (one == '%' || one == '_' || one == '\\') pattern += '\\';
        pattern += one;
    }
    return pattern + '%';
}

std::string first_job_id_of(Timestamp at)
{
    return std::string(JobId::kPrefix) + '_' + first_ulid_of(at);
}

std::string end_of(const std::string& column, const JobRange& range, Parameters& parameters)
{
    const bool is_down = range.direction == SortDirection::kDescending;
    return " ORDER BY " + column + (is_down ? " DESC" : "") + " LIMIT " + parameters.add(std::to_string(range.most));
}

std::string scope_condition(const JobScope& scope, Parameters& parameters)
{
    if (scope.owner.empty()) return {};
    const std::string owner = "j.submitted_by = " + parameters.add(scope.owner);
    if (scope.projects.empty()) return " AND " + owner;
    return " AND (" + owner + " OR j.project = ANY (" + parameters.add(sql_array(scope.projects)) + "::text[]))";
}

} // namespace

std::string Parameters::add(std::string value)
{
    values_.push_back(std::move(value));
    return "$" + std::to_string(values_.size());
}

pqxx::result Parameters::run(pqxx::work& transaction, const std::string& sql) const
{
    return transaction.exec_params(sql, pqxx::prepare::make_dynamic_params(values_));
}

JobChoice::JobChoice(pqxx::work& transaction, JobFilter filter) : filter_(std::move(filter))
{
    if (!filter_.center.empty() || !filter_.unit_type.empty()) {
        std::vector<std::string> ids;
        for (const pqxx::row& row : transaction.exec_params(kSelectUnitTypes, filter_.center, filter_.unit_type))
            ids.push_back(row[0].as<std::string>());
        unit_types_ = sql_array(ids);
    }
    if (unit_types_ && is_narrowed()) are_few_ = count_up_to(transaction, kMaxFew + 1) <= kMaxFew;
    if (filter_.name_prefix.empty() || are_few_) return;
    const pqxx::row named = transaction.exec_params1(kCountNames, pattern_of(filter_.name_prefix), kMaxRareNames + 1);
    has_rare_name_ = named[0].as<std::int64_t>() <= kMaxRareNames;
}

bool JobChoice::is_narrowed() const
{
    return !filter_.state.empty() || !filter_.project.empty() || !filter_.job_type.empty() ||
           !filter_.submitted_by.empty() || !filter_.scope.owner.empty();
}

std::int64_t JobChoice::count_up_to(pqxx::work& transaction, std::int64_t most) const
{
    Parameters parameters;
    std::string text = "SELECT count(*) FROM (SELECT FROM job j WHERE " + conditions(parameters);
    text += " LIMIT " + parameters.add(std::to_string(most)) + ") counted";
    return parameters.run(transaction, text)[0][0].as<std::int64_t>();
}

std::string JobChoice::conditions(Parameters& parameters) const
{
    std::string text = "true";
    const auto add_equal = [&](const char* column, const std::string& value) {
        if (!value.empty()) text += std::string(" AND j.") + column + " = " + parameters.add(value);
    };
    if (filter_.label != "all") add_equal("label", filter_.label);
    add_equal("state", filter_.state);
    add_equal("project", filter_.project);
    add_equal("job_type", filter_.job_type);
    add_equal("submitted_by", filter_.submitted_by);
    if (!filter_.name_prefix.empty()) text += " AND j.name LIKE " + parameters.add(pattern_of(filter_.name_prefix));
    if (filter_.submitted_after)
        text += " AND j.submitted_at >= " + parameters.add(format_rfc3339(*filter_.submitted_after)) + "::timestamptz";
    if (filter_.submitted_before)
        text += " AND j.submitted_at < " + parameters.add(format_rfc3339(*filter_.submitted_before)) + "::timestamptz";
    return text + scope_condition(filter_.scope, parameters);
}

std::string JobChoice::id_conditions(const std::string& column, const JobRange& range, Parameters& parameters) const
{
    std::string text;
    // Times by ids, so that no index on times has to be written with every job.
    if (filter_.submitted_after)
        text += " AND " + column + " >= " + parameters.add(first_job_id_of(*filter_.submitted_after - kMaxIdDrift));
    if (filter_.submitted_before)
        text += " AND " + column + " < " + parameters.add(first_job_id_of(*filter_.submitted_before + kMaxIdDrift));
    if (range.after.empty()) return text;
    const bool is_down = range.direction == SortDirection::kDescending;
    return text + " AND " + column + (is_down ? " < " : " > ") + parameters.add(range.after);
}

std::string JobChoice::sql(const JobRange& range, Parameters& parameters) const
{
    if (are_few_) {
        const std::string found = conditions(parameters);
        return sql_of_found(found, "true", range, parameters);
    }
    if (has_rare_name_) {
        const std::string found = "j.name LIKE " + parameters.add(pattern_of(filter_.name_prefix));
        return sql_of_found(found, conditions(parameters), range, parameters);
    }
    if (unit_types_) return sql_by_place(range, parameters);
    std::string text = "SELECT j.* FROM job j WHERE " + conditions(parameters);
    text += id_conditions("j.id", range, parameters);
    return text + end_of("j.id", range, parameters);
}

/// Of each unit type the first jobs, and of these the first. OFFSET 0: each job is looked up by its id as the attempts
/// come.
std::string JobChoice::sql_by_place(const JobRange& range, Parameters& parameters) const
{
    std::string text =
        "SELECT j.* FROM unnest(" + parameters.add(*unit_types_) +
        "::text[]) place (unit_type_id) CROSS JOIN LATERAL (SELECT j.* FROM attempt a CROSS JOIN LATERAL "
        "(SELECT * FROM job WHERE id = a.job_id OFFSET 0) j WHERE a.unit_type_id = place.unit_type_id"
        " AND " +
        std::string(kIsNewestAttempt) + " AND " + conditions(parameters);
    text += id_conditions("a.job_id", range, parameters);
    text += end_of("a.job_id", range, parameters) + ") j";
    return text + end_of("j.id", range, parameters);
}

/// OFFSET 0: the jobs are found by that, whatever order is asked for, and then each one's place is looked up.
std::string JobChoice::sql_of_found(const std::string& found, const std::string& rest, const JobRange& range,
                                    Parameters& parameters) const
{
    std::string text = "SELECT j.* FROM (SELECT * FROM job j WHERE " + found + " OFFSET 0) j WHERE " + rest;
    text += id_conditions("j.id", range, parameters);
    if (unit_types_)
        text += std::string(" AND ") + kNewestUnitType + " = ANY (" + parameters.add(*unit_types_) + "::text[])";
    return text + end_of("j.id", range, parameters);
}

} // namespace fathom::server
