#include "probes/operators/registry.hpp"
#include "probes/operators/scratch_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <unistd.h>

namespace fathom::probes {
namespace {

using testing::HasSubstr;

/// A working folder of its own.
class FileOperators : public testing::Test {
  protected:
    FileOperators() : before_(std::filesystem::current_path())
    {
        std::string pattern = (std::filesystem::temp_directory_path() / "file-operators-XXXXXX").string();
        folder_ = mkdtemp(pattern.data());
        std::filesystem::current_path(folder_);
    }
    ~FileOperators() override
    {
        std::filesystem::current_path(before_);
        std::filesystem::remove_all(folder_);
    }

    std::filesystem::path before_;
    std::filesystem::path folder_;
};

TEST_F(FileOperators, LeaveNothingBehindAtAnyTime)
{
    for (const char* const id : {"file_read", "file_write"}) {
        const std::unique_ptr<ProbeOperator> made = find_operator(id)->make({{"bytes", 100000}}, 1);

        ASSERT_TRUE(made->prepare(7));
        EXPECT_TRUE(std::filesystem::is_empty(folder_)) << id; // a probe that is killed now leaves nothing
        made->execute();

        EXPECT_TRUE(std::filesystem::is_empty(folder_)) << id;
        EXPECT_EQ(made->error(), 0) << id;
    }
}

/// FATHOM_FILE_FOLDER for one test.
class NamedFolder {
  public:
    explicit NamedFolder(const std::filesystem::path& folder) { setenv(kFileFolderVariable, folder.c_str(), 1); }
    ~NamedFolder() { unsetenv(kFileFolderVariable); }
    NamedFolder(const NamedFolder&) = delete;
    NamedFolder& operator=(const NamedFolder&) = delete;
};

TEST_F(FileOperators, MeasureTheFolderThatTheCenterNames)
{
    const std::filesystem::path named = folder_ / "parallel";
    std::filesystem::create_directory(named);
    const NamedFolder variable(named);

    for (const char* const id : {"file_read", "file_write"}) {
        const std::unique_ptr<ProbeOperator> made = find_operator(id)->make({{"bytes", 100000}}, 1);
        ASSERT_TRUE(made->prepare(7));
        made->execute();

        EXPECT_EQ(made->error(), 0) << id;
        EXPECT_THAT(made->library(), HasSubstr(", in " + named.string())) << id;
        EXPECT_TRUE(std::filesystem::is_empty(named)) << id;
    }

    std::filesystem::remove(named);
    const Result<void> prepared = find_operator("file_read")->make({{"bytes", 100000}}, 1)->prepare(7);
    ASSERT_FALSE(prepared);
    EXPECT_THAT(prepared.error().detail,
                HasSubstr("cannot make a file in FATHOM_FILE_FOLDER (" + named.string() + ")"));
}

TEST_F(FileOperators, SayWhyTheyCannotWrite)
{
    const std::filesystem::path gone = folder_ / "gone";
    std::filesystem::create_directory(gone);
    std::filesystem::current_path(gone);
    std::filesystem::remove(gone);

    for (const char* const id : {"file_read", "file_write"}) {
        const Result<void> prepared = find_operator(id)->make({{"bytes", 100000}}, 1)->prepare(7);

        ASSERT_FALSE(prepared) << id;
        EXPECT_EQ(prepared.error().code, Errc::kUnavailable);
        EXPECT_THAT(prepared.error().detail, HasSubstr("cannot make a file in the working folder: No such file"));
    }
}

TEST_F(FileOperators, DoNotFillTheDisk)
{
    const Result<ScratchFile> file = ScratchFile::create(1UL << 60U);

    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().code, Errc::kUnavailable);
    EXPECT_THAT(file.error().detail, HasSubstr("MiB free"));
}

TEST(WholeBlocks, HoldTheBytes)
{
    EXPECT_EQ(whole_blocks(1), 4096U);
    EXPECT_EQ(whole_blocks(4096), 4096U);
    EXPECT_EQ(whole_blocks(4097), 8192U);
}

} // namespace
} // namespace fathom::probes
