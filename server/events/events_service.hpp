#pragma once

#include "core/net/http.hpp"
#include "core/net/task_group.hpp"
#include "server/api/token_line.hpp"
#include "server/events/event_ring.hpp"
#include "server/events/settled_numbers.hpp"
#include "server/events/wake_signal.hpp"
#include "server/store/database.hpp"
#include "server/store/notifier.hpp"
#include "server/store/page.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace fathom::server {

struct EventFilter;
struct JobEventRecord;
struct JobReader;

/// The live stream of job events. One coroutine reads new rows for all listeners of this replica, in order of
/// id, and only while somebody listens. Thread-safe.
///
/// Ids are given before their transactions commit, so a lower id can appear after a higher one: the reader
/// waits at a missing number until a higher one has been there for a second, so that listeners see ids ascend and can
/// resume at the last one they saw. One second serves for all that are missing then.
class EventsService {
  public:
    EventsService(Database& database, const asio::any_io_executor& executor, Metrics& metrics);

    /// Before Notifier::start().
    void subscribe(Notifier& notifier);
    void start(net::TaskGroup& group);

    /// Writes events to one listener until it is gone, too slow, or the server stops.
    /// @param resume_after  Last-Event-ID: what came after it is sent first.
    /// @param turns  of the listener, one for each look at what it missed.
    asio::awaitable<void> stream(EventFilter filter, std::optional<std::int64_t> resume_after,
                                 std::shared_ptr<net::BodyWriter> writer, TokenTurns turns);

    /// Records in the audit log that the reader begins to read events of jobs that it sees by its role alone: of the
    /// filter's job, else of everybody's ("jobs"), as job.read_events, once an hour. Before stream().
    asio::awaitable<Result<void>> note_reader(EventFilter filter, JobReader reader);

    /// One job's events, oldest first; recorded as by note_reader(). @error kNotFound  no such job, or another owner's.
    asio::awaitable<Result<Page<JobEventRecord>>> list(EventFilter filter, std::int64_t size, std::int64_t after,
                                                       JobReader reader);

  private:
    /// A part of what a listener missed.
    struct Missed {
        std::string text;       ///< the frames of its events
        std::int64_t reached{}; ///< nothing of it up to here is left
    };

    asio::awaitable<void> read_events();
    /// @return how long to wait before reading again.
    asio::awaitable<std::chrono::milliseconds> read_once();
    asio::awaitable<std::optional<std::int64_t>> first_place(std::shared_ptr<net::BodyWriter> writer);
    /// Of the events after `place` and up to `floor` the first part, as much as one short statement finds.
    asio::awaitable<Result<Missed>> read_missed(EventFilter filter, std::int64_t place, std::int64_t floor);

    Database* database_;
    Metrics* metrics_;
    WakeSignal wake_;
    EventRing ring_;
    std::atomic<std::int64_t> listeners_{0};
    SettledNumbers settled_; ///< runs on: the wake signal's strand
};

} // namespace fathom::server
