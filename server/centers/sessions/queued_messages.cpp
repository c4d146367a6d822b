#include "server/centers/sessions/agent_session.hpp"

#include <algorithm>
#include <utility>

// What a session does with messages that are carried out beside the reading: how each queue of them is worked off, and
// what goes into the one of what an agent says of its units while an end that was said before waits for its output.
namespace fathom::server {
namespace {

/// Agents say of their units what has changed, each kind of message once until it is answered: this is for all kinds,
/// with room for what a busy balance loop asks for.
constexpr std::size_t kMaxQueued = 128;
constexpr std::size_t kMaxQueuedBytes = std::size_t{2} << 20U;

/// What is said of the units that attempts have ended on comes after their ends: a change of the catalog, or sub-units
/// that were given up, would take units away under attempts that are still counted on them. An answer to an order of
/// resources comes after the catalog that it brought about.
bool is_about_units(const link::Body& body)
{
    return std::holds_alternative<link::CatalogChanged>(body) || std::holds_alternative<link::SubUnitState>(body) ||
           std::holds_alternative<link::SubUnitRequest>(body) || std::holds_alternative<ResourceState>(body);
}

} // namespace

bool AgentSession::must_queue(const link::Body& body) const
{
    // Queues of a batch system, GPUs that are shared and answers to questions name unit types, which a change of the
    // catalog before them may have brought: they stay behind it.
    return !queued_.messages.empty() || (is_about_units(body) && !reports_.empty());
}

asio::awaitable<void> AgentSession::add_queued(ReadMessage read)
{
    // Decoded it takes about as much again.
    const std::size_t bytes = 2 * read.text.size();
    while (!ended_ && !queued_.messages.empty() &&
           (queued_.messages.size() >= kMaxQueued || queued_.bytes + bytes > kMaxQueuedBytes))
        co_await until_cancelled(queued_.went);
    queued_.add({std::move(read), ++read_count_, bytes});
}

bool AgentSession::units_wait_for_report(const QueuedMessage& message)
{
    const auto is_before = [&](const ReadReport& report) { return report.number < message.number; };
    if (is_about_units(message.read.body)) return std::any_of(reports_.begin(), reports_.end(), is_before);
    // As when nothing is queued: of what may be carried out now.
    const std::vector<std::list<ReadReport>::iterator> next = next_reports();
    return std::any_of(next.begin(), next.end(), [&](const auto& report) { return is_before(*report); });
}

std::optional<std::uint64_t> AgentSession::first_catalog_change() const
{
    const auto first = std::find_if(queued_.messages.begin(), queued_.messages.end(), [](const QueuedMessage& message) {
        return std::holds_alternative<link::CatalogChanged>(message.read.body);
    });
    if (first == queued_.messages.end()) return std::nullopt;
    return first->number;
}

asio::awaitable<void> AgentSession::take_queued()
{
    co_await take_messages(queued_, &AgentSession::units_wait_for_report);
}

void AgentSession::MessageQueue::add(QueuedMessage message)
{
    bytes += message.bytes;
    messages.push_back(std::move(message));
    came.cancel();
}

void AgentSession::MessageQueue::remove_first()
{
    bytes -= messages.front().bytes;
    messages.pop_front();
    went.cancel();
}

asio::awaitable<void> AgentSession::take_messages(MessageQueue& queue,
                                                  bool (AgentSession::*waits)(const QueuedMessage&))
{
    while (!ended_) {
        if (queue.messages.empty() || (this->*waits)(queue.messages.front())) {
            co_await until_cancelled(queue.came);
            continue;
        }
        // Its place, and what kind it is, stay until it is carried out: an end waits for the output before it, and what
        // is read meanwhile of the units goes behind what is queued of them.
        QueuedMessage& first = queue.messages.front();
        ReadMessage read{first.read.id, std::move(first.read.body), first.read.attempt, std::move(first.read.text)};
        const bool goes_on = co_await carry_out(std::move(read));
        if (!goes_on) co_return;
        queue.remove_first();
        reports_came_.cancel(); // it may have been the output, or the change of the catalog, that some waited for
    }
}

} // namespace fathom::server
