#include "agent/executor/batch/input_keeper.hpp"
#include "tests/agent/support/slurm_executor_fixture.hpp"

#include <gmock/gmock.h>

namespace fathom::agent {
namespace {

using test::SlurmExecutorTest;

TEST_F(SlurmExecutorTest, TellsHowMuchMemoryAJobHadThatRanOutOfItAlsoAfterARestart)
{
    RunOrder run;
    run.order = test::shell_order("true");
    run.order.inputs = {{"file:///shared/x", "x", "", std::nullopt}};
    run.memory_bytes = 16LL << 30U;
    run.place = BatchPlace{.partition = "main",
                           .constraint = {},
                           .cpus_per_unit = 1,
                           .units_per_node = 1,
                           .memory_bytes_per_unit = 16LL << 30U};
    const AttemptId& id = run.order.attempt_id;
    show(out_of_memory("7", id, ::getuid()));
    const std::string told = "out of memory: Slurm killed it on n1; its units have 17179869184 bytes";
    {
        SlurmExecutor executor(options());
        ASSERT_TRUE(executor.start(run));

        const AttemptEnd end = wait_end(executor, id);

        EXPECT_EQ(end.outcome, AttemptOutcome::kOutOfMemory);
        EXPECT_EQ(end.detail, told);
    }
    SlurmExecutor again(options());
    again.watch(id);
    again.prepare();

    EXPECT_EQ(wait_end(again, id).detail, told);
}

TEST_F(SlurmExecutorTest, TellsTheEndOfAJobThatSlurmHasPutBackIntoItsQueue)
{
    const AttemptId id = add_forgotten();
    const std::filesystem::path report = options().folder / id.value / "report";
    std::filesystem::create_directories(report);
    write_file(report / "started", "1764000000.5\n").value();
    write_file(report / "ended", "3 1764000002.5\n").value();
    show("7|" + id.value + "|PENDING|0|" + std::to_string(::getuid()) + "|N/A|N/A|0:00||Resources|\n");

    const AttemptEnd end = end_after_restart(options(), id);

    EXPECT_EQ(end.exit_code, 3);
    EXPECT_EQ(end.run_s, 2);
}

TEST_F(SlurmExecutorTest, TellsWhatAJobUsedAsItsScriptNoted)
{
    const AttemptId id = test::shell_order("true").attempt_id;
    const std::filesystem::path folder = options().folder / id.value;
    std::filesystem::create_directories(folder / "report");
    write_file(folder / "job.sh", "").value();
    write_file(folder / "report" / "usage", "memory 67108864\ncpu_us 6500000\n").value();
    show("7|" + id.value + "|COMPLETED|0|" + std::to_string(::getuid()) +
         "|2026-11-24T10:00:00|2026-11-24T10:00:07|0:07|n1|None|\n");

    const AttemptEnd end = end_after_restart(options(), id);

    EXPECT_EQ(end.exit_code, 0);
    EXPECT_EQ(end.max_resident_bytes, 67108864);
    EXPECT_EQ(end.cpu_s, 6.5);
}

TEST_F(SlurmExecutorTest, TellsTheEndOfAJobThatSlurmHasRunForTooLongAfterIt)
{
    const AttemptId id = add_forgotten();
    const std::filesystem::path report = options().folder / id.value / "report";
    std::filesystem::create_directories(report);
    write_file(report / "started", "1764000000.5\n").value();
    write_file(report / "ended", "3 1764000002.5\n").value();
    note_cancels();
    show("7|" + id.value + "|RUNNING|0|" + std::to_string(::getuid()) +
         "|2025-11-24T16:00:00|2025-11-25T16:00:00|0:07|n1|None|\n");
    SlurmExecutorOptions at_once = options();
    at_once.max_unknown_end = {};
    SlurmExecutor executor(at_once);
    executor.watch(id);
    executor.prepare();

    const AttemptEnd end = wait_end(executor, id);

    EXPECT_EQ(end.exit_code, 3);
    EXPECT_EQ(end.run_s, 2);
    const Result<std::string> asked = wait_cancelled();
    ASSERT_TRUE(asked) << "its job is left in Slurm";
    EXPECT_TRUE(asked->ends_with(" 7\n")) << *asked;
}

TEST_F(SlurmExecutorTest, AJobWhoseNumberSlurmGaveToAnotherIsForgotten)
{
    const AttemptId id = add_forgotten();
    const AttemptId other = add_forgotten();
    show("7|" + other.value + "|RUNNING|0|" + std::to_string(::getuid()) +
         "|2026-11-24T10:00:00|2026-11-25T10:00:00|0:07|n1|None|\n");
    SlurmExecutor executor(options());
    executor.watch(other);

    executor.watch(id);
    executor.prepare();

    EXPECT_EQ(wait_end(executor, id).outcome, AttemptOutcome::kLost);
    EXPECT_NE(executor.look(other).phase, RunPhase::kEnded);
}

TEST_F(SlurmExecutorTest, CancelsAJobThatSlurmHasRunAgainAfterItsEnd)
{
    const AttemptId id = add_forgotten();
    const AttemptId other = add_forgotten("8");
    const std::string uid = std::to_string(::getuid());
    const std::string waits = "8|" + other.value + "|PENDING|0|" + uid + "|N/A|N/A|0:00||Resources|\n";
    note_cancels();
    show("7|" + id.value + "|COMPLETED|0|" + uid + "|2026-11-24T10:00:00|2026-11-24T10:00:07|0:07|n1|None|\n" + waits);
    SlurmExecutorOptions at_once = options();
    at_once.max_unknown_end = {};
    SlurmExecutor executor(at_once);
    executor.watch(id);
    executor.watch(other);
    executor.prepare();
    EXPECT_EQ(wait_end(executor, id).exit_code, 0);
    executor.remove(id);

    show("7|" + id.value + "|RUNNING|0|" + uid + "|2026-11-24T10:00:00|2026-11-25T10:00:00|0:07|n1|None|\n" + waits);

    const Result<std::string> asked = wait_cancelled();
    ASSERT_TRUE(asked) << "what it holds is lost to the center";
    EXPECT_TRUE(asked->ends_with(" 7\n")) << *asked;
}

TEST_F(SlurmExecutorTest, KeepsInputsOfJobsThatHaveEndedBeforeItRemovesTheirFolders)
{
    constexpr const char* kSha256 = "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73"; // of "content"
    const AttemptId id = add_forgotten();
    SlurmExecutorOptions keeping = options();
    keeping.input_cache = {keeping.folder / "input-cache", 1000, true};
    const std::filesystem::path folder = keeping.folder / id.value;
    std::filesystem::create_directory(folder / "work");
    write_file(folder / "limits", "90 inputs").value();
    write_file(folder / "inputs", encode(std::vector<KeepableInput>{{"x", kSha256}})).value();
    write_file(folder / "work" / "x", "content").value();
    write_file(folder / "work" / ".fathom-inputs.json", R"({"seconds": 1, "bytes": 7, "cached_bytes": 0})").value();
    show("7|" + id.value + "|COMPLETED|0|" + std::to_string(::getuid()) +
         "|2026-11-24T10:00:00|2026-11-24T10:00:07|0:07|n1|None|\n");
    SlurmExecutor executor(keeping);
    executor.watch(id);
    executor.prepare();
    ASSERT_EQ(wait_end(executor, id).exit_code, 0);

    Result<void> removed = executor.remove(id);
    for (int i = 0; i < 6000 && !removed && removed.error().code == Errc::kConflict; ++i) {
        ::usleep(10'000);
        removed = executor.remove(id);
    }

    ASSERT_TRUE(removed) << removed.error().detail;
    EXPECT_FALSE(std::filesystem::exists(folder));
    EXPECT_EQ(read_file(keeping.input_cache.folder / kSha256).value(), "content");
    EXPECT_TRUE(executor.known().empty()) << "the cache is no attempt's";
}

TEST_F(SlurmExecutorTest, KeepsOutputsThatWereStored)
{
    constexpr const char* kSha256 = "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73"; // of "content"
    const AttemptId id = add_forgotten();
    SlurmExecutorOptions keeping = options();
    keeping.input_cache = {keeping.folder / "input-cache", 1000, true};
    const std::filesystem::path folder = keeping.folder / id.value;
    std::filesystem::create_directory(folder / "work");
    write_file(folder / "limits", "90 outputs").value();
    const std::vector<KeepableInput> declared{{"x", ""}};
    write_file(BatchFolder{folder}.inputs(), encode(declared)).value();
    write_file(folder / "work" / "x", "content").value();
    write_file(folder / "work" / kStoredOutputsName,
               R"({"seconds": 1, "outputs": [{"path": "x", "size_bytes": 7, "sha256": ")" + std::string(kSha256) +
                   R"("}]})")
        .value();
    show("7|" + id.value + "|COMPLETED|0|" + std::to_string(::getuid()) +
         "|2026-11-24T10:00:00|2026-11-24T10:00:07|0:07|n1|None|\n");
    SlurmExecutor executor(keeping);
    executor.watch(id);
    executor.prepare();

    ASSERT_EQ(wait_end(executor, id).outputs.size(), 1U);

    for (int i = 0; i < 6000 && !std::filesystem::exists(keeping.input_cache.folder / kSha256); ++i)
        ::usleep(10'000);
    EXPECT_EQ(read_file(keeping.input_cache.folder / kSha256).value(), "content");
}

TEST_F(SlurmExecutorTest, TellsAJobWhereInputsAreKept)
{
    SlurmExecutorOptions keeping = options();
    keeping.input_cache = {keeping.folder / "input-cache", 1000, true};
    show("");
    RunOrder run = run_of(test::shell_order("true"));
    run.order.inputs = {{"https://data.example/x", "x", std::string(64, 'a'), std::nullopt}};
    RunOrder unchecked = run_of(test::shell_order("true"));
    unchecked.order.inputs = {{"https://data.example/x", "x", "", std::nullopt}};
    const auto order_of_job = [&](const RunOrder& started) {
        return decode_staging_order(
                   read_file(keeping.folder / started.order.attempt_id.value / "work" / kStagingOrderName).value())
            .value();
    };
    SlurmExecutor executor(keeping);

    RunOrder stored_here = run_of(test::shell_order("true"));
    stored_here.order.inputs = {
        {"file:///results/x", "x", std::string(64, 'a'), 7, "job:job_01M8BQJSNM8TS8DY6A3W52ZNF5/x", {}}};

    ASSERT_TRUE(executor.start(run));
    ASSERT_TRUE(executor.start(unchecked));
    ASSERT_TRUE(executor.start(stored_here));

    EXPECT_EQ(order_of_job(run).cache_folder, keeping.input_cache.folder);
    EXPECT_EQ(order_of_job(stored_here).cache_folder, keeping.input_cache.folder) << "an output of an earlier job";
    EXPECT_EQ(order_of_job(unchecked).cache_folder, "");
    EXPECT_TRUE(std::filesystem::exists(keeping.folder / run.order.attempt_id.value / "inputs"));
    EXPECT_FALSE(std::filesystem::exists(keeping.folder / unchecked.order.attempt_id.value / "inputs"));
}

TEST_F(SlurmExecutorTest, SignsForObjectsThatAJobMayHave)
{
    SlurmExecutorOptions signing = options();
    signing.s3.access = {
        .endpoint = "https://s3.example", .region = "r", .access_key = "key", .secret_key = "not-told", .ca_file = {}};
    signing.s3.rules = {{"climate", {"s3://sets"}, {}}};
    signing.s3.jobs_may_read_key = true; // they run as this test does
    show("");
    RunOrder run = run_of(test::shell_order("true"));
    run.order.owner.project = "climate";
    run.order.inputs = {{"s3://sets/x", "x", "", std::nullopt}, {"s3://others/y", "y", "", std::nullopt}};
    SlurmExecutor executor(signing);

    ASSERT_TRUE(executor.start(run));

    const std::string order =
        read_file(signing.folder / run.order.attempt_id.value / "work" / kStagingOrderName).value();
    const StagingRule rule = decode_staging_order(order).value().rule;
    EXPECT_THAT(rule.s3.at("GET s3://sets/x").url, testing::HasSubstr("X-Amz-Expires=604800&"))
        << "it may wait for days";
    EXPECT_EQ(rule.s3.at("GET s3://others/y").url, "");
    EXPECT_THAT(order, testing::Not(testing::HasSubstr("not-told")));
    EXPECT_TRUE(std::filesystem::exists(signing.folder / run.order.attempt_id.value / "signed_urls"))
        << "and is signed anew meanwhile";
    EXPECT_TRUE(executor.facts().at("s3").get<bool>());
    EXPECT_TRUE(executor.facts().at("s3_jobs_may_read_key").get<bool>());

    signing.s3.jobs_may_read_key = false;
    const SlurmExecutor refusing(signing);
    EXPECT_FALSE(refusing.facts().at("s3").get<bool>());
    EXPECT_THAT(refusing.facts().at("s3_refusal").get<std::string>(), testing::HasSubstr("could read the store's key"));
}

TEST_F(SlurmExecutorTest, AsksForTheEndOfAJobOverItsLimitUntilSlurmTakesIt)
{
    const AttemptId id = add_forgotten();
    const std::filesystem::path report = options().folder / id.value / "report";
    std::filesystem::create_directories(report);
    write_file(options().folder / id.value / "limits", "1").value();
    write_file(report / "started", "1764000000.5\n").value();
    note_cancels("mkdir " + (folder_.path() / "refused_once").string() + " 2>/dev/null && exit 1");
    show("7|" + id.value + "|RUNNING|0|" + std::to_string(::getuid()) +
         "|2025-11-24T16:00:00|2025-11-25T16:00:00|0:07|n1|None|\n");
    SlurmExecutorOptions at_once = options();
    at_once.cancel_pause = {};
    SlurmExecutor executor(at_once);
    executor.watch(id);
    executor.prepare();

    const Result<std::string> asked = wait_cancelled();

    ASSERT_TRUE(asked) << "nobody else knows that it is over its limit";
    EXPECT_TRUE(asked->ends_with(" 7\n")) << *asked;
}

TEST_F(SlurmExecutorTest, SaysThatItsJobsAreNoStrangersToEachOther)
{
    SlurmExecutorOptions with_own_user = options();
    with_own_user.user = JobUser{"ann", 12345, 12345};

    const Json isolation = SlurmExecutor(options()).facts()["isolation"];

    EXPECT_EQ(isolation["uid_per_job"], false);
    EXPECT_EQ(isolation["hides_agent_files"], false) << "they run as the agent does";
    EXPECT_EQ(SlurmExecutor(with_own_user).facts()["isolation"]["hides_agent_files"], true);
}

TEST_F(SlurmExecutorTest, AJobOfAnotherUserWithAnAttemptsNameIsNotTheAttempts)
{
    const RunOrder run = run_of(test::shell_order("true"));
    const AttemptId& id = run.order.attempt_id;
    const std::string theirs =
        "6|" + id.value + "|COMPLETED|0|4242|2026-11-24T10:00:00|2026-11-24T10:00:01|0:01|n1|None|\n";
    show(theirs + out_of_memory("7", id, ::getuid()));
    SlurmExecutor executor(options());
    ASSERT_TRUE(executor.start(run));

    EXPECT_EQ(wait_end(executor, id).outcome, AttemptOutcome::kOutOfMemory);
    EXPECT_EQ(read_file(options().folder / id.value / "job_id").value(), "7");
}

TEST_F(SlurmExecutorTest, AfterARestartAJobIsStillThatOfTheUserThatItsFolderNotes)
{
    const RunOrder run = run_of(test::shell_order("true"));
    const AttemptId& id = run.order.attempt_id;
    const std::filesystem::path folder = options().folder / id.value;
    std::filesystem::create_directories(folder);
    write_file(folder / "job.sh", "").value();
    write_file(folder / "job_id", "7").value();
    write_file(folder / "user", "4242 4242 ann").value();
    show(out_of_memory("7", id, 4242));
    SlurmExecutor executor(options());
    executor.watch(id);
    executor.prepare();

    EXPECT_EQ(wait_end(executor, id).outcome, AttemptOutcome::kOutOfMemory);
}

SlurmExecutorOptions with_map(SlurmExecutorOptions options)
{
    options.user = JobUser{"probes", 12345, 12345};
    options.mapped = {{.rule = {.users = {"ann"}, .project = {}, .local_user = "ann", .account = {}, .qos = {}},
                       .user = {"ann", 12346, 12346}}};
    return options;
}

TEST_F(SlurmExecutorTest, AJobOfAUserWithoutALocalOneEndsUnsubmitted)
{
    RunOrder run = run_of(test::shell_order("true"));
    run.order.owner = {"tok_x", "bob", "p"};
    SlurmExecutor executor(with_map(options()));

    ASSERT_TRUE(executor.start(run));

    const RunView view = executor.look(run.order.attempt_id);
    ASSERT_EQ(view.phase, RunPhase::kEnded);
    EXPECT_EQ(view.end->outcome, AttemptOutcome::kFailedToStart);
    EXPECT_EQ(view.end->cause, AttemptCause::kNoLocalUser);
    EXPECT_TRUE(view.end->detail.starts_with("no local user: ")) << view.end->detail;
    EXPECT_TRUE(executor.known().empty());
}

TEST_F(SlurmExecutorTest, TellsWhetherEachUserHasALocalOne)
{
    SlurmExecutorOptions open = with_map(options());
    open.slurm.refuses_unmapped = false;

    EXPECT_FALSE(SlurmExecutor(options()).facts().contains("maps_users"));
    const Json facts = SlurmExecutor(with_map(options())).facts();
    EXPECT_EQ(facts["maps_users"], true);
    EXPECT_EQ(facts["isolation"]["uid_per_user"], true);
    EXPECT_EQ(SlurmExecutor(open).facts()["isolation"]["uid_per_user"], false);
}

} // namespace
} // namespace fathom::agent
