#pragma once

#include "core/base/result.hpp"
#include "core/decide/corun/kernel.hpp"
#include "core/decide/corun/pair_completion.hpp"
#include "core/decide/corun/pair_knowledge.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// What kernels keep of their speed beside others, learned from pairs that ran (C3, C6).
namespace fathom {

/// Two kernels ran together.
struct PairSample {
    PairMember a;
    PairMember b;
    double a_share{};      ///< normalized IPC of a
    double b_share{};      ///< of b
    std::int64_t count{1}; ///< runs that these are the means of
    double a_spread{};     ///< standard deviation over these runs
    double b_spread{};
};
inline constexpr double kMinShare = 1e-4;
inline constexpr double kMaxShare = 4;

/// Count, mean and spread of what was measured.
struct ShareRecord {
    std::int64_t count{};
    double mean{};
    double squares{}; ///< Σ (value − mean)²

    void add(std::int64_t more, double their_mean, double their_spread);
    double spread() const; ///< standard deviation; 0 of one run
};

/// History of pairs and what follows from it for pairs that never ran. Not thread-safe.
class PairModel final : public PairKnowledge {
  public:
    PairModel();
    /// Learns a run. Known pairs are known at once; what is inferred from them follows with refit().
    /// @error kInvalid  with every field error; nothing is learned then.
    Result<void> add(const PairSample& sample);
    /// Both cannot run together, for lack of device memory.
    void exclude(const PairMember& a, const PairMember& b);
    bool is_excluded(const PairMember& a, const PairMember& b) const override;
    /// Infers the rest anew. Costs a few milliseconds with 350 pairs.
    void refit();

    /// What `kernel` keeps beside `beside`: as measured; else from the table's completion where that was closer than
    /// the class average for pairs that were left out; else the class average; else the default.
    PairShare expect(const PairMember& kernel, const PairMember& beside) const override;

    bool knows(std::string_view kind) const override { return kinds_.contains(kind); }
    std::size_t pair_count() const { return pairs_.size(); }
    std::size_t kind_count() const { return classes_.size(); }
    /// How far off both ways were, as of the last refit().
    const std::optional<HeldOutErrors>& held_out_errors() const { return fit_.errors; }

  private:
    struct Pair {
        ShareRecord a; ///< of the kind with the lower index
        ShareRecord b;
    };
    std::size_t kind_of(const PairMember& member);
    const ShareRecord* find(std::size_t kind, std::size_t beside) const;
    bool is_measured(KernelClass kernel_class, KernelClass beside) const;

    std::map<std::string, std::size_t, std::less<>> kinds_;
    std::vector<KernelClass> classes_; ///< by kind
    std::map<std::pair<std::size_t, std::size_t>, Pair> pairs_;
    std::set<std::pair<std::size_t, std::size_t>> excluded_;
    PairFit fit_;
    std::array<std::array<bool, kKernelClasses>, kKernelClasses> has_class_pair_{}; ///< as of the last refit()
};

} // namespace fathom
