// `fathom probe compare`: by what several results of each place say together, or by the runs alone.
#include "core/base/json_reader.hpp"
#include "tests/cli/client/fake_server.hpp"

#include <gmock/gmock.h>

#include <sstream>
#include <string>
#include <vector>

namespace fathom::cli::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Of run prn_<center>, 0.01 s to both sides.
Json place(const std::string& center, double median_s, double ratio)
{
    return {{"center", center},     {"unit_type", "core"},         {"probe_run_id", "prn_" + center},
            {"median_s", median_s}, {"ci_low_s", median_s - 0.01}, {"ci_high_s", median_s + 0.01},
            {"ratio", ratio},       {"is_tied", ratio <= 1},       {"error", 0},
            {"sample_count", 7}};
}

Json with_together(Json place, double median_s, double ratio, bool is_tied, const std::vector<std::string>& runs)
{
    place["together"] = {{"median_s", median_s}, {"ci_low_s", median_s - 0.5}, {"ci_high_s", median_s + 0.5},
                         {"ratio", ratio},       {"is_tied", is_tied},         {"probe_run_ids", runs}};
    return place;
}

/// What `fathom probe compare` says of an order with these places, the runs' best first.
std::string compared(std::vector<Json> places, const std::vector<std::string>& options = {})
{
    Json group{{"operator_id", "dgemm"}, {"operator_version", 1}, {"parameters", {{"n", 10}}}, {"unit_count", 1}};
    group["places"] = std::move(places);
    Json report{{"order_id", "prn_1"}, {"runs", Json::array()}};
    report["comparison"] = Json::array({std::move(group)});
    const FakeServer server({{"GET /api/v1/probe-orders/prn_1", {answer(200, report.dump())}}});
    std::vector<std::string> arguments{"probe", "compare", "prn_1"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Ran ran = fathom(server, arguments);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return ran.out;
}

/// The words of the line of a place.
std::vector<std::string> words_of(const std::string& text, const std::string& center)
{
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with(center + "/core")) continue;
        std::istringstream stream(line);
        std::vector<std::string> words;
        for (std::string word; stream >> word;)
            words.push_back(word);
        return words;
    }
    return {};
}

/// The best run was lucky.
std::vector<Json> tied_together()
{
    return {with_together(place("lucky", 1, 1), 2.1, 1.05, true, {"prn_lucky", "prn_8", "prn_7"}),
            with_together(place("steady", 2, 2), 2, 1, true, {"prn_steady", "prn_6"})};
}

TEST(ProbeCompare, GoesByTheResultsOfAPlaceTogether)
{
    const std::string text = compared(tied_together());

    EXPECT_LT(text.find("steady/core"), text.find("lucky/core")) << "best first:\n" << text;
    EXPECT_THAT(words_of(text, "steady"), testing::IsSupersetOf({"1.00x", "best", "prn_steady"})) << text;
    EXPECT_THAT(words_of(text, "lucky"), testing::IsSupersetOf({"1.05x", "tied", "3", "prn_lucky"})) << text;
    EXPECT_THAT(text, AllOf(HasSubstr("RESULTS"), HasSubstr("THIS RUN"), Not(HasSubstr("not known yet")),
                            Not(HasSubstr("does not count any more"))));
}

TEST(ProbeCompare, ComparesTheRunsAloneWhereItIsToldTo)
{
    const std::string text = compared(tied_together(), {"--single"});

    EXPECT_LT(text.find("lucky/core"), text.find("steady/core")) << text;
    EXPECT_THAT(words_of(text, "lucky"), testing::Contains("best")) << text;
    EXPECT_THAT(words_of(text, "steady"), AllOf(testing::Contains("2.00x"), Not(testing::Contains("tied")))) << text;
    EXPECT_THAT(text, AllOf(Not(HasSubstr("RESULTS")), Not(HasSubstr("THIS RUN"))));
}

TEST(ProbeCompare, SaysWhatAFigureDoesNotRestOn)
{
    const std::string text = compared({with_together(place("new", 1, 1), 1, 1, true, {"prn_new"}),
                                       with_together(place("changed", 3, 3), 2, 2, false, {"prn_9", "prn_8"})});

    EXPECT_THAT(text, AllOf(HasSubstr("Where RESULTS is 1"), HasSubstr("does not count any more")));
    EXPECT_THAT(words_of(text, "changed"), testing::Contains("*")) << text;
    EXPECT_THAT(words_of(text, "new"), Not(testing::Contains("*"))) << text;
}

TEST(ProbeCompare, ShowsTheRunsAloneOfAnOlderServer)
{
    const std::string text = compared({place("a", 1, 1), place("b", 2, 2)});

    EXPECT_THAT(words_of(text, "a"), testing::Contains("best")) << text;
    EXPECT_THAT(words_of(text, "b"), AllOf(testing::Contains("2.00x"), testing::Contains("-"))) << text;
    EXPECT_THAT(text, AllOf(Not(HasSubstr("not known yet")), Not(HasSubstr("does not count any more"))));
}

} // namespace
} // namespace fathom::cli::test
