#include "server/identity/audit.hpp"
#include "server/identity/audit_api.hpp"
#include "server/identity/audit_chain.hpp"
#include "server/identity/audit_chain_store.hpp"
#include "tests/server/identity/session_fixture.hpp"

namespace fathom::server {
namespace {

using test::run_sql;

class AuditChain : public SessionFixture {
  protected:
    AuditChain() { add_audit_routes(api_, database_, compute_); }

    void act(const std::string& subject)
    {
        const auto work = [&](pqxx::work& transaction) -> Result<void> {
            audit(transaction, "tok_1", "thing.change", subject, "req_1", {{"why", "of it"}});
            return {};
        };
        ASSERT_TRUE(io_.run(database_.run(work)));
    }
    void chain()
    {
        const auto work = [](pqxx::work& transaction) { return chain_audit_log(transaction); };
        ASSERT_TRUE(io_.run(database_.run(work)));
    }
    Json verify(const std::string& known = "")
    {
        std::map<std::string, std::string> query;
        if (!known.empty()) query["known"] = known;
        return json_of(answer({.path = "/api/v1/audit-log:verify", .token = admin_, .query = query}));
    }
    /// As who owns the database can.
    void tamper(const std::string& statement)
    {
        run_sql(url_, "ALTER TABLE audit_log DISABLE TRIGGER USER");
        run_sql(url_, statement);
    }
};

TEST_F(AuditChain, HoldsWhatWasDone)
{
    act("a");
    act("b");
    EXPECT_EQ(verify()["unchained"], 3) << "the admin's token, a, b";
    chain();
    act("c");
    chain();

    const Json check = verify();

    EXPECT_EQ(check["good"], true);
    EXPECT_EQ(check["acts"], 4);
    EXPECT_EQ(check["unchained"], 0);
    EXPECT_EQ(verify("2:" + run_sql(url_, "SELECT chain_sha256 FROM audit_log WHERE chain_number = 2"))["good"], true);
}

TEST_F(AuditChain, ShowsAnActThatWasChanged)
{
    act("a");
    act("b");
    chain();
    tamper("UPDATE audit_log SET subject = 'x' WHERE chain_number = 2");

    EXPECT_EQ(verify()["fault"], "act 2, or one before it, was changed");
}

TEST_F(AuditChain, ShowsAnActThatWasTakenOut)
{
    act("a");
    act("b");
    chain();
    const Json before = verify();
    tamper("DELETE FROM audit_log WHERE chain_number = 2");
    EXPECT_EQ(verify()["fault"], "act 2 is missing");

    tamper("DELETE FROM audit_log WHERE chain_number = 3");
    EXPECT_EQ(verify()["fault"], "the last act is number 3, and the chain ends at 1");
}

TEST_F(AuditChain, ThatWasMadeAnewIsShownByAHashThatWasNoted)
{
    act("a");
    chain();
    const Json before = verify();
    const std::string known = before["last_number"].dump() + ":" + before["last_sha256"].get<std::string>();
    tamper("UPDATE audit_log SET subject = 'x', chain_number = NULL, chain_sha256 = NULL");
    run_sql(url_, "UPDATE audit_chain SET last_number = 0, last_sha256 = repeat('0', 64)");
    chain();

    EXPECT_EQ(verify()["good"], true) << "by itself it looks right";
    EXPECT_EQ(verify(known)["fault"], "act 2 had another hash when it was noted");
    EXPECT_EQ(verify("9:" + std::string(64, '0'))["good"], false) << "not there yet";
    EXPECT_EQ(verify("x")["errors"][0]["field"], "known");
}

TEST_F(AuditChain, IsNotChangedByStatements)
{
    act("a");
    EXPECT_THROW(run_sql(url_, "UPDATE audit_log SET subject = 'x'"), std::exception);
    chain();
    EXPECT_THROW(run_sql(url_, "UPDATE audit_log SET chain_sha256 = 'x'"), std::exception);
}

TEST(AuditHash, TellsFieldsApart)
{
    const ChainedAct one{.number = 1,
                         .at_us = 5,
                         .actor = "ab",
                         .action = "c",
                         .subject = {},
                         .request_id = {},
                         .detail = {},
                         .sha256 = {}};
    const ChainedAct other{.number = 1,
                           .at_us = 5,
                           .actor = "a",
                           .action = "bc",
                           .subject = {},
                           .request_id = {},
                           .detail = {},
                           .sha256 = {}};
    const std::string zeros(64, '0');

    EXPECT_NE(audit_hash(zeros, one), audit_hash(zeros, other));
    EXPECT_NE(audit_hash(zeros, one), audit_hash(std::string(64, '1'), one));
}

} // namespace
} // namespace fathom::server
