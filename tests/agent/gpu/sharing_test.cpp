// Unmodified programs that share a GPU: the preloaded library and the memory manager as users have them, on the
// stand-in for the driver.
#include "tests/agent/gpu/gpu_sharing.hpp"

#include <chrono>
#include <csignal>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace fathom::gpu {
namespace {

using namespace std::chrono_literals;

/// As when a test takes too long, and is ended with its programs in kernels that do not end.
TEST_F(GpuSharing, AProgramEndsWithTheTestThatStartedIt)
{
    ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    const pid_t test = ::fork();
    if (test == 0) {
        auto* const program =
            new Program({"/bin/sh", "-c", "echo runs; exec /bin/sleep 60"}, environment({{"LD_PRELOAD", ""}}), folder_);
        ::_exit(program->wait_for_output("runs") ? 0 : 1);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(test, &status, 0), test);
    EXPECT_EQ(status, 0);

    EXPECT_GT(::waitpid(-1, &status, 0), 0);

    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
    EXPECT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
}

TEST_F(GpuSharing, WhoIsAloneIsNeverInterrupted)
{
    start();
    const auto program = train(
        "alone",
        {{"until", "seen"}, {"weights-mib", "4"}, {"activations-mib", "12"}, {"tell", "yes"}, {"host-us", "20000"}});
    ASSERT_TRUE(wait_until([&] {
        const Json known = job("alone");
        return known.is_object() && known.at("iterations") >= 10;
    }));

    const Json known = job("alone");

    go_on("seen");
    EXPECT_EQ(program->wait(), 0) << program->output();
    EXPECT_EQ(known.at("switches"), 0);
    EXPECT_TRUE(wait_until([&] { return job("alone").is_null(); }));
}

TEST_F(GpuSharing, WithoutAManagerEverythingGoesToTheDriver)
{
    const auto program = train("alone", {{"iterations", "3"}, {"weights-mib", "4"}, {"activations-mib", "12"}});

    EXPECT_EQ(program->wait(), 0) << program->output();
    EXPECT_NE(program->output().find("does not answer at"), std::string::npos);
}

TEST_F(GpuSharing, AProgramWaitsForAManagerThatIsStartingAsLongAsItWasTold)
{
    const auto program = train(
        "early",
        {{"until", "seen"}, {"weights-mib", "4"}, {"activations-mib", "8"}, {"hold", "yes"}, {"host-us", "10000"}},
        {{"FATHOM_GPU_WAIT_S", "60"}});
    std::this_thread::sleep_for(500ms); // longer than it takes to find nobody
    start();
    EXPECT_TRUE(wait_until([&] { return job("early").is_object(); }));
    go_on("seen");
    EXPECT_EQ(program->wait(), 0) << program->output();
    EXPECT_EQ(program->output().find("does not answer at"), std::string::npos) << program->output();

    service_.reset();
    const auto late = train("late", {{"iterations", "3"}, {"weights-mib", "4"}, {"activations-mib", "8"}},
                            {{"FATHOM_GPU_WAIT_S", "1"}});
    EXPECT_EQ(late->wait(), 0) << late->output();
    EXPECT_NE(late->output().find("does not answer at"), std::string::npos);
}

/// 4 + 4 MiB of weights stay; 20 and 20 MiB of activations do not fit at once into 32 MiB.
TEST_F(GpuSharing, TwoThatSayWhenAnIterationEndsTakeTurnsAndNothingMoves)
{
    // However slow the machine is, an iteration that ends is not interrupted.
    settings_.coordinator.turns.most_slice_s = 120;
    settings_.coordinator.turns.most_wait_s = 240;
    start();
    const std::map<std::string, std::string> options{{"until", "enough"},       {"weights-mib", "4"},
                                                     {"activations-mib", "20"}, {"layers", "2"},
                                                     {"tell", "yes"},           {"hold", "yes"}};
    const auto first = train("first", options);
    const auto second = train("second", options);
    Json last;
    EXPECT_TRUE(wait_until([&] {
        last = job("first");
        return last.is_object() && last.at("switches").get<int>() > 5;
    }));
    go_on("enough");
    ASSERT_TRUE(last.is_object());

    EXPECT_EQ(first->wait(), 0) << first->output();
    EXPECT_EQ(second->wait(), 0) << second->output();
    EXPECT_EQ(last.at("moved_bytes"), 0) << last;
    EXPECT_GE(last.at("kept_bytes").get<std::int64_t>(), 4 * kMiB * last.at("switches").get<std::int64_t>());
    EXPECT_EQ(last.at("temporary").at("peak_bytes"), 20 * kMiB);
    EXPECT_EQ(last.at("persistent").at("peak_bytes"), 4 * kMiB);
}

TEST_F(GpuSharing, IterationsAreFoundWhereNobodyTellsOfThem)
{
    start();
    const std::map<std::string, std::string> options{
        {"until", "enough"}, {"weights-mib", "2"}, {"activations-mib", "4"}, {"host-us", "1000"}};
    const auto first = train("first", options);
    const auto second = train("second", options);
    Json last;
    EXPECT_TRUE(wait_until([&] {
        last = job("first");
        return last.is_object() && last.at("iterations").get<int>() > 50 &&
               last.at("switches_after_iteration").get<int>() > 0;
    })) << last;
    go_on("enough");

    EXPECT_EQ(first->wait(), 0) << first->output();
    EXPECT_EQ(second->wait(), 0) << second->output();
}

TEST_F(GpuSharing, AnIterationThatDoesNotEndIsInterruptedBetweenKernelsAndLosesNothing)
{
    settings_.coordinator.turns = {.slice_s = 0.01, .most_slice_s = 0.05, .most_wait_s = 30};
    start();
    // Each iteration takes 0.2 s at least: the turn ends within it.
    const std::map<std::string, std::string> options{{"iterations", "3"},  {"until", "enough"},
                                                     {"weights-mib", "4"}, {"activations-mib", "20"},
                                                     {"tell", "yes"},      {"compute-us", "200000"}};
    const auto first = train("first", options);
    const auto second = train("second", options);
    Json last;
    EXPECT_TRUE(wait_until([&] {
        last = job("first");
        return last.is_object() && last.at("moved_bytes").get<std::int64_t>() > 0;
    })) << last;
    go_on("enough");

    EXPECT_EQ(first->wait(), 0) << first->output();
    EXPECT_EQ(second->wait(), 0) << second->output();
}

TEST_F(GpuSharing, EveryWayToFindTheDriversFunctionsLeadsThroughTheLibrary)
{
    start();
    for (const std::string way :
         {"linked", "dlsym", "get-proc-address", "get-proc-address-of-threads", "get-proc-address-by-itself"}) {
        const auto program = train(way, {{"until", way + " is seen"},
                                         {"weights-mib", "4"},
                                         {"activations-mib", "4"},
                                         {"way", way},
                                         {"tell", "yes"},
                                         {"host-us", "20000"}});
        EXPECT_TRUE(wait_until([&] {
            const Json known = job(way);
            return known.is_object() && known.at("persistent").at("used_bytes").get<std::int64_t>() >= 4 * kMiB;
        })) << way;
        go_on(way + " is seen");
        EXPECT_EQ(program->wait(), 0) << program->output();
    }
}

/// Such as a part of a GPU that was cut after the manager began.
TEST_F(GpuSharing, OnAGpuThatTheManagerDoesNotKnowTheDriverRules)
{
    std::erase_if(settings_.coordinator.gpus, [](const auto& gpu) { return gpu.first != kGpu; });
    start();

    const auto program =
        train("private",
              {{"iterations", "3"}, {"weights-mib", "4"}, {"activations-mib", "8"}, {"tell", "yes"}, {"device", "1"}});

    EXPECT_EQ(program->wait(), 0) << program->output();
    EXPECT_EQ(program->output().find("fathom-gpu:"), std::string::npos) << program->output();
}

TEST_F(GpuSharing, WhatDoesNotFitIsRefusedWithTheFiguresAndHurtsNobody)
{
    start();
    const auto first = train(
        "first",
        {{"until", "refused"}, {"weights-mib", "14"}, {"activations-mib", "8"}, {"tell", "yes"}, {"host-us", "20000"}});
    ASSERT_TRUE(first->wait_for_output("started"));
    ASSERT_TRUE(wait_until([&] { return job("first").is_object(); }));

    const auto second = train("second", {{"weights-mib", "14"}},
                              {{"FATHOM_GPU_PERSISTENT_BYTES", std::to_string(14 * kMiB)},
                               {"FATHOM_GPU_TEMPORARY_BYTES", std::to_string(4 * kMiB)}});

    EXPECT_EQ(second->wait(), 3);
    EXPECT_NE(
        second->output().find("the GPU's memory is not enough: asked 16.0 MiB persistent with its gap and 4.0 MiB "
                              "temporary; of 32.0 MiB are"),
        std::string::npos)
        << second->output();
    go_on("refused");
    EXPECT_EQ(first->wait(), 0) << first->output();
}

TEST_F(GpuSharing, WhoIsKilledGivesEverythingBackAtOnce)
{
    start();
    const std::map<std::string, std::string> options{
        {"until", "enough"}, {"weights-mib", "4"}, {"activations-mib", "20"}, {"tell", "yes"}, {"hold", "yes"}};
    const auto victim = train("victim", options);
    const auto other = train("other", options);
    ASSERT_TRUE(victim->wait_for_output("started"));
    ASSERT_TRUE(other->wait_for_output("started"));
    ASSERT_TRUE(wait_until([&] { return !job("victim").is_null() && job("victim").at("switches") > 0; }));

    victim->kill(SIGKILL);

    EXPECT_EQ(victim->wait(), -SIGKILL);
    EXPECT_TRUE(wait_until([&] { return job("victim").is_null(); }));
    const Json before = job("other");
    ASSERT_TRUE(before.is_object()) << other->output();
    EXPECT_TRUE(wait_until([&] { return job("other").at("iterations") > before.at("iterations"); }));
    go_on("enough");
    EXPECT_EQ(other->wait(), 0) << other->output();
}

/// A kernel of an hour, which nothing but the end of its process takes off a GPU.
TEST_F(GpuSharing, WhoseKernelDoesNotEndIsEndedSoThatOthersGoOn)
{
    // It ends itself, and says so, before the manager ends it; on a busy machine with more time in between.
    bool has_said_so = false;
    for (const double overrun_s : {1.0, 8.0, 40.0}) {
        service_.reset();
        settings_.coordinator.turns = {
            .slice_s = 0.02, .most_slice_s = 0.1, .most_wait_s = 30, .most_overrun_s = overrun_s};
        start();
        const auto victim = train(
            "victim", {{"weights-mib", "4"}, {"activations-mib", "20"}, {"tell", "yes"}, {"compute-us", "3600000000"}});
        ASSERT_TRUE(victim->wait_for_output("started"));
        ASSERT_TRUE(wait_until([&] { return !job("victim").is_null(); }));
        // Until then: with a few iterations it might be done before the victim launches its kernel.
        const std::string enough = "enough with " + std::to_string(overrun_s);
        const auto other =
            train("other", {{"until", enough}, {"weights-mib", "4"}, {"activations-mib", "20"}, {"tell", "yes"}});

        EXPECT_EQ(victim->wait(), -SIGKILL);
        go_on(enough);
        EXPECT_EQ(other->wait(), 0) << other->output();
        has_said_so = victim->output().find("did not give the GPU back") != std::string::npos;
        if (has_said_so) break;
    }
    EXPECT_TRUE(has_said_so);
}

/// Not even its library can end it.
TEST_F(GpuSharing, WhoIsStoppedWithTheTurnIsEndedByTheManager)
{
    settings_.coordinator.turns = {.slice_s = 0.02, .most_slice_s = 0.1, .most_wait_s = 30, .most_overrun_s = 1};
    start();
    const std::map<std::string, std::string> options{
        {"iterations", "1000000"}, {"weights-mib", "4"}, {"activations-mib", "20"}, {"tell", "yes"}};
    const auto victim = train("victim", options);
    // From its first iteration on it has the turn, which nobody else asks for.
    ASSERT_TRUE(wait_until([&] { return !job("victim").is_null() && job("victim").at("iterations") > 0; }));
    victim->kill(SIGSTOP);
    auto finite = options;
    finite["iterations"] = "3";
    const auto other = train("other", finite);

    EXPECT_EQ(other->wait(), 0) << other->output();
    EXPECT_EQ(victim->wait(), -SIGKILL);
}

TEST_F(GpuSharing, TheManagersDeathIsSurvivedAndItsBooksAreMadeAnew)
{
    start();
    const std::map<std::string, std::string> options{{"until", "known again"},  {"weights-mib", "4"},
                                                     {"activations-mib", "20"}, {"tell", "yes"},
                                                     {"hold", "yes"},           {"host-us", "10000"}};
    const auto first = train("first", options);
    const auto second = train("second", options);
    ASSERT_TRUE(wait_until([&] { return !job("first").is_null() && job("first").at("switches") > 2; }));

    service_.reset();
    settings_.coordinator.settle_s = 1;
    start();

    EXPECT_TRUE(wait_until([&] { return !job("first").is_null() && !job("second").is_null(); }));
    go_on("known again");
    EXPECT_EQ(first->wait(), 0) << first->output();
    EXPECT_EQ(second->wait(), 0) << second->output();
}

TEST_F(GpuSharing, JobsOnDifferentGpusDoNotWaitForEachOther)
{
    start();
    const auto first =
        train("first", {{"until", "enough"}, {"weights-mib", "4"}, {"activations-mib", "20"}, {"tell", "yes"}});
    const auto second =
        train("second",
              {{"until", "enough"}, {"weights-mib", "4"}, {"activations-mib", "20"}, {"tell", "yes"}, {"device", "1"}});
    Json last;
    const auto has_ended_some = [&](const char* name) {
        last = job(name);
        return last.is_object() && last.at("iterations") >= 20;
    };
    EXPECT_TRUE(wait_until([&] { return has_ended_some("first") && has_ended_some("second"); }));
    go_on("enough");
    ASSERT_TRUE(last.is_object());

    EXPECT_EQ(first->wait(), 0) << first->output();
    EXPECT_EQ(second->wait(), 0) << second->output();
    EXPECT_EQ(last.at("switches"), 0);
}

/// By the commands, and the GPUs that NVIDIA's library tells of.
TEST_F(GpuSharing, ThePeopleOfANodeSeeItsMemory)
{
    auto variables = environment({{"LD_PRELOAD", ""}, {"LD_LIBRARY_PATH", FATHOM_STANDIN_NVML_FOLDER}});
    Program manager({FATHOM_AGENT, "gpu-memory", "serve", "--socket", folder_ / "socket", "--state-file",
                     folder_ / "state", "--gap-bytes", std::to_string(2 * kMiB), "--reserved-bytes", "0"},
                    variables, folder_);
    ASSERT_TRUE(manager.wait_for_output("gpu_memory_ready")) << manager.output();
    const auto job = train("trains", {{"iterations", "1000000"},
                                      {"weights-mib", "4"},
                                      {"activations-mib", "8"},
                                      {"tell", "yes"},
                                      {"host-us", "5000"}});
    ASSERT_TRUE(job->wait_for_output("started")) << job->output();

    std::string shown;
    EXPECT_TRUE(wait_until([&] {
        Program show({FATHOM_AGENT, "gpu-memory", "show", "--state-file", folder_ / "state"}, variables, folder_);
        EXPECT_EQ(show.wait(), 0) << show.output();
        shown = show.output();
        return shown.find("trains") != std::string::npos && shown.find("persistent      4 of") != std::string::npos;
    })) << shown;
    EXPECT_NE(shown.find(kGpu + "  32 MiB: "), std::string::npos) << shown;

    manager.kill(SIGTERM);
    EXPECT_EQ(manager.wait(), 0);
    Program without({FATHOM_AGENT, "gpu-memory", "show", "--state-file", folder_ / "none"}, variables, folder_);
    EXPECT_EQ(without.wait(), 1);
    Program wrong({FATHOM_AGENT, "gpu-memory", "serve", "--slice-s", "-1"}, variables, folder_);
    EXPECT_EQ(wrong.wait(), 2);
}

} // namespace
} // namespace fathom::gpu
