#include "core/base/log.hpp"
#include "server/centers/agent_session.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>

// What a session does with what its agent reports of how far attempts are.
namespace fathom::server {
namespace {

/// What is read ahead.
constexpr std::size_t kMaxReports = 256;
constexpr std::size_t kMaxReportBytes = std::size_t{4} << 20U;
/// What one transaction carries out: more would make the first of them wait.
constexpr std::size_t kBatch = 64;

/// Until somebody cancels the wait.
asio::awaitable<void> wait(asio::steady_timer& timer)
{
    timer.expires_at(std::chrono::steady_clock::time_point::max());
    co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
}

} // namespace

asio::awaitable<void> AgentSession::handle_ack(link::Ack ack)
{
    if (questions_.is_question(ack.of)) {
        const Result<void> noted = co_await questions_.refused(grant_.center_id, ack.of);
        if (!noted) log_refusal(noted.error(), "");
        co_return;
    }
    if (ack.of == told_by_) {
        co_await note_trust(std::move(ack));
        co_return;
    }
    const auto start = starts_.find(ack.of);
    if (start == starts_.end()) co_return; // of a cancellation, or of an earlier connection
    const AttemptId attempt = start->second.attempt;
    ReadReport report{StartAcknowledged{attempt, std::move(ack.error)}, attempt, ack.of, std::string()};
    co_await add_report(std::move(report));
}

asio::awaitable<void> AgentSession::add_report(ReadReport report)
{
    co_await until_reports_are(kMaxReports - 1, kMaxReportBytes);
    report_bytes_ += report.text.size();
    reports_.push_back(std::move(report));
    reports_came_.cancel();
}

asio::awaitable<void> AgentSession::until_reports_are(std::size_t most_count, std::size_t most_bytes)
{
    while (!ended_ && (reports_.size() > most_count || report_bytes_ > most_bytes))
        co_await wait(reports_went_);
}

asio::awaitable<void> AgentSession::take_reports()
{
    while (!ended_) {
        if (reports_.empty()) {
            co_await wait(reports_came_);
            continue;
        }
        std::vector<AttemptReport> batch;
        for (ReadReport& read : reports_) {
            if (batch.size() == kBatch) break;
            batch.push_back(std::move(read.report));
        }
        const std::vector<Result<void>> taken = co_await parts_.gateway->take_reports(reporter(), std::move(batch));
        for (const Result<void>& one : taken) {
            const ReadReport report = std::move(reports_.front());
            reports_.pop_front();
            report_bytes_ -= report.text.size();
            const bool goes_on = co_await answer_report(report, one);
            if (!goes_on) co_return;
        }
        reports_went_.cancel();
    }
}

asio::awaitable<bool> AgentSession::answer_report(const ReadReport& report, const Result<void>& taken)
{
    // What was moved out of it keeps its kind.
    const bool is_ack = std::holds_alternative<StartAcknowledged>(report.report);
    if (!taken && is_transient(taken.error().code)) {
        // An internal error comes again with the same message, and everything behind it would never be heard.
        const bool may_put_away = taken.error().code == Errc::kInternal && !is_ack;
        const bool is_put_away = may_put_away && co_await put_away(report.text, report.attempt.value, taken.error());
        if (!is_put_away) {
            log_refusal(taken.error(), report.attempt.value);
            end("not available now");
            co_return false;
        }
    }
    if (std::holds_alternative<link::AttemptEnded>(report.report)) cancelled_.erase(report.attempt);
    if (is_ack) {
        if (!taken) log_refusal(taken.error(), report.attempt.value);
        forget_start(report.id, report.attempt);
        co_return true;
    }
    if (!taken) co_return refuse(report.id, taken.error(), report.attempt.value);
    acknowledge(report.id, std::nullopt);
    co_return true;
}

/// Only after it was noted: until the row says so, pending_orders() would name the attempt again.
void AgentSession::forget_start(const MessageId& order, const AttemptId& attempt)
{
    starting_.erase(attempt);
    // Once, whatever else was read meanwhile.
    const auto start = starts_.find(order);
    if (start != starts_.end()) {
        starting_bytes_ -= start->second.bytes;
        starts_.erase(start);
    }
    if (has_more_starts_ && room_for_starts() > 0) wake();
}

} // namespace fathom::server
