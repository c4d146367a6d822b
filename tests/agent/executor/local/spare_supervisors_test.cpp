#include "agent/executor/local/attempt_folder.hpp"
#include "agent/executor/local/spare_supervisors.hpp"
#include "core/base/file.hpp"
#include "tests/agent/support/builders.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <thread>

namespace fathom::agent {
namespace {

/// A fork server that is a script: it writes its process id, as its supervisors do, each of which, when it is told a
/// folder, leaves a file there.
constexpr const char* kForkServer = R"(#!/usr/bin/python3
import os, signal, socket, sys
def note(kind):
    with open(f"{sys.argv[0]}.{kind}-{os.getpid()}", "w") as file:
        file.write(f"{os.getpid()}\n")
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
note("server")
requests = socket.socket(fileno=0)
while True:
    text, files, _, _ = socket.recv_fds(requests, 100, 2)
    if not text:
        break
    if os.fork() == 0:
        requests.close()
        note("supervisor")
        folder = os.read(files[0], 4096).decode().strip()
        if folder:
            open(os.path.join(folder, "supervised"), "w").close()
        os._exit(0)
    os.close(files[0])
)";

class SpareSupervisorsTest : public testing::Test {
  protected:
    SpareSupervisorsTest() { write_file(program_, kForkServer, 0700).value(); }

    std::vector<int> wait_for_supervisors(std::size_t count) { return wait_for("program.supervisor-", count); }
    int wait_for_server() { return wait_for("program.server-", 1).front(); }

    /// The process numbers in the files whose names begin so.
    std::vector<int> wait_for(const std::string& names, std::size_t count)
    {
        std::vector<int> pids;
        wait_until([&] {
            pids.clear();
            for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
                const Result<std::string> read = read_file(entry.path(), 100);
                const std::string text = read ? *read : std::string();
                if (entry.path().filename().string().starts_with(names) && text.ends_with("\n"))
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

    /// Not so once it has ended, also where nobody has asked how.
    static bool is_alive(int pid)
    {
        const Result<std::string> facts = read_file("/proc/" + std::to_string(pid) + "/stat", 4096);
        return facts && facts->substr(facts->rfind(')')).find(" Z ") == std::string::npos;
    }

    static bool is_supervised(const std::filesystem::path& attempt)
    {
        return std::filesystem::exists(attempt / "supervised");
    }

    test::TemporaryFolder folder_;
    std::filesystem::path program_ = folder_.path() / "program";
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
        wait_until([&] { return !is_alive(spare); });
    }

    ASSERT_TRUE(supervisors_.supervise(attempt("a")));

    wait_until([&] { return is_supervised(folder_.path() / "a"); });
}

TEST_F(SpareSupervisorsTest, ForksFromAnotherProcessWhereThatWasKilled)
{
    ASSERT_TRUE(supervisors_.supervise(attempt("a")));
    wait_until([&] { return is_supervised(folder_.path() / "a"); });
    const int killed = wait_for_server();
    ::kill(killed, SIGKILL);
    wait_until([&] { return !is_alive(killed); });

    ASSERT_TRUE(supervisors_.supervise(attempt("b")));

    wait_until([&] { return is_supervised(folder_.path() / "b"); });
    EXPECT_EQ(wait_for("program.server-", 2).size(), 2U);
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
