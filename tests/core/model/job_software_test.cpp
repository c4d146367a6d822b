#include "core/model/job.hpp"

#include <gmock/gmock.h>

namespace fathom {
namespace {

using testing::ElementsAre;

Json job_with(const char* name, const Json& value)
{
    Json job = {{"command", {"true"}}};
    job[name] = value;
    return job;
}

TEST(JobSoftware, IsReadAndWrittenAsJobsHaveIt)
{
    Json json = job_with("modules", {"gcc/12.2", "openmpi/4.1+cuda"});
    json["container"] = {{"image", "registry.example.org:5000/group/tool:1.2@sha256:0a"}};

    const JobSpec job = parse_job_spec(json).value();

    EXPECT_THAT(job.software.modules, ElementsAre("gcc/12.2", "openmpi/4.1+cuda"));
    EXPECT_EQ(job.software.image, "registry.example.org:5000/group/tool:1.2@sha256:0a");
    EXPECT_EQ(parse_job_spec(to_json(job)).value().software, job.software);
    EXPECT_EQ(to_string(kinds_of(job.software)), "modules and containers");
    EXPECT_EQ(parse_job_spec(job_with("container", {{"image", "/images/tool.sif"}})).value().software.image,
              "/images/tool.sif");
}

TEST(JobSoftware, OfJobsThatNeedNoneIsNotWritten)
{
    const Json written = to_json(parse_job_spec(job_with("modules", Json::array())).value());

    EXPECT_FALSE(written.contains("modules"));
    EXPECT_FALSE(written.contains("container"));
}

TEST(JobSoftware, HasNamesThatNothingTakesForSomethingElse)
{
    for (const char* module : {"", "-f", "a b", "a;b", "a$(b)", "/etc/x", "../x", "a'b", "a\nb"}) {
        const Result<JobSpec> job = parse_job_spec(job_with("modules", {"gcc", module}));
        ASSERT_FALSE(job) << module;
        EXPECT_EQ(job.error().fields.at(0).field, "modules[1]") << module;
    }
    for (const char* image : {"", "-v", "a b", "docker://a", "a;b", "/x/../y", "/x y", "@sha256:0", "a\"b"}) {
        const Result<JobSpec> job = parse_job_spec(job_with("container", {{"image", image}}));
        ASSERT_FALSE(job) << image;
        EXPECT_EQ(job.error().fields.at(0).field, "container.image") << image;
    }
    EXPECT_FALSE(parse_job_spec(job_with("modules", std::vector<std::string>(33, "gcc"))));
    EXPECT_FALSE(parse_job_spec(job_with("modules", {std::string(129, 'a')})));
    EXPECT_FALSE(parse_job_spec(job_with("container", {{"image", std::string(513, 'a')}})));
    EXPECT_FALSE(parse_job_spec(job_with("container", Json::object())));
    EXPECT_FALSE(parse_job_spec(job_with("container", {{"image", "a"}, {"privileged", true}})));
    EXPECT_FALSE(parse_job_spec(job_with("container", "a")));
}

TEST(SoftwareKinds, AreEnoughWhereAllThatIsNeededIsThere)
{
    const SoftwareKinds none;
    const SoftwareKinds modules{.modules = true};
    const SoftwareKinds both{.modules = true, .containers = true};

    EXPECT_TRUE(none.have(none));
    EXPECT_FALSE(none.have(modules));
    EXPECT_TRUE(both.have(modules));
    EXPECT_FALSE(modules.have(both));
}

} // namespace
} // namespace fathom
