#include "cli/simulate/policy_order.hpp"

#include "cli/simulate/place_finder.hpp"
#include "cli/simulate/price_watch.hpp"
#include "cli/simulate/project_loads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <unordered_map>

namespace fathom::simulation {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

class OrderPolicy final : public Policy {
  public:
    OrderPolicy(const Scenario& scenario, Knowledge& knowledge, OrderRule rule, LoadKnowledge load)
        : scenario_(scenario), knowledge_(knowledge), load_(load), finder_(scenario, knowledge), prices_(scenario),
          projects_(scenario), version_(knowledge.version())
    {
        settings_.rule = rule;
        for (const UnitType& type : scenario.network.unit_types) {
            types_.emplace_back();
            types_.back().unit_count = type.unit_count;
        }
        running_.resize(types_.size());
    }

    bool hands_over() const override { return false; }

    bool arrive(const PolicyView& view, std::size_t job) override
    {
        Waiting waiting;
        waiting.job = job;
        waiting.view.id = fmt::format("{:012}", job); // so that ids sort as jobs arrive
        waiting.view.priority = details(job).priority;
        find_places(waiting, view.now_s);
        if (waiting.places.is_hopeless) return false;
        prices_.note_arrival(scenario_.workload.jobs[job], waiting.places.options, view.now_s);
        waiting_.push_back(std::move(waiting));
        return true;
    }

    std::vector<PolicyStart> decide(const PolicyView& view) override
    {
        given_up_.clear();
        renew_places(view.now_s);
        look_at_units(view);
        look_at_prices(view.now_s);
        look_at_projects(view.now_s);
        std::vector<WaitingJobView> views;
        for (Waiting& one : waiting_) {
            views.push_back(one.view);
            views.back().waited_s = view.now_s - scenario_.workload.jobs[one.job].arrival_s;
            if (one.places.hold_until_s < kNever) continue;
            views.back().options = one.places.options;
            if (one.places.latest_start_s < kNever)
                views.back().latest_start_s = one.places.latest_start_s - view.now_s;
        }
        std::vector<PolicyStart> starts;
        std::vector<std::size_t> started;
        for (const OrderedStart& start : order_starts(views, types_, settings_)) {
            const JobOption& option = waiting_[start.job].places.options[start.option];
            starts.push_back({waiting_[start.job].job, option.unit_type, option.unit_count, option.run_s});
            note_start(starts.back(), view.now_s);
            started.push_back(start.job);
        }
        std::sort(started.begin(), started.end(), std::greater<>());
        for (const std::size_t place : started)
            remove(place);
        return starts;
    }

    std::vector<std::size_t> take_given_up() override { return std::move(given_up_); }

    double wake_at_s(const PolicyView& view) const override
    {
        double wake_s = kNever;
        for (const Waiting& one : waiting_)
            wake_s = std::min({wake_s, one.places.hold_until_s, one.places.valid_until_s});
        return std::max(wake_s, std::nextafter(view.now_s, kNever));
    }

    void end(const PolicyView& view, const PolicyStart& start, double started_s, bool /*has_failed*/) override
    {
        const Job& job = scenario_.workload.jobs[start.job];
        prices_.note_use(start.unit_type, -start.unit_count, view.now_s);
        projects_.note_end(job, start.unit_type, start.unit_count, view.now_s - started_s, view.now_s);
        std::erase_if(running_[start.unit_type], [&](const Running& one) { return one.job == start.job; });
    }

  private:
    struct Waiting {
        std::size_t job{};
        bool has_held = false;
        JobPlaces places;
        WaitingJobView view;
    };
    struct Running {
        std::size_t job{};
        std::int64_t unit_count{};
        double expected_end_s{};
    };

    const JobDetails& details(std::size_t job) const
    {
        return scenario_.workload.details[scenario_.workload.jobs[job].details];
    }

    void find_places(Waiting& waiting, double now_s)
    {
        waiting.has_held = waiting.has_held || waiting.places.hold_until_s <= now_s;
        waiting.places =
            finder_.find(waiting.job, now_s, waiting.has_held ? PlaceFinder::Hold::kOver : PlaceFinder::Hold::kAllowed);
    }

    void renew_places(double now_s)
    {
        const bool is_news = version_ != knowledge_.version();
        version_ = knowledge_.version();
        for (std::size_t i = waiting_.size(); i-- > 0;) {
            Waiting& one = waiting_[i];
            if (!is_news && now_s < std::min(one.places.hold_until_s, one.places.valid_until_s)) continue;
            find_places(one, now_s);
            if (!one.places.is_hopeless) continue;
            given_up_.push_back(one.job);
            remove(i);
        }
    }

    void look_at_units(const PolicyView& view)
    {
        for (std::size_t type = 0; type < types_.size(); ++type) {
            types_[type].free_units = view.reports[type].free_units;
            const UnitType& own = scenario_.network.unit_types[type];
            if (open_for_s(scenario_.network.centers[own.center], view.now_s) <= 0) types_[type].free_units = 0;
            types_[type].releases.clear();
            for (const Running& one : running_[type])
                types_[type].releases.push_back({std::abs(one.expected_end_s - view.now_s), one.unit_count});
        }
    }

    void look_at_prices(double now_s)
    {
        const bool weighs_places =
            settings_.rule == OrderRule::kAdvantage || settings_.rule == OrderRule::kMinCostAssignment;
        if (!weighs_places) return;
        if (prices_.has_news()) {
            const std::vector<UnitWorth> worths = prices_.worths(now_s);
            for (std::size_t type = 0; type < types_.size(); ++type)
                types_[type].worth = worths[type].worth;
        }
        for (std::size_t type = 0; load_ == LoadKnowledge::kMeasured && type < types_.size(); ++type)
            types_[type].load = prices_.load(type, now_s);
    }

    void look_at_projects(double now_s)
    {
        if (!projects_.matter()) return;
        std::vector<ProjectLoads::Wanted> wanted;
        std::vector<std::size_t> who;
        for (std::size_t i = 0; i < waiting_.size(); ++i) {
            const Waiting& one = waiting_[i];
            if (one.places.options.empty()) continue;
            const JobOption& first = one.places.options.front();
            wanted.push_back({scenario_.workload.jobs[one.job].project, details(one.job).priority, one.job,
                              first.unit_type, first.unit_count});
            who.push_back(i);
        }
        const std::vector<double> loads = projects_.loads(wanted, now_s);
        for (std::size_t i = 0; i < who.size(); ++i)
            waiting_[who[i]].view.fair_load = loads[i];
    }

    void note_start(const PolicyStart& start, double now_s)
    {
        prices_.note_use(start.unit_type, start.unit_count, now_s);
        projects_.note_start(scenario_.workload.jobs[start.job], start.unit_type, start.unit_count);
        running_[start.unit_type].push_back({start.job, start.unit_count, now_s + start.predicted_s});
    }

    void remove(std::size_t place)
    {
        std::swap(waiting_[place], waiting_.back());
        waiting_.pop_back();
    }

    const Scenario& scenario_;
    Knowledge& knowledge_;
    OrderSettings settings_;
    LoadKnowledge load_;
    PlaceFinder finder_;
    PriceWatch prices_;
    ProjectLoads projects_;
    std::uint64_t version_; ///< of the knowledge, when the places were found
    std::vector<UnitTypeLoad> types_;
    std::vector<std::vector<Running>> running_; ///< by unit type
    std::vector<Waiting> waiting_;
    std::vector<std::size_t> given_up_;
};

} // namespace

PolicyMaker order_policy(OrderRule rule, LoadKnowledge load)
{
    return [rule, load](const Scenario& scenario, Knowledge& knowledge, std::uint64_t /*seed*/) {
        return std::make_unique<OrderPolicy>(scenario, knowledge, rule, load);
    };
}

} // namespace fathom::simulation
