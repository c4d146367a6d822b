#include "core/net/network.hpp"
#include "server/identity/failure_limiter.hpp"
#include "server/identity/token_cache.hpp"

#include <gtest/gtest.h>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;
using SteadyTime = FailureLimiter::SteadyTime;

const SteadyTime kStart{1000s};

TEST(FailureLimiter, AllowsABurstAndThenARate)
{
    FailureLimiter limiter(3, 0.5, 10);
    for (int i = 0; i < 3; ++i) {
        EXPECT_TRUE(limiter.allows("a", kStart));
        limiter.record_failure("a", kStart);
    }

    EXPECT_FALSE(limiter.allows("a", kStart));
    EXPECT_TRUE(limiter.allows("b", kStart)) << "others are not touched";
    EXPECT_FALSE(limiter.allows("a", kStart + 1s));
    EXPECT_TRUE(limiter.allows("a", kStart + 2s));
}

TEST(FailureLimiter, AsManyMayTryAtOnceAsMayFail)
{
    FailureLimiter limiter(3, 0.5, 10);
    for (int i = 0; i < 3; ++i)
        EXPECT_TRUE(limiter.take("a", kStart));

    EXPECT_FALSE(limiter.take("a", kStart)) << "none of them is known to be right yet";
    limiter.give_back("a", kStart);
    EXPECT_TRUE(limiter.take("a", kStart));
    EXPECT_FALSE(limiter.take("a", kStart + 1s));
    EXPECT_TRUE(limiter.take("a", kStart + 2s));
}

TEST(FailureLimiter, MemoryIsBounded)
{
    FailureLimiter limiter(1, 0.001, 3);
    limiter.record_failure("old", kStart);
    for (int i = 0; i < 100; ++i)
        limiter.record_failure("n" + std::to_string(i), kStart + 1s);

    EXPECT_TRUE(limiter.allows("old", kStart + 1s)) << "the oldest one was forgotten";
    EXPECT_FALSE(limiter.allows("n99", kStart + 1s));
}

TEST(NetworkOf, IsTheAddressOrTheSlash64)
{
    EXPECT_EQ(net::network_of("192.0.2.7:51234"), "192.0.2.7");
    EXPECT_EQ(net::network_of("[2001:db8:1:2:3:4:5:6]:443"), "2001:db8:1:2::/64");
    EXPECT_EQ(net::network_of("[2001:db8:1:2:ffff::1]:1"), "2001:db8:1:2::/64");
    EXPECT_EQ(net::network_of("[::ffff:192.0.2.7]:1"), "192.0.2.7") << "as a listener on :: sees it";
    EXPECT_EQ(net::network_of(""), "");
}

TEST(TokenCache, ForgetsAfterFiveSecondsAndAtExpiry)
{
    TokenCache cache(10);
    const Timestamp wall{std::chrono::seconds(5000)};
    UsableToken token;
    token.principal.name = "me";
    token.expires_at = wall + 3s;
    cache.put("hash", token, kStart);

    EXPECT_TRUE(cache.find("hash", kStart + 5s, wall));
    EXPECT_FALSE(cache.find("hash", kStart + 6s, wall));
    EXPECT_FALSE(cache.find("hash", kStart, wall + 3s));
    EXPECT_TRUE(cache.knows("hash"));
    EXPECT_FALSE(cache.find("other", kStart, wall));
}

TEST(TokenCache, ClearMakesEveryEntryStale)
{
    TokenCache cache(10);
    cache.put("hash", {}, kStart);

    cache.clear();

    EXPECT_FALSE(cache.find("hash", kStart, Timestamp{}));
    EXPECT_TRUE(cache.knows("hash"));
}

TEST(TokenCache, IsBounded)
{
    TokenCache cache(100);

    for (int i = 0; i < 1000; ++i)
        cache.put(std::to_string(i), {}, kStart);

    int known = 0;
    for (int i = 0; i < 1000; ++i)
        known += cache.knows(std::to_string(i)) ? 1 : 0;
    EXPECT_LE(known, 100);
    EXPECT_TRUE(cache.knows("999"));
}

} // namespace
} // namespace fathom::server
