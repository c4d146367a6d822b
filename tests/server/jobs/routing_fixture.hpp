#pragma once

#include "tests/server/jobs/jobs_fixture.hpp"

#include <string>

namespace fathom::server {

/// Jobs that the router places, and what it says of them.
class Routing : public JobsFixture {
  protected:
    static Json dgemm_job(Json more = Json::object())
    {
        Json json = spec({{"operators", {{{"id", "dgemm"}, {"count", 100}}}}});
        json.update(more);
        return json;
    }
    std::string reason_of(const JobId& job)
    {
        return sql("SELECT waiting_reason FROM job WHERE id='" + job.value + "'");
    }
    Json placement_of(const JobId& job)
    {
        return Json::parse(call(net::Method::kGet, "/jobs/" + job.value + "/placement").body);
    }
    void end(const JobId& job, double run_s = 1)
    {
        AttemptEnd ended = exited(0);
        ended.started_at = clock_.now();
        ended.run_s = run_s;
        ASSERT_TRUE(report_end(job, ended));
    }
    std::string center_name_of(const JobId& job)
    {
        return sql("SELECT name FROM center WHERE id = '" + center_of(job).value + "'");
    }
};

} // namespace fathom::server
