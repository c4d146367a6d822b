#include "simulator/policies/place_finder.hpp"

#include "core/base/never.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

namespace fathom::simulation {
namespace {

constexpr double kHour_s = 3600;

/// A profile that knows the center's rates exactly; none where data is there at once.
std::shared_ptr<const NetworkProfile> profile_of(const Center& center)
{
    std::vector<NetworkSample> samples;
    for (std::size_t hour = 0; hour < center.network_rate_bytes.size(); ++hour) {
        // An hour is known from its second sample on.
        for (const double week_s : {0.0, 168 * kHour_s})
            samples.push_back(
                {moment_of(week_s + (static_cast<double>(hour) + 0.5) * kHour_s), center.network_rate_bytes[hour]});
    }
    auto profile = std::make_shared<const NetworkProfile>(samples);
    if (!(profile->best_rate_bytes() > 0)) return nullptr;
    return profile;
}

bool has_plain_wishes(const JobDetails& details)
{
    return !details.deadline_in_s && !details.budget && details.data_in_bytes <= 0 && details.data_out_bytes <= 0 &&
           details.prefer.cost == 0 && details.prefer.energy == 0;
}

bool counts_pairs(const Scenario& scenario, const Knowledge& knowledge)
{
    const std::vector<UnitType>& types = scenario.network.unit_types;
    return scenario.knowledge.counts_gpu_pairs && knowledge.counts_device_pairs() &&
           std::any_of(types.begin(), types.end(), [](const UnitType& type) { return type.units_per_device > 1; });
}

double next_hour(double now_s)
{
    return (std::floor(now_s / kHour_s) + 1) * kHour_s;
}

/// How long a job holds its units, as far as it is known, without transfers.
class KnownRun final : public RunByCount {
  public:
    /// @param shares  nullptr: it has its devices alone.
    KnownRun(const Scenario& scenario, Knowledge& knowledge, std::size_t job, std::size_t unit_type,
             DeviceShares* shares)
        : knowledge_(&knowledge), shares_(shares), job_(job), job_type_(scenario.workload.jobs[job].job_type),
          unit_type_(unit_type), most_(std::max<std::int64_t>(scenario.workload.jobs[job].max_units, 1)),
          start_up_s_(scenario.network.centers[scenario.network.unit_types[unit_type].center].start_up_s)
    {
    }

    RunTime at(std::int64_t unit_count) const override
    {
        const RunTime alone = knowledge_->expected_run(job_, unit_type_, unit_count);
        return {held_s(alone.run_s), held_s(alone.low_s), held_s(alone.high_s)};
    }
    std::int64_t largest_known() const override { return most_; }

  private:
    double held_s(double alone_s) const
    {
        return start_up_s_ + (shares_ ? shares_->beside_s(job_type_, unit_type_, alone_s) : alone_s);
    }

    Knowledge* knowledge_;
    DeviceShares* shares_;
    std::size_t job_;
    std::uint32_t job_type_;
    std::size_t unit_type_;
    std::int64_t most_;
    double start_up_s_;
};

} // namespace

PlaceFinder::PlaceFinder(const Scenario& scenario, Knowledge& knowledge)
    : scenario_(&scenario), knowledge_(&knowledge), counts_pairs_(counts_pairs(scenario, knowledge))
{
    std::vector<std::shared_ptr<const NetworkProfile>> networks;
    for (const Center& center : scenario.network.centers)
        networks.push_back(profile_of(center));
    for (const UnitType& type : scenario.network.unit_types) {
        UnitTypeView& view = idle_.emplace_back();
        view.unit_count = type.unit_count;
        view.availability = Availability(type.unit_count);
        view.network = networks[type.center];
        view.price = std::make_shared<const UnitPrice>(type.price);
    }
    for (const JobDetails& details : scenario.workload.details)
        is_plain_.push_back(has_plain_wishes(details) ? 1 : 0);
    for (std::size_t job = 0; job < scenario.workload.jobs.size() && !looks_at_free_; ++job)
        looks_at_free_ = !is_plain(job);
    now_ = idle_;
}

bool PlaceFinder::is_plain(std::size_t job) const
{
    const Job& asked = scenario_->workload.jobs[job];
    return is_plain_[asked.details] != 0 && asked.max_units <= asked.unit_count;
}

JobPlaces PlaceFinder::find(std::size_t job, double now_s)
{
    DeviceShares* const shares = counts_pairs_ ? &shares_ : nullptr;
    if (is_plain(job)) return plain_places(job, shares);
    JobPlaces places = choose(job, now_s, now_, shares);
    if (places.is_hopeless) places.is_hopeless = choose(job, now_s, idle_, nullptr).is_hopeless;
    return places;
}

JobPlaces PlaceFinder::find_if_idle(std::size_t job, double now_s)
{
    return is_plain(job) ? plain_places(job, nullptr) : choose(job, now_s, idle_, nullptr);
}

double PlaceFinder::slowdown(std::size_t job, std::size_t unit_type, std::int64_t unit_count)
{
    if (!counts_pairs_) return 1;
    const double alone_s = knowledge_->expected_s(job, unit_type, unit_count);
    return shares_.beside_s(scenario_->workload.jobs[job].job_type, unit_type, alone_s) / alone_s;
}

/// Unit types that can run jobs of this kind, whatever their size.
const std::vector<std::uint32_t>& PlaceFinder::types_of(const Job& job)
{
    const auto [entry, is_new] = types_.try_emplace({job.job_type, job.details});
    if (is_new) {
        Job smallest = job;
        smallest.unit_count = 1;
        for (std::uint32_t type = 0; type < scenario_->network.unit_types.size(); ++type) {
            if (fits(*scenario_, smallest, type)) entry->second.push_back(type);
        }
    }
    return entry->second;
}

/// What choose() would find, for jobs of which there may be millions.
JobPlaces PlaceFinder::plain_places(std::size_t job, DeviceShares* shares)
{
    JobPlaces places;
    const Job& asked = scenario_->workload.jobs[job];
    const std::vector<std::uint32_t>& types = types_of(asked);
    places.options.reserve(types.size());
    for (const std::uint32_t type : types) {
        const UnitType& unit_type = scenario_->network.unit_types[type];
        if (asked.unit_count > unit_type.unit_count) continue;
        const double start_up_s = scenario_->network.centers[unit_type.center].start_up_s;
        const double alone_s = knowledge_->expected_s(job, type, asked.unit_count);
        const double run_s = shares == nullptr ? alone_s : shares->beside_s(asked.job_type, type, alone_s);
        places.options.push_back({type, asked.unit_count, start_up_s + run_s, 1});
    }
    places.is_hopeless = places.options.empty();
    return places;
}

RouteRequest PlaceFinder::request_of(const Job& job, double now_s) const
{
    const JobDetails& details = scenario_->workload.details[job.details];
    RouteRequest request;
    request.units.min = job.unit_count;
    request.units.max = std::max(job.unit_count, job.max_units);
    if (request.units.max == request.units.min) request.units.count = job.unit_count;
    request.transfer.in_bytes = details.data_in_bytes;
    request.transfer.out_bytes = details.data_out_bytes;
    request.transfer.now = moment_of(now_s);
    if (details.deadline_in_s)
        request.transfer.deadline = moment_after(request.transfer.now, job.arrival_s + *details.deadline_in_s - now_s);
    request.prefer = details.prefer;
    request.budget = details.budget;
    return request;
}

/// What the unit types offer a job.
struct PlaceFinder::Offers {
    std::vector<std::vector<CountOffer>> counts; ///< of each unit type with any
    std::vector<std::uint32_t> types;            ///< which these are
    std::optional<double> hold_s;                ///< until the start at the best place, where a later one is better
    bool is_hopeless = true;
};

PlaceFinder::Offers PlaceFinder::offers_of(std::size_t job, PlaceChooser& chooser, double max_cost,
                                           std::span<const UnitTypeView> views, DeviceShares* shares)
{
    const Job& asked = scenario_->workload.jobs[job];
    Offers offers;
    double best = kNever;
    for (const std::uint32_t type : types_of(asked)) {
        if (asked.unit_count > views[type].unit_count) continue;
        const KnownRun run(*scenario_, *knowledge_, job, type, shares);
        PlaceRun known;
        known.by_count = &run;
        const PlaceChoice& choice = chooser.choose(views[type], known, ChoiceAim::kBest);
        if (choice.removed_by == Filter::kBudget) {
            // At another hour it may cost less.
            const double least = views[type].price->least_cost(run.at(choice.unit_count).run_s, choice.unit_count);
            offers.is_hopeless = offers.is_hopeless && least > max_cost;
        }
        if (choice.removed_by) continue;
        offers.is_hopeless = false;
        if (choice.objective < best) {
            best = choice.objective;
            offers.hold_s = choice.plan.window ? std::optional(choice.plan.start_s) : std::nullopt;
        }
        offers.counts.push_back(chooser.offers());
        offers.types.push_back(type);
    }
    return offers;
}

JobPlaces PlaceFinder::choose(std::size_t job, double now_s, std::span<const UnitTypeView> views, DeviceShares* shares)
{
    const Job& asked = scenario_->workload.jobs[job];
    const RouteRequest request = request_of(asked, now_s);
    const RouteKnowledge knowledge;
    PlaceChooser chooser(request, knowledge);
    const Offers offers = offers_of(job, chooser, budget_limit(request.budget), views, shares);
    JobPlaces places;
    places.is_hopeless = offers.is_hopeless;
    // Prices and networks change by the hour.
    if (is_plain_[asked.details] == 0) places.valid_until_s = next_hour(now_s);
    if (offers.types.empty()) return places;
    if (offers.hold_s) {
        places.hold_until_s = now_s + *offers.hold_s;
        return places;
    }
    std::vector<PlaceOffers> all;
    for (std::size_t i = 0; i < offers.types.size(); ++i)
        all.push_back({offers.types[i], offers.counts[i]});
    places.options = options_of(request.prefer, all);
    if (!request.transfer.deadline) return places;
    const double deadline_s = now_s + chooser.left_s();
    places.latest_start_s = deadline_s - shortest_run_s(places.options);
    for (const JobOption& option : places.options)
        places.valid_until_s = std::min(places.valid_until_s, deadline_s - option.run_s);
    return places;
}

} // namespace fathom::simulation
