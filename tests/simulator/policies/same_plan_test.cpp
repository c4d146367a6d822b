#include "core/base/portable_math.hpp"
#include "core/schedule/schedule.hpp"
#include "simulator/policies/place_finder.hpp"
#include "simulator/policies/policy_order.hpp"
#include "simulator/policies/shadow_price_tracker.hpp"
#include "simulator/world/draw.hpp"
#include "tests/simulator/engine/small_scenario.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

// The simulator and the server decide alike: at each moment of simulations of random networks, what the server's
// schedule() makes of the same jobs, units, loads and uses is what the simulated policy starts. Only schedule() plans
// what waits, too, and may find that a job does best to start "before its turn" when those that go first have theirs.
namespace fathom::simulation {
namespace {

constexpr std::int32_t kMaxUnits = 12;

std::size_t whole(Draw& draw, std::size_t least, std::size_t most)
{
    return least + draw.index(most - least + 1);
}

/// Speed-ups as a fitted curve gives them.
std::shared_ptr<const OperatorSpeedup> random_speedup(Draw& draw, const std::string& operator_id)
{
    const double serial = draw.uniform(0.02, 0.4);
    std::vector<ScalingPoint> points;
    for (const double count : {1.0, 2.0, 4.0, 8.0})
        points.push_back({.unit_count = count, .rate = 1 / (serial + (1 - serial) / count)});
    return std::make_shared<const OperatorSpeedup>(operator_id, "n=1", 1e6,
                                                   fit_scaling(points, ScalingMode::kStrong).value());
}

std::string operator_of(std::size_t job_type)
{
    return fmt::format("op_{}", job_type);
}

struct World {
    Scenario scenario;
    std::vector<std::shared_ptr<const UnitSpeedups>> speedups; ///< by unit type: of job type 1
};

UnitPrice random_price(Draw& draw)
{
    PriceEntry price;
    price.per_unit_hour_micros = static_cast<std::int64_t>(draw.uniform(0, 2e6));
    if (draw.uniform() < 0.3) price.bands = {{{}, 0, static_cast<int>(whole(draw, 1, 24)), 1000}};
    price.unit_power_w = draw.uniform(50, 300);
    return UnitPrice(price);
}

JobDetails random_details(Draw& draw)
{
    JobDetails details;
    details.priority = static_cast<std::int32_t>(whole(draw, 0, 200)) - 100;
    if (draw.uniform() < 0.3) details.deadline_in_s = draw.uniform(2'000, 40'000);
    if (draw.uniform() < 0.2) details.budget = draw.uniform(0.05, 2);
    if (draw.uniform() < 0.3) details.data_in_bytes = draw.uniform(0, 1e10);
    if (draw.uniform() < 0.3) details.prefer = {0.4, 0.4, 0.2};
    return details;
}

void add_network(Draw& draw, World& world)
{
    Network& network = world.scenario.network;
    network.job_types = {{"fixed", Scaling::kFixed}, {"divided", Scaling::kTable}, {"other", Scaling::kFixed}};
    const std::size_t centers = whole(draw, 1, 3);
    for (std::size_t i = 0; i < centers; ++i) {
        Center center = make_center(fmt::format("center_{}", i));
        if (draw.uniform() < 0.5) center.network_rate_bytes.fill(draw.uniform(1e7, 1e9));
        network.centers.push_back(center);
    }
    const std::size_t types = whole(draw, 1, 4);
    for (std::size_t type = 0; type < types; ++type) {
        UnitType one = make_unit_type(fmt::format("unit_{}", type), draw.index(centers),
                                      static_cast<std::int64_t>(whole(draw, 1, 9)), {});
        for (std::size_t i = 0; i < 3; ++i)
            one.rates.push_back({draw.uniform() < 0.2 ? 0 : draw.uniform(0.2, 5), {}});
        const auto speedup = random_speedup(draw, operator_of(1));
        for (std::int64_t count = 1; count <= kMaxUnits; ++count)
            one.rates[1].speedups.push_back({count, speedup->at(count).factor});
        world.speedups.push_back(std::make_shared<const UnitSpeedups>(UnitSpeedups{speedup}));
        one.price = random_price(draw);
        network.unit_types.push_back(one);
    }
}

void add_workload(Draw& draw, Workload& workload)
{
    workload.projects.clear();
    const std::size_t projects = whole(draw, 1, 3);
    for (std::size_t i = 0; i < projects; ++i)
        workload.projects.push_back(fmt::format("project_{}", i));
    for (std::size_t i = 0; i < 5; ++i)
        workload.details.push_back(random_details(draw));
    const double gap_s = draw.uniform() < 0.5 ? 150 : 600;
    double now_s = 0;
    for (std::size_t i = 0; i < 60; ++i) {
        if (draw.uniform() < 0.8) now_s += draw.exponential(gap_s);
        Job job = make_job(now_s, 1 + draw.exponential(1500), static_cast<std::int32_t>(whole(draw, 1, 4)),
                           static_cast<std::uint32_t>(draw.index(3)));
        job.project = static_cast<std::uint32_t>(draw.index(projects));
        if (draw.uniform() < 0.4) job.details = static_cast<std::uint32_t>(draw.index(workload.details.size()));
        if (job.job_type == 1 && draw.uniform() < 0.6)
            job.most_units = static_cast<std::int32_t>(whole(draw, 1, kMaxUnits));
        workload.jobs.push_back(job);
    }
    workload.end_counted = workload.jobs.size();
}

World random_world(std::uint64_t seed)
{
    Draw draw(seed);
    World world;
    add_network(draw, world);
    add_workload(draw, world.scenario.workload);
    world.scenario.knowledge = certainty();
    return world;
}

/// What is known of a center's network, as the simulator knows it.
std::shared_ptr<const NetworkProfile> profile_of(const Center& center)
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

std::string unit_type_id(std::size_t type)
{
    return fmt::format("ut_{:02}", type);
}

struct Count {
    std::int64_t decisions{};
    std::int64_t starts{};
    std::int64_t before_turn{}; ///< started so by schedule() only
};

/// The simulated policy, with schedule() asked the same at each decision.
class ComparedPolicy final : public Policy {
  public:
    ComparedPolicy(const World& world, Knowledge& knowledge, Count& count)
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
            if (start.decision.turn.starts_with("before its turn"))
                ++count_->before_turn;
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
        view.id = UnitTypeId{unit_type_id(type)};
        view.name = facts.name;
        view.center_id = CenterId{fmt::format("ctr_{}", facts.center)};
        view.center_name = scenario_->network.centers[facts.center].name;
        view.resource_type = "cpu";
        view.unit_count = facts.unit_count;
        view.availability = Availability(facts.unit_count);
        view.network = profile_of(scenario_->network.centers[facts.center]);
        view.price = std::make_shared<const UnitPrice>(facts.price);
        view.speedups = world_->speedups[type];
        for (std::size_t i = 0; i < scenario_->network.job_types.size(); ++i) {
            if (facts.rates[i].rate > 0) view.operators.push_back(operator_of(i));
        }
        for (std::size_t job = 0; job < scenario_->workload.jobs.size(); ++job) {
            const Job& asked = scenario_->workload.jobs[job];
            if (!(facts.rates[asked.job_type].rate > 0)) continue;
            const bool is_divided = asked.job_type == 1;
            MeasuredOperator one;
            one.operator_id = operator_of(asked.job_type);
            one.parameters_key = fmt::format("n={}", job);
            one.operations = 1e6;
            one.median_s = one.ci_low_s = one.ci_high_s =
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
        request.operators = {{operator_of(asked.job_type), fmt::format("n={}", job), 1, 1e6, 1e5}};
        request.units.min = asked.unit_count;
        request.units.max = std::max(asked.unit_count, asked.most_units);
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
                use.used_unit_s[unit_type_id(type)] = used_unit_s_[project][type];
            for (const auto& [job, one] : running_) {
                if (scenario_->workload.jobs[job].project == project)
                    use.units[unit_type_id(one.start.unit_type)] += one.start.unit_count;
            }
            input.project_uses.push_back(std::move(use));
        }
        if (watch_.has_news((waiting_.size() + 1) * views_.size())) shadow_prices_ = watch_.shadow_prices();
        const auto loads = std::make_shared<UnitTypeLoads>();
        for (std::size_t type = 0; type < views_.size(); ++type) {
            loads->busy_shares[unit_type_id(type)] = watch_.load(type, view.now_s);
            if (shadow_prices_[type]) loads->shadow_prices[unit_type_id(type)] = *shadow_prices_[type];
        }
        input.loads = loads;
        std::vector<Reservation> taken;
        for (const auto& [job, one] : running_) {
            taken.push_back({.unit_type_id = UnitTypeId{unit_type_id(one.start.unit_type)},
                             .unit_count = one.start.unit_count,
                             .release_s = one.started_s + one.start.predicted_s - view.now_s});
        }
        UnitLedger units(views_, {}, {}, taken, {}, moment_of(view.now_s));
        SchedulePlan plan = schedule(units, input);
        for (ScheduledStart& start : plan.starts)
            start.job = jobs_[start.job];
        return plan;
    }

    const World* world_;
    const Scenario* scenario_;
    Knowledge* knowledge_;
    Count* count_;
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

TEST(SamePlan, SimulatorAndServerStartTheSameJobsAtTheSamePlaces)
{
    Count count;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE(fmt::format("seed {}", seed));
        const World world = random_world(seed);
        const PolicyMaker maker = [&](const Scenario&, Knowledge& knowledge, std::uint64_t) {
            return std::make_unique<ComparedPolicy>(world, knowledge, count);
        };
        const Result<SimulationResult> result = simulate(world.scenario, maker, seed);
        ASSERT_TRUE(result) << describe(result.error());
    }
    EXPECT_GT(count.decisions, 3000);
    EXPECT_GT(count.starts, 2000);
    EXPECT_LT(count.before_turn, count.starts / 500);
}

} // namespace
} // namespace fathom::simulation
