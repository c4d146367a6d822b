#include "server/jobs/attempt_output_store.hpp"

#include "server/events/job_event_log.hpp"
#include "server/store/column.hpp"
#include "server/store/sql_array.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

#include <algorithm>
#include <map>
#include <tuple>

namespace fathom::server {
namespace {

// A repeat of the same piece changes nothing. An agent that was restarted may cut its output anew, so a longer
// piece at the same place holds more.
constexpr Statement kInsertOutput{"jobs_insert_output", R"sql(
    WITH new AS (
        SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bytea[])
                      AS n (attempt_id, stream, offset_bytes, data)
        -- Pieces that overlap, as those cut anew do, may hold a byte twice, and no more.
        WHERE (SELECT coalesce(sum(length(k.data)), 0) FROM job_output k
               WHERE k.attempt_id = n.attempt_id AND k.stream = n.stream
                 AND k.offset_bytes > n.offset_bytes - $5::bigint
                 AND k.offset_bytes < n.offset_bytes + length(n.data)) <= 4 * $5::bigint),
    old AS (
        SELECT attempt_id, stream, offset_bytes, length(o.data) AS bytes
        FROM new JOIN job_output o USING (attempt_id, stream, offset_bytes)),
    stored AS (
        INSERT INTO job_output AS o (attempt_id, stream, offset_bytes, data)
        SELECT attempt_id, stream, offset_bytes, data FROM new
        ON CONFLICT (attempt_id, stream, offset_bytes) DO UPDATE SET data = excluded.data
            WHERE length(excluded.data) > length(o.data)
        RETURNING o.attempt_id, o.stream, o.offset_bytes, length(o.data) AS bytes),
    added AS (
        SELECT attempt_id, sum(stored.bytes - coalesce(old.bytes, 0)) AS bytes
        FROM stored LEFT JOIN old USING (attempt_id, stream, offset_bytes) GROUP BY attempt_id),
    totals AS (
        INSERT INTO attempt_output AS total (attempt_id, bytes) SELECT attempt_id, bytes FROM added ORDER BY attempt_id
        ON CONFLICT (attempt_id) DO UPDATE SET bytes = total.bytes + excluded.bytes)
    INSERT INTO stored_change (submitted_by, project, bytes)
    SELECT j.submitted_by, j.project, sum(added.bytes)
    FROM added JOIN attempt a ON a.id = added.attempt_id JOIN job j ON j.id = a.job_id
    WHERE j.label = 'job' GROUP BY j.submitted_by, j.project)sql"};

constexpr Statement kMarkOutputCut{"jobs_mark_output_cut", R"sql(
    INSERT INTO attempt_output AS o (attempt_id, bytes, cut_at) VALUES ($1, 0, now())
    ON CONFLICT (attempt_id) DO UPDATE SET cut_at = now() WHERE o.cut_at IS NULL)sql"};

constexpr Statement kFindWriters{"jobs_find_writers", R"sql(
    SELECT a.id, a.center_id, a.state = 'ended' AS is_ended, coalesce(a.stdout_bytes, 0) AS stdout_bytes,
           coalesce(a.stderr_bytes, 0) AS stderr_bytes, c.session_epoch, c.revoked_at IS NOT NULL AS is_revoked,
           a.job_id, j.label, j.state,
           (SELECT coalesce(sum(o.bytes), 0)::bigint FROM attempt b JOIN attempt_output o ON o.attempt_id = b.id
            WHERE b.job_id = a.job_id) AS bytes
    FROM attempt a JOIN job j ON j.id = a.job_id JOIN center c ON c.id = a.center_id
    WHERE a.id = ANY ($1::text[]))sql"};

constexpr const char* kSelectStdout = R"sql(
    SELECT offset_bytes, data FROM job_output WHERE attempt_id = $1 AND stream = 'stdout' ORDER BY offset_bytes)sql";

constexpr const char* kSelectStderrEnd = R"sql(
    SELECT data FROM job_output WHERE attempt_id = $1 AND stream = 'stderr' ORDER BY offset_bytes DESC LIMIT 1)sql";

/// Whose output came.
struct Writer {
    std::string center;
    bool is_ended{};
    std::int64_t stdout_bytes{}; ///< as the end said
    std::int64_t stderr_bytes{};
    bool is_revoked{};
    std::int64_t epoch{};
    JobId job;
    bool is_limited{false};
    JobState state{JobState::kRunning};
    std::int64_t bytes{}; ///< that the job has stored
    bool is_cut{false};   ///< some of what came is not kept
};

std::map<std::string, Writer> find_writers(pqxx::work& transaction, std::span<const NewOutput> pieces)
{
    std::vector<std::string> ids;
    for (const NewOutput& piece : pieces)
        ids.push_back(piece.output.attempt_id.value);
    std::map<std::string, Writer> writers;
    for (const pqxx::row& row : exec(transaction, kFindWriters, sql_array(ids)))
        writers[row["id"].as<std::string>()] = {
            .center = row["center_id"].as<std::string>(),
            .is_ended = row["is_ended"].as<bool>(),
            .stdout_bytes = row["stdout_bytes"].as<std::int64_t>(),
            .stderr_bytes = row["stderr_bytes"].as<std::int64_t>(),
            .is_revoked = row["is_revoked"].as<bool>(),
            .epoch = row["session_epoch"].as<std::int64_t>(),
            .job = {row["job_id"].as<std::string>()},
            .is_limited = row["label"].as<std::string>() == "job", // of probes all is needed, and it is little
            .state = parse_job_state(row["state"].c_str()).value_or(JobState::kRunning),
            .bytes = row["bytes"].as<std::int64_t>()};
    return writers;
}

/// As much of the piece as the job may still store.
std::string_view take_room(Writer& writer, std::string_view data, std::int64_t most_bytes)
{
    if (!writer.is_limited || most_bytes == 0) return data;
    const std::int64_t room = std::max<std::int64_t>(most_bytes - writer.bytes, 0);
    const std::string_view kept = data.substr(0, static_cast<std::size_t>(room));
    writer.bytes += static_cast<std::int64_t>(kept.size());
    writer.is_cut = writer.is_cut || kept.size() < data.size();
    return kept;
}

void note_cuts(pqxx::work& transaction, const std::map<std::string, Writer>& writers, std::int64_t most_bytes)
{
    std::vector<NewJobEvent> events;
    for (const auto& [attempt, writer] : writers) {
        if (!writer.is_cut || exec(transaction, kMarkOutputCut, attempt).affected_rows() == 0) continue;
        NewJobEvent event;
        event.job_id = writer.job;
        event.state = writer.state;
        event.cause =
            "more output is not kept: the job has " + std::to_string(most_bytes >> 20U) + " MiB, the most of a job";
        event.evidence = {{"attempt_id", attempt}};
        events.push_back(std::move(event));
    }
    if (!events.empty()) record_job_events(transaction, events);
}

/// Whose report of an attempt's output counts.
OutputFate fate_of(const NewOutput& piece, const Writer& writer)
{
    const Reporter& reporter = piece.reporter;
    if (writer.center != reporter.center_id.value) return OutputFate::kNotOfCenter;
    const bool is_superseded = reporter.epoch && (writer.is_revoked || *reporter.epoch != writer.epoch);
    return is_superseded ? OutputFate::kSuperseded : OutputFate::kTaken;
}

/// Up to a bound for all; of an attempt that has ended, up to what the end said: the last output may come after it.
bool has_room(const link::AttemptOutput& output, const Writer& writer)
{
    const std::int64_t said = output.stream == "stdout" ? writer.stdout_bytes : writer.stderr_bytes;
    const std::int64_t most = writer.is_ended ? std::min(said, kMaxOutput_bytes) : kMaxOutput_bytes;
    return output.offset_bytes + static_cast<std::int64_t>(output.data.size()) <= most;
}

} // namespace

std::vector<OutputFate> insert_output(pqxx::work& transaction, std::span<const NewOutput> pieces,
                                      std::int64_t most_bytes)
{
    std::map<std::string, Writer> writers = find_writers(transaction, pieces);
    // One statement may not touch a row twice: of repeats within it the longest stays.
    std::map<std::tuple<std::string, std::string, std::int64_t>, std::string_view> unique;
    std::vector<OutputFate> fates;
    for (const NewOutput& piece : pieces) {
        const auto writer = writers.find(piece.output.attempt_id.value);
        fates.push_back(writer == writers.end() ? OutputFate::kNotOfCenter : fate_of(piece, writer->second));
        if (fates.back() != OutputFate::kTaken || !has_room(piece.output, writer->second)) continue;
        const std::string_view kept = take_room(writer->second, piece.output.data, most_bytes);
        if (kept.empty()) continue;
        std::string_view& data =
            unique[{piece.output.attempt_id.value, piece.output.stream, piece.output.offset_bytes}];
        if (data.size() < kept.size()) data = kept;
    }
    note_cuts(transaction, writers, most_bytes);
    if (unique.empty()) return fates;
    SqlArray attempts;
    SqlArray streams;
    SqlArray offsets;
    SqlArray data;
    for (const auto& [key, bytes] : unique) {
        attempts.add(std::get<0>(key));
        streams.add(std::get<1>(key));
        offsets.add(std::get<2>(key));
        data.add_bytes(bytes);
    }
    exec(transaction, kInsertOutput, attempts.take(), streams.take(), offsets.take(), data.take(),
         static_cast<std::int64_t>(link::kMaxOutputBytes));
    return fates;
}

std::string select_stdout(pqxx::work& transaction, const AttemptId& attempt, std::size_t limit_bytes)
{
    std::string text;
    for (const pqxx::row& row : transaction.exec_params(kSelectStdout, attempt.value)) {
        const auto offset = row["offset_bytes"].as<std::size_t>();
        // Without what is missing the rest cannot be read; the observer will say so.
        if (offset > text.size() || text.size() >= limit_bytes) break;
        const pqxx::binarystring bytes(row["data"]);
        if (offset + bytes.size() > text.size()) text.replace(offset, std::string::npos, bytes.str());
    }
    return text;
}

std::string select_stderr_end(pqxx::work& transaction, const AttemptId& attempt)
{
    const pqxx::result rows = transaction.exec_params(kSelectStderrEnd, attempt.value);
    if (rows.empty()) return {};
    return pqxx::binarystring(rows[0][0]).str();
}

} // namespace fathom::server
