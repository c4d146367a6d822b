#include "core/base/metrics.hpp"

#include <gtest/gtest.h>

#include <string>

namespace fathom {
namespace {

TEST(Metrics, AreExposedInPrometheusText)
{
    Metrics metrics;
    metrics.count("fathom_jobs_total", "Jobs.", {{"state", "failed"}}, 2);
    metrics.count("fathom_jobs_total", "Jobs.", {{"state", "failed"}});
    metrics.set("fathom_free_units", "Units.", 7);
    metrics.observe_seconds("fathom_wait_seconds", "Waits.", 0.3);

    const std::string text = metrics.expose();

    EXPECT_NE(text.find("fathom_jobs_total{state=\"failed\"} 3"), std::string::npos) << text;
    EXPECT_NE(text.find("fathom_free_units 7"), std::string::npos);
    EXPECT_NE(text.find("fathom_wait_seconds_bucket{le=\"0.5\"} 1"), std::string::npos);
}

TEST(Metrics, WhatIsReplacedIsExposedNoLonger)
{
    Metrics metrics;
    const auto has = [&](const std::string& line) { return metrics.expose().find(line + "\n") != std::string::npos; };

    metrics.replace("fathom_things", "Things.", {{{{"thing", "a"}}, 1}, {{{"thing", "b"}}, 2}});
    EXPECT_TRUE(has("fathom_things{thing=\"a\"} 1"));
    EXPECT_TRUE(has("fathom_things{thing=\"b\"} 2"));

    metrics.replace("fathom_things", "Things.", {{{{"thing", "b"}}, 3}, {{{"thing", "c"}}, 4}});
    EXPECT_EQ(metrics.expose().find("thing=\"a\""), std::string::npos);
    EXPECT_TRUE(has("fathom_things{thing=\"b\"} 3"));
    EXPECT_TRUE(has("fathom_things{thing=\"c\"} 4"));

    metrics.replace("fathom_things", "Things.", {});
    EXPECT_EQ(metrics.expose().find("thing="), std::string::npos);
    metrics.replace("fathom_things", "Things.", {{{{"thing", "a"}}, 5}});
    EXPECT_TRUE(has("fathom_things{thing=\"a\"} 5"));
}

} // namespace
} // namespace fathom
