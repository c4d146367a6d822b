// What decisions cost the server in networks of growing size (see tests/bench/routing).
#include "core/decide/statistics/sample_statistics.hpp"
#include "core/schedule/schedule.hpp"
#include "core/schedule/unmeasured_places.hpp"
#include "tests/bench/routing_world.hpp"
#include "tests/support/plain_route.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <set>
#include <stdexcept>
#include <utility>

namespace fathom {
namespace {

using namespace std::chrono_literals;

constexpr int kPages = 4;               ///< for single decisions: a thousand of them
constexpr std::size_t kJobs = 256;      ///< of such a page: one that is not full
constexpr int kLoneJobs = 12;           ///< each the only one of its page
constexpr std::size_t kPlainOfPage = 6; ///< decided by a plain loop as well

double quantile_of(std::vector<double> values, double fraction)
{
    std::sort(values.begin(), values.end());
    return quantile(values, fraction);
}

double mean_of(const std::vector<double>& values)
{
    double sum = 0;
    for (const double value : values)
        sum += value;
    return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

/// A figure of one network size, by name; milliseconds.
using Figures = std::vector<std::pair<std::string, double>>;

class Bench {
  public:
    explicit Bench(RoutingWorld world) : world_(std::move(world)), random_(7)
    {
        for (int i = 0; i < kKinds; ++i)
            kinds_.push_back(make_kind(random_, i));
        const double began_ms = thread_ms();
        columns_->prepare();
        prepare_ms_ = thread_ms() - began_ms;
    }

    Figures run()
    {
        for (int page = 0; page < kPages; ++page)
            time_decisions();
        std::vector<double> lone;
        for (int i = 0; i < kLoneJobs; ++i)
            lone.push_back(time_page(1).page_ms);
        const PageTime page = time_page(kJobs);
        if (page.starts == 0 || unmeasured_ == 0) throw std::runtime_error("not a network as networks are");
        starts_ = page.starts;
        return {{"prepare", prepare_ms_},
                {"page_setup", median(setup_)},
                {"p50", quantile_of(all_, 0.5)},
                {"p99", quantile_of(all_, 0.99)},
                {"largest", quantile_of(all_, 1)},
                {"first_of_kind", mean_of(first_)},
                {"repeat_p99", quantile_of(repeat_, 0.99)},
                {"cold", median(lone)},
                {"page_job", page.page_ms / kJobs},
                {"plain_loop", mean_of(plain_)}};
    }

    std::size_t unit_types() const { return world_.catalog.unit_types.size(); }
    std::size_t starts() const { return starts_; }

  private:
    struct PageTime {
        double page_ms{};
        std::size_t starts{};
    };

    /// Each page is decided at a moment of its own, as the server does.
    Timestamp next_moment() { return kRoutingWorldTime + 2s * ++moments_; }

    std::size_t any_kind() { return static_cast<std::size_t>(pick(random_, 0, kKinds - 1)); }

    /// The decisions of a page one by one, each on what the ones before have left.
    void time_decisions()
    {
        const Timestamp now = next_moment();
        double began_ms = thread_ms();
        UnitLedger ledger = ledger_at(now);
        UnmeasuredPlaces unmeasured(columns_, now);
        setup_.push_back(thread_ms() - began_ms);
        std::set<std::size_t> seen;
        for (std::size_t i = 0; i < kJobs; ++i) {
            const std::size_t kind = any_kind();
            const RouteRequest job = make_job(random_, kinds_[kind], now);
            const bool is_compared = i % (kJobs / kPlainOfPage) == 0;
            const std::string expected = is_compared ? plain_winner(job, ledger, now) : std::string();
            began_ms = thread_ms();
            look_for_unmeasured(job, unmeasured);
            const Decision decision = ledger.decide(job);
            if (decision.winner) reserve(ledger, decision.candidates[*decision.winner]);
            const double took_ms = thread_ms() - began_ms;
            (seen.insert(kind).second ? first_ : repeat_).push_back(took_ms);
            all_.push_back(took_ms + setup_.back() / kJobs);
            const std::string ours =
                decision.winner ? decision.candidates[*decision.winner].unit_type_id.value : "none";
            if (is_compared && ours != expected)
                throw std::runtime_error("the plain loop chose " + expected + ", the ledger " + ours);
        }
    }

    /// Before each decision the router asks where the job's operators have to be measured first.
    void look_for_unmeasured(const RouteRequest& job, UnmeasuredPlaces& places)
    {
        unmeasured_ += places.find(job, kMeteringPeriod).size();
    }

    static void reserve(UnitLedger& ledger, const Candidate& winner)
    {
        ledger.reserve({.unit_type_id = winner.unit_type_id,
                        .unit_count = winner.unit_count,
                        .release_s = winner.plan.start_s + winner.held_s(),
                        .from_s = winner.plan.start_s,
                        .project = {}});
    }

    UnitLedger ledger_at(Timestamp now) const
    {
        const server::CatalogSnapshot& catalog = world_.catalog;
        return {catalog.unit_types,
                catalog.knowledge,
                {.calendar = &catalog.calendar, .reserved = world_.reserved, .now = now},
                columns_};
    }

    /// On a ledger like this one: the loop looks at all unit types, which a decision must not find done.
    std::string plain_winner(const RouteRequest& job, const UnitLedger& ledger, Timestamp now)
    {
        const server::CatalogSnapshot& catalog = world_.catalog;
        const UnitLedger other(catalog.unit_types, catalog.knowledge,
                               {.calendar = &catalog.calendar,
                                .reserved = world_.reserved,
                                .planned = ledger.reserved_later(),
                                .now = now},
                               columns_);
        const std::vector<UnitTypeView> views(other.views().begin(), other.views().end());
        const double began_ms = thread_ms();
        const auto plain = test::plain_route(job, views);
        plain_.push_back(thread_ms() - began_ms);
        return plain ? views[plain->unit_type].id.value : "none";
    }

    /// A whole page as the server decides it, from the ledger on: those that cannot all start where suits them best are
    /// ordered, and those that wait are planned.
    PageTime time_page(std::size_t jobs)
    {
        const Timestamp now = next_moment();
        ScheduleInput input;
        for (std::size_t i = 0; i < jobs; ++i)
            input.jobs.push_back(make_ready_job(random_, kinds_, ++ids_, 600, now));
        const double began_ms = thread_ms();
        UnitLedger ledger = ledger_at(now);
        UnmeasuredPlaces unmeasured(columns_, now);
        for (const ReadyJob& job : input.jobs)
            look_for_unmeasured(job.request, unmeasured);
        const SchedulePlan plan = schedule(ledger, input);
        return {thread_ms() - began_ms, plan.starts.size()};
    }

    RoutingWorld world_;
    std::shared_ptr<RouteColumns> columns_ = std::make_shared<RouteColumns>(world_.catalog.unit_types);
    Random random_;
    std::vector<RouteRequest> kinds_;
    int moments_ = 0;
    int ids_ = 0;
    std::size_t starts_ = 0;
    std::size_t unmeasured_ = 0;
    double prepare_ms_ = 0;
    std::vector<double> setup_;
    std::vector<double> all_;
    std::vector<double> first_;
    std::vector<double> repeat_;
    std::vector<double> plain_;
};

double figure(const Figures& figures, std::string_view name)
{
    return std::find_if(figures.begin(), figures.end(), [&](const auto& one) { return one.first == name; })->second;
}

/// Times per tenfold the centers.
void print_growth(std::span<const int> sizes, std::span<const Figures> of_size)
{
    for (std::size_t i = 1; i < sizes.size(); ++i) {
        const double tenfolds = std::log10(static_cast<double>(sizes[i]) / sizes[i - 1]);
        if (tenfolds == 0) continue;
        for (const auto& [name, value] : of_size[i]) {
            const double growth = std::pow(value / figure(of_size[i - 1], name), 1 / tenfolds);
            fmt::print("RESULT growth_{}_{}_to_{} {:.2f} times\n", name, sizes[i - 1], sizes[i], growth);
        }
    }
}

Figures measure(RoutingWorld world, int centers, std::string_view what)
{
    Bench bench(std::move(world));
    Figures figures = bench.run();
    fmt::print("{} centers{}, {} unit types; of the last page {} jobs started\n", centers, what, bench.unit_types(),
               bench.starts());
    for (const auto& [name, value] : figures)
        fmt::print("  {:<18} {:>12.3f}\n", name, value);
    std::cout.flush();
    return figures;
}

void print_results(const Figures& figures, int centers, std::string_view suffix)
{
    for (const auto& [name, value] : figures)
        fmt::print("RESULT {}_ms_{}_centers{} {:.3f} ms\n", name, centers, suffix, value);
}

int run(std::span<const int> sizes)
{
    fmt::print("{} kinds of jobs, pages of {}, each at its own moment; milliseconds of processor time\n", kKinds,
               kJobs);
    std::vector<Figures> of_size;
    for (const int centers : sizes)
        of_size.push_back(measure(make_routing_world(centers), centers, ""));
    RoutingWorld worst = make_routing_world(sizes.back());
    take_half(worst);
    const Figures of_worst = measure(std::move(worst), sizes.back(), " with half of the units taken");
    for (std::size_t i = 0; i < sizes.size(); ++i)
        print_results(of_size[i], sizes[i], "");
    print_results(of_worst, sizes.back(), "_half_taken");
    print_growth(sizes, of_size);
    const Figures& last = of_size.back();
    fmt::print("RESULT plain_loop_over_decision {:.1f} times\n", figure(last, "plain_loop") / figure(last, "p50"));
    fmt::print("RESULT plain_loop_over_first_of_kind {:.2f} times\n",
               figure(last, "plain_loop") / figure(last, "first_of_kind"));
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
