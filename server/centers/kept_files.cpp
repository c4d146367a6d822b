#include "server/centers/kept_files.hpp"

#include "server/store/notifier.hpp"
#include "server/store/sql_array.hpp"
#include "server/store/statement.hpp"

#include <boost/asio/this_coro.hpp>
#include <pqxx/pqxx>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>

namespace fathom::server {
namespace {

constexpr Statement kDeleteOldPieces{"centers_delete_old_pieces",
                                     "DELETE FROM kept_file_question WHERE expires_at < now() - interval '1 minute'"};

constexpr Statement kSelectReader{"centers_select_reader", R"sql(
    SELECT CASE WHEN revoked_at IS NOT NULL THEN 'it is revoked'
                WHEN state = 'enrolled' THEN 'it has never connected'
                WHEN state <> 'online' THEN 'it is not connected: ' || state
                ELSE '' END AS no_answer,
           name, coalesce(facts -> 'reads_kept_files' = 'true'::jsonb, false) AS reads_kept_files
    FROM center WHERE id = $1)sql"};

constexpr Statement kInsertPieceQuestions{"centers_insert_piece_questions", R"sql(
    INSERT INTO kept_file_question (id, center_id, sha256, offset_bytes, most_bytes, expires_at)
    SELECT id, $2::text, $3::text, offset_bytes, most_bytes, now() + $6 * interval '1 second'
    FROM unnest($1::text[], $4::bigint[], $5::integer[]) AS n (id, offset_bytes, most_bytes))sql"};

constexpr Statement kCountPieces{"centers_count_pieces", R"sql(
    SELECT count(*) FILTER (WHERE piece IS NULL AND refusal = '') AS open,
           count(*) FILTER (WHERE refusal <> '') AS refused
    FROM kept_file_question WHERE id = ANY ($1::text[]))sql"};

constexpr Statement kTakePieces{"centers_take_pieces", R"sql(
    DELETE FROM kept_file_question WHERE id = ANY ($1::text[]) RETURNING id, piece, refusal_code, refusal)sql"};

constexpr Statement kSelectOpenPieces{"centers_select_open_pieces", R"sql(
    SELECT id, sha256, offset_bytes, most_bytes FROM kept_file_question
    WHERE center_id = $1 AND piece IS NULL AND refusal = '' AND expires_at > now() ORDER BY id LIMIT 100)sql"};

constexpr Statement kStorePiece{"centers_store_piece", R"sql(
    UPDATE kept_file_question SET piece = $3
    WHERE id = $1 AND center_id = $2 AND piece IS NULL AND refusal = '' AND length($3::bytea) <= most_bytes)sql"};

constexpr Statement kStorePieceRefusal{"centers_store_piece_refusal", R"sql(
    UPDATE kept_file_question SET refusal_code = $3, refusal = $4
    WHERE id = $1 AND center_id = $2 AND piece IS NULL AND refusal = '')sql"};

/// Pieces that were asked for, in the order of their bytes.
struct AskedPieces {
    std::string center; ///< its name
    std::vector<std::string> questions;
};

/// Ids for the questions that a range takes.
std::vector<std::string> questions_for(const KeptRange& range)
{
    std::vector<std::string> questions;
    for (std::int64_t at = 0; at < range.size_bytes; at += link::kMaxKeptPieceBytes)
        questions.push_back(MessageId::make().value);
    return questions;
}

Result<AskedPieces> ask_for(pqxx::work& transaction, const KeptRange& range, const std::vector<std::string>& questions,
                            std::chrono::seconds wait)
{
    exec(transaction, kDeleteOldPieces);
    const pqxx::result rows = exec(transaction, kSelectReader, range.center.value);
    if (rows.empty()) return Error{Errc::kNotFound, "its center is not known any more"};
    AskedPieces asked{.center = rows[0]["name"].as<std::string>(), .questions = questions};
    const auto no_answer = rows[0]["no_answer"].as<std::string>();
    if (!no_answer.empty()) return Error{Errc::kUnavailable, "center " + asked.center + ": " + no_answer};
    if (!rows[0]["reads_kept_files"].as<bool>())
        return Error{Errc::kInfeasible,
                     "the agent of center " + asked.center + " cannot read kept files, or keeps none"};
    SqlArray offsets;
    SqlArray sizes;
    for (std::int64_t at = 0; at < range.size_bytes; at += link::kMaxKeptPieceBytes) {
        offsets.add(range.offset_bytes + at);
        const std::int64_t left_bytes = range.size_bytes - at;
        sizes.add(std::min<std::int64_t>(left_bytes, link::kMaxKeptPieceBytes));
    }
    exec(transaction, kInsertPieceQuestions, sql_array(asked.questions), range.center.value, range.sha256,
         offsets.take(), sizes.take(), wait.count());
    notify(transaction, "kept_file", range.center.value);
    return asked;
}

/// Whether there is nothing to wait for any more: every piece has come, or one will not.
bool are_settled(pqxx::work& transaction, const std::string& questions)
{
    const pqxx::row row = exec(transaction, kCountPieces, questions)[0];
    return row["open"].as<std::int64_t>() == 0 || row["refused"].as<std::int64_t>() > 0;
}

Error piece_refusal(const pqxx::row& row, const std::string& center)
{
    const bool is_gone = row["refusal_code"].as<std::string>() == to_string(Errc::kNotFound);
    return {is_gone ? Errc::kNotFound : Errc::kUnavailable,
            "center " + center + ": " + row["refusal"].as<std::string>()};
}

Result<std::string> take_pieces(pqxx::work& transaction, const AskedPieces& asked, const KeptRange& range,
                                std::chrono::seconds wait)
{
    std::vector<std::string> pieces(asked.questions.size());
    std::optional<Error> problem;
    const pqxx::result rows = exec(transaction, kTakePieces, sql_array(asked.questions));
    if (static_cast<std::size_t>(rows.size()) < asked.questions.size())
        problem = Error{Errc::kUnavailable, "center " + asked.center + ": what was asked of it was lost; ask again"};
    for (const pqxx::row& row : rows) {
        const auto question = std::find(asked.questions.begin(), asked.questions.end(), row["id"].as<std::string>());
        if (question == asked.questions.end()) continue;
        if (!row["refusal"].as<std::string>().empty()) {
            problem = piece_refusal(row, asked.center);
        } else if (!row["piece"].is_null()) {
            const auto place = static_cast<std::size_t>(std::distance(asked.questions.begin(), question));
            pieces[place] = pqxx::binarystring(row["piece"]).str();
        } else if (!problem) {
            problem = Error{Errc::kDeadline,
                            "center " + asked.center + " did not answer within " + std::to_string(wait.count()) + " s"};
        }
    }
    // What was read is removed all the same: the error is the caller's result, not the transaction's.
    if (problem) return *problem;
    std::string bytes;
    for (const std::string& piece : pieces)
        bytes += piece;
    if (static_cast<std::int64_t>(bytes.size()) != range.size_bytes)
        return Error{Errc::kNotFound, "center " + asked.center + ": its copy is shorter than what was stored"};
    return bytes;
}

} // namespace

KeptFiles::KeptFiles(Database& database, std::chrono::milliseconds look_every)
    : database_(&database), look_every_(look_every), arrivals_(std::make_shared<PieceArrivals>())
{
}

KeptFiles::~KeptFiles() = default;

void KeptFiles::subscribe(Notifier& notifier)
{
    notifier.subscribe("kept_piece", [arrivals = arrivals_](const std::string& question) {
        if (question.empty())
            arrivals->look_again();
        else
            arrivals->came(question);
    });
}

asio::awaitable<Result<void>> KeptFiles::wait_for(std::vector<std::string> asked, PieceArrivals::Wait& arrival,
                                                  std::chrono::seconds wait, TokenTurns turns)
{
    const std::string questions = sql_array(asked);
    const auto until = std::chrono::steady_clock::now() + wait;
    for (;;) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
        if (left.count() <= 0) co_return Result<void>();
        const bool all_came = co_await arrival.until_all_came(std::min(look_every_, left));
        if (all_came) co_return Result<void>();
        auto look = [&](pqxx::work& transaction) -> Result<bool> { return are_settled(transaction, questions); };
        const std::shared_ptr<const void> turn = co_await turns.take();
        const Result<bool> settled = co_await database_->run(std::move(look));
        if (!settled) co_return settled.error();
        if (*settled) co_return Result<void>();
    }
}

asio::awaitable<Result<std::string>> KeptFiles::read(KeptRange range, std::chrono::seconds wait, TokenTurns turns)
{
    const std::vector<std::string> questions = questions_for(range);
    const asio::any_io_executor here = co_await asio::this_coro::executor;
    const std::unique_ptr<PieceArrivals::Wait> arrival = arrivals_->expect(questions, here);
    auto begin = [&](pqxx::work& transaction) -> Result<AskedPieces> {
        return ask_for(transaction, range, questions, wait);
    };
    std::shared_ptr<const void> turn = co_await turns.take();
    const Result<AskedPieces> asked = co_await database_->run(std::move(begin));
    turn.reset();
    if (!asked) co_return asked.error();
    const Result<void> waited = co_await wait_for(questions, *arrival, wait, turns);
    if (!waited) co_return waited.error();
    // A refusal is a value here: as an error it would undo the removal.
    std::optional<Result<std::string>> taken;
    auto finish = [&](pqxx::work& transaction) -> Result<void> {
        taken = take_pieces(transaction, *asked, range, wait);
        return {};
    };
    turn = co_await turns.take();
    const Result<void> finished = co_await database_->run(std::move(finish));
    if (!finished) co_return finished.error();
    co_return std::move(*taken);
}

std::vector<link::KeptFileQuery> select_open_pieces(pqxx::transaction_base& transaction, const CenterId& center)
{
    std::vector<link::KeptFileQuery> queries;
    for (const pqxx::row& row : exec(transaction, kSelectOpenPieces, center.value))
        queries.push_back({.query_id = {row["id"].as<std::string>()},
                           .sha256 = row["sha256"].as<std::string>(),
                           .offset_bytes = row["offset_bytes"].as<std::int64_t>(),
                           .most_bytes = row["most_bytes"].as<std::int64_t>()});
    return queries;
}

void store_piece(pqxx::transaction_base& transaction, const CenterId& center, const link::KeptFilePiece& piece)
{
    const std::string& question = piece.query_id.value;
    const pqxx::result stored =
        piece.refusal ? exec(transaction, kStorePieceRefusal, question, center.value,
                             std::string(to_string(piece.refusal->code)), piece.refusal->detail)
                      : exec(transaction, kStorePiece, question, center.value, pqxx::binarystring(piece.data));
    if (stored.affected_rows() > 0) notify(transaction, "kept_piece", question);
}

} // namespace fathom::server
