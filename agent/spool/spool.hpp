#pragma once

#include "agent/spool/database.hpp"
#include "core/model/attempt.hpp"
#include "schema/link/messages.hpp"

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace fathom::agent {

/// How far an attempt has come at this center.
///
///     accepted -> starting -> running -> ended -> reported -> (forgotten)
///
/// accepted: its order is stored, no unit given. starting: units given, the executor was asked.
/// running: attempt_started is on its way. ended: the end waits until all output was sent (of probes only).
/// reported: attempt_ended is on its way, and perhaps output. forgotten: both are acknowledged; only the id is
/// kept for a while, so that a late repeat of the order does not start it again. Only AttemptBook moves it,
/// always forward.
enum class Stage { kAccepted, kStarting, kRunning, kEnded, kReported, kForgotten };

/// An attempt as it is stored.
struct StoredAttempt {
    AttemptOrder order;
    Stage stage = Stage::kAccepted;
    std::vector<std::int64_t> cpus;   ///< that it holds, from kStarting to kRunning
    std::vector<std::string> devices; ///< names of those that it holds, likewise
    std::vector<std::int64_t> units;  ///< their indices
    std::string unit_type;            ///< of the units; the order's own, unless the center chooses (M13d)
    std::optional<std::string> cancel_reason;
    std::optional<AttemptEnd> end; ///< from kEnded on
    std::int64_t stdout_acked{};   ///< bytes of each stream that the metascheduler has
    std::int64_t stderr_acked{};
};

/// An attempt whose row cannot be read: damaged, or from a program that knew other orders.
struct UnreadableAttempt {
    std::string id;
    Error error;
};

struct StoredAttempts {
    std::vector<StoredAttempt> attempts; ///< oldest first
    std::vector<UnreadableAttempt> unreadable;
};

/// A message that waits for its acknowledgement.
struct SpooledMessage {
    std::int64_t sequence{};
    MessageId id;
    std::string text;                               ///< as it goes on the wire
    std::optional<AttemptId> end_of = std::nullopt; ///< the attempt whose end it tells
};

/// What must survive kill -9: attempts, and messages that the metascheduler has not acknowledged.
/// Everything is on disk when a function returns, unless changes are gathered. Blocks for a few milliseconds. Not
/// thread-safe.
class Spool {
  public:
    /// @error kUnavailable  the file cannot be opened or is not ours.
    static Result<Spool> open(const std::filesystem::path& path);

    /// From now on changes are on disk when commit() returns, all since the last one together. Who looks here sees them
    /// at once. A failure of anything takes all of them off the file, where none is seen any more, but here they are
    /// kept, with those that come meanwhile: the next commit() makes them all again, in their order. Only what accept()
    /// could not take is not kept.
    void gather() { gathers_ = true; }
    /// Whether there is something to commit.
    bool has_changes() const { return is_open_ || !gathered_.empty(); }
    /// Whether a failure has taken changes off the file, which commit() is to make again.
    bool is_behind() const { return !is_open_ && !gathered_.empty(); }
    /// @error kUnavailable  they cannot be stored now.
    /// @error kInternal     nor later: the file is damaged.
    Result<void> commit();
    /// Drops what was gathered of these attempts, after a failure or before.
    void drop_gathered(const std::vector<AttemptId>& attempts);
    /// Likewise of a message that belongs to none.
    void drop_gathered(const MessageId& message) { drop_gathered_of({message.value}); }

    /// Remembers since which start of the host this is written. @return whether nothing here is of an earlier one.
    Result<bool> note_boot(const std::string& id);

    /// Stores a new attempt. @return false when it is known already, also when it was forgotten.
    /// @error  as commit(); it is not kept, and gathered changes are off the file.
    Result<bool> accept(const AttemptOrder& order);

    /// Stores the attempt's present state, and the messages that tell of it: all or nothing.
    Result<void> save(const StoredAttempt& attempt, std::span<const link::Message> messages = {});

    /// Stores how much of its output was acknowledged.
    Result<void> save_output_acked(const AttemptId& id, std::int64_t stdout_acked, std::int64_t stderr_acked);

    /// Leaves only the id, and drops its messages. Unknown ids are ignored.
    Result<void> forget(const AttemptId& id, Timestamp now);
    /// Deletes the ids of attempts that were forgotten before `before`.
    Result<void> purge(Timestamp before);

    /// All attempts that are not forgotten.
    Result<StoredAttempts> attempts();

    /// Adds a message that belongs to no attempt.
    Result<void> put(const link::Message& message);
    /// Messages after `sequence`, in order.
    Result<std::vector<SpooledMessage>> messages_after(std::int64_t sequence, std::int64_t limit);
    /// Drops an acknowledged message; ids that are not here are ignored.
    Result<void> acknowledge(const MessageId& id);
    /// The attempt of a message; empty when there is no such message, or it belongs to none.
    Result<std::optional<AttemptId>> attempt_of(const MessageId& id);
    /// A message as it goes on the wire; empty when there is no such message.
    Result<std::optional<std::string>> text_of(const MessageId& id);
    /// Messages of one attempt that are still here.
    Result<std::int64_t> message_count(const AttemptId& id);
    Result<std::int64_t> message_count();

  private:
    explicit Spool(Database database) : database_(std::move(database)) {}

    using Statements = std::function<Result<void>(Database&)>;
    /// A change that is not on disk yet.
    struct Gathered {
        std::string of; ///< the id of its attempt, or of its message; empty: of several
        Statements statements;
    };

    Result<void> change(const std::string& of, Statements statements);
    /// Opens a transaction with all that is gathered, unless it is open.
    Result<void> begin();
    void roll_back();
    void drop_gathered_of(const std::set<std::string>& ids);

    Database database_;
    bool gathers_ = false;
    bool is_open_ = false; ///< a transaction, at the database
    std::vector<Gathered> gathered_;
};

} // namespace fathom::agent
