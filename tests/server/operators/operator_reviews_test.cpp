#include "server/operators/operator_keys_service.hpp"
#include "server/operators/operator_reviews_service.hpp"
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

class OperatorReviews : public testing::Test {
  protected:
    OperatorReviews()
    {
        operators.seed({simple_operator("op1")}).value();
        center = test::add_center(store, "alpha", test::golden_catalog()).value;
        trust("ada", network_keys, "");
        key = trust("dana", center_keys, "alpha").id;
    }
    ~OperatorReviews() override { store.database().stop(); }

    OperatorKeyRecord trust(const std::string& name, const KeyPair& keys, const std::string& of_center)
    {
        OperatorKeyOrder order;
        order.name = name;
        order.center = of_center;
        order.public_key_pem = keys.public_pem;
        order.key = parse_public_keys(keys.public_pem).value().front();
        return io.run(key_service.add(admin, order)).value();
    }

    OperatorPackage package(const std::string& id, std::int64_t version = 1, const KeyPair* keys = nullptr) const
    {
        return sign_operator(uploaded_operator(id, version), tiny_object(),
                             (keys != nullptr ? *keys : center_keys).private_pem)
            .value();
    }

    Result<OperatorReview> submit(OperatorPackage one) { return io.run(service.submit(expert, std::move(one))); }
    Result<OperatorReview> approve(const std::string& id) { return io.run(service.approve(admin, id)); }
    Result<OperatorRecord> upload(const OperatorPackage& one)
    {
        OperatorOrder order;
        order.manifest = one.manifest;
        order.package = one;
        return io.run(operators.add(expert, std::move(order)));
    }

    TestStore store;
    fathom::test::TestIo io;
    OperatorsService operators{store.database()};
    OperatorKeysService key_service{store.database()};
    OperatorReviewsService service{store.database(), operators};
    const Caller expert{"tok_expert", "req_1"};
    const Caller admin{"tok_admin", "req_2"};
    const KeyPair network_keys = new_key_pair().value();
    const KeyPair center_keys = new_key_pair().value();
    std::string center;
    std::string key;
};

TEST_F(OperatorReviews, AreOfWhatACentersKeySignedAndNothingUsesItBefore)
{
    const OperatorReview review = submit(package("lu")).value();

    EXPECT_EQ(review.state, "awaiting_review");
    EXPECT_EQ(review.center, "alpha");
    EXPECT_EQ(review.key_id, key);
    EXPECT_EQ(operators.library()->find("lu"), nullptr);
    EXPECT_EQ(io.run(operators.get("lu", 0)).error().code, Errc::kNotFound);
    EXPECT_EQ(store.sql("SELECT actor || (detail ->> 'center') FROM audit_log WHERE action = 'operator.submit'"),
              "tok_expertalpha");
    const Page<OperatorReview> waiting = io.run(service.list("awaiting_review", 10, "")).value();
    ASSERT_EQ(waiting.items.size(), 1U);
    EXPECT_EQ(waiting.items[0].id, review.id);
    EXPECT_TRUE(io.run(service.list("approved", 10, "")).value().items.empty());
    EXPECT_EQ(parse_operator_package_text(io.run(service.package(review.id)).value()).value().manifest.id, "lu");
}

TEST_F(OperatorReviews, MakeAVersionOfTheLibraryWhenAnAdminApproves)
{
    const std::string id = submit(package("lu")).value().id;

    const OperatorReview approved = approve(id).value();

    EXPECT_EQ(approved.state, "approved");
    EXPECT_EQ(approved.decided_by, "tok_admin");
    const OperatorLibrary::Version* const version = operators.library()->find("lu");
    ASSERT_NE(version, nullptr) << "without another read";
    EXPECT_EQ(version->origin, "uploaded");
    EXPECT_EQ(version->created_by, "tok_expert");
    EXPECT_EQ(version->key_id, key);
    EXPECT_TRUE(io.run(operators.package("lu", 1)));
    EXPECT_EQ(io.run(service.package(id)).error().code, Errc::kNotFound) << "the library has it now";
    EXPECT_EQ(approve(id).error().code, Errc::kConflict);
    EXPECT_TRUE(submit(package("lu", 2))) << "the next version";
}

TEST_F(OperatorReviews, EndWithTheReasonWhenRejected)
{
    const std::string id = submit(package("lu")).value().id;

    const OperatorReview rejected = io.run(service.reject(admin, id, "asks for the network")).value();

    EXPECT_EQ(rejected.state, "rejected");
    EXPECT_EQ(rejected.reason, "asks for the network");
    EXPECT_EQ(operators.library()->find("lu"), nullptr);
    EXPECT_EQ(store.sql("SELECT count(*) FROM operator_review WHERE package IS NOT NULL"), "0");
    EXPECT_EQ(approve(id).error().code, Errc::kConflict);
    EXPECT_TRUE(submit(package("lu"))) << "the same version, mended";
}

TEST_F(OperatorReviews, AreNotByWhoSubmitted)
{
    const std::string id = submit(package("lu")).value().id;

    const Error error = io.run(service.approve(expert, id)).error();

    EXPECT_EQ(error.code, Errc::kForbidden);
    EXPECT_EQ(operators.library()->find("lu"), nullptr);
}

TEST_F(OperatorReviews, AreTheOnlyWayForACentersKeyAndNoneForTheNetworks)
{
    const Error uploaded = upload(package("lu")).error();
    EXPECT_EQ(uploaded.code, Errc::kConflict);
    EXPECT_THAT(uploaded.detail, HasSubstr("alpha"));
    EXPECT_THAT(uploaded.detail, HasSubstr("fathom operator submit"));
    EXPECT_EQ(submit(package("lu", 1, &network_keys)).error().code, Errc::kConflict);
    EXPECT_TRUE(upload(package("lu", 1, &network_keys))) << "as before";
}

TEST_F(OperatorReviews, RefuseWhatCouldNotBeUsed)
{
    const KeyPair stranger = new_key_pair().value();
    EXPECT_EQ(submit(package("lu", 1, &stranger)).error().code, Errc::kForbidden);
    EXPECT_EQ(submit(package("op1")).error().code, Errc::kConflict) << "built in";
    EXPECT_EQ(submit(package("lu", 2)).error().code, Errc::kConflict) << "not the next version";
    ASSERT_TRUE(submit(package("lu")));
    EXPECT_THAT(submit(package("lu")).error().detail, HasSubstr("awaits review"));
    EXPECT_EQ(approve("orv_unknown").error().code, Errc::kNotFound);
    OperatorKeyOrder nowhere;
    nowhere.name = "eve";
    nowhere.center = "atlantis";
    nowhere.public_key_pem = stranger.public_pem;
    nowhere.key = parse_public_keys(stranger.public_pem).value().front();
    EXPECT_EQ(io.run(key_service.add(admin, nowhere)).error().code, Errc::kInvalid);
}

/// What was right when it was submitted may not be any more.
TEST_F(OperatorReviews, LookAtTheKeyAndTheVersionAgain)
{
    const std::string taken = submit(package("lu")).value().id;
    ASSERT_TRUE(upload(package("lu", 1, &network_keys)));
    EXPECT_EQ(approve(taken).error().code, Errc::kConflict);

    const std::string revoked = submit(package("qr")).value().id;
    ASSERT_TRUE(io.run(key_service.revoke(admin, key)));
    EXPECT_EQ(approve(revoked).error().code, Errc::kForbidden);
    EXPECT_EQ(operators.library()->find("qr"), nullptr);
}

TEST_F(OperatorReviews, AreBoundedForEachCenter)
{
    for (int i = 0; i < 20; ++i)
        ASSERT_TRUE(submit(package("op_" + std::to_string(i))));
    EXPECT_THAT(submit(package("one_more")).error().detail, HasSubstr("20 operators of this center await review"));

    store.sql("UPDATE operator_review SET state = 'rejected', decided_at = now(), decided_by = 'x', package = NULL");
    store.sql(
        "INSERT INTO operator_review (id, operator_id, operator_version, center_id, key_id, manifest, "
        "object_sha256, object_bytes, state, submitted_by, decided_at, decided_by) "
        "SELECT 'orv_0' || n, 'old', n, center_id, key_id, manifest, object_sha256, 1, 'rejected', 'x', now(), 'x' "
        "FROM generate_series(1, 200) n, (SELECT * FROM operator_review LIMIT 1) r");
    ASSERT_TRUE(submit(package("one_more")));
    EXPECT_EQ(store.sql("SELECT count(*) FROM operator_review"), "101");
}

} // namespace
} // namespace fathom::server
