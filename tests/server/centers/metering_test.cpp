#include "probes/operators/manifests.hpp"
#include "server/metering/metering_service.hpp"
#include "server/metering/scores_service.hpp"
#include "tests/server/centers/support/network_data.hpp"
#include "tests/support/test_io.hpp"

#include <gmock/gmock.h>
#include <pqxx/pqxx>

#include <cmath>

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
    /// A job that its unit type's measurements promised to take `promised_s`. What history makes of promises must not
    /// count: its prediction was right.
    void run_job(const std::string& unit_type, double promised_s, double actual_s)
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
                transaction.exec_params("INSERT INTO run_prediction (attempt_id, job_id, job_type, unit_type_id, "
                                        "unit_count, promised_s, run_s, actual_run_s, ended_at, outcome) "
                                        "SELECT $1, $2, 'mix', id, 1, $4, $5, $5, now(), 'succeeded' "
                                        "FROM unit_type WHERE name = $3",
                                        attempt, job, unit_type, promised_s, actual_s);
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

    TestStore store_;
    fathom::test::TestIo io_;
    OperatorsService operators_{store_.database()};
    MeteringService service_{store_.database(), operators_};
    ComputePool compute_;
    ScoresService scores_{store_.database(), operators_, compute_, std::chrono::milliseconds(0)};
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
        EXPECT_NEAR(score(policy, measured).value().value, 2000, 1e-6) << manifest.id;
    }
}

TEST_F(Metering, TheShippedPoliciesObeyTheRulesForUploads)
{
    ASSERT_TRUE(operators_.seed(probes::operator_manifests()));
    const ManifestLookup manifests = [library = operators_.library()](std::string_view id, std::int64_t version) {
        return library->manifest(id, version);
    };
    for (const MetricPolicy& policy : shipped_policies()) {
        for (const FieldError& fault : check_against_library(policy, manifests))
            ADD_FAILURE() << policy.id << ": " << fault.field << ": " << fault.detail;
        for (const OperatorManifest& manifest : probes::operator_manifests()) {
            for (const SizeClass& size : manifest.size_classes) {
                EXPECT_TRUE(std::any_of(policy.reference.begin(), policy.reference.end(),
                                        [&](const auto& figure) {
                                            return figure.operator_id == manifest.id &&
                                                   figure.parameters_key == parameters_key(size.parameters);
                                        }))
                    << manifest.id << "/" << size.name;
            }
        }
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

TEST_F(Metering, AStoredPolicyThatCannotBeReadStopsNoOther)
{
    ASSERT_TRUE(service_.seed(shipped_policies()));
    io_.run(service_.add_policy(kExpert, golden_policy())).value();
    io_.run(service_.add_policy(kExpert, golden_policy())).value();
    store_.sql(R"(UPDATE metric_policy SET document = '{"kind": "unheard_of"}' WHERE id = 'golden' AND version = 2)");

    std::vector<std::string> listed;
    std::string after;
    do {
        const Page<PolicyRecord> page = io_.run(service_.list_policies(1, after)).value();
        for (const PolicyRecord& one : page.items)
            listed.push_back(policy_name(one.policy));
        after = page.next_after;
    } while (!after.empty());

    EXPECT_THAT(listed, testing::ElementsAre("golden@1", "relative-v1@1"));
    EXPECT_EQ(io_.run(service_.get_policy("golden", 2)).error().code, Errc::kNotFound);
    EXPECT_EQ(io_.run(service_.activate(kExpert, "golden", 2)).error().code, Errc::kNotFound);
    EXPECT_EQ(io_.run(service_.add_policy(kExpert, golden_policy())).value().policy.version, 3);
}

TEST_F(Metering, AShippedPolicyWhoseStoredTextCannotBeReadIsStoredAnew)
{
    ASSERT_TRUE(service_.seed(shipped_policies()));
    store_.sql(R"(UPDATE metric_policy SET document = '{"kind": "unheard_of"}')");
    EXPECT_EQ(io_.run(scores_.by_operator("", {}, 10, "")).error().code, Errc::kInvalid);

    ASSERT_TRUE(service_.seed(shipped_policies()));

    EXPECT_EQ(store_.sql("SELECT string_agg(id || '@' || version, ' ') FROM metric_policy WHERE active"),
              "relative-v1@2");
    EXPECT_TRUE(io_.run(scores_.by_operator("", {}, 10, "")));
}

TEST_F(Metering, ScoresShowTheNewestMeasurementPageByPage)
{
    ASSERT_TRUE(service_.seed(shipped_policies()));
    measure("op1", 3, 0, 60);
    measure("op1", 2, 0, 30);
    measure("op3", 1, 0);

    const auto first = io_.run(scores_.by_operator("", {}, 1, "")).value().page;
    const auto second = io_.run(scores_.by_operator("", {}, 1, first.next_after)).value().page;

    ASSERT_EQ(first.items.size(), 1U);
    EXPECT_EQ(first.items[0].record.measured.operator_id, "op1");
    EXPECT_EQ(first.items[0].record.measured.median_s, 2);
    EXPECT_FALSE(first.items[0].score) << "the reference lacks op1";
    EXPECT_EQ(first.items[0].missing, "the policy has no reference figure for op1");
    EXPECT_EQ(first.items[0].diversity, 3) << "u1, u2 and u3 can run op1";
    ASSERT_EQ(second.items.size(), 1U);
    EXPECT_EQ(second.items[0].record.measured.operator_id, "op3");
    EXPECT_EQ(second.next_after, "");
    const auto filtered = [&](const MeasurementFilter& filter) {
        return io_.run(scores_.by_operator("", filter, 10, "")).value().page.items.size();
    };
    EXPECT_EQ(filtered({.center = "alpha", .unit_type = "", .operator_id = "op3"}), 1U);
    EXPECT_EQ(filtered({.center = "", .unit_type = "alpha/u1", .operator_id = ""}), 2U);
    EXPECT_EQ(filtered({.center = "", .unit_type = "alpha/u2", .operator_id = ""}), 0U);
}

TEST_F(Metering, WrongQuestionsAreTheCallersFault)
{
    ASSERT_TRUE(service_.seed(shipped_policies()));
    for (const char* policy : {"nothing", "relative-v1@9", "relative-v1@x", "@1"})
        EXPECT_EQ(io_.run(scores_.by_operator(policy, {}, 10, "")).error().code, Errc::kInvalid) << policy;
    for (const char* after : {"x", "[]", "[1,2,3,4,5]", R"(["a","b","c","d","e"])"})
        EXPECT_EQ(io_.run(scores_.by_operator("", {}, 10, after)).error().code, Errc::kInvalid) << after;
    for (const char* after : {"x", "[]", "[1,2,3]"}) {
        const auto refused = io_.run(scores_.grouped(ScoreGroup::kCategory, "", "", {}, 10, after));
        EXPECT_EQ(refused.error().code, Errc::kInvalid) << after;
    }
}

TEST_F(Metering, JobsThatRunSlowerThanPromisedLowerTheScoresOfTheirUnits)
{
    ASSERT_TRUE(service_.seed(shipped_policies()));
    measure("dgemm", 0.1, 1e-15);
    // Twenty jobs of one type on u1, three times slower than promised, and twenty on u2 as promised.
    for (const auto& [unit_type, actual_s] : {std::pair{"u1", 30.0}, std::pair{"u2", 10.0}}) {
        for (int i = 0; i < 20; ++i)
            run_job(unit_type, 10, actual_s);
    }

    const auto lowered = io_.run(scores_.by_operator("", {}, 10, "")).value().page.items.at(0);
    const auto whole = io_.run(scores_.grouped(ScoreGroup::kUnitType, "", "", {}, 10, "")).value().page.items;

    EXPECT_LT(lowered.trust_factor, 0.6);
    const MetricPolicy policy = shipped_policies().front();
    EXPECT_DOUBLE_EQ(lowered.score->value, lowered.trust_factor * score(policy, lowered.record.measured).value().value);
    ASSERT_EQ(whole.size(), 3U);
    EXPECT_EQ(whole[0].trust_factor, lowered.trust_factor);
    EXPECT_EQ(whole[1].trust_factor, 1);
}

TEST_F(Metering, TrustIsJudgedOnceForSomeTime)
{
    ASSERT_TRUE(service_.seed(shipped_policies()));
    measure("dgemm", 0.1, 1e-15);
    ScoresService patient(store_.database(), operators_, compute_, std::chrono::hours(1));
    const auto factor = [&](ScoresService& service) {
        return io_.run(service.by_operator("", {}, 10, "")).value().page.items.at(0).trust_factor;
    };
    EXPECT_EQ(factor(patient), 1);
    for (const auto& [unit_type, actual_s] : {std::pair{"u1", 30.0}, std::pair{"u2", 10.0}}) {
        for (int i = 0; i < 20; ++i)
            run_job(unit_type, 10, actual_s);
    }

    EXPECT_EQ(factor(patient), 1);
    EXPECT_LT(factor(scores_), 0.6);
}

TEST_F(Metering, APolicyIsCheckedAgainstTheLibraryAndTheOtherPolicies)
{
    ASSERT_TRUE(operators_.seed({test::simple_operator("op1")}));
    const char* const combined = R"({"id": "mine", "kind": "combined", "policies": [
        {"policy": "golden", "weight": 0.5}, {"policy": "other", "weight": 0.5}]})";

    EXPECT_THAT(
        faults_of(R"({"id": "r", "kind": "relative", "reference_machine": "m", "reference": [
                    {"operator": "op1", "parameters": {"n": 10}, "operations": 21, "bytes": 80, "median_s": 1},
                    {"operator": "zap", "operations": 1, "bytes": 1, "median_s": 1}]})"),
        testing::ElementsAre("document.reference[0].operations: must be 20, which the operator's formula 2*n gives",
                             "document.reference[1].operator: the library has no operator zap in use"));
    EXPECT_THAT(faults_of(combined), testing::ElementsAre("document.policies[0].policy: golden does not exist",
                                                          "document.policies[1].policy: other does not exist"));
    io_.run(service_.add_policy(kExpert, golden_policy())).value();
    EXPECT_THAT(faults_of(R"({"id": "other", "kind": "combined", "policies": [{"policy": "golden", "weight": 1}]})"),
                testing::IsEmpty());
    EXPECT_THAT(faults_of(combined), testing::IsEmpty());
    EXPECT_THAT(faults_of(R"({"id": "golden", "kind": "combined", "policies": [{"policy": "mine", "weight": 1}]})"),
                testing::ElementsAre(
                    "document.policies[0].policy.policies[0].policy: closes a cycle: golden@2 -> mine@1 -> golden@2",
                    "document.policies[0].policy.policies[1].policy.policies[0].policy: closes a cycle: golden@2 -> "
                    "mine@1 -> other@1 -> golden@2"));
    EXPECT_EQ(store_.sql("SELECT count(*) FROM metric_policy"), "3") << "nothing of what was refused is stored";

    measure("op1", 1.4, 3e-11);
    EXPECT_DOUBLE_EQ(score_of("mine", "op1"), 80);
}

TEST_F(Metering, ACategoryIsScoredOnlyWhereAllOfItIsMeasured)
{
    ASSERT_TRUE(operators_.seed({test::simple_operator("op1"), test::simple_operator("op3")}));
    io_.run(service_.add_policy(kExpert, golden_policy())).value();
    measure("op1", 0.5, 0);
    measure("op3", 1.5, 0);

    const auto page = io_.run(scores_.grouped(ScoreGroup::kCategory, "", "golden", {}, 10, "")).value().page.items;

    ASSERT_EQ(page.size(), 3U) << "hpc on u1, u2 and u3";
    EXPECT_EQ(page[0].name, "hpc");
    ASSERT_TRUE(page[0].aggregate.score);
    EXPECT_NEAR(page[0].aggregate.score->value, std::sqrt(100.0 * 86.0), 1e-9);
    EXPECT_FALSE(page[1].aggregate.score);
    EXPECT_EQ(page[1].aggregate.missing,
              "2 of 2 operators have no score: op1(n=10): not measured; op3(n=10): not measured");
    EXPECT_TRUE(io_.run(scores_.grouped(ScoreGroup::kCategory, "ai", "golden", {}, 10, "")).value().page.items.empty());
}

TEST_F(Metering, JobTypesAreScoredByTheirMixPageByPage)
{
    ASSERT_TRUE(operators_.seed({test::simple_operator("op1"), test::simple_operator("op3")}));
    io_.run(service_.add_policy(kExpert, golden_policy())).value();
    measure("op1", 0.5, 0);
    measure("op3", 1.5, 0);
    for (const char* type : {"a", "b"}) {
        store_.sql("INSERT INTO job_type (name, origin, mix, operators, profiled, learned_from) VALUES ('" +
                   std::string(type) +
                   R"sql(', 'user', '{"op1(n=10)": 0.75, "op3(n=10)": 0.25}', '[]', false, 'job_1'))sql");
    }
    std::vector<GroupedScore> all;
    std::string after;
    do {
        const auto page = io_.run(scores_.grouped(ScoreGroup::kJobType, "", "golden", {}, 2, after)).value().page;
        EXPECT_LE(page.items.size(), 2U);
        all.insert(all.end(), page.items.begin(), page.items.end());
        after = page.next_after;
    } while (!after.empty());

    ASSERT_EQ(all.size(), 6U) << "two job types on three unit types";
    EXPECT_EQ(all[0].name + "/" + all[0].place.unit_type, "a/u1");
    EXPECT_EQ(all[5].name + "/" + all[5].place.unit_type, "b/u3");
    EXPECT_NEAR(all[3].aggregate.score.value().value, std::pow(100, 0.75) * std::pow(86, 0.25), 1e-9);
    EXPECT_FALSE(all[3].aggregate.parts.at(0).probe_run_id.empty());
    const auto one = io_.run(scores_.grouped(ScoreGroup::kJobType, "b", "golden",
                                             {.center = "", .unit_type = "alpha/u1", .operator_id = ""}, 10, ""));
    EXPECT_EQ(one.value().page.items.size(), 1U);
}

TEST_F(Metering, AJobTypeWhoseMixCannotBeReadStopsNoOther)
{
    ASSERT_TRUE(operators_.seed({test::simple_operator("op1"), test::simple_operator("op3")}));
    io_.run(service_.add_policy(kExpert, golden_policy())).value();
    measure("op1", 0.5, 0);
    for (const auto& [type, mix] :
         {std::pair("a", R"sql({"op1(n=10)": "much"})sql"), std::pair("b", R"sql(["op1(n=10)"])sql"),
          std::pair("c", R"sql({"op1(n=10)": 1})sql")}) {
        store_.sql("INSERT INTO job_type (name, origin, mix, operators, profiled, learned_from) VALUES ('" +
                   std::string(type) + "', 'user', '" + mix + "', '[]', false, 'job_1')");
    }

    const auto page = io_.run(scores_.grouped(ScoreGroup::kJobType, "", "golden",
                                              {.center = "", .unit_type = "alpha/u1", .operator_id = ""}, 10, ""))
                          .value()
                          .page.items;

    ASSERT_EQ(page.size(), 3U);
    EXPECT_FALSE(page[0].aggregate.score);
    EXPECT_FALSE(page[1].aggregate.score);
    EXPECT_TRUE(page[2].aggregate.score);
}

TEST_F(Metering, ATrialShowsWhatAPolicyWouldChangeAndStoresNothing)
{
    ASSERT_TRUE(operators_.seed({test::simple_operator("op1"), test::simple_operator("op3")}));
    ASSERT_TRUE(service_.seed({golden_policy()}));
    measure("op1", 0.5, 0);
    measure("op3", 1.5, 0);
    const MetricPolicy relative = parse_metric_policy(Json::parse(R"({"id": "r", "kind": "relative",
        "reference_machine": "m", "reference": [
            {"operator": "op1", "parameters": {"n": 10}, "operations": 20, "bytes": 80, "median_s": 1}]})"))
                                      .value();

    const PolicyTrial trial = io_.run(scores_.try_document(relative)).value();

    EXPECT_EQ(policy_name(trial.active), "golden@1");
    EXPECT_EQ(trial.unit_type_count, 3);
    ASSERT_EQ(trial.unit_types.size(), 3U);
    EXPECT_NEAR(trial.unit_types[0].scores.before.value(), std::sqrt(100.0 * 86.0), 1e-9);
    EXPECT_NEAR(trial.unit_types[0].scores.after.value(), 2000, 1e-9);
    EXPECT_EQ(trial.unit_types[0].scores.rank_after, 1);
    EXPECT_FALSE(trial.unit_types[1].scores.missing_after.empty());
    ASSERT_EQ(trial.operators.size(), 2U);
    EXPECT_EQ(trial.operators[1].operator_id, "op3");
    EXPECT_NEAR(trial.operators[1].scores.before.value(), 86, 1e-9);
    EXPECT_EQ(trial.operators[1].scores.missing_after, "the policy has no reference figure for op3");
    EXPECT_EQ(store_.sql("SELECT count(*) FROM metric_policy"), "1");
    EXPECT_EQ(io_.run(scores_.try_policy("r")).error().code, Errc::kInvalid);
}

} // namespace
} // namespace fathom::server
