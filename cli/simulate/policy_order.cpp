#include "cli/simulate/policy_order.hpp"

#include "cli/simulate/place_finder.hpp"
#include "cli/simulate/price_watch.hpp"
#include "cli/simulate/project_loads.hpp"
#include "core/decide/order_book.hpp"
#include "core/decide/order_index.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace fathom::simulation {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kLeastSleep_s = 1e-3;   ///< what expires is looked at again after so long at the earliest
constexpr double kWeek_s = 7 * 86'400.0; ///< then prices and networks come again
/// Loads of units and of projects change all the time, and each change concerns all that waits. So much work a decision
/// may go into that, counted in places of jobs: with few jobs loads are always of this moment, with very many they are
/// some decisions old.
constexpr std::size_t kPlacesPerDecision = 256;
constexpr std::size_t kProjectPlacesPerDecision = 2048; ///< more where it is to be shared, which goes by loads alone

std::vector<std::int64_t> unit_counts(const Network& network)
{
    std::vector<std::int64_t> counts;
    for (const UnitType& type : network.unit_types)
        counts.push_back(type.unit_count);
    return counts;
}

class OrderPolicy final : public Policy {
  public:
    OrderPolicy(const Scenario& scenario, Knowledge& knowledge, const OrderSettings& settings, LoadKnowledge load)
        : scenario_(scenario), knowledge_(knowledge), weighs_places_(weighs_places(settings.rule)), load_(load),
          finder_(scenario, knowledge), prices_(scenario), projects_(scenario), version_(knowledge.version()),
          book_(settings, unit_counts(scenario.network))
    {
    }

    bool hands_over() const override { return false; }

    bool arrive(const PolicyView& view, std::size_t job) override
    {
        Waiting waiting;
        waiting.possible_at_s = view.now_s;
        JobPlaces places = find_places(waiting, job, view.now_s);
        if (places.is_hopeless) return false;
        if (weighs_places_ && !places.options.empty())
            prices_.note_arrival(scenario_.workload.jobs[job], places.options, view.now_s);
        book(waiting_.emplace(job, waiting).first, std::move(places));
        return true;
    }

    std::vector<PolicyStart> decide(const PolicyView& view) override
    {
        ++decisions_;
        renew_places(view.now_s);
        look_at_units(view);
        look_at_prices(view.now_s);
        look_at_projects(view.now_s);
        std::vector<PolicyStart> starts;
        for (const BookedStart& start : book_.decide(view.now_s)) {
            const std::size_t job = jobs_[start.job];
            starts.push_back({job, start.place.unit_type, start.place.unit_count, start.place.run_s});
            note_start(starts.back(), view.now_s);
            forget(waiting_.find(job));
        }
        return starts;
    }

    std::vector<std::size_t> take_given_up() override { return std::exchange(given_up_, {}); }

    double wake_at_s(const PolicyView& /*view*/) const override
    {
        return alarms_.empty() ? kNever : alarms_.begin()->first;
    }

    void end(const PolicyView& view, const PolicyStart& start, double started_s, bool /*has_failed*/) override
    {
        const Job& job = scenario_.workload.jobs[start.job];
        prices_.note_use(start.unit_type, -start.unit_count, view.now_s);
        projects_.note_end(job, start.unit_type, start.unit_count, view.now_s - started_s, view.now_s);
        book_.remove_release(start.unit_type, started_s + start.predicted_s, start.unit_count);
    }

  private:
    struct Waiting {
        std::optional<std::size_t> number; ///< in the book; none: there is no place now, or it is held
        double hold_until_s = kNever;      ///< it was held, or is, for a good time to start
        double alarm_s = kNever;           ///< its places are to be found anew then
        double possible_at_s{};            ///< when it last had a place, now or later
        JobOption first;                   ///< of its places
    };
    using WaitingJobs = std::map<std::size_t, Waiting>; ///< by job

    const JobDetails& details(std::size_t job) const
    {
        return scenario_.workload.details[scenario_.workload.jobs[job].details];
    }

    JobPlaces find_places(Waiting& waiting, std::size_t job, double now_s)
    {
        const bool is_over = waiting.hold_until_s <= now_s;
        JobPlaces places = finder_.find(job, now_s, is_over ? PlaceFinder::Hold::kOver : PlaceFinder::Hold::kAllowed);
        const bool is_held = places.hold_until_s < kNever;
        if (is_held) waiting.hold_until_s = places.hold_until_s;
        waiting.alarm_s = is_held ? places.hold_until_s : places.valid_until_s;
        if (waiting.alarm_s < kNever) waiting.alarm_s = std::max(waiting.alarm_s, now_s + kLeastSleep_s);
        if (!places.options.empty() || places.hold_until_s < kNever)
            waiting.possible_at_s = now_s;
        else if (now_s - waiting.possible_at_s > kWeek_s)
            places.is_hopeless = true;
        return places;
    }

    void book(WaitingJobs::iterator entry, JobPlaces places)
    {
        auto& [job, waiting] = *entry;
        if (waiting.alarm_s < kNever) alarms_.emplace(waiting.alarm_s, job);
        if (places.options.empty()) return;
        const Job& asked = scenario_.workload.jobs[job];
        waiting.first = places.options.front();
        BookedJob booked;
        booked.key = job;
        booked.options = std::move(places.options);
        booked.since_s = asked.arrival_s;
        booked.fair_load = projects_.load(asked.project);
        booked.priority = details(job).priority;
        if (places.latest_start_s < kNever) booked.latest_start_s = places.latest_start_s;
        waiting.number = book_.add(std::move(booked));
        jobs_.resize(std::max(jobs_.size(), *waiting.number + 1));
        jobs_[*waiting.number] = job;
    }

    void take_out(WaitingJobs::iterator entry)
    {
        Waiting& waiting = entry->second;
        if (waiting.alarm_s < kNever) alarms_.erase({waiting.alarm_s, entry->first});
        if (waiting.number) book_.remove(*std::exchange(waiting.number, std::nullopt));
    }

    void forget(WaitingJobs::iterator entry)
    {
        take_out(entry);
        waiting_.erase(entry);
    }

    void renew(WaitingJobs::iterator entry, double now_s)
    {
        take_out(entry);
        JobPlaces places = find_places(entry->second, entry->first, now_s);
        if (places.is_hopeless) {
            given_up_.push_back(entry->first);
            waiting_.erase(entry);
        } else {
            book(entry, std::move(places));
        }
    }

    void renew_places(double now_s)
    {
        if (std::exchange(version_, knowledge_.version()) != version_) {
            for (auto entry = waiting_.begin(); entry != waiting_.end();)
                renew(entry++, now_s);
        }
        while (!alarms_.empty() && alarms_.begin()->first <= now_s)
            renew(waiting_.find(alarms_.begin()->second), now_s);
    }

    void look_at_units(const PolicyView& view)
    {
        const Network& network = scenario_.network;
        for (std::size_t type = 0; type < network.unit_types.size(); ++type)
            book_.set_free(type, view.reports[type].free_units,
                           open_for_s(network.centers[network.unit_types[type].center], view.now_s));
    }

    /// Whether work on so many places may be done again that was done last at that decision.
    bool is_time(std::int64_t last_decision, std::size_t places, std::size_t per_decision) const
    {
        return places <= per_decision * static_cast<std::size_t>(decisions_ - last_decision);
    }

    void look_at_prices(double now_s)
    {
        if (!weighs_places_) return;
        const std::size_t types = scenario_.network.unit_types.size();
        const std::size_t places = (waiting_.size() + 1) * types;
        if (prices_.has_news(places)) {
            const std::vector<UnitWorth> worths = prices_.worths(now_s);
            for (std::size_t type = 0; type < types; ++type)
                book_.set_worth(type, worths[type].worth);
        }
        if (load_ == LoadKnowledge::kAssumedFull || !is_time(loads_at_, places, kPlacesPerDecision)) return;
        loads_at_ = decisions_;
        for (std::size_t type = 0; type < types; ++type)
            book_.set_load(type, prices_.load(type, now_s));
    }

    void look_at_projects(double now_s)
    {
        if (!projects_.matter() || !is_time(projects_at_, projects_.effort(waiting_.size()), kProjectPlacesPerDecision))
            return;
        projects_at_ = decisions_;
        std::vector<ProjectLoads::Wanted> wanted;
        for (const auto& [job, waiting] : waiting_) {
            if (!waiting.number) continue;
            wanted.push_back({scenario_.workload.jobs[job].project, details(job).priority, *waiting.number,
                              waiting.first.unit_type, waiting.first.unit_count});
        }
        const std::vector<double> loads = projects_.update(wanted, now_s);
        for (std::size_t i = 0; i < wanted.size(); ++i)
            book_.set_fair_load(wanted[i].number, loads[i]);
    }

    void note_start(const PolicyStart& start, double now_s)
    {
        prices_.note_use(start.unit_type, start.unit_count, now_s);
        projects_.note_start(scenario_.workload.jobs[start.job], start.unit_type, start.unit_count);
        book_.add_release(start.unit_type, now_s + start.predicted_s, start.unit_count);
    }

    const Scenario& scenario_;
    Knowledge& knowledge_;
    bool weighs_places_;
    LoadKnowledge load_;
    PlaceFinder finder_;
    PriceWatch prices_;
    ProjectLoads projects_;
    std::uint64_t version_; ///< of the knowledge, when the places were found
    OrderBook book_;
    std::vector<std::size_t> jobs_; ///< by number in the book
    WaitingJobs waiting_;
    std::set<std::pair<double, std::size_t>> alarms_; ///< with the job
    std::vector<std::size_t> given_up_;
    std::int64_t decisions_ = 0;
    std::int64_t loads_at_ = 0;    ///< decision
    std::int64_t projects_at_ = 0; ///< decision
};

} // namespace

PolicyMaker order_policy(OrderRule rule, LoadKnowledge load)
{
    return [rule, load](const Scenario& scenario, Knowledge& knowledge, std::uint64_t /*seed*/) {
        return std::make_unique<OrderPolicy>(scenario, knowledge, OrderSettings{.rule = rule}, load);
    };
}

} // namespace fathom::simulation
