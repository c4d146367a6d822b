#pragma once

#include "tests/server/jobs/jobs_fixture.hpp"
#include "tests/support/test_io.hpp"

#include <algorithm>
#include <string>
#include <variant>

namespace fathom::server {

/// A center whose CPU is faster with thin products, 0.1 s against 0.43 s, and whose GPU is with square ones, 0.2 s
/// against 5 s, and which moves 1 GB/s.
class JobDivision : public JobsFixture {
  protected:
    JobDivision()
    {
        add_operators();
        const std::string core = add_center("alpha");
        const std::string gpu = UnitTypeId::make().value;
        sql("INSERT INTO unit_type (id, center_id, name, resource_type, unit_count, cores_per_unit, "
            "memory_bytes_per_unit, operators, facts) SELECT '" +
            gpu + "', id, 'gpu', 'cuda', 1, 1, 0, '{dgemm}', '{\"bus_gb_s\": 25.165824}' FROM center");
        sql(R"(UPDATE center SET facts = facts || '{"stages_inputs": true, "stores_outputs": true,
               "keeps_outputs_bytes": 1000000}')");
        for (const std::string& unit_type : {core, gpu}) {
            add_measurement(unit_type, unit_type == core ? 0.05 : 0.001);
            insert_measurement(unit_type, "'dgemm', 'k=1024,m=1024,n=1', 2097152, 8404992", 1e-4, "now()", 1);
        }
        add_transfer(core, 0.001);
        EXPECT_TRUE(test::eventually([&] {
            reload_catalog();
            const CatalogPointer catalog = catalog_.get();
            return std::any_of(catalog->unit_types.begin(), catalog->unit_types.end(),
                               [](const UnitTypeView& view) { return view.network != nullptr; });
        }));
    }

    /// Thin products, then square ones; with what is in `more`.
    static Json stepped(double out_bytes, const Json& more = Json::object())
    {
        Json json = Json::parse(R"({"split": "allowed", "metering_wait_s": 0, "type": "scf", "steps": [
            {"name": "read", "command": ["/bin/read"], "hands_on": [{"path": "a", "url": "https://h/a"}],
             "operators": [{"id": "dgemm", "parameters": {"m": 1024, "n": 1, "k": 1024}, "count": 1000}]},
            {"name": "solve", "command": ["/bin/solve"], "operators": [{"id": "dgemm", "count": 100}]}]})");
        json["steps"][0]["out_bytes"] = out_bytes;
        json.update(more);
        return json;
    }
    /// Divides it and places its first part.
    JobId submit_divided(const Json& more = Json::object())
    {
        const JobId job = submit(stepped(1e6, more));
        route(); // decides the division
        route();
        return job;
    }
    Json job_json(const JobId& job) { return Json::parse(call(net::Method::kGet, "/jobs/" + job.value).body); }
    /// What its center is told, and starts.
    AttemptOrder start(const JobId& job)
    {
        AttemptOrder order;
        for (link::Body& body : orders_for(center_of(job))) {
            if (auto* const one = std::get_if<link::StartAttempt>(&body); one != nullptr) order = one->order;
        }
        EXPECT_EQ(order.attempt_id, attempt_of(job));
        EXPECT_TRUE(report_start(job));
        return order;
    }
    static AttemptEnd handing_on()
    {
        AttemptEnd end = exited(0);
        end.outputs = {{"a", 40, std::string(64, 'a')}};
        return end;
    }
};

} // namespace fathom::server
