#pragma once

#include "core/base/shared_list.hpp"
#include "core/decide/prediction/predict_from_reference.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace fathom {

/// A profiled run of a job's type on one unit: what its further runs are predicted from.
struct KnownRun {
    std::string job_id;    ///< that it was of
    std::string unit_type; ///< id, where it ran
    std::string place;     ///< "alpha/core", for people
    double run_s{};
    double waiting_share{};                ///< as ReferenceRun
    double parallelism{1};                 ///< as ReferenceRun
    std::int64_t cores{1};                 ///< of that unit
    std::vector<OperatorDemand> operators; ///< with shares
    /// What is measured of that unit type; with one thread where it has several cores.
    SharedList<MeasuredOperator> measured;
    SharedList<MeasuredOperator> one_core;

    ReferenceRun reference() const;
};

/// How long a job runs on one unit of some type, as far as measurements tell.
struct RunQuestion {
    std::span<const OperatorDemand> operators; ///< of the job; not read with a known run
    const KnownRun* known = nullptr;           ///< of its type; nullptr: there is none
    UnitMeasurements there;
    EstimateSource missing; ///< its unit_type says which unit type is asked about
};

/// The raw prediction of the measurements (M23), by the best that is known of the job: its type's known run, scaled by
/// the ratios of probes (predict_from_reference); the run itself where it was on these very units; else the sum of its
/// operators. The sum adds nothing to a known run: both have the errors of the probes, and the sum has in addition all
/// that its operators do not cover, so the best weight of the two by their variances is 1 and 0. What runs of the type
/// say comes on top (RunHistory). The router, `fathom place` and `fathom predict run` all ask this one function.
RunPrediction predict_run(const RunQuestion& question);

} // namespace fathom
