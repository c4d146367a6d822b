#include "agent/jobs/attempt_book.hpp"

#include "agent/catalog/host_id.hpp"
#include "core/base/log.hpp"

#include <utility>

namespace fathom::agent {
namespace {

constexpr std::chrono::seconds kSaveInterval{1}; ///< of output progress: repeats are harmless
constexpr std::size_t kMaxOutputMessages = 16;   ///< sent in one go
constexpr std::chrono::hours kRememberForgotten{7 * 24};
constexpr std::chrono::hours kPurgeInterval{1};
constexpr std::size_t kLooksPerSecond = 500; ///< at all together: 10 000 attempts must not cost a processor

/// Whether the executor has something of it that may still run.
bool is_live(const RunView& view)
{
    return view.phase == RunPhase::kAlive || view.phase == RunPhase::kQueued;
}

} // namespace

AttemptBook::AttemptBook(Spool& spool, Executor& executor, const Clock& clock, UnitPlan plan, BookOptions options)
    : spool_(spool), executor_(executor), clock_(clock), units_(std::move(plan)), options_(std::move(options)),
      outputs_(executor), folders_(executor, clock, options_.keep_finished)
{
}

void AttemptBook::log_attempt(std::string_view event, const AttemptOrder& order, std::string_view detail) const
{
    log_info(event, {{"attempt_id", order.attempt_id.value},
                     {"job_id", order.job_id.value},
                     {"center", options_.center},
                     {"label", order.label},
                     {"detail", detail}});
}

void AttemptBook::look_at_queues()
{
    std::vector<QueuePlace> places;
    std::set<std::string> names;
    for (const UnitType& type : units_.plan()) {
        if (!type.place) continue;
        QueuePlace queue{type.report.name, *type.place};
        // More than its partition allows would be refused.
        const std::int64_t max_wall_s = type.report.facts.value("max_wall_s", std::int64_t{0});
        if (max_wall_s > 0) queue.wall_limit_s = std::min(queue.wall_limit_s, max_wall_s);
        places.push_back(std::move(queue));
        names.insert(type.report.name);
    }
    type_queues_.keep_only(names);
    executor_.look_at_queues(places);
}

Result<void> AttemptBook::load()
{
    look_at_queues();
    Result<StoredAttempts> stored = spool_.attempts();
    if (!stored) return stored.error();
    for (const UnreadableAttempt& attempt : stored->unreadable)
        log_error("attempt_unreadable", {{"attempt_id", attempt.id},
                                         {"reason", describe(attempt.error)},
                                         {"effect", "the metascheduler takes it for lost"}});
    const Result<bool> is_same_boot = spool_.note_boot(boot_id());
    if (!is_same_boot) return is_same_boot.error();
    for (StoredAttempt& attempt : stored->attempts) {
        log_attempt("attempt_found_again", attempt.order);
        if (attempt.stage == Stage::kStarting || attempt.stage == Stage::kRunning) {
            units_.hold(attempt.order.attempt_id, attempt.cpus, attempt.devices);
            units_.know_job(attempt.order);
            executor_.watch(attempt.order.attempt_id);
        }
        add(std::move(attempt));
        entries_.back().is_of_earlier_boot = !*is_same_boot;
    }
    find_strays();
    spool_.gather();
    return {};
}

void AttemptBook::add(StoredAttempt attempt)
{
    const AttemptId id = attempt.order.attempt_id;
    outputs_.add(id, attempt.stdout_acked, attempt.stderr_acked);
    outputs_.note_written(id);
    const Stage stage = attempt.stage;
    if (stage < Stage::kRunning) outputs_.wait_for_start(id);
    const auto entry = entries_.insert(entries_.end(), Entry{.stored = std::move(attempt)});
    by_id_.emplace(id, entry);
    if (stage == Stage::kAccepted) {
        waiting_.push_back(id);
        units_changed_ = true;
    } else if (stage == Stage::kReported) {
        entry->end_is_known = !has_messages(id);
        if (entry->end_is_known) due_.insert(id);
    } else {
        looks_.push_front({SteadyTime{}, id});
    }
}

/// Folders that outlived their entry: kept on purpose, or left by a crash between two deletions. What still runs
/// there holds its processors.
void AttemptBook::find_strays()
{
    for (const AttemptId& id : executor_.known()) {
        if (find(id) != nullptr) continue;
        if (!is_live(executor_.look(id))) {
            folders_.add(id);
            continue;
        }
        log_warning("stray_attempt_runs",
                    {{"attempt_id", id.value}, {"effect", "its processors go to nobody until it ends"}});
        strays_.insert(id);
        units_.hold_unknown_devices(id, executor_.given_cpus(id));
        executor_.watch(id);
        looks_.push_back({SteadyTime{}, id});
    }
}

void AttemptBook::look_at_stray(const AttemptId& id)
{
    if (is_live(executor_.look(id))) return;
    log_info("stray_attempt_ended", {{"attempt_id", id.value}});
    executor_.unwatch(id);
    units_.release(id);
    units_changed_ = true;
    strays_.erase(id);
    folders_.add(id);
}

Result<void> AttemptBook::cancel(const AttemptId& id, const std::string& reason)
{
    if (spool_.is_behind()) { // with the reason of an earlier try, perhaps
        if (Result<void> stored = commit(); !stored) return stored;
    }
    Entry* entry = find(id);
    if (entry == nullptr || entry->stored.stage >= Stage::kEnded || entry->stored.cancel_reason) return {};
    log_attempt("attempt_cancel_requested", entry->stored.order, reason);
    entry->stored.cancel_reason = reason;
    store(spool_.save(entry->stored));
    due_.insert(id);
    if (Result<void> stored = commit(); !stored) return stored;
    if (entry->stored.stage != Stage::kAccepted) executor_.cancel(id);
    return {};
}

Result<void> AttemptBook::give_back(const AttemptId& id, const std::string& reason)
{
    const Entry* entry = find(id);
    if (entry == nullptr || entry->stored.stage != Stage::kAccepted) return {};
    return cancel(id, reason);
}

void AttemptBook::forget(const AttemptId& id)
{
    if (spool_.is_behind()) {
        late_forgets_.push_back(id);
        return;
    }
    Entry* entry = find(id);
    if (entry == nullptr) return;
    if (entry->stored.stage < Stage::kEnded) {
        // Where that cannot be stored, it is done as soon as it can.
        static_cast<void>(cancel(id, "the metascheduler says that it has ended"));
        return;
    }
    entry->end_is_known = true;
    drop_if_done(*entry);
}

void AttemptBook::advance(SteadyTime now)
{
    take_changes();
    if (!catch_up(now)) return; // what has changed is looked at then
    look_around(now);
    advance_due(now);
    advance_waiting(now);
    carry_out(now);
    executor_.prepare();
    if (now - last_save_ >= kSaveInterval) {
        last_save_ = now;
        save_output_progress();
        folders_.remove_old();
    }
    if (now - last_purge_ >= kPurgeInterval) {
        last_purge_ = now;
        store(spool_.purge(clock_.now() - kRememberForgotten));
    }
}

void AttemptBook::take_changes()
{
    ExecutorChanges changes = executor_.changes();
    for (const AttemptId& id : changes.written)
        outputs_.note_written(id);
    due_.merge(changes.moved);
    for (const TypeQueue& queue : changes.queues)
        type_queues_.note(queue, clock_.now());
    if (!changes.some_missed) return;
    for (Look& look : looks_)
        look.due = SteadyTime{};
}

void AttemptBook::look_around(SteadyTime now)
{
    const auto interval = std::max<std::chrono::seconds>(
        kLookInterval, std::chrono::seconds(static_cast<std::int64_t>(looks_.size() / kLooksPerSecond)));
    for (std::size_t left = looks_.size(); left > 0 && looks_.front().due <= now; --left) {
        const AttemptId id = std::move(looks_.front().attempt);
        looks_.pop_front();
        const Entry* entry = find(id);
        const bool is_live = entry != nullptr && entry->stored.stage < Stage::kReported;
        if (!is_live && !strays_.contains(id)) continue;
        due_.insert(id);
        outputs_.note_written(id);
        looks_.push_back({now + interval, id});
    }
}

void AttemptBook::advance_due(SteadyTime now)
{
    const std::set<AttemptId> due = std::exchange(due_, {});
    for (const AttemptId& id : due) {
        if (Entry* entry = find(id))
            advance_one(*entry, now);
        else if (strays_.contains(id))
            look_at_stray(id);
    }
}

/// First come, first served, for each unit type.
void AttemptBook::advance_waiting(SteadyTime now)
{
    if (!std::exchange(units_changed_, false)) return;
    full_types_.clear();
    for (auto id = waiting_.begin(); id != waiting_.end();) {
        Entry* entry = find(*id);
        if (entry != nullptr && entry->stored.stage == Stage::kAccepted) advance_one(*entry, now);
        const bool waits = entry != nullptr && entry->stored.stage == Stage::kAccepted;
        id = waits ? std::next(id) : waiting_.erase(id);
    }
}

std::vector<link::Message> AttemptBook::next_output()
{
    if (spool_.is_behind()) return {}; // the start of some is not told yet
    return outputs_.next(kMaxOutputMessages);
}

void AttemptBook::acknowledged(const MessageId& id)
{
    if (const std::optional<AttemptId> attempt = outputs_.acknowledged(id)) {
        due_.insert(*attempt); // an end may wait for it
        return;
    }
    if (spool_.is_behind()) { // the file shows how things were
        late_acks_.push_back(id);
        return;
    }
    const Result<std::optional<AttemptId>> attempt = spool_.attempt_of(id);
    if (!attempt) return note_failure(attempt.error()); // it is sent, and acknowledged, again
    store(spool_.acknowledge(id));
    Entry* entry = *attempt ? find(**attempt) : nullptr;
    if (entry == nullptr || entry->stored.stage != Stage::kReported || has_messages(**attempt)) return;
    entry->end_is_known = true;
    drop_if_done(*entry);
}

/// Whether some of what tells of it is not acknowledged, also where the spool cannot say.
bool AttemptBook::has_messages(const AttemptId& id)
{
    const Result<std::int64_t> count = spool_.message_count(id);
    return !count || *count > 0;
}

void AttemptBook::connection_lost()
{
    outputs_.connection_lost();
}

/// The metascheduler knows the end and has all output: nothing more is to be said.
void AttemptBook::drop_if_done(Entry& entry)
{
    if (!entry.end_is_known || !outputs_.is_done(entry.stored.order.attempt_id)) return;
    const AttemptId id = entry.stored.order.attempt_id;
    drop(id);
}

void AttemptBook::drop(const AttemptId& id)
{
    store(spool_.forget(id, clock_.now()));
    over_.push_back(id);
    outputs_.remove(id);
    const auto found = by_id_.find(id);
    entries_.erase(found->second);
    by_id_.erase(found);
}

void AttemptBook::save_output_progress()
{
    for (const AttemptOutputs::Acked& acked : outputs_.take_progress()) {
        if (Entry* entry = find(acked.attempt)) {
            entry->stored.stdout_acked = acked.stdout_bytes;
            entry->stored.stderr_acked = acked.stderr_bytes;
        }
        store(spool_.save_output_acked(acked.attempt, acked.stdout_bytes, acked.stderr_bytes));
    }
}

void AttemptBook::replace_offer(UnitPlan plan, std::map<std::string, std::string> environment,
                                OperatorTrust operator_trust)
{
    options_.operator_trust = std::move(operator_trust);
    units_.replace_plan(std::move(plan));
    look_at_queues();
    units_changed_ = true;
    options_.environment = std::move(environment);
}

void AttemptBook::limit_units(std::map<std::string, std::int64_t> limits)
{
    units_.limit_units(std::move(limits));
    units_changed_ = true;
}

std::vector<link::InventoryItem> AttemptBook::inventory() const
{
    std::vector<link::InventoryItem> items;
    for (const Entry& entry : entries_) {
        items.push_back({entry.stored.order.attempt_id, entry.stored.stage >= Stage::kEnded ? "ended" : "running"});
    }
    return items;
}

std::int64_t AttemptBook::running_count() const
{
    return std::count_if(entries_.begin(), entries_.end(), [](const Entry& entry) {
        return entry.stored.stage == Stage::kStarting || entry.stored.stage == Stage::kRunning;
    });
}

AttemptBook::Entry* AttemptBook::find(const AttemptId& id)
{
    const auto found = by_id_.find(id);
    return found == by_id_.end() ? nullptr : &*found->second;
}

} // namespace fathom::agent
