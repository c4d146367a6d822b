#include "agent/spool/spool.hpp"

#include "agent/spool/spool_rows.hpp"

namespace fathom::agent {
namespace {

// Orders and ends are kept as the wire messages that carry them: one codec, and it is tested anyway.
// The first one also meets spools that were made before the schema had versions.
constexpr const char* kMigrations[] = {
    R"sql(
    CREATE TABLE IF NOT EXISTS attempt (
        number INTEGER PRIMARY KEY AUTOINCREMENT, -- order of arrival
        id TEXT NOT NULL UNIQUE,
        stage INTEGER NOT NULL,
        start_message TEXT,
        end_message TEXT,
        cpus TEXT NOT NULL DEFAULT '[]',
        units TEXT NOT NULL DEFAULT '[]',
        unit_type TEXT NOT NULL DEFAULT '',
        cancel_reason TEXT,
        stdout_acked INTEGER NOT NULL DEFAULT 0,
        stderr_acked INTEGER NOT NULL DEFAULT 0,
        forgotten_at INTEGER -- microseconds since 1970
    );
    CREATE TABLE IF NOT EXISTS message (
        sequence INTEGER PRIMARY KEY AUTOINCREMENT, -- order of sending; never used twice
        id TEXT NOT NULL UNIQUE,
        attempt_id TEXT,
        text TEXT NOT NULL
    );
    CREATE INDEX IF NOT EXISTS message_of_attempt ON message (attempt_id);
)sql",
    "ALTER TABLE message ADD COLUMN is_end INTEGER NOT NULL DEFAULT 0",
    "CREATE TABLE IF NOT EXISTS boot (id TEXT NOT NULL) -- of the host, at most one",
    // Names of devices. No comment in the statement itself: SQLite takes what stands behind it for part of the column.
    "ALTER TABLE attempt ADD COLUMN devices TEXT NOT NULL DEFAULT '[]'"};

/// Makes the database grow, and its log with it. What is then freed stays part of the files, so that the few
/// kilobytes of a change find room also on a disk that a job has filled.
constexpr const char* kTakeRoom[] = {"CREATE TABLE IF NOT EXISTS room (bytes BLOB)",
                                     "INSERT INTO room VALUES (zeroblob(6291456))", "DROP TABLE room"};

constexpr const char* kSaveOutput = "UPDATE attempt SET stdout_acked = ?2, stderr_acked = ?3 WHERE id = ?1";
constexpr const char* kForget = R"sql(
    UPDATE attempt SET stage = ?2, forgotten_at = ?3, start_message = NULL, end_message = NULL WHERE id = ?1)sql";
constexpr const char* kForgetMessages = "DELETE FROM message WHERE attempt_id = ?";
constexpr const char* kSelectBoot = "SELECT id FROM boot";
constexpr const char* kForgetBoot = "DELETE FROM boot";
constexpr const char* kNoteBoot = "INSERT INTO boot VALUES (?)";
constexpr const char* kPurge = "DELETE FROM attempt WHERE forgotten_at < ?";
constexpr const char* kMessagesAfter =
    "SELECT sequence, id, text, is_end, attempt_id FROM message WHERE sequence > ? ORDER BY sequence LIMIT ?";
constexpr const char* kAcknowledge = "DELETE FROM message WHERE id = ?";
constexpr const char* kAttemptOf = "SELECT attempt_id FROM message WHERE id = ?";
constexpr const char* kTextOf = "SELECT text FROM message WHERE id = ?";
constexpr const char* kCountOfAttempt = "SELECT count(*) FROM message WHERE attempt_id = ?";
constexpr const char* kCount = "SELECT count(*) FROM message";

} // namespace

Result<Spool> Spool::open(const std::filesystem::path& path)
{
    Result<Database> database = Database::open(path, kMigrations);
    if (!database) return database.error();
    for (const char* sql : kTakeRoom) {
        // On a full disk the room that an earlier run has taken must do.
        if (!database->execute(sql)) break;
    }
    return Spool(std::move(*database));
}

Result<void> Spool::begin()
{
    if (is_open_) return {};
    if (Result<void> begun = database_.execute("BEGIN IMMEDIATE"); !begun) return begun;
    is_open_ = true;
    for (const Gathered& change : gathered_) {
        if (Result<void> done = change.statements(database_); !done) {
            roll_back();
            return done;
        }
    }
    return {};
}

void Spool::roll_back()
{
    static_cast<void>(database_.execute("ROLLBACK")); // an error may have done that already
    is_open_ = false;
}

Result<void> Spool::commit()
{
    if (!has_changes()) return {};
    if (Result<void> begun = begin(); !begun) return begun;
    Result<void> done = database_.execute("COMMIT");
    if (!done) {
        roll_back();
        return done;
    }
    is_open_ = false;
    gathered_.clear();
    return done;
}

/// With all that was gathered, or not at all.
Result<void> Spool::change(const std::string& of, Statements statements)
{
    if (is_behind()) { // it comes after the others
        gathered_.push_back({of, std::move(statements)});
        return {};
    }
    Result<void> done = begin();
    if (done) {
        done = statements(database_);
        if (!done) roll_back();
    }
    if (gathers_)
        gathered_.push_back({of, std::move(statements)});
    else if (done)
        done = commit();
    return done;
}

void Spool::drop_gathered(const std::vector<AttemptId>& attempts)
{
    std::set<std::string> ids;
    for (const AttemptId& id : attempts)
        ids.insert(id.value);
    drop_gathered_of(ids);
}

void Spool::drop_gathered_of(const std::set<std::string>& ids)
{
    if (is_open_) roll_back();
    std::erase_if(gathered_, [&](const Gathered& change) { return ids.contains(change.of); });
}

Result<bool> Spool::note_boot(const std::string& id)
{
    if (const Result<void> begun = begin(); !begun) return begun.error();
    const auto note = [&]() -> Result<bool> {
        Statement select = database_.prepare(kSelectBoot);
        const Result<bool> row = select.step();
        if (!row) return row.error();
        if (*row && select.text(0) == id) return true;
        const bool is_first = !*row; // what older agents left needs no boot: their supervisors' markers are durable
        if (const Result<void> done = run_statement(database_.prepare(kForgetBoot)); !done) return done.error();
        Statement insert = database_.prepare(kNoteBoot);
        insert.bind(1, std::string_view(id));
        if (const Result<void> done = run_statement(std::move(insert)); !done) return done.error();
        return is_first;
    };
    const Result<bool> is_same = note();
    if (!is_same) {
        roll_back();
        return is_same;
    }
    if (const Result<void> stored = commit(); !stored) return stored.error();
    return is_same;
}

Result<bool> Spool::accept(const AttemptOrder& order)
{
    const std::string& id = order.attempt_id.value;
    const std::string text = link::encode(link::make_message(link::StartAttempt{order}));
    if (const Result<void> begun = begin(); !begun) return begun.error();
    const Result<bool> is_new = insert_attempt(database_, id, text);
    if (!is_new) {
        roll_back();
        return is_new;
    }
    if (!gathers_) {
        if (const Result<void> stored = commit(); !stored) return stored.error();
    } else if (*is_new) {
        gathered_.push_back({id, [id, text](Database& database) -> Result<void> {
                                 const Result<bool> done = insert_attempt(database, id, text);
                                 if (!done) return done.error();
                                 return {};
                             }});
    }
    return is_new;
}

Result<void> Spool::save(const StoredAttempt& attempt, std::span<const link::Message> messages)
{
    std::vector<MessageRow> rows;
    for (const link::Message& message : messages)
        rows.push_back(to_row(message, attempt.order.attempt_id.value));
    return change(attempt.order.attempt_id.value,
                  [row = to_row(attempt), rows = std::move(rows)](Database& database) -> Result<void> {
                      if (Result<void> done = update_attempt(database, row); !done) return done;
                      for (const MessageRow& message : rows) {
                          if (Result<void> done = insert_message(database, message); !done) return done;
                      }
                      return {};
                  });
}

Result<void> Spool::save_output_acked(const AttemptId& id, std::int64_t stdout_acked, std::int64_t stderr_acked)
{
    return change(id.value, [id, stdout_acked, stderr_acked](Database& database) {
        Statement update = database.prepare(kSaveOutput);
        update.bind(1, std::string_view(id.value)).bind(2, stdout_acked).bind(3, stderr_acked);
        return run_statement(std::move(update));
    });
}

Result<void> Spool::forget(const AttemptId& id, Timestamp now)
{
    return change(id.value, [id, now](Database& database) -> Result<void> {
        Statement update = database.prepare(kForget);
        update.bind(1, std::string_view(id.value)).bind(2, static_cast<std::int64_t>(Stage::kForgotten));
        update.bind(3, static_cast<std::int64_t>(now.time_since_epoch().count()));
        if (Result<void> done = run_statement(std::move(update)); !done) return done;
        Statement messages = database.prepare(kForgetMessages);
        messages.bind(1, std::string_view(id.value));
        return run_statement(std::move(messages));
    });
}

Result<void> Spool::purge(Timestamp before)
{
    return change("", [before](Database& database) {
        Statement statement = database.prepare(kPurge);
        statement.bind(1, static_cast<std::int64_t>(before.time_since_epoch().count()));
        return run_statement(std::move(statement));
    });
}

Result<StoredAttempts> Spool::attempts()
{
    StoredAttempts stored;
    Statement select = database_.prepare(kSelectAttempts);
    select.bind(1, static_cast<std::int64_t>(Stage::kForgotten));
    for (;;) {
        const Result<bool> row = select.step();
        if (!row) return row.error();
        if (!*row) return stored;
        Result<StoredAttempt> attempt = read_attempt(select);
        if (attempt)
            stored.attempts.push_back(std::move(*attempt));
        else
            stored.unreadable.push_back({select.text(9), attempt.error()});
    }
}

Result<void> Spool::put(const link::Message& message)
{
    return change(message.id.value,
                  [row = to_row(message, std::nullopt)](Database& database) { return insert_message(database, row); });
}

Result<std::vector<SpooledMessage>> Spool::messages_after(std::int64_t sequence, std::int64_t limit)
{
    std::vector<SpooledMessage> list;
    Statement select = database_.prepare(kMessagesAfter);
    select.bind(1, sequence).bind(2, limit);
    for (;;) {
        const Result<bool> row = select.step();
        if (!row) return row.error();
        if (!*row) return list;
        list.push_back({select.integer(0), MessageId{select.text(1)}, select.text(2)});
        if (select.integer(3) != 0) list.back().end_of = AttemptId{select.text(4)};
    }
}

Result<void> Spool::acknowledge(const MessageId& id)
{
    return change("", [id](Database& database) {
        Statement statement = database.prepare(kAcknowledge);
        statement.bind(1, std::string_view(id.value));
        return run_statement(std::move(statement));
    });
}

Result<std::optional<AttemptId>> Spool::attempt_of(const MessageId& id)
{
    Statement select = database_.prepare(kAttemptOf);
    select.bind(1, std::string_view(id.value));
    const Result<bool> row = select.step();
    if (!row) return row.error();
    if (!*row || select.is_null(0)) return std::optional<AttemptId>();
    return std::optional(AttemptId{select.text(0)});
}

Result<std::optional<std::string>> Spool::text_of(const MessageId& id)
{
    Statement select = database_.prepare(kTextOf);
    select.bind(1, std::string_view(id.value));
    const Result<bool> row = select.step();
    if (!row) return row.error();
    if (!*row) return std::optional<std::string>();
    return std::optional(select.text(0));
}

Result<std::int64_t> Spool::message_count(const AttemptId& id)
{
    Statement select = database_.prepare(kCountOfAttempt);
    select.bind(1, std::string_view(id.value));
    const Result<bool> row = select.step();
    if (!row) return row.error();
    return select.integer(0);
}

Result<std::int64_t> Spool::message_count()
{
    Statement select = database_.prepare(kCount);
    const Result<bool> row = select.step();
    if (!row) return row.error();
    return select.integer(0);
}

} // namespace fathom::agent
