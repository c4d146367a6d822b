#include "agent/jobs/attempt_book.hpp"

#include "core/base/log.hpp"

#include <cstdlib>

namespace fathom::agent {
namespace {

constexpr std::chrono::seconds kStartPatience{5};  ///< for a supervisor to show itself
constexpr std::chrono::seconds kCancelInterval{2}; ///< between repeated requests to end
constexpr std::chrono::seconds kSaveInterval{1};   ///< of output progress: repeats are harmless
constexpr int kMaxStarts = 3;
constexpr std::size_t kMaxOutputMessages = 16; ///< sent in one go
constexpr std::chrono::hours kRememberForgotten{7 * 24};
constexpr std::chrono::hours kPurgeInterval{1};
constexpr std::chrono::minutes kRemoveAgain{10}; ///< what could not be removed
constexpr std::chrono::seconds kRemoveSoon{1};   ///< what its supervisor still deletes

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

} // namespace

AttemptBook::Entry::Entry(StoredAttempt attempt)
    : stored(std::move(attempt)), stdout_feed(stored.order.attempt_id, OutputStream::kStdout, stored.stdout_acked),
      stderr_feed(stored.order.attempt_id, OutputStream::kStderr, stored.stderr_acked)
{
}

AttemptBook::AttemptBook(Spool& spool, Executor& executor, const Clock& clock, UnitPlan plan, BookOptions options)
    : spool_(spool), executor_(executor), clock_(clock), units_(std::move(plan)), options_(std::move(options))
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
    Result<std::vector<StoredAttempt>> attempts = spool_.attempts();
    if (!attempts) return attempts.error();
    for (StoredAttempt& attempt : *attempts) {
        log_attempt("attempt_found_again", attempt.order);
        if (attempt.stage == Stage::kStarting || attempt.stage == Stage::kRunning)
            units_.hold(attempt.order.attempt_id, attempt.cpus);
        entries_.emplace_back(std::move(attempt));
    }
    look_for_strays();
    return {};
}

/// Folders that outlived their entry: kept on purpose, or left by a crash between two deletions.
void AttemptBook::look_for_strays()
{
    for (const AttemptId& id : executor_.known()) {
        if (find(id) != nullptr) continue;
        if (executor_.look(id).phase == RunPhase::kAlive)
            log_warning("stray_attempt_runs", {{"attempt_id", id.value}, {"effect", "it is left alone"}});
        else
            keep_for_now(id);
    }
}

Result<void> AttemptBook::accept(const AttemptOrder& order)
{
    const Result<bool> is_new = spool_.accept(order);
    if (!is_new) return is_new.error();
    if (!*is_new) return {};
    StoredAttempt attempt;
    attempt.order = order;
    entries_.emplace_back(std::move(attempt));
    log_attempt("attempt_accepted", order);
    return {};
}

void AttemptBook::cancel(const AttemptId& id, const std::string& reason)
{
    Entry* entry = find(id);
    if (entry == nullptr || entry->stored.stage >= Stage::kEnded || entry->stored.cancel_reason) return;
    log_attempt("attempt_cancel_requested", entry->stored.order, reason);
    entry->stored.cancel_reason = reason;
    require(spool_.save(entry->stored));
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
    drop(id);
}

void AttemptBook::advance(SteadyTime now)
{
    waiting_types_.clear();
    for (Entry& entry : entries_)
        advance_one(entry, now);
    if (now - last_save_ >= kSaveInterval) {
        last_save_ = now;
        save_output_progress();
        remove_old_folders();
    }
    if (now - last_purge_ >= kPurgeInterval) {
        last_purge_ = now;
        require(spool_.purge(clock_.now() - kRememberForgotten));
    }
}

void AttemptBook::advance_one(Entry& entry, SteadyTime now)
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
    facts.started_lately = entry.start_asked && now - *entry.start_asked < kStartPatience;
    facts.output_done =
        facts.stage == Stage::kEnded && entry.stdout_feed.is_done(executor_) && entry.stderr_feed.is_done(executor_);
    return facts;
}

void AttemptBook::give_units(Entry& entry, SteadyTime now)
{
    const AttemptOrder& order = entry.stored.order;
    if (waiting_types_.contains(order.unit_type)) return; // first come, first served
    const Result<Allocation> allocation = units_.allocate(order);
    if (!allocation && allocation.error().code == Errc::kTooMany) {
        waiting_types_.insert(order.unit_type);
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
    require(spool_.save(entry.stored)); // before the start: a crash in between must find its units held
    start(entry, now);
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
    log_attempt("attempt_started", stored.order);
}

void AttemptBook::record_end(Entry& entry, AttemptEnd end)
{
    StoredAttempt& stored = entry.stored;
    std::vector<link::Message> messages;
    if (stored.stage == Stage::kStarting && end.started_at) // it was over before we looked
        messages.push_back(link::make_message(started_message(stored, *end.started_at, units_.plan())));
    if (end.outcome == AttemptOutcome::kCancelled && end.detail.empty()) end.detail = stored.cancel_reason.value_or("");
    stored.stage = Stage::kEnded;
    stored.end = std::move(end);
    require(spool_.save(stored, messages));
    units_.release(stored.order.attempt_id);
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
}

std::vector<link::Message> AttemptBook::next_output()
{
    std::vector<link::Message> messages;
    for (Entry& entry : entries_) {
        if (entry.stored.stage != Stage::kRunning && entry.stored.stage != Stage::kEnded) continue;
        for (OutputFeed* feed : {&entry.stdout_feed, &entry.stderr_feed}) {
            while (messages.size() < kMaxOutputMessages) {
                std::optional<link::Message> message = feed->next(executor_);
                if (!message) break;
                messages.push_back(std::move(*message));
            }
        }
    }
    return messages;
}

void AttemptBook::acknowledged(const MessageId& id)
{
    for (Entry& entry : entries_) {
        if (!entry.stdout_feed.acknowledge(id) && !entry.stderr_feed.acknowledge(id)) continue;
        entry.stored.stdout_acked = entry.stdout_feed.acked_bytes();
        entry.stored.stderr_acked = entry.stderr_feed.acked_bytes();
        entry.output_unsaved = true;
        return;
    }
    const std::optional<AttemptId> attempt = require(spool_.attempt_of(id));
    require(spool_.acknowledge(id));
    Entry* entry = attempt ? find(*attempt) : nullptr;
    // Reported, and nothing more to say: the metascheduler knows the end.
    if (entry != nullptr && entry->stored.stage == Stage::kReported && require(spool_.message_count(*attempt)) == 0)
        drop(*attempt);
}

void AttemptBook::connection_lost()
{
    for (Entry& entry : entries_) {
        entry.stdout_feed.connection_lost();
        entry.stderr_feed.connection_lost();
    }
}

void AttemptBook::drop(const AttemptId& id)
{
    require(spool_.forget(id, clock_.now()));
    keep_for_now(id);
    std::erase_if(entries_, [&](const Entry& entry) { return entry.stored.order.attempt_id == id; });
}

void AttemptBook::keep_for_now(const AttemptId& id)
{
    if (options_.keep_finished.count() > 0)
        kept_folders_.emplace(clock_.now() + options_.keep_finished, id);
    else
        remove_folder(id);
}

void AttemptBook::remove_folder(const AttemptId& id)
{
    const Result<void> removed = executor_.remove(id);
    if (removed) return;
    if (removed.error().code == Errc::kConflict) {
        kept_folders_.emplace(clock_.now() + kRemoveSoon, id);
        return;
    }
    log_warning("attempt_folder_stays", {{"attempt_id", id.value},
                                         {"reason", removed.error().detail},
                                         {"effect", "it is tried again in some minutes"}});
    kept_folders_.emplace(clock_.now() + kRemoveAgain, id);
}

void AttemptBook::save_output_progress()
{
    for (Entry& entry : entries_) {
        if (!entry.output_unsaved) continue;
        entry.output_unsaved = false;
        require(spool_.save_output_acked(entry.stored.order.attempt_id, entry.stored.stdout_acked,
                                         entry.stored.stderr_acked));
    }
}

void AttemptBook::remove_old_folders()
{
    while (!kept_folders_.empty() && kept_folders_.begin()->first <= clock_.now()) {
        const AttemptId id = kept_folders_.begin()->second;
        kept_folders_.erase(kept_folders_.begin());
        remove_folder(id);
    }
}

void AttemptBook::replace_offer(UnitPlan plan, std::map<std::string, std::string> environment,
                                OperatorTrust operator_trust)
{
    options_.operator_trust = std::move(operator_trust);
    units_.replace_plan(std::move(plan));
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
    const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const Entry& candidate) { return candidate.stored.order.attempt_id == id; });
    return entry == entries_.end() ? nullptr : &*entry;
}

} // namespace fathom::agent
