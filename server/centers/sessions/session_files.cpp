#include "server/centers/sessions/session_files.hpp"

#include "core/base/log_limit.hpp"
#include "server/centers/kept_files.hpp"

#include <algorithm>

namespace fathom::server {

asio::awaitable<void> SessionFiles::offer(CenterId center, std::function<void(const link::Message&)> send)
{
    taken_.clear();
    auto work = [&](pqxx::work& transaction) -> Result<std::vector<link::KeptFileQuery>> {
        return select_open_pieces(transaction, center);
    };
    const Result<std::vector<link::KeptFileQuery>> open =
        co_await database_->run(std::move(work), DatabaseLine::kVital);
    if (!open) {
        log_limited("kept_file_queries_failed", {{"center_id", center.value}, {"error", describe(open.error())}});
        co_return;
    }
    // Those that nobody waits for any more make room.
    std::erase_if(asked_, [&](const MessageId& id) {
        return std::none_of(open->begin(), open->end(), [&](const auto& query) { return query.query_id == id; });
    });
    has_more_ = false;
    for (const link::KeptFileQuery& query : *open) {
        if (asked_.contains(query.query_id) || taken_.contains(query.query_id)) continue;
        has_more_ = asked_.size() >= kMaxOnTheirWay;
        if (has_more_) break;
        asked_.insert(query.query_id);
        send(link::make_message(query));
    }
}

asio::awaitable<void> SessionFiles::take(SessionGrant session, link::KeptFilePiece piece)
{
    // Whatever nobody asked for is not written anywhere.
    if (!asked_.contains(piece.query_id)) co_return;
    if (piece.refusal && contains_nul(piece.refusal->detail)) piece.refusal->detail = "its agent gives no reason";
    auto work = [&](pqxx::work& transaction) -> Result<void> {
        if (holds_session(transaction, session)) store_piece(transaction, session.center_id, piece);
        return {};
    };
    const Result<void> kept = co_await database_->run(std::move(work));
    asked_.erase(piece.query_id); // only now: until then it looks as if it had not come
    taken_.insert(piece.query_id);
    if (!kept)
        log_limited("kept_file_piece_failed",
                    {{"center_id", session.center_id.value}, {"error", describe(kept.error())}});
}

} // namespace fathom::server
