#include "simulator/knowledge/knowledge.hpp"

#include "simulator/knowledge/knowledge_measured.hpp"
#include "simulator/knowledge/knowledge_nominal.hpp"
#include "simulator/world/truth.hpp"

#include <cmath>

namespace fathom::simulation {
namespace {

constexpr double kHourS = 3600;

/// Knows everything but what chance will add to a run.
class PerfectKnowledge final : public Knowledge {
  public:
    PerfectKnowledge(const Scenario& scenario, Truth& truth) : scenario_(&scenario), truth_(&truth) {}

    double expected_s(std::size_t job, std::size_t unit_type, std::int64_t unit_count) override
    {
        const Job& facts = scenario_->workload.jobs[job];
        return true_run_s(scenario_->network, facts, unit_type, unit_count,
                          truth_->drift(facts.job_type, unit_type, now_s_));
    }
    std::uint64_t version() const override
    {
        // Rates wander in steps of an hour.
        return scenario_->knowledge.drift_per_day > 0 ? static_cast<std::uint64_t>(now_s_ / kHourS) : 0;
    }
    void advance(double now_s) override { now_s_ = now_s; }

  private:
    const Scenario* scenario_;
    Truth* truth_;
    double now_s_ = 0;
};

} // namespace

std::unique_ptr<Knowledge> make_knowledge(KnowledgeKind kind, const Scenario& scenario, Truth& truth,
                                          std::uint64_t seed)
{
    switch (kind) {
    case KnowledgeKind::kMeasured:
        return std::make_unique<MeasuredKnowledge>(scenario, truth, seed);
    case KnowledgeKind::kPerfect:
        return std::make_unique<PerfectKnowledge>(scenario, truth);
    case KnowledgeKind::kNominal:
        break;
    }
    return std::make_unique<NominalKnowledge>(scenario, seed);
}

} // namespace fathom::simulation
