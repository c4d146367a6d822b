#include "core/base/file.hpp"
#include "tests/agent/support/agent_link.hpp"
#include "tests/agent/support/executor_fixture.hpp"

#include <csignal>

/// A real agent that is told of another authority of the network.
namespace fathom::agent {
namespace {

using test::AgentLink;
using test::is;

class AgentAuthorities : public AgentLink {
  protected:
    static std::string sha256(const std::string& pem) { return net::read_certificate(pem).value().sha256_hex; }
    std::string first() const { return server_.authority_pem(); }
    std::string second() const { return second_.certificate_pem; }

    const net::Credential second_ = net::make_authority("second", 30).value();
};

TEST_F(AgentAuthorities, AreKeptOverRestartsBeforeTheyAreAcknowledged)
{
    start_enrolled();
    EXPECT_EQ(last_hello().authorities, std::vector{sha256(first())});

    const MessageId told = server_.send(link::TrustedAuthorities{first() + second(), sha256(first()), 1});
    EXPECT_FALSE(wait_for_ack(told).error);
    agent_.stop(SIGKILL);
    agent_.start();
    wait_for_hello(2);

    EXPECT_EQ(last_hello().authorities, (std::vector{sha256(first()), sha256(second())}));
    EXPECT_EQ(server_.count(is<link::RenewCertificate>), 0U) << "its certificate is of the one that signs";
}

TEST_F(AgentAuthorities, ACertificateOfOneThatSignsNoMoreIsRenewed)
{
    start_enrolled();

    const MessageId told = server_.send(link::TrustedAuthorities{second() + first(), sha256(second()), 0.1});

    EXPECT_FALSE(wait_for_ack(told).error);
    server_.wait_for("a request for a certificate", is<link::RenewCertificate>);
}

TEST_F(AgentAuthorities, ThatAreAllUnknownAreRefused)
{
    start_enrolled();

    const MessageId told = server_.send(link::TrustedAuthorities{second(), sha256(second()), 1});

    EXPECT_TRUE(wait_for_ack(told).error);
    server_.drop_connection();
    wait_for_hello(2);
    EXPECT_EQ(last_hello().authorities, std::vector{sha256(first())});
}

} // namespace
} // namespace fathom::agent
