#include "probes/profile/counter_records.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <linux/perf_event.h>

namespace fathom::profile {
namespace {

template <class T>
void append(std::string& text, T value)
{
    text.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

std::string record(std::uint32_t type, std::uint64_t first, std::uint64_t second)
{
    std::string text;
    append(text, perf_event_header{.type = type, .misc = 0, .size = 24});
    append(text, first);
    append(text, second);
    return text;
}

TEST(ReadSamples, TakesSamplesAndCountsLostOnes)
{
    std::uint64_t lost = 1;
    const std::string records = record(PERF_RECORD_SAMPLE, 0x401000, 0x0000000500000004) +
                                record(PERF_RECORD_LOST, 9, 7) + record(PERF_RECORD_EXIT, 1, 2) +
                                record(PERF_RECORD_SAMPLE, 0x402000, 0x0000000500000004);

    const std::vector<CounterSample> samples = read_samples(records, lost);

    ASSERT_EQ(samples.size(), 2U);
    EXPECT_EQ(samples[0].process, 4);
    EXPECT_EQ(samples[0].address, 0x401000U);
    EXPECT_EQ(samples[1].address, 0x402000U);
    EXPECT_EQ(lost, 8U);
}

TEST(ReadSamples, StopsAtARecordThatDoesNotFit)
{
    std::uint64_t lost = 0;
    std::string records = record(PERF_RECORD_SAMPLE, 1, 1);
    append(records, perf_event_header{.type = PERF_RECORD_SAMPLE, .misc = 0, .size = 0});

    EXPECT_EQ(read_samples(records, lost).size(), 1U);
    EXPECT_TRUE(read_samples(records.substr(0, 23), lost).empty());
}

TEST(ReadCodeMappings, TakesCodeOfFiles)
{
    const std::vector<CodeMapping> mappings =
        read_code_mappings("7f0000000000-7f0000001000 r--p 00000000 fe:01 12 /usr/lib/a.so\n"
                           "7f0000001000-7f0000005000 r-xp 00001000 fe:01 12                         /usr/lib/a b.so\n"
                           "7f0000006000-7f0000007000 r-xp 00000000 00:00 0 \n"
                           "7f0000007000-7f0000008000 r-xp 00000000 fe:01 13 /tmp/gone (deleted)\n"
                           "7ffd00000000-7ffd00002000 r-xp 00000000 00:00 0                          [vdso]\n"
                           "400000-401000 r-xp 00000000 fe:01 14 /bin/program\nnonsense\n");

    ASSERT_EQ(mappings.size(), 3U);
    EXPECT_EQ(mappings[0].path, "/bin/program");
    EXPECT_EQ(mappings[1].path, "/usr/lib/a b.so");
    EXPECT_EQ(mappings[1].identity, "fe:01 12 /usr/lib/a b.so");
    EXPECT_EQ(mappings[1].begin, 0x7f0000001000U);
    EXPECT_EQ(mappings[1].end, 0x7f0000005000U);
    EXPECT_EQ(mappings[1].offset, 0x1000U);
    EXPECT_FALSE(mappings[1].is_deleted);
    EXPECT_EQ(mappings[2].identity, "fe:01 13 /tmp/gone"); // as before it was deleted
    EXPECT_TRUE(mappings[2].is_deleted);
}

} // namespace
} // namespace fathom::profile
