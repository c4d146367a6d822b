#include "server/jobs/job_list_store.hpp"

#include "server/jobs/job_choice.hpp"
#include "server/jobs/job_row.hpp"
#include "server/store/index_order.hpp"

#include <pqxx/pqxx>

#include <algorithm>
#include <array>
#include <utility>

namespace fathom::server {
namespace {

/// What callers name, and the column that it is.
template <class Meaning>
struct NamedColumn {
    Meaning meaning;
    std::string_view name;
    const char* column;
};
using Sorting = NamedColumn<JobSort>;
using Grouping = NamedColumn<JobGrouping>;

constexpr std::array kSortings{
    Sorting{JobSort::kSubmitted, "submitted", "j.id"},  Sorting{JobSort::kName, "name", "j.name"},
    Sorting{JobSort::kProject, "project", "j.project"}, Sorting{JobSort::kState, "state", "j.state"},
    Sorting{JobSort::kType, "type", "j.job_type"},
};
constexpr std::array kGroupings{
    Grouping{JobGrouping::kState, "state", "j.state"}, Grouping{JobGrouping::kProject, "project", "j.project"},
    Grouping{JobGrouping::kType, "type", "j.job_type"},
    Grouping{JobGrouping::kCenter, "center", "''"}, // found for those that are counted only
};

template <class Meaning, std::size_t kCount>
std::optional<Meaning> find_meaning(const std::array<NamedColumn<Meaning>, kCount>& columns, std::string_view name)
{
    const auto found = std::find_if(columns.begin(), columns.end(), [&](const auto& one) { return one.name == name; });
    return found == columns.end() ? std::nullopt : std::optional(found->meaning);
}

template <class Meaning, std::size_t kCount>
std::string column_of(const std::array<NamedColumn<Meaning>, kCount>& columns, Meaning meaning)
{
    const auto found =
        std::find_if(columns.begin(), columns.end(), [&](const auto& one) { return one.meaning == meaning; });
    return found == columns.end() ? std::string() : found->column;
}

/// The last job of the page before: its id and, where the order is not that of ids, what it is sorted by.
struct Position {
    std::string id;
    std::string key;
};

std::optional<Position> parse_position(const std::string& after, JobSort sort)
{
    if (sort == JobSort::kSubmitted) return Position{after, ""};
    const std::size_t end = after.find(' ');
    if (end == std::string::npos) return std::nullopt;
    return Position{after.substr(0, end), after.substr(end + 1)};
}

std::string key_of(const JobRecord& job, JobSort sort)
{
    switch (sort) {
    case JobSort::kSubmitted:
        return {};
    case JobSort::kName:
        return job.name;
    case JobSort::kProject:
        return job.project;
    case JobSort::kState:
        return job.state;
    case JobSort::kType:
        return job.job_type;
    }
    return {};
}

std::string position_text(const JobRecord& job, JobSort sort)
{
    return sort == JobSort::kSubmitted ? job.id.value : job.id.value + ' ' + key_of(job, sort);
}

bool is_down(const JobOrder& order)
{
    return order.direction == SortDirection::kDescending;
}

/// Of descriptions of the jobs of one page. More than that comes with the next one: a thousand jobs with long scripts
/// and many outputs would take hundreds of megabytes.
constexpr std::int64_t kPageBytes = 16L << 20U;

/// The rows of a page, in its order, until there are kPageBytes before one, and the one after it, which says that there
/// is more. Each with its bytes, as `row_bytes`.
std::string within_page_bytes(const std::string& page, const std::string& order)
{
    return "SELECT * FROM (SELECT *, sum(row_bytes) OVER (ORDER BY " + order +
           " ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING) AS bytes_before FROM (SELECT page.*, octet_length(spec) "
           "+ "
           "octet_length(concat(a_cpus, a_units, a_outputs, a_staging, a_nodes)) AS row_bytes FROM (" +
           page + ") page) measured) cut WHERE coalesce(bytes_before, 0) < " + std::to_string(kPageBytes) +
           " ORDER BY " + order;
}

/// How many of these rows are a page of at most `size`.
std::int64_t count_of_page(const pqxx::result& rows, std::int64_t size)
{
    std::int64_t count = 0;
    std::int64_t bytes = 0;
    for (const pqxx::row& row : rows) {
        if (count == size || bytes >= kPageBytes) break;
        bytes += row["row_bytes"].as<std::int64_t>();
        ++count;
    }
    return count;
}

/// In the order of their ids.
std::string submitted_sql(const JobChoice& choice, const JobOrder& order, const std::optional<Position>& after,
                          std::int64_t size, Parameters& parameters)
{
    const JobRange range{order.direction, after ? after->id : std::string(), size + 1};
    const std::string by = is_down(order) ? "id DESC" : "id";
    return within_page_bytes(std::string(kReadJobs) + "FROM (" + choice.sql(range, parameters) + ") j " + kJobJoins +
                                 "ORDER BY j." + by,
                             by);
}

/// In another order: of the newest jobs first their ids are sorted, then those of the page are read. More indexes would
/// have to be written with every job that is submitted.
std::string sorted_sql(const JobChoice& choice, const JobOrder& wanted, const std::optional<Position>& after,
                       std::int64_t size, Parameters& parameters)
{
    const std::string down = is_down(wanted) ? " DESC" : "";
    const std::string order = " ORDER BY chosen.key" + down + ", chosen.id" + down;
    std::string chosen = "SELECT chosen.id, chosen.key FROM (SELECT j.id, " + column_of(kSortings, wanted.by) +
                         " AS key FROM (" + choice.sql({.most = kMaxSortedJobs}, parameters) + ") j) chosen";
    if (after) {
        chosen += is_down(wanted) ? " WHERE (chosen.key, chosen.id) < (" : " WHERE (chosen.key, chosen.id) > (";
        chosen += parameters.add(after->key) + ", " + parameters.add(after->id) + ")";
    }
    chosen += order + " LIMIT " + parameters.add(std::to_string(size + 1));
    const std::string page = std::string(kReadJobs) + ", chosen.key AS page_key FROM (" + chosen +
                             ") chosen JOIN job j ON j.id = chosen.id " + kJobJoins + order;
    return within_page_bytes(page, "page_key" + down + ", id" + down);
}

} // namespace

std::optional<JobOrder> parse_job_order(std::string_view text)
{
    JobOrder order;
    order.direction = text.starts_with('-') ? SortDirection::kDescending : SortDirection::kAscending;
    if (text.starts_with('-')) text.remove_prefix(1);
    const std::optional<JobSort> by = find_meaning(kSortings, text);
    if (!by) return std::nullopt;
    order.by = *by;
    return order;
}

std::optional<JobGrouping> parse_job_grouping(std::string_view text)
{
    return find_meaning(kGroupings, text);
}

Result<Page<JobRecord>> select_jobs(pqxx::work& transaction, const JobFilter& filter, std::int64_t size,
                                    const std::string& after)
{
    const JobSort by = filter.order.by;
    std::optional<Position> position;
    if (!after.empty()) {
        position = parse_position(after, by);
        if (!position) return Error(Errc::kInvalid, "the page_token is not one of this list");
    }
    const JobChoice choice(transaction, filter);
    Parameters parameters;
    const std::string sql = by == JobSort::kSubmitted ? submitted_sql(choice, filter.order, position, size, parameters)
                                                      : sorted_sql(choice, filter.order, position, size, parameters);
    if (by == JobSort::kSubmitted && choice.walks_in_order()) prefer_index_order(transaction);
    const pqxx::result rows = parameters.run(transaction, sql);
    std::vector<JobRecord> jobs;
    for (const pqxx::row& row : rows)
        jobs.push_back(to_job_record(row));
    return cut_page(std::move(jobs), count_of_page(rows, size),
                    [by](const JobRecord& job) { return position_text(job, by); });
}

JobGroups select_job_groups(pqxx::work& transaction, const JobFilter& filter, JobGrouping by)
{
    const JobChoice choice(transaction, filter);
    Parameters parameters;
    std::string sql = "WITH newest AS MATERIALIZED (SELECT j.id, j.state, " + column_of(kGroupings, by) +
                      " AS key FROM (" + choice.sql({.most = kMaxSortedJobs}, parameters) + ") j), ";
    sql += by == JobGrouping::kCenter
               ? "keyed AS (SELECT coalesce(c.name, '') AS key, n.state FROM newest n LEFT JOIN LATERAL "
                 "(SELECT center_id FROM attempt WHERE job_id = n.id ORDER BY epoch DESC LIMIT 1) a ON true "
                 "LEFT JOIN center c ON c.id = a.center_id), "
               : "keyed AS (SELECT key, state FROM newest), ";
    sql += "counts AS (SELECT key, state, count(*) AS jobs FROM keyed GROUP BY key, state), "
           "largest AS (SELECT key, sum(jobs)::bigint AS jobs FROM counts GROUP BY key ORDER BY 2 DESC, 1 LIMIT " +
           parameters.add(std::to_string(kMaxJobGroups)) +
           ") SELECT l.key, l.jobs, c.state, c.jobs AS jobs_of_state, (SELECT count(*) FROM newest) AS counted, "
           "(SELECT count(DISTINCT key) FROM counts) AS group_count "
           "FROM largest l JOIN counts c ON c.key = l.key ORDER BY l.jobs DESC, l.key, c.state";
    JobGroups found;
    for (const pqxx::row& row : parameters.run(transaction, sql)) {
        const auto key = row["key"].as<std::string>();
        if (found.groups.empty() || found.groups.back().key != key)
            found.groups.push_back({key, row["jobs"].as<std::int64_t>(), {}});
        found.groups.back().states[row["state"].as<std::string>()] = row["jobs_of_state"].as<std::int64_t>();
        found.counted = row["counted"].as<std::int64_t>();
        found.group_count = row["group_count"].as<std::int64_t>();
    }
    return found;
}

} // namespace fathom::server
