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

/// Gathers figures world by world.
class PolicyFigures {
  public:
    /// Prints how the world's policies compare.
    /// @param least_s  mean completion of its counted jobs, were each alone in the network.
    void add(const PolicyWorld& world, const PolicyRows& rows, double least_s);
    /// Prints RESULT lines of what was simulated, and names what was not.
    void print() const;

  private:
    /// Of the worlds in which work is known in one way.
    struct OfKnowledge {
        Extreme gain{Extreme::Kind::kMin};
        Extreme over_oracle{Extreme::Kind::kMax};
    };
    std::map<WorkKnowledge, OfKnowledge> by_knowledge_;
    OfKnowledge all_;
    Extreme over_least_{Extreme::Kind::kMax};
    double log_gains_ = 0;
    std::int64_t gains_ = 0;
    std::optional<double> reference_s_;
    std::size_t undone_ = 0;
};

} // namespace fathom::simulation
