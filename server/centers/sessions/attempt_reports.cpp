#include "core/base/log.hpp"
#include "server/centers/sessions/agent_session.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <utility>

// What a session does with what its agent reports of how far attempts are.
namespace fathom::server {
namespace {

/// What is read ahead: more than the 256 that an agent sends without being answered, and acknowledgements beside them.
constexpr std::size_t kMaxReports = 512;
constexpr std::size_t kMaxReportBytes = std::size_t{4} << 20U;
/// What waits for the database in its usual line: as much as an agent sends without being answered (AttemptOutputs),
/// as it is kept here, decoded and as text.
constexpr std::size_t kMaxWaiting = 512;
constexpr std::size_t kMaxWaitingBytes = std::size_t{16} << 20U;
/// What one transaction carries out: more would make the first of them wait.
constexpr std::size_t kBatch = 64;

/// Whether it comes after the changes of the catalog that were said before it: of a start, a unit type that is not
/// known yet would be passed over; of a job that failed to start it is asked where else it may run. Other ends look up
/// what their unit type costs and what its jobs teach, by a snapshot that follows changes only some time after them:
/// they would gain nothing by waiting, and would wait for another attempt's output.
bool needs_unit_types(const AttemptReport& report)
{
    if (const auto* started = std::get_if<link::AttemptStarted>(&report))
        return !started->unit_type.empty() || !started->able_unit_types.empty();
    const auto* const ended = std::get_if<link::AttemptEnded>(&report);
    return ended != nullptr && ended->end.outcome == AttemptOutcome::kFailedToStart;
}

} // namespace

asio::awaitable<void> AgentSession::until_cancelled(asio::steady_timer& timer)
{
    timer.expires_at(std::chrono::steady_clock::time_point::max());
    co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
}

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
    const AttemptId* const start = orders_.find_start(ack.of);
    if (start == nullptr) co_return; // of a cancellation, or of an earlier connection
    const AttemptId attempt = *start;
    ReadReport report{StartAcknowledged{attempt, std::move(ack.error)}, attempt, ack.of, std::string(), ++read_count_};
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
        co_await until_cancelled(reports_went_);
}

bool AgentSession::waits_for_output(const ReadReport& report) const
{
    if (!std::holds_alternative<link::AttemptEnded>(report.report)) return false;
    return std::any_of(outputs_.messages.begin(), outputs_.messages.end(), [&](const QueuedMessage& message) {
        return message.number < report.number && message.read.attempt == report.attempt.value;
    });
}

std::vector<std::list<AgentSession::ReadReport>::iterator> AgentSession::next_reports()
{
    const std::optional<std::uint64_t> change = first_catalog_change();
    const auto waits_for_catalog = [&](const ReadReport& report) {
        return change && *change < report.number && needs_unit_types(report.report);
    };
    std::vector<std::list<ReadReport>::iterator> next;
    std::set<AttemptId> held;
    for (auto report = reports_.begin(); report != reports_.end() && next.size() < kBatch; ++report) {
        if (held.contains(report->attempt) || waits_for_output(*report) || waits_for_catalog(*report))
            held.insert(report->attempt);
        else
            next.push_back(report);
    }
    return next;
}

asio::awaitable<void> AgentSession::until_reports_wait_for_output()
{
    while (!ended_ && !next_reports().empty())
        co_await until_cancelled(reports_went_);
}

asio::awaitable<void> AgentSession::take_reports()
{
    while (!ended_) {
        const std::vector<std::list<ReadReport>::iterator> next = next_reports();
        if (next.empty()) {
            co_await until_cancelled(reports_came_);
            continue;
        }
        std::vector<AttemptReport> batch;
        batch.reserve(next.size());
        for (const auto& read : next)
            batch.push_back(std::move(read->report));
        const std::vector<Result<void>> taken = co_await parts_.gateway->take_reports(reporter(), std::move(batch));
        for (std::size_t i = 0; i < next.size(); ++i) {
            const ReadReport report = std::move(*next[i]);
            reports_.erase(next[i]);
            report_bytes_ -= report.text.size();
            const bool goes_on = co_await answer_report(report, taken[i]);
            if (!goes_on) co_return;
        }
        reports_went_.cancel();
        outputs_.came.cancel();
        queued_.came.cancel();
    }
}

asio::awaitable<void> AgentSession::add_waiting(ReadMessage read)
{
    constexpr std::size_t kOfOtherParts = 256;
    const auto* const output = std::get_if<link::AttemptOutput>(&read.body);
    const std::size_t decoded = output == nullptr ? read.text.size() : output->data.size();
    const std::size_t bytes = read.text.size() + decoded + kOfOtherParts;
    std::shared_ptr<const void> room = co_await wait_for_room(bytes);
    outputs_.add({std::move(read), ++read_count_, bytes, std::move(room)});
}

asio::awaitable<std::shared_ptr<const void>> AgentSession::wait_for_room(std::size_t bytes)
{
    while (!ended_ && !outputs_.messages.empty()) {
        if (outputs_.messages.size() < kMaxWaiting && outputs_.bytes + bytes <= kMaxWaitingBytes) {
            std::shared_ptr<const void> room = parts_.output_room->take(bytes);
            if (room) co_return room;
        }
        co_await until_cancelled(outputs_.went);
    }
    co_return nullptr;
}

bool AgentSession::output_waits_for_report(const QueuedMessage& message)
{
    return std::any_of(reports_.begin(), reports_.end(), [&](const ReadReport& report) {
        return report.number < message.number && report.attempt.value == message.read.attempt;
    });
}

asio::awaitable<void> AgentSession::take_output()
{
    co_await take_messages(outputs_, &AgentSession::output_waits_for_report);
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
    if (std::holds_alternative<link::AttemptEnded>(report.report)) orders_.note_end(report.attempt);
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
    orders_.forget_start(order, attempt);
    if (has_more_starts_ && orders_.room_for_starts() > 0) wake();
}

} // namespace fathom::server
