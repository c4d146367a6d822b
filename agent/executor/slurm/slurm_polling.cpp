#include "agent/executor/slurm/slurm_executor.hpp"
#include "core/base/file.hpp"
#include "core/base/log.hpp"

#include <algorithm>

// What the executor's thread does: submits, ends and asks for jobs.
namespace fathom::agent {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr auto kMinPoll = 500ms;
constexpr auto kMaxPoll = 30s;
/// Of the time between two polls, what one may take: a busy slurmctld is asked more seldom.
constexpr int kPollShare = 20;
/// Before anything is submitted again where Slurm takes no more jobs. What was refused itself waits twice as long each
/// time: others may be taken.
constexpr std::chrono::milliseconds kRefusedPause = 15s;
constexpr std::chrono::milliseconds kMaxRefusedPause = 2min;
/// So long at a time is submitted; then ends and cancellations are looked at, too.
constexpr auto kMaxSubmitting = 1s;
constexpr auto kUnreachedPause = 5s;
constexpr int kMaxLeftoverTries = 100;

} // namespace

void SlurmExecutor::work(const std::stop_token& stopped)
{
    std::unique_lock lock(mutex_);
    while (!stopped.stop_requested()) {
        wake_.wait_until(lock, stopped, std::max(next_wake(), steady_clock::now() + 50ms),
                         [&] { return std::exchange(has_news_, false); });
        if (stopped.stop_requested()) return;
        const bool is_poll_due = steady_clock::now() >= next_poll_;
        lock.unlock();
        if (is_poll_due) poll();
        renewals_.look(SystemClock().now());
        settle_ends();
        lock.lock();
        // What was submitted before the agent's last start is to be seen before anything is submitted again.
        if (!has_polled_) continue;
        lock.unlock();
        submit_due();
        cancel_asked();
        cancel_leftovers();
        look_at_next_queue();
        lock.lock();
    }
}

std::vector<AttemptId> SlurmExecutor::find_due()
{
    std::vector<AttemptId> due;
    const std::scoped_lock lock(mutex_);
    const auto now = steady_clock::now();
    for (auto& [id, attempt] : attempts_) {
        if (!attempt.job.empty() || attempt.view.phase != RunPhase::kQueued) continue;
        if (attempt.submit_after > now) continue;
        if (attempt.asked != EndAsked::kNo)
            end_unsubmitted(id, attempt, AttemptOutcome::kCancelled, "");
        else if (submit_after_ <= now)
            due.push_back(id);
    }
    return due;
}

void SlurmExecutor::submit_due()
{
    const std::vector<AttemptId> due = find_due();
    const auto began = steady_clock::now();
    for (auto id = due.begin(); id != due.end(); ++id) {
        const std::string obstacle = submit(*id);
        if (obstacle.empty() && steady_clock::now() - began < kMaxSubmitting) continue;
        const std::scoped_lock lock(mutex_);
        has_news_ = has_news_ || obstacle.empty(); // the rest at once, after a look at what else there is
        while (!obstacle.empty() && ++id != due.end()) {
            const auto found = attempts_.find(*id);
            if (found != attempts_.end()) set_waiting(*id, found->second, obstacle, std::nullopt);
        }
        return;
    }
}

std::string SlurmExecutor::submit(const AttemptId& id)
{
    std::optional<JobUser> user;
    {
        const std::scoped_lock lock(mutex_);
        const auto found = attempts_.find(id);
        if (found == attempts_.end()) return {};
        user = found->second.user;
    }
    const Result<std::string> job = orders_->submit(folder_of(id).script(), user);
    // Before anything else: a crash from here on finds the job by this, one before by its name.
    if (job) static_cast<void>(write_file(folder_of(id).job_id(), *job));
    const std::scoped_lock lock(mutex_);
    const auto found = attempts_.find(id);
    if (found == attempts_.end()) return {};
    Attempt& attempt = found->second;
    if (job) {
        attempt.job = *job;
        if (std::exchange(has_refused_, false)) { // it takes jobs again
            for (auto& [other, waiting] : attempts_)
                waiting.submit_after = std::min(waiting.submit_after, steady_clock::now());
        }
        next_poll_ = std::min(next_poll_, steady_clock::now() + kMinPoll);
        poll_interval_ = kMinPoll;
        set_waiting(id, attempt, "submitted", std::nullopt);
        return {};
    }
    if (job.error().code == Errc::kInvalid) {
        end_unsubmitted(id, attempt, AttemptOutcome::kFailedToStart, "Slurm refuses it: " + job.error().detail);
        return {};
    }
    const bool is_refused = job.error().code == Errc::kTooMany;
    submit_after_ = steady_clock::now() + (is_refused ? kRefusedPause : kUnreachedPause);
    if (is_refused) {
        has_refused_ = true;
        attempt.refused_pause = std::clamp(2 * attempt.refused_pause, kRefusedPause, kMaxRefusedPause);
        attempt.submit_after = steady_clock::now() + attempt.refused_pause;
    } else {
        has_polled_ = false; // Slurm may have it: look before it is submitted again
    }
    std::string obstacle = (is_refused ? "Slurm refuses it: " : "Slurm does not answer: ") + job.error().detail;
    set_waiting(id, attempt, obstacle, std::nullopt);
    return obstacle;
}

void SlurmExecutor::cancel_asked()
{
    std::map<unsigned, Jobs> jobs_by_user;
    std::map<unsigned, std::vector<AttemptId>> attempts_by_user;
    {
        const std::scoped_lock lock(mutex_);
        const auto now = steady_clock::now();
        for (auto& [id, attempt] : attempts_) {
            if (attempt.asked == EndAsked::kNo || attempt.cancel_sent || attempt.job.empty() ||
                attempt.view.phase == RunPhase::kEnded || attempt.cancel_after > now)
                continue;
            attempt.cancel_sent = true;
            Jobs& jobs = jobs_by_user[owner_of(attempt)];
            jobs.user = attempt.user;
            jobs.numbers.push_back(attempt.job);
            attempts_by_user[owner_of(attempt)].push_back(id);
        }
        if (!jobs_by_user.empty()) next_poll_ = std::min(next_poll_, steady_clock::now() + kMinPoll);
    }
    for (const auto& [uid, jobs] : jobs_by_user) {
        const Result<void> done = orders_->cancel(jobs.numbers, jobs.user);
        if (done) continue;
        log_warning("slurm_cancel_failed", {{"reason", done.error().detail},
                                            {"jobs", static_cast<std::int64_t>(jobs.numbers.size())},
                                            {"effect", "it is asked again"}});
        cancel_again(attempts_by_user[uid]);
    }
}

/// Attempts that end meanwhile need it no more, or have their jobs among leftovers_.
void SlurmExecutor::cancel_again(const std::vector<AttemptId>& failed)
{
    const std::scoped_lock lock(mutex_);
    for (const AttemptId& id : failed) {
        const auto found = attempts_.find(id);
        if (found == attempts_.end()) continue;
        found->second.cancel_sent = false;
        found->second.cancel_after = steady_clock::now() + options_.cancel_pause;
    }
}

/// Where the agent ends meanwhile, Slurm keeps them until it finds by itself that nothing runs there.
void SlurmExecutor::cancel_leftovers()
{
    if (steady_clock::now() < next_leftovers_) return;
    std::map<unsigned, Jobs> leftovers;
    {
        const std::scoped_lock lock(mutex_);
        leftovers.swap(leftovers_);
    }
    for (auto& [uid, jobs] : leftovers) {
        const Result<void> done = orders_->cancel(jobs.numbers, jobs.user);
        if (done) continue;
        const bool is_last = ++jobs.tries >= kMaxLeftoverTries;
        log_warning("slurm_cancel_failed", {{"reason", done.error().detail},
                                            {"jobs", static_cast<std::int64_t>(jobs.numbers.size())},
                                            {"effect", is_last ? "they are left to Slurm" : "it is asked again"}});
        next_leftovers_ = steady_clock::now() + options_.cancel_pause;
        if (is_last) continue;
        const std::scoped_lock lock(mutex_);
        Jobs& again = leftovers_[uid];
        again.user = jobs.user;
        again.tries = jobs.tries;
        again.numbers.insert(again.numbers.end(), jobs.numbers.begin(), jobs.numbers.end());
    }
}

/// One at a time: what is to be submitted does not wait for all.
void SlurmExecutor::look_at_next_queue()
{
    const auto began = steady_clock::now();
    const std::optional<QueuePlace> next = [&] {
        const std::scoped_lock lock(mutex_);
        return queue_looks_.due(began);
    }();
    if (!next) return;
    const Result<std::optional<Timestamp>> start = client_.expected_start(next->place, next->wall_limit_s);
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(steady_clock::now() - began);

    const std::scoped_lock lock(mutex_);
    queue_looks_.looked(steady_clock::now(), took);
    queues_.push_back({next->unit_type, start ? *start : std::nullopt});
    moved_.wake();
}

std::set<unsigned> SlurmExecutor::live_users() const
{
    std::set<unsigned> users;
    for (const auto& [id, attempt] : attempts_) {
        if (attempt.view.phase != RunPhase::kEnded) users.insert(owner_of(attempt));
    }
    return users;
}

void SlurmExecutor::poll()
{
    std::set<unsigned> users;
    {
        const std::scoped_lock lock(mutex_);
        users = live_users();
        if (users.empty()) {
            next_poll_ = steady_clock::now() + kMinPoll;
            has_polled_ = true;
            return;
        }
    }
    const auto began = steady_clock::now();
    const Result<std::vector<SlurmJob>> jobs = orders_->queue(users);
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(steady_clock::now() - began);

    const std::scoped_lock lock(mutex_);
    note_reached(jobs);
    poll_interval_ = std::clamp<std::chrono::milliseconds>(std::max(took * kPollShare, poll_interval_ * 5 / 4),
                                                           kMinPoll, took > 1s ? kMaxPoll : 2s);
    if (jobs) apply_all(*jobs, users);
    next_poll_ = steady_clock::now() + poll_interval_;
}

void SlurmExecutor::note_reached(const Result<std::vector<SlurmJob>>& jobs)
{
    if (std::exchange(is_reached_, jobs.has_value()) != jobs.has_value()) {
        if (jobs)
            log_info("slurm_answers");
        else
            log_warning("slurm_unreachable", {{"reason", jobs.error().detail},
                                              {"effect", "jobs go on; none is submitted, and no end is told"}});
    }
}

void SlurmExecutor::apply_all(const std::vector<SlurmJob>& jobs, const std::set<unsigned>& users)
{
    // Of users whose attempts were found meanwhile nothing was heard.
    has_polled_ = std::none_of(attempts_.begin(), attempts_.end(), [&](const auto& entry) {
        return entry.second.is_adopted && entry.second.view.phase != RunPhase::kEnded &&
               !users.contains(owner_of(entry.second));
    });
    ShownJobs shown;
    for (const SlurmJob& job : jobs) {
        shown.emplace(job.id, job.name);
        apply(job);
    }
    note_missing(shown, users);
    if (!moved_.is_empty()) poll_interval_ = kMinPoll; // where something happens, more may
}

/// What the attempt knows of the end and its job in Slurm does not tell.
AttemptEnd SlurmExecutor::with_facts(AttemptEnd end, const Attempt& attempt)
{
    if (end.outcome == AttemptOutcome::kFailedToStart && !attempt.never_reason.empty())
        end.detail += ": " + attempt.never_reason;
    if (end.outcome == AttemptOutcome::kOutOfMemory && attempt.memory_bytes > 0)
        end.detail += "; its units have " + std::to_string(attempt.memory_bytes) + " bytes";
    return end;
}

void SlurmExecutor::note_job(const AttemptId& id, Attempt& attempt, const std::string& number) const
{
    attempt.job = number;
    static_cast<void>(write_file(folder_of(id).job_id(), number));
}

bool SlurmExecutor::settle_job(const AttemptId& id, Attempt& attempt, const SlurmJob& job, SlurmPhase phase) const
{
    // Where the answer to a submission got lost there may be two jobs, of which the script lets the first run.
    const bool is_one_of_two = attempt.job != job.id || phase == SlurmPhase::kEnded;
    const std::string first = is_one_of_two ? first_job_of(id, attempt) : std::string();
    if (!first.empty() && first != attempt.job) {
        log_info("slurm_job_was_doubled", {{"attempt_id", id.value}, {"slurm_job", first}, {"other", attempt.job}});
        note_job(id, attempt, first);
    }
    return attempt.job == job.id;
}

void SlurmExecutor::cancel_leftover(const std::string& number, unsigned uid, const std::optional<JobUser>& user)
{
    Jobs& jobs = leftovers_[uid];
    jobs.user = user;
    jobs.numbers.push_back(number);
}

void SlurmExecutor::apply_to_ended(const SlurmJob& job, EndedJob& ended)
{
    if (!EndedJobs::is_left(ended, job, steady_clock::now(), options_.max_unknown_end)) return;
    log_info(
        "slurm_job_left_after_its_end",
        {{"attempt_id", ended.attempt.value}, {"slurm_job", job.id}, {"state", job.state}, {"effect", "cancelled"}});
    cancel_leftover(job.id, ended.uid, ended.user);
}

bool SlurmExecutor::end_by_notes(const AttemptId& id, Attempt& attempt, const ScriptNotes& notes)
{
    std::optional<AttemptEnd> end = end_of_notes(notes, attempt.asked, attempt.ran_until);
    if (!end) return false;
    log_info("slurm_job_ended_by_its_script", {{"attempt_id", id.value},
                                               {"slurm_job", attempt.job},
                                               {"reason", "Slurm does not know that it has ended; it is cancelled"}});
    cancel_leftover(attempt.job, owner_of(attempt), attempt.user);
    set_end(id, attempt, std::move(*end));
    return true;
}

void SlurmExecutor::apply_wait(const AttemptId& id, Attempt& attempt, const SlurmJob& job)
{
    // A controller that was killed may come back without knowing that it started the job.
    if ((attempt.started_at || attempt.is_adopted) && end_by_notes(id, attempt, notes_of(id, attempt))) return;
    set_waiting(id, attempt, job.reason.empty() ? job.state : job.reason, job.start);
    if (attempt.asked == EndAsked::kNo && never_starts(job.reason)) {
        attempt.never_reason = job.reason;
        stop(id, attempt, EndAsked::kNeverStarts);
    }
}

void SlurmExecutor::apply_run(const AttemptId& id, Attempt& attempt, const SlurmJob& job)
{
    const ScriptNotes notes = notes_of(id, attempt);
    if (!notes.started_at) return; // not yet the program
    if (attempt.view.phase != RunPhase::kAlive) {
        attempt.view = {.phase = RunPhase::kAlive, .started_at = start_of(job, notes)};
        if (!attempt.started_at) attempt.started_at = attempt.view.started_at;
        log_info("slurm_job_runs", {{"attempt_id", id.value}, {"slurm_job", job.id}, {"nodes", job.nodes}});
        moved_.add(id);
    }
    if (!notes.ended_at) {
        attempt.ran_until = clock_.now();
        attempt.end_noted_at.reset();
    } else if (job.state == "RUNNING") {
        if (!attempt.end_noted_at) attempt.end_noted_at = steady_clock::now();
        if (steady_clock::now() - *attempt.end_noted_at >= options_.max_unknown_end && end_by_notes(id, attempt, notes))
            return;
    }
    // Slurm's limits are of whole minutes. Its own count leaves out what the job was suspended, and needs no clock
    // here that agrees with the node's; ours leaves out what came before the program.
    const std::chrono::seconds limit(attempt.wall_limit_s);
    const bool is_over = clock_.now() - *attempt.view.started_at > limit &&
                         std::chrono::seconds(job.used_s.value_or(attempt.wall_limit_s)) >= limit;
    if (attempt.asked == EndAsked::kNo && is_over) stop(id, attempt, EndAsked::kWallLimit);
}

void SlurmExecutor::apply(const SlurmJob& job)
{
    if (EndedJob* const ended = ended_jobs_.find(job)) return apply_to_ended(job, *ended);
    const std::optional<AttemptId> id = AttemptId::parse(job.name);
    const auto found = id ? attempts_.find(*id) : attempts_.end();
    // Names can be given by anybody.
    if (found == attempts_.end() || job.uid != owner_of(found->second)) return;
    Attempt& attempt = found->second;
    if (attempt.job.empty()) { // the agent was killed, or sbatch did not get the answer
        note_job(*id, attempt, job.id);
        log_info("slurm_job_found_again", {{"attempt_id", id->value}, {"slurm_job", job.id}});
    }
    if (attempt.view.phase == RunPhase::kEnded || attempt.seen_end) return;
    const SlurmPhase phase = phase_of(job.state);
    if (!settle_job(*id, attempt, job, phase)) return;
    attempt.polls_without = 0;
    switch (phase) {
    case SlurmPhase::kWaits:
        apply_wait(*id, attempt, job);
        return;
    case SlurmPhase::kRuns:
        apply_run(*id, attempt, job);
        return;
    case SlurmPhase::kEnded:
        see_end(*id, attempt, with_facts(end_of(job, notes_of(*id, attempt), attempt.asked, clock_.now()), attempt));
    }
}

} // namespace fathom::agent
