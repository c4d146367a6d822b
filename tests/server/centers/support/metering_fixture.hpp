#pragma once

#include "server/metering/metering_service.hpp"
#include "server/metering/scores_service.hpp"
#include "tests/server/centers/support/network_data.hpp"
#include "tests/support/test_io.hpp"

#include <gtest/gtest.h>
#include <pqxx/pqxx>

namespace fathom::server {

/// Policies and scores over a database of its own.
class Metering : public testing::Test {
  protected:
    inline static const Caller kExpert{"tok_expert", "req_1"};

    ~Metering() override { store_.database().stop(); }

    /// M16's golden policy as an expert would upload it.
    static MetricPolicy golden_policy()
    {
        return parse_metric_policy(Json::parse(R"({
            "id": "golden", "kind": "intervals", "figures": [
                {"figure": "time_s", "weight": 0.7,
                 "steps": [{"below": 1, "points": 100}, {"below": 2, "points": 80}, {"below": 5, "points": 50}, {"points": 10}]},
                {"figure": "error", "weight": 0.3,
                 "steps": [{"below": 1e-12, "points": 100}, {"below": 1e-9, "points": 80}, {"below": 1e-6, "points": 40},
                           {"points": 0}]}]})"))
            .value();
    }

    /// One measurement on alpha/u1, `age_s` seconds old.
    void measure(const std::string& operator_id, double median_s, double error, int age_s = 0)
    {
        if (store_.sql("SELECT count(*) FROM center") == "0") test::add_center(store_, "alpha", test::golden_catalog());
        test::add_measurement(store_, {.operator_id = operator_id,
                                       .median_s = median_s,
                                       .error = error,
                                       .age = std::to_string(age_s) + " seconds"});
    }

    /// A job that its unit type's measurements let take `raw_s`. What history makes of raw predictions must not
    /// count: its prediction was right.
    void run_job(const std::string& unit_type, double raw_s, double actual_s)
    {
        const std::string job = JobId::make().value;
        const std::string attempt = AttemptId::make().value;
        store_
            .run([&](pqxx::work& transaction) -> Result<void> {
                transaction.exec_params("INSERT INTO job (id, name, project, job_type, spec, submitted_by, state, "
                                        "ended_at) VALUES ($1, 'j', 'p', 'mix', '{}', 't', 'succeeded', now())",
                                        job);
                transaction.exec_params("INSERT INTO attempt (id, job_id, epoch, center_id, unit_type_id, unit_count, "
                                        "state, decided_by, outcome, run_s) SELECT $1, $2, 1, center_id, id, 1, "
                                        "'ended', 'r', 'exited', $4 FROM unit_type WHERE name = $3",
                                        attempt, job, unit_type, actual_s);
                transaction.exec_params("INSERT INTO prediction (attempt_id, job_id, job_type, unit_type_id, "
                                        "unit_count, raw_prediction_s, run_s, actual_run_s, ended_at, outcome) "
                                        "SELECT $1, $2, 'mix', id, 1, $4, $5, $5, now(), 'succeeded' "
                                        "FROM unit_type WHERE name = $3",
                                        attempt, job, unit_type, raw_s, actual_s);
                return {};
            })
            .value();
    }

    double score_of(const std::string& policy, const std::string& operator_id)
    {
        return io_.run(scores_.by_operator(policy, {.center = "", .unit_type = "", .operator_id = operator_id}, 10, ""))
            .value()
            .page.items.at(0)
            .score.value()
            .value;
    }

    /// `field: detail` of what is said against a document.
    std::vector<std::string> faults_of(const char* document)
    {
        const auto refused = io_.run(service_.add_policy(kExpert, parse_metric_policy(Json::parse(document)).value()));
        std::vector<std::string> texts;
        if (refused) return texts;
        const Error error = refused.error();
        for (const FieldError& field : error.fields)
            texts.push_back(field.field + ": " + field.detail);
        return texts;
    }

    test::TestStore store_;
    fathom::test::TestIo io_;
    OperatorsService operators_{store_.database()};
    MeteringService service_{store_.database(), operators_};
    ComputePool compute_;
    ScoresService scores_{store_.database(), operators_, compute_, std::chrono::milliseconds(0)};
};

} // namespace fathom::server
