// `fathom audit list`: which acts are asked for.
#include "tests/cli/client/fake_server.hpp"

#include <gtest/gtest.h>

namespace fathom::cli::test {
namespace {

TEST(AuditList, AsksOnlyForWhatFits)
{
    const FakeServer server({{"GET /api/v1/audit-log", {answer(200, R"({"items":[],"next_page_token":null})")}}});

    const Ran ran = fathom(server, {"audit", "list", "--actor", "tok_1", "--since", "2026-11-01T00:00:00Z", "--until",
                                    "2026-11-02T00:00:00Z"});

    ASSERT_EQ(ran.code, 0) << ran.err;
    const net::Request asked = server.requests().back();
    EXPECT_EQ(asked.query.at("actor"), "tok_1");
    EXPECT_EQ(asked.query.at("since"), "2026-11-01T00:00:00Z");
    EXPECT_EQ(asked.query.at("until"), "2026-11-02T00:00:00Z");
    EXPECT_FALSE(asked.query.contains("subject"));
}

} // namespace
} // namespace fathom::cli::test
