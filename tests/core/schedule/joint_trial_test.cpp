#include "core/schedule/joint_trial.hpp"
#include "tests/core/schedule/random_cycle.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr auto kNever = [] { return false; };

CycleReplay decided(const CycleMoment& moment, const CycleCatalog& catalog)
{
    return {moment, catalog, decide_cycle(moment, catalog), {}};
}

/// Where the job starts at once; empty: nowhere.
std::string start_of(const CycleMoment& moment, const CycleCatalog& catalog, std::size_t job)
{
    for (const ScheduledStart& start : decide_cycle(moment, catalog).starts) {
        if (start.job == job) return start.winner.center + "/" + start.winner.unit_type;
    }
    return {};
}

UnitTypeView named_type(const std::string& name, std::int64_t units)
{
    UnitTypeView view;
    view.id = UnitTypeId{"ut_" + name};
    view.name = "core";
    view.center_name = name;
    view.resource_type = "cpu";
    view.unit_count = units;
    view.availability = Availability(units);
    return view;
}

/// A unit of alpha and one of beta, which is a third as fast, and two equal jobs that want alpha.
struct TwoWantOne {
    TwoWantOne()
    {
        catalog.unit_types = {named_type("alpha", 1), named_type("beta", 1)};
        const double run_s[] = {600, 1800};
        for (std::size_t i = 0; i < 2; ++i) {
            MeasuredOperator one;
            one.operator_id = "dgemm";
            one.parameters_key = "n=1";
            one.operations = 1e6;
            one.median_s = one.ci_low_s = one.ci_high_s = run_s[i];
            catalog.unit_types[i].operators.push_back(one.operator_id);
            catalog.unit_types[i].measured.push_back(one);
        }
        for (const char* const id : {"job_1", "job_2"}) {
            ReadyJob job;
            job.id = id;
            job.kind = "equal";
            job.request.operators = {{.operator_id = "dgemm", .parameters_key = "n=1", .count = 1, .operations = 1e6}};
            job.request.units.count = 1;
            moment.input.jobs.push_back(job);
        }
    }
    CycleCatalog catalog;
    CycleMoment moment;
};

TEST(JointCounterfactuals, SayWhichPriorityWouldHaveGotTheBetterPlace)
{
    TwoWantOne two;
    ASSERT_EQ(start_of(two.moment, two.catalog, 0), "alpha/core");
    ASSERT_EQ(start_of(two.moment, two.catalog, 1), "beta/core");

    const std::vector<Counterfactual> found = joint_counterfactuals(decided(two.moment, two.catalog), 1, "EUR", kNever);

    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found.front().kind, "priority");
    EXPECT_THAT(found.front().text, HasSubstr("alpha/core would run it now if its priority were 1 instead of 0"));
    two.moment.input.jobs[1].priority = 1;
    EXPECT_EQ(start_of(two.moment, two.catalog, 1), "alpha/core");
    // Of the job that has the better place nothing is to be said of its turn.
    two.moment.input.jobs[1].priority = 0;
    for (const Counterfactual& one : joint_counterfactuals(decided(two.moment, two.catalog), 0, "EUR", kNever))
        EXPECT_NE(one.kind, "priority");
}

TEST(JointCounterfactuals, WithoutTimeNothingIsSaid)
{
    const TwoWantOne two;
    EXPECT_THAT(joint_counterfactuals(decided(two.moment, two.catalog), 1, "EUR", [] { return true; }), IsEmpty());
    int left = 3;
    const auto found =
        joint_counterfactuals(decided(two.moment, two.catalog), 1, "EUR", [&left] { return left-- <= 0; });
    for (const Counterfactual& one : found)
        EXPECT_EQ(one.kind, "priority"); // what was found in time
}

/// Applies a statement that is about the job itself.
bool apply(const Counterfactual& one, const CycleMoment& before, ReadyJob& job)
{
    if (one.kind == "priority") {
        job.priority = static_cast<std::int64_t>(one.needed);
    } else if (one.kind == "preference") {
        job.request.prefer = {.time = one.text.find("fastest") != std::string::npos ? 1.0 : 0.0,
                              .cost = one.text.find("cheapest") != std::string::npos ? 1.0 : 0.0,
                              .energy = one.text.find("greenest") != std::string::npos ? 1.0 : 0.0};
    } else if (one.kind == "budget") {
        job.request.budget = one.needed;
    } else if (one.kind == "deadline") {
        job.request.transfer.deadline =
            before.now + std::chrono::round<Timestamp::duration>(std::chrono::duration<double>(one.needed));
    } else {
        return false;
    }
    job.kind += '*';
    return true;
}

std::string winner_of(const SchedulePlan& plan, std::size_t job)
{
    const auto place = [](const Decision& decision) {
        if (!decision.winner) return std::string("none");
        const Candidate& winner = decision.candidates[*decision.winner];
        return winner.center + "/" + winner.unit_type;
    };
    for (const ScheduledStart& start : plan.starts) {
        if (start.job == job) return place(start.decision);
    }
    for (const ScheduledWait& wait : plan.waits) {
        if (wait.job == job) return place(*wait.decision);
    }
    return "nothing";
}

TEST(JointCounterfactualsProperty, WhatIsSaidComesOutWhenAllJobsAreDecidedAgain)
{
    int checked = 0;
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        const test::RandomCycle cycle = test::CycleMaker(seed).make();
        const CycleReplay replay = decided(cycle.moment, cycle.catalog);
        const std::size_t job = cycle.moment.input.jobs.size() / 2;
        for (const Counterfactual& one : joint_counterfactuals(replay, job, "EUR", kNever)) {
            CycleMoment changed = cycle.moment;
            if (!apply(one, cycle.moment, changed.input.jobs[job])) continue;
            EXPECT_EQ(winner_of(decide_cycle(changed, cycle.catalog), job), one.center + "/" + one.unit_type)
                << seed << ": " << one.text;
            ++checked;
        }
    }
    EXPECT_GT(checked, 2);
}

} // namespace
} // namespace fathom
