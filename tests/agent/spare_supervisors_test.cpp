#include "agent/executor/local/attempt_folder.hpp"
#include "agent/executor/local/spare_supervisors.hpp"
#include "core/base/file.hpp"
#include "tests/agent/support/builders.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <thread>

namespace fathom::agent {
namespace {

/// Supervisors that are shell scripts: each writes its process id, and when it is told a folder, leaves a file there.
class SpareSupervisorsTest : public testing::Test {
  protected:
    SpareSupervisorsTest()
    {
        write_file(program_, "#!/bin/sh\necho $$ >\"$0.pid-$$\"\nread folder && touch \"$folder/supervised\"\n", 0700)
            .value();
    }

    std::vector<int> wait_for_supervisors(std::size_t count)
    {
        std::vector<int> pids;
        wait_until([&] {
            pids.clear();
            for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
                const Result<std::string> read = read_file(entry.path(), 100);
                const std::string text = read ? *read : std::string();
                if (entry.path().filename().string().starts_with("supervisor.pid-") && text.ends_with("\n"))
                    pids.push_back(std::stoi(text));
            }
            return pids.size() >= count;
        });
        return pids;
    }

    std::filesystem::path attempt(const std::string& name)
    {
        std::filesystem::create_directory(folder_.path() / name);
        return folder_.path() / name;
    }

    static void wait_until(const std::function<bool()>& condition)
    {
        for (int i = 0; i < 6000 && !condition(); ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        EXPECT_TRUE(condition());
    }

    static bool is_supervised(const std::filesystem::path& attempt)
    {
        return std::filesystem::exists(attempt / "supervised");
    }

    test::TemporaryFolder folder_;
    std::filesystem::path program_ = folder_.path() / "supervisor";
    SpareSupervisors supervisors_{program_, {}};
};

TEST_F(SpareSupervisorsTest, HandsAnAttemptToOneThatIsThereAlready)
{
    supervisors_.refill();
    const std::vector<int> spares = wait_for_supervisors(2);
    supervisors_.refill();

    ASSERT_TRUE(supervisors_.supervise(attempt("a")));

    wait_until([&] { return is_supervised(folder_.path() / "a"); });
    EXPECT_THAT(wait_for_supervisors(2), testing::UnorderedElementsAreArray(spares)) << "none was started for it";
}

TEST_F(SpareSupervisorsTest, StartsOneWhereThereIsNone)
{
    ASSERT_TRUE(supervisors_.supervise(attempt("a")));

    wait_until([&] { return is_supervised(folder_.path() / "a"); });
}

TEST_F(SpareSupervisorsTest, PassesOverSparesThatWereKilled)
{
    supervisors_.refill();
    for (const int spare : wait_for_supervisors(2)) {
        ::kill(spare, SIGKILL);
        wait_until([&] {
            supervisors_.reap();
            return ::kill(spare, 0) != 0;
        });
    }

    ASSERT_TRUE(supervisors_.supervise(attempt("a")));

    wait_until([&] { return is_supervised(folder_.path() / "a"); });
}

TEST(SpareSupervisors, SayWhenNoProcessCanBeStarted)
{
    SpareSupervisors supervisors("/no/such/program", {});
    supervisors.refill();

    const Result<void> started = supervisors.supervise("/tmp");

    ASSERT_FALSE(started);
    EXPECT_THAT(started.error().detail, testing::HasSubstr("cannot start a supervisor"));
}

TEST(SupervisorCgroup, IsASupervisorsOfThisPidNamespaceOnly)
{
    const std::string ours = supervisor_cgroup({100, 200});
    const std::optional<ProcessName> known = supervisor_of_cgroup(ours);
    ASSERT_TRUE(known);
    EXPECT_EQ(known->pid, 100);
    EXPECT_EQ(known->start_ticks, 200);
    EXPECT_FALSE(supervisor_of_cgroup(ours + "0")) << "a container's, whose process 100 we cannot see";
    EXPECT_FALSE(supervisor_of_cgroup("supervisor-100-200"));
    EXPECT_FALSE(supervisor_of_cgroup("att_01M7ZP0E4X0000000000000000"));
}

} // namespace
} // namespace fathom::agent
