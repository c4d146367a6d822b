#include "agent/gpu/memory/job_names.hpp"
#include "core/base/file.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <sys/stat.h>

namespace fathom::gpu {
namespace {

class GpuJobNames : public testing::Test {
  protected:
    GpuJobNames()
    {
        std::string text = (std::filesystem::temp_directory_path() / "gpu-job-names-XXXXXX").string();
        folder_ = ::mkdtemp(text.data());
    }
    ~GpuJobNames() override { std::filesystem::remove_all(folder_); }

    std::filesystem::path folder_;
};

TEST_F(GpuJobNames, AreTheSameAfterARestartAndOthersWithAnotherSecret)
{
    const JobNames names = JobNames::load(folder_ / "key").value();
    const JobNames again = JobNames::load(folder_ / "key").value();
    const JobNames others = JobNames::load(folder_ / "other-key").value();

    EXPECT_GT(names.proof("job"), 0);
    EXPECT_TRUE(again.is_of_job("job", names.proof("job")));
    EXPECT_FALSE(names.is_of_job("other", names.proof("job")));
    EXPECT_FALSE(others.is_of_job("job", names.proof("job")));
    EXPECT_FALSE(names.is_of_job("job", 0));
    struct stat facts{};
    ASSERT_EQ(::stat((folder_ / "key").c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777U, 0600U);
}

TEST_F(GpuJobNames, AFileThatWasCutIsMadeAnewAndOneThatCannotBeWrittenIsTold)
{
    ASSERT_TRUE(write_file(folder_ / "key", ""));
    const JobNames names = JobNames::load(folder_ / "key").value();
    EXPECT_TRUE(JobNames::load(folder_ / "key").value().is_of_job("job", names.proof("job")));

    EXPECT_FALSE(JobNames::load(folder_ / "none" / "key"));
}

} // namespace
} // namespace fathom::gpu
