#include "server/centers/centers_service.hpp"
#include "tests/server/centers/support/test_agent.hpp"

namespace fathom::server {
namespace {

using namespace std::chrono_literals;
using test::AgentServer;

const Caller kAdmin{"tok_admin", "req_1"};

std::string signing_request()
{
    return net::make_signing_request(net::make_private_key().value(), "me").value();
}

TEST(Enrolment, ATokenGivesACertificateInTheCentersName)
{
    AgentServer server;
    const auto token = server.io.run(server.enrolment->create_token(kAdmin, "alpha", 60s)).value();

    const auto enrolled = server.io.run(server.enrolment->enrol(token.secret, signing_request(), "req_2")).value();

    const net::CertificateFacts facts = net::read_certificate(enrolled.certificate_pem).value();
    EXPECT_EQ(facts.common_name, enrolled.center_id.value);
    EXPECT_EQ(enrolled.center_name, "alpha");
    EXPECT_EQ(enrolled.ca_pem, server.authority.certificate_pem);
    EXPECT_EQ(server.store.sql("SELECT certificate_serial FROM center WHERE name = 'alpha'"), facts.serial_hex);
    EXPECT_EQ(server.store.sql("SELECT string_agg(action, ' ' ORDER BY id) FROM audit_log"),
              "enrolment_token.create center.enrol");
    EXPECT_EQ(server.store.sql("SELECT count(*) FROM enrolment_token WHERE secret_sha256 = '" + token.secret + "'"),
              "0");
}

TEST(Enrolment, ATokenIsUsedOnce)
{
    AgentServer server;
    const auto token = server.io.run(server.enrolment->create_token(kAdmin, "alpha", 60s)).value();
    ASSERT_TRUE(server.io.run(server.enrolment->enrol(token.secret, signing_request(), "r")));

    const auto again = server.io.run(server.enrolment->enrol(token.secret, signing_request(), "r"));

    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, Errc::kUnauthenticated);
}

TEST(Enrolment, TwoAgentsWithOneTokenGetOneCertificate)
{
    AgentServer server;
    const auto token = server.io.run(server.enrolment->create_token(kAdmin, "alpha", 60s)).value();
    auto one = server.io.spawn(server.enrolment->enrol(token.secret, signing_request(), "r"));
    auto two = server.io.spawn(server.enrolment->enrol(token.secret, signing_request(), "r"));

    const bool first = server.io.get(std::move(one)).has_value();
    const bool second = server.io.get(std::move(two)).has_value();

    EXPECT_NE(first, second);
}

TEST(Enrolment, GuessersAreSlowedDownButOthersAreNot)
{
    AgentServer server;
    const auto token = server.io.run(server.enrolment->create_token(kAdmin, "alpha", 60s)).value();
    const auto try_from = [&](const std::string& secret, const std::string& address) {
        const auto outcome = server.io.run(server.enrolment->enrol(secret, signing_request(), "r", address));
        return outcome ? Errc::kInternal : outcome.error().code;
    };

    int limited = 0;
    for (int i = 0; i < 40; ++i) {
        if (try_from("fen_guess", "198.51.100.7:" + std::to_string(1000 + i)) == Errc::kTooMany) ++limited;
    }
    EXPECT_GE(limited, 10);
    EXPECT_EQ(try_from("fen_guess", "198.51.100.8:1"), Errc::kUnauthenticated);
    EXPECT_TRUE(server.io.run(server.enrolment->enrol(token.secret, signing_request(), "r", "198.51.100.8:1")));
}

TEST(Enrolment, AnExpiredTokenIsRefused)
{
    AgentServer server;
    const auto token = server.io.run(server.enrolment->create_token(kAdmin, "alpha", 60s)).value();
    server.store.sql("UPDATE enrolment_token SET expires_at = now() - interval '1 second'");

    const auto enrolled = server.io.run(server.enrolment->enrol(token.secret, signing_request(), "r"));

    ASSERT_FALSE(enrolled);
    EXPECT_EQ(enrolled.error().code, Errc::kUnauthenticated);
    EXPECT_EQ(server.store.sql("SELECT count(*) FROM center"), "0");
}

TEST(Enrolment, AnUnknownTokenIsRefused)
{
    AgentServer server;
    const auto enrolled = server.io.run(server.enrolment->enrol("fen_wrong", signing_request(), "r"));

    ASSERT_FALSE(enrolled);
    EXPECT_EQ(enrolled.error().code, Errc::kUnauthenticated);
}

TEST(Enrolment, ABadSigningRequestLeavesTheTokenUnused)
{
    AgentServer server;
    const auto token = server.io.run(server.enrolment->create_token(kAdmin, "alpha", 60s)).value();

    const auto refused = server.io.run(server.enrolment->enrol(token.secret, "nonsense", "r"));

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::kInvalid);
    const Error error = refused.error();
    ASSERT_EQ(error.fields.size(), 1U);
    EXPECT_EQ(error.fields[0].field, "signing_request_pem");
    EXPECT_EQ(server.store.sql("SELECT count(*) FROM center"), "0");
    EXPECT_TRUE(server.io.run(server.enrolment->enrol(token.secret, signing_request(), "r")));
}

TEST(Enrolment, CenterNamesArePlain)
{
    AgentServer server;
    for (const std::string name : {"", "a/b", "-a", "a b", "ä", "ctr_01ARZ3NDEKTSV4RRFFQ69G5FAV"})
        EXPECT_FALSE(server.io.run(server.enrolment->create_token(kAdmin, name, 60s))) << name;
}

TEST(Enrolment, AnUnusedTokenCanBeWithdrawn)
{
    AgentServer server;
    const auto unused = server.io.run(server.enrolment->create_token(kAdmin, "alpha", 60s)).value();
    const auto used = server.io.run(server.enrolment->create_token(kAdmin, "beta", 60s)).value();
    ASSERT_TRUE(server.io.run(server.enrolment->enrol(used.secret, signing_request(), "r")));

    const auto withdraw = [&](const std::string& id) {
        const Result<void> done = server.io.run(server.enrolment->withdraw_token(kAdmin, id));
        return done ? Errc{} : done.error().code;
    };
    EXPECT_EQ(withdraw(unused.record.id.value), Errc{});
    EXPECT_EQ(withdraw(unused.record.id.value), Errc{}) << "again";
    EXPECT_EQ(withdraw(used.record.id.value), Errc::kConflict);
    EXPECT_EQ(withdraw("enr_none"), Errc::kNotFound);

    EXPECT_EQ(server.io.run(server.enrolment->enrol(unused.secret, signing_request(), "r")).error().code,
              Errc::kUnauthenticated);
    EXPECT_EQ(server.store.sql("SELECT count(*) FROM audit_log WHERE action = 'enrolment_token.withdraw'"), "1");
}

TEST(Enrolment, RevocationMakesEarlierTokensOfTheNameWorthless)
{
    AgentServer server;
    const auto enrolled = server.enrol("alpha");
    const auto early = server.io.run(server.enrolment->create_token(kAdmin, "alpha", 60s)).value();
    CentersService centers(server.store.database());
    ASSERT_TRUE(server.io.run(centers.revoke(kAdmin, "alpha")));

    EXPECT_FALSE(server.io.run(server.enrolment->enrol(early.secret, signing_request(), "r")));
    const auto late = server.io.run(server.enrolment->create_token(kAdmin, "alpha", 60s)).value();
    const auto again = server.io.run(server.enrolment->enrol(late.secret, signing_request(), "r")).value();

    EXPECT_EQ(again.center_id, enrolled.center);
    EXPECT_EQ(server.store.sql("SELECT revoked_at IS NULL FROM center"), "t");
}

TEST(Centers, DrainingKeepsToTheVersion)
{
    AgentServer server;
    server.enrol("alpha");
    CentersService centers(server.store.database());
    const auto is = [](std::int64_t wanted) { return [wanted](std::int64_t version) { return version == wanted; }; };
    const std::int64_t version = server.io.run(centers.get("alpha")).value().version;

    const auto stale = server.io.run(centers.change(kAdmin, "alpha", {.drained = true}, is(version + 1))).value();
    const auto drained = server.io.run(centers.change(kAdmin, "alpha", {.drained = true}, is(version))).value();

    EXPECT_FALSE(stale);
    ASSERT_TRUE(drained);
    EXPECT_TRUE(drained->drained);
    EXPECT_EQ(drained->version, version + 1);
    EXPECT_EQ(drained->drain_reason, "");
    EXPECT_EQ(server.io.run(centers.get("beta")).error().code, Errc::kNotFound);
}

TEST(Centers, ADrainHasItsReasonUntilItEnds)
{
    AgentServer server;
    server.enrol("alpha");
    CentersService centers(server.store.database());
    const auto change = [&](CenterChange wanted) {
        return server.io.run(centers.change(kAdmin, "alpha", std::move(wanted), [](std::int64_t) { return true; }))
            .value()
            .value();
    };

    EXPECT_EQ(change({.drained = true, .drain_reason = "new kernel"}).drain_reason, "new kernel");
    EXPECT_EQ(change({.probe_share = 0.5}).drain_reason, "new kernel");
    EXPECT_EQ(change({.drained = true, .drain_reason = "new disks, too"}).drain_reason, "new disks, too");
    EXPECT_EQ(change({.drained = true}).drain_reason, "new disks, too");
    EXPECT_EQ(change({.drained = false}).drain_reason, "");
    EXPECT_EQ(
        server.store.sql("SELECT string_agg(action || ' ' || (detail ->> 'reason'), ', ' ORDER BY id) FROM audit_log "
                         "WHERE action LIKE 'center.%drain'"),
        "center.drain new kernel, center.drain new disks, too, center.undrain ");
}

TEST(Centers, ListsArePages)
{
    AgentServer server;
    for (const char* name : {"gamma", "alpha", "beta"})
        server.enrol(name);
    CentersService centers(server.store.database());

    const Page<CenterRecord> first = server.io.run(centers.list(2, "")).value();
    const Page<CenterRecord> second = server.io.run(centers.list(2, first.next_after)).value();

    ASSERT_EQ(first.items.size(), 2U);
    EXPECT_EQ(first.items[0].name, "alpha");
    EXPECT_EQ(first.items[1].name, "beta");
    ASSERT_EQ(second.items.size(), 1U);
    EXPECT_EQ(second.items[0].name, "gamma");
    EXPECT_EQ(second.next_after, "");
}

} // namespace
} // namespace fathom::server
