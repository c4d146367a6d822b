#include "probes/operators/manifests.hpp"
#include "server/metering/metering_service.hpp"
#include "tests/server_centers/support/network_data.hpp"
#include "tests/support/test_io.hpp"

#include <gmock/gmock.h>
#include <pqxx/pqxx>

namespace fathom::server {
namespace {

using test::TestStore;

const Caller kExpert{"tok_expert", "req_1"};

/// M16's golden policy as an expert would upload it.
MetricPolicy golden_policy()
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

class Metering : public testing::Test {
  protected:
    ~Metering() override { store_.database().stop(); }

    /// One measurement on alpha/u1, `age_s` seconds old.
    void measure(const std::string& operator_id, double median_s, double error, int age_s = 0)
    {
        if (store_.sql("SELECT count(*) FROM center") == "0") test::add_center(store_, "alpha", test::golden_catalog());
        test::add_measurement(store_, {.operator_id = operator_id,
                                       .median_s = median_s,
                                       .error = error,
                                       .age = std::to_string(age_s) + " seconds"});
    }

    /// A job that has run on units of alpha, and what was predicted for it.
    void run_job(const std::string& unit_type, double predicted_s, double actual_s)
    {
        const std::string job = JobId::make().value;
        const std::string attempt = AttemptId::make().value;
        const Json decision = {
            {"winner", 0},
            {"candidates",
             {{{"prediction",
                {{"run_s", predicted_s}, {"unknown_operators", 0}, {"operators", {{{"id", "dgemm"}}}}}}}}}};
        store_
            .run([&](pqxx::work& transaction) -> Result<void> {
                transaction.exec_params("INSERT INTO job (id, name, project, job_type, spec, submitted_by, state, "
                                        "ended_at) VALUES ($1, 'j', 'p', 'mix', '{}', 't', 'succeeded', now())",
                                        job);
                transaction.exec_params("INSERT INTO attempt (id, job_id, epoch, center_id, unit_type_id, unit_count, "
                                        "state, decided_by, outcome, run_s) SELECT $1, $2, 1, center_id, id, 1, "
                                        "'ended', 'r', 'exited', $4 FROM unit_type WHERE name = $3",
                                        attempt, job, unit_type, actual_s);
                transaction.exec_params("INSERT INTO placement (attempt_id, job_id, decision) VALUES ($1, $2, $3)",
                                        attempt, job, decision.dump());
                return {};
            })
            .value();
    }

    double score_of(const std::string& policy, const std::string& operator_id)
    {
        const auto scores =
            io_.run(service_.scores(policy, {.center = "", .unit_type = "", .operator_id = operator_id}, 10, ""))
                .value();
        return score(scores.policy, scores.measurements.items.at(0).measured).value();
    }

    TestStore store_;
    fathom::test::TestIo io_;
    MeteringService service_{store_.database()};
};

TEST_F(Metering, TheShippedPolicyIsActiveAndKnowsEveryOperator)
{
    ASSERT_TRUE(service_.seed(shipped_policies()));
    ASSERT_TRUE(service_.seed(shipped_policies()));

    EXPECT_EQ(store_.sql("SELECT string_agg(id || '@' || version, ' ') FROM metric_policy WHERE active"),
              "relative-v1@1");
    const MetricPolicy policy = io_.run(service_.get_policy("relative-v1", 0)).value().policy;
    for (const OperatorManifest& manifest : probes::operator_manifests()) {
        const Parameters defaults = manifest.default_parameters();
        MeasuredOperator measured;
        measured.operator_id = manifest.id;
        measured.parameters_key = parameters_key(defaults);
        measured.operations = evaluate_formula(manifest.operation_count, defaults).value();
        measured.bytes = evaluate_formula(manifest.byte_count, defaults).value();
        const auto reference =
            std::find_if(policy.reference.begin(), policy.reference.end(), [&](const MeasuredOperator& figure) {
                return figure.operator_id == manifest.id && figure.parameters_key == measured.parameters_key;
            });
        ASSERT_NE(reference, policy.reference.end()) << manifest.id;
        EXPECT_DOUBLE_EQ(reference->operations, measured.operations) << manifest.id;
        EXPECT_DOUBLE_EQ(reference->bytes, measured.bytes) << manifest.id;
        measured.median_s = reference->median_s / 2; // twice as fast as the reference machine
        measured.tolerance = manifest.tolerance;
        EXPECT_NEAR(score(policy, measured).value(), 2000, 1e-6) << manifest.id;
    }
}

TEST_F(Metering, AChangedShippedPolicyTakesOverOnlyFromItself)
{
    MetricPolicy policy = shipped_policies().front();
    ASSERT_TRUE(service_.seed({policy}));
    policy.description = "changed once";
    ASSERT_TRUE(service_.seed({policy}));
    EXPECT_EQ(store_.sql("SELECT version FROM metric_policy WHERE active"), "2");

    io_.run(service_.add_policy(kExpert, golden_policy())).value();
    io_.run(service_.activate(kExpert, "golden", 0)).value();
    policy.description = "changed twice";
    ASSERT_TRUE(service_.seed({policy}));

    EXPECT_EQ(store_.sql("SELECT id FROM metric_policy WHERE active"), "golden");
}

TEST_F(Metering, GoldenScoresOfM16)
{
    io_.run(service_.add_policy(kExpert, golden_policy())).value();
    measure("op1", 1.4, 3e-11);
    measure("op3", 0.5, 1e-5);
    measure("op4", 2, 1e-9);

    EXPECT_DOUBLE_EQ(score_of("golden", "op1"), 80);
    EXPECT_DOUBLE_EQ(score_of("golden", "op3"), 70);
    EXPECT_DOUBLE_EQ(score_of("golden@1", "op4"), 47);
}

TEST_F(Metering, UploadsBecomeVersionsAndOneIsActive)
{
    MetricPolicy policy = golden_policy();
    policy.version = 99; // the server counts
    EXPECT_EQ(io_.run(service_.add_policy(kExpert, policy)).value().policy.version, 1);
    EXPECT_EQ(io_.run(service_.add_policy(kExpert, policy)).value().policy.version, 2);

    EXPECT_FALSE(io_.run(service_.get_policy("golden", 0)).value().active);
    EXPECT_TRUE(io_.run(service_.activate(kExpert, "golden", 0)).value().active);
    EXPECT_TRUE(io_.run(service_.activate(kExpert, "golden", 1)).value().active);
    EXPECT_FALSE(io_.run(service_.get_policy("golden", 2)).value().active);
    EXPECT_EQ(io_.run(service_.activate(kExpert, "golden", 3)).error().code, Errc::kNotFound);
    const Page<PolicyRecord> page = io_.run(service_.list_policies(1, "")).value();
    EXPECT_EQ(page.items[0].policy.version, 2);
    EXPECT_EQ(io_.run(service_.list_policies(1, page.next_after)).value().items[0].policy.version, 1);
}

TEST_F(Metering, ScoresShowTheNewestMeasurementPageByPage)
{
    ASSERT_TRUE(service_.seed(shipped_policies()));
    measure("op1", 3, 0, 60);
    measure("op1", 2, 0, 30);
    measure("op3", 1, 0);

    const auto first = io_.run(service_.scores("", {}, 1, "")).value();
    const auto second = io_.run(service_.scores("", {}, 1, first.measurements.next_after)).value();

    ASSERT_EQ(first.measurements.items.size(), 1U);
    EXPECT_EQ(first.measurements.items[0].measured.operator_id, "op1");
    EXPECT_EQ(first.measurements.items[0].measured.median_s, 2);
    EXPECT_FALSE(score(first.policy, first.measurements.items[0].measured)) << "the reference lacks op1";
    ASSERT_EQ(second.measurements.items.size(), 1U);
    EXPECT_EQ(second.measurements.items[0].measured.operator_id, "op3");
    EXPECT_EQ(second.measurements.next_after, "");
    const auto filtered = [&](const MeasurementFilter& filter) {
        return io_.run(service_.scores("", filter, 10, "")).value().measurements.items.size();
    };
    EXPECT_EQ(filtered({.center = "alpha", .unit_type = "", .operator_id = "op3"}), 1U);
    EXPECT_EQ(filtered({.center = "", .unit_type = "alpha/u1", .operator_id = ""}), 2U);
    EXPECT_EQ(filtered({.center = "", .unit_type = "alpha/u2", .operator_id = ""}), 0U);
}

TEST_F(Metering, WrongQuestionsAreTheCallersFault)
{
    ASSERT_TRUE(service_.seed(shipped_policies()));
    for (const char* policy : {"nothing", "relative-v1@9", "relative-v1@x", "@1"})
        EXPECT_EQ(io_.run(service_.scores(policy, {}, 10, "")).error().code, Errc::kInvalid) << policy;
    for (const char* after : {"x", "[]", "[1,2,3,4,5]", R"(["a","b","c","d","e"])"})
        EXPECT_EQ(io_.run(service_.scores("", {}, 10, after)).error().code, Errc::kInvalid) << after;
}

TEST_F(Metering, JobsThatRunSlowerThanPromisedLowerTheScoresOfTheirUnits)
{
    ASSERT_TRUE(service_.seed(shipped_policies()));
    measure("dgemm", 0.1, 1e-15);
    // Twenty jobs of one type on u1, three times slower than predicted, and twenty on u2 as predicted.
    for (const auto& [unit_type, actual_s] : {std::pair{"u1", 30.0}, std::pair{"u2", 10.0}}) {
        for (int i = 0; i < 20; ++i)
            run_job(unit_type, 10, actual_s);
    }

    const auto scores = io_.run(service_.scores("", {}, 10, "")).value();

    const std::string u1 = store_.sql("SELECT id FROM unit_type WHERE name = 'u1'");
    const std::string u2 = store_.sql("SELECT id FROM unit_type WHERE name = 'u2'");
    EXPECT_LT(scores.trust.at(u1).factor, 0.6);
    EXPECT_EQ(scores.trust.at(u2).factor, 1);
}

} // namespace
} // namespace fathom::server
