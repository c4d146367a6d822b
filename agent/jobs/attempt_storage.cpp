#include "agent/executor/require.hpp"
#include "agent/jobs/attempt_book.hpp"
#include "core/base/log.hpp"

#include <utility>

// How what the book knows comes to the spool, and what waits until it is there.
namespace fathom::agent {
namespace {

constexpr std::chrono::seconds kCommitInterval{1}; ///< of what may be repeated: acknowledgements, output progress
constexpr std::chrono::seconds kRetryInterval{1};  ///< where the spool could not be written

} // namespace

/// What is done together since the last time is on disk, or nothing may follow from it yet.
Result<void> AttemptBook::commit()
{
    const bool writes = spool_.has_changes();
    Result<void> stored = spool_.commit();
    if (!stored) {
        note_failure(stored.error());
        return stored;
    }
    must_commit_ = false;
    accepted_.clear(); // they stay, even if those that come with them are refused
    if (writes && std::exchange(has_failed_, false)) log_info("spool_written_again");
    return stored;
}

/// A change that could not be made waits in the spool, with all that were not on disk yet. A file that is damaged never
/// takes them: the next start finds out what is true of each attempt.
void AttemptBook::note_failure(const Error& error)
{
    if (error.code == Errc::kInternal) require(Result<void>(error), "spool_failed");
    if (std::exchange(has_failed_, true)) return;
    log_error("spool_failed", {{"reason", describe(error)},
                               {"effect", "jobs go on; no order is taken and no end told until it can be written"}});
}

void AttemptBook::store(const Result<void>& change)
{
    if (!change) note_failure(change.error());
}

/// Whether the spool holds all that was changed. Nothing goes on before it does.
bool AttemptBook::catch_up(SteadyTime now)
{
    if (spool_.is_behind()) {
        if (now < next_try_) return false;
        next_try_ = now + kRetryInterval;
        if (!commit()) return false;
        start_stored(now);
    }
    for (const MessageId& id : std::exchange(late_acks_, {}))
        acknowledged(id);
    for (const AttemptId& id : std::exchange(late_forgets_, {}))
        forget(id);
    return true;
}

/// What may be repeated after a crash waits for something that may not, or for its time.
Result<void> AttemptBook::commit_now_and_then(SteadyTime now)
{
    const bool is_due = must_commit_ || (spool_.has_changes() && now - last_commit_ >= kCommitInterval);
    if (is_due) {
        if (Result<void> stored = commit(); !stored) return stored;
    }
    if (!spool_.has_changes()) last_commit_ = now;
    return {};
}

/// Those that have units on disk, too.
void AttemptBook::start_stored(SteadyTime now)
{
    for (const AttemptId& id : std::exchange(to_start_, {})) {
        if (Entry* entry = find(id)) start(*entry, now);
    }
}

/// What follows from changes that are stored now.
void AttemptBook::carry_out(SteadyTime now)
{
    if (!commit_now_and_then(now)) return;
    start_stored(now);
    if (must_commit_ && !commit()) return; // some could not be started
    if (spool_.has_changes()) return;
    for (const AttemptId& id : std::exchange(over_, {}))
        folders_.add(id);
}

Result<void> AttemptBook::accept(const AttemptOrder& order)
{
    if (must_commit_ || spool_.is_behind()) {
        if (const Result<void> stored = commit(); !stored) {
            undo_accepted();
            return stored.error();
        }
    }
    const Result<bool> is_new = spool_.accept(order);
    if (!is_new) {
        undo_accepted();
        note_failure(is_new.error());
        return is_new.error();
    }
    if (!*is_new) return {};
    StoredAttempt attempt;
    attempt.order = order;
    add(std::move(attempt));
    accepted_.push_back(order.attempt_id);
    log_attempt("attempt_accepted", order);
    return {};
}

Result<void> AttemptBook::store_orders(SteadyTime now)
{
    if (accepted_.empty()) return {};
    // Only the new ones: what else waits is no matter of this write.
    for (const AttemptId& id : accepted_) {
        Entry* entry = find(id);
        if (entry != nullptr && waiting_.size() == accepted_.size() && !entry->stored.cancel_reason)
            give_units(*entry, now);
    }
    if (const Result<void> stored = commit(); !stored) {
        undo_accepted();
        return stored.error();
    }
    return {};
}

/// As if they had never come; what else was changed since the last commit waits for the next.
void AttemptBook::undo_accepted()
{
    spool_.drop_gathered(accepted_);
    must_commit_ = spool_.has_changes();
    for (const AttemptId& id : std::exchange(accepted_, {})) {
        units_.release(id);
        outputs_.remove(id);
        waiting_.remove(id);
        std::erase(to_start_, id);
        const auto found = by_id_.find(id);
        if (found == by_id_.end()) continue;
        entries_.erase(found->second);
        by_id_.erase(found);
    }
}

} // namespace fathom::agent
