#pragma once

#include "core/decide/prediction/predict_units.hpp"
#include "simulator/world/scenario.hpp"

#include <memory>

namespace fathom::simulation {

enum class KnowledgeKind {
    kMeasured, ///< probes, profiles and history, with their errors and their age
    kPerfect,  ///< the truth but run_noise
    kNominal,  ///< the user's estimate, and how unit types' sheets (peak, else nothing) compare
};

/// What is known of run times. Policies ask this, never the truth.
class Knowledge {
  public:
    virtual ~Knowledge() = default;

    /// Expected seconds of computing on so many units, without start-up and transfers; positive. The job fits there.
    virtual double expected_s(std::size_t job, std::size_t unit_type, std::int64_t unit_count) = 0;
    /// The same with the limits of the 80 % interval; only a point where nothing says how far off it may be.
    virtual RunTime expected_run(std::size_t job, std::size_t unit_type, std::int64_t unit_count)
    {
        const double run_s = expected_s(job, unit_type, unit_count);
        return {run_s, run_s, run_s};
    }
    /// Changes whenever earlier answers of expected_s() and expected_run() may have changed.
    virtual std::uint64_t version() const { return 0; }

    /// Whether it tells what jobs keep of their speed beside each other on one device.
    virtual bool counts_device_pairs() const { return true; }

    /// A job ended after so long.
    /// @param slowdown  so many times as long as by itself it was expected to take, for others on its device.
    virtual void learn(std::size_t /*job*/, std::size_t /*unit_type*/, std::int64_t /*unit_count*/, double /*slowdown*/,
                       double /*actual_s*/, double /*now_s*/)
    {
    }
    /// Time has come to this; called before all else that happens then.
    virtual void advance(double /*now_s*/) {}
    /// Measurements so far.
    virtual std::int64_t measurements() const { return 0; }
};

class Truth;

/// @param truth  of the run; outlives the knowledge.
std::unique_ptr<Knowledge> make_knowledge(KnowledgeKind kind, const Scenario& scenario, Truth& truth,
                                          std::uint64_t seed);

} // namespace fathom::simulation
