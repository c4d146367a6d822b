#include "simulator/policies/policy_order.hpp"

#include "core/decide/queue/order_index.hpp"
#include "core/decide/queue/wait_queue.hpp"
#include "core/schedule/job_options.hpp"
#include "core/schedule/start_rounds.hpp"
#include "core/schedule/wanted_places.hpp"
#include "simulator/policies/place_finder.hpp"
#include "simulator/policies/project_loads.hpp"
#include "simulator/policies/shadow_price_tracker.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace fathom::simulation {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kMinSleep_s = 1e-3;     ///< what expires is looked at again after so long at the earliest
constexpr double kWeek_s = 7 * 86'400.0; ///< then prices and networks come again
/// So many times as long as a look at a place takes it to find the places of a job at a unit type.
constexpr std::size_t kPlacesPerFind = 20;

std::vector<std::int64_t> unit_counts(const Network& network)
{
    std::vector<std::int64_t> counts;
    for (const UnitType& type : network.unit_types)
        counts.push_back(type.unit_count);
    return counts;
}

class OrderPolicy final : public Policy, private StartRounds {
  public:
    OrderPolicy(const Scenario& scenario, Knowledge& knowledge, const OrderSettings& settings, LoadKnowledge load,
                const DecisionEffort& effort)
        : scenario_(scenario), knowledge_(knowledge), weighs_places_(weighs_places(settings.rule)), load_(load),
          effort_(effort), finder_(scenario, knowledge), prices_(scenario, effort.memory), projects_(scenario),
          version_(knowledge.version()), queue_(settings, unit_counts(scenario.network)),
          wanted_units_(scenario.network.unit_types.size()), option_counts_(scenario.network.unit_types.size(), 0),
          shadow_prices_(scenario.network.unit_types.size()), free_units_(scenario.network.unit_types.size(), 0),
          running_(scenario.network.unit_types.size())
    {
        for (const UnitType& type : scenario.network.unit_types)
            unit_types_.emplace_back().unit_count = type.unit_count;
    }

    bool hands_over() const override { return false; }

    bool arrive(const PolicyView& view, std::size_t job) override
    {
        Waiting waiting;
        waiting.possible_at_s = view.now_s;
        finder_.look_at_devices(view);
        JobPlaces places = find_places(waiting, job, view.now_s);
        if (places.is_hopeless) return false;
        if (weighs_places_) note_arrival(job, places, view.now_s);
        if (!finder_.is_fixed(job)) changing_.insert(job);
        queue(waiting_.emplace(job, waiting).first, std::move(places));
        return true;
    }

    std::vector<PolicyStart> decide(const PolicyView& view) override
    {
        ++decisions_;
        finder_.look_at_devices(view);
        renew_places(view);
        look_at_units(view);
        look_at_prices(view);
        look_at_projects(view.now_s);
        view_ = &view;
        start_in_rounds(*this);
        return std::exchange(starts_, {});
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
        queue_.remove_release(start.unit_type, started_s + start.predicted_s, start.unit_count);
        std::map<double, std::int64_t>& running = running_[start.unit_type];
        const auto release = running.find(started_s + start.predicted_s);
        release->second -= start.unit_count;
        if (release->second == 0) running.erase(release);
    }

  private:
    struct Waiting {
        std::optional<std::size_t> number; ///< in the queue; none: there is no place now, or it is held
        std::optional<double> fair_load;   ///< as the last decision had it; none: it is new
        double alarm_s = kNever;           ///< its places are to be found anew then
        double possible_at_s{};            ///< when it last had a place, now or later
        JobOption alone;                   ///< the option that it would take if it were alone
    };
    using WaitingJobs = std::map<std::size_t, Waiting>; ///< by job

    Round start_next() override
    {
        const std::size_t started = starts_.size();
        for (const OrderedStart& start : queue_.decide(view_->now_s)) {
            const std::size_t job = jobs_[start.job];
            const JobOption& at = start.place;
            const double slowdown = finder_.slowdown(job, at.unit_type, at.unit_count);
            starts_.push_back({job, at.unit_type, at.unit_count, at.run_s, slowdown});
            note_start(starts_.back(), view_->now_s);
            forget(waiting_.find(job));
        }
        return starts_.size() > started ? Round::kStarted : Round::kNothing;
    }
    bool look_again() override
    {
        if (!finder_.looks_at_free() || !has_changing() || finding_effort() > effort_.places) return false;
        renew_changing(*view_);
        return true;
    }
    /// Nothing is kept for others here, so what the order makes jobs wait for comes.
    bool drop_places() override { return false; }

    const JobDetails& details(std::size_t job) const
    {
        return scenario_.workload.details[scenario_.workload.jobs[job].details];
    }

    JobPlaces find_places(Waiting& waiting, std::size_t job, double now_s)
    {
        JobPlaces places = finder_.find(job, now_s);
        const bool is_held = places.hold_until_s < kNever;
        waiting.alarm_s = is_held ? places.hold_until_s : places.valid_until_s;
        if (waiting.alarm_s < kNever) waiting.alarm_s = std::max(waiting.alarm_s, now_s + kMinSleep_s);
        if (!places.options.empty() || places.hold_until_s < kNever)
            waiting.possible_at_s = now_s;
        else if (now_s - waiting.possible_at_s > kWeek_s)
            places.is_hopeless = true;
        return places;
    }

    void queue(WaitingJobs::iterator entry, JobPlaces places)
    {
        auto& [job, waiting] = *entry;
        if (waiting.alarm_s < kNever) alarms_.emplace(waiting.alarm_s, job);
        if (places.options.empty()) return;
        const Job& asked = scenario_.workload.jobs[job];
        waiting.alone = option_alone(places.options);
        wanted_units_[waiting.alone.unit_type].add(waiting.alone);
        count_options(places.options, 1);
        QueuedJob queued;
        queued.key = job;
        queued.options = std::move(places.options);
        queued.since_s = asked.arrival_s;
        queued.fair_load = waiting.fair_load.value_or(projects_.load(asked.project));
        queued.priority = details(job).priority;
        if (places.latest_start_s < kNever) queued.latest_start_s = places.latest_start_s;
        waiting.number = queue_.add(std::move(queued));
        jobs_.resize(std::max(jobs_.size(), *waiting.number + 1));
        jobs_[*waiting.number] = job;
    }

    void take_out(WaitingJobs::iterator entry)
    {
        Waiting& waiting = entry->second;
        if (waiting.alarm_s < kNever) alarms_.erase({waiting.alarm_s, entry->first});
        if (!waiting.number) return;
        count_options(queue_.options(*waiting.number), -1);
        queue_.remove(*std::exchange(waiting.number, std::nullopt));
        wanted_units_[waiting.alone.unit_type].remove(waiting.alone);
    }

    void count_options(std::span<const JobOption> options, std::int64_t change)
    {
        for (const JobOption& option : options)
            option_counts_[option.unit_type] += change;
    }

    void forget(WaitingJobs::iterator entry)
    {
        take_out(entry);
        changing_.erase(entry->first);
        waiting_.erase(entry);
    }

    void renew(WaitingJobs::iterator entry, double now_s)
    {
        take_out(entry);
        JobPlaces places = find_places(entry->second, entry->first, now_s);
        if (places.is_hopeless) {
            given_up_.push_back(entry->first);
            changing_.erase(entry->first);
            waiting_.erase(entry);
        } else {
            queue(entry, std::move(places));
        }
    }

    void note_arrival(std::size_t job, const JobPlaces& places, double now_s)
    {
        std::vector<JobOption> options =
            finder_.is_fixed(job) ? places.options : finder_.find_if_idle(job, now_s).options;
        if (!options.empty()) prices_.note_arrival(scenario_.workload.jobs[job], std::move(options));
    }

    /// Whether the places of a job in the queue may change while others start.
    bool has_changing() const
    {
        return std::any_of(changing_.begin(), changing_.end(),
                           [&](std::size_t job) { return waiting_.find(job)->second.number.has_value(); });
    }

    /// How much work it is to find the changing places again.
    std::size_t finding_effort() const
    {
        const std::size_t per_find = finder_.looks_at_free() ? kPlacesPerFind : 1;
        return changing_.size() * scenario_.network.unit_types.size() * per_find;
    }

    void renew_changing(const PolicyView& view)
    {
        if (finder_.looks_at_free()) tell_available(view);
        for (const std::size_t job : std::vector(changing_.begin(), changing_.end()))
            renew(waiting_.find(job), view.now_s);
    }

    void renew_places(const PolicyView& view)
    {
        const double now_s = view.now_s;
        for (std::size_t type = 0; type < free_units_.size(); ++type)
            free_units_[type] = view.reports[type].free_units;
        if (!changing_.empty() && is_time(found_at_, finding_effort(), effort_.places)) {
            found_at_ = decisions_;
            renew_changing(view);
        }
        if (std::exchange(version_, knowledge_.version()) != version_) {
            for (auto entry = waiting_.begin(); entry != waiting_.end();)
                renew(entry++, now_s);
        }
        while (!alarms_.empty() && alarms_.begin()->first <= now_s)
            renew(waiting_.find(alarms_.begin()->second), now_s);
    }

    /// What jobs that do not just want to end early are told of what is free.
    void tell_available(const PolicyView& view)
    {
        for (std::size_t type = 0; type < running_.size(); ++type) {
            std::int64_t units = free_units_[type];
            for (const auto& [release_s, count] : running_[type])
                units += count;
            Availability available(units);
            for (const auto& [release_s, count] : running_[type]) {
                // Who is late is expected to take as long again as it is late.
                available.take(0, std::max(std::abs(release_s - view.now_s), kMinSleep_s), count);
            }
            for (const Closure& closure :
                 scenario_.network.centers[scenario_.network.unit_types[type].center].closures) {
                if (closure.to_s > view.now_s)
                    available.take(std::max(closure.from_s - view.now_s, 0.0), closure.to_s - view.now_s, units);
            }
            finder_.set_available(type, std::move(available));
        }
    }

    void look_at_units(const PolicyView& view)
    {
        const Network& network = scenario_.network;
        for (std::size_t type = 0; type < network.unit_types.size(); ++type)
            queue_.set_free(type, view.reports[type].free_units,
                            open_for_s(network.centers[network.unit_types[type].center], view.now_s));
    }

    /// Whether work on so many places may be done again that was done last at that decision.
    bool is_time(std::int64_t last_decision, std::size_t places, std::size_t per_decision) const
    {
        return places <= per_decision * static_cast<std::size_t>(decisions_ - last_decision);
    }

    void look_at_prices(const PolicyView& view)
    {
        if (!weighs_places_) return;
        const std::size_t types = scenario_.network.unit_types.size();
        const std::size_t places = (waiting_.size() + 1) * types;
        look_at_shadow_prices(view.now_s, places);
        if (load_ == LoadKnowledge::kAssumedFull || !is_time(loads_at_, places, effort_.places)) return;
        loads_at_ = decisions_;
        for (std::size_t type = 0; type < types; ++type)
            queue_.set_load(type, load_now(prices_.load(type, view.now_s), unit_types_[type].unit_count,
                                           view.reports[type].free_units, wanted_units_[type]));
    }

    void look_at_shadow_prices(double now_s, std::size_t places)
    {
        const bool has_news = prices_.has_news(places);
        if (has_news) shadow_prices_ = prices_.shadow_prices();
        if (!has_news && (!wants_unknown_type() || !is_time(shadow_prices_at_, places, effort_.places))) return;
        shadow_prices_at_ = decisions_;
        std::vector<JobOptions> rows;
        if (wants_unknown_type()) {
            for (const auto& [job, waiting] : waiting_) {
                if (waiting.number) rows.push_back(finder_.find(job, now_s).options);
            }
        }
        const std::vector<double> shadow_prices = shadow_prices_with(shadow_prices_, rows, unit_types_);
        for (std::size_t type = 0; type < shadow_prices.size(); ++type)
            queue_.set_shadow_price(type, shadow_prices[type]);
    }

    /// Whether a job waits for a unit type of which the newest arrivals say nothing.
    bool wants_unknown_type() const
    {
        for (std::size_t type = 0; type < shadow_prices_.size(); ++type) {
            if (!shadow_prices_[type] && option_counts_[type] > 0) return true;
        }
        return false;
    }

    void look_at_projects(double now_s)
    {
        if (!projects_.matter() || !is_time(projects_at_, projects_.effort(waiting_.size()), effort_.project_places))
            return;
        projects_at_ = decisions_;
        std::vector<ProjectLoads::Wanted> wanted;
        for (const auto& [job, waiting] : waiting_) {
            if (!waiting.number) continue;
            wanted.push_back({scenario_.workload.jobs[job].project, details(job).priority, *waiting.number,
                              waiting.alone.unit_type, waiting.alone.unit_count});
        }
        const std::vector<double> loads = projects_.update(wanted, now_s);
        for (std::size_t i = 0; i < wanted.size(); ++i)
            set_fair_load(wanted[i].number, loads[i]);
    }

    void set_fair_load(std::size_t number, double load)
    {
        queue_.set_fair_load(number, load);
        waiting_.find(jobs_[number])->second.fair_load = load;
    }

    void note_start(const PolicyStart& start, double now_s)
    {
        prices_.note_use(start.unit_type, start.unit_count, now_s);
        projects_.note_start(scenario_.workload.jobs[start.job], start.unit_type, start.unit_count);
        queue_.add_release(start.unit_type, now_s + start.predicted_s, start.unit_count);
        running_[start.unit_type][now_s + start.predicted_s] += start.unit_count;
        free_units_[start.unit_type] -= start.unit_count;
    }

    const PolicyView* view_ = nullptr; ///< of the decision in hand
    std::vector<PolicyStart> starts_;  ///< so far, of that decision
    const Scenario& scenario_;
    Knowledge& knowledge_;
    bool weighs_places_;
    LoadKnowledge load_;
    DecisionEffort effort_;
    PlaceFinder finder_;
    ShadowPriceTracker prices_;
    ProjectLoads projects_;
    std::uint64_t version_; ///< of the knowledge, when the places were found
    WaitQueue queue_;
    std::vector<std::size_t> jobs_;                    ///< by number in the queue
    std::vector<UnitTypeLoad> unit_types_;             ///< their counts only
    std::vector<WantedUnits> wanted_units_;            ///< by unit type: of the jobs in the queue
    std::vector<std::int64_t> option_counts_;          ///< by unit type: of the jobs in the queue
    std::vector<std::optional<double>> shadow_prices_; ///< by unit type: to the newest arrivals
    WaitingJobs waiting_;
    std::vector<std::int64_t> free_units_;                ///< by unit type: in this decision
    std::set<std::size_t> changing_;                      ///< jobs that are not PlaceFinder::is_fixed()
    std::vector<std::map<double, std::int64_t>> running_; ///< by unit type: units by when they are expected to be free
    std::set<std::pair<double, std::size_t>> alarms_;     ///< with the job
    std::vector<std::size_t> given_up_;
    std::int64_t decisions_ = 0;
    std::int64_t found_at_ = 0;         ///< decision
    std::int64_t shadow_prices_at_ = 0; ///< decision
    std::int64_t loads_at_ = 0;         ///< decision
    std::int64_t projects_at_ = 0;      ///< decision
};

} // namespace

PolicyMaker order_policy(const OrderSettings& settings, LoadKnowledge load, const DecisionEffort& effort)
{
    return [=](const Scenario& scenario, Knowledge& knowledge, std::uint64_t /*seed*/) {
        return std::make_unique<OrderPolicy>(scenario, knowledge, settings, load, effort);
    };
}

PolicyMaker order_policy(OrderRule rule, LoadKnowledge load, const DecisionEffort& effort)
{
    return order_policy(OrderSettings{.rule = rule}, load, effort);
}

} // namespace fathom::simulation
