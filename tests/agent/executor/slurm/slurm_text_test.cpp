#include "agent/executor/slurm/slurm_text.hpp"

#include <gmock/gmock.h>

namespace fathom::agent {
namespace {

TEST(SlurmText, ReadsNodesAndPassesOverWarnings)
{
    const std::vector<SlurmNode> nodes = parse_nodes("sinfo: error: a plugin is missing\n"
                                                     "gpu|n7|128|2|32|2|515000|a100,ib|gpu:a100:4|mixed|1-12:00:00\n"
                                                     "main|n8|4|1|4|1|1000|(null)|(null)|down*|infinite\n"
                                                     "main|n9|many|1|4|1|1000|(null)|(null)|idle|30:00\n");

    ASSERT_EQ(nodes.size(), 2U);
    EXPECT_EQ(nodes[0].partition, "gpu");
    EXPECT_EQ(nodes[0].cpus, 128);
    EXPECT_EQ(nodes[0].cores, 64);
    EXPECT_EQ(nodes[0].memory_bytes, 515000LL << 20U);
    EXPECT_EQ(nodes[0].features, "a100,ib");
    EXPECT_EQ(nodes[0].gres, "gpu:a100:4");
    EXPECT_TRUE(nodes[0].is_usable);
    EXPECT_EQ(nodes[0].max_wall_s, 36 * 3600);
    EXPECT_EQ(nodes[1].max_wall_s, 0);
    EXPECT_EQ(nodes[1].features, "");
    EXPECT_FALSE(nodes[1].is_usable);
}

TEST(SlurmText, ReadsWhatNodesKeepForTheirSystem)
{
    const auto reserves =
        parse_reserves("NodeName=n1 Arch=x86_64 CoresPerSocket=32 CPUAlloc=0 CPUEfctv=120 CPUTot=128 CPULoad=0.10 "
                       "OS=Linux 6.1.0 #1 SMP CPUTot=1 RealMemory=515000 CoreSpecCount=4 MemSpecLimit=16384 State=IDLE "
                       "Comment=MemSpecLimit=1\n"
                       "NodeName=n2 CPUEfctv=4 CPUTot=4 RealMemory=1000\n"
                       "scontrol: error: MemSpecLimit=7\n");

    ASSERT_EQ(reserves.size(), 1U);
    EXPECT_EQ(reserves.at("n1"), (SlurmReserve{16384LL << 20U, 8}));
    SlurmNode node{.partition = "main",
                   .name = "n1",
                   .cpus = 128,
                   .cores = 64,
                   .memory_bytes = 515000LL << 20U,
                   .features = "",
                   .gres = "",
                   .is_usable = true};
    take_reserve(node, reserves.at("n1"));
    EXPECT_EQ(node.cpus, 120);
    EXPECT_EQ(node.cores, 60);
    EXPECT_EQ(node.memory_bytes, (515000LL - 16384) << 20U);
    take_reserve(node, {1LL << 60U, 1000});
    EXPECT_EQ(node.cores, 1) << "whatever Slurm says";
    EXPECT_EQ(node.memory_bytes, 0);
}

TEST(SlurmText, ReadsTheAccounts)
{
    const std::vector<SlurmJob> jobs =
        parse_accounts("7|att_x|FAILED|3:0|1000|2026-11-24T19:56:47|2026-11-24T19:56:48|n[1-2]|00:00:00||\n"
                       "8|att_y|CANCELLED by 1000|0:15|65534|Unknown|2026-11-24T19:56:48|None assigned|00:00:00||\n"
                       "9|att_z|RUNNING|0:0|1000|2026-11-24T19:56:47|Unknown|n1|00:00:00||\n"
                       "10|att_z|FAILED|three|1000|2026-11-24T19:56:47|Unknown|n1|00:00:00||\n"
                       "11|a|b|FAILED|3:0|1000|2026-11-24T19:56:47|Unknown|n1|00:00:00||\n");

    ASSERT_EQ(jobs.size(), 3U);
    EXPECT_EQ(jobs[0].id, "7");
    EXPECT_EQ(jobs[0].name, "att_x");
    EXPECT_EQ(jobs[0].state, "FAILED");
    EXPECT_EQ(jobs[0].wait_status, 768);
    EXPECT_EQ(jobs[0].uid, 1000U);
    EXPECT_EQ(format_rfc3339(jobs[0].start.value()), "2026-11-24T19:56:47.000000Z");
    EXPECT_EQ(format_rfc3339(jobs[0].end.value()), "2026-11-24T19:56:48.000000Z");
    EXPECT_EQ(jobs[0].nodes, "n[1-2]");
    EXPECT_EQ(jobs[1].state, "CANCELLED");
    EXPECT_EQ(jobs[1].wait_status, 15);
    EXPECT_FALSE(jobs[1].start);
    EXPECT_EQ(jobs[1].nodes, "") << "it never had any";
    EXPECT_FALSE(jobs[2].end);
}

std::string account_of_job(const std::string& id, const std::string& cpu)
{
    return id + "|att_x|COMPLETED|0:0|1000|2026-11-24T19:56:47|2026-11-24T19:56:48|n1|" + cpu + "||\n";
}

std::string account_of_step(const std::string& id, const std::string& used, const std::string& energy = "0")
{
    return id + "|batch|COMPLETED|0:0||2026-11-24T19:56:47|2026-11-24T19:56:48|n1|00:01.000|" + used + "|" + energy +
           "\n";
}

TEST(SlurmText, ReadsWhatJobsUsedFromTheAccountsOfTheirSteps)
{
    const std::vector<SlurmJob> jobs = parse_accounts(
        account_of_job("7", "00:02.250") +
        account_of_step("7.batch", "cpu=00:00:01,energy=0,fs/disk=10,mem=2048,pages=0,vmem=4096", "300") +
        account_of_step("7.0", "cpu=00:00:01,mem=8192,vmem=9000", "700") + account_of_step("7.1", "cpu=1") +
        account_of_step("8.0", "mem=1000000") + account_of_job("9", "1-01:00:01"));

    ASSERT_EQ(jobs.size(), 2U);
    EXPECT_EQ(jobs[0].cpu_s, 2.25);
    EXPECT_EQ(jobs[0].peak_memory_bytes, 8192) << "of its own steps, the largest";
    EXPECT_EQ(jobs[0].energy_j, 700) << "the batch script's step ran beside it";
    EXPECT_EQ(jobs[1].cpu_s, 90001);
    EXPECT_EQ(jobs[1].energy_j, 0);
    EXPECT_EQ(jobs[1].peak_memory_bytes, 0) << "nothing was gathered";
    for (const char* wrong : {"", "2", "INVALID", "-1:00", "99999999999999999999:00"})
        EXPECT_EQ(parse_accounts(account_of_job("7", wrong)).at(0).cpu_s, 0) << wrong;
    for (const char* wrong : {"mem", "mem=", "mem=-1", "mem=2048K", "mem=99999999999999999999", "xmem=1"}) {
        const auto read = parse_accounts(account_of_job("7", "00:00:00") + account_of_step("7.batch", wrong));
        EXPECT_EQ(read.at(0).peak_memory_bytes, 0) << wrong;
    }
    for (const char* wrong : {"", "-1", "1.5K", "18446744073709551614"}) {
        const auto read = parse_accounts(account_of_job("7", "00:00:00") + account_of_step("7.batch", "mem=1", wrong));
        EXPECT_EQ(read.at(0).energy_j, 0) << wrong;
    }
}

TEST(SlurmText, ReadsTheQueue)
{
    const std::vector<SlurmJob> jobs =
        parse_queue("7|att_x|FAILED|768|1000|2026-11-24T19:56:47|2026-11-24T19:56:48|1-02:03:04|vm|NonZeroExitCode|\n"
                    "8|att_y|PENDING|0|65534|N/A|N/A|0:00||Resources|\n"
                    "9|att_z|PENDING|0|nobody|N/A|N/A|0:00||Resources|\n"
                    "nonsense\n");

    ASSERT_EQ(jobs.size(), 2U);
    EXPECT_EQ(jobs[0].id, "7");
    EXPECT_EQ(jobs[0].wait_status, 768);
    EXPECT_EQ(jobs[0].uid, 1000U);
    EXPECT_EQ(format_rfc3339(jobs[0].end.value()), "2026-11-24T19:56:48.000000Z");
    EXPECT_EQ(jobs[0].used_s, 86400 + 2 * 3600 + 3 * 60 + 4);
    EXPECT_EQ(jobs[0].nodes, "vm");
    EXPECT_EQ(jobs[0].reason, "NonZeroExitCode");
    EXPECT_EQ(jobs[1].state, "PENDING");
    EXPECT_FALSE(jobs[1].start);
}

TEST(SlurmText, ReadsHowLongAJobHasRun)
{
    EXPECT_EQ(parse_slurm_duration("0:09"), 9);
    EXPECT_EQ(parse_slurm_duration(" 59:01 "), 59 * 60 + 1);
    EXPECT_EQ(parse_slurm_duration("02:00:00"), 7200);
    for (const char* wrong : {"", "7", "INVALID", "-1:00", "1-", "1:2:3:4", "1:x", "99999999999999999999:00"})
        EXPECT_FALSE(parse_slurm_duration(wrong)) << wrong;
}

TEST(SlurmText, ReadsTheJobsNumber)
{
    EXPECT_EQ(parse_submitted("17\n").value(), "17");
    EXPECT_EQ(parse_submitted("sbatch: warning: slow\n17;alpha\n").value(), "17");
    EXPECT_FALSE(parse_submitted("sbatch: error: no\n"));
    EXPECT_FALSE(parse_submitted(""));
}

TEST(SlurmText, TellsRefusalsForGoodFromThoseOfTheMoment)
{
    EXPECT_TRUE(is_final_refusal("Batch job submission failed: Requested time limit is invalid (missing or exceeds "
                                 "some limit)"));
    EXPECT_TRUE(is_final_refusal("Batch job submission failed: Invalid qos specification"));
    EXPECT_FALSE(is_final_refusal("QOSMaxSubmitJobPerUserLimit; Batch job submission failed: Job violates "
                                  "accounting/QOS policy"));
    EXPECT_FALSE(is_final_refusal("Slurm temporarily unable to accept job, sleeping and retrying"));
    EXPECT_TRUE(is_final_refusal("QOSMaxWallDurationPerJobLimit; Batch job submission failed: Job violates "
                                 "accounting/QOS policy"));
    EXPECT_TRUE(never_starts("PartitionTimeLimit"));
    EXPECT_TRUE(never_starts("QOSMaxCpuPerJobLimit"));
    for (const char* reason : {"", "None", "Resources", "Priority", "PartitionDown", "QOSMaxJobsPerUserLimit"})
        EXPECT_FALSE(never_starts(reason)) << reason;
}

TEST(SlurmText, ReadsWhenAJobWouldStart)
{
    const std::optional<Timestamp> start =
        parse_tested_start("sbatch: warning: slow\nsbatch: Job 17 to start at 2026-11-24T19:56:47 using 2 processors "
                           "on nodes vm in partition main\n");
    ASSERT_TRUE(start);
    EXPECT_EQ(format_rfc3339(*start), "2026-11-24T19:56:47.000000Z");
    EXPECT_FALSE(parse_tested_start("sbatch: Job 17 to start at N/A using 2 processors on nodes vm"));
    EXPECT_FALSE(parse_tested_start("allocation failure: Requested node configuration is not available"));
    EXPECT_FALSE(parse_tested_start("sbatch: Job 17 to start at 2026"));
}

TEST(SlurmText, SaysARefusalInOneLine)
{
    EXPECT_EQ(slurm_reason("sbatch: error: QOSMaxSubmitJobPerUserLimit\n"
                           "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy\n"),
              "QOSMaxSubmitJobPerUserLimit; Batch job submission failed: Job violates accounting/QOS policy");
    EXPECT_LE(slurm_reason(std::string(100'000, 'x')).size(), 1000U);
}

} // namespace
} // namespace fathom::agent
