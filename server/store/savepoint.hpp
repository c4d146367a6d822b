#pragma once

#include "core/base/log.hpp"
#include "server/store/after_commit.hpp"
#include "server/store/sql_error.hpp"
#include "server/store/transaction.hpp"

#include <string>

namespace fathom::server {

/// Runs `body`, which returns a Result and works in the transaction, so that when it fails only its own changes are
/// undone. For turns over many rows of which one may be bad: the others go on.
///
/// Exceptions become errors, but for those that end the whole transaction (serialization failures, a lost connection,
/// a shutdown): these pass through to Database::run.
template <class Body>
auto in_savepoint(pqxx::work& transaction, Body&& body) -> decltype(body())
{
    transaction.exec0("SAVEPOINT part");
    CommitActs acts;
    Error error;
    try {
        auto result = body();
        if (result) {
            transaction.exec0("RELEASE SAVEPOINT part");
            acts.hand_over();
            return result;
        }
        error = result.error();
    } catch (...) {
        const SqlFailure failure = classify_sql_exception(std::current_exception());
        if (failure.again || failure.reconnect || failure.error.code != Errc::kInternal) throw;
        error = failure.error;
    }
    transaction.exec0("ROLLBACK TO SAVEPOINT part");
    transaction.exec0("RELEASE SAVEPOINT part");
    return error;
}

/// One of many parts of a turn: what went wrong with it is logged as the event with what it is about, and the next one
/// goes on.
/// @param body  returns Result<void>
/// @error what is wrong with the moment and not with this part, such as a database that is away: the turn is over.
template <class Body>
Result<void> try_part(pqxx::work& transaction, std::string_view event, const LogField& about, Body&& body)
{
    const Result<void> done = in_savepoint(transaction, std::forward<Body>(body));
    if (done) return {};
    const Error error = done.error();
    if (error.code == Errc::kUnavailable || error.code == Errc::kDeadline) return error;
    log_error(event, {about, {"error", describe(error)}});
    return {};
}

} // namespace fathom::server
