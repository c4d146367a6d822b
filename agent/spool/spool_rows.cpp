#include "agent/spool/spool_rows.hpp"

namespace fathom::agent {
namespace {

constexpr const char* kInsertAttempt = "INSERT OR IGNORE INTO attempt (id, stage, start_message) VALUES (?, ?, ?)";
constexpr const char* kUpdateAttempt = R"sql(
    UPDATE attempt SET stage = ?2, end_message = ?3, cpus = ?4, units = ?5, cancel_reason = ?6,
                       stdout_acked = ?7, stderr_acked = ?8, unit_type = ?9, devices = ?10 WHERE id = ?1)sql";
constexpr const char* kInsertMessage = "INSERT INTO message (id, attempt_id, text, is_end) VALUES (?, ?, ?, ?)";

template <class Body>
Result<Body> decode_as(const std::string& text)
{
    std::variant<link::Message, link::DecodeFailure> decoded = link::decode(text);
    if (const auto* failure = std::get_if<link::DecodeFailure>(&decoded))
        return Error{Errc::kUnavailable, "the spool is damaged: " + describe(failure->error)};
    Body* body = std::get_if<Body>(&std::get<link::Message>(decoded).body);
    if (body == nullptr) return Error{Errc::kUnavailable, "the spool is damaged: wrong message type"};
    return std::move(*body);
}

template <class Item>
std::vector<Item> read_list(const std::string& text)
{
    const Json json = Json::parse(text, nullptr, false);
    return json.is_array() ? json.get<std::vector<Item>>() : std::vector<Item>{};
}

} // namespace

const char* const kSelectAttempts = R"sql(
    SELECT start_message, end_message, stage, cpus, units, cancel_reason, stdout_acked, stderr_acked, unit_type, id,
           devices
    FROM attempt WHERE stage <> ? ORDER BY number)sql";

Result<StoredAttempt> read_attempt(const Statement& row)
{
    Result<link::StartAttempt> start = decode_as<link::StartAttempt>(row.text(0));
    if (!start) return start.error();
    StoredAttempt attempt;
    attempt.order = std::move(start->order);
    if (!row.is_null(1)) {
        const Result<link::AttemptEnded> ended = decode_as<link::AttemptEnded>(row.text(1));
        if (!ended) return ended.error();
        attempt.end = ended->end;
    }
    attempt.stage = static_cast<Stage>(row.integer(2));
    attempt.cpus = read_list<std::int64_t>(row.text(3));
    attempt.units = read_list<std::int64_t>(row.text(4));
    if (!row.is_null(5)) attempt.cancel_reason = row.text(5);
    attempt.stdout_acked = row.integer(6);
    attempt.stderr_acked = row.integer(7);
    attempt.unit_type = row.text(8);
    attempt.devices = read_list<std::string>(row.text(10));
    return attempt;
}

Result<void> run_statement(Statement statement)
{
    const Result<bool> done = statement.step();
    if (!done) return done.error();
    return {};
}

Result<bool> insert_attempt(Database& database, const std::string& id, const std::string& text)
{
    Statement insert = database.prepare(kInsertAttempt);
    insert.bind(1, std::string_view(id)).bind(2, static_cast<std::int64_t>(Stage::kAccepted));
    insert.bind(3, std::string_view(text));
    const Result<bool> done = insert.step();
    if (!done) return done.error();
    return database.changes() > 0;
}

MessageRow to_row(const link::Message& message, const std::optional<std::string>& attempt_id)
{
    return {message.id.value, attempt_id, link::encode(message),
            std::holds_alternative<link::AttemptEnded>(message.body)};
}

Result<void> insert_message(Database& database, const MessageRow& row)
{
    Statement insert = database.prepare(kInsertMessage);
    insert.bind(1, std::string_view(row.id)).bind(2, row.attempt_id).bind(3, std::string_view(row.text));
    insert.bind(4, static_cast<std::int64_t>(row.is_end));
    return run_statement(std::move(insert));
}

AttemptRow to_row(const StoredAttempt& attempt)
{
    AttemptRow row{.id = attempt.order.attempt_id.value,
                   .stage = static_cast<std::int64_t>(attempt.stage),
                   .end = std::nullopt,
                   .cpus = Json(attempt.cpus).dump(),
                   .units = Json(attempt.units).dump(),
                   .cancel_reason = attempt.cancel_reason,
                   .stdout_acked = attempt.stdout_acked,
                   .stderr_acked = attempt.stderr_acked,
                   .unit_type = attempt.unit_type,
                   .devices = Json(attempt.devices).dump()};
    if (attempt.end) row.end = link::encode(link::make_message(link::AttemptEnded{*attempt.end}));
    return row;
}

Result<void> update_attempt(Database& database, const AttemptRow& row)
{
    Statement update = database.prepare(kUpdateAttempt);
    update.bind(1, std::string_view(row.id)).bind(2, row.stage).bind(3, row.end);
    update.bind(4, std::string_view(row.cpus)).bind(5, std::string_view(row.units));
    update.bind(6, row.cancel_reason).bind(7, row.stdout_acked).bind(8, row.stderr_acked);
    update.bind(9, std::string_view(row.unit_type)).bind(10, std::string_view(row.devices));
    return run_statement(std::move(update));
}

} // namespace fathom::agent
