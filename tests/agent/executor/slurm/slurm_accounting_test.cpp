// What Slurm's accounting says of jobs, and what becomes of ends where it does not.

#include "tests/agent/support/slurm_executor_fixture.hpp"

namespace fathom::agent {
namespace {

using test::SlurmExecutorTest;

TEST_F(SlurmExecutorTest, WhatSlurmHasForgottenEndsAsItsAccountsSay)
{
    const AttemptId id = add_forgotten();
    account(account_of(id, ::getuid()));

    const AttemptEnd end = end_after_restart(options(), id);

    EXPECT_EQ(end.outcome, AttemptOutcome::kExited);
    EXPECT_EQ(end.exit_code, 3);
    EXPECT_EQ(end.run_s, 7);
    EXPECT_EQ(end.nodes, "n1");
    EXPECT_EQ(format_rfc3339(end.ended_at), "2026-11-24T10:00:07.000000Z");
}

TEST_F(SlurmExecutorTest, WhatAJobUsedIsAsItsAccountSays)
{
    const AttemptId id = add_forgotten();
    const std::filesystem::path report = options().folder / id.value / "report";
    std::filesystem::create_directories(report);
    write_file(report / "usage", "memory 1000\ncpu_us 999000000\n").value();
    show(failed(id));
    // It comes a moment after the end; the job's first start is another account.
    account_once(
        "7|" + id.value + "|RUNNING|0:0|" + std::to_string(::getuid()) + "|2026-11-24T10:00:00|Unknown|n1|00:00:00||\n",
        "7|att_x|COMPLETED|0:0|0|2026-11-24T09:00:00|2026-11-24T09:00:07|n1|09:00:00||\n" + account_of(id, ::getuid()));

    const AttemptEnd end = end_after_restart(options(), id);

    EXPECT_EQ(end.exit_code, 3);
    EXPECT_EQ(end.run_s, 7);
    EXPECT_EQ(end.cpu_s, 5.5) << "its user can write another note, but no other account";
    EXPECT_EQ(end.max_resident_bytes, 4096);
    EXPECT_EQ(end.energy_j, 900);
    EXPECT_EQ(times_accounts_were_asked(), 2U);
}

TEST_F(SlurmExecutorTest, AnEndDoesNotWaitLongForItsAccount)
{
    const AttemptId id = add_forgotten();
    show(failed(id));
    account("");
    SlurmExecutorOptions impatient = options();
    impatient.max_account_wait = {};

    EXPECT_EQ(end_after_restart(impatient, id).exit_code, 3);
}

TEST_F(SlurmExecutorTest, AnEndIsToldAtOnceWhereTheAccountsAreAway)
{
    const AttemptId id = add_forgotten();
    show(failed(id));
    account("sacct: error: Problem talking to the database: Connection refused\n", 1);
    SlurmExecutorOptions patient = options();
    patient.max_account_wait = std::chrono::hours(1);

    const AttemptEnd end = end_after_restart(patient, id);

    EXPECT_EQ(end.exit_code, 3);
    EXPECT_EQ(times_accounts_were_asked(), 1U);
}

TEST_F(SlurmExecutorTest, AccountsThatHearOfAnEndLaterAreAskedAgain)
{
    const AttemptId id = add_forgotten();
    account_once("", account_of(id, ::getuid()));
    SlurmExecutorOptions impatient = options();
    impatient.accounts_pause = std::chrono::milliseconds(1);

    EXPECT_EQ(end_after_restart(impatient, id).exit_code, 3);
    EXPECT_EQ(times_accounts_were_asked(), 2U);
}

TEST_F(SlurmExecutorTest, AccountsOfAnotherUsersJobAreNotTheAttempts)
{
    const AttemptId id = add_forgotten();
    account(account_of(id, ::getuid() + 1));
    SlurmExecutorOptions impatient = options();
    impatient.accounts_pause = std::chrono::milliseconds(1);

    EXPECT_EQ(end_after_restart(impatient, id).outcome, AttemptOutcome::kLost);
}

TEST_F(SlurmExecutorTest, WithoutAccountsWhatSlurmHasForgottenEndsAtOnce)
{
    const AttemptId id = add_forgotten();
    account("Slurm accounting storage is disabled\n", 1);

    const AttemptEnd end = end_after_restart(options(), id);

    EXPECT_EQ(end.outcome, AttemptOutcome::kLost);
    EXPECT_EQ(end.detail, "Slurm does not know the job any more, and its script has left no end");
    EXPECT_EQ(times_accounts_were_asked(), 1U);
}

TEST_F(SlurmExecutorTest, AccountsThatDoNotAnswerAreAskedAgain)
{
    const AttemptId id = add_forgotten();
    account(account_of(id, ::getuid()));
    const std::filesystem::path sacct = folder_.path() / "sacct";
    write_file(sacct,
               "#!/bin/sh\nmkdir " + sacct.string() + ".once 2>/dev/null || exec cat " + sacct.string() +
                   ".answer\necho 'sacct: error: Problem talking to the database: Connection refused'\nexit 1\n",
               0700)
        .value();
    SlurmExecutorOptions impatient = options();
    impatient.accounts_pause = std::chrono::milliseconds(1);

    EXPECT_EQ(end_after_restart(impatient, id).exit_code, 3);
}

TEST_F(SlurmExecutorTest, AccountsThatNeverAnswerKeepNoJobForEver)
{
    const AttemptId id = add_forgotten();
    account("sacct: error: Problem talking to the database: Connection refused\n", 1);
    SlurmExecutorOptions impatient = options();
    impatient.accounts_pause = std::chrono::milliseconds(1);
    impatient.accounts_tries = 2;

    EXPECT_EQ(end_after_restart(impatient, id).outcome, AttemptOutcome::kLost);
    EXPECT_EQ(times_accounts_were_asked(), 2U);
}

} // namespace
} // namespace fathom::agent
