#pragma once

#include "core/decide/routing/route.hpp"

#include <array>
#include <random>
#include <string>
#include <vector>

namespace fathom::test {

/// A network and a question to it, both drawn: some measured, priced, busy, reserved, distrusted, learned from, some
/// not.
struct RandomNetwork {
    std::vector<UnitTypeView> unit_types; ///< in order of id
    RouteKnowledge knowledge;
    RouteRequest request;
};

class NetworkMaker {
  public:
    explicit NetworkMaker(std::uint64_t seed) : random_(seed) {}

    RandomNetwork make()
    {
        RandomNetwork network;
        network.request = request();
        const int count = whole(1, 12);
        for (int i = 0; i < count; ++i)
            network.unit_types.push_back(unit_type(i));
        network.knowledge = knowledge(network.unit_types);
        return network;
    }

    RouteRequest request()
    {
        RouteRequest request;
        request.job_type = "app/x";
        request.project = "physics";
        const int operators = chance(0.1) ? 0 : whole(1, 3);
        for (int i = 0; i < operators; ++i)
            request.operators.push_back({kOperators[static_cast<std::size_t>(i)], "n=64", whole(1, 2000), 1e6, 1e5});
        request.transfer.now = now;
        if (chance(0.3)) request.transfer.in_bytes = scale(1e6, 1e11);
        if (chance(0.3)) request.transfer.deadline = now + std::chrono::seconds(whole(1, 20000));
        if (chance(0.5)) request.units.count = whole(1, 4);
        request.units.max = 16;
        const std::array<Preference, 4> preferences{{{.time = 1, .cost = 0, .energy = 0},
                                                     {.time = 0, .cost = 1, .energy = 0},
                                                     {.time = 0, .cost = 0, .energy = 1},
                                                     {.time = 0.4, .cost = 0.4, .energy = 0.2}}};
        request.prefer = preferences[static_cast<std::size_t>(whole(0, 3))];
        if (chance(0.3)) request.budget = scale(0.01, 10);
        if (operators == 0) request.asked_s = 600;
        return request;
    }

    const Timestamp now = *parse_rfc3339("2026-11-20T11:04:14.25Z");

  private:
    static constexpr std::array<const char*, 3> kOperators{"dgemm", "fft3d", "spmv"};

    bool chance(double share) { return std::uniform_real_distribution(0.0, 1.0)(random_) < share; }
    int whole(int least, int most) { return std::uniform_int_distribution(least, most)(random_); }
    double real(double least, double most) { return std::uniform_real_distribution(least, most)(random_); }
    double scale(double least, double most) { return std::exp(real(std::log(least), std::log(most))); }

    MeasuredOperator measured(const std::string& id, double speed)
    {
        MeasuredOperator one;
        one.operator_id = id;
        one.parameters_key = chance(0.8) ? "n=64" : "n=128";
        one.operations = one.parameters_key == "n=64" ? 1e6 : 8e6;
        one.bytes = 1e5;
        one.median_s = one.operations / speed;
        one.ci_low_s = one.median_s * 0.97;
        one.ci_high_s = one.median_s * 1.04;
        one.start_up_s = real(0, 0.2);
        one.probe_run_id = "prn_" + id;
        one.measured_at = now - std::chrono::seconds(whole(1, 1000000));
        return one;
    }

    std::shared_ptr<const UnitSpeedups> speedups()
    {
        UnitSpeedups known;
        for (const char* id : kOperators) {
            if (chance(0.4)) continue;
            const double loss = real(0, 0.2);
            std::vector<ScalingPoint> points;
            for (const double n : {1.0, 2.0, 4.0, 8.0})
                points.push_back({n, 1e8 * n / (1 + loss * (n - 1))});
            known.push_back(
                std::make_shared<OperatorSpeedup>(id, "n=64", 1e6, *fit_scaling(points, ScalingMode::kStrong)));
        }
        return std::make_shared<UnitSpeedups>(std::move(known));
    }

    /// Of a copy: what else is drawn stays as it is.
    static std::shared_ptr<const UnitLoads> loads(std::mt19937_64 random)
    {
        std::uniform_real_distribution<double> share(0, 1);
        UnitLoads known;
        for (const char* id : kOperators) {
            OperatorLoad load{.operator_id = id, .curve = {}};
            load.curve = {.slope = 0.1 * share(random), .deviation = 0.01, .largest_busy_cores = 8, .result_count = 9};
            const double log_factor = share(random);
            if (share(random) < 0.5) load.curve.copies = {{2, 1, log_factor / 4, 0.02, 1}, {8, 7, log_factor, 0.05, 2}};
            if (share(random) < 0.5) {
                load.curve.bubbles = {{2, 1, log_factor / 3, 0.02, 1}, {8, 7, 1.5 * log_factor, 0.05, 2}};
                load.curve.pressure = Pressure{2 * share(random), 0.1, 2};
            }
            if (share(random) < 0.7) known.push_back(std::move(load));
        }
        return known.empty() ? nullptr : std::make_shared<UnitLoads>(std::move(known));
    }

    std::shared_ptr<const NetworkProfile> network()
    {
        std::vector<NetworkSample> samples;
        const int count = whole(1, 200);
        for (int i = 0; i < count; ++i)
            samples.push_back({now - std::chrono::minutes(whole(1, 20000)), scale(1e6, 1e9)});
        return std::make_shared<NetworkProfile>(samples);
    }

    std::shared_ptr<const UnitPrice> price()
    {
        PriceEntry entry;
        entry.per_unit_hour_micros = whole(0, 5'000'000);
        if (chance(0.4))
            entry.bands.push_back(
                {.days = {}, .from_hour = 8, .to_hour = 18, .per_unit_hour_micros = whole(0, 5'000'000)});
        if (chance(0.7)) entry.unit_power_w = real(5, 400);
        return std::make_shared<UnitPrice>(entry);
    }

    UnitTypeView unit_type(int index)
    {
        UnitTypeView view;
        const std::string name(1, static_cast<char>('a' + index));
        view.id = UnitTypeId{"ut_" + name};
        view.name = "core";
        view.center_id = CenterId{"ctr_" + name};
        view.center_name = "center-" + name;
        view.resource_type = chance(0.8) ? "cpu" : "cuda";
        for (const char* id : kOperators) {
            if (chance(0.95)) view.operators.push_back(id);
        }
        view.unit_count = whole(1, 16);
        view.cores_per_unit = 1;
        view.availability = Availability(view.unit_count);
        const int jobs = whole(0, 4);
        for (int i = 0; i < jobs; ++i) {
            const double from_s = chance(0.6) ? 0 : real(0, 500);
            view.availability.take(from_s, from_s + scale(1, 5000), whole(1, static_cast<int>(view.unit_count)));
        }
        if (chance(0.2)) view.holds.push_back({chance(0.5) ? "physics" : "biology", 10, 900, 1});
        if (chance(0.2)) {
            view.closures.push_back({100, 2000});
            view.availability.take(100, 2000, view.unit_count);
        }
        if (chance(0.1)) {
            view.closed_reason = "the center is drained";
            view.closed_by = Filter::kDrain;
        }
        if (chance(0.3)) view.queued_s = scale(1, 500);
        const double speed = scale(1e7, 1e9);
        for (const char* id : kOperators) {
            if (chance(0.85)) view.measured.push_back(measured(id, speed * real(0.5, 2)));
        }
        if (chance(0.6)) view.speedups = speedups();
        if (index % 2 == 1) {
            view.loads = loads(random_);
            if (index % 4 == 1) view.held_memory.add({0.3 * (index % 7), 0.02 * (index % 5)}, 1 + index % 3);
        }
        if (chance(0.6)) view.network = network();
        if (chance(0.8)) view.price = price();
        if (chance(0.3)) view.trust_factor = real(0.3, 1);
        return view;
    }

    RouteKnowledge knowledge(const std::vector<UnitTypeView>& unit_types)
    {
        RouteKnowledge knowledge;
        if (chance(0.3)) return knowledge;
        std::vector<PastRun> runs;
        std::vector<PastWait> waits;
        std::vector<MeasuredUnitType> measured;
        for (const UnitTypeView& view : unit_types) {
            measured.push_back({view.id.value, view.measured});
            const int count = whole(0, 12);
            for (int i = 0; i < count; ++i) {
                PastRun run;
                run.job_type = chance(0.7) ? "app/x" : "app/y";
                run.unit_type = view.id.value;
                run.raw_s = scale(1, 100);
                run.raw_low_s = run.raw_s * 0.9;
                run.raw_high_s = run.raw_s * 1.1;
                run.predicted_s = run.raw_s;
                run.low_s = run.raw_low_s;
                run.high_s = run.raw_high_s;
                run.actual_s = run.raw_s * real(0.8, 1.6);
                run.ended_at = now - std::chrono::hours(whole(1, 400));
                if (i % 3 == 1) run.asked_s = 1.5 * run.actual_s;
                run.is_cut_off = i == 7;
                runs.push_back(run);
                const double expected_s = chance(0.5) ? 0 : scale(10, 1000);
                waits.push_back({view.id.value, expected_s, expected_s * real(0.8, 1.5) + real(0, 3)});
            }
        }
        knowledge.runs = std::make_shared<RunHistory>(runs, now);
        knowledge.waits = std::make_shared<WaitHistory>(waits);
        knowledge.estimates = std::make_shared<OperatorEstimates>(measured);
        return knowledge;
    }

    std::mt19937_64 random_;
};

} // namespace fathom::test
