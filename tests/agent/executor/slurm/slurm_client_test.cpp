#include "agent/executor/slurm/slurm_client.hpp"
#include "core/base/file.hpp"
#include "core/base/split_text.hpp"
#include "tests/agent/support/builders.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace fathom::agent {
namespace {

using namespace std::chrono_literals;

/// Slurm's programs are scripts that answer what stands in files beside them, and note what they were asked.
class SlurmNodes : public testing::Test {
  protected:
    SlurmNodes()
    {
        answer("sinfo", "main|n1|8|1|4|2|16384|(null)|(null)|idle|infinite\n");
        answer("scontrol", "NodeName=n1 CPUEfctv=8 CPUTot=8 MemSpecLimit=1024\n");
        connect("SwitchName=leaf0 Level=0 LinkSpeed=1 Nodes=n[1-2]\n");
    }

    void answer(const std::string& program, const std::string& text)
    {
        const std::filesystem::path path = folder_.path() / program;
        write_file(path.string() + ".answer", text).value();
        write_file(path,
                   "#!/bin/sh\necho \"$@\" >>" + path.string() + ".asked\n[ \"$*\" != 'show topology' ] || exec cat " +
                       path.string() + ".topology\ncat " + path.string() + ".answer\n",
                   0700)
            .value();
    }
    /// scontrol answers this about switches from here on.
    void connect(const std::string& topology) { write_file(folder_.path() / "scontrol.topology", topology).value(); }
    /// scontrol about nodes, so far.
    std::size_t times_asked() const
    {
        const Result<std::string> noted = read_file((folder_.path() / "scontrol.asked").string());
        return noted ? static_cast<std::size_t>(std::ranges::count(split_text(*noted, '\n'), "-a -o show nodes")) : 0;
    }
    std::int64_t memory_at(std::chrono::seconds since_start)
    {
        return client_.nodes(details_, start_ + since_start).value().at(0).memory_bytes >> 20U;
    }

    test::TemporaryFolder folder_;
    SlurmClient client_{
        SlurmConfig{
            .programs = folder_.path(), .settings = {}, .work_folder = {}, .partitions = {}, .account = {}, .qos = {}},
        std::nullopt};
    SlurmNodeDetails details_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

TEST_F(SlurmNodes, AreAskedForTheirReservesEveryFewMinutesOnly)
{
    EXPECT_EQ(memory_at(0s), 15360);
    answer("scontrol", "NodeName=n1 CPUEfctv=8 CPUTot=8 MemSpecLimit=2048\n");
    EXPECT_EQ(memory_at(20s), 15360);
    // Jobs come and go: no other node.
    answer("sinfo", "main|n1|8|1|4|2|16384|(null)|(null)|allocated|infinite\n");
    EXPECT_EQ(memory_at(kNodeDetailsInterval - 1s), 15360);
    EXPECT_EQ(times_asked(), 1U);

    EXPECT_EQ(memory_at(kNodeDetailsInterval), 14336);
    EXPECT_EQ(times_asked(), 2U);
}

TEST_F(SlurmNodes, AreAskedForTheirReservesAtOnceWhenTheyChange)
{
    EXPECT_EQ(memory_at(0s), 15360);
    answer("sinfo", "main|n1|8|1|4|2|32768|(null)|(null)|idle|infinite\n");
    answer("scontrol", "NodeName=n1 CPUEfctv=8 CPUTot=8 MemSpecLimit=2048\n");

    EXPECT_EQ(memory_at(20s), 30720);
}

TEST_F(SlurmNodes, KeepTheReservesThatWereToldLastWhenScontrolFails)
{
    EXPECT_EQ(memory_at(0s), 15360);
    write_file(folder_.path() / "scontrol", "#!/bin/sh\nexit 1\n", 0700).value();

    EXPECT_EQ(memory_at(kNodeDetailsInterval), 15360);
    answer("scontrol", "");
    EXPECT_EQ(memory_at(kNodeDetailsInterval + 20s), 16384);
}

TEST_F(SlurmNodes, AreToldWhichSwitchesConnectThem)
{
    const auto leaves_at = [&](std::chrono::seconds since_start) {
        return client_.nodes(details_, start_ + since_start).value().at(0).leaf_switches;
    };
    EXPECT_THAT(leaves_at(0s), testing::ElementsAre("leaf0"));
    connect("SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=n1\n");
    EXPECT_THAT(leaves_at(20s), testing::ElementsAre("leaf0"));
    EXPECT_THAT(leaves_at(kNodeDetailsInterval), testing::ElementsAre("leaf1"));

    connect("No topology information available\n");
    EXPECT_THAT(leaves_at(2 * kNodeDetailsInterval), testing::IsEmpty());
}

/// Slurm's programs are scripts that note what they were asked.
class SlurmQuestions : public testing::Test {
  protected:
    SlurmQuestions()
    {
        for (const char* program : {"sbatch", "squeue"}) {
            const std::filesystem::path path = folder_.path() / program;
            write_file(path, "#!/bin/sh\necho \"$@\" >" + path.string() + ".asked\necho 17\n", 0700).value();
        }
    }
    std::string asked(const std::string& program) const
    {
        return read_file(folder_.path() / (program + ".asked")).value();
    }

    test::TemporaryFolder folder_;
    SlurmClient client_{
        SlurmConfig{
            .programs = folder_.path(), .settings = {}, .work_folder = {}, .partitions = {}, .account = {}, .qos = {}},
        std::nullopt};
};

TEST_F(SlurmQuestions, AJobIsSubmittedForItsUser)
{
    ASSERT_TRUE(client_.submit("/shared/job.sh", JobUser{"ann", 2000, 2001}));
    EXPECT_THAT(asked("sbatch"), testing::HasSubstr(" --uid=2000 --gid=2001 /shared/job.sh"));

    ASSERT_TRUE(client_.submit("/shared/job.sh", std::nullopt));
    EXPECT_THAT(asked("sbatch"), testing::Not(testing::HasSubstr("--uid")));
}

TEST_F(SlurmQuestions, OneQuestionIsForTheJobsOfAllUsers)
{
    ASSERT_TRUE(client_.queue({2002, 2000}));

    EXPECT_THAT(asked("squeue"), testing::HasSubstr(" --user=2000,2002 "));
}

} // namespace
} // namespace fathom::agent
