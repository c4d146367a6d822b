#pragma once

#include "core/decide/queue/busy_share.hpp"
#include "core/decide/queue/order_jobs.hpp"
#include "core/schedule/job_arrivals.hpp"
#include "simulator/world/job_kinds.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace fathom::simulation {

/// How much of the past counts.
struct PriceMemory {
    std::size_t arrivals = kMaxArrivals;
    double busy_s = BusyShare::kMemory_s;
};

/// What a network keeps of the newest jobs and of its units, as the server's unit loads do: what unit types are worth
/// to the jobs that come, and how busy they have been. Not thread-safe.
class ShadowPriceTracker {
  public:
    /// Keeps the scenario, which must outlive it.
    explicit ShadowPriceTracker(const Scenario& scenario, const PriceMemory& memory = {});

    /// A job has come, with these places.
    void note_arrival(const Job& job, std::vector<JobOption> places);
    /// So many more units of the type are busy from now on; fewer: negative.
    void note_use(std::size_t unit_type, std::int64_t units, double now_s);

    /// Whether enough jobs have come for shadow_prices() to be asked anew: fifty, and more where the answer takes long.
    /// @param waiting_places  of the jobs that are to be weighed anew then.
    bool has_news(std::size_t waiting_places) const;
    /// What each unit type is worth to the newest arrivals that are remembered: shadow_prices_of()
    /// (core/schedule/job_arrivals).
    std::vector<std::optional<double>> shadow_prices();
    /// Mean share of the type's units in use, 0..1.
    double load(std::size_t unit_type, double now_s);

  private:
    struct Arrival {
        std::size_t kind{};
        std::vector<JobOption> places;
    };
    struct Use {
        BusyShare share;
        std::int64_t busy_units{};
        double since_s{};
    };
    std::vector<std::vector<JobOption>> merged() const;
    void pass(std::size_t unit_type, double now_s);

    PriceMemory memory_;
    std::vector<UnitTypeLoad> unit_types_;
    JobKinds kinds_;
    std::deque<Arrival> arrivals_; ///< that are remembered
    std::size_t news_ = 0;         ///< arrivals since the last look
    std::size_t news_wanted_;
    std::vector<Use> uses_; ///< by unit type
};

} // namespace fathom::simulation
