#include "server/identity/authority.hpp"
#include "tests/support/temporary_postgres.hpp"

#include <gtest/gtest.h>

#include <future>

namespace fathom::server {
namespace {

TEST(Authority, IsMadeOnceAndSharedByAllReplicas)
{
    const std::string url = test::migrated_database();
    std::vector<std::future<net::Credential>> replicas;
    for (int i = 0; i < 4; ++i) {
        replicas.push_back(std::async(std::launch::async, [&] {
            Metrics metrics;
            Database database({.url = url, .connections = 1}, metrics);
            return load_authority(database).value();
        }));
    }

    const net::Credential first = replicas.front().get();
    for (std::size_t i = 1; i < replicas.size(); ++i) {
        const net::Credential other = replicas[i].get();
        EXPECT_EQ(other.certificate_pem, first.certificate_pem);
        EXPECT_EQ(other.key_pem, first.key_pem);
    }
    EXPECT_TRUE(net::read_certificate(first.certificate_pem));
    EXPECT_EQ(test::run_sql(url, "SELECT count(*) FROM authority"), "1");
}

} // namespace
} // namespace fathom::server
