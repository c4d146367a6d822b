#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <unordered_map>

namespace fathom::server {

/// Slows down who keeps sending wrong credentials: each network may fail `burst` times at once and then
/// `per_second`. Memory is bounded; when it is full the networks that have been quiet longest are forgotten.
/// Thread-safe.
class FailureLimiter {
  public:
    using SteadyTime = std::chrono::steady_clock::time_point;

    FailureLimiter(double burst, double per_second, std::size_t most_networks);

    bool allows(const std::string& network, SteadyTime now);
    void record_failure(const std::string& network, SteadyTime now);
    /// Both at once, before it is known whether it fails: however many try at the same time, no more can fail.
    bool take(const std::string& network, SteadyTime now);
    /// After a take() that did not fail.
    void give_back(const std::string& network, SteadyTime now);

  private:
    struct Bucket {
        double left{};
        SteadyTime at{};
    };
    double refilled(const Bucket& bucket, SteadyTime now) const;
    Bucket& bucket_of(const std::string& network, SteadyTime now);
    void make_room(SteadyTime now);

    const double burst_;
    const double per_second_;
    const std::size_t most_networks_;
    std::mutex mutex_;
    std::unordered_map<std::string, Bucket> buckets_; ///< networks that failed lately
};

} // namespace fathom::server
