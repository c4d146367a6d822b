#include "server/jobs/job_quota.hpp"

#include "server/store/statement.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

constexpr Statement kSelectUseOfToken{"jobs_select_use_of_token", R"sql(
    SELECT (SELECT count(*) FROM job
            WHERE submitted_by = $1 AND label = 'job' AND state IN ('queued', 'metering')) AS queued,
           (SELECT coalesce(sum(bytes), 0) FROM stored_use WHERE submitted_by = $1)
           + (SELECT coalesce(sum(bytes), 0) FROM stored_change WHERE submitted_by = $1) AS bytes)sql"};
constexpr Statement kSelectUseOfProject{"jobs_select_use_of_project", R"sql(
    SELECT (SELECT count(*) FROM job
            WHERE project = $1 AND label = 'job' AND state IN ('queued', 'metering')) AS queued,
           (SELECT coalesce(sum(bytes), 0) FROM stored_use WHERE project = $1)
           + (SELECT coalesce(sum(bytes), 0) FROM stored_change WHERE project = $1) AS bytes)sql"};

constexpr Statement kFoldChanges{"jobs_fold_stored_changes", R"sql(
    WITH gone AS (
        DELETE FROM stored_change WHERE id IN (SELECT id FROM stored_change ORDER BY id LIMIT 20000)
        RETURNING submitted_by, project, bytes)
    INSERT INTO stored_use AS total (submitted_by, project, bytes)
    SELECT submitted_by, project, sum(bytes) FROM gone GROUP BY submitted_by, project ORDER BY submitted_by, project
    ON CONFLICT (submitted_by, project) DO UPDATE SET bytes = total.bytes + excluded.bytes)sql"};

constexpr auto kUseIsFresh = 2s;       // near a limit
constexpr auto kUseIsOld = 60s;        // far from it
constexpr auto kUseIsJustRead = 200ms; // nobody is refused by older figures
constexpr int kReadingShare = 100;     // far from a limit, reading takes at most one part in so many of the time
constexpr std::int64_t kNearLimit = 4; // from one part in so many of a limit on
constexpr auto kReadTimeout = 5s;
constexpr std::size_t kMaxEntries = 10000;

std::string in_mib(std::int64_t bytes)
{
    return std::to_string(bytes >> 20U) + " MiB";
}

} // namespace

asio::awaitable<Result<void>> JobQuotaGuard::take(Submitter submitter, std::map<std::string, std::int64_t> jobs)
{
    if (submitter.token.empty()) co_return Result<void>();
    std::vector<Wanted> wanted;
    std::int64_t all = 0;
    for (const auto& [project, count] : jobs) {
        wanted.push_back({{"project", project}, {count, submitter.bytes}});
        all += count;
    }
    wanted.push_back({{"token", submitter.token}, {all, submitter.bytes}});

    std::vector<Key> unknown = stale(wanted, kUseIsOld);
    if (!unknown.empty()) {
        const Result<void> known = co_await read(std::move(unknown));
        if (!known) co_return known.error();
    }
    const Result<void> counted = count(wanted);
    if (counted) co_return counted;
    std::vector<Key> older = stale(wanted, kUseIsJustRead);
    if (older.empty()) co_return counted;
    const Result<void> known = co_await read(std::move(older));
    if (!known) co_return known.error();
    co_return count(wanted);
}

JobQuotaGuard::Use JobQuotaGuard::limit_of(const Key& key) const
{
    if (key.first == "token") return {quota_.queued_of_token, quota_.stored_bytes_of_token};
    return {quota_.queued_of_project, quota_.stored_bytes_of_project};
}

JobQuotaGuard::SteadyTime::duration JobQuotaGuard::fresh_time(const Entry& entry, const Wanted& wanted) const
{
    const auto is_near = [](std::int64_t used, std::int64_t limit) { return limit > 0 && used > limit / kNearLimit; };
    const Use limit = limit_of(wanted.key);
    if (is_near(entry.known.queued + entry.since.queued + wanted.more.queued, limit.queued) ||
        is_near(entry.known.bytes + entry.since.bytes + wanted.more.bytes, limit.bytes))
        return kUseIsFresh;
    return std::max<SteadyTime::duration>(kUseIsFresh, entry.read_took * kReadingShare);
}

std::vector<JobQuotaGuard::Key> JobQuotaGuard::stale(const std::vector<Wanted>& wanted, std::chrono::milliseconds most)
{
    const SteadyTime now = std::chrono::steady_clock::now();
    std::vector<Key> keys;
    const std::scoped_lock lock(mutex_);
    forget_old();
    for (const Wanted& one : wanted) {
        Entry& entry = entries_[one.key];
        const auto fresh = std::min<SteadyTime::duration>(most, fresh_time(entry, one));
        if (entry.read_at && now - *entry.read_at < fresh) continue;
        // Somebody reads it already: until then what is known counts.
        if (entry.read_at && entry.reading_since && now - *entry.reading_since < kReadTimeout) continue;
        entry.reading_since = now;
        keys.push_back(one.key);
    }
    return keys;
}

asio::awaitable<Result<void>> JobQuotaGuard::read(std::vector<Key> keys)
{
    const SteadyTime began = std::chrono::steady_clock::now();
    std::vector<Use> before;
    {
        const std::scoped_lock lock(mutex_);
        for (const Key& key : keys)
            before.push_back(entries_[key].since);
    }
    auto work = [&keys](pqxx::transaction_base& transaction) -> Result<std::vector<Use>> {
        std::vector<Use> uses;
        for (const auto& [kind, name] : keys) {
            const Statement& statement = kind == "token" ? kSelectUseOfToken : kSelectUseOfProject;
            const pqxx::result rows = exec(transaction, statement, name);
            uses.push_back({rows[0]["queued"].as<std::int64_t>(), rows[0]["bytes"].as<std::int64_t>()});
        }
        return uses;
    };
    const Result<std::vector<Use>> uses = co_await database_->run_statement(std::move(work));
    const std::scoped_lock lock(mutex_);
    for (std::size_t i = 0; i < keys.size(); ++i) {
        Entry& entry = entries_[keys[i]];
        entry.reading_since.reset();
        if (!uses) continue;
        entry.known = (*uses)[i];
        // What was let through while it was read may be in it or not: it is counted once more until the next look.
        entry.since.queued = std::max<std::int64_t>(entry.since.queued - before[i].queued, 0);
        entry.since.bytes = std::max<std::int64_t>(entry.since.bytes - before[i].bytes, 0);
        entry.read_at = std::chrono::steady_clock::now();
        entry.read_took = *entry.read_at - began;
    }
    if (!uses) co_return uses.error();
    co_return Result<void>();
}

Result<void> JobQuotaGuard::count(const std::vector<Wanted>& wanted)
{
    const std::scoped_lock lock(mutex_);
    for (const Wanted& one : wanted) {
        if (std::optional<Error> error = refusal(one)) return std::move(*error);
    }
    for (const Wanted& one : wanted) {
        Use& since = entries_[one.key].since;
        since.queued += one.more.queued;
        since.bytes += one.more.bytes;
    }
    return {};
}

std::optional<Error> JobQuotaGuard::refusal(const Wanted& wanted) const
{
    const auto found = entries_.find(wanted.key);
    if (found == entries_.end()) return std::nullopt;
    const Entry& entry = found->second;
    const bool is_token = wanted.key.first == "token";
    const std::string who = is_token ? "this token" : "project " + wanted.key.second;
    const std::string kind = is_token ? "token" : "project";
    const auto [most_queued, most_bytes] = limit_of(wanted.key);
    const std::int64_t queued = entry.known.queued + entry.since.queued;
    const std::int64_t bytes = entry.known.bytes + entry.since.bytes;
    if (most_queued > 0 && queued + wanted.more.queued > most_queued)
        return Error{Errc::kTooMany, who + " has " + std::to_string(queued) + " jobs that wait, and may have " +
                                         std::to_string(most_queued) + " (max_queued_of_" + kind +
                                         "): submit more when some have started, or cancel some"};
    if (most_bytes > 0 && bytes + wanted.more.bytes > most_bytes)
        return Error{Errc::kTooMany, "the jobs of " + who + " and their output take " + in_mib(bytes) +
                                         ", and may take " + in_mib(most_bytes) + " (max_stored_mib_of_" + kind +
                                         "): it becomes less as old output and jobs are removed; an administrator "
                                         "can allow more"};
    return std::nullopt;
}

/// Under the mutex. Names come from clients: they must not fill the memory.
void JobQuotaGuard::forget_old()
{
    if (entries_.size() < kMaxEntries) return;
    const SteadyTime now = std::chrono::steady_clock::now();
    std::erase_if(entries_, [now](const auto& one) {
        const Entry& entry = one.second;
        return !entry.reading_since && (!entry.read_at || now - *entry.read_at > kUseIsFresh);
    });
}

Result<void> fold_stored_changes(pqxx::work& transaction)
{
    exec(transaction, kFoldChanges);
    return {};
}

} // namespace fathom::server
