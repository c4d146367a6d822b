#pragma once

#include "simulator/knowledge/job_errors.hpp"
#include "simulator/knowledge/knowledge.hpp"
#include "simulator/knowledge/run_learning.hpp"
#include "simulator/world/truth.hpp"

#include <limits>
#include <memory>
#include <vector>

namespace fathom::simulation {

/// What a network that measures knows. Each unit type is measured with every job type at the beginning, then every
/// measure_every_s, one unit type at a time, and when its runs show that it has drifted; a measurement tells the rate
/// of its moment, and is wrong by a lognormal error that stays until the next one. What it tells of several units is
/// wrong by the same. Of a job, its profile tells the work (JobErrors), or its user's estimate does, times the share
/// that such jobs of the user usually take of it (AskedTimes). What jobs took corrects all that (RunLearning).
///
/// The truth is asked for drift in measure() only. True rates and work go into every answer, each times the error with
/// which it is known.
class MeasuredKnowledge final : public Knowledge {
  public:
    /// Keeps both, which must outlive it.
    MeasuredKnowledge(const Scenario& scenario, Truth& truth, std::uint64_t seed);

    double expected_s(std::size_t job, std::size_t unit_type, std::int64_t unit_count) override;
    RunTime expected_run(std::size_t job, std::size_t unit_type, std::int64_t unit_count) override;
    std::uint64_t version() const override { return version_; }
    void learn(std::size_t job, std::size_t unit_type, std::int64_t unit_count, double slowdown, double actual_s,
               double now_s) override;
    void advance(double now_s) override;
    std::int64_t measurements() const override { return measurements_; }

  private:
    /// A job type on a unit type.
    struct Place {
        double raw = 1;               ///< by the newest measurement: expected / true seconds, were there no drift
        double raw_before = 1;        ///< by the one before
        std::uint64_t measurements{}; ///< so far
        LearnedCorrection correction; ///< by history
        std::uint64_t learned{};      ///< the learning that the correction is of
    };

    Place& place(std::uint32_t job_type, std::size_t unit_type)
    {
        return places_[unit_type * scenario_->network.job_types.size() + job_type];
    }
    /// The same with the newest correction.
    Place& corrected_place(std::uint32_t job_type, std::size_t unit_type);
    /// What profile and measurement let expect of a job, without history.
    double raw_s(std::size_t job, std::size_t unit_type, std::int64_t unit_count, double raw);
    /// Its work is known by its user's estimate only.
    bool is_asked(const Job& job) const;
    /// What such jobs of this user take of what was estimated; else 1. Valid until it is asked again.
    const EstimateShare& asked_share(std::size_t job);
    void measure(std::size_t unit_type, double at_s);
    void measure_due(double now_s);
    void rebuild(double now_s);

    const Scenario* scenario_;
    Truth* truth_;
    std::uint64_t seed_;
    JobErrors errors_;
    std::vector<Place> places_;             ///< by unit type and job type
    std::vector<double> measured_at_s_;     ///< by unit type
    std::vector<double> measure_next_s_;    ///< by unit type
    double measure_first_s_{};              ///< the least of them
    std::unique_ptr<RunLearning> learning_; ///< empty: it does not learn
    double learn_next_s_{};
    std::uint64_t learned_ = 0; ///< rebuilds so far
    // A job is asked about for one unit type after the other.
    std::size_t asked_job_ = std::numeric_limits<std::size_t>::max();
    std::uint64_t asked_learned_ = 0; ///< the learning that asked_share_ is of
    EstimateShare asked_share_;
    std::uint64_t version_ = 0;
    std::int64_t measurements_ = 0;
};

} // namespace fathom::simulation
