// What is taken of unit types is laid on them when somebody looks: nothing that is decided may depend on that.
#include "core/decide/routing/decision_json.hpp"
#include "core/decide/routing/route_columns.hpp"
#include "core/schedule/cycle_plan.hpp"
#include "tests/core/schedule/random_cycle.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace fathom {
namespace {

using testing::IsEmpty;

std::vector<std::pair<double, std::int64_t>> steps_of(const Availability& availability)
{
    std::vector<std::pair<double, std::int64_t>> steps;
    for (const Availability::Step& step : availability.steps())
        steps.emplace_back(step.from_s, step.free);
    return steps;
}

/// All of a view that reservations change.
void expect_same_units(const UnitTypeView& view, const UnitTypeView& expected)
{
    EXPECT_EQ(view.id, expected.id);
    EXPECT_EQ(steps_of(view.availability), steps_of(expected.availability)) << expected.id.value;
    ASSERT_EQ(view.whole_devices.has_value(), expected.whole_devices.has_value());
    if (view.whole_devices) EXPECT_EQ(steps_of(*view.whole_devices), steps_of(*expected.whole_devices));
    EXPECT_EQ(view.held_memory, expected.held_memory) << "to the last bit";
    ASSERT_EQ(view.holds.size(), expected.holds.size());
    for (std::size_t i = 0; i < view.holds.size(); ++i) {
        EXPECT_EQ(view.holds[i].project, expected.holds[i].project);
        EXPECT_EQ(view.holds[i].from_s, expected.holds[i].from_s);
        EXPECT_EQ(view.holds[i].to_s, expected.holds[i].to_s);
        EXPECT_EQ(view.holds[i].unit_count, expected.holds[i].unit_count);
    }
}

/// Laid at once, one after the other.
void take_at_once(std::vector<UnitTypeView>& views, const Reservation& one)
{
    const auto found =
        std::find_if(views.begin(), views.end(), [&](const UnitTypeView& view) { return view.id == one.unit_type_id; });
    if (found == views.end()) return;
    if (found->whole_devices)
        found->whole_devices->take(one.from_s, one.release_s,
                                   one.whole_device_units.value_or(
                                       newly_shared_units(found->availability, *found->whole_devices, one.from_s,
                                                          one.release_s, one.unit_count, found->units_per_device)));
    found->availability.take(one.from_s, one.release_s, one.unit_count);
    if (one.memory) found->held_memory.add(*one.memory, static_cast<double>(one.unit_count));
    use_holds(found->holds, {one.project, one.from_s, one.release_s, one.unit_count});
}

class Reservations {
  public:
    explicit Reservations(std::uint64_t seed) : random_(seed) {}

    /// Of some unit types many, of some none, of some that are not there; mostly in order of the unit types.
    std::vector<Reservation> make(const std::vector<UnitTypeView>& views)
    {
        std::vector<Reservation> reservations;
        for (const UnitTypeView& view : views) {
            for (int i = whole(-2, 4); i > 0; --i)
                reservations.push_back(of(view.id));
        }
        for (int i = whole(0, 5); i > 0; --i)
            reservations.push_back(of(any(views)));
        if (chance(0.5)) reservations.push_back(of({"ut_gone"}));
        return reservations;
    }
    Reservation of(const UnitTypeId& id)
    {
        const double from_s = chance(0.5) ? 0 : std::uniform_real_distribution(0.0, 3.0)(random_);
        const bool is_for_ever = chance(0.05);
        Reservation one{id, whole(0, 4), is_for_ever ? Availability::kForEver : from_s + whole(0, 2000), from_s,
                        chance(0.5) ? "physics" : "biology"};
        if (chance(0.2)) one.whole_device_units = whole(0, 8);
        if (chance(0.3)) one.memory = {0.1 * whole(0, 20), 0.01 * whole(0, 20)};
        return one;
    }
    const UnitTypeId& any(const std::vector<UnitTypeView>& views)
    {
        return views[static_cast<std::size_t>(whole(0, static_cast<int>(views.size()) - 1))].id;
    }
    bool chance(double share) { return std::uniform_real_distribution(0.0, 1.0)(random_) < share; }
    int whole(int least, int most) { return std::uniform_int_distribution(least, most)(random_); }
    std::mt19937_64& random() { return random_; }

  private:
    std::mt19937_64 random_;
};

TEST(TakenViewsProperty, AreAsIfAllHadBeenTakenAtOnceInWhateverOrderOneLooks)
{
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const test::RandomCycle cycle = test::CycleMaker(5000 + seed).make(seed % 2 == 0 ? 90 : 0);
        const std::vector<UnitTypeView>& given = cycle.catalog.unit_types;
        Reservations reservations(seed);
        const std::vector<Reservation> reserved = reservations.make(given);
        const std::vector<Reservation> planned = reservations.make(given);
        const auto columns = seed % 3 == 0 ? nullptr : std::make_shared<RouteColumns>(given);
        UnitLedger ledger(given, {}, {.reserved = reserved, .planned = planned, .now = cycle.moment.now}, columns);
        std::vector<UnitTypeView> expected = given;
        for (const Reservation& one : reserved)
            take_at_once(expected, one);
        for (const Reservation& one : planned)
            take_at_once(expected, one);
        std::vector<std::size_t> order(given.size());
        std::iota(order.begin(), order.end(), 0U);
        std::shuffle(order.begin(), order.end(), reservations.random());

        for (const std::size_t i : order) {
            const std::optional<std::int64_t> taken = ledger.views().most_taken(i);
            if (taken && columns && columns->idle_units(i) > *taken)
                EXPECT_EQ(expected[i].availability.earliest_start(1, kMinHeld_s), 0) << seed;
            const std::optional<double> release_s = ledger.views().last_release_s(i);
            if (taken && release_s && columns && columns->idle_units(i) > *taken)
                EXPECT_LE(
                    expected[i].availability.earliest_start(columns->idle_units(i) - *taken, Availability::kForEver),
                    *release_s)
                    << seed;
            const std::optional<std::int64_t> ever = ledger.views().most_taken_ever(i);
            if (ever && columns && columns->idle_units(i) > *ever)
                EXPECT_EQ(
                    expected[i].availability.earliest_start(columns->idle_units(i) - *ever, Availability::kForEver), 0)
                    << seed;
            if (reservations.chance(0.2)) {
                const Reservation one = reservations.of(reservations.any(given));
                if (reservations.chance(0.5)) {
                    ledger.begin_trial();
                    ledger.reserve(one);
                    ledger.undo_trial();
                } else {
                    ledger.reserve(one);
                    take_at_once(expected, one);
                }
            }
            const UnitTypeList other = ledger.views(); // a copy that is made before somebody looks
            EXPECT_EQ(other.given(i).id, expected[i].id);
            expect_same_units(ledger.views()[i], expected[i]);
            EXPECT_EQ(&other[i], &ledger.views()[i]);
        }
        if (::testing::Test::HasFailure()) return;
    }
}

TEST(TakenViews, OnlyThoseThatSomebodyLooksAtAreCopied)
{
    std::vector<UnitTypeView> given(3);
    for (std::size_t i = 0; i < given.size(); ++i) {
        given[i].id = {"ut_" + std::to_string(i)};
        given[i].unit_count = 4;
        given[i].availability = Availability(4);
    }
    const std::vector<Reservation> reserved{{{"ut_0"}, 1, 60}, {{"ut_1"}, 3, 60}, {{"ut_1"}, 1, 90, 30}};

    const UnitLedger ledger(given, {}, {.reserved = reserved});

    EXPECT_EQ(&ledger.views().given(1), &given[1]);
    EXPECT_EQ(ledger.views().most_taken(1), std::optional<std::int64_t>(3)) << "within the first second";
    EXPECT_EQ(ledger.views().most_taken_ever(1), std::optional<std::int64_t>(4)) << "and one later";
    EXPECT_EQ(ledger.views().last_release_s(1), 90);
    EXPECT_EQ(ledger.views().last_release_s(2), 0);
    EXPECT_EQ(ledger.views()[1].availability.free_at(40), 0);
    EXPECT_EQ(ledger.views().most_taken(1), std::nullopt);
    EXPECT_EQ(ledger.views().last_release_s(1), std::nullopt);
    EXPECT_NE(&ledger.views().given(1), &given[1]);
    EXPECT_EQ(&ledger.views().given(0), &given[0]) << "nobody has looked";
    EXPECT_EQ(&ledger.views()[2], &given[2]) << "nothing is taken of it";
}

/// All that a plan says, with every text and every input that it was decided by.
std::string told_by(const SchedulePlan& plan)
{
    Json told = Json::array();
    for (const ScheduledStart& start : plan.starts)
        told.push_back({start.job, to_json(start.decision, "EUR"), start.inputs, start.is_queued});
    for (const ScheduledWait& wait : plan.waits)
        told.push_back(
            {wait.job, to_json(*wait.decision, "EUR"), wait.priority_rank, wait.planned ? wait.planned->from_s : -1});
    return told.dump();
}

/// A later catalog: other measurements at some unit types, others closed, others with more units.
void change_catalog(std::vector<UnitTypeView>& views, Reservations& chances)
{
    for (UnitTypeView& view : views) {
        if (chances.chance(0.1) && !view.measured.empty()) view.measured.own().front().median_s *= 1.5;
        if (chances.chance(0.05)) view.closed_reason = view.closed_reason.empty() ? "the center is drained" : "";
        if (chances.chance(0.05)) view.queued_s = chances.whole(0, 100);
        if (chances.chance(0.1) && !view.whole_devices) view.availability = Availability(++view.unit_count);
    }
}

void lose_trust_and_network(UnitTypeView& view)
{
    view.trust_factor *= 0.5;
    view.queued_s += 40;
    view.network.reset();
    view.price.reset();
}

// What a cycle keeps is taken over from catalog to catalog, and views are laid late; beside it all is made anew, each
// view laid at once.
TEST(UnitLedgerProperty, WithWhatIsKeptItPlansAsWithAllMadeAnew)
{
    std::size_t starts = 0;
    std::size_t waits = 0;
    for (std::uint64_t seed = 0; seed < 16; ++seed) {
        test::RandomCycle cycle = test::CycleMaker(7000 + seed).make(seed % 4 == 0 ? 0 : 100);
        Reservations chances(seed);
        std::vector<std::vector<UnitTypeView>> catalogs; // a newer list is made of the one before
        std::shared_ptr<RouteColumns> columns;
        for (int moment = 0; moment < 4; ++moment) {
            catalogs.push_back(cycle.catalog.unit_types);
            const RouteKnowledge& knowledge = cycle.catalog.knowledge;
            columns = std::make_shared<RouteColumns>(catalogs.back(), knowledge.estimates, columns.get());
            std::vector<Reservation> reserved = cycle.moment.reserved;
            for (const Reservation& one : chances.make(catalogs.back()))
                reserved.push_back(one);
            const auto ledger = [&](const std::shared_ptr<RouteColumns>& kept) {
                UnitState state = cycle.moment.unit_state();
                state.reserved = reserved;
                return UnitLedger(catalogs.back(), knowledge, state, kept);
            };
            const UnitLedger laid = ledger(nullptr);
            std::vector<UnitTypeView> views(laid.views().begin(), laid.views().end());
            UnitLedger kept = ledger(columns);
            if (moment % 2 == 1) { // as counterfactuals do
                const UnitTypeId id = chances.any(views);
                const auto is_changed = [&](const UnitTypeView& view) { return view.id == id; };
                kept.change(id, lose_trust_and_network);
                lose_trust_and_network(*std::find_if(views.begin(), views.end(), is_changed));
            }
            UnitLedger anew(views, knowledge, {.now = cycle.moment.now});

            const SchedulePlan expected = schedule(anew, cycle.moment.input);
            const SchedulePlan plan = schedule(kept, cycle.moment.input);

            ASSERT_EQ(told_by(plan), told_by(expected)) << seed << ", moment " << moment;
            EXPECT_THAT(
                plan_differences(record_of(expected), record_of(plan), cycle.moment.input.jobs, catalogs.back()),
                IsEmpty());
            starts += plan.starts.size();
            waits += plan.waits.size();
            change_catalog(cycle.catalog.unit_types, chances);
        }
    }
    EXPECT_GT(starts, 20U);
    EXPECT_GT(waits, 20U);
}

} // namespace
} // namespace fathom
