#pragma once

#include "core/base/portable_math.hpp"
#include "core/schedule/schedule.hpp"
#include "simulator/policies/place_finder.hpp"
#include "simulator/policies/policy_order.hpp"
#include "simulator/policies/shadow_price_tracker.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace fathom::simulation {

struct ComparedWorld {
    Scenario scenario;
    std::vector<std::shared_ptr<const UnitSpeedups>> speedups; ///< by unit type: of the job types that are divided
};

/// The operator that stands for a job type, as schedule() knows it.
inline std::string compared_operator(std::size_t job_type)
{
    return fmt::format("op_{}", job_type);
}

/// What is known of a center's network, as the simulator knows it.
inline std::shared_ptr<const NetworkProfile> compared_profile_of(const Center& center)
{
    if (!(center.network_rate_bytes[0] > 0)) return nullptr;
    std::vector<NetworkSample> samples;
    for (std::size_t hour = 0; hour < center.network_rate_bytes.size(); ++hour) {
        for (const double week_s : {0.0, 168 * 3600.0})
            samples.push_back(
                {moment_of(week_s + (static_cast<double>(hour) + 0.5) * 3600), center.network_rate_bytes[hour]});
    }
    return std::make_shared<const NetworkProfile>(samples);
}

inline std::string compared_unit_type_id(std::size_t type)
{
    return fmt::format("ut_{:02}", type);
}

struct ComparedStarts {
    std::int64_t decisions{};
    std::int64_t starts{};
    std::set<std::size_t> before_turn; ///< jobs that schedule() alone would start so
};

/// The simulated policy, with schedule() asked the same at each decision.
class ComparedPolicy final : public Policy {
  public:
    ComparedPolicy(const ComparedWorld& world, Knowledge& knowledge, ComparedStarts& count)
        : world_(&world), scenario_(&world.scenario), knowledge_(&knowledge), count_(&count),
          own_(order_policy(OrderRule::kAdvantage, LoadKnowledge::kMeasured,
                            {.places = 1'000'000, .project_places = 1'000'000})(world.scenario, knowledge, 1)),
          finder_(world.scenario, knowledge), watch_(world.scenario),
          shadow_prices_(world.scenario.network.unit_types.size()),
          used_unit_s_(world.scenario.workload.projects.size(), std::vector<double>(shadow_prices_.size(), 0))
    {
        for (std::size_t type = 0; type < shadow_prices_.size(); ++type)
            views_.push_back(view_of(type));
    }

    bool hands_over() const override { return false; }
    bool arrive(const PolicyView& view, std::size_t job) override
    {
        if (!own_->arrive(view, job)) return false;
        std::vector<JobOption> options = finder_.find_if_idle(job, view.now_s).options;
        if (!options.empty()) watch_.note_arrival(scenario_->workload.jobs[job], std::move(options));
        waiting_.insert(job);
        return true;
    }
    std::vector<PolicyStart> decide(const PolicyView& view) override
    {
        using Start = std::tuple<std::size_t, std::size_t, std::int64_t>;
        const SchedulePlan plan = plan_of(view);
        std::set<Start> planned;
        for (const ScheduledStart& start : plan.starts) {
            if (start.decision.rank_text.starts_with("before its turn"))
                count_->before_turn.insert(start.job);
            else
                planned.emplace(start.job, type_of(start.winner), start.winner.unit_count);
        }
        std::vector<PolicyStart> starts = own_->decide(view);
        std::set<Start> simulated;
        for (const PolicyStart& start : starts) {
            simulated.emplace(start.job, start.unit_type, start.unit_count);
            running_[start.job] = {start, view.now_s};
            waiting_.erase(start.job);
            watch_.note_use(start.unit_type, start.unit_count, view.now_s);
        }
        EXPECT_EQ(planned, simulated) << "at " << view.now_s << " with " << waiting_.size() << " left waiting";
        ++count_->decisions;
        count_->starts += std::ssize(starts);
        return starts;
    }
    std::vector<std::size_t> take_given_up() override
    {
        std::vector<std::size_t> jobs = own_->take_given_up();
        for (const std::size_t job : jobs)
            waiting_.erase(job);
        return jobs;
    }
    double wake_at_s(const PolicyView& view) const override { return own_->wake_at_s(view); }
    void end(const PolicyView& view, const PolicyStart& start, double started_s, bool has_failed) override
    {
        own_->end(view, start, started_s, has_failed);
        running_.erase(start.job);
        watch_.note_use(start.unit_type, -start.unit_count, view.now_s);
        decay_uses(view.now_s);
        used_unit_s_[scenario_->workload.jobs[start.job].project][start.unit_type] +=
            (view.now_s - started_s) * static_cast<double>(start.unit_count);
    }

  private:
    struct Running {
        PolicyStart start;
        double started_s{};
    };

    std::size_t type_of(const Candidate& place) const
    {
        const auto found = std::find_if(views_.begin(), views_.end(),
                                        [&](const UnitTypeView& view) { return view.id == place.unit_type_id; });
        return static_cast<std::size_t>(found - views_.begin());
    }

    UnitTypeView view_of(std::size_t type) const
    {
        const UnitType& facts = scenario_->network.unit_types[type];
        UnitTypeView view;
        view.id = UnitTypeId{compared_unit_type_id(type)};
        view.name = facts.name;
        view.center_id = CenterId{fmt::format("ctr_{}", facts.center)};
        view.center_name = scenario_->network.centers[facts.center].name;
        view.resource_type = "cpu";
        view.unit_count = facts.unit_count;
        view.availability = Availability(facts.unit_count);
        view.network = compared_profile_of(scenario_->network.centers[facts.center]);
        view.price = std::make_shared<const UnitPrice>(facts.price);
        view.speedups = world_->speedups[type];
        for (std::size_t i = 0; i < scenario_->network.job_types.size(); ++i) {
            if (facts.rates[i].rate > 0) view.operators.push_back(compared_operator(i));
        }
        for (std::size_t job = 0; job < scenario_->workload.jobs.size(); ++job) {
            const Job& asked = scenario_->workload.jobs[job];
            if (!(facts.rates[asked.job_type].rate > 0)) continue;
            const bool is_divided = scenario_->network.job_types[asked.job_type].scaling != Scaling::kFixed;
            MeasuredOperator one;
            one.operator_id = compared_operator(asked.job_type);
            one.parameters_key = fmt::format("n={}", job);
            one.operations = 1e6;
            one.median_s = one.ci_low_s = one.ci_high_s =
                scenario_->network.centers[facts.center].start_up_s +
                knowledge_->expected_s(job, type, is_divided ? 1 : asked.unit_count);
            view.measured.push_back(one);
        }
        return view;
    }

    RouteRequest request_of(std::size_t job, double now_s) const
    {
        const Job& asked = scenario_->workload.jobs[job];
        const JobDetails& details = scenario_->workload.details[asked.details];
        RouteRequest request;
        request.project = scenario_->workload.projects[asked.project];
        request.operators = {{compared_operator(asked.job_type), fmt::format("n={}", job), 1, 1e6, 1e5}};
        request.units.min = asked.unit_count;
        request.units.max = std::max(asked.unit_count, asked.max_units);
        if (request.units.max == request.units.min) request.units.count = asked.unit_count;
        request.transfer.now = moment_of(now_s);
        request.transfer.in_bytes = details.data_in_bytes;
        request.transfer.out_bytes = details.data_out_bytes;
        if (details.deadline_in_s)
            request.transfer.deadline =
                moment_after(moment_of(now_s), asked.arrival_s + *details.deadline_in_s - now_s);
        request.prefer = details.prefer;
        request.budget = details.budget;
        return request;
    }

    UnitCalendar calendar_at(double now_s) const
    {
        UnitCalendar calendar;
        for (std::size_t type = 0; type < views_.size(); ++type) {
            const Center& center = scenario_->network.centers[scenario_->network.unit_types[type].center];
            for (const Closure& one : center.closures) {
                if (one.to_s > now_s)
                    calendar.closures.push_back(
                        {UnitTypeId{compared_unit_type_id(type)}, moment_of(one.from_s), moment_of(one.to_s)});
            }
        }
        return calendar;
    }

    void decay_uses(double now_s)
    {
        const double factor = portable::exp2(-(now_s - decayed_at_s_) / (7 * 86400.0));
        decayed_at_s_ = now_s;
        for (std::vector<double>& uses : used_unit_s_) {
            for (double& use : uses)
                use *= factor;
        }
    }

    SchedulePlan plan_of(const PolicyView& view)
    {
        ScheduleInput input;
        for (const std::size_t job : waiting_) {
            ReadyJob ready;
            ready.id = fmt::format("{:06}", job);
            ready.kind = ready.id;
            ready.request = request_of(job, view.now_s);
            ready.waited_s = view.now_s - scenario_->workload.jobs[job].arrival_s;
            ready.priority = scenario_->workload.details[scenario_->workload.jobs[job].details].priority;
            input.jobs.push_back(std::move(ready));
        }
        jobs_ = {waiting_.begin(), waiting_.end()};
        decay_uses(view.now_s);
        for (std::size_t project = 0; project < used_unit_s_.size(); ++project) {
            ProjectUse use;
            use.project = scenario_->workload.projects[project];
            for (std::size_t type = 0; type < views_.size(); ++type)
                use.used_unit_s[compared_unit_type_id(type)] = used_unit_s_[project][type];
            for (const auto& [job, one] : running_) {
                if (scenario_->workload.jobs[job].project == project)
                    use.units[compared_unit_type_id(one.start.unit_type)] += one.start.unit_count;
            }
            input.project_uses.push_back(std::move(use));
        }
        if (watch_.has_news((waiting_.size() + 1) * views_.size())) shadow_prices_ = watch_.shadow_prices();
        const auto loads = std::make_shared<UnitTypeLoads>();
        for (std::size_t type = 0; type < views_.size(); ++type) {
            loads->busy_shares[compared_unit_type_id(type)] = watch_.load(type, view.now_s);
            if (shadow_prices_[type]) loads->shadow_prices[compared_unit_type_id(type)] = *shadow_prices_[type];
        }
        input.loads = loads;
        std::vector<Reservation> taken;
        for (const auto& [job, one] : running_) {
            taken.push_back({.unit_type_id = UnitTypeId{compared_unit_type_id(one.start.unit_type)},
                             .unit_count = one.start.unit_count,
                             .release_s = one.started_s + one.start.predicted_s - view.now_s});
        }
        const UnitCalendar calendar = calendar_at(view.now_s);
        UnitLedger units(views_, {}, {.calendar = &calendar, .reserved = taken, .now = moment_of(view.now_s)});
        SchedulePlan plan = schedule(units, input);
        for (ScheduledStart& start : plan.starts)
            start.job = jobs_[start.job];
        return plan;
    }

    const ComparedWorld* world_;
    const Scenario* scenario_;
    Knowledge* knowledge_;
    ComparedStarts* count_;
    std::unique_ptr<Policy> own_;
    PlaceFinder finder_;
    ShadowPriceTracker watch_;
    std::vector<std::optional<double>> shadow_prices_;
    std::vector<std::vector<double>> used_unit_s_; ///< by project and unit type
    double decayed_at_s_ = 0;
    std::vector<UnitTypeView> views_;
    std::vector<std::size_t> jobs_; ///< of the last plan
    std::set<std::size_t> waiting_;
    std::map<std::size_t, Running> running_;
};

} // namespace fathom::simulation
