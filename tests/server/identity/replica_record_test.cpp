#include "server/identity/replica_record.hpp"
#include "tests/support/temporary_postgres.hpp"

#include <gmock/gmock.h>

namespace fathom::server {
namespace {

using test::run_sql;
using testing::ElementsAre;
using testing::IsEmpty;

/// Two replicas on a fresh database.
class ReplicaRecords : public testing::Test {
  protected:
    ReplicaRecords()
    {
        near_holder_.set(first_);
        far_holder_.set(first_);
    }

    std::vector<KnownReplica> replicas(const NetworkAuthorities& network)
    {
        const std::vector<std::string> trusted = network.certificates.sha256_hex();
        auto work = [&](pqxx::work& transaction) -> Result<std::vector<KnownReplica>> {
            return select_replicas(transaction, trusted);
        };
        return database_.blocking_run(work).value();
    }
    std::vector<std::string> states(const NetworkAuthorities& network)
    {
        std::vector<std::string> found;
        for (const KnownReplica& replica : replicas(network))
            found.push_back(replica.self.host + " " + std::string(to_string(replica.state)));
        return found;
    }
    NetworkAuthorities begun() const
    {
        NetworkAuthorities network = first_;
        network.certificates.next = second_.certificates.current;
        return network;
    }
    NetworkAuthorities switched() const
    {
        NetworkAuthorities network = second_;
        network.certificates.past = first_.certificates.current;
        return network;
    }

    const std::string url_ = test::migrated_database();
    const NetworkAuthorities first_ = only_authority(net::make_authority("first", 10).value()).value();
    const NetworkAuthorities second_ = only_authority(net::make_authority("second", 10).value()).value();
    Metrics metrics_;
    Database database_{{.url = url_, .connections = 1}, metrics_};
    AuthorityHolder near_holder_;
    AuthorityHolder far_holder_;
    ReplicaRecord near_{database_, near_holder_, {ReplicaId{"rep_1"}, "near", "0.1.0"}};
    ReplicaRecord far_{database_, far_holder_, {ReplicaId{"rep_2"}, "far", "0.1.0"}};
};

TEST_F(ReplicaRecords, SayWhoRunsAndWhatItTrusts)
{
    EXPECT_THAT(replicas(first_), IsEmpty());

    ASSERT_TRUE(near_.write());

    const std::vector<KnownReplica> known = replicas(first_);
    ASSERT_EQ(known.size(), 1U);
    EXPECT_EQ(known[0].self.id.value, "rep_1");
    EXPECT_EQ(known[0].self.host, "near");
    EXPECT_EQ(known[0].self.version, "0.1.0");
    EXPECT_EQ(known[0].state, ReplicaState::kFollows);
    EXPECT_EQ(known[0].signer_sha256, first_.certificates.current.facts.sha256_hex);
}

TEST_F(ReplicaRecords, TellWhoFollowsAStepAndWhoDoesNot)
{
    ASSERT_TRUE(near_.write());
    ASSERT_TRUE(far_.write());
    EXPECT_THAT(states(begun()), ElementsAre("far behind", "near behind"));

    near_holder_.set(begun());
    ASSERT_TRUE(near_.write());
    EXPECT_THAT(states(begun()), ElementsAre("far behind", "near follows"));

    far_holder_.set(begun());
    ASSERT_TRUE(far_.write());
    EXPECT_THAT(states(begun()), ElementsAre("far follows", "near follows"));
    EXPECT_THAT(states(switched()), ElementsAre("far behind", "near behind"))
        << "they trust the same, and sign by the other";
}

TEST_F(ReplicaRecords, KeepSinceWhenTheSameIsTrusted)
{
    ASSERT_TRUE(near_.write());
    run_sql(url_, "UPDATE replica SET trusted_since = '2001-01-01T00:00:00Z'");

    ASSERT_TRUE(near_.write());
    EXPECT_EQ(format_rfc3339(replicas(first_).at(0).trusted_since), "2001-01-01T00:00:00.000000Z");

    near_holder_.set(begun());
    ASSERT_TRUE(near_.write());
    EXPECT_GT(format_rfc3339(replicas(first_).at(0).trusted_since), "2001-01-01T00:00:00.000000Z");
}

TEST_F(ReplicaRecords, OneThatSaysNothingIsSilentAndThenForgotten)
{
    ASSERT_TRUE(far_.write());
    run_sql(url_, "UPDATE replica SET seen_at = now() - interval '60 seconds'");

    ASSERT_TRUE(near_.write());
    EXPECT_THAT(states(first_), ElementsAre("far silent", "near follows"));

    run_sql(url_, "UPDATE replica SET seen_at = now() - interval '180 seconds' WHERE host = 'far'");
    ASSERT_TRUE(near_.write());
    EXPECT_THAT(states(first_), ElementsAre("near follows"));

    ASSERT_TRUE(far_.write());
    EXPECT_THAT(states(first_), ElementsAre("far follows", "near follows")) << "it was only held up";
}

} // namespace
} // namespace fathom::server
