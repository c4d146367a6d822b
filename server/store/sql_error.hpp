#pragma once

#include "core/base/result.hpp"

#include <exception>
#include <string>

namespace fathom::server {

/// What a transaction should do about an exception of libpqxx.
struct SqlFailure {
    Error error;
    bool again = false;        ///< serialization failure or deadlock: run the transaction again
    bool reconnect = false;    ///< this connection is of no more use
    std::string sqlstate = {}; ///< empty when PostgreSQL gave none
    std::string cause = {};    ///< what PostgreSQL or libpq said, for the log: it names hosts, users and tables
};

/// Sorts the exception being handled into our error classes. Call inside a catch block.
/// The detail of `error` may be shown to clients; details of kInternal stay out of answers (net::problem). The caller
/// logs the cause.
SqlFailure classify_sql_exception(const std::exception_ptr& thrown);

} // namespace fathom::server
