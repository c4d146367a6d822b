#pragma once

#include "core/model/kernel_class.hpp"
#include "core/model/pair_source.hpp"

#include <cstdint>
#include <string_view>

/// What is known of kernels, or jobs, that run beside each other, wherever it comes from (C3, C6).
namespace fathom {

/// One kernel of a pair; the name must outlive it.
struct PairMember {
    std::string_view kind;
    KernelClass kernel_class{KernelClass::kUnknown};
};

/// What a kernel is expected to keep of its speed beside another.
struct PairShare {
    double share{};
    double spread{};      ///< standard deviation: of the runs, or of what such predictions were off by
    std::int64_t count{}; ///< runs that were measured together
    PairSource source{PairSource::kDefault};

    friend bool operator==(const PairShare&, const PairShare&) = default;
};

/// Answers what one keeps beside another: the history of pairs (PairModel), or what was taken from it (PairTable).
class PairKnowledge {
  public:
    virtual ~PairKnowledge() = default;

    /// Whether a pair with it was learned, so that not only classes tell of it.
    virtual bool knows(std::string_view kind) const = 0;
    /// What `kernel` keeps beside `beside`.
    virtual PairShare expect(const PairMember& kernel, const PairMember& beside) const = 0;
    /// Whether both cannot run together, for lack of device memory.
    virtual bool is_excluded(const PairMember& a, const PairMember& b) const = 0;

  protected:
    PairKnowledge() = default;
    PairKnowledge(const PairKnowledge&) = default;
    PairKnowledge(PairKnowledge&&) = default;
    PairKnowledge& operator=(const PairKnowledge&) = default;
    PairKnowledge& operator=(PairKnowledge&&) = default;
};

} // namespace fathom
