#pragma once

#include "agent/executor/slurm/slurm_executor.hpp"
#include "core/base/file.hpp"
#include "tests/agent/support/builders.hpp"

#include <gtest/gtest.h>

#include <poll.h>
#include <unistd.h>

namespace fathom::agent::test {

/// An executor whose Slurm is a script in the place of squeue.
class SlurmExecutorTest : public testing::Test {
  protected:
    /// What squeue answers from here on.
    void show(const std::string& jobs)
    {
        const std::filesystem::path squeue = folder_.path() / "squeue";
        write_file(squeue.string() + ".answer", jobs).value();
        write_file(squeue, "#!/bin/sh\ncat " + squeue.string() + ".answer\n", 0700).value();
    }
    /// sacct answers this from here on, and ends with this exit code.
    void account(const std::string& text, int exit_code = 0)
    {
        const std::filesystem::path sacct = folder_.path() / "sacct";
        write_file(sacct.string() + ".answer", text).value();
        write_file(sacct,
                   "#!/bin/sh\necho asked >>" + sacct.string() + ".asked\ncat " + sacct.string() + ".answer\nexit " +
                       std::to_string(exit_code) + "\n",
                   0700)
            .value();
    }
    std::size_t times_accounts_were_asked() const
    {
        const Result<std::string> noted = read_file(folder_.path() / "sacct.asked");
        return noted ? noted->size() / std::string_view("asked\n").size() : 0;
    }
    /// scancel takes what it is asked from here on, after `first`, commands of a shell.
    void note_cancels(const std::string& first = "") const
    {
        const std::filesystem::path scancel = folder_.path() / "scancel";
        write_file(scancel, "#!/bin/sh\n" + first + "\necho \"$@\" >>" + scancel.string() + ".asked\n", 0700).value();
    }
    /// @return what scancel has taken, as soon as that is something
    Result<std::string> wait_cancelled() const
    {
        const std::filesystem::path noted = folder_.path() / "scancel.asked";
        Result<std::string> asked = read_file(noted);
        for (int i = 0; i < 600 && (!asked || asked->empty()); ++i) {
            ::usleep(100'000);
            asked = read_file(noted);
        }
        return asked;
    }
    /// The folder of an attempt that ran as job 7 in an earlier run of the agent; Slurm has forgotten it since.
    AttemptId add_forgotten(const std::string& job = "7")
    {
        const AttemptId id = test::shell_order("true").attempt_id;
        const std::filesystem::path folder = options().folder / id.value;
        std::filesystem::create_directories(folder);
        write_file(folder / "job.sh", "").value();
        write_file(folder / "job_id", job).value();
        show("");
        return id;
    }
    /// As sacct shows job 7, which ran 7 s and ended with exit code 3.
    static std::string account_of(const AttemptId& id, unsigned uid)
    {
        return "7|" + id.value + "|FAILED|3:0|" + std::to_string(uid) +
               "|2026-11-24T10:00:00|2026-11-24T10:00:07|n1|00:05.500||\n7.batch|batch|FAILED|3:0||2026-11-24T10:00:"
               "00|" +
               "2026-11-24T10:00:07|n1|00:05.500|cpu=00:00:05,mem=4096|900\n";
    }
    /// As squeue shows that job.
    static std::string failed(const AttemptId& id)
    {
        return "7|" + id.value + "|FAILED|768|" + std::to_string(::getuid()) +
               "|2026-11-24T10:00:00|2026-11-24T10:00:07|0:07|n1|NonZeroExitCode|\n";
    }
    /// sacct answers `first` once, and then `later`.
    void account_once(const std::string& first, const std::string& later)
    {
        account(later);
        const std::string sacct = (folder_.path() / "sacct").string();
        write_file(sacct + ".first", first).value();
        write_file(sacct,
                   "#!/bin/sh\necho asked >>" + sacct + ".asked\nmkdir " + sacct + ".once 2>/dev/null && exec cat " +
                       sacct + ".first\nexec cat " + sacct + ".answer\n",
                   0700)
            .value();
    }
    static AttemptEnd end_after_restart(const SlurmExecutorOptions& options, const AttemptId& id)
    {
        SlurmExecutor executor(options);
        executor.watch(id);
        executor.prepare();
        return wait_end(executor, id);
    }
    /// As squeue shows a job of this user.
    static std::string out_of_memory(const std::string& job, const AttemptId& id, unsigned uid)
    {
        return job + "|" + id.value + "|OUT_OF_MEMORY|9|" + std::to_string(uid) +
               "|2026-11-24T10:00:00|2026-11-24T10:00:07|0:07|n1|None|\n";
    }
    static RunOrder run_of(const AttemptOrder& order)
    {
        RunOrder run;
        run.order = order;
        run.place = BatchPlace{
            .partition = "main", .constraint = {}, .cpus_per_unit = 1, .units_per_node = 1, .memory_bytes_per_unit = 0};
        return run;
    }
    SlurmExecutorOptions options() const
    {
        return {.folder = folder_.path() / "attempts",
                .slurm = {.programs = folder_.path(),
                          .settings = {},
                          .work_folder = {},
                          .partitions = {},
                          .account = {},
                          .qos = {}},
                .user_name = "ann",
                .programs = "/opt",
                .asks_slurm = false};
    }
    static AttemptEnd wait_end(SlurmExecutor& executor, const AttemptId& id)
    {
        constexpr int kLimit_ms = 60'000;
        RunView view = executor.look(id);
        while (view.phase != RunPhase::kEnded) {
            pollfd change{executor.change_descriptor(), POLLIN, 0};
            if (::poll(&change, 1, kLimit_ms) != 1) throw std::runtime_error("nothing has changed");
            executor.changes();
            view = executor.look(id);
        }
        return *view.end;
    }

    test::TemporaryFolder folder_;
};

} // namespace fathom::agent::test
