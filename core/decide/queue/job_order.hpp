#pragma once

#include <cstdint>
#include <set>
#include <tuple>

/// Jobs in an order that changes; part of core/decide/queue/wait_queue.
namespace fathom {

/// Jobs by a number that each stands by, the least first, of equals the smaller key. Not thread-safe.
class JobOrder {
  public:
    /// What the number, the key and the job are.
    using Places = std::set<std::tuple<double, std::uint64_t, std::uint32_t>>;
    /// Whether a job stands in the order, and by what. Kept with the job.
    struct Standing {
        double by{};
        bool is_in = false;
    };

    const Places& places() const { return places_; }
    /// Puts the job where it belongs by this number, from wherever it stood.
    void stand(Standing& standing, double by, std::uint64_t key, std::uint32_t job)
    {
        if (standing.is_in && standing.by == by) return;
        leave(standing, key, job);
        places_.emplace(by, key, job);
        standing = {by, true};
    }
    void leave(Standing& standing, std::uint64_t key, std::uint32_t job)
    {
        if (!standing.is_in) return;
        places_.erase({standing.by, key, job});
        standing.is_in = false;
    }

  private:
    Places places_;
};

} // namespace fathom
