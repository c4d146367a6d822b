#pragma once

#include "agent/jobs/output_feed.hpp"

#include <deque>
#include <map>
#include <unordered_map>

namespace fathom::agent {

/// The output of all attempts on its way to the metascheduler. Attempts that have written take turns, a piece of each
/// stream a turn, so that a noisy one holds up no other. Of all together no more travels than the metascheduler keeps
/// while it has no time for it: what comes behind is heard, such as ends and signs of life. Not thread-safe.
class AttemptOutputs {
  public:
    static constexpr std::size_t kMaxTravelling = 256; ///< pieces
    static constexpr std::size_t kMaxTravellingBytes = std::size_t{4} << 20U;
    /// With those that go before an end: where others' output fills the window, an end's still finds room.
    static constexpr std::size_t kMaxTravellingBeforeEnd = 384; ///< pieces; the other end keeps 512
    static constexpr std::size_t kMaxTravellingBytesBeforeEnd = std::size_t{6} << 20U;

    /// `executor` must outlive it.
    explicit AttemptOutputs(Executor& executor) : executor_(executor) {}

    /// From the bytes of each stream on that the metascheduler has.
    void add(const AttemptId& attempt, std::int64_t stdout_acked, std::int64_t stderr_acked);
    void remove(const AttemptId& attempt);

    /// Nothing of this attempt is sent by next() before note_started(): its start is told before its first line.
    void wait_for_start(const AttemptId& attempt);
    void note_started(const AttemptId& attempt);

    /// There may be more to send of this attempt.
    void note_written(const AttemptId& attempt);
    /// Pieces that should be sent now, `most` in all.
    std::vector<link::Message> next(std::size_t most);
    /// Pieces of one attempt that should be sent now, as many as may travel at once.
    std::vector<link::Message> next_of(const AttemptId& attempt);

    /// The attempt of an acknowledged piece; empty when the message is no piece that travels.
    std::optional<AttemptId> acknowledged(const MessageId& message);
    /// Output that travels will travel again.
    void connection_lost();

    /// Whether the metascheduler has all that there is now.
    bool is_done(const AttemptId& attempt) const;

    struct Acked {
        AttemptId attempt;
        std::int64_t stdout_bytes{};
        std::int64_t stderr_bytes{};
    };
    /// What has grown since the last call.
    std::vector<Acked> take_progress();

  private:
    struct Streams {
        OutputFeed out;
        OutputFeed err;
        bool is_queued{};
        bool has_progress{};
        bool waits_for_start{};
    };

    /// A piece that has not been acknowledged.
    struct Travelling {
        AttemptId attempt;
        std::size_t bytes{};
    };

    bool has_room(std::size_t most_pieces, std::size_t most_bytes) const;
    bool send_piece(const AttemptId& attempt, OutputFeed& feed, std::vector<link::Message>& messages);

    Executor& executor_;
    std::map<AttemptId, Streams> streams_;
    std::deque<AttemptId> turns_; ///< attempts that may have something to send
    std::unordered_map<MessageId, Travelling> travelling_;
    std::size_t travelling_bytes_ = 0;
};

} // namespace fathom::agent
