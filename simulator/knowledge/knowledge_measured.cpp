#include "simulator/knowledge/knowledge_measured.hpp"

#include "core/base/never.hpp"
#include "core/base/portable_math.hpp"
#include "simulator/knowledge/knowledge_draws.hpp"
#include "simulator/world/keyed_draw.hpp"

#include <algorithm>
#include <cmath>

namespace fathom::simulation {
namespace {

} // namespace

MeasuredKnowledge::MeasuredKnowledge(const Scenario& scenario, Truth& truth, std::uint64_t seed)
    : scenario_(&scenario), truth_(&truth), seed_(seed), errors_(scenario.knowledge.job_noise, seed)
{
    const KnowledgeSettings& settings = scenario.knowledge;
    const std::size_t unit_types = scenario.network.unit_types.size();
    places_.resize(unit_types * scenario.network.job_types.size());
    const double raw_deviation = portable::hypot(settings.measurement_noise, settings.job_noise);
    for (Place& known : places_)
        known.correction.spread = interval_width(raw_deviation);
    measured_at_s_.resize(unit_types);
    measure_next_s_.resize(unit_types, kNever);
    for (std::size_t type = 0; type < unit_types; ++type) {
        measure(type, 0);
        // Each at its own time, as a network spreads its probes: not all are old at once.
        if (settings.measure_every_s > 0)
            measure_next_s_[type] = settings.measure_every_s * (1 - uniform_of(seed, kMeasurementTimePurpose, type));
        measure_first_s_ = type == 0 ? measure_next_s_[type] : std::min(measure_first_s_, measure_next_s_[type]);
    }
    if (settings.learns) learning_ = std::make_unique<RunLearning>(scenario.network, raw_deviation);
    learn_next_s_ = settings.learn_every_s;
}

MeasuredKnowledge::Place& MeasuredKnowledge::corrected_place(std::uint32_t job_type, std::size_t unit_type)
{
    Place& known = place(job_type, unit_type);
    if (known.learned != learned_) {
        known.learned = learned_;
        known.correction = learning_->correction(job_type, unit_type);
    }
    return known;
}

double MeasuredKnowledge::expected_s(std::size_t job, std::size_t unit_type, std::int64_t unit_count)
{
    const Place& known = corrected_place(scenario_->workload.jobs[job].job_type, unit_type);
    return raw_s(job, unit_type, unit_count, known.raw) * asked_share(job).middle * known.correction.factor;
}

RunTime MeasuredKnowledge::expected_run(std::size_t job, std::size_t unit_type, std::int64_t unit_count)
{
    const double run_s = expected_s(job, unit_type, unit_count);
    const Job& facts = scenario_->workload.jobs[job];
    if (is_asked(facts)) {
        // What the type's runs add is small beside how differently people ask.
        const EstimateShare& share = asked_share(job);
        return {run_s, run_s * (share.low / share.middle), run_s * (share.high / share.middle)};
    }
    const double spread = corrected_place(facts.job_type, unit_type).correction.spread;
    return {run_s, run_s / spread, run_s * spread};
}

bool MeasuredKnowledge::is_asked(const Job& job) const
{
    return scenario_->knowledge.trusts_estimates && job.estimate_s > 0;
}

const EstimateShare& MeasuredKnowledge::asked_share(std::size_t job)
{
    static const EstimateShare kAll;
    const Job& facts = scenario_->workload.jobs[job];
    if (!learning_ || !is_asked(facts)) return kAll;
    if (job != asked_job_ || learned_ != asked_learned_) {
        asked_job_ = job;
        asked_learned_ = learned_;
        asked_share_ = learning_->asked_share(facts.job_type, facts.user, facts.project);
    }
    return asked_share_;
}

double MeasuredKnowledge::raw_s(std::size_t job, std::size_t unit_type, std::int64_t unit_count, double raw)
{
    const Job& facts = scenario_->workload.jobs[job];
    if (!is_asked(facts))
        return true_run_s(scenario_->network, facts, unit_type, unit_count) * errors_.factor(job) * raw;
    Job estimated = facts;
    estimated.work = facts.estimate_s;
    return true_run_s(scenario_->network, estimated, unit_type, unit_count) * raw;
}

void MeasuredKnowledge::measure(std::size_t unit_type, double at_s)
{
    const std::vector<UnitTypeRate>& rates = scenario_->network.unit_types[unit_type].rates;
    const double noise = scenario_->knowledge.measurement_noise;
    for (std::uint32_t job_type = 0; job_type < rates.size(); ++job_type) {
        if (!(rates[job_type].rate > 0)) continue;
        Place& known = place(job_type, unit_type);
        const auto number = static_cast<std::size_t>(&known - places_.data());
        const double error =
            noise > 0 ? portable::exp(noise * normal_of(seed_, kMeasurementErrorPurpose, number, known.measurements))
                      : 1;
        const double raw = 1 / (truth_->drift(job_type, unit_type, at_s) * error);
        known.raw_before = known.measurements == 0 ? raw : known.raw;
        known.raw = raw;
        ++known.measurements;
        ++measurements_;
    }
    measured_at_s_[unit_type] = at_s;
    ++version_;
}

void MeasuredKnowledge::learn(std::size_t job, std::size_t unit_type, std::int64_t unit_count, double slowdown,
                              double actual_s, double now_s)
{
    if (!learning_) return;
    const Job& facts = scenario_->workload.jobs[job];
    const std::uint32_t job_type = facts.job_type;
    const Place& known = place(job_type, unit_type);
    // Held against what its measurement let expect when it began, not against a newer one that knows the drift since.
    const double started_s = now_s - actual_s;
    const double raw = started_s < measured_at_s_[unit_type] ? known.raw_before : known.raw;
    learning_->note({.job_type = job_type,
                     .unit_type = static_cast<std::uint32_t>(unit_type),
                     .unit_count = unit_count,
                     .user = facts.user,
                     .project = facts.project,
                     .raw_s = slowdown * raw_s(job, unit_type, unit_count, raw),
                     .is_asked = is_asked(facts),
                     .actual_s = actual_s,
                     .started_s = started_s,
                     .ended_s = now_s});
}

void MeasuredKnowledge::advance(double now_s)
{
    if (now_s >= measure_first_s_) measure_due(now_s);
    if (learning_ && now_s >= learn_next_s_) rebuild(now_s);
}

void MeasuredKnowledge::measure_due(double now_s)
{
    const double every_s = scenario_->knowledge.measure_every_s;
    for (std::size_t type = 0; type < measure_next_s_.size(); ++type) {
        if (measure_next_s_[type] > now_s) continue;
        // Of several that fell into a time without events, nobody has seen any but the last.
        const double at_s = measure_next_s_[type] + std::floor((now_s - measure_next_s_[type]) / every_s) * every_s;
        measure(type, at_s);
        measure_next_s_[type] = std::max(at_s + every_s, std::nextafter(now_s, kNever));
    }
    measure_first_s_ = *std::min_element(measure_next_s_.begin(), measure_next_s_.end());
}

void MeasuredKnowledge::rebuild(double now_s)
{
    learn_next_s_ = now_s + scenario_->knowledge.learn_every_s;
    if (!learning_->has_news()) return;
    learning_->rebuild(now_s);
    ++learned_;
    ++version_;
    for (const std::size_t type : learning_->find_drifted(measured_at_s_))
        measure(type, now_s);
}

} // namespace fathom::simulation
