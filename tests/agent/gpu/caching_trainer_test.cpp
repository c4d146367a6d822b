#include "tests/agent/gpu/gpu_sharing.hpp"

#include <memory>
#include <string>

namespace fathom::gpu {
namespace {

/// A program with the allocator of a framework, which checks each word that it wrote. Two of them share 32 MiB; each
/// keeps less than 12 MiB, so that they fit whatever is taken for persistent.
class CachingTrainer : public GpuSharing {
  protected:
    /// Goes on until go_on("enough").
    std::unique_ptr<Program> begin(const std::string& job, const std::string& tells) const
    {
        const std::vector<std::string> command{FATHOM_CACHING_TRAINER, "until", (folder_ / "enough").string(), "tell",
                                               tells};
        return std::make_unique<Program>(command, environment({{"FATHOM_GPU_JOB", job}}), folder_);
    }

    bool has_given_turns_back(const std::string& name) const
    {
        const Json known = job(name);
        return known.is_object() && known.at("switches").get<int>() > 2;
    }

    /// It has ended well, and its allocator did what those of frameworks do.
    static void expect_ended_well(Program& program)
    {
        EXPECT_EQ(program.wait(), 0) << program.output();
        const std::string output = program.output();
        const std::size_t json_at = output.find('{');
        ASSERT_NE(json_at, std::string::npos) << output;
        const Json figures = Json::parse(output.substr(json_at));
        for (const char* const figure : {"splits", "joins", "reuses", "segments", "given_back"})
            EXPECT_GT(figures.at(figure).get<int>(), 0) << figure << ": " << output;
        EXPECT_GT(figures.at("reuses").get<int>(), figures.at("segments").get<int>()) << output;
        EXPECT_TRUE(figures.at("is_empty").get<bool>()) << output;
    }

    void expect_that_two_take_turns(const std::string& tell)
    {
        start();
        const auto first = begin("first", tell);
        const auto second = begin("second", tell);
        EXPECT_TRUE(wait_until([&] { return has_given_turns_back("first") && has_given_turns_back("second"); }))
            << first->output() << second->output();
        go_on("enough");
        expect_ended_well(*first);
        expect_ended_well(*second);
    }
};

TEST_F(CachingTrainer, WithoutAManagerEndsWell)
{
    go_on("enough");
    const auto program = begin("alone", "no");

    expect_ended_well(*program);
}

TEST_F(CachingTrainer, TwoThatSayNothingTakeTurnsAndLoseNothing)
{
    expect_that_two_take_turns("no");
}

TEST_F(CachingTrainer, TwoWhoseFrameworkTellsOfItsStepsTakeTurnsAndLoseNothing)
{
    expect_that_two_take_turns("yes");
}

} // namespace
} // namespace fathom::gpu
