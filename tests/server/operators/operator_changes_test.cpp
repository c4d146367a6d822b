#include "core/base/secret.hpp"
#include "server/centers/unit_type_directory.hpp"
#include "server/operators/operator_keys_service.hpp"
#include "server/operators/operators_service.hpp"
#include "server/probing/tasks/run_queue.hpp"
#include "tests/server/centers/support/network_data.hpp"
#include "tests/support/test_io.hpp"

#include <gmock/gmock.h>

namespace fathom::server {
namespace {

using test::simple_operator;
using test::TestStore;
using test::tiny_object;
using test::uploaded_operator;
using testing::HasSubstr;

OperatorOrder plain(OperatorManifest manifest)
{
    OperatorOrder order;
    order.manifest = std::move(manifest);
    return order;
}

class OperatorChanges : public testing::Test {
  protected:
    OperatorChanges()
    {
        service.seed({simple_operator("op1")}).value();
        OperatorKeyOrder order;
        order.name = "ada";
        order.public_key_pem = keys.public_pem;
        order.key = parse_public_keys(keys.public_pem).value().front();
        key = io.run(key_service.add(caller, order)).value().id;
    }
    ~OperatorChanges() override { store.database().stop(); }

    OperatorOrder signed_order(const OperatorManifest& manifest, const std::string& private_pem = "") const
    {
        OperatorOrder order;
        order.package =
            sign_operator(manifest, tiny_object(), private_pem.empty() ? keys.private_pem : private_pem).value();
        order.manifest = manifest;
        return order;
    }

    Result<OperatorRecord> add(OperatorOrder order) { return io.run(service.add(caller, std::move(order))); }
    Result<std::optional<OperatorRecord>> change(OperatorOrder order, OperatorVersionRule rule = any_version)
    {
        const std::string id = order.manifest.id;
        return io.run(service.change(caller, id, std::move(order), std::move(rule)));
    }
    static bool any_version(std::int64_t) { return true; }

    TestStore store;
    fathom::test::TestIo io;
    OperatorsService service{store.database()};
    OperatorKeysService key_service{store.database()};
    const Caller caller{"tok_expert", "req_1"};
    const KeyPair keys = new_key_pair().value();
    std::string key;
};

TEST_F(OperatorChanges, MakeTheNextVersionAndKeepTheOlder)
{
    OperatorManifest better = simple_operator("op1");
    better.description = "better told";
    better.parameters[0].max = 500;

    const OperatorRecord changed = change(plain(better)).value().value();

    EXPECT_EQ(changed.manifest.version, 2);
    EXPECT_EQ(changed.origin, "expert");
    EXPECT_EQ(changed.created_by, "tok_expert");
    EXPECT_EQ(service.library()->find("op1")->manifest.parameters[0].max, 500) << "without another read";
    EXPECT_EQ(service.library()->find("op1", 1)->manifest.parameters[0].max, 1000);
    EXPECT_EQ(store.sql("SELECT actor || detail::text FROM audit_log WHERE action = 'operator.change'"),
              R"(tok_expert{"version": 2})");
}

TEST_F(OperatorChanges, ThatChangeNothingMakeNoVersion)
{
    OperatorManifest same = simple_operator("op1");
    same.version = 7; // the library gives numbers

    EXPECT_EQ(change(plain(same)).value().value().manifest.version, 1);
    EXPECT_EQ(store.sql("SELECT count(*) FROM operator"), "1");
}

TEST_F(OperatorChanges, OfAnOlderVersionAreStale)
{
    OperatorManifest better = simple_operator("op1");
    better.description = "better told";
    ASSERT_TRUE(change(plain(better)).value());
    better.description = "told by somebody who saw version 1";

    const auto stale = change(plain(better), [](std::int64_t version) { return version == 1; });

    EXPECT_FALSE(stale.value().has_value());
}

TEST_F(OperatorChanges, MustKeepWhatTheCodeFixes)
{
    OperatorManifest wrong = simple_operator("op1");
    wrong.operation_count = "3*n";
    wrong.precision = "fp32";
    wrong.parameters[0].max = 2000;

    const Error error = change(plain(wrong)).error();

    EXPECT_EQ(error.code, Errc::kInvalid);
    ASSERT_EQ(error.fields.size(), 3U) << describe(error);
    EXPECT_EQ(error.fields[0].field, "manifest.operation_count");
    EXPECT_EQ(error.fields[1].field, "manifest.precision");
    EXPECT_EQ(error.fields[2].field, "manifest.parameters[0].max");
    wrong = simple_operator("op1");
    wrong.parameters[0].name = "m";
    wrong.operation_count = wrong.byte_count = "m";
    EXPECT_THAT(describe(change(plain(wrong)).error()), HasSubstr("manifest.parameters"));
}

TEST_F(OperatorChanges, SurviveARestart)
{
    OperatorManifest better = simple_operator("op1");
    better.description = "better told";
    ASSERT_TRUE(change(plain(better)).value());

    ASSERT_TRUE(service.seed({simple_operator("op1")}));
    EXPECT_EQ(service.library()->find("op1")->manifest.description, "better told");

    OperatorManifest release = simple_operator("op1");
    release.description = "of a new release";
    ASSERT_TRUE(service.seed({release}));
    EXPECT_EQ(service.library()->find("op1")->manifest.version, 3);
    EXPECT_EQ(service.library()->find("op1")->manifest.description, "of a new release");
}

TEST_F(OperatorChanges, NeedCodeForANewOperator)
{
    EXPECT_EQ(add(plain(simple_operator("op1"))).error().code, Errc::kConflict);
    const Error error = add(plain(simple_operator("op9"))).error();
    EXPECT_EQ(error.code, Errc::kInvalid);
    EXPECT_THAT(describe(error), HasSubstr("upload"));
    EXPECT_EQ(change(plain(simple_operator("op9"))).error().code, Errc::kNotFound);
}

TEST_F(OperatorChanges, WithdrawOneVersion)
{
    OperatorManifest better = simple_operator("op1");
    better.description = "better told";
    ASSERT_TRUE(change(plain(better)).value());

    ASSERT_TRUE(io.run(service.withdraw(caller, "op1", 2)));
    ASSERT_TRUE(io.run(service.withdraw(caller, "op1", 2))) << "again changes nothing";

    EXPECT_EQ(service.library()->find("op1")->manifest.version, 1) << "what new tasks use";
    const OperatorRecord withdrawn = io.run(service.get("op1", 2)).value();
    EXPECT_EQ(withdrawn.withdrawn_by, "tok_expert");
    EXPECT_EQ(withdrawn.manifest.description, "better told") << "stays readable";
    EXPECT_EQ(io.run(service.withdraw(caller, "op1", 3)).error().code, Errc::kNotFound);
    EXPECT_EQ(io.run(service.get("op1", 0)).value().manifest.version, 1) << "what is in use";
    EXPECT_EQ(io.run(service.list(10, "")).value().items.at(0).manifest.version, 1);
    EXPECT_EQ(store.sql("SELECT count(*) FROM audit_log WHERE action = 'operator.withdraw'"), "1");
    const auto of_withdrawn = change(plain(better), [](std::int64_t version) { return version == 2; });
    EXPECT_FALSE(of_withdrawn.value().has_value()) << "made of a version that was withdrawn meanwhile";
    better.description = "told once more";
    EXPECT_EQ(change(plain(better)).value().value().manifest.version, 3) << "numbers only grow";
}

TEST_F(OperatorChanges, UploadsAreNumberedBySignature)
{
    const OperatorRecord first = add(signed_order(uploaded_operator("lu", 1))).value();
    EXPECT_EQ(first.origin, "uploaded");
    EXPECT_EQ(first.key_id, key);
    EXPECT_EQ(first.object_sha256, sha256_hex(tiny_object()));

    const Error again = add(signed_order(uploaded_operator("lu", 1))).error();
    EXPECT_EQ(again.code, Errc::kConflict);
    EXPECT_THAT(again.detail, HasSubstr("the next one is 2"));
    EXPECT_EQ(change(signed_order(uploaded_operator("lu", 2))).value().value().manifest.version, 2);
    EXPECT_EQ(change(plain(uploaded_operator("lu", 3))).error().code, Errc::kInvalid) << "its manifest is signed";

    const std::string package = io.run(service.package("lu", 2)).value();
    EXPECT_EQ(parse_operator_package_text(package).value().manifest.version, 2);
    EXPECT_EQ(io.run(service.package("op1", 1)).error().code, Errc::kNotFound);
    const Page<OperatorRecord> page = io.run(service.list_versions("lu", 1, 0)).value();
    EXPECT_EQ(page.items[0].manifest.version, 2);
    EXPECT_EQ(io.run(service.list_versions("lu", 1, 2)).value().items[0].manifest.version, 1);
    EXPECT_EQ(io.run(service.list_versions("no_such", 1, 0)).error().code, Errc::kNotFound);
}

TEST_F(OperatorChanges, UploadsNeedATrustedKey)
{
    const KeyPair stranger = new_key_pair().value();
    OperatorOrder forged = signed_order(uploaded_operator("lu", 1));
    forged.package->manifest.description = "another";

    EXPECT_EQ(add(signed_order(uploaded_operator("lu", 1), stranger.private_pem)).error().code, Errc::kForbidden);
    EXPECT_EQ(add(forged).error().code, Errc::kForbidden);
    EXPECT_EQ(add(signed_order(uploaded_operator("op1", 2))).error().code, Errc::kConflict) << "op1 is built in";
    EXPECT_EQ(store.sql("SELECT count(*) FROM operator WHERE origin = 'uploaded'"), "0") << "nothing half-stored";
    EXPECT_EQ(store.sql("SELECT count(*) FROM operator_package"), "0");
}

TEST_F(OperatorChanges, ARevokedKeySignsNothingMore)
{
    ASSERT_TRUE(add(signed_order(uploaded_operator("lu", 1))));

    const OperatorKeyRecord revoked = io.run(key_service.revoke(caller, key)).value();

    EXPECT_EQ(revoked.revoked_by, "tok_expert");
    ASSERT_EQ(revoked.signed_versions.size(), 1U);
    EXPECT_EQ(revoked.signed_versions[0].operator_id, "lu");
    EXPECT_EQ(add(signed_order(uploaded_operator("lu", 2))).error().code, Errc::kForbidden);
    EXPECT_NE(service.library()->find("lu"), nullptr) << "revoking withdraws nothing";
    OperatorKeyOrder again;
    again.key = parse_public_keys(keys.public_pem).value().front();
    EXPECT_EQ(io.run(key_service.add(caller, again)).error().code, Errc::kConflict);
    EXPECT_EQ(io.run(key_service.revoke(caller, "0123456789abcdef")).error().code, Errc::kNotFound);
    EXPECT_EQ(io.run(key_service.list(10, "")).value().items.size(), 1U);
}

TEST_F(OperatorChanges, ProbesBringWhatTheirCentersLack)
{
    OperatorManifest better = simple_operator("op1");
    better.description = "better told";
    better.cache_rule =
        CacheRule{.array_bytes = "8*n", .memory_bytes = "24*n", .least_multiple = 4, .larger_sizes = {}};
    ASSERT_TRUE(change(plain(better)).value());
    ASSERT_TRUE(add(signed_order(uploaded_operator("lu", 1))));
    ProbeTask task;
    task.name = "mixed";
    for (const auto& [id, version] : {std::pair("op1", 1), std::pair("op1", 2), std::pair("lu", 1)}) {
        task.operators.emplace_back();
        task.operators.back().id = id;
        task.operators.back().version = version;
    }
    const auto attach = [&] {
        return store.run([&](pqxx::work& transaction) { return operator_attachments(transaction, task.operators); });
    };

    const OperatorAttachments attachments = attach().value();
    const JobSpec job = make_probe_job(task, {}, attachments);

    ASSERT_EQ(attachments.manifests.size(), 1U) << "every program has the first version";
    EXPECT_EQ(attachments.manifests[0].version, 2);
    EXPECT_EQ(job.command, (std::vector<std::string>{"fathom-probe", "--task", "probe-task.json", "--operator",
                                                     "operator-lu-1.json"}));
    EXPECT_TRUE(parse_operator_package_text(job.files.at("operator-lu-1.json")));
    const ProbeTask sent = parse_probe_task(parse_json(job.files.at("probe-task.json")).value()).value();
    EXPECT_EQ(sent.manifests.at(0).description, "better told");
    EXPECT_FALSE(sent.manifests.at(0).cache_rule) << "agents of older releases refuse a field that they do not know";
    EXPECT_TRUE(attachments.of_uses.at(1)->cache_rule);

    ASSERT_TRUE(io.run(service.withdraw(caller, "lu", 1)));
    EXPECT_EQ(attach().error().code, Errc::kInfeasible) << "a withdrawn upload runs nowhere";
}

TEST_F(OperatorChanges, UploadsAreOfferedWhereTheyAreAccepted)
{
    Catalog catalog;
    catalog.unit_types = {test::unit_type("open", 1, {"op1"}), test::unit_type("closed", 1, {"op1"}),
                          test::unit_type("gpu", 1, {})};
    catalog.unit_types[0].facts = {{"accepts_uploads", true}};
    catalog.unit_types[1].facts = {{"accepts_uploads", false}};
    catalog.unit_types[2].facts = {{"accepts_uploads", true}};
    catalog.unit_types[2].resource_type = "cuda";
    test::add_center(store, "alpha", catalog);
    ASSERT_TRUE(add(signed_order(uploaded_operator("lu", 1))));
    const auto runs_lu = [&](const std::string& unit_type) {
        const auto offers = store
                                .run([](pqxx::work& transaction) -> Result<std::vector<UnitTypeOffer>> {
                                    return unit_type_offers(transaction);
                                })
                                .value();
        return find_offer(offers, "alpha/" + unit_type)->runs({"lu"});
    };

    EXPECT_TRUE(runs_lu("open"));
    EXPECT_FALSE(runs_lu("closed"));
    EXPECT_FALSE(runs_lu("gpu")) << "no implementation for its resource type";
    ASSERT_TRUE(io.run(service.withdraw(caller, "lu", 1)));
    EXPECT_FALSE(runs_lu("open"));
}

TEST(OperatorOrder, NamesEveryError)
{
    const auto error_of = [](const Json& json) { return parse_operator_order(json).error(); };
    Json manifest = to_json(simple_operator("op1"));

    EXPECT_THAT(describe(error_of(Json::object())), HasSubstr("either a manifest or a package"));
    EXPECT_THAT(describe(error_of({{"manifest", manifest}, {"package", Json::object()}})), HasSubstr("either"));
    manifest["surplus"] = 1;
    manifest["tolerance"] = 7;
    manifest["parameters"][0]["max"] = -1;
    const Error error = error_of({{"manifest", manifest}, {"more", 1}});
    EXPECT_THAT(describe(error), testing::AllOf(HasSubstr("manifest.surplus"), HasSubstr("manifest.tolerance"),
                                                HasSubstr("manifest.parameters[0].max"), HasSubstr("more")));

    manifest = to_json(simple_operator("op1"));
    manifest["operation_count"] = "n*1e300*1e300";
    EXPECT_THAT(describe(error_of({{"manifest", manifest}})), HasSubstr("manifest.operation_count"));
    manifest = to_json(simple_operator("op1"));
    manifest["sandbox"] = {{"network", true}};
    EXPECT_THAT(describe(error_of({{"manifest", manifest}})), HasSubstr("manifest.sandbox"));
    EXPECT_THAT(describe(error_of({{"manifest", to_json(uploaded_operator("op1", 1))}})), HasSubstr("signed package"));
    const Json package{{"manifest", manifest}, {"object_base64", "?"}, {"signature_base64", "AA=="}, {"key_id", "x"}};
    EXPECT_THAT(describe(error_of({{"package", package}})),
                testing::AllOf(HasSubstr("package.manifest"), HasSubstr("package.object_base64"),
                               HasSubstr("package.signature_base64"), HasSubstr("package.key_id")));
}

} // namespace
} // namespace fathom::server
