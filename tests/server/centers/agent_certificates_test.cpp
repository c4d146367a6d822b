#include "server/centers/centers_service.hpp"
#include "tests/server/centers/support/test_agent.hpp"
#include "tests/support/temporary_postgres.hpp"

namespace fathom::server {
namespace {

using test::AgentServer;
using test::TestAgent;
using testing::HasSubstr;

/// Which certificates an agent may have a session by.
class AgentCertificates : public testing::Test {
  protected:
    AgentServer server_;
    AgentServer::Enrolled enrolled_ = server_.enrol("alpha");
};

TEST_F(AgentCertificates, ACertificateThatConnectsAgainAndAgainIsTurnedAway)
{
    const auto other = server_.enrol("beta");
    for (int i = 0; i < 30; ++i) {
        TestAgent agent(server_, &enrolled_.credential);
        agent.greet();
        agent.close();
    }
    const std::string epoch = server_.store.sql("SELECT session_epoch FROM center WHERE name = 'alpha'");

    TestAgent refused(server_, &enrolled_.credential);

    EXPECT_THAT(refused.expect_end(), HasSubstr("connects too often"));
    EXPECT_EQ(server_.store.sql("SELECT session_epoch FROM center WHERE name = 'alpha'"), epoch);
    TestAgent agent(server_, &other.credential);
    EXPECT_EQ(agent.greet().center_name, "beta");
}

TEST_F(AgentCertificates, RevocationEndsTheSessionAndKeepsTheAgentOut)
{
    TestAgent agent(server_, &enrolled_.credential);
    agent.greet();
    CentersService centers(server_.store.database());

    ASSERT_TRUE(server_.io.run(centers.revoke({"tok_admin", "req"}, "alpha")));

    EXPECT_THAT(agent.expect_end(), HasSubstr("revoked"));
    TestAgent again(server_, &enrolled_.credential);
    again.send(link::Hello{"0.1.0", test::golden_catalog(), {}});
    EXPECT_THAT(again.expect_end(), HasSubstr("accepted"));
    EXPECT_EQ(server_.store.sql("SELECT state FROM center"), "lost");
}

TEST_F(AgentCertificates, WithoutACertificateThereIsNone)
{
    TestAgent stranger(server_, nullptr);

    EXPECT_THAT(stranger.expect_end(), HasSubstr("client certificate"));
}

TEST_F(AgentCertificates, AnOldCertificateIsRefusedAfterEnrollingAnew)
{
    const auto second = server_.enrol("alpha");
    EXPECT_EQ(enrolled_.center, second.center);

    TestAgent old_one(server_, &enrolled_.credential);
    old_one.send(link::Hello{"0.1.0", test::golden_catalog(), {}});
    EXPECT_THAT(old_one.expect_end(), HasSubstr("accepted"));
    TestAgent new_one(server_, &second.credential);
    EXPECT_EQ(new_one.greet().center_name, "alpha");
}

TEST_F(AgentCertificates, ARenewedCertificateReplacesTheOldOneWhenItIsFirstUsed)
{
    const net::Credential old_credential = enrolled_.credential;
    {
        TestAgent agent(server_, &old_credential);
        agent.greet();
        const std::string key = net::make_private_key().value();
        agent.send(link::RenewCertificate{net::make_signing_request(key, "x").value()});
        enrolled_.credential = {agent.expect<link::RenewedCertificate>().certificate_pem, key};
        agent.expect<link::Ack>();
        agent.close();
    }

    TestAgent still_old(server_, &old_credential);
    EXPECT_EQ(still_old.greet().center_name, "alpha") << "the answer may have been lost on its way";
    TestAgent renewed(server_, &enrolled_.credential);
    EXPECT_EQ(renewed.greet().center_name, "alpha");
    TestAgent too_old(server_, &old_credential);
    too_old.send(link::Hello{"0.1.0", test::golden_catalog(), {}});
    EXPECT_THAT(too_old.expect_end(), HasSubstr("accepted"));
}

} // namespace
} // namespace fathom::server
