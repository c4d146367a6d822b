#pragma once

#include "core/base/result.hpp"
#include "core/decide/corun/kernel.hpp"

#include <cstdint>
#include <string>
#include <vector>

/// A GPU shared by jobs, with the true throughput of pairs: what the simulation knows and policies learn.
namespace fathom::simulation {

/// Kernels, or whole jobs, that behave alike.
struct CorunKind {
    std::string name;
    KernelClass kernel_class{KernelClass::kUnknown};
};

/// Normalized IPC of each kind beside each other.
class CorunShares {
  public:
    CorunShares() = default;
    /// Nothing fits beside anything yet.
    explicit CorunShares(std::size_t kinds) : kinds_(kinds), shares_(kinds * kinds) {}

    void set(std::size_t kind, std::size_t beside, double share) { shares_[kind * kinds_ + beside] = share; }
    /// 0: they do not fit together.
    double at(std::size_t kind, std::size_t beside) const { return shares_[kind * kinds_ + beside]; }
    bool fits(std::size_t kind, std::size_t beside) const { return at(kind, beside) > 0; }

  private:
    std::size_t kinds_{};
    std::vector<double> shares_;
};

/// A piece of work that runs without a decision in between: a kernel, or a whole job.
struct CorunStage {
    std::uint32_t kind{};
    double solo_s{}; ///< alone on the GPU
};

struct CorunJob {
    double arrival_s{};
    std::uint32_t program{};  ///< its stages, of CorunWorkload::programs
    double scale{1};          ///< how much longer than in the program each stage takes
    double expected_scale{1}; ///< the same as policies know it
    bool is_high_priority{};
    bool repeats{}; ///< begins anew whenever it has ended, until all jobs that do not repeat have ended
};

struct CorunWorkload {
    std::vector<std::vector<CorunStage>> programs;
    std::vector<CorunJob> jobs; ///< by arrival
};

struct CorunWorld {
    std::string name;
    std::vector<CorunKind> kinds;
    CorunShares shares;
    std::size_t limit{2};
    double preempt_s{};         ///< until a running job is off the GPU
    double memory_decay{0.90};  ///< what survivors that are not compute-intensive keep of their speed meanwhile
    bool can_interrupt{true};   ///< stages may be pre-empted; else only between two
    double observe_s{};         ///< a pair must run together for so long until its throughput is known
    double measurement_noise{}; ///< relative standard deviation of what is measured
};

/// Every fault: shares that are not in 0 … 1.5 or fit one way only, stages of unknown kinds or without length, jobs
/// not by arrival, no job that ends.
Result<void> check_corun(const CorunWorld& world, const CorunWorkload& workload);

} // namespace fathom::simulation
