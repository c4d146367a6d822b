#include "server/metering/speedup_store.hpp"
#include "server/metering/trust_store.hpp"
#include "tests/server/centers/support/metering_fixture.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace fathom::server {
namespace {

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

TEST_F(Metering, JobsThatRunSlowerThanPredictedLowerTheScoresOfTheirUnits)
{
    ASSERT_TRUE(service_.seed(shipped_policies()));
    measure("dgemm", 0.1, 1e-15);
    // Twenty jobs of one type on u1, three times slower than predicted, and twenty on u2 as predicted.
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

TEST_F(Metering, ManyFindingsOfOneUnitTypeHideNoneOfAnother)
{
    test::add_center(store_, "alpha", test::golden_catalog());
    const auto find = [&](const std::string& unit_type, int count) {
        store_.sql(
            "INSERT INTO probe_finding (center_id, unit_type_id, kind, detail) SELECT u.center_id, u.id, 'rate', 'd' "
            "FROM unit_type u, generate_series(1, " +
            std::to_string(count) + ") WHERE u.name = '" + unit_type + "'");
    };
    find("u1", 1);
    find("u2", 1500);

    TrustByUnitType trust;
    const Result<void> read = store_.run([&](pqxx::work& transaction) -> Result<void> {
        trust = current_trust(transaction);
        return {};
    });

    ASSERT_TRUE(read);
    ASSERT_EQ(trust.size(), 2U) << "u3 has none";
    const auto trust_in = [&](const std::string& name) {
        return trust.at(store_.sql("SELECT id FROM unit_type WHERE name = '" + name + "'"));
    };
    EXPECT_EQ(trust_in("u1").finding_count, 1);
    EXPECT_EQ(trust_in("u1").factor, 0.5);
    EXPECT_EQ(trust_in("u2").finding_count, 100);
    EXPECT_LT(trust_in("u2").factor, 1e-20);
}

TEST_F(Metering, AFindingIsForgivenByWhatIsRightSince)
{
    test::add_center(store_, "alpha", test::golden_catalog());
    measure("dgemm", 0.1, 1e-15);
    store_.sql("UPDATE probe_run SET verification = 'right', ended_at = now()");
    store_.sql("INSERT INTO probe_finding (center_id, unit_type_id, kind, detail, found_at) SELECT u.center_id, u.id, "
               "'rate', 'd', now() - make_interval(mins => n) FROM unit_type u, (VALUES (-9), (9)) at (n) "
               "WHERE u.name = 'u1'");
    const auto factor = [&] {
        return io_.run(scores_.by_operator("", {}, 10, "")).value().page.items.at(0).trust_factor;
    };
    ASSERT_TRUE(service_.seed(shipped_policies()));

    EXPECT_NEAR(factor(), 0.5 * std::exp2(-std::exp2(-1.0 / 8)), 1e-12)
        << "of two findings one is older than the result";
    store_.sql("UPDATE probe_finding SET dismissed_at = now(), dismissed_by = 'e'");
    EXPECT_EQ(factor(), 1);
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

TEST_F(Metering, ACompressionIsTheNewestResultOfBothWays)
{
    measure("compression", 0.8, 0, 60);
    measure("compression", 0.4, 0);
    measure("decompression", 0.1, 0);
    store_.sql(R"sql(UPDATE probe_run SET result = '{"operators": [{"id": "dgemm", "parameters": {"n": 10}},
        {"id": "compression", "parameters": {"n": 11}, "figures": {"compressed_fraction": 0.9}},
        {"id": "compression", "parameters": {"n": 10}, "figures": {"compressed_fraction": 0.25}}]}')sql");

    const std::optional<MeasuredCenter> center =
        store_
            .run([](pqxx::work& transaction) -> Result<std::optional<MeasuredCenter>> {
                return select_measured_center(transaction, "alpha", "op1");
            })
            .value();

    ASSERT_TRUE(center);
    ASSERT_EQ(center->unit_types.size(), 3U);
    ASSERT_EQ(center->unit_types[0].compressions.size(), 1U) << "of u1";
    const MeasuredCompression& found = center->unit_types[0].compressions[0];
    EXPECT_EQ(found.parameters_key, "n=10");
    EXPECT_DOUBLE_EQ(found.bytes, 80);
    EXPECT_DOUBLE_EQ(found.compression_s, 0.4);
    EXPECT_DOUBLE_EQ(found.decompression_s, 0.1);
    EXPECT_DOUBLE_EQ(found.fraction, 0.25);
    EXPECT_TRUE(center->unit_types[1].compressions.empty());
}

TEST_F(Metering, TheNetworkBetweenHostsIsWhatMpiMeasuredThere)
{
    const auto between_hosts = [this] {
        return store_
            .run([](pqxx::work& transaction) -> Result<std::optional<MeasuredCenter>> {
                return select_measured_center(transaction, "alpha", "op1");
            })
            .value()
            .value()
            .between_hosts;
    };
    test::add_center(store_, "alpha", test::golden_catalog());
    test::StoredMeasurement measurement;
    measurement.operator_id = "mpi_bandwidth";
    measurement.unit_count = 2;
    measurement.median_s = 8e-9;
    test::add_measurement(store_, measurement);
    const auto say = [this](int hosts) {
        store_.sql(R"sql(UPDATE probe_run SET result = '{"operators": [{"id": "mpi_bandwidth", "parameters": {"n": 10},
            "figures": {"processes": 2, "hosts": )sql" +
                   std::to_string(hosts) + "}}]}'");
    };

    say(1);
    EXPECT_FALSE(between_hosts()) << "two processes of one host";
    say(2);
    const std::optional<NodeNetwork> found = between_hosts();
    ASSERT_TRUE(found);
    EXPECT_DOUBLE_EQ(found->bytes_per_s, 1e10) << "80 bytes in 8 ns";
    EXPECT_EQ(found->hosts, 2);
    EXPECT_FALSE(found->probe_run_id.empty());
    EXPECT_EQ(found->operator_id, "mpi_bandwidth");

    store_.sql("UPDATE measurement SET operator_id = 'tcp_allreduce'");
    store_.sql("UPDATE probe_run SET result = replace(result::text, 'mpi_bandwidth', 'tcp_allreduce')::jsonb");
    const std::optional<NodeNetwork> without = between_hosts();
    ASSERT_TRUE(without) << "without MPI";
    EXPECT_EQ(without->operator_id, "tcp_allreduce");
    EXPECT_DOUBLE_EQ(without->bytes_per_s, 5e9) << "each of two processes sends half of what is counted";
}

} // namespace
} // namespace fathom::server
