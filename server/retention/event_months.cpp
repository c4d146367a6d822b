#include "server/retention/event_months.hpp"

#include "server/store/statement.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

constexpr Statement kSelectMissingMonths{"retention_select_missing_months", R"sql(
    SELECT to_char(month, 'YYYY-MM-DD')
    FROM (SELECT date_trunc('month', $1::timestamptz AT TIME ZONE 'UTC') AS this) now,
         unnest(ARRAY[this, this + interval '1 month']) AS month
    WHERE NOT EXISTS (SELECT 1 FROM job_event_month WHERE first_day = month::date)
    ORDER BY month)sql"};

constexpr Statement kSelectDueMonths{"retention_select_due_months", R"sql(
    SELECT to_char(m.first_day, 'YYYY-MM-DD') FROM job_event_month m
    WHERE (m.first_day + interval '1 month') AT TIME ZONE 'UTC' <= $1::timestamptz
      AND (NOT m.is_reduced OR NOT EXISTS (SELECT 1 FROM job j WHERE j.id >= m.first_id AND j.id < m.past_id))
    ORDER BY m.first_day)sql"};

// In the schema (0037), since the names of tables cannot be parameters, and the migration makes months, too.
constexpr Statement kMakeMonth{"retention_make_month", "SELECT make_job_event_month($1::date)"};
constexpr Statement kDropMonth{"retention_drop_month", "SELECT drop_job_event_month($1::date)"};

std::vector<std::string> select_months(pqxx::work& transaction, const Statement& statement, Timestamp moment)
{
    std::vector<std::string> months;
    for (const pqxx::row& row : exec(transaction, statement, format_rfc3339(moment)))
        months.push_back(row[0].as<std::string>());
    return months;
}

} // namespace

std::vector<std::string> select_missing_event_months(pqxx::work& transaction, Timestamp now)
{
    return select_months(transaction, kSelectMissingMonths, now);
}

std::vector<std::string> select_due_event_months(pqxx::work& transaction, Timestamp before)
{
    return select_months(transaction, kSelectDueMonths, before);
}

bool make_event_month(pqxx::work& transaction, const std::string& month)
{
    return exec(transaction, kMakeMonth, month)[0][0].as<bool>();
}

bool drop_event_month(pqxx::work& transaction, const std::string& month)
{
    return exec(transaction, kDropMonth, month)[0][0].as<bool>();
}

} // namespace fathom::server
