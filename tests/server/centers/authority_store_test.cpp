#include "server/centers/authority_store.hpp"
#include "server/centers/session_store.hpp"
#include "tests/server/centers/support/test_agent.hpp"

/// What agents are told of the network's authorities, and which centers a rotation waits for.
namespace fathom::server {
namespace {

using fathom::test::eventually;
using test::AgentServer;
using test::TestAgent;
using testing::ElementsAre;
using testing::IsEmpty;

class AgentAuthorities : public testing::Test {
  protected:
    void begin()
    {
        NetworkAuthorities begun = first_;
        begun.certificates.next = second_.certificates.current;
        set(begun);
    }
    void switch_over()
    {
        NetworkAuthorities switched = second_;
        switched.certificates.past = first_.certificates.current;
        switched.renew_within = std::chrono::seconds(50);
        set(switched);
    }
    void set(const NetworkAuthorities& authorities)
    {
        server_.authorities.set(authorities);
        server_.hub->authorities_changed();
    }
    static void greet(TestAgent& agent, std::optional<std::vector<std::string>> trusted)
    {
        link::Hello hello{.agent_version = "0.1.0", .catalog = test::golden_catalog(), .inventory = {}};
        hello.authorities = std::move(trusted);
        agent.send(std::move(hello));
        agent.expect<link::Welcome>();
    }
    /// True when nothing was sent that the agent has not waited for.
    static bool hears_nothing(TestAgent& agent)
    {
        const int before = agent.dropped();
        agent.send(GpuMemoryReport{});
        agent.expect<link::Ack>();
        return agent.dropped() == before;
    }
    std::string trusted() const { return server_.store.sql("SELECT trusted_authorities FROM center"); }
    std::vector<std::string> not_trusting_second()
    {
        return names(server_.store.run([&](pqxx::work& transaction) -> Result<std::vector<WaitingCenter>> {
            return select_centers_not_trusting(transaction, sha256(second_));
        }));
    }
    std::vector<std::string> left_behind_by_second()
    {
        return names(server_.store.run([&](pqxx::work& transaction) -> Result<std::vector<WaitingCenter>> {
            return select_centers_left_behind(transaction, sha256(second_));
        }));
    }
    static std::vector<std::string> names(const Result<std::vector<WaitingCenter>>& centers)
    {
        std::vector<std::string> found;
        for (const WaitingCenter& center : centers.value())
            found.push_back(center.name);
        return found;
    }
    static std::string sha256(const NetworkAuthorities& network)
    {
        return network.certificates.current.facts.sha256_hex;
    }

    AgentServer server_;
    const NetworkAuthorities first_ = *server_.authorities.get();
    const NetworkAuthorities second_ = only_authority(net::make_authority("second", 10).value()).value();
};

TEST_F(AgentAuthorities, AreSaidToAnAgentThatTrustsOthersAndNotedWhenItHasThem)
{
    const auto enrolled = server_.enrol("alpha");
    TestAgent agent(server_, &enrolled.credential);
    greet(agent, std::vector{sha256(first_)});
    EXPECT_TRUE(hears_nothing(agent)) << "it trusts what is to be trusted";

    begin();
    const auto told = agent.expect<link::TrustedAuthorities>();
    const MessageId message = agent.last_id();
    EXPECT_EQ(told.certificates_pem, server_.authorities.get()->certificates.bundle_pem());
    EXPECT_EQ(told.signer_sha256, sha256(first_));
    EXPECT_THAT(not_trusting_second(), ElementsAre("alpha"));
    agent.send(link::Ack{message, std::nullopt});

    EXPECT_TRUE(eventually([&] { return not_trusting_second().empty(); }));
    server_.hub->authorities_changed(); // they have not
    EXPECT_TRUE(hears_nothing(agent));
}

TEST_F(AgentAuthorities, AnAgentThatCannotStoreThemIsWaitedFor)
{
    const auto enrolled = server_.enrol("alpha");
    TestAgent agent(server_, &enrolled.credential);
    greet(agent, std::vector{sha256(first_)});
    begin();
    agent.expect<link::TrustedAuthorities>();

    agent.send(link::Ack{agent.last_id(), Error{Errc::kUnavailable, "no room"}});
    EXPECT_TRUE(hears_nothing(agent));

    EXPECT_THAT(not_trusting_second(), ElementsAre("alpha"));
}

TEST_F(AgentAuthorities, AnOlderAgentIsToldNothingAndWaitedFor)
{
    const auto enrolled = server_.enrol("alpha");
    TestAgent agent(server_, &enrolled.credential);
    greet(agent, std::nullopt);

    begin();

    EXPECT_TRUE(hears_nothing(agent));
    EXPECT_THAT(not_trusting_second(), ElementsAre("alpha"));
}

TEST_F(AgentAuthorities, AGreetingThatNamesThemIsEnough)
{
    begin();
    const auto enrolled = server_.enrol("alpha");
    EXPECT_THAT(not_trusting_second(), ElementsAre("alpha"));
    TestAgent agent(server_, &enrolled.credential);

    greet(agent, std::vector{sha256(first_), sha256(second_)});

    EXPECT_TRUE(hears_nothing(agent));
    EXPECT_THAT(not_trusting_second(), IsEmpty());
}

TEST_F(AgentAuthorities, WhileCertificatesAreRenewedTheSignerIsSaidOnceInEachConnection)
{
    const auto enrolled = server_.enrol("alpha");
    switch_over();
    TestAgent agent(server_, &enrolled.credential);

    greet(agent, std::vector{sha256(second_), sha256(first_)});
    const auto told = agent.expect<link::TrustedAuthorities>();
    EXPECT_EQ(told.signer_sha256, sha256(second_));
    EXPECT_EQ(told.renew_within_s, 50);
    server_.hub->authorities_changed();

    EXPECT_TRUE(hears_nothing(agent));
}

TEST_F(AgentAuthorities, ACenterIsLeftBehindUntilItComesWithTheNewCertificate)
{
    const auto enrolled = server_.enrol("alpha");
    switch_over();
    EXPECT_THAT(left_behind_by_second(), ElementsAre("alpha"));
    const std::string key = net::make_private_key().value();
    const std::string request = net::make_signing_request(key, "x").value();
    const std::string serial = net::read_certificate(enrolled.credential.certificate_pem).value().serial_hex;

    const std::string renewed = server_.io.run(server_.enrolment->renew(enrolled.center, serial, request)).value();
    EXPECT_EQ(net::find_signer(renewed, second_.certificates.current.pem).value().sha256_hex, sha256(second_));
    EXPECT_THAT(left_behind_by_second(), ElementsAre("alpha")) << "the answer may have been lost on its way";
    server_.store.run([&](pqxx::work& transaction) -> Result<void> {
        const std::string fresh = net::read_certificate(renewed).value().serial_hex;
        open_session(transaction, enrolled.center, fresh, "rep_other", "0.1.0", Json::object(), "");
        return {};
    });

    EXPECT_THAT(left_behind_by_second(), IsEmpty());
}

TEST_F(AgentAuthorities, CentersWithoutAGoodCertificateAreNotWaitedFor)
{
    server_.enrol("alpha");
    server_.enrol("beta");
    server_.enrol("gamma");
    server_.store.sql("UPDATE center SET revoked_at = now() WHERE name = 'alpha'");
    server_.store.sql("UPDATE center SET certificate_not_after = now() - interval '1 day' WHERE name = 'beta'");

    EXPECT_THAT(not_trusting_second(), ElementsAre("gamma"));
    EXPECT_THAT(left_behind_by_second(), ElementsAre("gamma"));
}

TEST_F(AgentAuthorities, WhoIsLeftBehindIsRefusedAndItsSessionEnds)
{
    const auto enrolled = server_.enrol("alpha");
    TestAgent agent(server_, &enrolled.credential);
    greet(agent, std::nullopt);

    server_.store.run([&](pqxx::work& transaction) -> Result<void> {
        leave_behind(transaction, sha256(second_));
        return {};
    });

    agent.expect_end();
    TestAgent again(server_, &enrolled.credential);
    again.send(link::Hello{"0.1.0", test::golden_catalog(), {}});
    EXPECT_THAT(again.expect_end(), testing::HasSubstr("accepted"));
}

TEST_F(AgentAuthorities, CertificatesOfBeforeRotationsAreOfTheFirstAuthority)
{
    server_.enrol("alpha");
    server_.store.sql("UPDATE center SET certificate_authority = NULL");

    server_.store.run([&](pqxx::work& transaction) -> Result<void> {
        adopt_certificates(transaction, sha256(first_));
        return {};
    });

    EXPECT_EQ(server_.store.sql("SELECT certificate_authority FROM center"), sha256(first_));
}

TEST_F(AgentAuthorities, AnEnrolmentIsToldAllOfThem)
{
    begin();
    const auto token =
        server_.io.run(server_.enrolment->create_token({"tok_1", "req_1"}, "alpha", std::chrono::seconds(60))).value();
    const std::string request = net::make_signing_request(net::make_private_key().value(), "x").value();

    const auto enrolled = server_.io.run(server_.enrolment->enrol(token.secret, request, "req_2")).value();

    EXPECT_EQ(enrolled.ca_pem, first_.certificates.current.pem + second_.certificates.current.pem);
    EXPECT_EQ(server_.store.sql("SELECT certificate_authority FROM center"), sha256(first_));
}

} // namespace
} // namespace fathom::server
