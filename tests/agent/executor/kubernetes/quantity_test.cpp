#include "agent/executor/kubernetes/quantity.hpp"

#include <gtest/gtest.h>

#include <string>

namespace fathom::agent {
namespace {

TEST(KubernetesQuantities, AreReadWithTheirSuffixes)
{
    EXPECT_EQ(parse_quantity("500m", 1000), 500);
    EXPECT_EQ(parse_quantity("4", 1000), 4000);
    EXPECT_EQ(parse_quantity("0.5", 1000), 500);
    EXPECT_EQ(parse_quantity("2Gi", 1), 2147483648);
    EXPECT_EQ(parse_quantity("32830632Ki", 1), 33618567168);
    EXPECT_EQ(parse_quantity("1e3", 1), 1000);
    EXPECT_EQ(parse_quantity("1E3", 1), 1000);
    EXPECT_EQ(parse_quantity("1E", 1), 1'000'000'000'000'000'000);
    EXPECT_EQ(parse_quantity("5e-1", 1000), 500);
    EXPECT_EQ(parse_quantity("128974848000m", 1), 128974848);
    EXPECT_EQ(parse_quantity("+1k", 1), 1000);
}

TEST(KubernetesQuantities, AreRoundedUp)
{
    EXPECT_EQ(parse_quantity("100u", 1000), 1);
    EXPECT_EQ(parse_quantity("0.1", 1000), 100);
    EXPECT_EQ(parse_quantity("1500m", 1), 2);
}

TEST(KubernetesQuantities, AreRefusedWhereTheyAreNone)
{
    for (const char* text : {"", "m", "1.2.3", "-1", "1 Gi", "1gi", "1e", "1e999", "10E", "99999999999999999999", "x"})
        EXPECT_FALSE(parse_quantity(text, 1)) << text;
    EXPECT_FALSE(parse_quantity(std::string(65, '1'), 1));
}

} // namespace
} // namespace fathom::agent
