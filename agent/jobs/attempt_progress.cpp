#include "agent/jobs/attempt_book.hpp"
#include "agent/jobs/device_supplies.hpp"
#include "core/base/json_reader.hpp"
#include "core/base/utf8_prefix.hpp"

#include <utility>

// How an attempt goes on, step by step, from its order to the report of its end.
namespace fathom::agent {
namespace {

constexpr std::chrono::seconds kStartTimeout{5};   ///< for a supervisor to show itself
constexpr std::chrono::seconds kCancelInterval{2}; ///< between repeated requests to end
constexpr int kMaxStarts = 3;
constexpr std::chrono::minutes kNewStart{1}; ///< an expected start is new when it has moved so far

/// A probe's result is read from its output when its end is told. Of others the end comes first: their units are free.
bool needs_output_first(const AttemptOrder& order)
{
    return order.label == "probe";
}

/// As fathom-profile reads it: the list of manifests, or with it what the job is known to execute, and what is known of
/// this machine.
std::string match_library_for(const AttemptOrder& order, const std::string& manifests, const std::string& machine)
{
    const bool names_operators = !manifests.empty() && !order.known_operators.empty();
    if (!names_operators && machine.empty()) return manifests;
    std::string library;
    const auto add = [&library](const char* name, const std::string& json) {
        library += (library.empty() ? "{\"" : ",\"") + std::string(name) + "\":" + json;
    };
    if (!manifests.empty()) add("items", manifests);
    if (names_operators) add("known_operators", Json(order.known_operators).dump());
    if (!machine.empty()) add("machine", machine);
    return library + "}";
}

} // namespace

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
    if (view.queue) note_queue(entry, *view.queue);
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
    facts.started_lately = entry.start_asked && now - *entry.start_asked < kStartTimeout;
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
    entry.stored.devices = allocation->devices;
    entry.stored.units = allocation->units;
    entry.stored.unit_type = allocation->unit_type;
    store(spool_.save(entry.stored));
    must_commit_ = true; // before the start: a crash in between must find its units held
    looks_.push_back({now + kLookInterval, order.attempt_id});
    to_start_.push_back(order.attempt_id);
}

RunOrder AttemptBook::run_order(const Entry& entry) const
{
    const AttemptOrder& order = entry.stored.order;
    RunOrder run{order, entry.stored.cpus, static_cast<std::int64_t>(entry.stored.cpus.size()), 0,
                 options_.environment};
    if (options_.gpu_proof) run.environment["FATHOM_GPU_PROOF"] = options_.gpu_proof(order.job_id.value);
    run.order.unit_type = entry.stored.unit_type;
    run.order.unit_count = static_cast<std::int64_t>(entry.stored.units.size());
    if (executor_.places()) run.cpus.clear(); // they only stood for units
    pass_fetch_site(run, options_.fetch_url, options_.fetch_ca_pem);
    pass_trusted_keys(run, options_.operator_trust);
    if (order.profile) run.library = match_library_for(order, options_.library, options_.machine);
    if (const UnitType* type = units_.find(entry.stored.unit_type)) {
        run.cores = type->report.cores_per_unit * run.order.unit_count;
        run.memory_bytes = type->report.memory_bytes_per_unit * run.order.unit_count;
        run.place = type->place;
        pass_resource_type(run, type->report.resource_type);
        pass_devices(run, units_.plan(), *type, entry.stored.units);
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
    if (!units_.still_gives(entry.stored.unit_type, entry.stored.units, entry.stored.devices)) {
        end_unstarted(entry, AttemptOutcome::kFailedToStart, "the center has cut its devices otherwise meanwhile");
        return;
    }
    ++entry.starts;
    entry.start_asked = now;
    has_profiled_ = has_profiled_ || order.profile;
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

void AttemptBook::note_queue(Entry& entry, const QueueState& queue)
{
    const auto has_moved = [&](const QueueState& before) {
        if (before.expected_start.has_value() != queue.expected_start.has_value()) return true;
        return queue.expected_start && (*queue.expected_start > *before.expected_start + kNewStart ||
                                        *before.expected_start > *queue.expected_start + kNewStart);
    };
    if (entry.queue && entry.queue->reason == queue.reason && !has_moved(*entry.queue)) return;
    entry.queue = queue;
    queue_news_.insert(entry.stored.order.attempt_id);
}

link::QueueReport AttemptBook::queue_news()
{
    link::QueueReport news{.attempts = {}, .unit_types = type_queues_.news()};
    while (!queue_news_.empty() && news.attempts.size() < link::kMaxQueuedAttempts) {
        const AttemptId id = queue_news_.extract(queue_news_.begin()).value();
        const Entry* entry = find(id);
        if (entry == nullptr || entry->stored.stage != Stage::kStarting || !entry->queue) continue;
        news.attempts.push_back(
            {id, std::string(utf8_prefix(entry->queue->reason, link::kMaxQueueReason)), entry->queue->expected_start});
    }
    return news;
}

void AttemptBook::tell_queues_again()
{
    type_queues_.tell_again();
    for (const Entry& entry : entries_) {
        if (entry.queue && entry.stored.stage == Stage::kStarting) queue_news_.insert(entry.stored.order.attempt_id);
    }
}

void AttemptBook::report_started(Entry& entry, Timestamp started_at)
{
    entry.queue.reset();
    StoredAttempt& stored = entry.stored;
    stored.stage = Stage::kRunning;
    const std::array messages{link::make_message(started_message(stored, started_at, units_))};
    store(spool_.save(stored, messages));
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
        messages.push_back(link::make_message(started_message(stored, *end.started_at, units_)));
    if (end.outcome == AttemptOutcome::kCancelled && end.detail.empty()) end.detail = stored.cancel_reason.value_or("");
    stored.stage = needs_output_first(stored.order) ? Stage::kEnded : Stage::kReported;
    stored.end = std::move(end);
    if (stored.stage == Stage::kReported) messages.push_back(link::make_message(link::AttemptEnded{*stored.end}));
    store(spool_.save(stored, messages));
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
    store(spool_.save(entry.stored, messages));
    must_commit_ = true;
}

} // namespace fathom::agent
