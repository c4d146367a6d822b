#pragma once

#include "core/decide/free_units.hpp"
#include "core/decide/order_index.hpp"

#include <limits>
#include <optional>
#include <span>
#include <vector>

/// Whether a job does better to wait for another place; part of core/decide/order_jobs.
namespace fathom {

/// Compares a job's free place with its others: what counts is the wait there, stretched for the jobs that will yet
/// come and go before it, and the run time there times the toll, what its running costs the others.
class BetterPlaces {
  public:
    /// The best place of a job that it has to wait for.
    struct Promise {
        double cost = std::numeric_limits<double>::infinity(); ///< with the wait; infinite: there is none
        std::size_t option{};
        double wait_s{}; ///< not stretched
    };

    /// Keeps all three, which must outlive it.
    BetterPlaces(std::span<const WaitingJobView> jobs, std::span<const OrderIndex> indices,
                 std::span<const UnitTypeLoad> unit_types);

    /// True when one of the job's places that are not free yet promises more than this one.
    bool is_worth_waiting(std::size_t job, std::size_t option);
    const Promise& promise(std::size_t job);
    /// What running there costs the job and others.
    double cost(std::size_t job, std::size_t option) const;
    /// True when one of the job's places that is free too promises more than this one.
    bool is_better_one_free(std::size_t job, std::size_t option, const FreeUnits& free) const;

  private:
    /// Who wants a unit type most; `units_ahead` sums the units of those before.
    struct InLine {
        double index{};
        std::string_view id;
        std::int64_t units_ahead{};
    };
    struct Line {
        std::vector<InLine> jobs;      ///< that suit this type best, in the order of their turn
        std::int64_t units{};          ///< that they want together
        std::vector<double> free_in_s; ///< when each unit comes free that is busy now
    };
    std::optional<double> wait_s(std::size_t job, std::size_t option) const;
    Promise least_promise(std::size_t job) const;

    std::span<const WaitingJobView> jobs_;
    std::span<const OrderIndex> indices_;
    std::span<const UnitTypeLoad> unit_types_;
    std::vector<Line> lines_;                      ///< by unit type
    std::vector<double> turn_;                     ///< of each job: index of its best place; −1 beyond its patience
    std::vector<std::int64_t> fewest_units_;       ///< of each job
    std::vector<std::optional<Promise>> promises_; ///< of each job, as far as it was asked for
};

} // namespace fathom
