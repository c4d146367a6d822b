#pragma once

#include "core/decide/history/asked_times.hpp"
#include "core/decide/history/run_history.hpp"
#include "core/decide/trust/drift.hpp"
#include "simulator/world/scenario.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace fathom::simulation {

/// A job that has run, as the network's own records have it.
struct LearnedRun {
    std::uint32_t job_type{};
    std::uint32_t unit_type{};
    std::int64_t unit_count{1};
    std::uint32_t user{};
    std::uint32_t project{};
    double raw_s{};  ///< what its measurements alone let expect
    bool is_asked{}; ///< of the work that its user had estimated
    double actual_s{};
    double started_s{};
    double ended_s{};
};

/// Half the width of the 80 % interval, as a factor. @param deviation  standard deviation of the logarithm.
double interval_width(double deviation);

/// What jobs take of their users' estimates: actual / raw prediction, with the limits of the 80 % interval.
struct EstimateShare {
    double middle = 1;
    double low = 1;
    double high = 1;
};

/// How a raw prediction becomes one.
struct LearnedCorrection {
    double factor = 1;
    double spread = 1; ///< half the width of the 80 % interval, as a factor
};

/// What the newest runs teach: how much of their users' estimates jobs take (AskedTimes), how predictions are to be
/// corrected beyond that (RunHistory), and which unit types go otherwise than
/// when they were measured (find_drift). Not thread-safe.
class RunLearning {
  public:
    /// @param raw_deviation  of ln(actual / raw prediction), as the measurements themselves tell it.
    RunLearning(const Network& network, double raw_deviation);

    void note(const LearnedRun& run);
    /// Whether enough was noted since rebuild(): a twentieth of what is remembered. Fewer of many change next to
    /// nothing, and long logs would be learned from for longer than they are simulated.
    bool has_news() const { return news_ > 0 && news_ * 20 >= runs_.size(); }
    void rebuild(double now_s);
    /// Of raw predictions, by what rebuild() learned.
    LearnedCorrection correction(std::uint32_t job_type, std::size_t unit_type) const;
    /// Of a raw prediction that rests on the user's estimate, by what rebuild() learned, before correction(). A point
    /// before anything was.
    EstimateShare asked_share(std::uint32_t job_type, std::uint32_t user, std::uint32_t project) const;
    /// Unit types that are to be measured again.
    std::vector<std::size_t> find_drifted(std::span<const double> measured_at_s) const;

  private:
    void learn_asked(double now_s);

    std::vector<std::string> job_type_ids_;
    std::vector<std::string> unit_type_ids_; ///< ascending
    double raw_width_;                       ///< half the 80 % interval of raw predictions, as a factor
    std::vector<LearnedRun> runs_;           ///< the newest, in a ring
    std::size_t oldest_ = 0;
    std::size_t news_ = 0; ///< noted since rebuild()
    RunHistory history_;
    AskedTimes asked_;
};

} // namespace fathom::simulation
