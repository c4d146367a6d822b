#include "server/centers/sessions/session_questions.hpp"

#include "core/base/log.hpp"
#include "server/centers/center_questions.hpp"

namespace fathom::server {

asio::awaitable<void> SessionQuestions::offer(CenterId center, std::function<void(const link::Message&)> send)
{
    auto work = [&](pqxx::work& transaction) -> Result<std::vector<link::UnitTypesQuery>> {
        return select_open_questions(transaction, center);
    };
    const Result<std::vector<link::UnitTypesQuery>> open =
        co_await database_->run(std::move(work), DatabaseLine::kVital);
    if (!open) {
        // Whoever asked reads of it as an answer that did not come.
        log_warning("center_questions_failed", {{"center_id", center.value}, {"error", describe(open.error())}});
        co_return;
    }
    for (const link::UnitTypesQuery& query : *open) {
        if (!asked_.insert(query.query_id).second) continue;
        const link::Message message = link::make_message(query);
        sent_.emplace(message.id, query.query_id);
        send(message);
    }
}

asio::awaitable<Result<void>> SessionQuestions::answered(SessionGrant session, link::UnitTypesAnswer answer)
{
    asked_.erase(answer.query_id);
    std::erase_if(sent_, [&](const auto& entry) { return entry.second == answer.query_id; });
    auto work = [&](pqxx::work& transaction) -> Result<void> {
        if (!holds_session(transaction, session)) return Error{Errc::kUnavailable, "the session is superseded"};
        store_answer(transaction, session.center_id, answer);
        return {};
    };
    co_return co_await database_->run(std::move(work), DatabaseLine::kVital);
}

asio::awaitable<Result<void>> SessionQuestions::refused(CenterId center, MessageId message)
{
    const auto sent = sent_.find(message);
    if (sent == sent_.end()) co_return Result<void>();
    const MessageId question = sent->second;
    sent_.erase(sent);
    auto work = [&](pqxx::work& transaction) -> Result<void> {
        store_refusal(transaction, center, question, "its agent does not know this question: it needs a newer one");
        return {};
    };
    co_return co_await database_->run(std::move(work), DatabaseLine::kVital);
}

} // namespace fathom::server
