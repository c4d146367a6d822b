#include "cli/text/display_text.hpp"
#include "cli/text/plot.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <map>
#include <sstream>

namespace fathom::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Charset charset_in(std::map<std::string, std::string> environment)
{
    Console console;
    console.environment = [environment = std::move(environment)](const char* name) {
        const auto found = environment.find(name);
        return found == environment.end() ? std::string() : found->second;
    };
    return charset_of(console);
}

std::size_t longest_line(const std::string& text)
{
    std::istringstream lines(text);
    std::size_t longest = 0;
    for (std::string line; std::getline(lines, line);)
        longest = std::max(longest, display_width(line));
    return longest;
}

Plot curve()
{
    Plot plot;
    plot.bands.push_back({"95 %", {{1, 0.8}, {8, 3}}, {{1, 1.2}, {8, 5}}});
    plot.series.push_back({"fit", PlotMark::kLine, {{1, 1}, {8, 4}}, true});
    plot.series.push_back({"measured", PlotMark::kDot, {{1, 1}, {2, 1.9}, {8, 4}}, false});
    plot.rules.push_back({"knee", 4});
    plot.x_title = "units";
    return plot;
}

TEST(Charset, FollowsTheFirstLocaleThatIsSet)
{
    EXPECT_EQ(charset_in({{"LANG", "en_GB.UTF-8"}}), Charset::kUnicode);
    EXPECT_EQ(charset_in({{"LANG", "en_GB.UTF-8"}, {"LC_CTYPE", "C.utf8"}}), Charset::kUnicode);
    EXPECT_EQ(charset_in({{"LANG", "en_GB.UTF-8"}, {"LC_ALL", "C"}}), Charset::kAscii);
    EXPECT_EQ(charset_in({}), Charset::kAscii);
}

TEST(Bar, IsAsLongAsItsShare)
{
    EXPECT_EQ(bar(5, 10, 8, Charset::kAscii), "####");
    EXPECT_EQ(bar(10, 10, 3, Charset::kUnicode), "███");
    EXPECT_EQ(bar(0.5, 1, 3, Charset::kUnicode), "█▌");
}

TEST(Bar, ShowsWhatIsSmallAndStopsAtTheWidth)
{
    EXPECT_EQ(bar(1e-9, 1, 8, Charset::kAscii), "#");
    EXPECT_EQ(bar(1e-9, 1, 8, Charset::kUnicode), "▏");
    EXPECT_EQ(bar(99, 1, 4, Charset::kAscii), "####");
}

TEST(Bar, IsEmptyForWhatHasNoLength)
{
    for (const double value : {0.0, -1.0, kNan})
        EXPECT_EQ(bar(value, 1, 8, Charset::kAscii), "") << value;
    EXPECT_EQ(bar(1, 0, 8, Charset::kAscii), "");
    EXPECT_EQ(bar(1, 1, 0, Charset::kUnicode), "");
}

TEST(Strip, HasOneColumnForEachValue)
{
    const std::vector<double> values{0, 4, kNan, 8};

    EXPECT_EQ(strip(values, Charset::kUnicode), "▁▅ █");
    EXPECT_EQ(strip(values, Charset::kAscii), ".+ #");
}

TEST(LinePlot, DrawsPointsWhereTheyBelong)
{
    Plot plot;
    plot.series.push_back({"", PlotMark::kDot, {{0, 0}, {10, 2}}, false});

    EXPECT_EQ(line_plot(plot, {.width = 19, .height = 3}), "2 +               o\n"
                                                           "1 +\n"
                                                           "0 +o\n"
                                                           "  +----------------\n"
                                                           "   0             10\n");
}

TEST(LinePlot, JoinsPointsThatAreJoined)
{
    Plot plot;
    plot.series.push_back({"f", PlotMark::kLine, {{10, 2}, {0, 0}}, true});

    EXPECT_EQ(line_plot(plot, {.width = 19, .height = 3}), "2 +            ....\n"
                                                           "1 +    ........\n"
                                                           "0 +....\n"
                                                           "  +----------------\n"
                                                           "   0             10\n"
                                                           "   . f\n");
}

TEST(LinePlot, DrawsBandsRulesAndALegend)
{
    const std::string text = line_plot(curve(), {.width = 60, .height = 10, .charset = Charset::kUnicode});

    for (const char* part : {"● measured", "· fit", "░ 95 %", "┆ knee", "units"})
        EXPECT_THAT(text, HasSubstr(part));
}

TEST(LinePlot, AFunctionNeverHidesAPoint)
{
    Plot plot;
    plot.series.push_back({"", PlotMark::kDot, {{0, 0}, {10, 2}}, false});
    plot.series.push_back({"", PlotMark::kLine, {{0, 0}, {10, 2}}, true});

    EXPECT_EQ(line_plot(plot, {.width = 19, .height = 3}), "2 +            ...o\n"
                                                           "1 +    ........\n"
                                                           "0 +o...\n"
                                                           "  +----------------\n"
                                                           "   0             10\n");
}

TEST(LinePlot, NeedsNoUnicode)
{
    const std::string text = line_plot(curve(), {.width = 60, .height = 10, .charset = Charset::kAscii});

    EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](unsigned char c) { return c < 128; })) << text;
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(LinePlot, FitsTheTerminal)
{
    for (const std::size_t width : {30U, 60U, 79U})
        EXPECT_LE(longest_line(line_plot(curve(), {.width = width, .height = 8})), std::max<std::size_t>(width, 50));
    Plot plain = curve();
    plain.series[0].name = plain.series[1].name = plain.bands[0].name = "";
    EXPECT_EQ(longest_line(line_plot(plain, {.width = 30, .height = 8})), 30U);
    EXPECT_LE(longest_line(line_plot(plain, {.width = 1, .height = 8})), 22U); // no less than 16 columns of points
    EXPECT_EQ(longest_line(line_plot(plain, {.width = 500, .height = 8})), 100U);
}

TEST(LinePlot, LeavesOutWhatCannotBeDrawn)
{
    Plot plot;
    plot.x_scale = PlotScale::kLogarithmic;
    plot.series.push_back({"", PlotMark::kDot, {{0, 1}, {1, kNan}, {1, 0}, {100, 1}}, false});

    EXPECT_EQ(line_plot(plot, {.width = 21, .height = 3}), "   1 +               o\n"
                                                           "0.50 +\n"
                                                           "   0 +o\n"
                                                           "     +----------------\n"
                                                           "      1            100\n");
}

TEST(LinePlot, HasNothingToSayWithoutPoints)
{
    EXPECT_EQ(line_plot({}, {}), "");
    Plot plot;
    plot.series.push_back({"", PlotMark::kDot, {{kNan, 1}}, false});
    EXPECT_EQ(line_plot(plot, {}), "");
}

TEST(LinePlot, GivesASinglePointRoom)
{
    Plot plot;
    plot.series.push_back({"", PlotMark::kCross, {{4, 4}}, false});

    EXPECT_THAT(line_plot(plot, {.width = 40, .height = 5}), HasSubstr("x"));
}

} // namespace
} // namespace fathom::cli
