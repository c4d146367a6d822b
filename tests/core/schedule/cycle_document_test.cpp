#include "core/decide/corun/pair_model.hpp"
#include "core/decide/routing/decision_json.hpp"
#include "core/schedule/cycle_replay.hpp"
#include "tests/core/schedule/random_cycle.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace fathom {
namespace {

using test::parts_of;
using testing::HasSubstr;
using testing::IsEmpty;

/// All that a plan says, with every text.
std::string all_of(const SchedulePlan& plan)
{
    Json starts = Json::array();
    for (const ScheduledStart& start : plan.starts)
        starts.push_back({start.job, to_json(start.decision, "EUR"), start.inputs, start.winner.unit_type_id.value});
    Json waits = Json::array();
    for (const ScheduledWait& wait : plan.waits)
        waits.push_back({wait.job, to_json(*wait.decision, "EUR"), wait.priority_rank, wait.waits_for_units,
                         wait.waits_for_host, wait.planned ? wait.planned->from_s : -1.0,
                         wait.left_free ? wait.left_free->unit_type_id.value : ""});
    return Json{{"starts", starts}, {"waits", waits}}.dump();
}

/// Two unit types each are on one host.
void share_hosts(test::RandomCycle& cycle)
{
    std::vector<UnitTypeView>& views = cycle.catalog.unit_types;
    for (std::size_t i = 0; i < views.size(); ++i)
        views[i].host = "h" + std::to_string(i / 2);
}

class CycleDocumentProperty : public ::testing::TestWithParam<int> {};

TEST_P(CycleDocumentProperty, OfWhatWasWrittenAndReadComesTheSamePlanToTheLastText)
{
    std::size_t starts = 0;
    std::size_t waits = 0;
    for (int i = 0; i < 12; ++i) {
        test::RandomCycle cycle = test::CycleMaker(static_cast<std::uint64_t>(1000 * GetParam() + i)).make();
        if (i % 2 == 1) share_hosts(cycle);
        const std::string document = write_cycle(cycle.moment);
        const std::vector<std::string> parts = parts_of(cycle.catalog);
        const SchedulePlan plan = decide_cycle(cycle.moment, cycle.catalog);

        const Result<CycleReplay> replay = replay_cycle(document, parts, write_plan(record_of(plan)));

        ASSERT_TRUE(replay.has_value()) << describe(replay.error());
        EXPECT_THAT(replay->differences, IsEmpty());
        ASSERT_EQ(all_of(replay->plan), all_of(plan));
        EXPECT_EQ(write_cycle(replay->moment), document);
        EXPECT_EQ(parts_of(replay->catalog), parts);
        starts += plan.starts.size();
        waits += plan.waits.size();
    }
    EXPECT_GT(starts, 0U);
    EXPECT_GT(waits, 0U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, CycleDocumentProperty, ::testing::Range(0, 4));

/// Each second kind of jobs is one of probes, and the centers are at two hosts, one of which has a probe.
void add_probes(test::RandomCycle& cycle)
{
    ScheduleInput& input = cycle.moment.input;
    for (ReadyJob& job : input.jobs)
        job.request.is_probe = (job.kind.back() - '0') % 2 == 0;
    std::int64_t number = 0;
    for (const UnitTypeView& view : cycle.catalog.unit_types) {
        const auto [host, is_new] = input.probe_hosts.try_emplace(view.center_id.value);
        if (is_new) host->second.host = host->second.probes = number++ % 2;
    }
}

TEST(CycleDocument, ProbesThatWaitForTheirHostsDoSoAgain)
{
    std::size_t held = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        test::RandomCycle cycle = test::CycleMaker(300 + seed).make();
        add_probes(cycle);
        const std::string document = write_cycle(cycle.moment);
        const SchedulePlan plan = decide_cycle(cycle.moment, cycle.catalog);

        const Result<CycleReplay> replay = replay_cycle(document, parts_of(cycle.catalog), write_plan(record_of(plan)));

        ASSERT_TRUE(replay.has_value()) << describe(replay.error());
        EXPECT_THAT(replay->differences, IsEmpty());
        EXPECT_EQ(all_of(replay->plan), all_of(plan));
        EXPECT_EQ(write_cycle(replay->moment), document);
        EXPECT_EQ(plan.starts.size() + plan.waits.size(), cycle.moment.input.jobs.size());
        held += static_cast<std::size_t>(std::count_if(plan.waits.begin(), plan.waits.end(),
                                                       [](const ScheduledWait& one) { return one.waits_for_host; }));
    }
    EXPECT_GT(held, 0U);
}

TEST(CycleDocument, JobsThatCentersHaveRefusedOrKeepDataOfAreDecidedSoAgain)
{
    test::RandomCycle cycle = test::CycleMaker(17).make();
    const CenterId center = cycle.catalog.unit_types.front().center_id;
    const CenterId other = cycle.catalog.unit_types.back().center_id;
    for (ReadyJob& job : cycle.moment.input.jobs) {
        job.request.refused_by = {center.value};
        job.request.transfer.in_bytes = 1e9;
        job.request.kept_in_bytes = {{other.value, 5e8}};
        job.request.staged_in_bytes = 1e9;
    }
    const SchedulePlan plan = decide_cycle(cycle.moment, cycle.catalog);

    const Result<CycleReplay> replay =
        replay_cycle(write_cycle(cycle.moment), parts_of(cycle.catalog), write_plan(record_of(plan)));

    ASSERT_TRUE(replay.has_value()) << describe(replay.error());
    EXPECT_THAT(replay->differences, IsEmpty());
    EXPECT_EQ(all_of(replay->plan), all_of(plan));
    for (const ReadyJob& job : replay->moment.input.jobs) {
        EXPECT_EQ(job.request.refused_by, std::vector<std::string>{center.value});
        EXPECT_EQ(job.request.in_bytes_at(other), 5e8);
        EXPECT_FALSE(job.request.moves_data_itself());
    }
    for (const ScheduledStart& start : plan.starts)
        EXPECT_NE(start.winner.center_id, center);
}

TEST(CycleDocument, OfRunsItIsKnownWhenTheyWereDecidedOn)
{
    test::RandomCycle cycle = test::CycleMaker(17).make();
    PastRun run;
    run.job_type = "app/x";
    run.unit_type = cycle.catalog.unit_types.front().id.value;
    run.actual_s = 60;
    run.ended_at = cycle.moment.now - std::chrono::hours(1);
    run.decided_at = cycle.moment.now - std::chrono::hours(3);
    const std::vector<PastRun> runs{run};
    cycle.catalog.knowledge.runs = std::make_shared<const RunHistory>(runs, cycle.moment.now);
    const SchedulePlan plan = decide_cycle(cycle.moment, cycle.catalog);

    const Result<CycleReplay> replay =
        replay_cycle(write_cycle(cycle.moment), parts_of(cycle.catalog), write_plan(record_of(plan)));

    ASSERT_TRUE(replay.has_value()) << describe(replay.error());
    ASSERT_EQ(replay->catalog.knowledge.runs->runs().size(), 1U);
    EXPECT_EQ(replay->catalog.knowledge.runs->runs()[0].decided_at, run.decided_at);
}

TEST(CycleDocument, JobsThatWouldShareAGpuAreDecidedSoAgain)
{
    test::RandomCycle cycle = test::CycleMaker(17).make();
    const ExpectedGpuShare expected{
        .share = 0.25, .spread = 0.05, .until_s = 1e6, .neighbours = 3, .basis = PairSource::kCompleted};
    for (ReadyJob& job : cycle.moment.input.jobs)
        job.request.gpu_shares = {{cycle.catalog.unit_types.front().id.value, expected}};
    const SchedulePlan plan = decide_cycle(cycle.moment, cycle.catalog);

    const Result<CycleReplay> replay =
        replay_cycle(write_cycle(cycle.moment), parts_of(cycle.catalog), write_plan(record_of(plan)));

    ASSERT_TRUE(replay.has_value()) << describe(replay.error());
    EXPECT_THAT(replay->differences, IsEmpty());
    EXPECT_EQ(all_of(replay->plan), all_of(plan));
    ASSERT_FALSE(replay->moment.input.jobs.empty());
    for (const ReadyJob& job : replay->moment.input.jobs)
        EXPECT_EQ(job.request.gpu_shares.begin()->second, expected);
}

TEST(CycleDocument, JobsWhoseEarlierRunsHadGpuMemoryAreDecidedSoAgain)
{
    test::RandomCycle cycle = test::CycleMaker(17).make();
    for (ReadyJob& job : cycle.moment.input.jobs)
        job.request.learned_gpu_memory = {30'000'000'000, 2'000'000'000};
    const SchedulePlan plan = decide_cycle(cycle.moment, cycle.catalog);

    const Result<CycleReplay> replay =
        replay_cycle(write_cycle(cycle.moment), parts_of(cycle.catalog), write_plan(record_of(plan)));

    ASSERT_TRUE(replay.has_value()) << describe(replay.error());
    EXPECT_THAT(replay->differences, IsEmpty());
    EXPECT_EQ(all_of(replay->plan), all_of(plan));
    ASSERT_FALSE(replay->moment.input.jobs.empty());
    for (const ReadyJob& job : replay->moment.input.jobs) {
        EXPECT_EQ(job.request.learned_gpu_memory.persistent_bytes, 30'000'000'000);
        EXPECT_EQ(job.request.learned_gpu_memory.temporary_bytes, 2'000'000'000);
    }
}

/// Jobs of a kind, of which pairs tell, and earlier runs of which had memory; some have parts of GPUs already.
void share_gpus(test::RandomCycle& cycle)
{
    PairModel pairs;
    const auto name = [](int kind) { return "type:" + std::to_string(kind); };
    std::set<std::string> kinds;
    for (int a = 0; a < 4; ++a) {
        kinds.insert(name(a));
        for (int b = a; b < 4; ++b) {
            const std::string of_a = name(a);
            const std::string of_b = name(b);
            ASSERT_TRUE(pairs.add({.a = {of_a, KernelClass::kUnknown},
                                   .b = {of_b, KernelClass::kUnknown},
                                   .a_share = 0.3 + 0.1 * (a + b),
                                   .b_share = 0.9 - 0.1 * b,
                                   .count = 3,
                                   .a_spread = 0.02}));
        }
    }
    pairs.refit();
    cycle.moment.input.gpu_pairs = std::make_shared<const PairTable>(kinds, pairs);
    for (ReadyJob& job : cycle.moment.input.jobs) {
        if (job.request.units.is_exclusive() || job.request.is_probe) continue;
        const int kind = job.kind.back() - '0';
        job.request.gpu_kind = name(kind % 5); // of the last nothing is known
        if (kind % 2 == 0 && job.request.units.gpu_memory.all_bytes() == 0)
            job.request.learned_gpu_memory = {6'000'000'000, 1'000'000'000};
    }
    for (const UnitTypeView& view : cycle.catalog.unit_types) {
        if (view.units_per_device <= 1) continue;
        std::vector<TenantedGpu> gpus = gpus_of(view.unit_count, view.units_per_device);
        place_tenant(gpus, {name(1), 300}, 1, pairs);
        cycle.moment.gpus.push_back({view.id, gpus});
    }
}

TEST(CycleDocument, JobsThatArePlacedOnGpusTogetherAreDecidedSoAgain)
{
    std::size_t shared = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        test::RandomCycle cycle = test::CycleMaker(500 + seed).make();
        share_gpus(cycle);
        const std::string document = write_cycle(cycle.moment);
        const SchedulePlan plan = decide_cycle(cycle.moment, cycle.catalog);

        const Result<CycleReplay> replay = replay_cycle(document, parts_of(cycle.catalog), write_plan(record_of(plan)));

        ASSERT_TRUE(replay.has_value()) << describe(replay.error());
        EXPECT_THAT(replay->differences, IsEmpty());
        ASSERT_EQ(all_of(replay->plan), all_of(plan));
        EXPECT_EQ(write_cycle(replay->moment), document);
        shared += static_cast<std::size_t>(
            std::count_if(plan.starts.begin(), plan.starts.end(),
                          [](const ScheduledStart& start) { return start.winner.gpu_share.is_known; }));
    }
    EXPECT_GT(shared, 0U);
}

TEST(CycleDocument, APairWithoutAFigureIsRefused)
{
    test::RandomCycle cycle = test::CycleMaker(17).make();
    auto pairs = std::make_shared<PairTable>();
    pairs->kinds = {"type:1"};
    cycle.moment.input.gpu_pairs = pairs;

    const Result<CycleMoment> read = read_cycle(write_cycle(cycle.moment));

    ASSERT_FALSE(read.has_value());
    EXPECT_THAT(read.error().detail, HasSubstr("a figure of a pair is missing"));
}

/// Leaves it as it was, and has its table follow so many changes.
void change_and_undo(UnitLedger& units, std::size_t changes)
{
    for (std::size_t i = 0; i < changes; i += 2) {
        units.begin_trial();
        units.reserve({.unit_type_id = units.views()[0].id, .unit_count = 1, .release_s = 10});
        units.undo_trial();
    }
}

// A ledger that is kept from batch to batch, and one that is made anew for each.
TEST(UnitLedgerProperty, BatchAfterBatchOnOneLedgerIsDecidedAsOnNewOnes)
{
    std::size_t starts = 0;
    std::size_t waits = 0;
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        test::RandomCycle cycle = test::CycleMaker(900 + seed).make(seed % 2 == 0 ? 90 : 0);
        if (seed % 3 == 1) share_hosts(cycle);
        if (seed % 4 > 1) share_gpus(cycle);
        const CycleMoment first = cycle.moment;
        UnitLedger kept(cycle.catalog.unit_types, cycle.catalog.knowledge, first.unit_state());
        for (int batch = 0; batch < 3; ++batch) {
            cycle.moment.planned = first.planned;
            cycle.moment.planned.insert(cycle.moment.planned.end(), kept.reserved_later().begin(),
                                        kept.reserved_later().end());
            cycle.moment.gpu_rooms = kept.gpu_rooms();
            cycle.moment.gpus = kept.gpus();
            const SchedulePlan fresh = decide_cycle(cycle.moment, cycle.catalog);
            kept.begin_batch();
            // Just below what a table follows.
            if (batch == 1) change_and_undo(kept, 4 * kept.views().size() + 4090);

            const SchedulePlan plan = schedule(kept, cycle.moment.input);

            ASSERT_EQ(all_of(plan), all_of(fresh)) << seed << ", batch " << batch;
            ASSERT_EQ(record_of(plan).size(), record_of(fresh).size());
            EXPECT_THAT(
                plan_differences(record_of(fresh), record_of(plan), cycle.moment.input.jobs, cycle.catalog.unit_types),
                IsEmpty());
            starts += plan.starts.size();
            waits += plan.waits.size();
            for (ReadyJob& job : cycle.moment.input.jobs) // others of the same kinds
                job.waited_s += 100;
        }
    }
    EXPECT_GT(starts, 20U);
    EXPECT_GT(waits, 20U);
}

TEST(CycleDocument, PartsOfWhatHasNotChangedAreTheSame)
{
    test::RandomCycle cycle = test::CycleMaker(7).make(40);
    const std::vector<std::string> before = parts_of(cycle.catalog);
    cycle.catalog.unit_types[20].measured.own().front().median_s *= 2;
    const std::vector<std::string> after = parts_of(cycle.catalog);

    ASSERT_EQ(after.size(), before.size());
    std::size_t changed = 0;
    for (std::size_t i = 0; i < before.size(); ++i)
        changed += before[i] != after[i] ? 1 : 0;
    EXPECT_EQ(changed, 1U);
}

TEST(CycleDocument, SaysWhichJobsFollowTheGpuThreshold)
{
    test::RandomCycle cycle = test::CycleMaker(3).make();
    ASSERT_GT(cycle.moment.input.jobs.size(), 1U);
    cycle.moment.input.jobs.front().request.follows_gpu_threshold = true;
    cycle.moment.input.jobs.front().kind = "alone";

    const Result<CycleMoment> read = read_cycle(write_cycle(cycle.moment));

    ASSERT_TRUE(read.has_value()) << describe(read.error());
    EXPECT_TRUE(read->input.jobs.front().request.follows_gpu_threshold);
    EXPECT_FALSE(read->input.jobs.back().request.follows_gpu_threshold);
}

TEST(CycleDocument, WhatGoesBetweenNodesIsDecidedOnAgain)
{
    test::RandomCycle cycle = test::CycleMaker(17).make();
    const NodeTransfers nodes{12.5, Compression{0.3, 0.1}};
    for (UnitTypeView& view : cycle.catalog.unit_types)
        view.nodes = nodes;
    cycle.catalog.unit_types.back().nodes = {.between_hosts_gb = 3};
    ASSERT_FALSE(cycle.moment.input.jobs.empty());
    for (ReadyJob& job : cycle.moment.input.jobs)
        job.request.compresses = true;
    const SchedulePlan plan = decide_cycle(cycle.moment, cycle.catalog);

    const Result<CycleReplay> replay =
        replay_cycle(write_cycle(cycle.moment), parts_of(cycle.catalog), write_plan(record_of(plan)));

    ASSERT_TRUE(replay.has_value()) << describe(replay.error());
    EXPECT_THAT(replay->differences, IsEmpty());
    EXPECT_TRUE(replay->moment.input.jobs.front().request.compresses);
    ASSERT_EQ(replay->catalog.unit_types.size(), cycle.catalog.unit_types.size());
    for (std::size_t i = 0; i < cycle.catalog.unit_types.size(); ++i)
        EXPECT_EQ(replay->catalog.unit_types[i].nodes, cycle.catalog.unit_types[i].nodes);
}

TEST(CycleDocument, WhatIsCutOffOrChangedIsRefused)
{
    const test::RandomCycle cycle = test::CycleMaker(3).make();
    const std::string document = write_cycle(cycle.moment);
    for (std::size_t length = 0; length < document.size(); length += 7)
        EXPECT_FALSE(read_cycle(document.substr(0, length)).has_value()) << length;
    EXPECT_FALSE(read_cycle(document + '\0').has_value());
    std::string other_version = document;
    other_version[0] = 1;
    const Result<CycleMoment> read = read_cycle(other_version);
    ASSERT_FALSE(read.has_value());
    EXPECT_THAT(read.error().detail, HasSubstr("another version"));

    std::vector<std::string> parts = parts_of(cycle.catalog);
    EXPECT_FALSE(read_cycle(parts.front()).has_value());
    parts.erase(parts.begin()); // its unit types
    EXPECT_FALSE(read_catalog(parts).has_value());
    EXPECT_FALSE(read_catalog({}).has_value());
}

} // namespace
} // namespace fathom
