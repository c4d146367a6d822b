#pragma once

#include <pqxx/connection_base>
#include <pqxx/result>
#include <pqxx/transaction_base>

#include <string>

namespace fathom::server {

/// An SQL statement that each connection prepares at its first use. The name must be unique in the program;
/// make it `room_verb_noun` (tests/lint/check_statements.py looks). Define as a constant next to the feature.
struct Statement {
    const char* name;
    const char* sql;
};

/// Runs a statement with parameters $1, $2, … . Optional parameters: std::optional or nullptr for NULL.
/// Throws libpqxx's exceptions, which Database::run turns into errors.
template <class... Args>
pqxx::result exec(pqxx::transaction_base& transaction, const Statement& statement, Args&&... args)
{
    // Cheap when it is there already: libpqxx looks the name up, and sends PREPARE at the first execution.
    transaction.conn().prepare(statement.name, statement.sql);
    return transaction.exec_prepared(statement.name, std::forward<Args>(args)...);
}

} // namespace fathom::server
