// What a Slurm job's control group says that it used, as its script notes it and the agent reads it.

#include "agent/executor/slurm/usage_note.hpp"
#include "core/base/file.hpp"
#include "core/base/run_program.hpp"
#include "tests/agent/support/builders.hpp"

#include <gtest/gtest.h>

namespace fathom::agent {
namespace {

/// Runs the script's lines on a node whose /proc/self/cgroup and /sys/fs/cgroup are files of the test.
class SlurmUsageNoteTest : public testing::Test {
  protected:
    void put(const std::string& path, const std::string& text)
    {
        const std::filesystem::path file = folder_.path() / "groups" / path;
        std::filesystem::create_directories(file.parent_path());
        write_file(file, text).value();
    }
    /// What the script of job 7 notes when it is in these groups.
    JobUsage noted_in(const std::string& groups)
    {
        const std::string root = folder_.path().string();
        write_file(root + "/own", groups).value();
        std::string script = usage_lines();
        replace_all(script, "/proc/self/cgroup", root + "/own");
        replace_all(script, "/sys/fs/cgroup", root + "/groups");
        const std::string line = "SLURM_JOB_ID=7 fathom_report=" + root + "\n" + script;
        run_program_to_end({"/bin/bash", "-c", line}, {}, std::chrono::seconds(60), 1U << 20U).value();
        return read_usage(read_file(root + "/usage").value());
    }

    test::TemporaryFolder folder_;

  private:
    static void replace_all(std::string& text, const std::string& from, const std::string& to)
    {
        for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
            text.replace(at, from.size(), to);
    }
};

TEST_F(SlurmUsageNoteTest, IsThatOfTheWholeJobNotOfItsScriptsStep)
{
    const std::string job = "system.slice/n1_slurmstepd.scope/job_7";
    put(job + "/memory.peak", "5000000\n");
    put(job + "/cpu.stat", "usage_usec 2500000\nuser_usec 2000000\nsystem_usec 500000\n");
    put(job + "/step_batch/user/task_0/memory.peak", "1000\n");

    const JobUsage usage = noted_in("0::/" + job + "/step_batch/user/task_0\n");

    EXPECT_EQ(usage.peak_memory_bytes, 5'000'000);
    EXPECT_EQ(usage.cpu_s, 2.5);
}

TEST_F(SlurmUsageNoteTest, IsReadFromTheOlderControlGroupsToo)
{
    put("memory/slurm/uid_1000/job_7/memory.max_usage_in_bytes", "4096\n");

    const JobUsage usage = noted_in("9:cpu,cpuacct:/slurm/uid_1000/job_7/step_batch\n"
                                    "4:memory:/slurm/uid_1000/job_7/step_batch\n0::/system.slice/slurmd.service\n");

    EXPECT_EQ(usage.peak_memory_bytes, 4096);
    EXPECT_EQ(usage.cpu_s, 0);
}

TEST_F(SlurmUsageNoteTest, IsNotThatOfAnybodyElsesGroup)
{
    for (const char* group : {"system.slice/slurmd.service", "slurm/job_77/step_batch", "user.slice/job_8"}) {
        put(std::string(group) + "/memory.peak", "5000\n");
        put(std::string(group) + "/cpu.stat", "usage_usec 5\n");

        const JobUsage usage = noted_in("0::/" + std::string(group) + "\n");

        EXPECT_EQ(usage.peak_memory_bytes, 0) << group;
        EXPECT_EQ(usage.cpu_s, 0) << group;
    }
}

TEST_F(SlurmUsageNoteTest, IsLeftOutWhereTheKernelTellsNoPeak)
{
    put("job_7/cpu.stat", "usage_usec 1000000\n");

    const JobUsage usage = noted_in("0::/job_7/step_batch\n");

    EXPECT_EQ(usage.peak_memory_bytes, 0);
    EXPECT_EQ(usage.cpu_s, 1);
}

TEST(SlurmUsage, TakesNothingThatNoNodeCouldHaveUsed)
{
    for (const char* note : {"", "memory", "memory ", "memory -1\ncpu_us -1\n", "memory max\n", "memory 1e3\n",
                             "memory 1152921504606846976\n", "cpu_us 9223372036854775807\n",
                             "memory 99999999999999999999\n", "MEMORY 5\n memory 5\n"}) {
        const JobUsage usage = read_usage(note);

        EXPECT_EQ(usage.peak_memory_bytes, 0) << note;
        EXPECT_EQ(usage.cpu_s, 0) << note;
    }
}

TEST(SlurmUsage, AddsWhatTheScriptsShellCouldNotSee)
{
    AttemptEnd end;
    end.outcome = AttemptOutcome::kExited;
    end.cpu_s = 3;
    add_usage(end, {.peak_memory_bytes = 100, .cpu_s = 7});
    EXPECT_EQ(end.max_resident_bytes, 0) << "it never ran";
    EXPECT_EQ(end.cpu_s, 3);

    end.started_at = Timestamp();
    add_usage(end, {.peak_memory_bytes = 100, .cpu_s = 7});
    EXPECT_EQ(end.max_resident_bytes, 100);
    EXPECT_EQ(end.cpu_s, 7) << "what srun started is no child of the shell";

    add_usage(end, {.peak_memory_bytes = 100, .cpu_s = 0});
    EXPECT_EQ(end.cpu_s, 7);

    AttemptEnd out_of_memory;
    out_of_memory.outcome = AttemptOutcome::kOutOfMemory;
    out_of_memory.started_at = Timestamp();
    add_usage(out_of_memory, {.peak_memory_bytes = 100, .cpu_s = 7});
    EXPECT_EQ(out_of_memory.max_resident_bytes, 0);
    EXPECT_EQ(out_of_memory.cpu_s, 7);
}

TEST(SlurmUsage, IsByTheAccountsWhereTheyKnowIt)
{
    AttemptEnd end;
    end.started_at = Timestamp();
    end.cpu_s = 99; // as the job's user may have noted it
    JobUsage usage{.peak_memory_bytes = 100, .cpu_s = 50};

    SlurmJob account;
    account.cpu_s = 7;
    account.peak_memory_bytes = 40;
    add_account(usage, account);
    add_usage(end, usage);
    EXPECT_EQ(end.cpu_s, 7);
    EXPECT_EQ(end.max_resident_bytes, 100) << "accounts are sampled";

    account.cpu_s = 0;
    account.peak_memory_bytes = 400;
    add_account(usage, account);
    add_usage(end, usage);
    EXPECT_EQ(end.cpu_s, 7) << "what gathers nothing takes nothing back";
    EXPECT_EQ(end.max_resident_bytes, 400);
}

} // namespace
} // namespace fathom::agent
