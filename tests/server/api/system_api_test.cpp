#include "server/api/system_api.hpp"
#include "tests/server/identity/api_fixture.hpp"

#include <pqxx/pqxx>

#include <thread>

namespace fathom::server {
namespace {

class SystemApiTest : public ApiFixture {
  protected:
    SystemApiTest()
    {
        add_system_routes(router_, database_, [this] { return embedded_state_; });
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
    std::this_thread::sleep_for(std::chrono::milliseconds(1100)); // an answer counts for a second

    const net::Response response = answer({.path = "/readyz"});

    EXPECT_EQ(response.status, 503);
    EXPECT_NE(json_of(response)["checks"]["database"], "ok");
    EXPECT_EQ(answer({.path = "/healthz"}).status, 200);
}

TEST_F(SystemApiTest, IsReadyButDegradedWhileTheDiskIsNearlyFull)
{
    bool is_low = true;
    net::Router router;
    add_system_routes(router, database_, nullptr, [&is_low] { return is_low; });
    const auto match = router.match(net::Method::kGet, "/readyz", false);
    const auto ready = [&] { return io_.run((*std::get<net::Router::Http>(match).handler)({})); };

    const net::Response low = ready();

    EXPECT_EQ(low.status, 200) << "reports of agents go on";
    EXPECT_EQ(json_of(low), (Json{{"status", "degraded"}, {"checks", {{"database", "ok"}, {"disk", "low"}}}}));
    is_low = false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1100)); // an answer counts for a second
    EXPECT_EQ(json_of(ready()), (Json{{"status", "ok"}, {"checks", {{"database", "ok"}, {"disk", "ok"}}}}));
}

TEST_F(SystemApiTest, TellsStrangersNothingOfItsDatabase)
{
    Database wrong({.url = "postgresql://secret_user:wrong@127.0.0.1:1/secret_base", .connections = 1}, metrics_);
    net::Router router;
    add_system_routes(router, wrong, [] { return "ended; the end of /secret/log: secret_user"; });
    const auto match = router.match(net::Method::kGet, "/readyz", false);

    const net::Response response = io_.run((*std::get<net::Router::Http>(match).handler)({}));

    EXPECT_EQ(response.status, 503);
    EXPECT_EQ(json_of(response),
              (Json{{"status", "unavailable"},
                    {"checks", {{"database", "unavailable"}, {"embedded_postgres", "unavailable"}}}}));
    const Result<void> failed = io_.run(wrong.run([](pqxx::work&) -> Result<void> { return {}; }));
    EXPECT_EQ(failed.error().detail.find("127.0.0.1"), std::string::npos) << failed.error().detail;
    EXPECT_NE(wrong.check().error().detail.find("127.0.0.1"), std::string::npos) << "the operator is told at the start";
}

TEST_F(SystemApiTest, LooksForItsDatabaseOnceASecond)
{
    const auto transactions = [this] {
        const std::string text = metrics_.expose();
        const std::string name = "fathom_database_transaction_seconds_count ";
        return std::stod(text.substr(text.find(name) + name.size()));
    };
    answer({.path = "/readyz"});
    const double before = transactions();
    const auto began = std::chrono::steady_clock::now();

    for (int i = 0; i < 100; ++i)
        EXPECT_EQ(answer({.path = "/readyz"}).status, 200);

    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    EXPECT_LE(transactions(), before + took.count() + 2); // slow machines take more than a second
}

TEST_F(SystemApiTest, ExposesMetrics)
{
    add_metrics_route(api_, metrics_);
    const net::Response response = answer({.path = "/metrics", .token = make_token(Role::kUser)});

    EXPECT_EQ(answer({.path = "/metrics"}).status, 401) << "they name centers and budgets";
    EXPECT_EQ(response.status, 200);
    EXPECT_NE(response.body.find("fathom_database_transaction_seconds"), std::string::npos);
}

TEST_F(SystemApiTest, ExposesMetricsToAllWhereThatIsSaid)
{
    add_open_metrics_route(router_, metrics_);

    EXPECT_EQ(answer({.path = "/metrics"}).status, 200);
}

TEST_F(SystemApiTest, ServesTheOpenApiDocumentAsJson)
{
    const net::Response response = answer({.path = "/openapi.json"});

    ASSERT_EQ(response.status, 200) << response.body;
    EXPECT_TRUE(json_of(response)["openapi"].get<std::string>().starts_with("3.1"));
}

} // namespace
} // namespace fathom::server
