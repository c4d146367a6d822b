#include "server/catalog/catalog_gpu_pairs.hpp"
#include "server/jobs/attempt_words.hpp"
#include "server/jobs/gpu_class.hpp"
#include "server/rows/gpu_kind.hpp"
#include "tests/server/jobs/gpu_sharing_fixture.hpp"

#include <utility>

namespace fathom::server {
namespace {

CatalogSnapshot catalog_of_gpu_operators()
{
    CatalogSnapshot catalog;
    for (const Json& manifest :
         {sized_manifest("product", "cuda", "100*n", "n"), sized_manifest("triad", "cuda", "n", "12*n"),
          sized_manifest("copy", "cuda", "0", "n"), sized_manifest("even", "cuda", "10*n", "n"),
          sized_manifest("read", "cpu", "0", "1000000*n")}) {
        Result<OperatorManifest> read = parse_operator_manifest(manifest);
        EXPECT_TRUE(read) << describe(read.error());
        catalog.operators[read->id][1].manifest = std::move(*read);
    }
    return catalog;
}

OperatorUse times(const std::string& id, std::int64_t count)
{
    return {.id = id, .version = 1, .parameters = {{"n", 10}}, .count = count};
}

TEST(GpuClass, IsThatOfAllOperationsOverAllBytesThatGpusMove)
{
    const CatalogSnapshot catalog = catalog_of_gpu_operators();
    const auto class_of = [&](const std::vector<OperatorUse>& operators) { return gpu_class_of(operators, catalog); };

    EXPECT_EQ(class_of({times("product", 3)}), KernelClass::kCompute);
    EXPECT_EQ(class_of({times("triad", 3)}), KernelClass::kMemory);
    EXPECT_EQ(class_of({times("copy", 3)}), KernelClass::kMemory) << "without any operation";
    EXPECT_EQ(class_of({times("product", 1), times("triad", 1)}), KernelClass::kMemory) << "101 over 13";
    EXPECT_EQ(class_of({times("product", 5), times("triad", 1)}), KernelClass::kCompute) << "501 over 17";
    EXPECT_EQ(class_of({times("product", 1), times("read", 9)}), KernelClass::kCompute) << "no GPU reads";
}

TEST(GpuClass, IsUnknownWhereNothingTellsIt)
{
    const CatalogSnapshot catalog = catalog_of_gpu_operators();

    EXPECT_EQ(gpu_class_of({}, catalog), KernelClass::kUnknown);
    EXPECT_EQ(gpu_class_of(std::vector{times("even", 1)}, catalog), KernelClass::kUnknown) << "too close to tell";
    EXPECT_EQ(gpu_class_of(std::vector{times("read", 1)}, catalog), KernelClass::kUnknown);
    EXPECT_EQ(gpu_class_of(std::vector{times("gone", 1)}, catalog), KernelClass::kUnknown);
}

TEST_F(GpuSharingJobs, AreOrderedWithTheirClass)
{
    EXPECT_EQ(class_of(Json::array()), KernelClass::kUnknown);
    EXPECT_EQ(class_of(three_of("product")), KernelClass::kCompute);
    EXPECT_EQ(class_of(three_of("triad")), KernelClass::kMemory);
    EXPECT_EQ(class_of(three_of("product"), "exclusive"), KernelClass::kUnknown) << "it shares none";

    sql("UPDATE unit_type SET facts = '{}' WHERE name = 'part'");
    reload_catalog();
    EXPECT_EQ(class_of(three_of("product")), KernelClass::kUnknown) << "whole devices";
}

TEST_F(GpuSharingJobs, SayBesideWhomTheyStartedAndWhatThatCosts)
{
    const JobId job = place(three_of("product"), "allowed");
    ASSERT_EQ(orders_for(center_of(job)).size(), 1U);
    link::AttemptStarted started;
    started.attempt_id = attempt_of(job);
    started.started_at = clock_.now();
    started.units = {1};
    started.neighbours = DeviceNeighbours{.memory_count = 1, .expected_share = 0.7, .least_share_beside = 0.6};

    ASSERT_TRUE(run(report(attempts_, center_of(job), started)));

    const std::string of_job = " FROM job_event WHERE state = 'running' AND job_id = '" + job.value + "'";
    EXPECT_EQ(sql("SELECT cause" + of_job),
              "started at center alpha; others on its device: 0 compute-intensive, 1 memory-intensive, 0 of unknown "
              "class; beside them it is expected to keep 70 % of its speed, and each of them 60 % or more (by their "
              "classes)");
    EXPECT_EQ(sql("SELECT (evidence->'neighbours'->>'memory') || ' ' || (evidence->'neighbours'->>'expected_share')" +
                  of_job),
              "1 0.7");
}

TEST_F(LearnedGpuPairs, OfEndedAttemptsAreToldWithLaterOrders)
{
    run_alone("solve", 10);
    run_alone("stream", 10);
    const JobId solve = start("solve");
    const JobId stream = start("stream");
    shares_with(solve, stream.value);
    shares_with(stream, solve.value);
    has_run_for(solve, 20);
    has_run_for(stream, 20);
    finish(solve, 20);  // beside the other one all the time
    finish(stream, 25); // of its 25 s 20 s beside the other one: 5 s of its work alone, 5 s in these 20
    EXPECT_EQ(kept(), "4");
    reload_catalog();

    start("solve");

    const AttemptOrder& order = orders_.back();
    ASSERT_EQ(order.gpu_pairs.size(), 1U);
    GpuPair pair = order.gpu_pairs[0];
    ASSERT_NE(pair.a, pair.b);
    if (pair.a != order.gpu_kind) {
        std::swap(pair.a, pair.b);
        std::swap(pair.a_share, pair.b_share);
    }
    EXPECT_EQ(pair.a, order.gpu_kind);
    EXPECT_NEAR(pair.a_share, 0.5, 0.05);
    EXPECT_NEAR(pair.b_share, 0.25, 0.05);
    EXPECT_EQ(order.gpu_kind.find("solve"), std::string::npos) << "centers are told nothing of others' jobs";

    start("another");
    EXPECT_EQ(orders_.back().gpu_pairs.size(), 1U) << "from which what never ran is inferred";
    EXPECT_NE(orders_.back().gpu_kind, order.gpu_kind);
}

TEST_F(LearnedGpuPairs, APartOfADividedJobIsOfAKindOfItsOwn)
{
    start("solve");
    const Json units = {{"type", "part"}, {"count", 1}};
    const JobId job = submit(spec({{"units", units}, {"type", "solve"}}));
    sql(R"(UPDATE job SET metered = true, steps = '{"type": "solve / square"}' WHERE id = ')" + job.value + "'");
    route();

    const std::vector<link::Body> orders = orders_for(center_of(job));

    ASSERT_EQ(orders.size(), 1U);
    const AttemptOrder& part = std::get<link::StartAttempt>(orders.at(0)).order;
    EXPECT_EQ(part.gpu_kind, gpu_kind_of("solve / square", {admin_.token_id.value, "default"}, KernelClass::kUnknown));
    EXPECT_NE(part.gpu_kind, orders_.back().gpu_kind);
}

TEST_F(LearnedGpuPairs, OfJobsWithoutATypeOfTheirOwnAreKnownByTheirProgram)
{
    const auto start_program = [&](const std::string& program) {
        const Json units = {{"type", "part"}, {"count", 1}};
        const JobId job = submit(spec({{"units", units}, {"command", Json::array({program, "--fast"})}}));
        sql("UPDATE job SET metered = true");
        route();
        orders_.clear(); // those of before are told again
        for (link::Body& body : orders_for(center_of(job)))
            orders_.push_back(std::move(std::get<link::StartAttempt>(body).order));
        return job;
    };
    start_program("/opt/solve");
    start_program("/usr/bin/solve");
    start_program("/opt/stream");

    ASSERT_EQ(orders_.size(), 3U);
    EXPECT_TRUE(orders_[0].gpu_kind.starts_with("type:"));
    EXPECT_EQ(orders_[0].gpu_kind, orders_[1].gpu_kind);
    EXPECT_NE(orders_[0].gpu_kind, orders_[2].gpu_kind);
}

TEST_F(LearnedGpuPairs, AreLearnedWithoutWhatTheRawPredictionAlreadyCountedForNeighbours)
{
    const JobId job = start("solve");
    shares_with(job, "");
    sql("UPDATE prediction SET raw_prediction_s = 20, raw_prediction_low_s = 20, raw_prediction_high_s = 20, "
        "gpu_slowdown = 2 "
        "WHERE job_id = '" +
        job.value + "'");

    finish(job, 10);

    EXPECT_EQ(sql("SELECT pace FROM gpu_sharing_run"), "1") << "10 s were predicted for it alone";
}

TEST_F(LearnedGpuPairs, AreTaughtByNothingThatIsNotKnownForSure)
{
    const JobId unnamed = start("solve");
    shares_with(unnamed, "\"\"");
    finish(unnamed, 10);
    const JobId fooled = start("solve");
    shares_with(fooled, "job_made_up");
    finish(fooled, 10);
    const JobId failed = start("solve");
    shares_with(failed, "");
    finish(failed, 10, 1);
    const JobId untold = start("solve");
    finish(untold, 10);
    const JobId crowded = start("solve");
    const JobId one = start("stream");
    const JobId other = start("render");
    shares_with(crowded, one.value + "," + other.value);
    finish(crowded, 10);

    EXPECT_EQ(kept(), "0");
}

TEST_F(LearnedGpuPairs, CostNoJobItsEndWhereTheyCannotBeKept)
{
    sql("ALTER TABLE gpu_sharing_run ADD CONSTRAINT none CHECK (pace < 0) NOT VALID");

    run_alone("solve", 10);

    EXPECT_EQ(kept(), "0");
    EXPECT_EQ(sql("SELECT string_agg(state, ',') FROM job"), "succeeded");
}

TEST_F(LearnedGpuPairs, AreOfTheNewestRunsOnly)
{
    run_alone("solve", 10);
    sql("INSERT INTO gpu_sharing_run (kind, kind_class, beside, beside_class, unit_type_id, unit_count, "
        "raw_prediction_basis, "
        "pace, together_share) SELECT kind, kind_class, beside, beside_class, unit_type_id, unit_count, "
        "raw_prediction_basis, "
        "pace, together_share FROM gpu_sharing_run, generate_series(1, 30)");
    run_alone("stream", 10);
    run_alone("solve", 12);
    EXPECT_EQ(kept(), "17") << "16 of the one and 1 of the other";

    sql("SELECT setval(pg_get_serial_sequence('gpu_sharing_run', 'id'), 9000)");
    run_alone("render", 10);

    EXPECT_EQ(kept(), "1") << "of all together as many as there are numbers";
}

/// As centers have measured it.
TEST_F(LearnedGpuPairs, OfTurnsAtOnceAreToldWithLaterOrdersOfTheirKinds)
{
    start("solve");
    start("stream");
    const std::string solve = orders_[0].gpu_kind;
    const std::string stream = orders_[1].gpu_kind;
    EXPECT_TRUE(orders_[1].turn_pairs.empty());
    const auto measured = [&](const std::string& run, const std::string& a, const std::string& b, double a_kept,
                              double b_kept) {
        sql("INSERT INTO gpu_pair (run, a_kind, b_kind, unit_type_id, a_kept_pace, b_kept_pace, measured_count) "
            "SELECT lpad('" +
            run + "', 64, '0'), '" + a + "', '" + b + "', id, " + std::to_string(a_kept) + ", " +
            std::to_string(b_kept) + ", 3 FROM unit_type WHERE name = 'part'");
    };
    measured("1", solve, stream, 0.75, 0.5);
    measured("2", stream, solve, 0.75, 1);
    measured("3", stream, "type:0", 0.9, 0.9);
    reload_catalog();

    start("solve");

    ASSERT_EQ(orders_.back().turn_pairs.size(), 1U) << "none of others";
    const GpuPair& pair = orders_.back().turn_pairs[0];
    EXPECT_EQ(pair.count, 2);
    EXPECT_NEAR(pair.a == solve ? pair.a_share : pair.b_share, 0.875, 1e-6);
    EXPECT_NEAR(pair.a == solve ? pair.b_share : pair.a_share, 0.625, 1e-6);
    start("stream");
    EXPECT_EQ(orders_.back().turn_pairs.size(), 2U);
    start("another");
    EXPECT_TRUE(orders_.back().turn_pairs.empty());
}

TEST(TurnPairsFor, AreOfTheUnitTypeWhereItHasSomeElseOfTheNewestElsewhere)
{
    const auto pair = [](const std::string& other, double share, const std::string& unit_type) {
        return TurnPair{{.a = "k", .b = other, .a_share = share}, unit_type};
    };
    const std::vector<TurnPair> known{pair("x", 0.1, "far"),
                                      pair("x", 0.2, "here"),
                                      pair("y", 0.3, "far"),
                                      pair("y", 0.4, "farther"),
                                      {{.a = "x", .b = "y"}, "here"}};

    const std::vector<GpuPair> told = turn_pairs_for("k", "here", known, 64);

    ASSERT_EQ(told.size(), 2U);
    EXPECT_EQ(told[0].a_share, 0.2);
    EXPECT_EQ(told[1].a_share, 0.3);
    EXPECT_EQ(turn_pairs_for("k", "here", known, 1).size(), 1U);
}

TEST(GpuKind, IsOfATypeOfOneSubmitterAndProjectElseOfAClass)
{
    const std::string kind = gpu_kind_of("solve", {"ann", "physics"}, KernelClass::kCompute);

    EXPECT_EQ(kind, gpu_kind_of("solve", {"ann", "physics"}, KernelClass::kUnknown));
    EXPECT_NE(kind, gpu_kind_of("solve", {"bob", "physics"}, KernelClass::kCompute));
    EXPECT_NE(kind, gpu_kind_of("solve", {"ann", "chemistry"}, KernelClass::kCompute));
    EXPECT_NE(kind, gpu_kind_of("stream", {"ann", "physics"}, KernelClass::kCompute));
    EXPECT_LE(kind.size(), kMaxGpuKind);
    EXPECT_EQ(gpu_kind_of("", {"ann", "physics"}, KernelClass::kMemory), "class:memory");
    EXPECT_EQ(gpu_kind_of("", {"ann", "physics"}, KernelClass::kUnknown), "");
}

TEST(StartCause, TellsNoFigureOfWhatNobodyKnows)
{
    EXPECT_EQ(start_cause("alpha", std::nullopt), "started at center alpha");
    EXPECT_EQ(start_cause("alpha", DeviceNeighbours{.compute_count = 1, .unknown_count = 2}),
              "started at center alpha; others on its device: 1 compute-intensive, 0 memory-intensive, 2 of unknown "
              "class");
    const DeviceNeighbours measured{
        .compute_count = 1, .expected_share = 0.555, .least_share_beside = 0.5, .basis = PairSource::kMeasured};
    EXPECT_THAT(start_cause("alpha", measured),
                testing::EndsWith("keep 56 % of its speed, and each of them 50 % or more (as measured together)"));
}

TEST(StartCause, TellsWhatItsFiguresRestOnAndHowFarOffTheyMayBe)
{
    DeviceNeighbours neighbours{.compute_count = 1,
                                .expected_share = 0.6,
                                .expected_spread = 0.071,
                                .least_share_beside = 0.5,
                                .basis = PairSource::kMeasured};
    const auto basis = [&] {
        const std::string words = start_cause("alpha", neighbours);
        return words.substr(words.rfind('('));
    };
    EXPECT_EQ(basis(), "(as measured together, give or take 7 %)");
    neighbours.basis = PairSource::kCompleted;
    EXPECT_EQ(basis(), "(completed from measured pairs of each with others, give or take 7 %)");
    neighbours.basis = PairSource::kClassAverage;
    EXPECT_EQ(basis(), "(by measured pairs of their classes, give or take 7 %)");
    neighbours.basis = PairSource::kDefault;
    neighbours.expected_spread.reset();
    EXPECT_EQ(basis(), "(by their classes)");
}

} // namespace
} // namespace fathom::server
