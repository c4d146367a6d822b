#include "server/identity/token_cache.hpp"

namespace fathom::server {

std::optional<Principal> TokenCache::find(const std::string& secret_sha256, SteadyTime now, Timestamp wall_now) const
{
    const std::scoped_lock lock(mutex_);
    const auto entry = entries_.find(secret_sha256);
    if (entry == entries_.end() || now - entry->second.checked_at > kFresh) return std::nullopt;
    const UsableToken& token = entry->second.token;
    if (token.expires_at && *token.expires_at <= wall_now) return std::nullopt;
    return token.principal;
}

bool TokenCache::knows(const std::string& secret_sha256) const
{
    const std::scoped_lock lock(mutex_);
    return entries_.contains(secret_sha256);
}

void TokenCache::put(const std::string& secret_sha256, UsableToken token, SteadyTime now)
{
    const std::scoped_lock lock(mutex_);
    if (entries_.size() >= most_entries_) {
        std::erase_if(entries_, [&](const auto& entry) { return now - entry.second.checked_at > kFresh; });
        if (entries_.size() >= most_entries_) entries_.clear();
    }
    entries_.insert_or_assign(secret_sha256, Entry{std::move(token), now});
}

void TokenCache::erase(const std::string& secret_sha256)
{
    const std::scoped_lock lock(mutex_);
    entries_.erase(secret_sha256);
}

void TokenCache::clear()
{
    const std::scoped_lock lock(mutex_);
    // Made stale rather than dropped: a known secret stays exempt from the failure limiter.
    for (auto& [hash, entry] : entries_)
        entry.checked_at = SteadyTime{};
}

} // namespace fathom::server
