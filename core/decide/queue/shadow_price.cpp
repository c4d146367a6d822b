#include "core/decide/queue/shadow_price.hpp"

#include "core/base/portable_math.hpp"
#include "core/decide/queue/order_jobs.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <unordered_map>
#include <vector>

namespace fathom {
namespace {

constexpr int kRounds = 200;
constexpr double kFirstStep = 0.5; ///< of the first round; step k takes 1/√k of it
constexpr std::size_t kNoKind = std::numeric_limits<std::size_t>::max();
constexpr double kMinShadowPrice = 1e-3; ///< nothing is for nothing: jobs are compared by products of shadow prices

/// A job's place on one unit type: unit-seconds, of the count of units that takes fewest.
struct Place {
    std::size_t unit_type{};
    double unit_s{};
};

/// Jobs that have the same places.
struct LikeJobs {
    std::size_t end{}; ///< of their places
    double jobs{};
};

/// The places of all jobs, those of some after those of others.
struct Places {
    std::vector<Place> places;
    std::vector<LikeJobs> kinds;
};

Places places_of(std::span<const JobOptions> arrived, std::span<const UnitTypeLoad> unit_types)
{
    Places result;
    std::unordered_map<const void*, std::size_t> kind_of; // of a list of options
    for (const JobOptions& options : arrived) {
        const auto [known_kind, is_new] = kind_of.try_emplace(options.list(), result.kinds.size());
        if (!is_new) {
            if (known_kind->second < result.kinds.size()) result.kinds[known_kind->second].jobs += 1;
            continue;
        }
        const std::size_t begin = result.places.size();
        for (const JobOption& option : options) {
            if (option.unit_type >= unit_types.size() || option.unit_count < 1 || option.run_s <= 0 ||
                option.unit_count > unit_types[option.unit_type].unit_count)
                continue;
            const double unit_s = option.run_s * static_cast<double>(option.unit_count);
            const auto known =
                std::find_if(result.places.begin() + static_cast<std::ptrdiff_t>(begin), result.places.end(),
                             [&](const Place& place) { return place.unit_type == option.unit_type; });
            if (known == result.places.end())
                result.places.push_back({option.unit_type, unit_s});
            else
                known->unit_s = std::min(known->unit_s, unit_s);
        }
        if (result.places.size() > begin)
            result.kinds.push_back({result.places.size(), 1});
        else
            known_kind->second = kNoKind;
    }
    return result;
}

/// The market of each unit type: types that a chain of jobs connects have the same number.
std::vector<std::size_t> markets_of(const Places& jobs, std::size_t unit_type_count)
{
    std::vector<std::size_t> parent(unit_type_count);
    std::iota(parent.begin(), parent.end(), std::size_t{0});
    const auto root = [&](std::size_t type) {
        while (parent[type] != type)
            type = parent[type] = parent[parent[type]];
        return type;
    };
    std::size_t begin = 0;
    for (const LikeJobs& kind : jobs.kinds) {
        for (std::size_t i = begin; i < kind.end; ++i)
            parent[root(jobs.places[i].unit_type)] = root(jobs.places[begin].unit_type);
        begin = kind.end;
    }
    for (std::size_t type = 0; type < unit_type_count; ++type)
        parent[type] = root(type);
    return parent;
}

class Market {
  public:
    Market(const Places& jobs, double span_s, std::span<const UnitTypeLoad> unit_types)
        : jobs_(jobs), span_s_(span_s), unit_types_(unit_types), market_(markets_of(jobs, unit_types.size())),
          shadow_price_(unit_types.size(), 1), demand_(unit_types.size()), is_wanted_(unit_types.size(), false)
    {
        for (const Place& place : jobs.places)
            is_wanted_[place.unit_type] = true;
    }

    std::vector<UnitShadowPrice> run()
    {
        std::vector<UnitShadowPrice> best(shadow_price_.size(), {1, 0});
        for (int round = 0; round < kRounds; ++round) {
            normalize();
            const std::vector<double> load = demand();
            for (std::size_t type = 0; type < shadow_price_.size(); ++type) {
                if (is_wanted_[type] && load[market_[type]] > best[type].load)
                    best[type] = {std::max(shadow_price_[type], kMinShadowPrice), load[market_[type]]};
            }
            move(kFirstStep / std::sqrt(1.0 + round));
        }
        return best;
    }

  private:
    double units(std::size_t type) const { return static_cast<double>(unit_types_[type].unit_count); }

    /// The mean unit of each market gets the shadow price 1.
    void normalize()
    {
        std::vector<double> shadow_price(shadow_price_.size(), 0);
        std::vector<double> count(shadow_price_.size(), 0);
        for (std::size_t type = 0; type < shadow_price_.size(); ++type) {
            if (!is_wanted_[type]) continue;
            shadow_price[market_[type]] += shadow_price_[type] * units(type);
            count[market_[type]] += units(type);
        }
        for (std::size_t type = 0; type < shadow_price_.size(); ++type) {
            if (is_wanted_[type]) shadow_price_[type] *= count[market_[type]] / shadow_price[market_[type]];
        }
    }

    /// Sends each job to its cheapest place; notes each type's load, returns each market's by shadow price.
    std::vector<double> demand()
    {
        std::fill(demand_.begin(), demand_.end(), 0.0);
        std::size_t begin = 0;
        for (const LikeJobs& kind : jobs_.kinds) {
            std::size_t best = begin;
            for (std::size_t i = begin + 1; i < kind.end; ++i) {
                if (cost(i) < cost(best)) best = i;
            }
            demand_[jobs_.places[best].unit_type] += kind.jobs * jobs_.places[best].unit_s;
            begin = kind.end;
        }
        std::vector<double> cost_sum(shadow_price_.size(), 0);
        std::vector<double> count(shadow_price_.size(), 0);
        for (std::size_t type = 0; type < shadow_price_.size(); ++type) {
            if (!is_wanted_[type]) continue;
            cost_sum[market_[type]] += shadow_price_[type] * demand_[type];
            count[market_[type]] += units(type);
            demand_[type] /= span_s_ * units(type);
        }
        for (std::size_t market = 0; market < shadow_price_.size(); ++market) {
            if (count[market] > 0) cost_sum[market] /= span_s_ * count[market];
        }
        return cost_sum;
    }
    double cost(std::size_t place) const
    {
        return shadow_price_[jobs_.places[place].unit_type] * jobs_.places[place].unit_s;
    }

    /// Makes dearer what more jobs want than the mean type of its market.
    void move(double step)
    {
        std::vector<double> sum(shadow_price_.size(), 0);
        std::vector<double> types(shadow_price_.size(), 0);
        for (std::size_t type = 0; type < shadow_price_.size(); ++type) {
            if (!is_wanted_[type]) continue;
            sum[market_[type]] += demand_[type];
            types[market_[type]] += 1;
        }
        for (std::size_t type = 0; type < shadow_price_.size(); ++type) {
            if (!is_wanted_[type]) continue;
            const double mean = sum[market_[type]] / types[market_[type]];
            // Bounded, so that one round cannot make a type worth nothing or everything.
            shadow_price_[type] *= portable::exp(step * std::clamp(demand_[type] / mean - 1, -2.0, 2.0));
        }
    }

    const Places& jobs_;
    double span_s_;
    std::span<const UnitTypeLoad> unit_types_;
    std::vector<std::size_t> market_; ///< by unit type
    std::vector<double> shadow_price_;
    std::vector<double> demand_; ///< load of each type when every job takes its cheapest place
    std::vector<bool> is_wanted_;
};

} // namespace

std::vector<UnitShadowPrice> find_shadow_prices(std::span<const JobOptions> arrived, double span_s,
                                                std::span<const UnitTypeLoad> unit_types)
{
    const Places jobs = places_of(arrived, unit_types);
    if (jobs.kinds.empty()) return std::vector<UnitShadowPrice>(unit_types.size());
    const bool has_span = span_s > 0;
    std::vector<UnitShadowPrice> shadow_prices = Market(jobs, has_span ? span_s : 1, unit_types).run();
    if (!has_span) {
        for (UnitShadowPrice& one : shadow_prices)
            one.load = 1;
    }
    return shadow_prices;
}

} // namespace fathom
