#include "core/decide/probing/shrink_task.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

/// n × n products in the classes 64, 512 and 2048.
OperatorManifest product()
{
    OperatorManifest manifest;
    manifest.id = "dgemm";
    manifest.version = 1;
    manifest.parameters = {{.name = "n", .min = 1, .max = 10000, .default_value = 512, .description = {}}};
    manifest.operation_count = "2*n*n*n";
    manifest.byte_count = "24*n*n";
    manifest.size_classes = {{"small", {{"n", 64}}}, {"medium", {{"n", 512}}}, {"large", {{"n", 2048}}}};
    return manifest;
}

ManifestLookup lookup(const OperatorManifest& manifest)
{
    return [&manifest](std::string_view id, std::int64_t) { return id == manifest.id ? &manifest : nullptr; };
}

ProbeTask task_of(std::vector<OperatorUse> operators)
{
    ProbeTask task;
    task.name = "solver";
    task.operators = std::move(operators);
    return task;
}

OperatorUse use(std::int64_t n, std::int64_t count = 1)
{
    return {.id = "dgemm", .version = 1, .parameters = {{"n", n}}, .count = count};
}

TEST(ShrinkTask, TheSizeWithMostWorkGoesDownAClass)
{
    const OperatorManifest manifest = product();
    const auto smaller = shrink_task(task_of({use(3453, 2), use(100)}), 0.25, lookup(manifest));

    ASSERT_TRUE(smaller);
    ASSERT_EQ(smaller->operators.size(), 2U);
    EXPECT_EQ(smaller->operators[0].parameters.at("n"), 2048);
    EXPECT_EQ(smaller->operators[0].count, 1);
    EXPECT_EQ(smaller->operators[1].parameters.at("n"), 100) << "it was not what took long";
}

TEST(ShrinkTask, GoesDownUntilItsShareIsReached)
{
    const OperatorManifest manifest = product();
    const auto smaller = shrink_task(task_of({use(2048)}), 0.01, lookup(manifest));

    ASSERT_TRUE(smaller);
    EXPECT_EQ(smaller->operators[0].parameters.at("n"), 64);
}

TEST(ShrinkTask, SizesThatBecomeOneAreMeasuredOnce)
{
    const OperatorManifest manifest = product();
    const auto smaller = shrink_task(task_of({use(3000), use(3400)}), 0.1, lookup(manifest));

    ASSERT_TRUE(smaller);
    EXPECT_EQ(smaller->operators.size(), 1U);
}

TEST(ShrinkTask, WhatHasNoSmallerClassOrFeedsOthersStaysAsItIs)
{
    const OperatorManifest manifest = product();
    OperatorUse feeds = use(3453);
    feeds.label = "P1";

    EXPECT_FALSE(shrink_task(task_of({use(64)}), 0.25, lookup(manifest)));
    EXPECT_FALSE(shrink_task(task_of({feeds}), 0.25, lookup(manifest)));
    EXPECT_FALSE(shrink_task(task_of({{.id = "unknown", .parameters = {}}}), 0.25, lookup(manifest)));
}

} // namespace
} // namespace fathom
