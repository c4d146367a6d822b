#pragma once

#include "tests/server/jobs/jobs_fixture.hpp"

#include <chrono>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace fathom::server {

/// An operator with one parameter, computed on a resource type, whose executions do so much.
inline Json sized_manifest(const std::string& id, const std::string& resource_type, const std::string& operations,
                           const std::string& bytes)
{
    const Json size = {{"name", "n"}, {"min", 1}, {"max", 1000}, {"default", 10}, {"description", "size"}};
    const Json implementation = {{"resource_type", resource_type}, {"library", "own"}};
    const Json signature = {{"symbols", Json::array({id + "_"})}, {"argument_kinds", Json::array({"matrix_fp64"})}};
    return {{"id", id},
            {"version", 1},
            {"category", "hpc"},
            {"description", "work of one size"},
            {"parameters", Json::array({size})},
            {"inputs", Json::array({"x"})},
            {"outputs", Json::array({"y"})},
            {"operation_count", operations},
            {"byte_count", bytes},
            {"truth", "known"},
            {"tolerance", 1e-12},
            {"precision", "fp64"},
            {"implementations", Json::array({implementation})},
            {"signature", signature}};
}

/// A job's list of operators.
inline Json three_of(const std::string& id)
{
    const Json use = {{"id", id}, {"count", 3}};
    return Json::array({use});
}

/// A center whose GPUs are given in four parts each.
class GpuSharingJobs : public JobsFixture {
  protected:
    GpuSharingJobs()
    {
        add_center("alpha");
        sql("INSERT INTO unit_type (id, center_id, name, resource_type, unit_count, cores_per_unit, "
            "memory_bytes_per_unit, operators, facts) SELECT '" +
            UnitTypeId::make().value +
            "', id, 'part', 'cuda', 8, 1, 0, '{product,triad}', '{\"device\": {\"sharing\": \"time-slice\", "
            "\"parts_per_device\": 4, \"units_per_device\": 4}}' FROM center WHERE name = 'alpha'");
        for (const Json& manifest :
             {sized_manifest("product", "cuda", "100*n", "n"), sized_manifest("triad", "cuda", "n", "12*n")})
            sql("INSERT INTO operator (id, version, manifest) VALUES ('" + manifest["id"].get<std::string>() +
                "', 1, '" + manifest.dump() + "')");
        reload_catalog();
    }
    JobId place(const Json& operators, const std::string& sharing)
    {
        const Json units = {{"type", "part"}, {"count", 1}, {"sharing", sharing}};
        const JobId job = submit(spec({{"units", units}, {"operators", operators}}));
        sql("UPDATE job SET metered = true");
        route();
        return job;
    }
    /// As its center is told.
    KernelClass class_of(const Json& operators, const std::string& sharing = "allowed")
    {
        const JobId job = place(operators, sharing);
        const std::vector<link::Body> orders = orders_for(center_of(job));
        EXPECT_EQ(orders.size(), 1U);
        const KernelClass told = std::get<link::StartAttempt>(orders.at(0)).order.kernel_class;
        EXPECT_TRUE(report_end(job, exited(0)));
        return told;
    }
};

/// Jobs by type whose GPUs their center's memory manager tells of.
class LearnedGpuPairs : public GpuSharingJobs {
  protected:
    /// The order to its center is the last one of `orders_`.
    JobId start(const std::string& type)
    {
        const Json units = {{"type", "part"}, {"count", 1}};
        const JobId job = submit(spec({{"units", units}, {"type", type}}));
        sql("UPDATE job SET metered = true");
        route();
        for (link::Body& body : orders_for(center_of(job)))
            orders_.push_back(std::move(std::get<link::StartAttempt>(body).order));
        EXPECT_TRUE(report_start(job));
        return job;
    }
    /// As if it had started then.
    void has_run_for(const JobId& job, int seconds)
    {
        sql("UPDATE attempt SET started_at = now() - interval '" + std::to_string(seconds) + " s' WHERE job_id = '" +
            job.value + "'");
    }
    /// @param neighbours  what programs of others said their jobs are, of those on its GPU.
    void shares_with(const JobId& job, const std::string& neighbours)
    {
        sql("INSERT INTO attempt_gpu (attempt_id, gpu, capacity_bytes, programs, neighbours) VALUES ('" +
            attempt_of(job).value + "', 'GPU-0', 80, '{}', '{" + neighbours + "}')");
    }
    void finish(const JobId& job, double run_s, std::int64_t code = 0)
    {
        AttemptEnd end = exited(code);
        end.run_s = run_s;
        end.started_at = clock_.now() - std::chrono::milliseconds(std::llround(1000 * run_s));
        ASSERT_TRUE(report_end(job, end));
    }
    void run_alone(const std::string& type, double run_s)
    {
        const JobId job = start(type);
        shares_with(job, "");
        finish(job, run_s);
    }
    std::string kept() const { return sql("SELECT count(*) FROM gpu_sharing_run"); }

    std::vector<AttemptOrder> orders_;
};

} // namespace fathom::server
