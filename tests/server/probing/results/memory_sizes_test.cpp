#include "server/probing/refresh/health_probes.hpp"
#include "server/probing/results/probe_results.hpp"
#include "tests/server/probing/probing_fixture.hpp"

#include <gmock/gmock.h>
#include <pqxx/pqxx>

namespace fathom::server {
namespace {

using testing::HasSubstr;

/// An operator that is to measure memory: by default 10 elements of 8 bytes, at most 500.
OperatorManifest memory_operator()
{
    OperatorManifest manifest = test::simple_operator("triad");
    manifest.cache_rule = CacheRule{.array_bytes = "8*n",
                                    .memory_bytes = "24*n",
                                    .least_multiple = 4,
                                    .larger_sizes = {{{"n", 100}}, {{"n", 500}}}};
    return manifest;
}

/// A center whose units have 5 cores and the given caches.
class MemorySizes : public ProbingFixture {
  protected:
    MemorySizes() : ProbingFixture({}) { operators_.seed({test::simple_operator("op1"), memory_operator()}).value(); }

    void add_center(const Json& caches, std::int64_t memory_bytes = 1'000'000)
    {
        UnitTypeReport report = test::unit_type("u1", 10, {"op1", "triad"});
        report.memory_bytes_per_unit = memory_bytes;
        report.facts["last_level_cache_bytes"] = caches;
        test::add_center(store_, "alpha", {{report}, {}});
    }

    /// A full benchmark, or an order of the named operators.
    ProbeRunRecord run(std::vector<OperatorUse> operators = {})
    {
        RunOrder order;
        order.operators = std::move(operators);
        return io_.run(service_.create_runs(expert_, order)).value().runs.front();
    }
    ProbeTask task_of(const ProbeRunRecord& run)
    {
        return parse_probe_task(io_.run(service_.get_run(run.id.value)).value().document).value();
    }
    /// The size at which a run measures triad.
    std::int64_t size_in(const ProbeRunRecord& run)
    {
        for (const OperatorUse& use : task_of(run).operators)
            if (use.id == "triad") return use.parameters.at("n");
        return 0;
    }

    /// Ends a run as its center would that has these caches.
    void end(const ProbeRunRecord& run, const Json& caches)
    {
        ProbeResult result = test::right_result(task_of(run));
        for (OperatorResult& item : result.operators) {
            item.operations = 2 * static_cast<double>(item.parameters.at("n"));
            item.bytes = 8 * static_cast<double>(item.parameters.at("n"));
        }
        result.host["last_level_cache_bytes"] = caches;
        store_
            .run([&](pqxx::work& transaction) {
                EndedProbeJob ended;
                ended.job = run.job_id;
                ended.succeeded = true;
                ended.stdout_text = to_json(result).dump();
                return results_.probe_job_ended(transaction, ended);
            })
            .value();
    }

    Metrics metrics_;
    ProbeResults results_{operators_, writer_, metrics_, {}};
};

OperatorUse triad(Parameters parameters = {})
{
    OperatorUse use;
    use.id = "triad";
    use.parameters = std::move(parameters);
    return use;
}

TEST_F(MemorySizes, AFullBenchmarkMeasuresMemoryBeyondTheCachesOfItsUnits)
{
    add_center(100); // 400 bytes an array at least; by default it has 80

    EXPECT_EQ(size_in(run()), 100);
}

TEST_F(MemorySizes, AnOrderWithoutASizeDoesSoTooAndOneWithASizeKeepsIt)
{
    add_center(100);

    EXPECT_EQ(size_in(run({triad()})), 100);
    EXPECT_EQ(size_in(run({triad({{"n", 20}})})), 20);
}

TEST_F(MemorySizes, AreTheDefaultsWhereCachesAreSmallOrMemoryIsShort)
{
    add_center(100, 4000); // half of it is less than the 2400 bytes of 100 elements

    EXPECT_EQ(size_in(run()), 10);
}

TEST_F(MemorySizes, WhatMeasuredCachesIsKeptAndMarkedWithTheFigures)
{
    add_center(100);
    const ProbeRunRecord small = run({triad({{"n", 20}})});
    const ProbeRunRecord large = run({triad()});

    end(small, 100);
    end(large, 100);

    EXPECT_EQ(
        store_.sql("SELECT string_agg(parameters_key || ':' || (cache_verdict <> ''), ' ' ORDER BY parameters_key) "
                   "FROM measurement WHERE void_reason = ''"),
        "n=100:false n=20:true");
    const Json result = io_.run(service_.get_run(small.id.value)).value().result;
    EXPECT_THAT(result["operators"][0]["cache_verdict"].get<std::string>(), HasSubstr("not of memory"));
    EXPECT_FALSE(io_.run(service_.get_run(large.id.value)).value().result["operators"][0].contains("cache_verdict"));
}

TEST_F(MemorySizes, ProbesOfACentersHealthStaySmall)
{
    add_center(100);
    const HealthProbes probes(operators_, writer_);
    const CenterId center{store_.sql("SELECT id FROM center")};

    for (const std::int64_t turn : {0, 1})
        store_
            .run([&](pqxx::work& transaction) {
                return probes.queue(transaction, {.center = center, .turn = turn}, SystemClock().now());
            })
            .value();

    EXPECT_EQ(store_.sql("SELECT max((o -> 'parameters' ->> 'n')::int) FROM probe_task, "
                         "jsonb_array_elements(document -> 'operators') o WHERE o ->> 'id' = 'triad'"),
              "10");
}

/// As at a center with Slurm, which does not know its nodes' caches.
TEST_F(MemorySizes, FollowWhatTheNewestProbeSawWhereTheCenterDoesNotTell)
{
    add_center(Json{{"absent", "Slurm tells no caches"}});
    const ProbeRunRecord first = run();
    EXPECT_EQ(size_in(first), 10);

    end(first, 100);
    const ProbeRunRecord second = run();
    EXPECT_EQ(size_in(second), 100);

    end(second, Json{{"absent", "hidden on this node"}});
    EXPECT_EQ(store_.sql("SELECT last_level_caches_bytes FROM unit_type"), "100")
        << "what is not known changes nothing";
}

} // namespace
} // namespace fathom::server
