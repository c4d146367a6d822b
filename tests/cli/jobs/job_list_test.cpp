// `fathom job list` and `fathom job count`: which jobs are asked for.
#include "tests/cli/client/fake_server.hpp"

#include <gmock/gmock.h>

namespace fathom::cli::test {
namespace {

const std::vector<std::string> kFilters{"--name",
                                        "train",
                                        "--type",
                                        "md/water",
                                        "--center",
                                        "alpha",
                                        "--unit-type",
                                        "alpha/core",
                                        "--submitted-by",
                                        "tok_1",
                                        "--submitted-after",
                                        "2026-11-01T00:00:00Z",
                                        "--submitted-before",
                                        "2026-11-02T00:00:00Z"};
const std::map<std::string, std::string> kAsked{{"name", "train"},
                                                {"type", "md/water"},
                                                {"center", "alpha"},
                                                {"unit_type", "alpha/core"},
                                                {"submitted_by", "tok_1"},
                                                {"submitted_after", "2026-11-01T00:00:00Z"},
                                                {"submitted_before", "2026-11-02T00:00:00Z"}};

TEST(JobList, AsksOnlyForWhatFits)
{
    const FakeServer server(
        {{"GET /api/v1/jobs", {answer(200, R"({"items":[],"next_page_token":null})")}},
         {"GET /api/v1/job-groups",
          {answer(200, R"({"by":"state","groups":[],"group_count":0,"counted":0,"is_cut":false})")}}});
    for (const std::string verb : {"list", "count"}) {
        std::vector<std::string> arguments{"job", verb};
        arguments.insert(arguments.end(), kFilters.begin(), kFilters.end());

        const Ran ran = fathom(server, arguments);

        EXPECT_EQ(ran.code, 0) << ran.err;
        const net::Request asked = server.requests().back();
        for (const auto& [name, value] : kAsked)
            EXPECT_EQ(asked.query.at(name), value) << verb;
        EXPECT_FALSE(asked.query.contains("project")) << verb;
    }
}

} // namespace
} // namespace fathom::cli::test
