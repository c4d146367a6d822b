#include "tests/bench/routing_world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

namespace fathom {

double uniform(Random& random, double low, double high)
{
    return std::uniform_real_distribution<double>(low, high)(random);
}

int pick(Random& random, int low, int high)
{
    return std::uniform_int_distribution<int>(low, high)(random);
}

namespace {

constexpr int kUnitTypesOfCenter = 4;
constexpr int kOperators = 24;
constexpr int kSizes = 3;

std::string operator_name(int number)
{
    return fmt::format("operator{:02}", number);
}

/// As sizes are named: "k=512,m=512,n=512".
std::string size_name(int size)
{
    const int n = 256 << size;
    return fmt::format("k={0},m={0},n={0}", n);
}

double work_of_size(int size)
{
    return 1e9 * std::pow(8, size);
}

/// Scaling curves of every operator at its middle size, a few unlike ones of each, measured on eight counts.
std::vector<std::vector<std::shared_ptr<const OperatorSpeedup>>> make_curves(Random& random)
{
    constexpr int kVariants = 8;
    std::vector<std::vector<std::shared_ptr<const OperatorSpeedup>>> curves(kOperators);
    for (int number = 0; number < kOperators; ++number) {
        for (int variant = 0; variant < kVariants; ++variant) {
            const double serial = uniform(random, 0.01, 0.2);
            std::vector<ScalingPoint> points;
            for (const double n : {1, 2, 3, 4, 5, 6, 7, 8})
                points.push_back({n, 1 / (serial + (1 - serial) / n)});
            curves[static_cast<std::size_t>(number)].push_back(
                std::make_shared<const OperatorSpeedup>(operator_name(number), size_name(1), work_of_size(1),
                                                        fit_scaling(points, ScalingMode::kStrong).value()));
        }
    }
    return curves;
}

/// Bandwidth by hour of the week: better at night, another level at every center.
std::shared_ptr<const NetworkProfile> make_network(Random& random)
{
    NetworkProfile::Known known{};
    const double level = uniform(random, 5e7, 1e9);
    for (std::size_t hour = 0; hour < known.hours.size(); ++hour) {
        const bool is_night = hour % 24 < 6;
        known.hours[hour] = {5, level * (is_night ? 3 : 1) * uniform(random, 0.8, 1.2), 0.1};
    }
    for (std::size_t hour = 0; hour < known.days.size(); ++hour)
        known.days[hour] = {35, level * (hour < 6 ? 3 : 1), 0.1};
    known.overall = {840, level, 0.3};
    return std::make_shared<const NetworkProfile>(NetworkProfile::from(known));
}

std::shared_ptr<const UnitPrice> make_price(Random& random)
{
    PriceEntry entry;
    entry.per_unit_hour_micros = pick(random, 20'000, 400'000);
    entry.unit_power_w = uniform(random, 5, 300);
    for (int hour = 0; hour < 24; ++hour)
        entry.bands.push_back({{}, hour, hour + 1, pick(random, 20'000, 400'000)});
    return std::make_shared<const UnitPrice>(entry);
}

UnitTypeView make_unit_type(Random& random, int center, int number,
                            const std::vector<std::vector<std::shared_ptr<const OperatorSpeedup>>>& curves)
{
    UnitTypeView view;
    view.id = UnitTypeId{fmt::format("ut_{:06}_{}", center, number)};
    view.name = fmt::format("type{}", number);
    view.center_id = CenterId{fmt::format("ctr_{:06}", center)};
    view.center_name = fmt::format("center{:06}", center);
    view.resource_type = number == 3 ? "gpu" : "cpu";
    view.unit_count = pick(random, 8, 64);
    view.availability = Availability(view.unit_count);
    if (pick(random, 1, 50) == 1) {
        view.closed_reason = "the center is drained";
        view.closed_by = Filter::kDrain;
    }
    if (pick(random, 1, 4) == 1) view.trust_factor = uniform(random, 0.7, 1);
    const double speed = std::exp(uniform(random, -1, 1));
    UnitSpeedups speedups;
    for (int i = 0; i < kOperators; ++i) {
        if (pick(random, 1, 20) == 1) continue; // it lacks the operator
        view.operators.push_back(operator_name(i));
        const double own_speed = speed * std::exp(uniform(random, -0.4, 0.4));
        for (int size = 0; size < kSizes; ++size) {
            if (pick(random, 1, 10) == 1) continue; // never measured at this size
            MeasuredOperator one;
            one.operator_id = operator_name(i);
            one.parameters_key = size_name(size);
            one.operations = work_of_size(size);
            one.bytes = one.operations / 10;
            one.median_s = one.operations / (1e10 * own_speed);
            one.ci_low_s = one.median_s * 0.98;
            one.ci_high_s = one.median_s * 1.02;
            one.start_up_s = 0.05;
            one.probe_run_id = fmt::format("prn_01M7ZP0E4X{:016}", random() % 1'000'000'000);
            one.measured_at = kRoutingWorldTime - std::chrono::hours(pick(random, 1, 100));
            view.measured.push_back(std::move(one));
        }
        const auto& known = curves[static_cast<std::size_t>(i)];
        speedups.push_back(known[static_cast<std::size_t>(pick(random, 0, static_cast<int>(known.size()) - 1))]);
    }
    std::sort(speedups.begin(), speedups.end(),
              [](const auto& a, const auto& b) { return a->operator_id() < b->operator_id(); });
    view.speedups = std::make_shared<const UnitSpeedups>(std::move(speedups));
    return view;
}

} // namespace

RoutingWorld make_routing_world(int centers)
{
    Random random(20261121);
    RoutingWorld world;
    const auto curves = make_curves(random);
    for (int center = 0; center < centers; ++center) {
        const auto network = make_network(random);
        for (int number = 0; number < kUnitTypesOfCenter; ++number) {
            UnitTypeView view = make_unit_type(random, center, number, curves);
            view.network = network;
            view.price = make_price(random);
            for (int i = pick(random, 0, 12); i > 0; --i) {
                const double from_s = std::max(uniform(random, -100, 4000), 0.0);
                world.reserved.push_back({.unit_type_id = view.id,
                                          .unit_count = pick(random, 1, 6),
                                          .release_s = uniform(random, 4000, 20000),
                                          .from_s = from_s,
                                          .project = {}});
            }
            world.catalog.unit_types.push_back(std::move(view));
        }
    }
    world.catalog.center_count = centers;
    return world;
}

void take_half(RoutingWorld& world)
{
    Random random(20261130);
    world.reserved.clear();
    for (UnitTypeView& view : world.catalog.unit_types) {
        view.cores_per_unit = pick(random, 1, 4);
        UnitLoads loads;
        for (const std::string& operator_id : view.operators) {
            const auto most_cores = static_cast<double>((view.unit_count - 1) * view.cores_per_unit);
            loads.push_back({operator_id,
                             {.slope = uniform(random, 0, 0.7) / most_cores,
                              .deviation = 0.05 / most_cores,
                              .largest_busy_cores = most_cores,
                              .result_count = 12}});
        }
        std::sort(loads.begin(), loads.end(),
                  [](const OperatorLoad& a, const OperatorLoad& b) { return a.operator_id < b.operator_id; });
        view.loads = std::make_shared<const UnitLoads>(std::move(loads));
        for (std::int64_t left = view.unit_count / 2; left > 0;) {
            const std::int64_t units = std::min<std::int64_t>(left, pick(random, 1, 8));
            world.reserved.push_back({.unit_type_id = view.id,
                                      .unit_count = units,
                                      .release_s = uniform(random, 3600, 86400),
                                      .from_s = 0,
                                      .project = {}});
            left -= units;
        }
    }
}

RouteRequest make_kind(Random& random, int number)
{
    RouteRequest request;
    request.job_type = "type" + std::to_string(number);
    request.project = "project" + std::to_string(number % 10);
    for (int i = pick(random, 1, 6); i > 0; --i) {
        const int size = pick(random, 0, kSizes - 1);
        const double work = work_of_size(size);
        request.operators.push_back({.operator_id = operator_name(pick(random, 0, kOperators - 1)),
                                     .parameters_key = size_name(size),
                                     .count = pick(random, 10, 2000),
                                     .operations = work,
                                     .bytes = work / 10});
    }
    request.units.max = 8;
    if (pick(random, 1, 10) == 1) request.units.device = "gpu";
    const int wish = pick(random, 1, 10);
    if (wish == 7 || wish == 8) request.prefer = {0.5, 0.5, 0};
    if (wish == 9) request.prefer = {0, 1, 0};
    if (wish == 10) request.prefer = {0, 0, 1};
    if (pick(random, 1, 5) == 1) request.transfer.in_bytes = uniform(random, 1e9, 1e12);
    if (pick(random, 1, 4) == 1) request.transfer.deadline = Timestamp{};
    if (pick(random, 1, 10) == 1) request.budget = 0;
    return request;
}

RouteRequest make_job(Random& random, const RouteRequest& kind, Timestamp now)
{
    RouteRequest job = kind;
    job.transfer.now = now;
    if (job.transfer.deadline) job.transfer.deadline = now + std::chrono::minutes(pick(random, 600, 4000));
    if (job.budget) job.budget = uniform(random, 1, 20);
    return job;
}

ReadyJob make_ready_job(Random& random, std::span<const RouteRequest> kinds, int number, double longest_wait_s,
                        Timestamp now)
{
    const auto kind = static_cast<std::size_t>(pick(random, 0, static_cast<int>(kinds.size()) - 1));
    ReadyJob job;
    job.id = fmt::format("job_{:06}", number);
    job.request = make_job(random, kinds[kind], now);
    job.waited_s = uniform(random, 0, longest_wait_s);
    // Deadlines and budgets differ from job to job.
    const bool is_like_others = !job.request.transfer.deadline && !job.request.budget;
    job.kind = is_like_others ? "kind " + std::to_string(kind) : job.id;
    return job;
}

double thread_ms()
{
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

} // namespace fathom
