#include "cli/client/event_stream.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace fathom::cli {

void EventParser::read_line(std::string_view line)
{
    const std::size_t colon = line.find(':');
    const std::string_view field = line.substr(0, colon);
    std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    if (field == "data") {
        if (has_data_) event_.data += '\n';
        event_.data += value;
        has_data_ = true;
    } else if (field == "event") {
        event_.type = value;
    } else if (field == "id") {
        last_id_ = value;
    }
}

bool EventParser::feed(std::string_view data, const std::function<bool(const ServerEvent&)>& on_event)
{
    for (const char c : data) {
        const bool completes_return = c == '\n' && after_return_;
        after_return_ = c == '\r';
        if (completes_return) continue;
        if (c != '\n' && c != '\r') {
            line_ += c;
            continue;
        }
        if (!line_.empty()) {
            read_line(line_);
            line_.clear();
            continue;
        }
        const bool complete = has_data_;
        ServerEvent event = std::move(event_);
        event.id = last_id_;
        event_ = {};
        has_data_ = false;
        if (complete && !on_event(event)) return false;
    }
    return true;
}

/// Shared with the thread, which may outlive its owner.
struct JobEvents::State {
    explicit State(Session own) : session(std::move(own)) {}

    Session session; ///< the thread's alone
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<Json> events;
    bool live = false;
    bool ended = false;
    bool stopped = false;
};

JobEvents::JobEvents(Session session, const std::string& job_id) : state_(std::make_shared<State>(std::move(session)))
{
    std::thread([state = state_, job_id] {
        EventParser parser;
        const auto on_event = [&](const ServerEvent& event) {
            Result<Json> json = parse_json(event.data);
            const std::lock_guard lock(state->mutex);
            if (json) state->events.push_back(std::move(*json));
            state->changed.notify_all();
            return true;
        };
        const auto on_data = [&](std::string_view data) {
            parser.feed(data, on_event);
            const std::lock_guard lock(state->mutex);
            state->live = true;
            return !state->stopped;
        };
        // Why it ended does not matter: the owner asks the server otherwise.
        (void)state->session.stream("/events", {{"job", job_id}}, {{"Accept", "text/event-stream"}}, on_data);
        const std::lock_guard lock(state->mutex);
        state->live = false;
        state->ended = true;
        state->changed.notify_all();
    }).detach();
}

JobEvents::~JobEvents()
{
    const std::lock_guard lock(state_->mutex);
    state_->stopped = true;
}

bool JobEvents::is_live() const
{
    const std::lock_guard lock(state_->mutex);
    return state_->live;
}

std::vector<Json> JobEvents::take(std::chrono::milliseconds limit)
{
    std::unique_lock lock(state_->mutex);
    const bool was_ended = state_->ended;
    state_->changed.wait_for(lock, limit, [&] { return !state_->events.empty() || (state_->ended && !was_ended); });
    return std::exchange(state_->events, {});
}

} // namespace fathom::cli
