#include "server/routing/in_use/gpu_rooms.hpp"
#include "server/rows/gpu_kind.hpp"
#include "tests/server/jobs/jobs_fixture.hpp"
#include "tests/support/test_io.hpp"

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
    EXPECT_EQ(decision["candidates"][1]["removed_by"], "speedup");
    EXPECT_EQ(decision["filter_trace"]["steps"][0]["filter"], "speedup");
    ASSERT_EQ(decision["devices"].size(), 1U);
    EXPECT_EQ(decision["devices"][0]["decides"], true);
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
    EXPECT_EQ(decision["candidates"][1]["removed_by"], "speedup");
    EXPECT_EQ(decision["devices"][0]["run_on"], "CPU");
    EXPECT_NEAR(decision["devices"][0]["speedup"].get<double>(), 0.05 / 0.101, 1e-9);
}

TEST_F(Devices, APreviewWithStepsSaysWhetherTheJobWouldBetterRunInThem)
{
    add_operators();
    const std::string core = add_center("alpha");
    add_measurement(core, 0.05);
    add_measurement(add_gpu("alpha", R"({"bus_gb_s": 25.165824})"), 0.001);
    const Json heavy = Json::array({{{"id", "dgemm"}, {"count", 100}}});
    const Json first = {{"name", "first"}, {"operators", heavy}, {"out_bytes", 1e6}};
    const Json second = {{"name", "second"}, {"operators", heavy}};
    const Json steps = Json::array({first, second});
    const auto preview = [&](const Json& more) {
        return call(net::Method::kPost, "/placements:preview", spec(more).dump());
    };

    const Json unknown = Json::parse(preview({{"steps", steps}}).body);
    add_transfer(core, 0.001); // 1 GB/s
    ASSERT_TRUE(test::eventually([&] {
        reload_catalog();
        return catalog_.get()->unit_types.front().network != nullptr;
    }));
    const Json known = Json::parse(preview({{"steps", steps}}).body);
    const net::Response twice = preview({{"steps", steps}, {"operators", heavy}});
    const Json without = Json::parse(preview({{"operators", heavy}}).body);

    ASSERT_EQ(unknown["split"].size(), 1U) << unknown.dump();
    EXPECT_TRUE(unknown["split"][0]["run"].is_null());
    ASSERT_EQ(known["split"].size(), 1U) << known.dump();
    EXPECT_EQ(known["split"][0]["run"], "whole") << "both steps are better on the GPU";
    EXPECT_EQ(known["split"][0]["whole_on"], "GPU");
    EXPECT_EQ(known["split"][0]["steps"][1]["name"], "second");
    EXPECT_EQ(known["decision"]["devices"][0]["operators"].size(), 2U) << "the steps hold the job's operators";
    EXPECT_EQ(twice.status, 400) << twice.body;
    EXPECT_THAT(twice.body, testing::HasSubstr("stand in the steps"));
    EXPECT_FALSE(without.contains("split"));
}

TEST_F(Devices, WhatWasMeasuredBetweenTheNodesOfACenterIsWhatS6IsAskedOnThere)
{
    add_operators();
    const std::string core = add_center("alpha");
    add_measurement(core, 0.05);
    add_measurement(add_gpu("alpha", R"({"bus_gb_s": 25.165824})"), 0.001);
    insert_measurement(core, "'mpi_bandwidth', 'n=1', 0, 100000000", 0.1, "now()", 2); // 1 GB/s
    insert_measurement(core, "'compression', 'n=1', 0, 100000000", 0.8, "now()", 1);
    insert_measurement(core, "'decompression', 'n=1', 0, 100000000", 0.2, "now()", 1);
    sql(R"(UPDATE probe_run SET result = '{"operators": [
           {"id": "mpi_bandwidth", "parameters": {}, "figures": {"processes": 2, "hosts": 2}},
           {"id": "compression", "parameters": {}, "figures": {"compressed_fraction": 0.25}}]}')");
    ASSERT_TRUE(test::eventually([&] {
        reload_catalog();
        const NodeTransfers nodes = catalog_.get()->unit_types.front().nodes;
        return nodes.between_hosts_gb > 0 && nodes.compression;
    }));
    const auto devices = [&](const Json& data) {
        const Json job = spec({{"operators", {{{"id", "dgemm"}, {"count", 100}}}}, {"data", data}});
        return Json::parse(call(net::Method::kPost, "/placements:preview", job.dump()).body)["decision"]["devices"][0];
    };

    const Json plain = devices(Json::object());
    const Json compressed = devices({{"compressed", true}});

    EXPECT_EQ(plain["network_source"], "between_hosts");
    EXPECT_NEAR(plain["network_gb_s"].get<double>(), 1, 1e-9);
    EXPECT_FALSE(plain.contains("compressed_fraction"));
    EXPECT_NEAR(compressed["compressed_fraction"].get<double>(), 0.25, 1e-9);
    EXPECT_NEAR(compressed["compression_gb_s"].get<double>(), 0.2, 1e-9);

    const Json data = {{"in", Json::array({{{"bytes", 1}}})}, {"compressed", true}};
    const JobId job = submit(spec({{"operators", {{{"id", "dgemm"}, {"count", 100}}}}, {"data", data}}));
    route();
    const Json placed = Json::parse(call(net::Method::kGet, "/jobs/" + job.value + "/placement").body)["decision"];
    EXPECT_TRUE(placed["devices"][0].contains("compressed_fraction")) << "of a job that waits it is known, too";

    sql("UPDATE measurement SET void_reason = 'wrong' WHERE operator_id = 'mpi_bandwidth'");
    EXPECT_TRUE(test::eventually([&] {
        reload_catalog();
        return catalog_.get()->unit_types.front().nodes.between_hosts_gb == 0;
    })) << "what was found to be false counts no longer";
    for (const bool is_active : {false, true}) {
        sql(std::string("UPDATE unit_type SET active = ") + (is_active ? "true" : "false") + " WHERE id = '" + core +
            "'");
        EXPECT_TRUE(test::eventually([&] {
            reload_catalog();
            return catalog_.get()->unit_types.front().nodes.compression.has_value() == is_active;
        })) << "a unit type that its center offers no more says nothing";
    }
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

/// A GPU center whose agent takes orders and tells where they run.
class ExclusiveJobs : public Devices {
  protected:
    ExclusiveJobs()
    {
        add_center("alpha");
        id_ =
            add_gpu("alpha", R"({"device": {"sharing": "time-slice", "parts_per_device": 4, "units_per_device": 4}})");
        sql("UPDATE unit_type SET unit_count = 8 WHERE id = '" + id_ + "'");
        reload_catalog();
    }
    JobId submit_gpu(const std::string& sharing)
    {
        const JobId job = submit(spec({{"units", {{"type", "gpu"}, {"count", 1}, {"sharing", sharing}}}}));
        route();
        return job;
    }
    /// The agent tells that it has started on these units.
    void start_on(const JobId& job, const std::string& units)
    {
        for (link::Body& body : orders_for(center_of(job))) {
            if (auto* order = std::get_if<link::StartAttempt>(&body); order != nullptr) orders_.push_back(order->order);
        }
        ASSERT_TRUE(report_start(job));
        sql("UPDATE attempt SET units = '" + units + "' WHERE job_id = '" + job.value + "'");
    }
    std::string units_of(const JobId& job)
    {
        return sql("SELECT unit_count FROM attempt WHERE state <> 'ended' AND job_id = '" + job.value + "'");
    }
    std::string reason_of(const JobId& job) const
    {
        return sql("SELECT waiting_reason FROM job WHERE id = '" + job.value + "'");
    }

    std::string id_;
    std::vector<AttemptOrder> orders_;
};

TEST_F(ExclusiveJobs, GetWholeDevicesAndTheAgentIsToldSo)
{
    const JobId shared = submit_gpu("allowed");
    start_on(shared, "{0}");
    const JobId exclusive = submit_gpu("exclusive");
    start_on(exclusive, "{4,5,6,7}");

    EXPECT_EQ(units_of(exclusive), "4");
    ASSERT_EQ(orders_.size(), 2U);
    EXPECT_FALSE(orders_[0].is_exclusive);
    EXPECT_TRUE(orders_[1].is_exclusive);
    EXPECT_EQ(orders_[1].unit_count, 4);
    const Json decision =
        Json::parse(call(net::Method::kGet, "/jobs/" + exclusive.value + "/placement").body)["decision"];
    EXPECT_THAT(decision["candidates"][0]["scaling"]["reason"].get<std::string>(),
                testing::HasSubstr("4 units, all parts of a device: sharing: exclusive"));

    EXPECT_EQ(state_of(submit_gpu("allowed")), "placed") << "beside the one that shares";
}

TEST_F(ExclusiveJobs, WaitUntilADeviceIsWholeThoughEnoughPartsAreFree)
{
    const JobId first = submit_gpu("allowed");
    const JobId second = submit_gpu("allowed");
    start_on(first, "{0}");
    start_on(second, "{4}");
    const JobId exclusive = submit_gpu("exclusive");

    EXPECT_EQ(state_of(exclusive), "queued");
    EXPECT_THAT(reason_of(exclusive), testing::HasSubstr("waits for a whole device of alpha/gpu (4 units), of which no "
                                                         "other job has a part"));
    ASSERT_TRUE(report_end(second, exited(0)));
    route();
    EXPECT_EQ(state_of(exclusive), "placed");
    EXPECT_EQ(units_of(exclusive), "4");
}

TEST_F(ExclusiveJobs, AreRefusedWhereNoAgentCanKeepADevice)
{
    sql("UPDATE unit_type SET facts = '{\"device\": {\"sharing\": \"mps\", \"parts_per_device\": 4}}' WHERE id = '" +
        id_ + "'");
    reload_catalog();
    const net::Response refused =
        call(net::Method::kPost, "/jobs", spec({{"units", {{"device", "gpu"}, {"sharing", "exclusive"}}}}).dump());

    EXPECT_EQ(refused.status, 422);
    EXPECT_THAT(refused.body, testing::HasSubstr("units.sharing"));
}

TEST_F(ExclusiveJobs, WaitForGpuMemoryThatOthersHave)
{
    constexpr std::int64_t kPiece = kGpuPieceBytes;
    const auto report = [&](std::int64_t persistent, const std::string& jobs) {
        GpuMemoryReport told;
        told.gpus.push_back({.gpu = "GPU-1", .capacity_bytes = 16 * kPiece, .persistent_bytes = persistent});
        Json json = to_json(told)["gpus"][0];
        json["jobs"] = Json::parse(jobs);
        sql("INSERT INTO shared_gpu (center_id, gpu, report) SELECT id, 'GPU-1', '" + json.dump() +
            "' FROM center WHERE name = 'alpha' ON CONFLICT (center_id, gpu) DO UPDATE SET report = excluded.report");
    };
    const auto submit_needing = [&](std::int64_t pieces) {
        const JobId job = submit(spec(
            {{"units", {{"type", "gpu"}, {"count", 1}, {"gpu_memory", {{"persistent_bytes", pieces * kPiece}}}}}}));
        route();
        return job;
    };
    const JobId first = submit_gpu("allowed");
    report(12 * kPiece, "[]");
    reload_catalog();
    const JobId large = submit_needing(6);
    EXPECT_EQ(state_of(large), "queued");
    EXPECT_THAT(reason_of(large), testing::HasSubstr("waits for GPU memory of alpha/gpu: the job needs 12.6 MB"));

    const JobId small = submit_needing(4);
    EXPECT_EQ(state_of(small), "placed");
    const JobId next = submit_needing(1);
    EXPECT_EQ(state_of(next), "queued") << "the one before has told the memory manager nothing yet, and counts";

    report(4 * kPiece, "[]");
    route();
    EXPECT_EQ(state_of(large), "placed");
    EXPECT_EQ(state_of(next), "placed");

    // Nobody has a part any more: what was told is old.
    report(16 * kPiece, "[]");
    int unit = 0;
    for (const JobId& job : {first, large, small, next}) {
        start_on(job, "{" + std::to_string(unit++) + "}");
        ASSERT_TRUE(report_end(job, exited(0)));
    }
    EXPECT_EQ(state_of(submit_needing(6)), "placed");
}

TEST_F(ExclusiveJobs, ANeedThatTheManagerHasToldOfCountsOnce)
{
    constexpr std::int64_t kPiece = kGpuPieceBytes;
    const auto report = [&](std::int64_t persistent, const Json& jobs) {
        GpuMemoryReport told;
        told.gpus.push_back({.gpu = "GPU-1", .capacity_bytes = 16 * kPiece, .persistent_bytes = persistent});
        Json json = to_json(told)["gpus"][0];
        json["jobs"] = jobs;
        sql("INSERT INTO shared_gpu (center_id, gpu, report) SELECT id, 'GPU-1', '" + json.dump() +
            "' FROM center WHERE name = 'alpha' ON CONFLICT (center_id, gpu) DO UPDATE SET report = excluded.report");
    };
    const auto submit_needing = [&](std::int64_t pieces) {
        const JobId job = submit(spec(
            {{"units", {{"type", "gpu"}, {"count", 1}, {"gpu_memory", {{"persistent_bytes", pieces * kPiece}}}}}}));
        route();
        return job;
    };
    report(0, Json::array());
    reload_catalog();
    const JobId first = submit_needing(8);
    const JobId second = submit_needing(4);
    ASSERT_EQ(state_of(first), "placed");
    ASSERT_EQ(state_of(second), "placed");

    report(12 * kPiece, Json::array({{{"job", first.value}}, {{"job", second.value}}, {{"job", "another"}}}));
    EXPECT_EQ(state_of(submit_needing(4)), "placed") << "12 of 16 are taken, not 24";
    report(8 * kPiece, Json::array({{{"job", first.value}}}));
    EXPECT_EQ(state_of(submit_needing(1)), "queued") << "of the second and third the manager knows nothing: 16 are";
}

TEST_F(ExclusiveJobs, WhatEarlierRunsHadIsExpectedOfThoseWhoHaveToldTheManagerNothingYet)
{
    constexpr std::int64_t kPiece = kGpuPieceBytes;
    GpuMemoryReport told;
    told.gpus.push_back({.gpu = "GPU-1", .capacity_bytes = 16 * kPiece, .persistent_bytes = 2 * kPiece});
    sql("INSERT INTO shared_gpu (center_id, gpu, report) SELECT id, 'GPU-1', '" + to_json(told)["gpus"][0].dump() +
        "' FROM center WHERE name = 'alpha'");
    const JobId job = submit_gpu("allowed");
    ASSERT_EQ(state_of(job), "placed");
    const auto column = [&](const std::string& name) {
        return sql("SELECT " + name + " FROM job WHERE id = '" + job.value + "'");
    };
    const std::string project = column("project");
    const std::string submitter = column("submitted_by");
    const std::string kind = gpu_kind_of(column("job_type"), {submitter, project}, KernelClass::kUnknown);
    ASSERT_FALSE(kind.empty());
    const auto expected_with = [&](const GpuNeeds& needs) {
        std::vector<KnownGpuRoom> rooms;
        auto look = [&](pqxx::work& transaction) -> Result<void> {
            rooms = select_gpu_rooms(transaction);
            expect_learned_memory(transaction, needs, rooms);
            return {};
        };
        EXPECT_TRUE(database_.blocking_run(look));
        return rooms;
    };

    const std::vector<KnownGpuRoom> rooms = expected_with({{kind, {5 * kPiece, kPiece}}});
    ASSERT_EQ(rooms.size(), 1U);
    EXPECT_EQ(rooms[0].room.persistent_bytes, 2 * kPiece) << "who says a need waits for nobody's guess";
    ASSERT_TRUE(rooms[0].expected);
    EXPECT_EQ(rooms[0].expected->persistent_bytes, 7 * kPiece);
    EXPECT_EQ(rooms[0].expected->temporary_bytes, kPiece);
    EXPECT_FALSE(expected_with({{"type:other", {5 * kPiece, 0}}})[0].expected);

    sql(R"(UPDATE shared_gpu SET report = jsonb_set(report, '{jobs}', '[{"job": ")" + job.value + R"("}]'))");
    EXPECT_FALSE(expected_with({{kind, {5 * kPiece, kPiece}}})[0].expected) << "what it really has is known now";
}

} // namespace
} // namespace fathom::server
