#pragma once

#include "core/schedule/catalog_document.hpp"
#include "core/schedule/cycle_document.hpp"
#include "tests/core/decide/routing/random_network.hpp"

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace fathom::test {

/// A network and jobs that compete for it.
struct RandomCycle {
    CycleCatalog catalog;
    CycleMoment moment;
};

class CycleMaker {
  public:
    explicit CycleMaker(std::uint64_t seed) : random_(seed), networks_(seed * 31 + 7) {}

    /// @param unit_types  as many as in the network; 0: some.
    RandomCycle make(int unit_types = 0)
    {
        RandomCycle cycle;
        RandomNetwork network = networks_.make();
        cycle.moment.now = networks_.now;
        cycle.catalog.knowledge = network.knowledge;
        cycle.catalog.unit_types = std::move(network.unit_types);
        while (std::ssize(cycle.catalog.unit_types) < unit_types) {
            // Names beyond the alphabet stay in order.
            for (UnitTypeView& view : networks_.make().unit_types) {
                if (std::ssize(cycle.catalog.unit_types) == unit_types) break;
                view.id.value = "ut_z" + std::to_string(1000 + std::ssize(cycle.catalog.unit_types));
                cycle.catalog.unit_types.push_back(std::move(view));
            }
        }
        for (UnitTypeView& view : cycle.catalog.unit_types)
            view.held_memory = {}; // in cycles it comes with what attempts hold
        add_load(cycle);
        add_jobs(cycle);
        add_gpu_memory(cycle);
        add_shared_devices(cycle);
        add_wall_limits(cycle);
        return cycle;
    }

  private:
    bool chance(double share) { return std::uniform_real_distribution(0.0, 1.0)(random_) < share; }
    int whole(int least, int most) { return std::uniform_int_distribution(least, most)(random_); }
    double real(double least, double most) { return std::uniform_real_distribution(least, most)(random_); }

    const UnitTypeId& any_unit_type(const RandomCycle& cycle)
    {
        const auto last = static_cast<int>(cycle.catalog.unit_types.size()) - 1;
        return cycle.catalog.unit_types[static_cast<std::size_t>(whole(0, last))].id;
    }

    void add_load(RandomCycle& cycle)
    {
        for (int i = whole(0, 12); i > 0; --i) {
            const double from_s = chance(0.8) ? 0 : real(0, 300);
            cycle.moment.reserved.push_back({any_unit_type(cycle), whole(1, 3), from_s + real(1, 2000), from_s,
                                             chance(0.5) ? "physics" : "biology"});
        }
        if (chance(0.3)) cycle.moment.planned.push_back({any_unit_type(cycle), 1, 900, 100, "physics"});
        if (chance(0.3))
            cycle.moment.calendar.holds.push_back({any_unit_type(cycle), "biology", networks_.now,
                                                   networks_.now + std::chrono::minutes(whole(1, 100)), 1});
        if (chance(0.2))
            cycle.moment.calendar.closures.push_back({any_unit_type(cycle), networks_.now + std::chrono::minutes(1),
                                                      networks_.now + std::chrono::minutes(whole(2, 100))});
        UnitTypeLoads loads;
        for (const UnitTypeView& view : cycle.catalog.unit_types) {
            if (chance(0.7)) loads.busy_shares[view.id.value] = real(0, 1);
            if (chance(0.5)) loads.shadow_prices[view.id.value] = real(0.1, 10);
        }
        cycle.catalog.loads = cycle.moment.input.loads = std::make_shared<const UnitTypeLoads>(std::move(loads));
    }

    void add_gpu_memory(RandomCycle& cycle)
    {
        constexpr std::int64_t kGigabyte = 1'000'000'000;
        for (UnitTypeView& view : cycle.catalog.unit_types) {
            if (chance(0.5)) view.gpu_memory_bytes = whole(8, 80) * kGigabyte;
        }
        std::map<std::string, GpuMemoryRequest> needs; // jobs of a kind ask for the same
        for (ReadyJob& job : cycle.moment.input.jobs) {
            const auto [known, is_new] = needs.try_emplace(job.kind);
            if (is_new && chance(0.1)) known->second = {whole(1, 20) * kGigabyte, whole(0, 40) * kGigabyte};
            job.request.units.gpu_memory = known->second;
        }
    }

    void add_shared_devices(RandomCycle& cycle)
    {
        for (UnitTypeView& view : cycle.catalog.unit_types) {
            if (view.unit_count < 2 || !chance(0.3)) continue;
            view.units_per_device = whole(2, 4);
            view.whole_devices = Availability(view.unit_count / view.units_per_device * view.units_per_device);
        }
        std::map<std::string, UnitSharing> wishes; // jobs of a kind ask for the same
        for (ReadyJob& job : cycle.moment.input.jobs) {
            const auto [known, is_new] = wishes.try_emplace(job.kind);
            if (is_new && chance(0.2)) known->second = UnitSharing::kExclusive;
            job.request.units.sharing = known->second;
        }
        for (const UnitTypeView& view : cycle.catalog.unit_types) {
            if (view.gpu_memory_bytes > 0 && chance(0.5))
                cycle.moment.gpu_rooms.push_back(
                    {view.id, {view.gpu_memory_bytes, std::int64_t{whole(0, 20)} * 1'000'000'000, 0, 100'000'000}});
        }
        for (Reservation& one : cycle.moment.reserved) {
            if (chance(0.3)) one.whole_device_units = whole(0, 8);
            if (one.whole_device_units) one.memory = {0.1 * static_cast<double>(*one.whole_device_units), 0.02};
        }
    }

    void add_wall_limits(RandomCycle& cycle)
    {
        for (UnitTypeView& view : cycle.catalog.unit_types) {
            if (chance(0.2)) view.max_wall_s = whole(1, 4) * 3600;
        }
        std::map<std::string, std::int64_t> limits; // jobs of a kind ask for the same
        for (ReadyJob& job : cycle.moment.input.jobs) {
            const auto [known, is_new] = limits.try_emplace(job.kind);
            if (is_new && chance(0.7)) known->second = whole(1, 50) * 360;
            job.request.wall_limit_s = known->second;
            if (job.request.operators.empty()) job.request.asked_s = known->second;
        }
    }

    /// A job that takes its operators from its type, of which a run on one of the unit types is known.
    void take_known_run(RouteRequest& request, const RandomCycle& cycle)
    {
        if (request.operators.empty()) return;
        const auto last = static_cast<int>(cycle.catalog.unit_types.size()) - 1;
        const UnitTypeView& view = cycle.catalog.unit_types[static_cast<std::size_t>(whole(0, last))];
        const auto known = std::make_shared<KnownRun>();
        known->job_id = "job_known";
        known->unit_type = view.id.value;
        known->place = view.center_name + "/" + view.name;
        known->run_s = real(1, 500);
        known->waiting_share = chance(0.3) ? real(0, 0.2) : 0;
        known->cores = view.cores_per_unit;
        known->operators = request.operators;
        for (OperatorDemand& part : known->operators)
            part.share = real(0.1, 0.9) / static_cast<double>(known->operators.size());
        known->measured = view.measured;
        request.takes_operators = true;
        request.known_run = known;
    }

    /// Of a new kind.
    RouteRequest another_request(const RandomCycle& cycle)
    {
        RouteRequest request = networks_.request();
        ++kinds_;
        if (chance(0.4)) request.project = "biology";
        if (chance(0.2)) request.quota.max_units = whole(1, 20);
        if (chance(0.1)) request.is_probe = true;
        request.owner = chance(0.5) ? "tok_ada" : "";
        if (chance(0.4)) take_known_run(request, cycle);
        return request;
    }

    void add_project_uses(RandomCycle& cycle)
    {
        ScheduleInput& input = cycle.moment.input;
        ProjectUse use{"physics", 2, {}, {}};
        use.used_unit_s[any_unit_type(cycle).value] = real(0, 1e5);
        use.units[any_unit_type(cycle).value] = whole(0, 3);
        input.project_uses.push_back(std::move(use));
        input.project_uses.push_back({"biology", 1, {}, {}});
        input.quota_uses["biology"] = {whole(0, 10), real(0, 3), real(0, 5)};
    }

    void add_jobs(RandomCycle& cycle)
    {
        ScheduleInput& input = cycle.moment.input;
        const int count = whole(1, 30);
        RouteRequest request;
        for (int i = 0; i < count; ++i) {
            if (i == 0 || chance(0.6)) request = another_request(cycle);
            ReadyJob job;
            job.id = "job_" + std::to_string(100 + i);
            job.request = request;
            job.kind = "kind " + std::to_string(kinds_);
            job.waited_s = chance(0.1) ? real(0, 1e5) : real(0, 500);
            job.priority = chance(0.8) ? 0 : whole(-100, 100);
            input.jobs.push_back(std::move(job));
        }
        if (count >= 4 && chance(0.3)) {
            for (int i = 1; i <= 2; ++i) {
                input.jobs[static_cast<std::size_t>(i)].gang = "physics\ntok_ada\ng";
                input.jobs[static_cast<std::size_t>(i)].gang_size = 2;
            }
        }
        if (chance(0.6)) add_project_uses(cycle);
        input.may_queue = chance(0.5);
        if (chance(0.3)) input.queue_room[any_unit_type(cycle).value] = whole(0, 3);
    }

    std::mt19937_64 random_;
    NetworkMaker networks_;
    int kinds_ = 0;
};

/// Its document, part by part.
inline std::vector<std::string> parts_of(const CycleCatalog& catalog)
{
    std::vector<std::string> parts;
    write_catalog(catalog.unit_types, catalog.knowledge, *catalog.loads,
                  [&](std::string part) { parts.push_back(std::move(part)); });
    return parts;
}

} // namespace fathom::test
