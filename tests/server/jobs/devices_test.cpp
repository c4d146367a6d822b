#include "tests/server/jobs/jobs_fixture.hpp"

namespace fathom::server {
namespace {

/// A center with CPU and GPU units.
class Devices : public JobsFixture {
  protected:
    std::string add_gpu(const std::string& center, const std::string& facts)
    {
        const std::string id = UnitTypeId::make().value;
        sql("INSERT INTO unit_type (id, center_id, name, resource_type, unit_count, cores_per_unit, "
            "memory_bytes_per_unit, operators, facts) SELECT '" +
            id + "', id, 'gpu', 'cuda', 1, 1, 0, '{dgemm}', '" + facts + "' FROM center WHERE name = '" + center + "'");
        return id;
    }
};

TEST_F(Devices, APlacementComparesThemPerOperatorWithTheWayOverTheBus)
{
    add_operators();
    add_measurement(add_center("alpha"), 0.05);
    // One execution moves 25 165 824 bytes: 1 ms over this bus.
    add_measurement(add_gpu("alpha", R"({"bus_gb_s": 25.165824})"), 0.001);

    const JobId job = submit(spec({{"operators", {{{"id", "dgemm"}, {"count", 100}}}}}));
    route();

    const Json decision = Json::parse(call(net::Method::kGet, "/jobs/" + job.value + "/placement").body)["decision"];
    EXPECT_EQ(decision["candidates"][0]["unit_type"], "gpu");
    EXPECT_NEAR(decision["candidates"][0]["prediction"]["run_s"].get<double>(), 0.1 + 100 * 0.002, 1e-6)
        << "start-up, and each execution with its transfers";
    ASSERT_EQ(decision["devices"].size(), 1U);
    const Json& devices = decision["devices"][0];
    EXPECT_EQ(devices["run_on"], "GPU");
    EXPECT_EQ(devices["bus_source"], "center");
    EXPECT_NEAR(devices["operators"][0]["cpu_s"].get<double>(), 5, 1e-9);
    EXPECT_NEAR(devices["operators"][0]["gpu_s"].get<double>(), 0.2, 1e-9);
    EXPECT_NEAR(devices["operators"][0]["bus_s"].get<double>(), 0.1, 1e-9);
    EXPECT_NEAR(devices["operators"][0]["speedup"].get<double>(), 25, 1e-9);
}

TEST_F(Devices, ASlowBusSendsALightOperatorToTheCpu)
{
    add_operators();
    add_measurement(add_center("alpha"), 0.05);
    add_measurement(add_gpu("alpha", R"({"bus_gb_s": 0.25165824})"), 0.001); // 0.1 s over the bus

    const JobId job = submit(spec({{"operators", {{{"id", "dgemm"}, {"count", 100}}}}}));
    route();

    const Json decision = Json::parse(call(net::Method::kGet, "/jobs/" + job.value + "/placement").body)["decision"];
    EXPECT_EQ(decision["candidates"][0]["unit_type"], "core");
    EXPECT_EQ(decision["devices"][0]["run_on"], "CPU");
    EXPECT_NEAR(decision["devices"][0]["speedup"].get<double>(), 0.05 / 0.101, 1e-9);
}

TEST_F(Devices, ANeedOfGpuMemoryIsMetAndReachesTheJob)
{
    add_center("alpha");
    add_gpu("alpha", R"({"device": {"memory_bytes": 8000000000, "sharing": "time-slice"}})");
    reload_catalog();
    const auto needing = [](std::int64_t bytes) {
        return spec({{"units", {{"gpu_memory", {{"persistent_bytes", bytes}, {"temporary_bytes", 1000}}}}}});
    };

    const net::Response refused = call(net::Method::kPost, "/jobs", needing(100'000'000'000).dump());
    EXPECT_EQ(refused.status, 422);
    EXPECT_THAT(refused.body, testing::HasSubstr("the largest are those of alpha/gpu with 8 GB"));
    const JobId job = submit(needing(4'000'000'000));
    route();
    const std::vector<link::Body> orders = orders_for(center_of(job));
    ASSERT_EQ(orders.size(), 1U);
    const AttemptOrder order = std::get<link::StartAttempt>(orders[0]).order;
    EXPECT_EQ(order.unit_type, "gpu");
    EXPECT_EQ(order.environment, (std::map<std::string, std::string>{{"FATHOM_GPU_PERSISTENT_BYTES", "4000000000"},
                                                                     {"FATHOM_GPU_TEMPORARY_BYTES", "1000"}}));

    // What the center's memory manager gives counts, not what the card has.
    sql("INSERT INTO shared_gpu (center_id, gpu, report) SELECT id, 'GPU-1', "
        "'{\"capacity_bytes\": 4000000000, \"gap_bytes\": 100000000}' FROM center WHERE name = 'alpha'");
    reload_catalog();
    EXPECT_THAT(call(net::Method::kPost, "/jobs", needing(4'000'000'000).dump()).body,
                testing::HasSubstr("alpha/gpu with 3.9 GB"));
}

} // namespace
} // namespace fathom::server
