#include "simulator/report/report.hpp"

#include "cli/text/format_units.hpp"
#include "simulator/figures/network_load.hpp"
#include "simulator/report/report_bars.hpp"
#include "simulator/report/report_curves.hpp"
#include "simulator/report/report_embedded.hpp"
#include "simulator/report/report_markup.hpp"
#include "simulator/report/report_scenario.hpp"
#include "simulator/report/report_strips.hpp"
#include "simulator/report/report_tables.hpp"
#include "simulator/report/report_texts_en.hpp"
#include "simulator/report/report_texts_zh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace fathom::simulation {
namespace {

/// Nothing is loaded from anywhere, whatever names in the report say.
constexpr std::string_view kContentPolicy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

std::string_view embedded(std::string_view name)
{
    const std::span<const EmbeddedFile> files = report_files::embedded_files();
    const auto found =
        std::find_if(files.begin(), files.end(), [&](const EmbeddedFile& file) { return file.name == name; });
    FATHOM_ASSERT(found != files.end());
    return found->content;
}

/// As a CDATA section for XML, whose marks are comments to the script.
std::string script()
{
    return fmt::format("<script>/*<![CDATA[*/\n{}/*]]>*/</script>\n", embedded("report.js"));
}

std::string head(const std::string& title)
{
    return fmt::format("<head>\n<meta charset=\"utf-8\"/>\n"
                       "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\"/>\n"
                       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                       "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
                       "<title>{}</title>\n<style>\n{}</style>\n</head>\n",
                       kContentPolicy, escaped(title), embedded("report.css"));
}

std::string fact(std::string_view name, const std::string& value)
{
    return enclosed("div", element("dt", name) + element("dd", value));
}

std::string cards(const Scenario& scenario, std::span<const PolicyGroup> policies, double load,
                  const ReportTexts& texts)
{
    std::set<std::uint64_t> seeds;
    for (const PolicyGroup& policy : policies) {
        for (const PolicyRun* const run : policy.runs)
            seeds.insert(run->seed);
    }
    const auto count = [](auto value) { return cli::format_count(static_cast<std::int64_t>(value)); };
    const Workload& workload = scenario.workload;
    std::string content = fact(texts.policies, count(policies.size())) + fact(texts.seeds, count(seeds.size())) +
                          fact(texts.counted_jobs, count(workload.end_counted - workload.first_counted)) +
                          fact(texts.centers, count(scenario.network.centers.size())) +
                          fact(texts.units, count(units_of(scenario.network)));
    if (std::isfinite(load)) content += fact(texts.load, cli::format_percent(load));
    return enclosed("dl class=\"cards\"", content);
}

/// Which policy is best by mean completion, and how far the next one is behind.
std::string headline(std::span<const PolicyGroup> policies, const ReportTexts& texts)
{
    std::vector<std::pair<double, std::string>> means;
    std::vector<std::pair<double, std::string>> references;
    for (const PolicyGroup& policy : policies) {
        const double mean = over_seeds(policy, FigureId::kMeanCompletion, [](const PolicyRun& run) -> const Figures& {
                                return run.all;
                            }).mean;
        if (mean > 0) (policy.is_reference ? references : means).emplace_back(mean, policy.name);
    }
    if (means.empty()) return {};
    std::sort(means.begin(), means.end());
    const auto times = [](double mean, double of) { return cli::format_number(mean / of); };
    const auto& [best_s, best] = means.front();
    std::string text = means.size() == 1
                           ? fmt::format(fmt::runtime(texts.best), best, cli::format_duration(best_s))
                           : fmt::format(fmt::runtime(texts.best_and_next), best, cli::format_duration(best_s),
                                         means[1].second, times(means[1].first, best_s));
    if (!references.empty())
        text += " " + fmt::format(fmt::runtime(texts.best_and_reference), references.front().second,
                                  times(best_s, references.front().first), best);
    return element("p class=\"lead\"", text);
}

std::string partial_note(std::span<const PolicyGroup> policies, const ReportTexts& texts)
{
    std::string names;
    std::int64_t ended = 0;
    std::int64_t jobs = 0;
    for (const PolicyGroup& policy : policies) {
        if (!policy.is_partial) continue;
        names += (names.empty() ? "" : ", ") + policy.name;
        for (const PolicyRun* const run : policy.runs) {
            ended += run->all.ended;
            jobs += run->all.jobs;
        }
    }
    if (names.empty()) return {};
    return enclosed("div class=\"partial\" role=\"note\"",
                    element("strong", texts.partial_title) +
                        element("p", fmt::format(fmt::runtime(texts.partial), names, cli::format_count(ended),
                                                 cli::format_count(jobs))));
}

std::string comparison_note(std::span<const PolicyGroup> policies, const ReportTexts& texts)
{
    if (policies.size() == 1 && policies.front().runs.size() == 1) return {};
    std::string note(texts.comparison_note);
    for (const PolicyGroup& policy : policies) {
        if (policy.is_reference) note += " " + fmt::format(fmt::runtime(texts.reference_note), policy.name);
    }
    return note;
}

std::string results(const Scenario& scenario, std::span<const PolicyGroup> policies, const ReportTexts& texts)
{
    return enclosed("section", element("h2", texts.comparison) + completion_bars(policies, texts) +
                                   comparison_table(scenario, policies, texts) +
                                   element("p class=\"note\"", comparison_note(policies, texts))) +
           enclosed("section", element("h2", texts.over_time) + queue_plot(scenario, policies, texts) +
                                   unit_strips(scenario, policies.front(), texts)) +
           enclosed("section", element("h2", texts.distributions) + distribution_plots(scenario, policies, texts)) +
           enclosed("section", element("h2", texts.parts) + part_tables(scenario, policies, texts));
}

} // namespace

std::optional<ReportLanguage> parse_report_language(std::string_view text)
{
    if (text == "en") return ReportLanguage::kEnglish;
    if (text == "zh") return ReportLanguage::kChinese;
    return std::nullopt;
}

const ReportTexts& report_texts(ReportLanguage language)
{
    return language == ReportLanguage::kChinese ? kChineseReport : kEnglishReport;
}

std::string report_html(const Scenario& scenario, std::span<const PolicyRun> runs, const ReportOptions& options)
{
    FATHOM_ASSERT(!runs.empty());
    const ReportTexts& texts = report_texts(options.language);
    const std::vector<PolicyGroup> policies = group_by_policy(runs);
    const double load = load_of(scenario);
    const std::string title =
        fmt::format(fmt::runtime(texts.heading), options.title.empty() ? scenario.workload.name : options.title);
    const std::string header =
        enclosed("header", element("h1", title) + headline(policies, texts) + cards(scenario, policies, load, texts) +
                               partial_note(policies, texts));
    return fmt::format("<!DOCTYPE html>\n<html lang=\"{}\">\n{}<body>\n<main>\n{}\n</main>\n{}</body>\n</html>\n",
                       texts.language, head(title),
                       header + results(scenario, policies, texts) + scenario_section(scenario, policies, load, texts) +
                           origin_section(scenario, policies, options, texts) + definitions_section(texts),
                       script());
}

} // namespace fathom::simulation
