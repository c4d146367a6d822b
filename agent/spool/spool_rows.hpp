#pragma once

// Internal to agent/spool: what its tables hold.

#include "agent/spool/spool.hpp"

namespace fathom::agent {

/// A message as it is stored.
struct MessageRow {
    std::string id;
    std::optional<std::string> attempt_id;
    std::string text;
    bool is_end{};
};

/// What changes of an attempt, as it is stored.
struct AttemptRow {
    std::string id;
    std::int64_t stage{};
    std::optional<std::string> end;
    std::string cpus;
    std::string units;
    std::optional<std::string> cancel_reason;
    std::int64_t stdout_acked{};
    std::int64_t stderr_acked{};
    std::string unit_type;
    std::string devices;
};

MessageRow to_row(const link::Message& message, const std::optional<std::string>& attempt_id);
AttemptRow to_row(const StoredAttempt& attempt);

/// @return false when it is known already.
Result<bool> insert_attempt(Database& database, const std::string& id, const std::string& text);
Result<void> update_attempt(Database& database, const AttemptRow& row);
Result<void> insert_message(Database& database, const MessageRow& row);
/// The present row of kSelectAttempts.
/// @error kUnavailable  it is damaged.
Result<StoredAttempt> read_attempt(const Statement& row);
extern const char* const kSelectAttempts; ///< all but those of stage $1, oldest first

/// Runs a statement that gives no rows.
Result<void> run_statement(Statement statement);

} // namespace fathom::agent
