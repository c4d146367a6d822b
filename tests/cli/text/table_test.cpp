#include "cli/text/display_text.hpp"
#include "cli/text/table.hpp"

#include <gtest/gtest.h>

namespace fathom::cli {
namespace {

Table jobs()
{
    Table table({{"ID"}, {"NAME", Align::kLeft, 0, true}, {"RUN", Align::kRight}, {"NOTE", Align::kLeft, 1}});
    table.add_row({"job_1", "short", "12.3 s", ""});
    table.add_row({"job_22", "a rather long name of a job", "1 s", "waits"});
    return table;
}

TEST(Table, AlignsTextLeftAndNumbersRight)
{
    EXPECT_EQ(jobs().render({}), "ID      NAME                            RUN  NOTE\n"
                                 "job_1   short                        12.3 s\n"
                                 "job_22  a rather long name of a job     1 s  waits\n");
}

TEST(Table, CutsLongTextsBeforeItDropsColumns)
{
    EXPECT_EQ(jobs().render({.width = 40}), "ID      NAME                  RUN  NOTE\n"
                                            "job_1   short              12.3 s\n"
                                            "job_22  a rather long na…     1 s  waits\n");
}

TEST(Table, DropsTheLeastImportantColumnWhenCuttingIsNotEnough)
{
    EXPECT_EQ(jobs().render({.width = 30}), "ID      NAME               RUN\n"
                                            "job_1   short           12.3 s\n"
                                            "job_22  a rather long…     1 s\n");
}

TEST(Table, NeverDropsWhatMustBeShown)
{
    EXPECT_EQ(jobs().render({.width = 5}), "ID      NAME             RUN\n"
                                           "job_1   short         12.3 s\n"
                                           "job_22  a rather lo…     1 s\n");
}

TEST(Table, CountsColumnsOfTheTerminalNotBytes)
{
    Table table({{"NAME"}, {"RUN", Align::kRight}});
    table.add_row({"größe", "1 µs"});
    table.add_row({"計算", "20 µs"});

    EXPECT_EQ(table.render({}), "NAME     RUN\n"
                                "größe   1 µs\n"
                                "計算   20 µs\n");
}

TEST(Table, ColoursOnlyWhenAsked)
{
    Table table({{"STATE"}, {"X"}});
    table.add_row({Cell("failed", Tone::kBad), "y"});

    EXPECT_EQ(table.render({}), "STATE   X\nfailed  y\n");
    EXPECT_EQ(table.render({.colour = true}), "\x1b[1mSTATE\x1b[0m   \x1b[1mX\x1b[0m\n\x1b[31mfailed\x1b[0m  y\n");
}

TEST(Table, ShowsNoControlCharactersOfOthers)
{
    Table table({{"NAME"}});
    table.add_row({"evil\x1b[2Jname\nnext \xff"});

    EXPECT_EQ(table.render({}), "NAME\nevil?[2Jname next ?\n");
}

TEST(DisplayText, ShortensAtACharacter)
{
    EXPECT_EQ(shortened("größe", 4), "grö…");
    EXPECT_EQ(shortened("計算機", 5), "計算…");
    EXPECT_EQ(shortened("計算機", 4), "計…");
    EXPECT_EQ(shortened("abc", 3), "abc");
    EXPECT_EQ(display_width("e\u0301"), 1U);
}

TEST(Details, AlignsValues)
{
    EXPECT_EQ(render_details({{"Job", "j"}, {"State", "running"}}, {}), "Job:    j\nState:  running\n");
}

} // namespace
} // namespace fathom::cli
