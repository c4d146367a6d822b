#pragma once

#include "server/billing/billing_api.hpp"
#include "server/billing/ledger_service.hpp"
#include "server/billing/price_books_api.hpp"
#include "tests/server/jobs/jobs_fixture.hpp"

#include <memory>
#include <string>
#include <vector>

namespace fathom::server {

/// Jobs at the center `alpha`, which has a price; metering, the ledger and their routes.
class Billing : public JobsFixture {
  protected:
    Billing()
    {
        // Jobs of tests began before they were submitted.
        sql("INSERT INTO price_book (document, valid_from, created_by) VALUES ('" + book().dump() +
            "', '2020-01-01', 'test')");
        add_center("alpha", 100);
        add_billing_routes(api_, ledger_, database_, compute_, catalog_, metrics_, "Ocean, Inc.");
        add_price_books_routes(api_, books_, database_, clock_);
    }

    /// 3.60 EUR a score-hour: a milli-EUR a second on a unit of 1000 points, which is what nobody has measured.
    static Json book()
    {
        return {{"currency", "EUR"}, {"entries", {{{"center", "*"}, {"unit_type", "*"}, {"per_score_hour", "3.60"}}}}};
    }
    static AttemptEnd exited(double run_s)
    {
        AttemptEnd end;
        end.outcome = AttemptOutcome::kExited;
        end.exit_code = 0;
        end.started_at = SystemClock().now();
        end.run_s = run_s;
        end.cpu_s = run_s / 2;
        return end;
    }
    JobId ended_job(double run_s)
    {
        const JobId job = job_in("running");
        EXPECT_TRUE(report_end(job, exited(run_s)));
        return job;
    }
    void meter()
    {
        while (run(ledger_.meter_next()).value() > 0) {
        }
    }
    void work_off()
    {
        meter();
        while (run(ledger_.post_next()).value() > 0) {
        }
    }
    std::vector<std::string> faults() { return run(ledger_.verify("")).value().faults; }
    std::string balance_of(const std::string& account) const
    {
        return sql("SELECT coalesce(sum(amount_micros), 0) FROM posting WHERE account = '" + account + "'");
    }
    std::string last_month() const
    {
        return sql("SELECT to_char((date_trunc('month', now(), 'UTC') - interval '10 days') AT TIME ZONE 'UTC', "
                   "'YYYY-MM')");
    }
    /// Works off what has ended as if that had been ten days before the end of last month.
    void work_off_in_last_month()
    {
        const std::string back = " - (now() - date_trunc('month', now(), 'UTC') + interval '10 days')";
        sql("UPDATE attempt SET created_at = created_at" + back + ", dispatched_at = dispatched_at" + back +
            ", started_at = started_at" + back + ", ended_at = ended_at" + back + ", closed_at = closed_at" + back +
            " WHERE NOT metered");
        work_off();
    }

    UsageMeter meter_{catalog_, {}};
    LedgerService ledger_{database_, meter_, compute_, metrics_};
    PriceBooksService books_{database_, compute_};

    Json get(const std::string& target)
    {
        const net::Response answer = call(net::Method::kGet, target);
        EXPECT_EQ(answer.status, 200) << target << ": " << answer.body;
        return Json::parse(answer.body);
    }
    /// The whole body of a streamed answer.
    std::string download(const std::string& target)
    {
        const net::Response answer = call(net::Method::kGet, target);
        EXPECT_EQ(answer.status, 200) << target << ": " << answer.body;
        const auto writer = std::make_shared<FakeWriter>();
        auto done = asio::co_spawn(io_.context(), answer.stream(writer), asio::use_future);
        done.get();
        return writer->text();
    }
    std::string this_month() const { return sql("SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM')"); }
};

} // namespace fathom::server
