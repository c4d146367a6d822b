#include "probes/operators/manifests.hpp"
#include "tests/server/centers/support/metering_fixture.hpp"

#include <gmock/gmock.h>

namespace fathom::server {
namespace {

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
        if (is_exchange_operator(
                manifest.id)) { // the reference machine is one core: nothing lies between processes there
            EXPECT_EQ(score(policy, measured).error().code, Errc::kNotFound) << manifest.id << " is not scored";
            continue;
        }
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

TEST_F(Metering, ReferenceTimesGrowWithTheWorkAndRatesWhereEachExecutionHasAFixedCost)
{
    ASSERT_TRUE(service_.seed(shipped_policies()));
    const MetricPolicy policy = io_.run(service_.get_policy("relative-v1", 0)).value().policy;
    const auto work_of = [](const MeasuredOperator& one) { return one.operations > 0 ? one.operations : one.bytes; };

    for (const MeasuredOperator& less : policy.reference) {
        for (const MeasuredOperator& more : policy.reference) {
            if (less.operator_id != more.operator_id || work_of(less) >= work_of(more)) continue;
            EXPECT_LT(less.median_s, more.median_s)
                << more.operator_id << ": " << less.parameters_key << " is less than " << more.parameters_key;
            // A connection, or a file that is opened and brought to the disk: more bytes share that. Elsewhere
            // rates may fall with the size, as caches are left.
            if (less.operator_id != "network_fetch" && less.operator_id != "file_write") continue;
            EXPECT_LT(work_of(less) / less.median_s, work_of(more) / more.median_s)
                << more.operator_id << ": the rates of " << less.parameters_key << " and " << more.parameters_key;
        }
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
            if (is_exchange_operator(manifest.id)) continue; // has no reference
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

} // namespace
} // namespace fathom::server
