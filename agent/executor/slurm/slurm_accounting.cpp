#include "agent/executor/slurm/slurm_executor.hpp"
#include "core/base/log.hpp"

#include <algorithm>

// What the executor asks Slurm's accounting (slurmdbd): how a job ended that Slurm has forgotten, and what a job used.
namespace fathom::agent {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

/// Polls without a job that has been submitted, until it counts as forgotten.
constexpr int kPollsUntilForgotten = 3;
/// Jobs of which the accounting is asked at once.
constexpr std::size_t kMaxAsked = 1000;
constexpr std::chrono::milliseconds kMinAccountsPause = 500ms;
/// Of the time between two questions, what one may take: a busy slurmdbd is asked more seldom.
constexpr int kAccountsShare = 4;
/// Where a cluster keeps no accounts: administrators may have it keep some.
constexpr auto kDisabledPause = 10min;

} // namespace

void SlurmExecutor::note_missing(const ShownJobs& shown, const std::set<unsigned>& users)
{
    for (auto& [id, attempt] : attempts_) {
        if (attempt.job.empty() || attempt.view.phase == RunPhase::kEnded || shown.contains({attempt.job, id.value}))
            continue;
        if (users.contains(owner_of(attempt))) ++attempt.polls_without;
    }
}

void SlurmExecutor::see_end(const AttemptId& id, Attempt& attempt, AttemptEnd end)
{
    const auto now = steady_clock::now();
    // Neither where there are no accounts, nor where they are too slow for that to be in time.
    const bool is_asked = now >= next_usage_ && next_accounts_ <= now + options_.max_account_wait;
    if (!end.started_at || !is_asked) return set_end(id, attempt, std::move(end));
    attempt.seen_end = std::move(end);
    attempt.account_after = {};
    attempt.account_until = now + options_.max_account_wait;
}

SlurmExecutor::SteadyTime SlurmExecutor::next_wake() const
{
    SteadyTime next = next_poll_;
    for (const auto& [id, attempt] : attempts_) {
        if (attempt.seen_end && attempt.view.phase != RunPhase::kEnded)
            next = std::min({next, attempt.account_until, next_accounts_});
    }
    return next;
}

const SlurmJob* SlurmExecutor::account_of(const AttemptId& id, const Attempt& attempt,
                                          const std::vector<SlurmJob>& accounts)
{
    // The last: a controller that was killed may have given the number twice, and have run the job again.
    const auto account = std::find_if(accounts.rbegin(), accounts.rend(), [&](const SlurmJob& job) {
        // Its number may stand in a file of the job's user.
        return job.id == attempt.job && job.name == id.value && job.uid == owner_of(attempt);
    });
    return account != accounts.rend() && phase_of(account->state) == SlurmPhase::kEnded ? &*account : nullptr;
}

void SlurmExecutor::settle_seen(const AttemptId& id, Attempt& attempt, const Result<std::vector<SlurmJob>>& accounts)
{
    const SlurmJob* account = accounts ? account_of(id, attempt, *accounts) : nullptr;
    if (accounts && account == nullptr) return; // it may come within moments, and is waited for
    tell_seen_end(id, attempt, account);
}

void SlurmExecutor::tell_seen_end(const AttemptId& id, Attempt& attempt, const SlurmJob* account)
{
    if (!attempt.seen_end) return;
    AttemptEnd end = *std::move(attempt.seen_end);
    attempt.seen_end.reset();
    set_end(id, attempt, std::move(end), account);
}

void SlurmExecutor::settle_forgotten(const AttemptId& id, Attempt& attempt,
                                     const Result<std::vector<SlurmJob>>& accounts)
{
    const bool is_away = !accounts && accounts.error().code == Errc::kUnavailable;
    if (is_away && ++attempt.accounts_away < options_.accounts_tries) return;
    const SlurmJob* account = accounts ? account_of(id, attempt, *accounts) : nullptr;
    if (accounts && account == nullptr && ++attempt.accounts_late < options_.late_accounts_tries) {
        attempt.account_after = steady_clock::now() + options_.accounts_pause;
        return;
    }
    const ScriptNotes notes = notes_of(id, attempt);
    AttemptEnd end = account != nullptr ? end_of(*account, notes, attempt.asked, clock_.now())
                                        : end_of_forgotten(notes, attempt.asked, attempt.ran_until, clock_.now());
    set_end(id, attempt, with_facts(std::move(end), attempt), account);
}

std::vector<AttemptId> SlurmExecutor::find_accounts_due() const
{
    std::vector<AttemptId> due;
    const auto now = steady_clock::now();
    if (now < next_accounts_) return due;
    for (const auto& [id, attempt] : attempts_) {
        if (attempt.job.empty() || attempt.view.phase == RunPhase::kEnded || attempt.account_after > now) continue;
        const bool is_wanted = attempt.seen_end || attempt.polls_without >= kPollsUntilForgotten;
        if (is_wanted && due.size() < kMaxAsked) due.push_back(id);
    }
    return due;
}

void SlurmExecutor::note_accounts(const Result<std::vector<SlurmJob>>& accounts, std::chrono::milliseconds took)
{
    const auto now = steady_clock::now();
    next_accounts_ = now + std::max(kMinAccountsPause, took * kAccountsShare);
    if (accounts) return;
    if (accounts.error().code != Errc::kUnavailable) {
        next_usage_ = now + kDisabledPause;
        return;
    }
    next_accounts_ = now + std::max(options_.accounts_pause, took * kAccountsShare);
    next_usage_ = next_accounts_;
    log_warning(
        "slurm_accounts_unreachable",
        {{"reason", accounts.error().detail},
         {"effect", "jobs end without what it knows; how those ended that Slurm has forgotten is not told yet"}});
}

/// Of a cluster whose accounting is slow, or does not hear of the ends.
void SlurmExecutor::tell_overdue_ends()
{
    const auto now = steady_clock::now();
    for (auto& [id, attempt] : attempts_) {
        if (attempt.account_until <= now) tell_seen_end(id, attempt, nullptr);
    }
}

void SlurmExecutor::settle_ends()
{
    std::vector<std::string> numbers;
    std::vector<AttemptId> asked;
    {
        const std::scoped_lock lock(mutex_);
        asked = find_accounts_due();
        for (const AttemptId& id : asked)
            numbers.push_back(attempts_.at(id).job);
    }
    if (!asked.empty()) {
        const auto began = steady_clock::now();
        const Result<std::vector<SlurmJob>> accounts = orders_->accounts(numbers);
        note_accounts(accounts, std::chrono::duration_cast<std::chrono::milliseconds>(steady_clock::now() - began));
        const std::scoped_lock lock(mutex_);
        for (const AttemptId& id : asked) {
            const auto found = attempts_.find(id);
            if (found == attempts_.end() || found->second.view.phase == RunPhase::kEnded) continue;
            if (found->second.seen_end)
                settle_seen(id, found->second, accounts);
            else
                settle_forgotten(id, found->second, accounts);
        }
    }
    const std::scoped_lock lock(mutex_);
    tell_overdue_ends();
}

} // namespace fathom::agent
