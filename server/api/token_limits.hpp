#pragma once

#include "core/base/result.hpp"
#include "server/api/token_line.hpp"

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace fathom::server {

/// How often one token may ask for what costs much: so many at once after a rest, then so many a second. Thread-safe.
class TokenRate {
  public:
    /// Both above zero; less than 1 at once allows nothing.
    TokenRate(double burst, double per_second);

    /// @error kTooMany  the token has asked too often; the detail says in how many seconds it may again.
    Result<void> take(const std::string& token_id, std::chrono::steady_clock::time_point now);
    /// The same, and how long the token is to wait before it asks again; zero: it was allowed.
    std::chrono::seconds try_take(const std::string& token_id, std::chrono::steady_clock::time_point now);
    /// How long the token is to wait before it asks again, without asking; zero: it may now.
    std::chrono::seconds wait_of(const std::string& token_id, std::chrono::steady_clock::time_point now);

    double per_second() const { return per_second_; }

  private:
    struct Bucket {
        double left{};
        std::chrono::steady_clock::time_point at;
    };

    double left_of(const Bucket& bucket, std::chrono::steady_clock::time_point now) const;
    std::chrono::seconds wait_for(double left) const;
    void forget_full(std::chrono::steady_clock::time_point now);

    const double burst_;
    const double per_second_;
    std::mutex mutex_;
    std::map<std::string, Bucket, std::less<>> buckets_; ///< of tokens that asked of late
    std::size_t many_;                                   ///< with so many buckets full ones are looked for
};

/// How much one token may have at once. Thread-safe.
class TokenPlaces {
  public:
    explicit TokenPlaces(std::size_t most);

    /// A place, until the last copy of it is gone; nullptr when the token has all of its places.
    std::shared_ptr<const void> take(const std::string& token_id);

    std::size_t most() const { return most_; }

  private:
    struct State {
        std::mutex mutex;
        std::map<std::string, std::size_t, std::less<>> taken;
    };

    const std::size_t most_;
    std::shared_ptr<State> state_; ///< places may outlive this
};

/// What one token, or all sessions of one account together, may ask of the REST interface.
struct TokenLimits {
    std::shared_ptr<TokenRate> rate{};      ///< of requests; null: any number
    std::shared_ptr<TokenPlaces> reads{};   ///< GET requests in work at once, with those in its line; null: any number
    std::shared_ptr<TokenPlaces> changes{}; ///< the same of all other requests
    std::shared_ptr<TokenLine> line{};      ///< before the database's; null: none
};

} // namespace fathom::server
