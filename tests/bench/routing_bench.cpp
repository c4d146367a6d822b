// How long one decision takes in networks of growing size (see tests/bench/routing).
#include "core/decide/route.hpp"
#include "tests/support/plain_route.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <iostream>
#include <random>
#include <stdexcept>

namespace fathom {
namespace {

using namespace std::chrono_literals;

constexpr int kUnitTypesOfCenter = 4;
constexpr int kOperators = 24;
constexpr int kSizes = 3;
constexpr int kKinds = 200;
constexpr int kDecisions = 2000;
constexpr int kComparedWithPlain = 24;
const Timestamp kNow = parse_rfc3339("2026-11-18T09:10:00Z").value();

using Random = std::mt19937_64;

double uniform(Random& random, double low, double high)
{
    return std::uniform_real_distribution<double>(low, high)(random);
}

int pick(Random& random, int low, int high) // both included
{
    return std::uniform_int_distribution<int>(low, high)(random);
}

std::string operator_name(int number)
{
    return "operator" + std::to_string(number);
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
            curves[static_cast<std::size_t>(number)].push_back(std::make_shared<const OperatorSpeedup>(
                operator_name(number), "size1", work_of_size(1), fit_scaling(points, ScalingMode::kStrong).value()));
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
    for (int i = pick(random, 0, 12); i > 0; --i)
        view.availability.take(uniform(random, -100, 4000), uniform(random, 4000, 20000), pick(random, 1, 6));
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
            one.parameters_key = "size" + std::to_string(size);
            one.operations = work_of_size(size);
            one.bytes = one.operations / 10;
            one.median_s = one.operations / (1e10 * own_speed);
            one.ci_low_s = one.median_s * 0.98;
            one.ci_high_s = one.median_s * 1.02;
            one.start_up_s = 0.05;
            view.measured.push_back(std::move(one));
        }
        const auto& known = curves[static_cast<std::size_t>(i)];
        speedups.push_back(known[static_cast<std::size_t>(pick(random, 0, static_cast<int>(known.size()) - 1))]);
    }
    std::sort(view.operators.begin(), view.operators.end());
    std::sort(speedups.begin(), speedups.end(),
              [](const auto& a, const auto& b) { return a->operator_id() < b->operator_id(); });
    view.speedups = std::make_shared<const UnitSpeedups>(std::move(speedups));
    return view;
}

std::vector<UnitTypeView> make_network_of(int centers)
{
    Random random(20261121);
    const auto curves = make_curves(random);
    std::vector<UnitTypeView> views;
    for (int center = 0; center < centers; ++center) {
        const auto network = make_network(random);
        for (int number = 0; number < kUnitTypesOfCenter; ++number) {
            views.push_back(make_unit_type(random, center, number, curves));
            views.back().network = network;
            views.back().price = make_price(random);
        }
    }
    return views;
}

/// What jobs of one kind have in common: one to six operators, up to eight units, and mostly nothing but an early end.
RouteRequest make_kind(Random& random, int number)
{
    RouteRequest request;
    request.job_type = "type" + std::to_string(number);
    request.project = "project" + std::to_string(number % 10);
    for (int i = pick(random, 1, 6); i > 0; --i) {
        const int size = pick(random, 0, kSizes - 1);
        const double work = work_of_size(size);
        request.operators.push_back({.operator_id = operator_name(pick(random, 0, kOperators - 1)),
                                     .parameters_key = "size" + std::to_string(size),
                                     .count = pick(random, 10, 2000),
                                     .operations = work,
                                     .bytes = work / 10});
    }
    request.units.max = 8;
    if (pick(random, 1, 10) == 1) request.units.device = "gpu";
    request.transfer.now = kNow;
    const int wish = pick(random, 1, 10);
    if (wish == 7 || wish == 8) request.prefer = {0.5, 0.5, 0};
    if (wish == 9) request.prefer = {0, 1, 0};
    if (wish == 10) request.prefer = {0, 0, 1};
    if (pick(random, 1, 5) == 1) request.transfer.in_bytes = uniform(random, 1e9, 1e12);
    if (pick(random, 1, 4) == 1) request.transfer.deadline = kNow;
    if (pick(random, 1, 10) == 1) request.budget = 0;
    return request;
}

/// A job of the kind: with a deadline and a budget of its own where the kind has them.
RouteRequest make_job(Random& random, const RouteRequest& kind)
{
    RouteRequest job = kind;
    if (job.transfer.deadline) job.transfer.deadline = kNow + std::chrono::minutes(pick(random, 600, 4000));
    if (job.budget) job.budget = uniform(random, 1, 20);
    return job;
}

/// Of processor time: decisions wait for nothing, and others may use the machine.
double thread_ms()
{
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

double quantile_of(std::vector<double> values, double fraction)
{
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(fraction * static_cast<double>(values.size() - 1))];
}

double mean_of(const std::vector<double>& values)
{
    double sum = 0;
    for (const double value : values)
        sum += value;
    return sum / static_cast<double>(values.size());
}

struct Figures {
    double p99_ms{};
    double cold_ms{};
    double plain_over_ours{};
};

class Bench {
  public:
    explicit Bench(int centers) : centers_(centers), views_(make_network_of(centers)), table_(views_), random_(7)
    {
        for (int i = 0; i < kKinds; ++i)
            kinds_.push_back(make_kind(random_, i));
    }

    Figures run()
    {
        std::vector<double> cold;
        for (const RouteRequest& kind : kinds_)
            cold.push_back(decide(make_job(random_, kind)));
        std::vector<double> warm;
        double plain_ms = 0;
        double ours_ms = 0;
        for (int i = 0; i < kDecisions; ++i) {
            const RouteRequest job = make_job(random_, kinds_[static_cast<std::size_t>(pick(random_, 0, kKinds - 1))]);
            if (i % (kDecisions / kComparedWithPlain) == 0) {
                plain_ms += compare(job);
                ours_ms += last_ms_;
            } else {
                warm.push_back(decide(job));
            }
        }
        Figures figures{quantile_of(warm, 0.99), mean_of(cold), plain_ms / ours_ms};
        fmt::print("{:>7} {:>11} {:>9.3f} {:>9.3f} {:>9.3f} {:>9.3f} {:>9.2f} {:>9.1f} {:>9.0f}\n", centers_,
                   views_.size(), mean_of(warm), quantile_of(warm, 0.5), figures.p99_ms, quantile_of(warm, 1),
                   figures.cold_ms, plain_ms / kComparedWithPlain, figures.plain_over_ours);
        std::cout.flush();
        return figures;
    }

  private:
    /// Places one job and takes its units. @return milliseconds
    double decide(const RouteRequest& job)
    {
        const double began_ms = thread_ms();
        decision_ = route(job, table_);
        last_ms_ = thread_ms() - began_ms;
        if (decision_.winner) reserve(decision_.candidates[*decision_.winner]);
        return last_ms_;
    }

    void reserve(const Candidate& winner)
    {
        const auto found =
            std::lower_bound(views_.begin(), views_.end(), winner.unit_type_id,
                             [](const UnitTypeView& view, const UnitTypeId& id) { return view.id < id; });
        found->availability.take(winner.plan.start_s, winner.plan.start_s + winner.held_s(), winner.unit_count);
        table_.changed(static_cast<std::size_t>(found - views_.begin()));
    }

    /// The same job by a plain loop first. @return its milliseconds
    double compare(const RouteRequest& job)
    {
        const double began_ms = thread_ms();
        const auto plain = test::plain_route(job, views_);
        const double plain_ms = thread_ms() - began_ms;
        decide(job);
        const std::string theirs = plain ? views_[plain->unit_type].id.value : "none";
        const std::string ours = decision_.winner ? decision_.candidates[*decision_.winner].unit_type_id.value : "none";
        if (theirs != ours) throw std::runtime_error("the plain loop chose " + theirs + ", the table " + ours);
        return plain_ms;
    }

    int centers_;
    std::vector<UnitTypeView> views_;
    RouteTable table_;
    Random random_;
    std::vector<RouteRequest> kinds_;
    Decision decision_;
    double last_ms_ = 0;
};

int run(std::span<const int> sizes)
{
    fmt::print("{} kinds of jobs, {} decisions each; milliseconds\n", kKinds, kDecisions);
    fmt::print("{:>7} {:>11} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}\n", "centers", "unit types", "mean", "p50",
               "p99", "largest", "new kind", "plain", "ratio");
    Figures last;
    std::vector<std::string> results;
    for (const int centers : sizes) {
        last = Bench(centers).run();
        results.push_back(fmt::format("RESULT p99_ms_{}_centers {:.3f} ms", centers, last.p99_ms));
    }
    for (const std::string& result : results)
        fmt::print("{}\n", result);
    fmt::print("RESULT cold_ms_{}_centers {:.1f} ms\n", sizes.back(), last.cold_ms);
    fmt::print("RESULT plain_loop_over_ours {:.0f} times\n", last.plain_over_ours);
    return 0;
}

} // namespace
} // namespace fathom

int main(int argc, char** argv)
{
    try {
        std::vector<int> sizes;
        for (int i = 1; i < argc; ++i)
            sizes.push_back(std::max(std::stoi(argv[i]), 1));
        if (sizes.empty()) sizes = {100, 1000, 10000};
        return fathom::run(sizes);
    } catch (const std::exception& e) {
        fmt::print(stderr, "routing_bench: {}\n", e.what());
        return 1;
    }
}
