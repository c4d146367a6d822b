#include "tests/server/centers/shared_gpus_fixture.hpp"

namespace fathom::server {
namespace {

using test::AgentServer;
using test::gpu_with;
using test::insert_running;
using test::kept;
using test::TestAgent;

/// Jobs a, b, c of types x, y and none, and d of another user.
void insert_typed(AgentServer& server)
{
    insert_running(server, {{"job_a", "tok_me"}, {"job_b", "tok_me"}, {"job_c", "tok_me"}, {"job_d", "tok_other"}});
    server.store.sql("UPDATE job SET job_type = CASE id WHEN 'job_a' THEN 'x' WHEN 'job_c' THEN '' ELSE 'y' END");
}

MeasuredJobPair pair_of(const std::string& a, const std::string& b, std::int64_t count = 1, double a_kept = 0.8)
{
    return {.a = {a, a_kept}, .b = {b, 0.6}, .count = count};
}

std::string kept_pairs(AgentServer& server)
{
    return server.store.sql("SELECT coalesce(string_agg(concat_ws(' ', a_kept_pace, b_kept_pace, measured_count), ', ' "
                            "ORDER BY measured_count DESC, id), '') FROM gpu_pair");
}

TEST(GpuPairs, AreKeptByKindOfJobAndShownToWhomMayKnowTheNeighbour)
{
    AgentServer server;
    const auto enrolled = server.enrol("alpha");
    TestAgent agent(server, &enrolled.credential);
    agent.greet();
    insert_typed(server);

    agent.send_and_wait(GpuMemoryReport{.gpus = {gpu_with("GPU-1", {"job_a", "job_b", "job_d"})},
                                        .pairs = {pair_of("job_a", "job_b", 5), pair_of("job_a", "job_d")}});

    EXPECT_EQ(kept_pairs(server), "0.8 0.6 5, 0.8 0.6 1");
    EXPECT_EQ(server.store.sql("SELECT count(*) FROM gpu_pair WHERE concat(run, a_kind, b_kind) LIKE '%job_%'"), "0");
    const JobGpuRecord mine = kept(server, "job_a", {.owner = "tok_me"}).at(0);
    ASSERT_EQ(mine.pairs.size(), 1U) << "the other neighbour is somebody else's";
    EXPECT_EQ(to_json(mine)["pairs"][0],
              (Json{{"neighbour", "job_b"}, {"kept_pace", 0.8}, {"neighbour_kept_pace", 0.6}, {"count", 5}}));
    const JobGpuRecord theirs = kept(server, "job_b").at(0);
    ASSERT_EQ(theirs.pairs.size(), 1U);
    EXPECT_EQ(theirs.pairs[0].kept_pace, 0.6);
}

TEST(GpuPairs, ThatAreReportedAgainAreOneRow)
{
    AgentServer server;
    const auto enrolled = server.enrol("alpha");
    TestAgent agent(server, &enrolled.credential);
    agent.greet();
    insert_typed(server);
    const auto report = [&](std::int64_t count, double kept) {
        agent.send_and_wait(GpuMemoryReport{
            .gpus = {}, .pairs = {pair_of("job_a", "job_b", count, kept), pair_of("job_a", "job_b", count, kept)}});
    };

    report(8, 0.5);
    report(9, 0.7);
    EXPECT_EQ(kept_pairs(server), "0.5 0.6 8") << "not a quarter more";
    report(10, 0.75);
    EXPECT_EQ(kept_pairs(server), "0.75 0.6 10");
}

/// What a center says of jobs that it has not teaches nobody.
TEST(GpuPairs, OfJobsThatAreNotThereOrHaveNoTypeAreNotKept)
{
    AgentServer server;
    const auto enrolled = server.enrol("alpha");
    TestAgent agent(server, &enrolled.credential);
    agent.greet();
    insert_typed(server);
    server.store.sql("UPDATE attempt SET state = 'ended' WHERE job_id = 'job_d'");

    agent.send_and_wait(GpuMemoryReport{.gpus = {},
                                        .pairs = {pair_of("job_a", "made up"), pair_of("job_a", "job_a"),
                                                  pair_of("job_a", "job_c"), pair_of("job_a", "job_d")}});

    EXPECT_EQ(kept_pairs(server), "");
}

TEST(GpuPairs, AreBounded)
{
    AgentServer server;
    const auto enrolled = server.enrol("alpha");
    TestAgent agent(server, &enrolled.credential);
    agent.greet();
    insert_typed(server);
    agent.send_and_wait(GpuMemoryReport{.gpus = {}, .pairs = {pair_of("job_a", "job_b")}});
    server.store.sql("INSERT INTO gpu_pair (run, a_kind, b_kind, unit_type_id, a_kept_pace, b_kept_pace, "
                     "measured_count) SELECT lpad(n::text, 64, '0'), a_kind, b_kind, unit_type_id, 1, 1, 1 "
                     "FROM gpu_pair, generate_series(1, 30) n");
    server.store.sql("UPDATE job SET submitted_by = 'tok_me' WHERE id = 'job_d'"); // of the kind of job_b

    agent.send_and_wait(GpuMemoryReport{.gpus = {}, .pairs = {pair_of("job_a", "job_d")}});
    EXPECT_EQ(server.store.sql("SELECT count(*) FROM gpu_pair"), "16");

    server.store.sql("SELECT setval(pg_get_serial_sequence('gpu_pair', 'id'), 9000)");
    agent.send_and_wait(GpuMemoryReport{.gpus = {}, .pairs = {pair_of("job_b", "job_d")}});
    EXPECT_EQ(server.store.sql("SELECT count(*) FROM gpu_pair"), "1");
}

} // namespace
} // namespace fathom::server
