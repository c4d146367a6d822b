#include "agent/executor/local/attempt_folder.hpp"
#include "core/base/file.hpp"
#include "tests/agent/support/builders.hpp"

#include <gmock/gmock.h>

namespace fathom::agent {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// As /sys/dev/block leads to devices' folders.
class BlockDevices : public testing::Test {
  protected:
    void add(const std::string& folder, const std::string& device, bool is_partition = false)
    {
        const fs::path place = folder_.path() / "devices" / folder;
        fs::create_directories(place);
        write_file(place / "dev", device + "\n").value();
        if (is_partition) write_file(place / "partition", "2\n").value();
        fs::create_directories(links());
        fs::create_symlink(place, links() / device);
    }
    fs::path links() const { return folder_.path() / "block"; }

    test::TemporaryFolder folder_;
};

TEST_F(BlockDevices, OfAPartitionTheWholeDiskIsLimited)
{
    add("pci/sda", "8:0");
    add("pci/sda/sda2", "8:2", true);
    add("virtual/dm-0", "253:0");

    EXPECT_EQ(whole_disk(links(), "8:0").value(), "8:0");
    EXPECT_EQ(whole_disk(links(), "8:2").value(), "8:0");
    EXPECT_EQ(whole_disk(links(), "253:0").value(), "253:0");
    EXPECT_EQ(whole_disk(links(), "8:3").error().code, Errc::kUnavailable);
}

TEST(DiskOf, SaysWhichFileSystemsHaveNone)
{
    const Result<std::string> none = disk_of("/proc/self");

    EXPECT_EQ(none.error().code, Errc::kNotFound);
    EXPECT_THAT(none.error().detail, HasSubstr("/proc/self is on a file system, which has no block device of its own"));
    EXPECT_EQ(disk_of("/nonexistent/folder").error().code, Errc::kUnavailable);
}

TEST(IoLimits, CountForEachProcessor)
{
    const IoLimits one{.device = "8:0", .read_bytes_per_s = 1000, .writes_per_s = 50};

    EXPECT_EQ(scaled(one, 4), (IoLimits{.device = "8:0", .read_bytes_per_s = 4000, .writes_per_s = 200}));
    EXPECT_EQ(scaled(one, 0), one) << "a job without processors of its own";
    EXPECT_EQ(scaled({.reads_per_s = 1LL << 40U}, 2).reads_per_s, 4294967295) << "the kernel cuts off what is more";
    EXPECT_FALSE(IoLimits{}.has_any());
    EXPECT_TRUE(one.has_any());
}

TEST(IoLimits, AreWrittenAsTheKernelReadsThem)
{
    EXPECT_EQ(io_max_line({.device = "8:0", .read_bytes_per_s = 1000, .writes_per_s = 50}),
              "8:0 rbps=1000 wbps=max riops=max wiops=50");
}

TEST(IoLimits, ReachTheSupervisor)
{
    SupervisorOrder order;
    order.run = {test::order({"true"}), {0}, 1, 0, {}};
    order.isolation.limits_io = true;
    order.io = {.device = "8:0", .read_bytes_per_s = 1, .write_bytes_per_s = 2, .reads_per_s = 3, .writes_per_s = 4};
    order.disk_limit_files = 5;

    const SupervisorOrder read = decode_supervisor_order(encode(order)).value();

    EXPECT_EQ(read.io, order.io);
    EXPECT_TRUE(read.isolation.limits_io);
    EXPECT_EQ(read.disk_limit_files, 5);
    EXPECT_TRUE(decode_isolation(encode(order.isolation))->limits_io);
}

} // namespace
} // namespace fathom::agent
