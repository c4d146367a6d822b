#pragma once

#include "cli/client/session.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::cli {

/// One event of a `text/event-stream`.
struct ServerEvent {
    std::string id;
    std::string type = "message";
    std::string data;
};

/// Cuts a `text/event-stream` that arrives in pieces into events. Comments are skipped.
/// Source: WHATWG HTML, "Server-sent events".
class EventParser {
  public:
    /// Hands over each event that is complete; false as soon as `on_event` returned false.
    bool feed(std::string_view data, const std::function<bool(const ServerEvent&)>& on_event);

  private:
    void read_line(std::string_view line);

    std::string line_;
    std::string last_id_;
    ServerEvent event_{};
    bool has_data_ = false;
    bool after_return_ = false; ///< "\r\n" is one line end
};

/// The events of one job, read by a thread of its own, so that its reader can limit how long it waits.
/// When the server cannot stream or the connection breaks, it only ceases to be live: ask otherwise.
class JobEvents {
  public:
    /// `session` is for this alone: see Session::open_another.
    JobEvents(Session session, const std::string& job_id);
    /// Does not wait for a stream on which nothing comes: the thread then ends with the process or with
    /// the next thing that the server sends.
    ~JobEvents();
    JobEvents(const JobEvents&) = delete;
    JobEvents& operator=(const JobEvents&) = delete;

    /// True while events may come. False before the server has sent anything.
    bool is_live() const;
    /// What came since the last call; waits for something to come, at most `limit`.
    std::vector<Json> take(std::chrono::milliseconds limit);

  private:
    struct State;
    std::shared_ptr<State> state_;
};

} // namespace fathom::cli
