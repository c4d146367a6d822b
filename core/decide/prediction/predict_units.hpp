#pragma once

#include "core/decide/prediction/load_curve.hpp"
#include "core/decide/prediction/predict.hpp"
#include "core/decide/prediction/scaling.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

/// How long a job runs on n units, from its prediction on one and the scaling curves of its operators (M19, M23).
namespace fathom {

/// rate(n) / rate(1), with an 80 % interval.
struct Speedup {
    double factor = 1;
    double low = 1;
    double high = 1;
};

/// The speed-up of one operator at one size on one unit type, tabulated so that decisions evaluate no model.
/// Immutable: any thread may read it.
class OperatorSpeedup {
  public:
    /// @param work  of one execution, as predict_run compares sizes: operations, or bytes without any. Positive.
    OperatorSpeedup(std::string operator_id, std::string parameters_key, double work, const ScalingCurve& curve);

    const std::string& operator_id() const { return operator_id_; }
    const std::string& parameters_key() const { return parameters_key_; }
    double work() const { return work_; }
    /// What the curve was fitted to: of equal points comes an equal table.
    const std::vector<ScalingPoint>& points() const { return points_; }
    std::int64_t largest_measured() const;
    /// Twice the largest measured count: up to there the curve is believed.
    std::int64_t largest_known() const { return 2 * largest_measured(); }

    /// `unit_count` at least 1. One unit is the measure of all: exactly 1. Beyond largest_known() no further
    /// speed-up is assumed, though the interval allows for it.
    Speedup at(std::int64_t unit_count) const;
    /// 1 − 1 / S of each part of at(): what share of the operator's time so many units save.
    Speedup saved(std::int64_t unit_count) const;
    double most_saved() const { return most_saved_; }           ///< the largest saved().factor of all counts
    double best_efficiency() const { return best_efficiency_; } ///< no S(n) / n is larger; at least 1

  private:
    std::string operator_id_;
    std::string parameters_key_;
    double work_;
    std::vector<ScalingPoint> points_;
    std::vector<std::int64_t> counts_; ///< every count to begin with, then at ratios of a hundredth
    std::vector<Speedup> speedups_;    ///< at those counts
    std::vector<Speedup> saved_;       ///< of the first of them
    double most_saved_ = 0;
    double best_efficiency_ = 1;
};

/// All that is known of one unit type, in order of operator and size.
using UnitSpeedups = std::vector<std::shared_ptr<const OperatorSpeedup>>;

/// A run time with its 80 % interval.
struct RunTime {
    double run_s{};
    double low_s{};
    double high_s{};
};

/// An operator's part of a run on one unit, and how it is divided among more.
struct ScaledPart {
    double total_s{};
    const OperatorSpeedup* curve = nullptr; ///< nullptr: not known
    const LoadCurve* load = nullptr;        ///< what neighbours cost it; nullptr: not known
};

/// The curve of an operator at this very size, else of the size nearest in work, the first of equals; nullptr: none.
/// @param known  in order of operator and size; nullptr: nothing is known.
const OperatorSpeedup* find_speedup(const UnitSpeedups* known, std::string_view operator_id,
                                    std::string_view parameters_key, double work);

/// Run times on growing numbers of units that are known as such, not from operators.
class RunByCount {
  public:
    virtual ~RunByCount() = default;
    virtual RunTime at(std::int64_t unit_count) const = 0;
    /// Up to this count they are known.
    virtual std::int64_t largest_known() const = 0;
};

/// A run of these parts on growing numbers of units, see ScaledRun. Refers to the parts.
class DividedRun {
  public:
    DividedRun(const RunTime& single, std::span<const ScaledPart> parts);
    explicit DividedRun(const RunByCount& by_count);

    RunTime at(std::int64_t unit_count) const;
    /// at().run_s, at a third of the time.
    double run_s(std::int64_t unit_count) const;
    double speedup(std::int64_t unit_count) const;
    std::int64_t largest_known() const { return largest_known_; }
    std::int64_t knee(std::int64_t most) const;

  private:
    RunTime single_;
    std::span<const ScaledPart> parts_;
    const RunByCount* by_count_ = nullptr; ///< it is that
    std::int64_t largest_known_ = 1;
};

/// A job on growing numbers of units of one type:
///
///     run(n) = run(1) − Σ over operators total_s · (1 − 1 / S(n))
///
/// What is not an operator's time, such as the start-up, is not divided, and neither is an operator without a curve:
/// its interval reaches from perfectly divided to not at all. An operator takes the curve of its own size, else
/// that of the size nearest in work. The interval of run(1) is stretched by that of the speed-ups.
class ScaledRun {
  public:
    /// @param single    on one unit. Must outlive this, as must `known`.
    /// @param demands   of the same job: the work of its operators.
    /// @param speedups  in order of operator and size; nullptr: nothing is known.
    ScaledRun(const RunPrediction& single, std::span<const OperatorDemand> demands, const UnitSpeedups* speedups);

    RunTime at(std::int64_t unit_count) const { return run().at(unit_count); }
    /// run(1) / run(n); 1 when the job takes no time.
    double speedup(std::int64_t unit_count) const { return run().speedup(unit_count); }

    /// Up to this count a curve of one of its operators is believed; 1 without any.
    std::int64_t largest_known() const { return run().largest_known(); }

    /// The knee of the whole job: the smallest of the counts 1..min(most, largest_known()) at which efficiency times
    /// speed-up, S(n)²/n, is largest (Eager, Zahorjan, Lazowska, IEEE Transactions on Computers 1989).
    std::int64_t knee(std::int64_t most) const { return run().knee(most); }

    /// What run(n) rests on beside measurements, for people; empty for one unit.
    std::vector<std::string> assumptions(std::int64_t unit_count) const;

  private:
    DividedRun run() const { return {{single_->run_s, single_->low_s, single_->high_s}, parts_}; }

    const RunPrediction* single_;
    std::vector<ScaledPart> parts_; ///< of its operators, in their order
};

/// The counts from `least` to `most` that are worth a look: every one up to a thousand, then in steps of a per mille.
std::vector<std::int64_t> counts_between(std::int64_t least, std::int64_t most);

} // namespace fathom
