#include "server/store/database_link.hpp"

#include "server/store/connection_string.hpp"
#include "server/store/sql_error.hpp"

#include <pqxx/nontransaction>

#include <exception>
#include <poll.h>

namespace fathom::server {

DatabaseLink::DatabaseLink(const std::string& target, std::chrono::milliseconds statement_limit)
    : connection_(target), quiet_(connection_)
{
    connection_.set_variable("statement_timeout", std::to_string(statement_limit.count()));
    // Work never waits inside a transaction; a thread that hangs must not keep its locks for ever.
    connection_.set_variable("idle_in_transaction_session_timeout", "60000");
    // A replica that is killed must not keep its locks until the statement ends that it waited for.
    connection_.set_variable("client_connection_check_interval", "1000");
    connection_.set_variable("TimeZone", "'UTC'");
    // Documents of a hundred kB, as what a start was decided by: half the time and half the room of the default.
    if (has_lz4()) connection_.set_variable("default_toast_compression", "lz4");
}

/// PostgreSQL may have been built without.
bool DatabaseLink::has_lz4()
{
    pqxx::nontransaction question(connection_);
    return question
        .exec1("SELECT coalesce(bool_or('lz4' = ANY (enumvals)), false) FROM pg_settings "
               "WHERE name = 'default_toast_compression'")[0]
        .as<bool>();
}

bool DatabaseLink::has_input() const
{
    pollfd watched{connection_.sock(), POLLIN, 0};
    return poll(&watched, 1, 0) != 0;
}

std::unique_ptr<DatabaseLink> connect_database(const std::string& url, std::chrono::milliseconds statement_limit,
                                               std::string& failure)
{
    const Result<std::string> target = connection_string(url);
    if (!target) {
        failure = target.error().detail;
        return nullptr;
    }
    try {
        return std::make_unique<DatabaseLink>(*target, statement_limit);
    } catch (...) {
        const SqlFailure classified = classify_sql_exception(std::current_exception());
        failure =
            "the database is not available: " + (classified.cause.empty() ? classified.error.detail : classified.cause);
        return nullptr;
    }
}

} // namespace fathom::server
