#pragma once

#include "core/decide/queue/order_index.hpp"
#include "core/decide/queue/order_jobs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

namespace fathom::test {

/// The rule, said slowly.
class SlowOrder {
  public:
    SlowOrder(const std::vector<WaitingJobView>& jobs, const std::vector<UnitTypeLoad>& types,
              const OrderSettings& settings)
        : jobs_(jobs), types_(types), settings_(settings), indices_(order_indices(jobs, types, settings)),
          kept_(types.size())
    {
        for (const UnitTypeLoad& type : types)
            free_.push_back(type.free_units);
    }

    std::vector<OrderedStart> run()
    {
        for (const std::size_t job : overdue()) {
            if (const auto option = best_free(job))
                start(job, *option);
            else if (settings_.rule != OrderRule::kFirstCome)
                reserve_units_for(job);
        }
        if (settings_.rule == OrderRule::kFirstCome) return starts_;
        while (const auto next = next_start())
            start(next->job, next->option);
        return starts_;
    }

  private:
    struct Kept {
        double start_s{};
        std::int64_t spare{};
    };

    double index(std::size_t job, std::size_t option) const { return indices_.jobs[job].index(option); }
    bool weighs() const { return weighs_places(settings_.rule); }

    double cost(std::size_t job, std::size_t option) const
    {
        if (!weighs()) return index(job, option);
        std::int64_t fewest = jobs_[job].options[0].unit_count;
        for (const JobOption& one : jobs_[job].options)
            fewest = std::min(fewest, one.unit_count);
        const JobOption& place = jobs_[job].options[option];
        return place_cost(place, types_[place.unit_type], fewest);
    }

    bool fits(std::size_t job, std::size_t option) const
    {
        const JobOption& place = jobs_[job].options[option];
        if (index(job, option) == kNever || place.unit_count > free_[place.unit_type]) return false;
        if (place.run_s > types_[place.unit_type].free_for_s) return false;
        const auto& reservation = kept_[place.unit_type];
        return !reservation || place.run_s <= reservation->start_s || place.unit_count <= reservation->spare;
    }

    std::optional<std::size_t> best_free(std::size_t job) const
    {
        std::optional<std::size_t> best;
        const auto rank = [&](std::size_t option) {
            return std::tuple(cost(job, option), index(job, option), jobs_[job].options[option].unit_type, option);
        };
        for (std::size_t option = 0; option < jobs_[job].options.size(); ++option) {
            if (fits(job, option) && (!best || rank(option) < rank(*best))) best = option;
        }
        return best;
    }

    std::vector<std::size_t> overdue() const
    {
        std::vector<std::size_t> order;
        for (std::size_t job = 0; job < jobs_.size(); ++job) {
            const bool goes_first = settings_.rule == OrderRule::kFirstCome || indices_.jobs[job].is_overdue;
            if (goes_first && best_index(job) < kNever) order.push_back(job);
        }
        const auto order_s = [&](std::size_t job) {
            const OrderIndex& own = indices_.jobs[job];
            return settings_.rule == OrderRule::kFirstCome ? own.waited_s : own.overdue_s;
        };
        std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return std::tuple(-order_s(a), jobs_[a].id) < std::tuple(-order_s(b), jobs_[b].id);
        });
        return order;
    }

    double best_index(std::size_t job) const
    {
        double best = kNever;
        for (std::size_t option = 0; option < jobs_[job].options.size(); ++option)
            best = std::min(best, index(job, option));
        return best;
    }

    /// When so many units more than are free now are; and how many are then.
    std::optional<std::pair<double, std::int64_t>> freed(std::size_t type, std::int64_t missing) const
    {
        std::map<double, std::int64_t> by_time;
        for (const UnitRelease& release : types_[type].releases)
            by_time[release.in_s] += release.unit_count;
        std::int64_t units = 0;
        for (const auto& [in_s, more] : by_time) {
            units += more;
            if (units >= missing) return std::pair(in_s, units);
        }
        return std::nullopt;
    }

    void reserve_units_for(std::size_t job)
    {
        std::optional<std::tuple<bool, double, std::size_t, std::size_t>> best;
        Kept best_reservation;
        for (std::size_t option = 0; option < jobs_[job].options.size(); ++option) {
            const JobOption& place = jobs_[job].options[option];
            const std::int64_t free = free_[place.unit_type];
            if (index(job, option) == kNever || kept_[place.unit_type] || place.unit_count <= free) continue;
            const auto known = freed(place.unit_type, place.unit_count - free);
            const Kept reservation = known ? Kept{known->first, free + known->second - place.unit_count} : Kept{0, 0};
            if (reservation.start_s + place.run_s > types_[place.unit_type].free_for_s) continue;
            const std::tuple rank(!known, reservation.start_s + place.run_s, place.unit_type, option);
            if (best && rank >= *best) continue;
            best = rank;
            best_reservation = reservation;
        }
        if (best) kept_[std::get<2>(*best)] = best_reservation;
    }

    std::pair<double, std::string> turn(std::size_t job) const
    {
        return {indices_.jobs[job].is_overdue ? -1 : best_index(job), jobs_[job].id};
    }

    double least_expected(std::size_t job) const
    {
        double least = kNever;
        for (std::size_t option = 0; weighs() && option < jobs_[job].options.size(); ++option) {
            const JobOption& place = jobs_[job].options[option];
            const double load = types_[place.unit_type].load;
            if (index(job, option) == kNever || load >= 1) continue;
            std::int64_t missing = place.unit_count - types_[place.unit_type].free_units;
            for (std::size_t other = 0; other < jobs_.size(); ++other) {
                if (other != job && wants_most(other) &&
                    jobs_[other].options[*wants_most(other)].unit_type == place.unit_type && turn(other) < turn(job))
                    missing += jobs_[other].options[*wants_most(other)].unit_count;
            }
            const auto known = freed(place.unit_type, missing);
            if (missing <= 0 || !known || known->first <= 0) continue;
            least = std::min(least, known->first / std::sqrt(1 - std::max(load, 0.0)) + cost(job, option));
        }
        return least;
    }

    std::optional<std::size_t> wants_most(std::size_t job) const
    {
        std::optional<std::size_t> best;
        const auto rank = [&](std::size_t option) {
            return std::tuple(index(job, option), jobs_[job].options[option].unit_type, option);
        };
        for (std::size_t option = 0; option < jobs_[job].options.size(); ++option) {
            if (index(job, option) < kNever && (!best || rank(option) < rank(*best))) best = option;
        }
        return best;
    }

    std::optional<OrderedStart> next_start() const
    {
        std::optional<OrderedStart> next;
        const auto rank = [&](const OrderedStart& one) {
            return std::tuple(index(one.job, one.option), jobs_[one.job].id);
        };
        for (std::size_t job = 0; job < jobs_.size(); ++job) {
            const auto option = best_free(job);
            if (started_.contains(job) || indices_.jobs[job].is_overdue || !option) continue;
            if (least_expected(job) < cost(job, *option)) continue;
            if (!next || rank({job, *option}) < rank(*next)) next = OrderedStart{job, *option};
        }
        return next;
    }

    void start(std::size_t job, std::size_t option)
    {
        const JobOption& place = jobs_[job].options[option];
        free_[place.unit_type] -= place.unit_count;
        auto& reservation = kept_[place.unit_type];
        if (reservation && place.run_s > reservation->start_s) reservation->spare -= place.unit_count;
        started_.insert(job);
        starts_.push_back({job, option});
    }

    const std::vector<WaitingJobView>& jobs_;
    const std::vector<UnitTypeLoad>& types_;
    const OrderSettings& settings_;
    OrderIndices indices_;
    std::vector<std::int64_t> free_;
    std::vector<std::optional<Kept>> kept_;
    std::set<std::size_t> started_;
    std::vector<OrderedStart> starts_;
};

} // namespace fathom::test
