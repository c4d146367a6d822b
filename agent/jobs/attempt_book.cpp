#include "agent/jobs/attempt_book.hpp"

#include "core/base/file.hpp"
#include "core/base/log.hpp"

#include <cstdlib>
#include <utility>

namespace fathom::agent {
namespace {

constexpr std::chrono::seconds kStartPatience{5};  ///< for a supervisor to show itself
constexpr std::chrono::seconds kCancelInterval{2}; ///< between repeated requests to end
constexpr std::chrono::seconds kSaveInterval{1};   ///< of output progress: repeats are harmless
constexpr std::chrono::seconds kCommitInterval{1}; ///< of what else may be repeated: acknowledgements
constexpr int kMaxStarts = 3;
constexpr std::size_t kMaxOutputMessages = 16; ///< sent in one go
constexpr std::chrono::hours kRememberForgotten{7 * 24};
constexpr std::chrono::hours kPurgeInterval{1};
constexpr std::chrono::seconds kLookInterval{1}; ///< at an attempt of which nothing was heard
constexpr std::size_t kLooksPerSecond = 500;     ///< at all together: 10 000 attempts must not cost a processor

/// Without the spool no promise can be kept, so nothing more may be done or said.
template <class T>
T require(Result<T> result)
{
    if (!result) {
        log_error("spool_failed", {{"reason", describe(result.error())}, {"effect", "the agent stops; jobs go on"}});
        std::_Exit(70);
    }
    if constexpr (!std::is_void_v<T>) return std::move(*result);
}

/// Another one after each start of the host; empty where it cannot be told.
std::string boot_id()
{
    const Result<std::string> text = read_file("/proc/sys/kernel/random/boot_id", 100);
    return text ? *text : std::string();
}

/// A probe's result is read from its output when its end is told. Of others the end comes first: their units are free.
bool needs_output_first(const AttemptOrder& order)
{
    return order.label == "probe";
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

Result<void> AttemptBook::load()
{
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
            units_.hold(attempt.order.attempt_id, attempt.cpus);
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
        entry->end_is_known = require(spool_.message_count(id)) == 0;
        if (entry->end_is_known) due_.insert(id);
    } else {
        looks_.push_front({SteadyTime{}, id});
    }
}

/// What is done together since the last time is on disk.
void AttemptBook::commit()
{
    must_commit_ = false;
    require(spool_.commit());
}

/// What may be repeated after a crash waits for something that may not, or for its time.
void AttemptBook::commit_now_and_then(SteadyTime now)
{
    if (must_commit_ || (spool_.has_changes() && now - last_commit_ >= kCommitInterval)) commit();
    if (!spool_.has_changes()) last_commit_ = now;
}

/// What follows from changes that are stored now.
void AttemptBook::carry_out(SteadyTime now)
{
    commit_now_and_then(now);
    for (const AttemptId& id : std::exchange(to_start_, {})) {
        if (Entry* entry = find(id)) start(*entry, now);
    }
    if (must_commit_) commit(); // some could not be started
    if (spool_.has_changes()) return;
    for (const AttemptId& id : std::exchange(over_, {}))
        folders_.add(id);
}

/// Folders that outlived their entry: kept on purpose, or left by a crash between two deletions. What still runs
/// there holds its processors.
void AttemptBook::find_strays()
{
    for (const AttemptId& id : executor_.known()) {
        if (find(id) != nullptr) continue;
        if (executor_.look(id).phase != RunPhase::kAlive) {
            folders_.add(id);
            continue;
        }
        log_warning("stray_attempt_runs",
                    {{"attempt_id", id.value}, {"effect", "its processors go to nobody until it ends"}});
        strays_.insert(id);
        units_.hold(id, executor_.given_cpus(id));
        executor_.watch(id);
        looks_.push_back({SteadyTime{}, id});
    }
}

void AttemptBook::look_at_stray(const AttemptId& id)
{
    if (executor_.look(id).phase == RunPhase::kAlive) return;
    log_info("stray_attempt_ended", {{"attempt_id", id.value}});
    executor_.unwatch(id);
    units_.release(id);
    units_changed_ = true;
    strays_.erase(id);
    folders_.add(id);
}

Result<void> AttemptBook::accept(const AttemptOrder& order)
{
    if (must_commit_) commit(); // a failure here undoes what is not stored
    const Result<bool> is_new = spool_.accept(order);
    if (!is_new) {
        undo_accepted();
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
    if (const Result<void> stored = spool_.commit(); !stored) {
        undo_accepted();
        return stored.error();
    }
    must_commit_ = false;
    accepted_.clear();
    return {};
}

/// Nothing but these orders was changed since the last commit.
void AttemptBook::undo_accepted()
{
    must_commit_ = false;
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

void AttemptBook::cancel(const AttemptId& id, const std::string& reason)
{
    Entry* entry = find(id);
    if (entry == nullptr || entry->stored.stage >= Stage::kEnded || entry->stored.cancel_reason) return;
    log_attempt("attempt_cancel_requested", entry->stored.order, reason);
    entry->stored.cancel_reason = reason;
    require(spool_.save(entry->stored));
    commit();
    due_.insert(id);
    if (entry->stored.stage != Stage::kAccepted) executor_.cancel(id);
}

void AttemptBook::forget(const AttemptId& id)
{
    Entry* entry = find(id);
    if (entry == nullptr) return;
    if (entry->stored.stage < Stage::kEnded) {
        cancel(id, "the metascheduler says that it has ended");
        return;
    }
    entry->end_is_known = true;
    drop_if_done(*entry);
}

void AttemptBook::advance(SteadyTime now)
{
    take_changes();
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
        require(spool_.purge(clock_.now() - kRememberForgotten));
    }
}

void AttemptBook::take_changes()
{
    ExecutorChanges changes = executor_.changes();
    for (const AttemptId& id : changes.written)
        outputs_.note_written(id);
    due_.merge(changes.moved);
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

/// As far as it goes now.
void AttemptBook::advance_one(Entry& entry, SteadyTime now)
{
    for (Stage before = entry.stored.stage;; before = entry.stored.stage) {
        if (before == Stage::kReported) return drop_if_done(entry);
        take_step(entry, now);
        const bool is_to_start = before == Stage::kAccepted && entry.stored.stage == Stage::kStarting;
        if (entry.stored.stage == before || is_to_start) return;
    }
}

void AttemptBook::take_step(Entry& entry, SteadyTime now)
{
    const Stage stage = entry.stored.stage;
    const RunView view = stage == Stage::kStarting || stage == Stage::kRunning
                             ? executor_.look(entry.stored.order.attempt_id)
                             : RunView{};
    switch (next_step(facts_of(entry, view, now))) {
    case Step::kWait:
        break;
    case Step::kGiveUnits:
        give_units(entry, now);
        break;
    case Step::kEndUnstarted:
        end_unstarted(entry, AttemptOutcome::kCancelled, *entry.stored.cancel_reason);
        break;
    case Step::kStart:
        start(entry, now);
        break;
    case Step::kReportStarted:
        report_started(entry, *view.started_at);
        break;
    case Step::kCancel:
        ask_to_end(entry, now);
        break;
    case Step::kRecordEnd:
        record_end(entry, *view.end);
        break;
    case Step::kRecordLost:
        record_lost(entry, view);
        break;
    case Step::kReportEnded:
        report_ended(entry);
        break;
    }
}

AttemptFacts AttemptBook::facts_of(const Entry& entry, const RunView& view, SteadyTime now)
{
    AttemptFacts facts;
    facts.stage = entry.stored.stage;
    facts.phase = view.phase;
    facts.runs = view.started_at.has_value();
    facts.cancelled = entry.stored.cancel_reason.has_value();
    facts.is_of_earlier_boot = entry.is_of_earlier_boot;
    facts.started_lately = entry.start_asked && now - *entry.start_asked < kStartPatience;
    facts.output_done = facts.stage == Stage::kEnded && outputs_.is_done(entry.stored.order.attempt_id);
    return facts;
}

void AttemptBook::give_units(Entry& entry, SteadyTime now)
{
    const AttemptOrder& order = entry.stored.order;
    if (full_types_.contains(order.unit_type)) return;
    const Result<Allocation> allocation = units_.allocate(order);
    if (!allocation && allocation.error().code == Errc::kTooMany) {
        full_types_.insert(order.unit_type);
        return;
    }
    if (!allocation) {
        end_unstarted(entry, AttemptOutcome::kFailedToStart, allocation.error().detail);
        return;
    }
    entry.stored.stage = Stage::kStarting;
    entry.stored.cpus = allocation->cpus;
    entry.stored.units = allocation->units;
    entry.stored.unit_type = allocation->unit_type;
    require(spool_.save(entry.stored));
    must_commit_ = true; // before the start: a crash in between must find its units held
    looks_.push_back({now + kLookInterval, order.attempt_id});
    to_start_.push_back(order.attempt_id);
}

RunOrder AttemptBook::run_order(const Entry& entry) const
{
    const AttemptOrder& order = entry.stored.order;
    RunOrder run{order, entry.stored.cpus, static_cast<std::int64_t>(entry.stored.cpus.size()), 0,
                 options_.environment};
    run.order.unit_type = entry.stored.unit_type;
    run.order.unit_count = static_cast<std::int64_t>(entry.stored.units.size());
    pass_fetch_site(run, options_.fetch_url, options_.fetch_ca_pem);
    pass_trusted_keys(run, options_.operator_trust);
    if (const UnitType* type = units_.find(entry.stored.unit_type)) {
        run.cores = type->report.cores_per_unit * run.order.unit_count;
        run.memory_bytes = type->report.memory_bytes_per_unit * run.order.unit_count;
        pass_resource_type(run, type->report.resource_type);
    }
    return run;
}

void AttemptBook::start(Entry& entry, SteadyTime now)
{
    const AttemptOrder& order = entry.stored.order;
    if (entry.starts >= kMaxStarts) {
        executor_.cancel(order.attempt_id); // should one of them still come to life
        end_unstarted(entry, AttemptOutcome::kFailedToStart, "no supervisor for it came up at the center");
        return;
    }
    if (const Result<void> trusted = check_uploads(order, options_.operator_trust); !trusted) {
        end_unstarted(entry, AttemptOutcome::kFailedToStart, trusted.error().detail);
        return;
    }
    ++entry.starts;
    entry.start_asked = now;
    if (const Result<void> started = executor_.start(run_order(entry)); !started)
        log_warning("attempt_start_failed",
                    {{"attempt_id", order.attempt_id.value}, {"reason", started.error().detail}});
}

void AttemptBook::ask_to_end(Entry& entry, SteadyTime now)
{
    if (entry.cancel_asked && now - *entry.cancel_asked < kCancelInterval) return;
    entry.cancel_asked = now;
    executor_.cancel(entry.stored.order.attempt_id);
}

void AttemptBook::report_started(Entry& entry, Timestamp started_at)
{
    StoredAttempt& stored = entry.stored;
    stored.stage = Stage::kRunning;
    const std::array messages{link::make_message(started_message(stored, started_at, units_.plan()))};
    require(spool_.save(stored, messages));
    must_commit_ = true;
    outputs_.note_started(stored.order.attempt_id);
    stored.order.files.clear(); // they are in its folder, and in the spool
    log_attempt("attempt_started", stored.order);
}

void AttemptBook::record_end(Entry& entry, AttemptEnd end)
{
    StoredAttempt& stored = entry.stored;
    std::vector<link::Message> messages;
    if (stored.stage == Stage::kStarting && end.started_at) // it was over before we looked
        messages.push_back(link::make_message(started_message(stored, *end.started_at, units_.plan())));
    if (end.outcome == AttemptOutcome::kCancelled && end.detail.empty()) end.detail = stored.cancel_reason.value_or("");
    stored.stage = needs_output_first(stored.order) ? Stage::kEnded : Stage::kReported;
    stored.end = std::move(end);
    if (stored.stage == Stage::kReported) messages.push_back(link::make_message(link::AttemptEnded{*stored.end}));
    require(spool_.save(stored, messages));
    must_commit_ = true;
    executor_.unwatch(stored.order.attempt_id);
    outputs_.note_started(stored.order.attempt_id); // it is told before the end
    units_.release(stored.order.attempt_id);
    units_changed_ = true;
    log_attempt("attempt_ended", stored.order, to_string(stored.end->outcome));
}

void AttemptBook::record_lost(Entry& entry, const RunView& view)
{
    executor_.end_leftovers(entry.stored.order.attempt_id);
    AttemptEnd end;
    end.attempt_id = entry.stored.order.attempt_id;
    end.outcome = AttemptOutcome::kLost;
    end.detail = "its supervisor at the center vanished: the host was restarted, or the process was killed";
    end.started_at = view.started_at;
    end.ended_at = clock_.now();
    record_end(entry, std::move(end));
}

void AttemptBook::end_unstarted(Entry& entry, AttemptOutcome outcome, const std::string& detail)
{
    AttemptEnd end;
    end.attempt_id = entry.stored.order.attempt_id;
    end.outcome = outcome;
    end.detail = detail;
    end.ended_at = clock_.now();
    record_end(entry, std::move(end));
}

void AttemptBook::report_ended(Entry& entry)
{
    entry.stored.stage = Stage::kReported;
    const std::array messages{link::make_message(link::AttemptEnded{*entry.stored.end})};
    require(spool_.save(entry.stored, messages));
    must_commit_ = true;
}

std::vector<link::Message> AttemptBook::next_output()
{
    return outputs_.next(kMaxOutputMessages);
}

void AttemptBook::acknowledged(const MessageId& id)
{
    if (const std::optional<AttemptId> attempt = outputs_.acknowledged(id)) {
        due_.insert(*attempt); // an end may wait for it
        return;
    }
    const std::optional<AttemptId> attempt = require(spool_.attempt_of(id));
    require(spool_.acknowledge(id));
    Entry* entry = attempt ? find(*attempt) : nullptr;
    if (entry == nullptr || entry->stored.stage != Stage::kReported || require(spool_.message_count(*attempt)) > 0)
        return;
    entry->end_is_known = true;
    drop_if_done(*entry);
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
    require(spool_.forget(id, clock_.now()));
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
        require(spool_.save_output_acked(acked.attempt, acked.stdout_bytes, acked.stderr_bytes));
    }
}

void AttemptBook::replace_offer(UnitPlan plan, std::map<std::string, std::string> environment,
                                OperatorTrust operator_trust)
{
    options_.operator_trust = std::move(operator_trust);
    units_.replace_plan(std::move(plan));
    units_changed_ = true;
    options_.environment = std::move(environment);
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
