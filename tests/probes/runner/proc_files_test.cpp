#include "probes/runner/proc_files.hpp"
#include "probes/runner/resources.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace fathom::probes {
namespace {

TEST(ProcValue, FindsTheFirstLineWithTheKey)
{
    const std::string text = "processor\t: 0\nmodel name\t: Fast One\nmodel name\t: Other\nmodel\t: 5\nempty:\n";

    EXPECT_EQ(proc_value(text, "model name"), "Fast One");
    EXPECT_EQ(proc_value(text, "model"), "5"); // not the longer key that starts alike
    EXPECT_EQ(proc_value(text, "empty"), "");
    EXPECT_EQ(proc_value(text, "flags"), "");
    EXPECT_EQ(proc_value("", "flags"), "");
}

TEST(LeadingNumber, ReadsNumbersAndNotWords)
{
    EXPECT_EQ(leading_number("123 kB"), 123);
    EXPECT_EQ(leading_number("4096\n"), 4096);
    EXPECT_FALSE(leading_number("max\n"));
    EXPECT_FALSE(leading_number(""));
}

TEST(ProcText, IsEmptyForWhatIsNotThere)
{
    EXPECT_EQ(proc_text("/proc/there/is/no/such/file"), "");
    EXPECT_FALSE(proc_text("/proc/self/stat").empty());
}

class UsableCores : public testing::Test {
  protected:
    void TearDown() override { unsetenv("FATHOM_CORES"); }
};

TEST_F(UsableCores, AreTheAffinityMaskWhenNothingIsAsked)
{
    unsetenv("FATHOM_CORES");

    EXPECT_GE(usable_cores().value(), 1);
}

TEST_F(UsableCores, AreWhatIsAskedButNeverMoreThanTheMask)
{
    const int all = usable_cores().value();

    setenv("FATHOM_CORES", "1", 1);
    EXPECT_EQ(usable_cores().value(), 1);
    setenv("FATHOM_CORES", "100000", 1);
    EXPECT_EQ(usable_cores().value(), all);
}

TEST_F(UsableCores, RefuseWhatIsNotANumber)
{
    for (const char* const wrong : {"0", "-1", "two", "1.5", "2 "}) {
        setenv("FATHOM_CORES", wrong, 1);
        ASSERT_FALSE(usable_cores()) << wrong;
        EXPECT_EQ(usable_cores().error().code, Errc::kInvalid);
    }
}

TEST(UsableMemory, IsMoreThanNothingAndLessThanTheMachine)
{
    const double total = leading_number(proc_value(proc_text("/proc/meminfo"), "MemTotal")).value() * 1024;

    EXPECT_GT(usable_memory_bytes(), 1e6);
    EXPECT_LE(usable_memory_bytes(), total);
}

TEST(ProcessStart, IsBeforeNowAndNotLongAgo)
{
    const auto now = std::chrono::steady_clock::now();

    EXPECT_LE(process_start(now), now);
    EXPECT_GT(process_start(now), now - std::chrono::hours(1)) << "other tests of this process take minutes";
}

} // namespace
} // namespace fathom::probes
