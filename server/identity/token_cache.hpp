#pragma once

#include "server/identity/identity_store.hpp"

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

namespace fathom::server {

/// Tokens that were found good a moment ago, by the SHA-256 of their secret, so that a busy client does not
/// cost a query a request. An entry counts for 5 s at most: that bounds how long a revoked token works when
/// the wake-up that empties the cache is lost. Thread-safe.
class TokenCache {
  public:
    using SteadyTime = std::chrono::steady_clock::time_point;
    static constexpr std::chrono::seconds kFresh{5};

    explicit TokenCache(std::size_t most_entries) : most_entries_(most_entries) {}

    /// Empty when unknown, stale, or expired at `wall_now`.
    std::optional<Principal> find(const std::string& secret_sha256, SteadyTime now, Timestamp wall_now) const;
    /// True when the secret was good at some time, also a stale entry.
    bool knows(const std::string& secret_sha256) const;
    void put(const std::string& secret_sha256, UsableToken token, SteadyTime now);
    void erase(const std::string& secret_sha256);
    void clear();

  private:
    struct Entry {
        UsableToken token;
        SteadyTime checked_at{};
    };
    const std::size_t most_entries_;
    mutable std::mutex mutex_;
    std::unordered_map<std::string, Entry> entries_;
};

} // namespace fathom::server
