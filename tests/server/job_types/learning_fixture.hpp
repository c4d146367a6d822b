#pragma once

#include "tests/server/jobs/jobs_fixture.hpp"

#include <string>
#include <thread>

namespace fathom::server {

/// What fathom-profile counted in a dense solve, with a call that no operator stands for.
inline Json dense_profile()
{
    return Json::parse(R"({"operators": [
        {"id": "dgemm", "parameters": {"m": 1500, "n": 64, "k": 64}, "count": 3000, "share": 0.7},
        {"id": "dgemm", "parameters": {"m": 64, "n": 64, "k": 64}, "count": 20, "share": 0.1},
        {"id": "unheard_of", "parameters": {}, "count": 1, "share": 0.05}],
        "remainder": {"memory": 0.1, "waiting": 0.05,
            "code": {"loops": [{"file": "solver", "offset": 16, "share": 0.1, "operator": "spmv", "similarity": 0.8}]}}, "coverage": 0.85, "wall_s": 2.5,
        "unmatched": [{"symbol": "dtrsm_", "calls": 7, "share": 0.03}]})");
}

/// Center alpha, and jobs that teach their types.
class Learning : public JobsFixture {
  protected:
    Learning()
    {
        add_operators();
        unit_type_ = add_center("alpha");
    }

    static Json dgemm_job(Json more = Json::object())
    {
        Json json = spec({{"operators", {{{"id", "dgemm"}, {"count", 3000}}}}});
        json.update(more);
        return json;
    }
    /// Submits a job, takes it to its end, and lets its type learn.
    JobId finish(const Json& body, const Json& profile = nullptr, std::int64_t exit_code = 0)
    {
        return finish_as(admin_, body, profile, exit_code);
    }
    JobId finish_as(const Principal& who, const Json& body, const Json& profile = nullptr, std::int64_t exit_code = 0,
                    double run_s = 1)
    {
        const JobId job = submit(body, who);
        sql("UPDATE job SET metered = true");
        route();
        AttemptEnd end;
        end.outcome = AttemptOutcome::kExited;
        end.exit_code = exit_code;
        end.started_at = clock_.now();
        end.run_s = run_s;
        end.profile = profile;
        EXPECT_TRUE(report_end(job, end));
        learn();
        return job;
    }
    void learn()
    {
        auto work = [this](pqxx::work& transaction) { return learning_.learn(transaction); };
        ASSERT_TRUE(database_.blocking_run(work));
        // What jobs teach is read a twentieth of the time at most: on a slow machine not again at once.
        std::this_thread::sleep_until(catalog_.runs_due());
        reload_catalog();
    }
    Json get(const std::string& path) { return Json::parse(call(net::Method::kGet, path).body); }
    Json shown(const JobId& job) { return get("/jobs/" + job.value); }

    std::string unit_type_;
};

} // namespace fathom::server
