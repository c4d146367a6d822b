#pragma once

#include "core/decide/corun/instruction_model.hpp"
#include "core/model/gpu_memory.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>

/// How long kernels of a kind of program take, by the size of its input, learned from programs as they end (C1).
namespace fathom {

/// What runs of a kind are learned as: those whose programs tell the size of their input are apart from those that do
/// not.
std::string sized_application(const std::string& kind, std::optional<double> input_size);
/// What is learned with: of programs that do not tell it all have the same size.
double size_to_learn(std::optional<double> input_size);

/// A kernel of a program that has ended.
struct KernelTime {
    std::string kernel;
    double mean_s{}; ///< of its launches
};

/// By the model of instructions, with nanoseconds of a launch in their place: where nothing counts instructions, the
/// time of a kernel grows with them. Not thread-safe.
class KernelTimes {
  public:
    /// A program has ended. @param input_size  in its own unit; empty: it did not tell
    void learn(const std::string& kind, std::optional<double> input_size, std::span<const KernelTime> kernels);
    /// Empty: of this kind none has ended that had the kernel. What others took says nothing of it.
    std::optional<ExpectedKernelTime> expect(const std::string& kind, std::optional<double> input_size,
                                             const std::string& kernel) const;

    /// Programs come and go for years: what is learned of more kernels than this begins anew.
    static constexpr std::size_t kMaxKernels = 4096;

  private:
    struct Forecasts {
        std::int64_t count{}; ///< of programs that have ended since
        double off{};         ///< Σ |expected / taken − 1|
    };

    InstructionModel model_;                                           ///< whose instructions are nanoseconds
    std::map<std::pair<std::string, std::string>, Forecasts> kernels_; ///< that it knows, by application
};

} // namespace fathom
