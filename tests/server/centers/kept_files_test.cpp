#include "server/centers/kept_files.hpp"
#include "server/store/notifier.hpp"
#include "tests/server/centers/support/test_agent.hpp"

#include <set>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;
using test::AgentServer;
using test::TestAgent;
using testing::HasSubstr;

constexpr std::int64_t kPiece = link::kMaxKeptPieceBytes;

Catalog reading_catalog()
{
    Catalog catalog = test::golden_catalog();
    catalog.facts = {{"reads_kept_files", true}};
    return catalog;
}

KeptRange range_of(const CenterId& center, std::int64_t offset_bytes, std::int64_t size_bytes)
{
    return {.center = center, .sha256 = std::string(64, 'a'), .offset_bytes = offset_bytes, .size_bytes = size_bytes};
}

TEST(KeptFiles, AreReadPieceByPieceByTheAgent)
{
    AgentServer server;
    const auto enrolled = server.enrol("alpha");
    TestAgent agent(server, &enrolled.credential);
    agent.greet(reading_catalog());
    KeptFiles files(server.store.database());

    auto read = server.io.spawn(files.read(range_of(enrolled.center, 100, kPiece + 3), 30s));
    std::map<std::int64_t, link::KeptFileQuery> queries;
    for (int i = 0; i < 2; ++i) {
        auto query = agent.expect<link::KeptFileQuery>();
        EXPECT_EQ(query.sha256, std::string(64, 'a'));
        queries.emplace(query.offset_bytes, query);
    }
    ASSERT_EQ(queries.size(), 2U);
    EXPECT_EQ(queries.at(100).most_bytes, kPiece);
    EXPECT_EQ(queries.at(100 + kPiece).most_bytes, 3);
    // The later one first: their order is that of their bytes.
    agent.send(link::KeptFilePiece{.query_id = queries.at(100 + kPiece).query_id, .data = "end"});
    agent.send(link::KeptFilePiece{.query_id = queries.at(100).query_id, .data = std::string(kPiece, '\0')});

    EXPECT_TRUE(read.get().value() == std::string(kPiece, '\0') + "end");
    EXPECT_EQ(server.store.sql("SELECT count(*) FROM kept_file_question"), "0");
}

TEST(KeptFiles, AreHandedOnWhenTheyComeWithoutALookAtTheDatabase)
{
    AgentServer server;
    const auto enrolled = server.enrol("alpha");
    TestAgent agent(server, &enrolled.credential);
    agent.greet(reading_catalog());
    KeptFiles files(server.store.database(), 10min); // longer than anybody waits here
    Notifier notifier(server.store.url());
    files.subscribe(notifier);
    notifier.start();

    auto read = server.io.spawn(files.read(range_of(enrolled.center, 0, kPiece + 1), 5min));
    for (int i = 0; i < 2; ++i) {
        const auto query = agent.expect<link::KeptFileQuery>();
        agent.send(link::KeptFilePiece{.query_id = query.query_id,
                                       .data = std::string(static_cast<std::size_t>(query.most_bytes), 'x')});
    }
    EXPECT_EQ(read.get().value().size(), static_cast<std::size_t>(kPiece + 1));

    auto refused = server.io.spawn(files.read(range_of(enrolled.center, 0, 1), 5min));
    const auto query = agent.expect<link::KeptFileQuery>();
    agent.send(link::KeptFilePiece{.query_id = query.query_id, .refusal = Error{Errc::kUnavailable, "it is broken"}});
    EXPECT_EQ(refused.get().error().code, Errc::kUnavailable);
    notifier.stop();
}

TEST(KeptFiles, AreRefusedInTheAgentsWords)
{
    AgentServer server;
    const auto enrolled = server.enrol("alpha");
    TestAgent agent(server, &enrolled.credential);
    agent.greet(reading_catalog());
    KeptFiles files(server.store.database());

    auto read = server.io.spawn(files.read(range_of(enrolled.center, 0, 10), 30s));
    const auto query = agent.expect<link::KeptFileQuery>();
    agent.send(link::KeptFilePiece{.query_id = query.query_id, .refusal = Error{Errc::kNotFound, "no copy is kept"}});

    const Error refusal = read.get().error();
    EXPECT_EQ(refusal.code, Errc::kNotFound);
    EXPECT_EQ(refusal.detail, "center alpha: no copy is kept");
}

TEST(KeptFiles, LeaveTheLineOfTheirReaderToOthersWhileTheCenterIsWaitedFor)
{
    AgentServer server;
    const auto enrolled = server.enrol("alpha");
    TestAgent agent(server, &enrolled.credential);
    agent.greet(reading_catalog());
    KeptFiles files(server.store.database());
    const TokenTurns turns{std::make_shared<TokenLine>(1), "tok_a"};

    auto read = server.io.spawn(files.read(range_of(enrolled.center, 0, 5), 30s, turns));
    const auto query = agent.expect<link::KeptFileQuery>();
    std::shared_ptr<const void> turn = server.io.run(turns.take());
    EXPECT_NE(turn, nullptr) << "another request of the same token";
    agent.send(link::KeptFilePiece{.query_id = query.query_id, .data = "bytes"});
    turn.reset();

    EXPECT_EQ(read.get().value(), "bytes");
}

TEST(KeptFiles, AreAskedForAgainWhereTheDatabaseHasLostTheQuestion)
{
    AgentServer server;
    const auto enrolled = server.enrol("alpha");
    TestAgent agent(server, &enrolled.credential);
    agent.greet(reading_catalog());
    KeptFiles files(server.store.database());

    auto read = server.io.spawn(files.read(range_of(enrolled.center, 0, 10), 30s));
    agent.expect<link::KeptFileQuery>();
    server.store.sql("DELETE FROM kept_file_question"); // as a crash or a failover empties it

    const Error lost = read.get().error();
    EXPECT_EQ(lost.code, Errc::kUnavailable) << "which clients come back for: the copy may well be there";
    EXPECT_EQ(lost.detail, "center alpha: what was asked of it was lost; ask again");
}

TEST(KeptFiles, AreTakenFromTheirOwnCenterAndInTimeOnly)
{
    AgentServer server;
    const auto alpha = server.enrol("alpha");
    const auto beta = server.enrol("beta");
    TestAgent agent(server, &alpha.credential);
    agent.greet(reading_catalog());
    TestAgent other(server, &beta.credential);
    other.greet(reading_catalog());
    KeptFiles files(server.store.database());

    auto read = server.io.spawn(files.read(range_of(alpha.center, 0, 5), 8s));
    const auto query = agent.expect<link::KeptFileQuery>();
    other.send_and_wait(link::KeptFilePiece{.query_id = query.query_id, .data = "false"});

    const Error late = read.get().error();
    EXPECT_EQ(late.code, Errc::kDeadline);
    EXPECT_THAT(late.detail, HasSubstr("center alpha did not answer within 8 s"));
    agent.send_and_wait(link::KeptFilePiece{.query_id = query.query_id, .data = "right"});
    EXPECT_EQ(server.store.sql("SELECT count(*) FROM kept_file_question"), "0") << "nobody waits for it any more";
}

TEST(KeptFiles, AreNotAskedOfThoseWhoCannotAnswer)
{
    AgentServer server;
    const auto enrolled = server.enrol("alpha");
    TestAgent agent(server, &enrolled.credential);
    agent.greet();
    KeptFiles files(server.store.database());

    EXPECT_EQ(server.io.run(files.read(range_of(enrolled.center, 0, 5), 30s)).error().code, Errc::kInfeasible)
        << "an older agent";
    server.store.sql("UPDATE center SET state = 'suspect'");
    const Error away = server.io.run(files.read(range_of(enrolled.center, 0, 5), 30s)).error();
    EXPECT_EQ(away.code, Errc::kUnavailable);
    EXPECT_THAT(away.detail, HasSubstr("it is not connected: suspect"));
    EXPECT_EQ(server.io.run(files.read(range_of(CenterId::make(), 0, 5), 30s)).error().code, Errc::kNotFound);
}

TEST(KeptFiles, AreAskedForAFewPiecesAtATime)
{
    AgentServer server;
    const auto enrolled = server.enrol("alpha");
    TestAgent agent(server, &enrolled.credential);
    agent.greet(reading_catalog());
    KeptFiles files(server.store.database());

    std::vector<std::future<Result<std::string>>> reads;
    for (int i = 0; i < 4; ++i)
        reads.push_back(server.io.spawn(files.read(range_of(enrolled.center, 0, 4 * kPiece), 60s)));
    // All that are wanted are there, and only some of them on their way.
    ASSERT_TRUE(
        fathom::test::eventually([&] { return server.store.sql("SELECT count(*) FROM kept_file_question") == "16"; }));
    std::set<MessageId> asked;
    for (int answered = 0; answered < 16; ++answered) {
        const auto query = agent.expect<link::KeptFileQuery>();
        EXPECT_TRUE(asked.insert(query.query_id).second) << "asked for twice";
        agent.send(link::KeptFilePiece{.query_id = query.query_id, .data = std::string(kPiece, 'x')});
    }

    for (auto& read : reads)
        EXPECT_EQ(read.get().value().size(), static_cast<std::size_t>(4 * kPiece));
}

} // namespace
} // namespace fathom::server
