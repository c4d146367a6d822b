// More information never worsens what a job is to expect: worlds are drawn, the router decides on a part of what is
// true there, and what becomes of the job is what is true. The mean over many worlds must not grow with what it knows.
// One step is left out, that from nothing to one measured place: what is measured goes before what is not, also where
// it is busy (docs/routing.md), since jobs wait for probes before they are placed blindly.
#include "core/decide/routing/route.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace fathom {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kPlaces = 6;
constexpr std::size_t kOperators = 3;
constexpr int kWorlds = 1500;
constexpr double kRoom = 1.005; ///< room for a measurement's own error of 1 %

const Timestamp kNow = parse_rfc3339("2026-11-18T09:10:00Z").value();

/// What is true of one network and one job, none of which the router is told by itself.
class World {
  public:
    explicit World(unsigned seed) : random_(seed)
    {
        for (std::size_t place = 0; place < kPlaces; ++place) {
            const double speed = spread(0.6);
            for (std::size_t one = 0; one < kOperators; ++one)
                time_s_[place][one] = 0.01 * speed * spread(0.25);
            wait_s_[place] = uniform() < 0.5 ? 0 : 200 * uniform();
            per_hour_[place] = 1 + 5 * uniform();
            order_[place] = place;
        }
        std::shuffle(order_.begin(), order_.end(), random_);
        for (std::size_t one = 0; one < kOperators; ++one)
            count_[one] = 1000 + static_cast<std::int64_t>(9000 * uniform());
    }

    /// The network where so many of the places, always the same first ones, were measured with all operators and the
    /// others with the first one alone.
    std::vector<UnitTypeView> views(std::size_t measured_places, std::size_t operators_elsewhere)
    {
        std::vector<UnitTypeView> views(kPlaces);
        for (std::size_t i = 0; i < kPlaces; ++i) {
            const std::size_t place = order_[i];
            UnitTypeView& view = views[place];
            view.id = UnitTypeId{"ut_" + std::to_string(place)};
            view.center_id = CenterId{"ctr_" + std::to_string(place)};
            view.center_name = "center" + std::to_string(place);
            view.operators = std::vector<std::string>{"op0", "op1", "op2"};
            view.unit_count = 1;
            view.availability = Availability(1);
            if (wait_s_[place] > 0) view.availability.take(0, wait_s_[place], 1);
            PriceEntry price;
            price.per_unit_hour_micros = std::llround(per_hour_[place] * 1e6);
            view.price = std::make_shared<const UnitPrice>(price);
            std::vector<MeasuredOperator> measured;
            for (std::size_t one = 0; one < (i < measured_places ? kOperators : operators_elsewhere); ++one)
                measured.push_back(measure(place, one));
            view.measured = measured;
        }
        return views;
    }

    RouteRequest request() const
    {
        RouteRequest request;
        request.job_type = "solver";
        request.project = "own";
        request.transfer.now = kNow;
        for (std::size_t one = 0; one < kOperators; ++one)
            request.operators.push_back({"op" + std::to_string(one), "n=1", count_[one], 1e9, 1e8});
        return request;
    }

    double run_s(std::size_t place) const
    {
        double sum = 0;
        for (std::size_t one = 0; one < kOperators; ++one)
            sum += static_cast<double>(count_[one]) * time_s_[place][one];
        return sum;
    }
    double end_s(std::size_t place) const { return wait_s_[place] + run_s(place); }
    double cost(std::size_t place) const { return per_hour_[place] * run_s(place) / 3600; }

    /// A run of the job at a place, as the ledger has it.
    PastRun past_run(std::size_t place, double raw_s)
    {
        PastRun run;
        run.job_type = "solver";
        run.unit_type = "ut_" + std::to_string(place);
        run.raw_s = raw_s;
        run.raw_low_s = 0.95 * raw_s;
        run.raw_high_s = 1.05 * raw_s;
        run.actual_s = run_s(place) * (1 + 0.01 * normal());
        run.ended_at = kNow - 1h;
        return run;
    }

  private:
    MeasuredOperator measure(std::size_t place, std::size_t one)
    {
        MeasuredOperator measured;
        measured.operator_id = "op" + std::to_string(one);
        measured.parameters_key = "n=1";
        measured.operations = 1e9;
        measured.bytes = 1e8;
        measured.median_s = time_s_[place][one] * (1 + 0.01 * normal());
        measured.ci_low_s = measured.median_s * 0.98;
        measured.ci_high_s = measured.median_s * 1.02;
        measured.measured_at = kNow - 1h;
        return measured;
    }
    double uniform() { return (static_cast<double>(random_()) + 0.5) / 4294967296.0; }
    double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * M_PI * uniform()); }
    double spread(double deviation) { return std::exp(deviation * normal()); }

    std::mt19937 random_;
    double time_s_[kPlaces][kOperators]{};
    double wait_s_[kPlaces]{};
    double per_hour_[kPlaces]{};
    std::array<std::size_t, kPlaces> order_{};
    std::array<std::int64_t, kOperators> count_{};
};

std::size_t place_of(const UnitTypeId& id)
{
    return static_cast<std::size_t>(std::stoul(id.value.substr(3)));
}

/// What a router that knows this much makes of all worlds, in the mean: of ends, or of costs.
struct InformedOutcome {
    double end_s{};
    double cost{};
};

using Decide = std::function<Decision(World&, const RouteRequest&)>;

InformedOutcome mean_outcome(const Preference& prefer, const Decide& decide)
{
    InformedOutcome sum;
    for (int i = 0; i < kWorlds; ++i) {
        World world(static_cast<unsigned>(i));
        RouteRequest request = world.request();
        request.prefer = prefer;
        const Decision decision = decide(world, request);
        if (!decision.winner) throw std::runtime_error("a job without a place");
        const std::size_t place = place_of(decision.candidates[*decision.winner].unit_type_id);
        sum.end_s += world.end_s(place) / kWorlds;
        sum.cost += world.cost(place) / kWorlds;
    }
    return sum;
}

Decide with_measured(std::size_t places, std::size_t operators_elsewhere = 0)
{
    return [=](World& world, const RouteRequest& request) {
        return route(request, world.views(places, operators_elsewhere));
    };
}

const Preference kFastest{};
const Preference kCheapest{0, 1, 0};

TEST(MoreInformation, OfFurtherPlacesNeverWorsensWhatAJobIsToExpect)
{
    const double blind_end_s = mean_outcome(kFastest, with_measured(0)).end_s;
    InformedOutcome fast = mean_outcome(kFastest, with_measured(1));
    InformedOutcome cheap = mean_outcome(kCheapest, with_measured(1));
    for (std::size_t places = 2; places <= kPlaces; ++places) {
        SCOPED_TRACE(places);
        const InformedOutcome faster = mean_outcome(kFastest, with_measured(places));
        const InformedOutcome cheaper = mean_outcome(kCheapest, with_measured(places));
        EXPECT_LE(faster.end_s, fast.end_s * kRoom);
        EXPECT_LE(cheaper.cost, cheap.cost * kRoom);
        fast = faster;
        cheap = cheaper;
    }
    EXPECT_LT(fast.end_s, 0.8 * blind_end_s) << "to know all of them pays";
}

TEST(MoreInformation, OfFurtherOperatorsNeverWorsensWhatAJobIsToExpect)
{
    double known_s = mean_outcome(kFastest, with_measured(3, 0)).end_s;
    for (std::size_t operators = 1; operators <= kOperators; ++operators) {
        SCOPED_TRACE(operators);
        const double knows_more_s = mean_outcome(kFastest, with_measured(3, operators)).end_s;
        EXPECT_LE(knows_more_s, known_s * kRoom);
        known_s = knows_more_s;
    }
}

TEST(MoreInformation, OfPlacesThatAreAlikeNeverWorsensWhatAJobIsToExpect)
{
    const auto with_estimates = [](World& world, const RouteRequest& request) {
        const std::vector<UnitTypeView> views = world.views(3, 1);
        std::vector<MeasuredUnitType> measured;
        for (const UnitTypeView& view : views)
            measured.push_back({view.id.value, {view.measured.data(), view.measured.size()}});
        RouteKnowledge knowledge;
        knowledge.estimates = std::make_shared<const OperatorEstimates>(measured);
        return route(request, views, knowledge);
    };

    EXPECT_LE(mean_outcome(kFastest, with_estimates).end_s, mean_outcome(kFastest, with_measured(3, 1)).end_s * kRoom);
}

TEST(MoreInformation, OfEarlierRunsNeverWorsensWhatAJobIsToExpect)
{
    const auto with_runs = [](std::size_t places_with_runs) {
        return [places_with_runs](World& world, const RouteRequest& request) {
            const std::vector<UnitTypeView> views = world.views(kPlaces, 0);
            const Decision raw = route(request, views);
            std::vector<PastRun> runs;
            for (const Candidate& candidate : raw.candidates) {
                const std::size_t place = place_of(candidate.unit_type_id);
                for (int i = 0; place < places_with_runs && i < 3; ++i)
                    runs.push_back(world.past_run(place, candidate.prediction.run_s));
            }
            RouteKnowledge knowledge;
            if (!runs.empty()) knowledge.runs = std::make_shared<const RunHistory>(runs, kNow);
            return route(request, views, knowledge);
        };
    };

    double known_s = mean_outcome(kFastest, with_runs(0)).end_s;
    for (const std::size_t places : {1U, 3U, 6U}) {
        SCOPED_TRACE(places);
        const double knows_more_s = mean_outcome(kFastest, with_runs(places)).end_s;
        EXPECT_LE(knows_more_s, known_s * kRoom);
        known_s = knows_more_s;
    }
}

} // namespace
} // namespace fathom
