#pragma once

#include "core/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>

/// How many instructions a kernel executes, by application type, kernel and input size, learned from runs (C1).
namespace fathom {

/// A run that ended.
struct InstructionSample {
    std::string application; ///< its type
    std::string kernel;
    double input_size{};   ///< in the application's own unit, above 0
    double instructions{}; ///< executed, above 0
};
inline constexpr double kMaxInputSize = 1e18;

/// What a prediction rests on, the best first.
enum class InstructionBasis {
    kKernel,      ///< runs of this kernel of this application
    kApplication, ///< runs of the application's other kernels
    kAll          ///< runs of other applications
};
/// "kernel", "application", "all"
std::string_view to_string(InstructionBasis basis);

struct InstructionPrediction {
    double instructions{};
    double low{}; ///< 80 % interval
    double high{};
    InstructionBasis basis{InstructionBasis::kAll};
    std::int64_t runs{}; ///< that it rests on
    double exponent{};   ///< instructions grow with input_size to this power
};

/// How far off predictions of runs were that the model had not learned.
struct InstructionErrors {
    std::int64_t runs{};
    double median_error{};      ///< median of |predicted / actual − 1|
    double p90_error{};         ///< nine of ten were no further off
    double in_interval_share{}; ///< of all, in their 80 % interval
};

/// ln instructions = a + b · ln input_size for each kernel. The exponent b is held towards that of the application's
/// kernels, theirs towards that of all, and that towards 1. Each run updates sums, so that learning one costs as little
/// as predicting one. A kernel without runs takes the mean of its application's kernels, else of all, with their
/// spread. Not thread-safe.
class InstructionModel {
  public:
    /// Learns a run. Of each kernel the last kRunsKept count.
    /// @error kInvalid  with every field error.
    /// @error kTooMany  the run is of one kernel more than kMaxKernels.
    Result<void> learn(const InstructionSample& sample);

    /// @error kInvalid     input_size is out of range.
    /// @error kInfeasible  nothing was learned yet.
    Result<InstructionPrediction> predict(std::string_view application, std::string_view kernel,
                                          double input_size) const;

    /// Leaves out one run after the other of each kernel that has at least two, and predicts it from all others. Empty
    /// when none has.
    std::optional<InstructionErrors> cross_validate() const;

    std::int64_t run_count() const { return run_count_; }

    static constexpr std::size_t kRunsKept = 256;
    static constexpr std::size_t kMaxKernels = 100'000;

  private:
    struct Point {
        double x{}; ///< ln input_size
        double y{}; ///< ln instructions
    };
    /// Of one kernel's runs.
    struct Sums {
        double count{};
        double x{};
        double y{};
        double xx{};
        double xy{};
        double yy{};

        void add(Point point, double sign);
        double mean_x() const { return x / count; }
        double mean_y() const { return y / count; }
        double sxx() const; ///< Σ (x − mean)²
        double sxy() const; ///< Σ (x − mean)(y − mean)
        double syy() const; ///< Σ (y − mean)²
    };
    /// Of several kernels: the sums within them, and of their means.
    struct Group {
        double runs{};
        double kernels{};
        double sxx{};
        double sxy{};
        double syy{};
        Sums means;

        void add(const Sums& kernel, double sign);
    };
    struct Kernel {
        Sums sums;
        std::deque<Point> points;
    };
    struct Application {
        Group group;
        std::map<std::string, Kernel, std::less<>> kernels;
    };
    /// What a kernel is predicted from; null where there is none.
    struct Evidence {
        const Sums* kernel{};
        const Group* application{};
        const Group* all{};
    };

    static InstructionPrediction predict_from(const Evidence& evidence, double x);
    static void replace(Group& group, const Sums& before, const Sums& after);

    std::map<std::string, Application, std::less<>> applications_;
    Group all_;
    std::int64_t run_count_{};
    std::size_t kernel_count_{};
};

} // namespace fathom
