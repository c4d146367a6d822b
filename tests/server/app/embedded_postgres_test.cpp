#include "core/base/file.hpp"
#include "server/app/embedded_postgres.hpp"
#include "server/app/postgres_binaries.hpp"
#include "server/app/postgres_folder.hpp"
#include "tests/support/temporary_postgres.hpp"
#include "tests/support/test_io.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <fstream>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fathom::server {
namespace {

namespace fs = std::filesystem;
using test::eventually;
using test::run_sql;
using test::TemporaryFolder;

EmbeddedPostgres::Options options_for(const fs::path& state_dir)
{
    EmbeddedPostgres::Options options;
    options.state_dir = state_dir;
    options.flush_new_cluster = false;
    return options;
}

std::unique_ptr<EmbeddedPostgres> start(const fs::path& state_dir)
{
    auto started = EmbeddedPostgres::start(options_for(state_dir));
    if (!started) throw std::runtime_error(started.error().detail);
    return std::move(*started);
}

bool answers(const EmbeddedPostgres& postgres)
{
    try {
        return run_sql(postgres.url(), "SELECT 1") == "1";
    } catch (const std::exception&) {
        return false;
    }
}

/// False for a zombie, too: nobody may be there to reap an orphan in a container.
bool runs(pid_t process)
{
    const Result<std::string> facts = read_file("/proc/" + std::to_string(process) + "/stat");
    return facts && facts->find(") Z ") == std::string::npos;
}

TEST(EmbeddedPostgres, FindsItsDataAgainAtTheSecondStart)
{
    const TemporaryFolder state;
    const fs::path pid_file = state.path() / "postgres/data/postmaster.pid";
    {
        const auto first = start(state.path());
        run_sql(first->url(), "CREATE TABLE kept AS SELECT 42 AS value");
        first->stop();
        EXPECT_FALSE(answers(*first));
        EXPECT_FALSE(fs::exists(pid_file)) << "the shutdown must be clean";
    }
    // A file that a crash left, whose process id another program (this one) has got since.
    std::ofstream(pid_file) << getpid() << "\n" << (state.path() / "postgres/data").string() << "\n";

    const auto second = start(state.path());

    EXPECT_EQ(run_sql(second->url(), "SELECT value FROM kept"), "42");
}

TEST(EmbeddedPostgres, IsDurablePrivateAndComesBackWhenItWasKilled)
{
    const TemporaryFolder state;
    const auto postgres = start(state.path());
    run_sql(postgres->url(), "CREATE TABLE kept AS SELECT 1 AS value");
    const pid_t killed = postgres->process_id();

    EXPECT_EQ(run_sql(postgres->url(), "SHOW fsync"), "on");
    EXPECT_EQ(run_sql(postgres->url(), "SHOW synchronous_commit"), "on");
    EXPECT_EQ(run_sql(postgres->url(), "SHOW listen_addresses"), "");
    struct stat facts{};
    ASSERT_EQ(stat((state.path() / "postgres").c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777U, 0700U);
    if (geteuid() == 0) {
        EXPECT_NE(facts.st_uid, 0U) << "PostgreSQL must not run as root";
    }

    ASSERT_EQ(kill(killed, SIGKILL), 0);

    EXPECT_TRUE(eventually([&] { return postgres->process_id() != killed && answers(*postgres); }));
    EXPECT_TRUE(eventually([&] { return postgres->state() == "ok"; }));
    EXPECT_EQ(run_sql(postgres->url(), "SELECT value FROM kept"), "1");
}

TEST(EmbeddedPostgres, ReplacesAServerThatAKilledParentLeft)
{
    const TemporaryFolder state;
    // A parent of its own that is killed, as fathomd would be by kill -9.
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const pid_t parent = fork();
    ASSERT_GE(parent, 0);
    if (parent == 0) {
        const auto postgres = EmbeddedPostgres::start(options_for(state.path()));
        const pid_t server = postgres ? (*postgres)->process_id() : -1;
        [[maybe_unused]] const ssize_t written = write(ready[1], &server, sizeof server);
        for (;;)
            pause();
    }
    pid_t left = 0;
    ASSERT_EQ(read(ready[0], &left, sizeof left), static_cast<ssize_t>(sizeof left));
    ASSERT_GT(left, 0);
    kill(parent, SIGKILL);
    waitpid(parent, nullptr, 0);

    const auto postgres = start(state.path());

    EXPECT_TRUE(answers(*postgres));
    EXPECT_NE(postgres->process_id(), left);
    EXPECT_FALSE(runs(left)) << "never two servers on one folder";
    close(ready[0]);
    close(ready[1]);
}

TEST(EmbeddedPostgres, WorksBelowAFolderThatItsUserCannotEnter)
{
    const TemporaryFolder outer;
    const fs::path closed = outer.path() / "closed";
    ASSERT_EQ(mkdir(closed.c_str(), 0700), 0);
    fs::create_directory(closed / "state");
    {
        const auto first = start(closed / "state");
        run_sql(first->url(), "CREATE TABLE kept AS SELECT 7 AS value");
    }

    const auto second = start(closed / "state");

    EXPECT_EQ(run_sql(second->url(), "SELECT value FROM kept"), "7");
    struct stat facts{};
    ASSERT_EQ(stat(closed.c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777U, 0700U) << "folders of others keep their mode";
}

TEST(EmbeddedPostgres, PutsItsSocketElsewhereWhenThePathIsTooLong)
{
    const TemporaryFolder outer;
    const fs::path state = outer.path() / std::string(120, 'x');
    fs::create_directory(state);

    const auto postgres = start(state);
    const Result<std::string> note = read_file(state / "postgres-socket-folder");

    EXPECT_TRUE(answers(*postgres));
    ASSERT_TRUE(note) << "the folder must say where the socket is";
    EXPECT_TRUE(fs::exists(*note));
    postgres->stop();
    EXPECT_FALSE(fs::exists(*note));
}

/// What the database's user may plant in its folder, to have root do what it may not do itself.
class PlantedInThePostgresFolder : public ::testing::Test {
  protected:
    PlantedInThePostgresFolder()
    {
        const auto postgres = start(state_.path());
        postgres->stop();
        std::ofstream(victim_) << "the victim's";
        fs::permissions(victim_, fs::perms(0644));
        fs::create_directory(victim_folder_);
        fs::permissions(victim_folder_, fs::perms(0755));
        std::ofstream(victim_folder_ / "kept") << "kept";
        before_ = facts_of(victim_);
        folder_before_ = facts_of(victim_folder_);
    }
    static std::string facts_of(const fs::path& path)
    {
        struct stat facts{};
        EXPECT_EQ(stat(path.c_str(), &facts), 0) << path;
        return std::to_string(facts.st_uid) + " " + std::to_string(facts.st_mode) + " " + std::to_string(facts.st_size);
    }
    fs::path inside(const char* name) const { return state_.path() / "postgres" / name; }
    /// Starts it, and looks whether anything outside has changed.
    void expect_refusal(const std::string& name)
    {
        const auto started = EmbeddedPostgres::start(options_for(state_.path()));

        EXPECT_FALSE(started);
        if (!started) {
            EXPECT_NE(started.error().detail.find(name), std::string::npos) << started.error().detail;
        }
        expect_unchanged();
    }
    void expect_unchanged() const
    {
        EXPECT_EQ(facts_of(victim_), before_);
        EXPECT_EQ(read_file(victim_).value(), "the victim's");
        EXPECT_EQ(facts_of(victim_folder_), folder_before_);
        EXPECT_TRUE(fs::exists(victim_folder_ / "kept"));
    }

    TemporaryFolder state_;
    TemporaryFolder outside_;
    const fs::path victim_ = outside_.path() / "victim";
    const fs::path victim_folder_ = outside_.path() / "victim-folder";
    std::string before_;
    std::string folder_before_;
};

TEST_F(PlantedInThePostgresFolder, ALinkInPlaceOfTheLogIsNotFollowed)
{
    fs::remove(inside("log"));
    fs::create_symlink(victim_, inside("log"));

    expect_refusal("log");
}

TEST_F(PlantedInThePostgresFolder, ASecondNameOfAFileInPlaceOfTheLogIsNotWrittenTo)
{
    fs::remove(inside("log"));
    const fs::path theirs = state_.path() / "file";
    std::ofstream(theirs) << "the victim's";
    fs::create_hard_link(theirs, inside("log"));
    const std::string before = facts_of(theirs);

    expect_refusal("log");

    EXPECT_EQ(facts_of(theirs), before);
}

TEST_F(PlantedInThePostgresFolder, APipeInPlaceOfTheLogKeepsNobodyWaiting)
{
    fs::remove(inside("log"));
    ASSERT_EQ(mkfifo(inside("log").c_str(), 0666), 0);

    expect_refusal("log");
}

TEST_F(PlantedInThePostgresFolder, ALinkInPlaceOfTheSocketFolderIsNotFollowed)
{
    fs::remove_all(inside("socket"));
    fs::create_symlink(victim_folder_, inside("socket"));

    expect_refusal("socket");
}

TEST_F(PlantedInThePostgresFolder, ALinkInPlaceOfTheDataIsNotFollowed)
{
    fs::rename(inside("data"), inside("data.away"));
    fs::create_symlink(victim_folder_, inside("data"));

    expect_refusal("data");
}

TEST_F(PlantedInThePostgresFolder, ALinkInPlaceOfTheRulesIsReplacedAndNotFollowed)
{
    for (const char* name : {"hba.conf", "ident.conf"}) {
        fs::remove(inside(name));
        fs::create_symlink(victim_, inside(name));
    }

    const auto postgres = start(state_.path());

    EXPECT_TRUE(answers(*postgres));
    EXPECT_FALSE(fs::is_symlink(inside("hba.conf")) || fs::is_symlink(inside("ident.conf")));
    expect_unchanged();
}

TEST_F(PlantedInThePostgresFolder, AFolderInPlaceOfTheRulesStopsTheStart)
{
    fs::remove(inside("hba.conf"));
    fs::create_directory(inside("hba.conf"));

    expect_refusal("hba.conf");
}

TEST_F(PlantedInThePostgresFolder, APipeInPlaceOfTheVersionKeepsNobodyWaiting)
{
    fs::remove(inside("data") / "PG_VERSION");
    ASSERT_EQ(mkfifo((inside("data") / "PG_VERSION").c_str(), 0666), 0);

    expect_refusal("is not a PostgreSQL cluster");
}

TEST_F(PlantedInThePostgresFolder, ALinkThatIsToBeRemovedGoesAndNotWhatItNames)
{
    fs::rename(inside("data"), inside("data.away"));
    fs::create_symlink(victim_folder_, inside("data.new"));

    const auto postgres = start(state_.path());

    EXPECT_TRUE(answers(*postgres));
    expect_unchanged();
}

TEST_F(PlantedInThePostgresFolder, ANoteThatLeadsElsewhereRemovesNothing)
{
    for (const fs::path& name : {inside("socket-folder"), state_.path() / "postgres-socket-folder"})
        std::ofstream(name) << "/tmp/fathom-postgres-x/../.." << victim_folder_.string();

    const auto postgres = start(state_.path());

    EXPECT_TRUE(answers(*postgres));
    expect_unchanged();
}

TEST(EmbeddedPostgres, RefusesAFolderThatIsALink)
{
    const TemporaryFolder state;
    const TemporaryFolder elsewhere;
    fs::create_symlink(elsewhere.path(), state.path() / "postgres");

    const auto started = EmbeddedPostgres::start(options_for(state.path()));

    ASSERT_FALSE(started);
    EXPECT_NE(started.error().detail.find("is a link"), std::string::npos) << started.error().detail;
    EXPECT_TRUE(fs::is_empty(elsewhere.path()));
}

TEST(EmbeddedPostgres, RefusesAFolderThatBelongsToNobody)
{
    if (geteuid() != 0) GTEST_SKIP() << "needs root";
    const TemporaryFolder state;
    fs::create_directory(state.path() / "postgres");
    ASSERT_EQ(chown((state.path() / "postgres").c_str(), 65534, 65534), 0);

    const auto started = EmbeddedPostgres::start(options_for(state.path()));

    ASSERT_FALSE(started);
    EXPECT_NE(started.error().detail.find("useradd --system fathom-db"), std::string::npos) << started.error().detail;
}

TEST(EmbeddedPostgres, RunsWithoutAWayToMoreRights)
{
    const TemporaryFolder state;
    const auto postgres = start(state.path());

    const Result<std::string> facts = read_file("/proc/" + std::to_string(postgres->process_id()) + "/status");

    ASSERT_TRUE(facts);
    EXPECT_NE(facts->find("NoNewPrivs:\t1"), std::string::npos) << *facts;
}

TEST(EmbeddedPostgres, TellsHowToInstallMissingPrograms)
{
    const TemporaryFolder state;
    auto options = options_for(state.path());
    options.search_folders = {state.path() / "nothing-here"};

    const auto started = EmbeddedPostgres::start(std::move(options));

    ASSERT_FALSE(started);
    EXPECT_EQ(started.error().code, Errc::kUnavailable);
    EXPECT_NE(started.error().detail.find("sudo apt-get install postgresql"), std::string::npos)
        << started.error().detail;
}

TEST(EmbeddedPostgres, RefusesDataOfAVersionThatIsNotInstalled)
{
    const TemporaryFolder state;
    fs::create_directories(state.path() / "postgres/data");
    std::ofstream(state.path() / "postgres/data/PG_VERSION") << "9\n";

    const auto started = EmbeddedPostgres::start(options_for(state.path()));

    ASSERT_FALSE(started);
    EXPECT_NE(started.error().detail.find("postgresql-9"), std::string::npos) << started.error().detail;
}

TEST(EmbeddedPostgres, ReportsWhyTheServerDidNotStart)
{
    const TemporaryFolder state;
    auto options = options_for(state.path());
    options.extra_settings = {"no_such_setting=1"};

    const auto started = EmbeddedPostgres::start(std::move(options));

    ASSERT_FALSE(started);
    EXPECT_NE(started.error().detail.find("no_such_setting"), std::string::npos) << started.error().detail;
}

TEST(PostgresBinaries, TakesTheNewest)
{
    const Result<PostgresBinaries> found = find_postgres(postgres_search_folders(), std::nullopt);

    ASSERT_TRUE(found) << found.error().detail;
    EXPECT_GE(found->major_version, 12);
    EXPECT_TRUE(fs::exists(found->folder / "initdb"));
}

} // namespace
} // namespace fathom::server
