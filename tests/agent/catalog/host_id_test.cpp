#include "agent/catalog/host_id.hpp"

#include <gmock/gmock.h>

namespace fathom::agent {
namespace {

TEST(HostId, IsAHashOfTheStartOfTheHostAndTheSameForAllAgentsThere)
{
    const std::string one = host_id("7a1c6f5e-0b8d-4c56-9c1e-3f2a1b0c9d8e\n");

    EXPECT_THAT(one, testing::MatchesRegex("[0-9a-f]{64}"));
    EXPECT_EQ(host_id("7a1c6f5e-0b8d-4c56-9c1e-3f2a1b0c9d8e\n"), one);
    EXPECT_NE(host_id("7a1c6f5e-0b8d-4c56-9c1e-3f2a1b0c9d8f\n"), one);
}

TEST(HostId, IsNotSaidWhereTheKernelDoesNotTell)
{
    EXPECT_EQ(host_id(""), "");
}

} // namespace
} // namespace fathom::agent
