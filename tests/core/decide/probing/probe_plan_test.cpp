#include "core/decide/probing/probe_plan.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

namespace fathom {
namespace {

constexpr ProbePlanRule kRule{.metering_period_s = 604800};

ProbeCandidate arbitrary_candidate(std::size_t index)
{
    ProbeCandidate candidate{.id = "c" + std::to_string(index)};
    if (*rc::gen::inRange(0, 4) > 0) candidate.age_s = 1000.0 * *rc::gen::inRange(0, 4000);
    candidate.interval = *rc::gen::inRange(0, 300) / 1000.0;
    candidate.use = *rc::gen::inRange(0, 101) / 100.0;
    candidate.cost_s = *rc::gen::inRange(1, 60);
    return candidate;
}

std::set<std::string> ids_of(const std::vector<std::size_t>& picks, const std::vector<ProbeCandidate>& candidates)
{
    std::set<std::string> ids;
    for (const std::size_t pick : picks)
        ids.insert(candidates[pick].id);
    return ids;
}

TEST(ProbePlan, AValueCanBeCheckedByHand)
{
    // Two periods old, ±6 % where 3 % is aimed at, needed by half of the run time: 2 · 2 · (0.05 + 0.95 · 0.5)
    EXPECT_DOUBLE_EQ(value_of({.id = "a", .age_s = 2 * 604800.0, .interval = 0.06, .use = 0.5, .cost_s = 1}, kRule),
                     2 * 2 * 0.525);
    EXPECT_DOUBLE_EQ(value_of({.id = "a", .age_s = {}, .interval = 0, .use = 0, .cost_s = 1}, kRule), 4 * 4 * 0.05);
    EXPECT_EQ(value_of({.id = "a", .age_s = 604799, .interval = 1, .use = 1, .cost_s = 1}, kRule), 0)
        << "what is not stale is not measured again";
}

TEST(ProbePlan, TheBudgetGoesWhereASecondTellsMost)
{
    const std::vector<ProbeCandidate> candidates{
        {.id = "dear", .age_s = {}, .interval = 0, .use = 1, .cost_s = 40},
        {.id = "precise", .age_s = 700000, .interval = 0.01, .use = 0.2, .cost_s = 5},
        {.id = "new", .age_s = {}, .interval = 0, .use = 0.5, .cost_s = 5},
        {.id = "fresh", .age_s = 60, .interval = 0.2, .use = 1, .cost_s = 1}};

    EXPECT_EQ(plan_probes(candidates, kRule, 100), (std::vector<std::size_t>{2, 0, 1}));
    EXPECT_EQ(plan_probes(candidates, kRule, 12), (std::vector<std::size_t>{2, 1}))
        << "what does not fit is passed over";
    EXPECT_TRUE(plan_probes(candidates, kRule, 0).empty());
}

RC_GTEST_PROP(ProbePlanProperty, TheValueGrowsWithEachFactor, ())
{
    const ProbeCandidate candidate = arbitrary_candidate(0);
    const double value = value_of(candidate, kRule);
    ProbeCandidate older = candidate;
    if (older.age_s) *older.age_s *= 1.5;
    ProbeCandidate unknown = candidate;
    unknown.age_s.reset();
    ProbeCandidate wider = candidate;
    wider.interval *= 2;
    ProbeCandidate needed = candidate;
    needed.use = std::min(1.0, needed.use + 0.1);
    for (const ProbeCandidate& more : {older, unknown, wider, needed})
        RC_ASSERT(value_of(more, kRule) >= value);
}

RC_GTEST_PROP(ProbePlanProperty, ThePlanFitsAndDoesNotDependOnTheOrder, ())
{
    std::vector<ProbeCandidate> candidates;
    const auto count = *rc::gen::inRange<std::size_t>(0, 30);
    for (std::size_t i = 0; i < count; ++i)
        candidates.push_back(arbitrary_candidate(i));
    const double allowance_s = *rc::gen::inRange(0, 400);

    const std::vector<std::size_t> picks = plan_probes(candidates, kRule, allowance_s);

    double cost_s = 0;
    for (const std::size_t pick : picks)
        cost_s += candidates[pick].cost_s;
    RC_ASSERT(cost_s <= allowance_s);
    std::vector<ProbeCandidate> reversed(candidates.rbegin(), candidates.rend());
    RC_ASSERT(ids_of(plan_probes(reversed, kRule, allowance_s), reversed) == ids_of(picks, candidates));
    // Nothing that fits what is left was passed over.
    for (std::size_t i = 0; i < candidates.size(); ++i)
        if (std::find(picks.begin(), picks.end(), i) == picks.end() && value_of(candidates[i], kRule) > 0)
            RC_ASSERT(candidates[i].cost_s > allowance_s - cost_s);
}

} // namespace
} // namespace fathom
