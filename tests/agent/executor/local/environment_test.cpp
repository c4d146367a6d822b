#include "agent/executor/local/environment.hpp"
#include "tests/agent/support/builders.hpp"

#include <gtest/gtest.h>

namespace fathom::agent {
namespace {

TEST(JobEnvironment, TellsTheJobWhatItHolds)
{
    RunOrder run{test::shell_order("true"), {0, 1, 2, 3}, 4, 0, {}};
    run.order.unit_count = 2;

    const auto variables = job_environment(run, {"/work", "/programs", "nobody"});

    EXPECT_EQ(variables.at("FATHOM_UNITS"), "2");
    for (const char* name : {"FATHOM_CORES", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"}) {
        EXPECT_EQ(variables.at(name), "4") << name;
    }
    EXPECT_EQ(variables.at("HOME"), "/work");
    EXPECT_EQ(variables.at("TMPDIR"), "/work");
    EXPECT_TRUE(variables.at("PATH").ends_with(":/programs"));
    EXPECT_EQ(variables.at("FATHOM_JOB_ID"), run.order.job_id.value);
}

TEST(JobEnvironment, LetsTheCenterWinOverTheBaseAndTheUserOverTheCenter)
{
    RunOrder run{test::shell_order("true"), {0}, 1, 0, {{"OMP_NUM_THREADS", "2"}, {"OPENBLAS_CORETYPE", "Haswell"}}};
    run.order.environment = {{"OPENBLAS_CORETYPE", "SkylakeX"}};

    const auto variables = job_environment(run, {"/work", "/programs", "nobody"});

    EXPECT_EQ(variables.at("OMP_NUM_THREADS"), "2");
    EXPECT_EQ(variables.at("OPENBLAS_CORETYPE"), "SkylakeX");
}

/// A first thread that is bound leaves one processor to all that it forks (docs/decisions/0041).
TEST(JobEnvironment, BindsThreadsOnlyWhereTheJobOrTheCenterAsks)
{
    RunOrder run{test::shell_order("true"), {0, 1}, 2, 0, {}};
    const auto plain = job_environment(run, {"/work", "/programs", "nobody"});
    run.environment = {{"OMP_PROC_BIND", "spread"}};
    run.order.environment = {{"OMP_PLACES", "cores"}};
    const auto asked = job_environment(run, {"/work", "/programs", "nobody"});

    EXPECT_FALSE(plain.contains("OMP_PROC_BIND"));
    EXPECT_FALSE(plain.contains("OMP_PLACES"));
    EXPECT_EQ(asked.at("OMP_PROC_BIND"), "spread");
    EXPECT_EQ(asked.at("OMP_PLACES"), "cores");
}

TEST(JobEnvironment, LeavesTheUserNoSayInWhoseProcessesTheseAre)
{
    RunOrder run{test::shell_order("true"), {0}, 1, 0, {}};
    run.order.environment = {{"FATHOM_ATTEMPT_ID", "att_other"}};

    EXPECT_EQ(job_environment(run, {"/work", "/programs", "nobody"}).at("FATHOM_ATTEMPT_ID"),
              run.order.attempt_id.value);
}

TEST(JobEnvironment, AJobWithGpusTakesPartWhereTheCenterSharesThemWhateverItSays)
{
    RunOrder run{test::shell_order("true"), {0}, 1, 0, {{"FATHOM_GPU_SOCKET", "/run/gpu"}}};
    run.order.environment = {{"FATHOM_GPU_SOCKET", "/tmp/own"}, {"FATHOM_GPU_JOB", "other"}, {"LD_PRELOAD", "own.so"}};

    const auto without = job_environment(run, {"/work", "/programs", "nobody"});
    run.environment["CUDA_VISIBLE_DEVICES"] = "GPU-1";
    const auto with = job_environment(run, {"/work", "/programs", "nobody"});

    EXPECT_EQ(without.at("LD_PRELOAD"), "own.so");
    EXPECT_EQ(with.at("LD_PRELOAD"), "/programs/libfathom-gpu.so:own.so");
    EXPECT_EQ(with.at("PYTHONPATH"), "/programs/fathom-gpu-python");
    EXPECT_FALSE(without.contains("PYTHONPATH"));
    EXPECT_EQ(with.at("FATHOM_GPU_SOCKET"), "/run/gpu");
    EXPECT_EQ(with.at("FATHOM_GPU_JOB"), run.order.job_id.value);
}

TEST(JobEnvironment, OnlyTheCenterSaysWhoComesFirstOnASharedGpu)
{
    RunOrder run{test::shell_order("true"),
                 {0},
                 1,
                 0,
                 {{"CUDA_VISIBLE_DEVICES", "GPU-1"}, {"FATHOM_GPU_SHARE", "500"}, {"FATHOM_GPU_PROOF", "7"}}};
    run.order.environment = {
        {"FATHOM_GPU_SHARE", "1000000"}, {"FATHOM_GPU_PRIORITY", "1000000"}, {"FATHOM_GPU_PROOF", "8"}};

    const auto variables = job_environment(run, {"/work", "/programs", "nobody", "/run/fathom-job/gpu-memory"});

    EXPECT_EQ(variables.at("FATHOM_GPU_SHARE"), "500");
    EXPECT_EQ(variables.at("FATHOM_GPU_PROOF"), "7");
    EXPECT_FALSE(variables.contains("FATHOM_GPU_PRIORITY"));
}

TEST(JobEnvironment, TheMetaschedulerSaysWhatAJobOnASharedGpuIsBoundBy)
{
    RunOrder run{test::shell_order("true"), {0}, 1, 0, {{"CUDA_VISIBLE_DEVICES", "GPU-1"}}};
    run.order.environment = {{"FATHOM_GPU_CLASS", "compute"}, {"FATHOM_GPU_KIND", "other"}};
    const auto unknown = job_environment(run, {"/work", "/programs", "nobody", "/run/fathom-job/gpu-memory"});
    run.order.kernel_class = KernelClass::kMemory;
    run.order.gpu_kind = "kind";

    const auto known = job_environment(run, {"/work", "/programs", "nobody", "/run/fathom-job/gpu-memory"});

    EXPECT_FALSE(unknown.contains("FATHOM_GPU_CLASS"));
    EXPECT_FALSE(unknown.contains("FATHOM_GPU_KIND"));
    EXPECT_EQ(known.at("FATHOM_GPU_CLASS"), "memory");
    EXPECT_EQ(known.at("FATHOM_GPU_KIND"), "kind");
}

TEST(JobEnvironment, AJobWithGpusFindsTheAgentsOwnMemoryManager)
{
    RunOrder run{test::shell_order("true"), {0}, 1, 0, {{"CUDA_VISIBLE_DEVICES", "GPU-1"}}};

    const auto with = job_environment(run, {"/work", "/programs", "nobody", "/run/fathom-job/gpu-memory"});

    EXPECT_EQ(with.at("FATHOM_GPU_SOCKET"), "/run/fathom-job/gpu-memory/socket");
    EXPECT_EQ(with.at("FATHOM_GPU_WAIT_S"), "60") << "the agent may be starting again";
    EXPECT_EQ(with.at("LD_PRELOAD"), "/programs/libfathom-gpu.so");
    EXPECT_FALSE(job_environment(run, {"/work", "/programs", "nobody"}).contains("FATHOM_GPU_SOCKET"));
}

} // namespace
} // namespace fathom::agent
