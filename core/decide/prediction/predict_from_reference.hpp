#pragma once

#include "core/decide/prediction/predict.hpp"

namespace fathom {

/// What was measured on units of one type, at the number of cores that one of them has.
struct UnitMeasurements {
    std::span<const MeasuredOperator> operators;  ///< in any order
    std::int64_t cores{1};                        ///< threads that the probes used
    std::span<const MeasuredOperator> one_core{}; ///< the same with one thread; empty: not measured, or cores is 1
};

/// A run of the program on a unit type that was measured: what its profile says.
struct ReferenceRun {
    double run_s{};           ///< from start to end
    double waiting_share{};   ///< of run_s: neither computing nor in I/O; the same everywhere
    double parallelism{1};    ///< threads that run, on average, while the program computes outside operators
    UnitMeasurements units{}; ///< where it ran
};

/// Predicts a program's run time on one unit type from a known run on another (M23). The time of each operator in
/// the known run, share × run_s, is multiplied by the ratio of the probes' times, there to reference, so that what is
/// wrong alike on both sides (cold caches, call overhead, the similarity of the operator itself) cancels:
///
///     T = run_s · (Σ share_i · t_i(there)/t_i(reference) + unmatched · mean ratio + waiting)
///
/// The ratio of a size that was not measured on both is interpolated, in its logarithm, between the nearest sizes of
/// the operator that were, by their distance in work and in operations per byte.
///
/// Where calls only resemble the operator (`similarity` l < 1), the logarithm of their ratio lies between the
/// operator's and that of the computing remainder, which is the core's in general: l·log r + (1 − l)·log r(core).
/// Where a library divides its work by itself, r(core) is in the middle between the remainder's and that of the same
/// probes on all cores: how much of what its routines compute beside the operator it divides is not known.
///
/// The remainder, and operators whose library does not thread by itself, run with the threads that the program uses:
/// their times are those with one thread (`one_core`; where it was not measured, time × cores), divided by Amdahl's
/// speed-up, whose serial fraction follows from the known run's parallelism. Where that ran on one core nothing is
/// known of it: it is taken as serial.
///
/// The 80 % interval combines, as independent deviations of logarithms weighted by their part of the time: the
/// measurements' own intervals, the distance of interpolation, a quarter of what similarity moved between, that a
/// library's routine may divide anything from nothing to all of what is unlike its operator, for the
/// remainder half the logarithm by which the ratios of its classes differ (it may be of another class than it seems),
/// for loops of the remainder half of what they do not have in common with their operator,
/// and the run-to-run variation of programs. What was measured on one side only, and what no operator stands for, is
/// off by one common error.
/// @param demands  with shares; shares and waiting_share sum to at most 1.
/// @param missing  what stands in for a time there that was not measured.
RunPrediction predict_from_reference(std::span<const OperatorDemand> demands, const ReferenceRun& reference,
                                     const UnitMeasurements& there, const EstimateSource& missing = {});

/// The same on the very units of the known run, whatever was measured since: what it took.
RunPrediction repeat_reference(std::span<const OperatorDemand> demands, const ReferenceRun& reference);

} // namespace fathom
