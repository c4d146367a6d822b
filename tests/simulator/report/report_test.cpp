#include "simulator/report/report.hpp"
#include "simulator/report/report_axis.hpp"
#include "simulator/report/report_texts.hpp"
#include "simulator/report/report_texts_en.hpp"
#include "simulator/report/report_texts_zh.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <regex>
#include <string>
#include <vector>

namespace fathom::simulation {
namespace {

/// Centers of eight units each, with names that markup would be broken by; a job an hour in two projects.
Scenario scenario_of(std::size_t centers, std::size_t jobs)
{
    Scenario scenario;
    scenario.network.job_types = {{"dgemm", Scaling::kFixed}};
    for (std::size_t i = 0; i < centers; ++i) {
        Center& center = scenario.network.centers.emplace_back();
        center.name = fmt::format("<script>alert(\"{}\")</script> & 'co'", i);
        center.closures = {{3600, 7200}};
        UnitType& type = scenario.network.unit_types.emplace_back();
        type.name = "<b>gpu</b>";
        type.center = i;
        type.unit_count = 8;
        type.rates = {{1, {}}};
    }
    scenario.workload.name = "test & <i>more</i>";
    scenario.workload.projects = {"", "p<1>"};
    for (std::size_t i = 0; i < jobs; ++i) {
        Job job;
        job.arrival_s = 3600 * static_cast<double>(i);
        job.work = 600;
        job.project = static_cast<std::uint32_t>(i % 2);
        scenario.workload.jobs.push_back(job);
    }
    scenario.workload.end_counted = jobs;
    scenario.skips = {{"no <run> time", 12, {3, 8}}};
    return scenario;
}

/// Each job waits so long, and runs for 600 s.
PolicyRun run_of(const Scenario& scenario, std::string policy, double wait_s, std::uint64_t seed = 1)
{
    SimulationResult result;
    const std::size_t types = scenario.network.unit_types.size();
    for (const Job& job : scenario.workload.jobs) {
        JobOutcome outcome;
        outcome.start_s = job.arrival_s + wait_s;
        outcome.end_s = outcome.start_s + 600;
        outcome.attempts = 1;
        outcome.unit_type = static_cast<std::uint32_t>(result.jobs.size() % types);
        outcome.state = JobState::kEnded;
        result.jobs.push_back(outcome);
    }
    for (int i = 0; i < 2000; ++i)
        result.series.push_back({i * 60.0, i % 7, i % 5, std::vector<std::int64_t>(types, i % 9)});
    result.busy_unit_s.assign(types, 1000);
    result.broken_unit_s.assign(types, 0);
    result.counted_to_s = 7200;
    return figure_out(scenario, std::move(policy), seed, std::move(result));
}

std::string report_of(const Scenario& scenario, const std::vector<PolicyRun>& runs,
                      ReportLanguage language = ReportLanguage::kEnglish)
{
    return report_html(scenario, runs, {.title = {}, .command = "fathom simulate <x>", .language = language});
}

/// Instead of a matcher: that would print the whole page.
bool has(std::string_view html, std::string_view text)
{
    return html.find(text) != std::string_view::npos;
}

/// The first tag that is not closed where it has to be, or closed without being open; empty: all are.
std::string unbalanced_tag(const std::string& html)
{
    static const std::regex kTag(R"(<(/?)([a-zA-Z][a-zA-Z0-9]*)((?:[^<>"]|"[^"<>]*")*?)(/?)>)");
    const std::size_t script = html.find("<script>");
    const std::string markup = html.substr(0, script) + html.substr(html.find("</script>") + 9);
    std::vector<std::string> open;
    std::string text; // what lies between tags
    auto at = markup.cbegin();
    for (std::sregex_iterator tag(markup.begin(), markup.end(), kTag), end; tag != end; ++tag) {
        text.append(at, (*tag)[0].first);
        at = (*tag)[0].second;
        if ((*tag)[4].length() > 0) continue;
        if ((*tag)[1].length() == 0) {
            open.push_back((*tag)[2]);
        } else {
            if (open.empty() || open.back() != (*tag)[2]) return (*tag)[0];
            open.pop_back();
        }
    }
    if (text.find('<', std::string_view("<!DOCTYPE").size()) != std::string::npos) return "<";
    return open.empty() ? "" : open.back();
}

TEST(Report, IsWellFormedInBothLanguages)
{
    const Scenario scenario = scenario_of(3, 20);
    const std::vector<PolicyRun> runs{run_of(scenario, "fathom", 10), run_of(scenario, "<random>", 500)};

    for (const ReportLanguage language : {ReportLanguage::kEnglish, ReportLanguage::kChinese})
        EXPECT_EQ(unbalanced_tag(report_of(scenario, runs, language)), "");
}

TEST(Report, NamesCannotBecomeMarkup)
{
    const Scenario scenario = scenario_of(2, 10);
    const std::string html = report_of(scenario, {run_of(scenario, "fathom", 10), run_of(scenario, "a\"><b", 500)});

    EXPECT_TRUE(has(html, "&lt;script&gt;alert(&quot;0&quot;)&lt;/script&gt; &amp; &#39;co&#39;"));
    for (const char* const markup : {"<script>alert", "<b>gpu", "p<1>", "<i>more", "<run>", "a\"><b", "simulate <x>"})
        EXPECT_FALSE(has(html, markup));
}

TEST(Report, LoadsNothingFromAnywhere)
{
    const Scenario scenario = scenario_of(2, 10);
    const std::string html = report_of(scenario, {run_of(scenario, "fathom", 10)});

    for (const char* const reference : {"http:", "https:", "src=", "url(", "@import", "<link", "<iframe"})
        EXPECT_FALSE(has(html, reference));
    EXPECT_TRUE(has(html, "default-src 'none'"));
}

TEST(Report, SaysWhichPolicyIsBestAndByHowMuch)
{
    const Scenario scenario = scenario_of(2, 10);
    const std::string html = report_of(
        scenario, {run_of(scenario, "fathom", 0), run_of(scenario, "random", 900), run_of(scenario, "oracle", 0)});

    EXPECT_TRUE(has(html, "Jobs ended soonest with fathom: 10 min 00 s after they came, on average. With random, "
                          "which came next, they took 2.50 times as long."));
    EXPECT_TRUE(has(html, "fathom took 1.00 times as long as oracle"));
}

TEST(Report, SeedsAreOneColumnWithAnInterval)
{
    const Scenario scenario = scenario_of(2, 10);
    const std::string html = report_of(scenario, {run_of(scenario, "fathom", 0, 1), run_of(scenario, "fathom", 60, 2)});

    // Means of 600 s and 660 s: 630 s, and t of one degree of freedom (12.71) times 30 s.
    EXPECT_TRUE(has(html, "10 min 30 s"));
    EXPECT_TRUE(has(html, "± 6 min 21 s"));
}

TEST(Report, MarksWhatWasStopped)
{
    const Scenario scenario = scenario_of(2, 10);
    std::vector<PolicyRun> runs{run_of(scenario, "fathom", 10), run_of(scenario, "random", 20)};
    EXPECT_FALSE(has(report_of(scenario, runs), "Partial results"));

    runs[1].result.was_stopped = true;
    EXPECT_TRUE(has(report_of(scenario, runs), "(random: 10 of 10 jobs)"));
}

TEST(Report, SaysWhatWasLeftOutOfTheInput)
{
    const Scenario scenario = scenario_of(1, 10);
    EXPECT_TRUE(has(report_of(scenario, {run_of(scenario, "fathom", 10)}),
                    "<th scope=\"row\">no &lt;run&gt; time</th><td>12</td><td>3, 8, …</td>"));
}

TEST(Report, HasRoomForEverything)
{
    constexpr std::size_t kMebibyte = 1024 * 1024;
    Scenario scenario = scenario_of(300, 4000);
    scenario.workload.projects.resize(2000, "one of very many projects");
    std::vector<PolicyRun> runs;
    for (int i = 0; i < 20; ++i)
        runs.push_back(run_of(scenario, fmt::format("policy number {}", i), i * i));

    EXPECT_LT(report_of(scenario, runs).size(), kMebibyte);
}

TEST(Report, StandsWithNothingThatEnded)
{
    Scenario scenario = scenario_of(1, 2);
    PolicyRun run = run_of(scenario, "fathom", 10);
    for (JobOutcome& outcome : run.result.jobs)
        outcome = {};
    run.result.was_stopped = true;
    run.result.series.clear();
    run = figure_out(scenario, "fathom", 1, run.result);

    const std::string html = report_of(scenario, {run});
    EXPECT_EQ(unbalanced_tag(html), "");
    EXPECT_FALSE(std::regex_search(html, std::regex(R"([ ",>]-?(nan|inf)[ ",<])")));
}

TEST(ReportTexts, AreAllThereInBothLanguages)
{
    for (const ReportTexts* const texts : {&kEnglishReport, &kChineseReport}) {
        for (const FigureText& figure : texts->figures) {
            EXPECT_NE(figure.name, "");
            EXPECT_NE(figure.definition, "");
        }
    }
    EXPECT_EQ(parse_report_language("zh"), ReportLanguage::kChinese);
    EXPECT_EQ(parse_report_language("fr"), std::nullopt);
}

std::vector<std::string> labels_of(const Axis& axis, std::size_t most)
{
    std::vector<std::string> labels;
    for (const AxisTick& tick : ticks_of(axis, most))
        labels.push_back(tick.label);
    return labels;
}

TEST(ReportAxis, TicksAreRoundInWhatPeopleCountIn)
{
    using testing::ElementsAre;
    const auto linear = [](AxisUnit unit, double to) { return Axis{"", AxisScale::kLinear, unit, 0, to}; };
    EXPECT_THAT(labels_of(linear(AxisUnit::kDuration, 50), 6),
                ElementsAre("0", "10 s", "20 s", "30 s", "40 s", "50 s"));
    EXPECT_THAT(labels_of(linear(AxisUnit::kDuration, 7000), 5), ElementsAre("0", "30 min", "60 min", "90 min"));
    EXPECT_THAT(labels_of(linear(AxisUnit::kDuration, 100 * 3600), 5), ElementsAre("0", "1 d", "2 d", "3 d", "4 d"));
    EXPECT_THAT(labels_of(linear(AxisUnit::kShare, 1), 5), ElementsAre("0 %", "20 %", "40 %", "60 %", "80 %", "100 %"));
    EXPECT_THAT(labels_of(linear(AxisUnit::kCount, 25000), 3), ElementsAre("0", "10 000", "20 000"));
}

TEST(ReportAxis, LogarithmicTicksAreAsDenseAsFits)
{
    using testing::ElementsAre;
    const Axis hours{"", AxisScale::kLogarithmic, AxisUnit::kDuration, 3000, 90000};
    EXPECT_THAT(labels_of(hours, 9), ElementsAre("1 h", "2 h", "3 h", "6 h", "12 h", "1 d"));
    EXPECT_THAT(labels_of(hours, 3), ElementsAre("1 h", "6 h", "1 d"));
    const Axis factors{"", AxisScale::kLogarithmic, AxisUnit::kFactor, 0.9, 3000};
    EXPECT_THAT(labels_of(factors, 5), ElementsAre("1 ×", "10 ×", "100 ×", "1000 ×"));
    const Axis counts{"", AxisScale::kLogarithmicFrom0, AxisUnit::kCount, 0, 12};
    EXPECT_THAT(labels_of(counts, 6), ElementsAre("0", "1", "2", "5", "10"));
    EXPECT_EQ(position_on(counts, 0), 0);
    EXPECT_DOUBLE_EQ(position_on(hours, std::sqrt(3000.0 * 90000)), 0.5);
}

} // namespace
} // namespace fathom::simulation
