#include "server/store/connection_string.hpp"
#include "server/store/database.hpp"
#include "server/store/sql_array.hpp"
#include "tests/support/temporary_postgres.hpp"

#include <gtest/gtest.h>
#include <pqxx/pqxx>

#include <cmath>
#include <limits>

namespace fathom::server {
namespace {

TEST(SqlArray, StringsComeBackAsTheyWere)
{
    Metrics metrics;
    Database database({.url = test::empty_database(), .connections = 1}, metrics);
    const std::vector<std::string> values{"",         "plain", "NULL", "a,b", "{}", "quote \" and \\ back",
                                          " spaces ", "ü\n\t"};

    const auto work = [&](pqxx::work& transaction) -> Result<std::vector<std::string>> {
        std::vector<std::string> back;
        for (const pqxx::row& row : transaction.exec_params("SELECT unnest($1::text[])", sql_array(values)))
            back.push_back(row[0].as<std::string>());
        return back;
    };
    const Result<std::vector<std::string>> back = database.blocking_run(work);

    ASSERT_TRUE(back);
    EXPECT_EQ(*back, values);
}

TEST(SqlArray, WritesNullsAndNumbers)
{
    const std::vector<std::optional<std::string>> texts{"a", std::nullopt};
    const std::vector<std::int64_t> integers{1, std::numeric_limits<std::int64_t>::min()};
    const std::vector<double> numbers{0.1, 1e300, std::nan(""), -std::numeric_limits<double>::infinity()};

    EXPECT_EQ(sql_array(texts), R"({"a",NULL})");
    EXPECT_EQ(sql_array(integers), "{1,-9223372036854775808}");
    EXPECT_EQ(sql_array(numbers), "{0.1,1e+300,NaN,-Infinity}");
    EXPECT_EQ(sql_array(std::span<const std::string>()), "{}");
}

TEST(ConnectionString, KeepsWhatTheUrlSaysAndAddsTimeLimits)
{
    const Result<std::string> text = connection_string("postgresql://me:se'cret@db.example/fathom?connect_timeout=9");

    ASSERT_TRUE(text) << text.error().detail;
    EXPECT_NE(text->find("host='db.example'"), std::string::npos);
    EXPECT_NE(text->find("password='se\\'cret'"), std::string::npos);
    EXPECT_NE(text->find("connect_timeout='9'"), std::string::npos);
    EXPECT_NE(text->find("tcp_user_timeout='30000'"), std::string::npos);
}

TEST(ConnectionString, RefusesNonsenseWithoutRepeatingIt)
{
    const Result<std::string> text = connection_string("password='hunter2");

    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().code, Errc::kInvalid);
    EXPECT_EQ(text.error().detail.find("hunter2"), std::string::npos);
}

TEST(ToolConnection, KeepsThePasswordOffTheCommandLine)
{
    const Result<ToolConnection> connection = tool_connection("postgresql://me:se'cret@db.example/fathom");

    ASSERT_TRUE(connection) << connection.error().detail;
    EXPECT_NE(connection->text.find("host='db.example'"), std::string::npos);
    EXPECT_EQ(connection->text.find("cret"), std::string::npos);
    EXPECT_EQ(connection->environment, std::vector<std::string>{"PGPASSWORD=se'cret"});
}

TEST(ToolConnection, RefusesASecretThatCannotBeHandedOn)
{
    EXPECT_FALSE(tool_connection("host=db.example sslpassword=hunter2"));
}

TEST(WithoutPassword, LeavesAUrlWithoutOneAsItIs)
{
    EXPECT_EQ(without_password("postgresql://me@db.example/fathom").value(), "postgresql://me@db.example/fathom");
    EXPECT_EQ(without_password("postgresql://me:hunter2@db.example/fathom").value(),
              "user='me' password='***' dbname='fathom' host='db.example'");
}

} // namespace
} // namespace fathom::server
