#pragma once

#include "tests/core/decide/routing/bounded_unit_types.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

/// Random networks of many unit types whose prices and networks change from hour to hour, and jobs for them.
namespace fathom::test {

/// An hour costs so much, and so much from 03:00 to 04:00.
inline std::shared_ptr<const UnitPrice> cheap_from_three_to_four(std::int64_t micros, std::int64_t night_micros)
{
    PriceEntry entry;
    entry.per_unit_hour_micros = micros;
    entry.bands = {{{}, 3, 4, night_micros}};
    return std::make_shared<const UnitPrice>(entry);
}

/// The same in a laboratory whose hours last ten minutes.
inline std::shared_ptr<const NetworkProfile> in_fast_time(const NetworkProfile& network)
{
    NetworkProfile::Known known = network.known();
    known.calendar.hour = std::chrono::minutes(10);
    return std::make_shared<const NetworkProfile>(NetworkProfile::from(known));
}

class PricedNetworks {
  public:
    explicit PricedNetworks(std::uint64_t seed) : random_(seed) {}

    bool chance(double share) { return real(0, 1) < share; }
    int whole(int least, int most) { return std::uniform_int_distribution(least, most)(random_); }
    double real(double least, double most) { return std::uniform_real_distribution(least, most)(random_); }

    std::shared_ptr<const UnitPrice> price()
    {
        PriceEntry entry;
        entry.per_unit_hour_micros = whole(0, 400'000);
        for (int hour = 0; hour < 24; ++hour) {
            if (chance(0.4)) entry.bands.push_back({{}, hour, hour + 1, chance(0.1) ? 0 : whole(20'000, 400'000)});
        }
        if (chance(0.7)) entry.unit_power_w = real(5, 300);
        return std::make_shared<const UnitPrice>(entry);
    }

    std::vector<UnitTypeView> unit_types(int count)
    {
        const std::shared_ptr<const UnitSpeedups> curve = well_divided();
        std::vector<UnitTypeView> views;
        for (int i = 0; i < count; ++i) {
            UnitTypeView& view = views.emplace_back(bounded_unit_type(i, real(0.001, 0.05), real(1e7, 1e9)));
            view.unit_count = whole(1, 6);
            view.availability = Availability(view.unit_count);
            for (int jobs = whole(-1, 3); jobs > 0; --jobs) {
                const double from_s = chance(0.5) ? 0 : real(0, 4000);
                const double to_s = chance(0.1) ? Availability::kForEver : from_s + real(1, 20'000);
                view.availability.take(from_s, to_s, whole(1, 3));
            }
            if (chance(0.7)) view.speedups = curve;
            if (chance(0.9)) view.price = price();
            if (chance(0.2)) view.queued_s = real(0, 4000);
            if (chance(0.3)) view.trust_factor = real(0.5, 1);
            if (chance(0.1)) view.holds.push_back({"other", 0, 1000, 1});
            if (chance(0.1)) view.network = nullptr;
            if (view.network != nullptr && i % 11 == 5) view.network = in_fast_time(*view.network);
            if (chance(0.1)) view.center_id = CenterId{"ctr_keeps"};
            if (chance(0.1)) view.units_per_device = 2;
        }
        return views;
    }

    RouteKnowledge knowledge(const std::vector<UnitTypeView>& views)
    {
        RouteKnowledge knowledge;
        std::vector<PastRun> runs;
        std::vector<PastWait> waits;
        for (const UnitTypeView& view : views) {
            waits.push_back({view.id.value, whole(0, 1) * real(0, 1000), real(0, 1000)});
            if (!chance(0.2)) continue;
            PastRun run;
            run.job_type = chance(0.7) ? "solver" : "other";
            run.unit_type = view.id.value;
            run.raw_s = 100;
            run.raw_low_s = 90;
            run.raw_high_s = 110;
            run.actual_s = real(40, 250);
            run.ended_at = kMorning - std::chrono::hours(1);
            runs.push_back(std::move(run));
        }
        if (chance(0.5)) knowledge.runs = std::make_shared<const RunHistory>(runs, kMorning);
        if (chance(0.5)) knowledge.waits = std::make_shared<const WaitHistory>(waits);
        return knowledge;
    }

    /// Of a kind with limits.
    RouteRequest request()
    {
        RouteRequest request = request_without_limits();
        if (chance(0.1)) request.transfer.network = NetworkChoice::kNow;
        const bool has_deadline = chance(0.7);
        if (has_deadline) request.transfer.deadline = kMorning;
        if (!has_deadline || chance(0.4)) request.budget = 0;
        set_limits(request);
        return request;
    }

    RouteRequest request_without_limits()
    {
        RouteRequest request = data_request(chance(0.3) ? real(1e9, 1e12) : 0);
        if (chance(0.2)) request.transfer.out_bytes = real(1e9, 1e11);
        if (chance(0.2)) request.kept_in_bytes["ctr_keeps"] = request.transfer.in_bytes / 2;
        request.job_type = "solver";
        request.project = "own";
        request.takes_operators = chance(0.5);
        request.operators[0].count = whole(100, 200'000);
        if (chance(0.7)) request.units.count.reset();
        request.units.min = whole(1, 2);
        request.units.max = 4;
        request.units.ignore_knee = chance(0.2);
        if (chance(0.1)) request.units.sharing = UnitSharing::kExclusive;
        const std::array<Preference, 5> preferences{
            {{1, 0, 0}, {0.5, 0.5, 0}, {0.5, 0.5, 0}, {0, 1, 0}, {0.3, 0.5, 0.2}}};
        request.prefer = preferences[static_cast<std::size_t>(whole(0, 4))];
        return request;
    }

    /// Those of another job of its kind.
    void set_limits(RouteRequest& request)
    {
        if (request.transfer.deadline) request.transfer.deadline = kMorning + std::chrono::minutes(whole(10, 3000));
        if (request.budget) request.budget = real(0.001, 2);
    }

  private:
    std::mt19937_64 random_;
};

/// A network and a job for it, both drawn, in a table of their own with the bounds of the job's kind.
struct PricedTable {
    enum class Limits { kNone, kDrawn };

    PricedTable(PricedNetworks& random, Limits limits)
        : views(random.unit_types(100)), knowledge(random.knowledge(views)),
          request(limits == Limits::kDrawn ? random.request() : random.request_without_limits()),
          table(views, knowledge), chooser(request, knowledge), kind(table.impl().kind_of(request, chooser))
    {
    }
    PricedTable(const PricedTable&) = delete; // its members refer to each other
    PricedTable& operator=(const PricedTable&) = delete;

    std::vector<UnitTypeView> views;
    RouteKnowledge knowledge;
    RouteRequest request;
    RouteTable table;
    PlaceChooser chooser;
    RouteKind& kind;
};

} // namespace fathom::test
