// What a session tells its agent, when woken: orders for attempts, questions, and which bytes of files are wanted. What
// else it tells is in server/centers/sessions/agent_resources.cpp.
#include "core/base/log.hpp"
#include "server/centers/sessions/agent_session.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <functional>
#include <string>
#include <utility>

namespace fathom::server {

asio::awaitable<void> AgentSession::send_orders()
{
    while (!ended_) {
        wake_pending_ = false;
        offer_authorities();
        offer_library(); // before the jobs that are matched with it
        const bool are_offered = co_await offer_orders();
        co_await offer_questions();
        co_await offer_file_queries();
        co_await offer_targets();
        co_await offer_resources();
        if (wake_pending_ || ended_) continue;
        if (!are_offered || target_pending_ || resources_pending_)
            wake_timer_.expires_after(options_.order_tick);
        else
            wake_timer_.expires_at(asio::steady_timer::time_point::max());
        co_await wake_timer_.async_wait(asio::as_tuple(asio::use_awaitable));
    }
}

asio::awaitable<bool> AgentSession::offer_orders()
{
    Result<AttemptGateway::PendingOrders> orders =
        co_await parts_.gateway->pending_orders(reporter(), orders_.starting(), orders_.room_for_starts());
    if (!orders) {
        log_warning("agent_orders_failed", {{"center", grant_.center_name}, {"error", describe(orders.error())}});
        co_return false;
    }
    if (ended_) co_return true;
    has_more_starts_ = orders->has_more;
    for (link::Body& order : orders->bodies)
        offer(std::move(order));
    co_return true;
}

asio::awaitable<void> AgentSession::offer_questions()
{
    // Only when woken for it: orders are looked for often, and must not pay for what is rare.
    if (!question_pending_ || ended_) co_return;
    question_pending_ = false;
    std::function<void(const link::Message&)> send = [this](const link::Message& message) {
        if (!ended_ && !socket_->send(link::encode(message))) end("the agent reads too slowly");
    };
    co_await questions_.offer(grant_.center_id, std::move(send));
}

asio::awaitable<void> AgentSession::offer_file_queries()
{
    if (!piece_pending_ || ended_) co_return;
    piece_pending_ = false;
    std::function<void(const link::Message&)> send = [this](const link::Message& message) {
        if (!ended_ && !socket_->send(link::encode(message))) end("the agent reads too slowly");
    };
    co_await files_.offer(grant_.center_id, std::move(send));
}

void AgentSession::offer_start(link::StartAttempt start)
{
    const AttemptId attempt = start.order.attempt_id;
    if (!orders_.begin_start(attempt)) return;
    const link::Message message = link::make_message(std::move(start));
    std::string text = link::encode(message);
    orders_.add_start(message.id, attempt, text.size());
    log_order("attempt_ordered", attempt);
    if (!socket_->send(std::move(text))) end("the agent reads too slowly");
}

/// Sends an order unless it is on its way in this connection already.
void AgentSession::offer(link::Body order)
{
    if (auto* start = std::get_if<link::StartAttempt>(&order)) return offer_start(std::move(*start));
    const auto* const cancel = std::get_if<link::CancelAttempt>(&order);
    if (cancel != nullptr && !orders_.add_cancel(cancel->attempt_id)) return;
    if (cancel != nullptr) log_order("attempt_cancel_ordered", cancel->attempt_id);
    const auto* const recall = std::get_if<link::RecallAttempt>(&order);
    if (recall != nullptr && !orders_.add_recall(recall->attempt_id)) return;
    if (recall != nullptr) log_order("attempt_recalled", recall->attempt_id);
    send(std::move(order));
}

void AgentSession::log_order(std::string_view event, const AttemptId& attempt) const
{
    log_info(event, {{"center", grant_.center_name}, {"attempt_id", attempt.value}});
}

} // namespace fathom::server
