#include "server/api/system_api.hpp"
#include "tests/server_identity/api_fixture.hpp"

namespace fathom::server {
namespace {

class SystemApiTest : public ApiFixture {
  protected:
    SystemApiTest()
    {
        add_system_routes(router_, database_, metrics_, [this] { return embedded_state_; });
    }
    std::string embedded_state_ = "ok";
};

TEST_F(SystemApiTest, IsAliveAndReady)
{
    EXPECT_EQ(answer({.path = "/healthz"}).body, R"({"status":"ok"})");

    const net::Response ready = answer({.path = "/readyz"});
    EXPECT_EQ(ready.status, 200);
    EXPECT_EQ(json_of(ready)["checks"]["database"], "ok");
    EXPECT_EQ(json_of(ready)["checks"]["embedded_postgres"], "ok");
}

TEST_F(SystemApiTest, IsNotReadyWithoutItsDatabase)
{
    embedded_state_ = "ended with signal 9 (SIGKILL); starting again";
    EXPECT_EQ(answer({.path = "/readyz"}).status, 503);
    embedded_state_ = "ok";
    database_.stop();

    const net::Response response = answer({.path = "/readyz"});

    EXPECT_EQ(response.status, 503);
    EXPECT_NE(json_of(response)["checks"]["database"], "ok");
    EXPECT_EQ(answer({.path = "/healthz"}).status, 200);
}

TEST_F(SystemApiTest, ExposesMetrics)
{
    const net::Response response = answer({.path = "/metrics"});

    EXPECT_EQ(response.status, 200);
    EXPECT_NE(response.body.find("fathom_database_transaction_seconds"), std::string::npos);
}

TEST_F(SystemApiTest, ServesTheOpenApiDocumentAsJson)
{
    const net::Response response = answer({.path = "/openapi.json"});

    ASSERT_EQ(response.status, 200) << response.body;
    EXPECT_TRUE(json_of(response)["openapi"].get<std::string>().starts_with("3.1"));
}

} // namespace
} // namespace fathom::server
