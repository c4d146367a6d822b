#pragma once

#include "tests/bench/policies_worlds.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// What the comparison of policies comes to.
namespace fathom::simulation {

inline constexpr std::string_view kOurs = "fathom";
inline constexpr std::string_view kOracle = "oracle";

/// A policy's figures in one world, means over seeds.
struct PolicyRow {
    /// Of all counted jobs: one that has not ended counts with its time until the simulation's end, so that nothing is
    /// gained by leaving it out.
    double mean_completion_s{};
    double p95_completion_s{};
    double mean_slowdown{};
    double utilization{};
    double jain_projects{};
    double prediction_error{};
    double wall_s{};                                           ///< all seeds
    std::vector<std::pair<std::uint64_t, std::size_t>> undone; ///< counted jobs that did not end, with their seed
};

/// By policy.
using PolicyRows = std::map<std::string_view, PolicyRow>;

/// Whether it routes without measuring: one of these is what a site without Fathom has.
bool is_naive(std::string_view policy);

/// The least or the most of what worlds give, and which one gives it.
class Extreme {
  public:
    enum class Kind { kMin, kMax };
    explicit Extreme(Kind kind) : kind_(kind) {}
    void add(double value, const std::string& world);
    const std::optional<double>& value() const { return value_; }
    const std::string& world() const { return world_; }

  private:
    Kind kind_;
    std::optional<double> value_;
    std::string world_;
};

/// Mean completion of the counted jobs as it can be at least (LeastCompletion), and as it would be if jobs that keep
/// checkpoints were interrupted for others, with all run times known (run_interrupted()).
struct LeastMeans {
    double alone_s{};
    double pooled_s{};
    std::optional<double> interrupted_s{}; ///< empty: simulating it would take too long
};

/// Geometric mean of the factors of several worlds.
class MeanFactor {
  public:
    void add(double factor);
    std::optional<double> value() const;

  private:
    double logs_ = 0;
    std::int64_t count_ = 0;
};

/// Gathers figures world by world.
class PolicyFigures {
  public:
    /// Prints how the world's policies compare.
    void add(const PolicyWorld& world, const PolicyRows& rows, const LeastMeans& least);
    /// Prints RESULT lines of what was simulated, and names what was not.
    void print() const;

  private:
    /// What our mean completion over that of jobs alone is made of, factor by factor.
    struct Gap {
        MeanFactor knowledge;        ///< ours over that of the oracle
        MeanFactor not_interrupting; ///< the oracle's over that of jobs that are interrupted
        MeanFactor order;            ///< theirs over the least of one pool of units: also that units are not alike
        MeanFactor other_jobs;       ///< that over jobs alone: no order could avoid it
    };
    void add_gap(double ours_s, double oracle_s, const LeastMeans& least);

    /// Of the worlds in which work is known in one way.
    struct OfKnowledge {
        Extreme gain{Extreme::Kind::kMin};
        Extreme over_oracle{Extreme::Kind::kMax};
    };
    std::map<WorkKnowledge, OfKnowledge> by_knowledge_;
    OfKnowledge all_;
    Extreme over_least_{Extreme::Kind::kMax};
    MeanFactor gains_;
    Gap gap_;
    std::optional<double> reference_s_;
    std::size_t undone_ = 0;
};

} // namespace fathom::simulation
