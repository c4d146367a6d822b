#include "simulator/policies/shadow_price_tracker.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace fathom::simulation {
namespace {

/// A look takes time with the places that are looked at; so many of them an arrival are nothing beside its decision.
constexpr std::size_t kPlacesPerArrival = 20;
constexpr std::size_t kWaitingPlacesPerArrival = 1000; ///< the same of places that are weighed anew

bool are_same_places(const std::vector<JobOption>& a, const std::vector<JobOption>& b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const JobOption& one, const JobOption& other) {
        return one.unit_type == other.unit_type && one.unit_count == other.unit_count;
    });
}

} // namespace

ShadowPriceTracker::ShadowPriceTracker(const Scenario& scenario, const PriceMemory& memory)
    : memory_(memory), kinds_(scenario), news_wanted_(kMinArrivals), uses_(scenario.network.unit_types.size())
{
    for (const UnitType& type : scenario.network.unit_types) {
        unit_types_.emplace_back();
        unit_types_.back().unit_count = type.unit_count;
        unit_types_.back().free_units = type.unit_count;
    }
}

void ShadowPriceTracker::note_arrival(const Job& job, std::vector<JobOption> places)
{
    arrivals_.push_back({kinds_.index_of(job), std::move(places)});
    if (arrivals_.size() > memory_.arrivals) arrivals_.pop_front();
    ++news_;
}

/// Jobs of a kind want the same place at whatever shadow prices, since their times differ by the same factor
/// everywhere, more or less: together they count as one that has all their work.
std::vector<std::vector<JobOption>> ShadowPriceTracker::merged() const
{
    std::vector<std::vector<JobOption>> rows;
    std::map<std::size_t, std::size_t> row_of; // by kind
    for (const Arrival& arrival : arrivals_) {
        const auto [entry, is_new] = row_of.try_emplace(arrival.kind, rows.size());
        if (!is_new && are_same_places(rows[entry->second], arrival.places)) {
            std::vector<JobOption>& row = rows[entry->second];
            for (std::size_t i = 0; i < row.size(); ++i)
                row[i].run_s += arrival.places[i].run_s;
            continue;
        }
        entry->second = rows.size();
        rows.push_back(arrival.places);
    }
    return rows;
}

bool ShadowPriceTracker::has_news(std::size_t waiting_places) const
{
    return news_ >= std::max(news_wanted_, waiting_places / kWaitingPlacesPerArrival);
}

std::vector<std::optional<double>> ShadowPriceTracker::shadow_prices()
{
    news_ = 0;
    const std::vector<std::vector<JobOption>> rows = merged();
    std::size_t places = 0;
    for (const std::vector<JobOption>& row : rows)
        places += row.size();
    news_wanted_ = std::max(kMinArrivals, places / kPlacesPerArrival);
    return shadow_prices_of(std::vector<JobOptions>(rows.begin(), rows.end()), unit_types_);
}

void ShadowPriceTracker::pass(std::size_t unit_type, double now_s)
{
    Use& use = uses_[unit_type];
    const auto units = static_cast<double>(std::max<std::int64_t>(unit_types_[unit_type].unit_count, 1));
    const double passed_s = now_s - std::exchange(use.since_s, now_s);
    // Exactly that at the memory in use.
    const double aged_s = passed_s * (BusyShare::kMemory_s / memory_.busy_s);
    use.share.note(static_cast<double>(use.busy_units) / units, aged_s);
}

void ShadowPriceTracker::note_use(std::size_t unit_type, std::int64_t units, double now_s)
{
    pass(unit_type, now_s);
    uses_[unit_type].busy_units += units;
}

double ShadowPriceTracker::load(std::size_t unit_type, double now_s)
{
    pass(unit_type, now_s);
    return uses_[unit_type].share.mean();
}

} // namespace fathom::simulation
