#include "core/base/file.hpp"
#include "server/identity/authority_follower.hpp"
#include "tests/support/temporary_postgres.hpp"

#include <gmock/gmock.h>

namespace fathom::server {
namespace {

using test::run_sql;

/// One replica on a fresh database, and what another one does there.
class AuthorityRotation : public testing::Test {
  protected:
    AuthorityRotation()
    {
        holder_.set(load());
        first_ = holder_.get()->signer();
    }

    AuthorityKeyFile key_file() const
    {
        const std::filesystem::path path = folder_.path() / "authority.key";
        return {.path = path,
                .read = [path] { return read_file(path); },
                .make = [path] { return make_authority_key_file(path); }};
    }
    NetworkAuthorities load() { return load_authorities(database_, key_file()).value(); }
    void begin()
    {
        auto work = [&](pqxx::work& transaction) { return add_next_authority(transaction, key_file()); };
        database_.blocking_run(work).value();
    }
    void switch_over(std::chrono::seconds renew_within)
    {
        auto work = [&](pqxx::work& transaction) -> Result<void> {
            switch_authority(transaction, renew_within);
            return {};
        };
        database_.blocking_run(work).value();
    }
    void drop(void (*drop_one)(pqxx::transaction_base&))
    {
        auto work = [&](pqxx::work& transaction) -> Result<void> {
            drop_one(transaction);
            return {};
        };
        database_.blocking_run(work).value();
    }
    AuthorityFollower follower()
    {
        return {database_, key_file(), holder_, [this](const NetworkAuthorities& fresh) -> Result<void> {
                    if (refusal_) return *refusal_;
                    taken_.push_back(fresh.certificates.phase());
                    return {};
                }};
    }

    const std::string url_ = test::migrated_database();
    const test::TemporaryFolder folder_;
    Metrics metrics_;
    Database database_{{.url = url_, .connections = 1}, metrics_};
    AuthorityHolder holder_;
    net::Credential first_;
    std::vector<RotationPhase> taken_;
    std::optional<Error> refusal_;
};

TEST_F(AuthorityRotation, ANextAuthorityIsTrustedAndDoesNotSign)
{
    begin();

    const NetworkAuthorities begun = load();
    EXPECT_EQ(begun.certificates.phase(), RotationPhase::kBegun);
    EXPECT_EQ(begun.signer().certificate_pem, first_.certificate_pem);
    EXPECT_EQ(begun.key_pem, first_.key_pem);
    EXPECT_NE(begun.certificates.next->facts.common_name, begun.certificates.current.facts.common_name);
    EXPECT_EQ(run_sql(url_, "SELECT count(*) FROM authority WHERE key_pem IS NULL AND length(sealed_key) > 100"), "2");
}

TEST_F(AuthorityRotation, ThereIsOneNextAuthorityAtMost)
{
    begin();

    auto work = [&](pqxx::work& transaction) { return add_next_authority(transaction, key_file()); };
    EXPECT_FALSE(database_.blocking_run(work));
}

TEST_F(AuthorityRotation, AfterTheSwitchTheNextOneSignsAndAfterTheFinishItIsAlone)
{
    begin();
    const std::string next = load().certificates.next->pem;

    switch_over(std::chrono::seconds(7));
    const NetworkAuthorities switched = load();
    drop(drop_past_authority);
    const NetworkAuthorities finished = load();

    EXPECT_EQ(switched.certificates.phase(), RotationPhase::kSwitched);
    EXPECT_EQ(switched.certificates.bundle_pem(), next + first_.certificate_pem);
    EXPECT_EQ(switched.renew_within, std::chrono::seconds(7));
    EXPECT_TRUE(net::make_server_credential(switched.signer(), {"localhost"}, 1)) << "it is the key of the certificate";
    EXPECT_EQ(finished.certificates.phase(), RotationPhase::kNone);
    EXPECT_EQ(finished.certificates.bundle_pem(), next);
    EXPECT_EQ(run_sql(url_, "SELECT count(*) FROM authority"), "1");
}

TEST_F(AuthorityRotation, ACancelledOneLeavesTheFirst)
{
    begin();
    drop(drop_next_authority);

    EXPECT_EQ(load().certificates.bundle_pem(), first_.certificate_pem);
}

TEST_F(AuthorityRotation, ReplicasTakeEachStepOnce)
{
    AuthorityFollower replica = follower();

    ASSERT_TRUE(replica.look());
    EXPECT_THAT(taken_, testing::IsEmpty()) << "nothing has changed";
    begin();
    ASSERT_TRUE(replica.look());
    ASSERT_TRUE(replica.look());
    switch_over(std::chrono::seconds(1));
    ASSERT_TRUE(replica.look());
    drop(drop_past_authority);
    ASSERT_TRUE(replica.look());

    EXPECT_THAT(taken_, testing::ElementsAre(RotationPhase::kBegun, RotationPhase::kSwitched, RotationPhase::kNone));
    EXPECT_NE(holder_.get()->signer().certificate_pem, first_.certificate_pem);
}

TEST_F(AuthorityRotation, AStepThatAReplicaCannotTakeIsTriedAgain)
{
    AuthorityFollower replica = follower();
    begin();

    refusal_ = Error{Errc::kUnavailable, "the disk is full"};
    EXPECT_FALSE(replica.look());
    EXPECT_EQ(holder_.get()->certificates.phase(), RotationPhase::kNone) << "agents are told later";
    refusal_.reset();
    EXPECT_TRUE(replica.look());

    EXPECT_EQ(holder_.get()->certificates.phase(), RotationPhase::kBegun);
}

TEST_F(AuthorityRotation, WhoUsesTheHolderIsToldOfAChange)
{
    int changes = 0;
    holder_.on_change = [&] { ++changes; };
    AuthorityFollower replica = follower();

    ASSERT_TRUE(replica.look());
    EXPECT_EQ(changes, 0);
    begin();
    ASSERT_TRUE(replica.look());

    EXPECT_EQ(changes, 1);
}

} // namespace
} // namespace fathom::server
