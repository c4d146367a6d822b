#include "core/decide/routing/filters.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(Filters, EachIsFoundByItsName)
{
    for (const FilterRule& rule : kFilterRules) {
        EXPECT_EQ(parse_filter(to_string(rule.filter)), rule.filter);
        EXPECT_FALSE(rule.one.empty() || rule.many.empty()) << rule.name;
    }
    EXPECT_FALSE(parse_filter("closed"));
}

TEST(Filters, WhatTimeMayLiftRemovesNotForGood)
{
    EXPECT_TRUE(rule_of(Filter::kMemory).removes_for_good);
    EXPECT_TRUE(rule_of(Filter::kWallLimit).removes_for_good);
    EXPECT_FALSE(rule_of(Filter::kHealth).removes_for_good) << "a center comes back";
    EXPECT_FALSE(rule_of(Filter::kQuota).removes_for_good) << "another month begins";
    EXPECT_FALSE(rule_of(Filter::kSpeedup).removes_for_good) << "it speaks for another device, not against the job";
}

} // namespace
} // namespace fathom
