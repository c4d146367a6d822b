// What ended attempts on shared GPUs teach the router and later orders.
#include "core/model/gpu_memory.hpp"
#include "tests/server/jobs/gpu_sharing_fixture.hpp"

#include <map>

namespace fathom::server {
namespace {

/// What those who are on the GPU of a center are expected to cost the last job that went there; null: nothing.
class RoutedByGpuPairs : public LearnedGpuPairs {
  protected:
    RoutedByGpuPairs()
    {
        sql("UPDATE unit_type SET unit_count = 4 WHERE name = 'part'"); // one GPU
        reload_catalog();
    }
    void learn_pair()
    {
        run_alone("solve", 10);
        run_alone("stream", 10);
        const JobId solve = start("solve");
        const JobId stream = start("stream");
        shares_with(solve, stream.value);
        shares_with(stream, solve.value);
        has_run_for(solve, 20);
        has_run_for(stream, 20);
        const auto began = std::chrono::steady_clock::now();
        finish(solve, 20);
        finish(stream, 20);
        apart_s_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
        ASSERT_TRUE(test::eventually([&] { // history is summed up beside the catalog's reading
            reload_catalog();
            const CatalogPointer catalog = catalog_.get();
            return catalog->knowledge.runs && catalog->knowledge.runs->runs().size() == 4;
        })) << "the four runs of both";
    }
    Json gpu_share_of(const JobId& job) const
    {
        const Json decision = Json::parse(sql("SELECT decision FROM placement WHERE job_id = '" + job.value + "'"));
        const Json& winner = decision.at("candidates").at(decision.at("winner").get<std::size_t>());
        return winner.value("gpu_share", Json());
    }
    void has_units(const JobId& job, const std::string& units)
    {
        sql("UPDATE attempt SET units = '{" + units + "}', expected_end_at = now() + interval '1 h' WHERE job_id = '" +
            job.value + "'");
    }

    double apart_s_ = 0; ///< the most by which the ends of the pair's runs lie apart
};

TEST_F(RoutedByGpuPairs, APlaceCountsWhatThoseWhoAreThereWouldCost)
{
    learn_pair();
    const JobId stream = start("stream");
    EXPECT_TRUE(gpu_share_of(stream).is_null()) << "nobody is there";
    has_units(stream, "0");

    const JobId solve = start("solve");

    const Json share = gpu_share_of(solve);
    ASSERT_TRUE(share.is_object());
    // Each does the work of 10 s alone in its 20 s, of which it has been alone for as long as their ends lie apart.
    EXPECT_GT(share.at("share").get<double>(), (10 - apart_s_) / (20 - apart_s_) - 0.05);
    EXPECT_LT(share.at("share").get<double>(), 0.55);
    EXPECT_EQ(share.at("basis"), "measured");
    EXPECT_EQ(share.at("neighbours"), 1);
    EXPECT_GT(share.at("penalty_s").get<double>(), 0) << "it names no operators: its runs say how long it takes";
    EXPECT_TRUE(gpu_share_of(start("render")).is_null()) << "of which nothing was measured";
}

TEST_F(RoutedByGpuPairs, NobodyIsTakenToBeWhereNoCenterHasToldOfThem)
{
    learn_pair();
    const JobId stream = start("stream");
    sql("UPDATE attempt SET units = '{}' WHERE job_id = '" + stream.value + "'");

    EXPECT_TRUE(gpu_share_of(start("solve")).is_null());
}

/// What is learned of GPU memory from ended attempts.
class LearnedGpuNeeds : public LearnedGpuPairs {
  protected:
    void run_with(const std::string& type, int persistent_bytes, int temporary_bytes, std::int64_t code = 0)
    {
        const JobId job = start(type);
        shares_with(job, "");
        const auto program = [](int persistent, int temporary) {
            return Json{{"persistent", {{"peak_bytes", persistent}}}, {"temporary", {{"peak_bytes", temporary}}}};
        };
        const Json programs = {{"7", program(persistent_bytes, temporary_bytes)}, {"8", program(1, 2)}};
        sql("UPDATE attempt_gpu SET programs = '" + programs.dump() + "' WHERE attempt_id = '" + attempt_of(job).value +
            "'");
        finish(job, 10, code);
    }
    /// "persistent/temporary" that a job of the type is ordered with; empty: nothing.
    std::string learned_of(const std::string& type)
    {
        reload_catalog();
        const JobId job = start(type);
        const std::map<std::string, std::string>& variables = orders_.back().environment;
        std::string learned;
        if (variables.contains("FATHOM_GPU_LEARNED_PERSISTENT_BYTES"))
            learned = variables.at("FATHOM_GPU_LEARNED_PERSISTENT_BYTES") + "/" +
                      variables.at("FATHOM_GPU_LEARNED_TEMPORARY_BYTES");
        finish(job, 10);
        return learned;
    }
};

TEST_F(LearnedGpuNeeds, AreTheMostThatTheNewestRunsHad)
{
    run_with("solve", 40, 10);
    EXPECT_EQ(learned_of("solve"), "") << "one run tells too little";
    run_with("solve", 30, 20);

    EXPECT_EQ(learned_of("solve"), "41/20") << "its programs' together, of what stays, and the larger of what goes";
    EXPECT_EQ(learned_of("stream"), "");
    run_with("solve", 1000, 5);
    EXPECT_EQ(learned_of("solve"), "80/20") << "no more than there is";
}

TEST_F(LearnedGpuNeeds, AreOfRunsThatEndedWellAndOfTheNewestOnly)
{
    run_with("solve", 40, 10, 1);
    run_with("solve", 40, 10, 1);
    EXPECT_EQ(sql("SELECT count(*) FROM gpu_memory_run"), "0");

    run_with("solve", 40, 10);
    sql("INSERT INTO gpu_memory_run (kind, persistent_bytes, temporary_bytes) SELECT kind, 1, 1 FROM gpu_memory_run, "
        "generate_series(1, 30)");
    run_with("solve", 40, 10);
    EXPECT_EQ(sql("SELECT count(*) FROM gpu_memory_run"), "16");

    sql("SELECT setval(pg_get_serial_sequence('gpu_memory_run', 'id'), 9000)");
    run_with("stream", 40, 10);
    EXPECT_EQ(sql("SELECT count(*) FROM gpu_memory_run"), "1") << "of all together as many as there are numbers";
}

TEST_F(LearnedGpuNeeds, CountAgainstAPlaceWhoseGpusHaveLess)
{
    const auto report = [&](std::int64_t persistent_pieces) {
        GpuMemoryReport told;
        told.gpus.push_back({.gpu = "GPU-0",
                             .capacity_bytes = 16 * kGpuPieceBytes,
                             .persistent_bytes = persistent_pieces * kGpuPieceBytes});
        sql("INSERT INTO shared_gpu (center_id, gpu, report) SELECT id, 'GPU-0', '" + to_json(told)["gpus"][0].dump() +
            "' FROM center WHERE name = 'alpha' ON CONFLICT (center_id, gpu) DO UPDATE SET report = excluded.report");
    };
    const auto gpu_room_of = [&](const JobId& job) {
        const Json decision = Json::parse(sql("SELECT decision FROM placement WHERE job_id = '" + job.value + "'"));
        const Json& winner = decision.at("candidates").at(decision.at("winner").get<std::size_t>());
        return winner.value("gpu_room", Json());
    };
    run_with("solve", 40, 10);
    run_with("solve", 40, 10);
    reload_catalog();
    start("stream"); // is there all the time
    report(15);

    const JobId job = start("solve");

    const Json room = gpu_room_of(job);
    ASSERT_TRUE(room.is_object()) << "it has started all the same";
    EXPECT_EQ(room.at("missing_bytes"), kGpuPieceBytes) << "two pieces, where one is left";
    EXPECT_EQ(room.at("persistent_bytes"), 41);
    EXPECT_GT(room.at("penalty_s").get<double>(), 0);
    EXPECT_TRUE(gpu_room_of(start("render")).is_null()) << "of which nothing is known";
    report(14);
    EXPECT_TRUE(gpu_room_of(start("solve")).is_object()) << "the one before is expected to have the two that are left";
    finish(job, 10);
    report(12);
    EXPECT_TRUE(gpu_room_of(start("solve")).is_null());
}

TEST_F(LearnedGpuNeeds, AreNotToldOfAJobThatSaysWhatItNeeds)
{
    run_with("solve", 40, 10);
    run_with("solve", 40, 10);
    reload_catalog();
    const Json units = {{"type", "part"}, {"count", 1}, {"gpu_memory", {{"persistent_bytes", 30}}}};
    sql("UPDATE unit_type SET facts = jsonb_set(facts, '{device,memory_bytes}', '1000') WHERE name = 'part'");
    reload_catalog();
    const JobId job = submit(spec({{"units", units}, {"type", "solve"}}));
    sql("UPDATE job SET metered = true");
    route();

    const std::vector<link::Body> orders = orders_for(center_of(job));

    ASSERT_EQ(orders.size(), 1U);
    const std::map<std::string, std::string>& variables = std::get<link::StartAttempt>(orders[0]).order.environment;
    EXPECT_EQ(variables.at("FATHOM_GPU_PERSISTENT_BYTES"), "30");
    EXPECT_FALSE(variables.contains("FATHOM_GPU_LEARNED_PERSISTENT_BYTES"));
}

} // namespace
} // namespace fathom::server
