#include "agent/executor/local/local_executor.hpp"
#include "core/base/file.hpp"
#include "tests/agent/support/executor_fixture.hpp"

#include <filesystem>
#include <optional>
#include <pwd.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace fathom::agent {
namespace {

using test::LocalExecutorTest;
using test::order;
using test::shell_order;

/// A stand-in for fathom-profile, which leaves how it was called as the profile.
constexpr const char* kProfiler = R"(#!/bin/sh
called=$*
while [ "$1" != -- ]; do shift; done
shift
printf '{"called": "%s"}' "$called" >.fathom-profile.json
exec "$@"
)";

TEST_F(LocalExecutorTest, ProfilesWithTheLibraryThatComesWithTheOrder)
{
    options_.programs = folder_.path() / "programs";
    std::filesystem::create_directory(options_.programs);
    write_file(options_.programs / "fathom-profile", kProfiler, 0755).value();
    RunOrder own = order_of({"true"});
    own.order.profile = true;
    RunOrder given = order_of({"cat", kLibraryName});
    given.order.profile = true;
    given.library = R"([{"id": "dgemm"}])";

    ASSERT_TRUE(executor().start(own));
    ASSERT_TRUE(executor().start(given));
    const AttemptEnd with_own = wait_end(own.order.attempt_id);
    const AttemptEnd with_given = wait_end(given.order.attempt_id);

    EXPECT_EQ(with_own.profile, (Json{{"called", "--output json --output-file .fathom-profile.json -- true"}}))
        << with_own.detail;
    EXPECT_EQ(with_given.profile, (Json{{"called", "--output json --output-file .fathom-profile.json --library "
                                                   ".fathom-library.json -- cat .fathom-library.json"}}))
        << with_given.detail;
    EXPECT_EQ(output(given.order.attempt_id, OutputStream::kStdout), given.library);
    EXPECT_FALSE(std::filesystem::exists(work(own.order.attempt_id) / kLibraryName));
    struct stat facts{};
    ASSERT_EQ(::stat((work(given.order.attempt_id) / kLibraryName).c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777U, 0444U);
    EXPECT_EQ(facts.st_uid, ::getuid()) << "not the job's";
}

TEST_F(LocalExecutorTest, RunsAScriptByItsFirstLineOrByTheShell)
{
    AttemptOrder with_line = order({});
    with_line.script = "#!/bin/cat\nhello\n";
    AttemptOrder without = order({});
    without.script = "echo $((6 * 7))\n";

    EXPECT_EQ(output(run(with_line).attempt_id, OutputStream::kStdout), with_line.script);
    EXPECT_EQ(output(run(without).attempt_id, OutputStream::kStdout), "42\n");
}

TEST_F(LocalExecutorTest, GivesTheJobItsFilesFolderAndVariables)
{
    AttemptOrder job = shell_order("cat input.txt; umask; test \"$HOME\" = \"$PWD\" && test -w . && echo home; "
                                   "ulimit -c; grep NoNewPrivs /proc/self/status; ls /proc/self/fd | wc -l; echo $X");
    job.files["input.txt"] = "data\n";
    job.environment["X"] = "from the user";

    const std::string text = output(run(job).attempt_id, OutputStream::kStdout);

    EXPECT_EQ(text, "data\n0077\nhome\n0\nNoNewPrivs:\t1\n4\nfrom the user\n");
}

TEST_F(LocalExecutorTest, DropsRootAndHidesOtherJobs)
{
    if (::getuid() != 0) GTEST_SKIP() << "needs root";
    options_.user = find_job_user("nobody").value();
    const AttemptOrder other = shell_order("echo secret > s; sleep 1000");
    start(other);
    wait_for_file(work(other.attempt_id) / "s");

    const AttemptEnd end = run(shell_order("id -u; id -G; cat " + (work(other.attempt_id) / "s").string() +
                                           " || echo hidden; touch mine && echo writable"));

    EXPECT_EQ(output(end.attempt_id, OutputStream::kStdout), "65534\n65534\nhidden\nwritable\n");
    struct stat facts{};
    ASSERT_EQ(::stat(work(end.attempt_id).c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777U, 0700U);
    executor().cancel(other.attempt_id);
    wait_end(other.attempt_id);
}

/// A named user with a home folder of its own, as those of services have; empty where there is none.
std::optional<std::pair<std::string, std::filesystem::path>> user_with_a_home()
{
    // NOLINTBEGIN(concurrency-mt-unsafe): this thread alone asks
    std::optional<std::pair<std::string, std::filesystem::path>> found;
    ::setpwent();
    for (const passwd* entry = ::getpwent(); entry != nullptr && !found; entry = ::getpwent()) {
        struct stat facts{};
        if (entry->pw_uid != 0 && ::stat(entry->pw_dir, &facts) == 0 && facts.st_uid == entry->pw_uid)
            found.emplace(entry->pw_name, entry->pw_dir);
    }
    ::endpwent();
    // NOLINTEND(concurrency-mt-unsafe)
    return found;
}

TEST_F(LocalExecutorTest, HidesTheHomeFolderOfTheUserThatRootRunsJobsAs)
{
    if (::getuid() != 0) GTEST_SKIP() << "needs root";
    const auto account = user_with_a_home();
    ASSERT_TRUE(account) << "PostgreSQL's user has one, where it is installed";
    const std::string home = account->second.string();
    options_.user = find_job_user(account->first).value();

    const AttemptEnd end =
        run(shell_order("ls -A " + home + " | wc -l; (echo x > " + home + "/fathom-left) 2>/dev/null && echo could"));

    EXPECT_EQ(output(end.attempt_id, OutputStream::kStdout), "0\n");
    EXPECT_FALSE(std::filesystem::exists(account->second / "fathom-left"));
}

TEST(JobUser, MustExist)
{
    if (::getuid() != 0) GTEST_SKIP() << "needs root";
    EXPECT_FALSE(find_job_user("no-such-user"));
    EXPECT_FALSE(find_job_user("root").value().has_value());
    EXPECT_TRUE(find_job_user("").value().has_value());
}

} // namespace
} // namespace fathom::agent
