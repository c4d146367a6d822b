#include "core/base/file.hpp"
#include "core/base/id.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <fcntl.h>
#include <filesystem>
#include <iterator>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace fathom {
namespace {

TEST(WriteFile, LeavesPipesAndDevicesInPlace)
{
    const std::string path = testing::TempDir() + "write_file_pipe";
    ::unlink(path.c_str());
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    const int reader = ::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    ASSERT_GE(reader, 0);

    ASSERT_TRUE(write_file(path, "through"));

    EXPECT_TRUE(std::filesystem::is_fifo(path));
    std::array<char, 16> text{};
    EXPECT_EQ(::read(reader, text.data(), text.size()), 7);
    ::close(reader);
    ::unlink(path.c_str());
}

TEST(WriteFile, ReplacesWithTheGivenMode)
{
    const std::filesystem::path path = std::filesystem::temp_directory_path() / ("fathom-test-" + new_ulid());

    ASSERT_TRUE(write_file(path, "one", 0600));
    ASSERT_TRUE(write_file(path, "two", 0600));

    EXPECT_EQ(read_file(path).value(), "two");
    struct stat status = {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U);
    EXPECT_EQ(read_file(path, 2).error().code, Errc::kTooLarge);
    std::filesystem::remove(path);
    EXPECT_EQ(read_file(path).error().code, Errc::kNotFound);
    EXPECT_EQ(write_file("/nonexistent/x", "").error().code, Errc::kUnavailable);
}

TEST(WriteFile, ThreadsMayWriteTheSameFile)
{
    const std::filesystem::path folder = std::filesystem::temp_directory_path() / ("fathom-test-" + new_ulid());
    std::filesystem::create_directory(folder);
    const std::filesystem::path path = folder / "shared";
    const std::string one(20000, '1');
    const std::string two(30000, '2');

    std::atomic<int> failures{0};
    const auto write_often = [&](const std::string& content) {
        for (int i = 0; i < 100; ++i) {
            if (!write_file(path, content)) ++failures;
        }
    };
    std::thread other([&] { write_often(one); });
    write_often(two);
    other.join();

    EXPECT_EQ(failures, 0);
    const std::string left = read_file(path).value();
    EXPECT_TRUE(left == one || left == two);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1) << "temporary files are left";
    std::filesystem::remove_all(folder);
}

} // namespace
} // namespace fathom
