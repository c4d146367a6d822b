#pragma once

#include "tests/server/jobs/jobs_fixture.hpp"

namespace fathom::server {

/// Jobs at the center `alpha`.
class Attempts : public JobsFixture {
  protected:
    Attempts() { add_center("alpha"); }

    Json job_json(const JobId& job) { return Json::parse(call(net::Method::kGet, "/jobs/" + job.value).body); }
    AttemptGateway::Reconciliation reconcile(std::vector<link::InventoryItem> inventory)
    {
        return run(attempts_.reconcile(CenterId{center_id("alpha")}, std::move(inventory))).value();
    }
};

} // namespace fathom::server
