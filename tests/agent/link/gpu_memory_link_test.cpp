#include "core/base/file.hpp"
#include "tests/agent/support/executor_fixture.hpp"
#include "tests/agent/support/gpu_link.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>

/// A real agent whose jobs share the memory of a GPU by its own memory manager: the jobs are programs that train, on a
/// stand-in for NVIDIA's driver.
namespace fathom::agent {
namespace {

namespace fs = std::filesystem;
using test::is;

const std::string kGpu = "GPU-00000000-1111-2222-3333-444444444444";
constexpr std::int64_t kMiB = 1LL << 20U;

class SharedGpuLink : public test::GpuLink {
  protected:
    /// @param more  of the table of the memory manager.
    explicit SharedGpuLink(const std::string& more = {})
        : GpuLink("gpu\t" + kGpu + "\tStand-in\t" + std::to_string(32 * kMiB) + "\n",
                  "[gpu_memory]\nenabled = true\nreserved_bytes = 0\ngap_bytes = 2097152\nslice_s = 0.02\n" + more +
                      "[[unit_type]]\nname = \"part\"\nresource_type = \"cuda\"\ncores_per_unit = 0\n"
                      "memory_bytes_per_unit = 1000000000\nsharing = \"time-slice\"\nparts_per_device = 4\n")
    {
        write_file(cards() / kGpu, "").value();
        fs::permissions(cards() / kGpu, fs::perms(0666)); // jobs have users of their own
        for (const char* program : {FATHOM_TRAINING_LOOP, FATHOM_STANDIN_DRIVER})
            fs::copy(program, programs());
    }

    /// Weights of 4 MiB stay; two jobs' activations of 20 MiB do not fit at once. Most of an iteration it waits, as a
    /// program that reads its data does.
    AttemptOrder train(const std::string& iterations) const
    {
        AttemptOrder order =
            test::order({(programs() / "training_loop").string(), "iterations", iterations, "weights-mib", "4",
                         "activations-mib", "20", "tell", "yes", "hold", "yes", "host-us", "300000"});
        order.wall_limit_s = 600; // where memory is slow its turns take a minute
        order.environment["LD_LIBRARY_PATH"] = programs().string();
        order.unit_type = "part";
        return order;
    }

    /// The first report that fits.
    SharedGpu wait_for_report(const std::string& what, const std::function<bool(const SharedGpu&)>& fits) const
    {
        const link::Message message = server_.wait_for(what, [&](const link::Message& one) {
            const auto* report = std::get_if<GpuMemoryReport>(&one.body);
            return report != nullptr && !report->gpus.empty() && fits(report->gpus.front());
        });
        return std::get<GpuMemoryReport>(message.body).gpus.front();
    }
};

TEST_F(SharedGpuLink, JobsTakeTurnsAndTheMetascheduerIsToldWhatTheyHave)
{
    start_enrolled();
    AttemptOrder first = train("4");
    AttemptOrder second = train("4");
    for (AttemptOrder* order : {&first, &second}) { // beyond a report of both
        order->command.emplace_back("until");
        order->command.push_back((programs() / "enough").string());
    }

    server_.send(link::StartAttempt{first});
    server_.send(link::StartAttempt{second});
    const SharedGpu gpu = wait_for_report("two jobs on the GPU", [](const SharedGpu& one) {
        return one.jobs.size() == 2 && one.jobs[0].switches > 0 && one.jobs[1].switches > 0;
    });
    write_file(programs() / "enough", "").value();
    const AttemptEnd first_end = end_of(first.attempt_id);
    const AttemptEnd second_end = end_of(second.attempt_id);

    EXPECT_EQ(first_end.exit_code, 0) << output_of(first_end);
    EXPECT_EQ(second_end.exit_code, 0) << output_of(second_end);
    EXPECT_EQ(gpu.gpu, kGpu);
    EXPECT_EQ(gpu.capacity_bytes, 32 * kMiB);
    EXPECT_TRUE(gpu.is_shared);
    EXPECT_EQ(gpu.jobs[0].persistent.used_bytes, 4 * kMiB);
    const std::set<std::string> jobs{gpu.jobs[0].job, gpu.jobs[1].job};
    EXPECT_EQ(jobs, (std::set<std::string>{first.job_id.value, second.job_id.value}));
    const SharedGpu empty = wait_for_report("the GPU without jobs",
                                            [](const SharedGpu& one) { return one.job_count == 0 && !one.is_shared; });
    EXPECT_EQ(empty.persistent_bytes, 0);
}

TEST_F(SharedGpuLink, JobsGoOnWhileTheAgentIsAwayAndAreInTheBooksOfTheNext)
{
    start_enrolled();
    const AttemptOrder order = train("100000000");
    server_.send(link::StartAttempt{order});
    wait_for_report("the job", [](const SharedGpu& one) { return one.job_count == 1; });

    agent_.stop(SIGKILL);
    const auto reports = [&] { return server_.count(is<GpuMemoryReport>); };
    const std::size_t before = reports();
    agent_.start();
    wait_for_hello(2);
    test::wait_until(
        [&] {
            std::size_t number = 0;
            return server_.count([&](const link::Message& message) {
                const auto* report = std::get_if<GpuMemoryReport>(&message.body);
                return report != nullptr && ++number > before && report->gpus.at(0).job_count == 1 &&
                       report->gpus.at(0).jobs.at(0).persistent.used_bytes == 4 * kMiB;
            }) > 0;
        },
        "the job in the books of the next agent");

    EXPECT_EQ(ends_of(order.attempt_id), 0U);
    server_.send(link::CancelAttempt{order.attempt_id, "seen enough"});
    EXPECT_EQ(end_of(order.attempt_id).outcome, AttemptOutcome::kCancelled);
}

/// What it says of itself comes from its environment, and may be anything.
TEST_F(SharedGpuLink, AJobCannotSpoilTheReportByItsNameNorPutItselfBeforeOthers)
{
    start_enrolled();
    AttemptOrder order = train("100000000");
    order.command = {
        "sh", "-c",
        "export FATHOM_GPU_JOB=$(printf '\\377\\376') FATHOM_GPU_SHARE=9000 FATHOM_GPU_PRIORITY=9; exec \"$0\" \"$@\"",
        order.command[0]};
    for (const char* argument : {"iterations", "100000000", "weights-mib", "4", "activations-mib", "8", "tell", "yes"})
        order.command.emplace_back(argument);

    server_.send(link::StartAttempt{order});
    const SharedGpu gpu = wait_for_report("the job", [](const SharedGpu& one) { return one.job_count == 1; });

    EXPECT_EQ(gpu.jobs.at(0).job, "");
    EXPECT_EQ(gpu.jobs.at(0).wrong_messages, 1);
    EXPECT_EQ(gpu.jobs.at(0).share, 1);
    EXPECT_EQ(gpu.jobs.at(0).priority, 0);
    server_.send(link::CancelAttempt{order.attempt_id, "seen enough"});
    EXPECT_EQ(end_of(order.attempt_id).outcome, AttemptOutcome::kCancelled);
}

class GpusAtOnceLink : public SharedGpuLink {
  protected:
    GpusAtOnceLink() : SharedGpuLink("at_once = 2\n") {}

    /// Of a kind; two of them fit side by side.
    AttemptOrder train_kind(const std::string& kind) const
    {
        AttemptOrder order = train("100000000");
        std::replace(order.command.begin(), order.command.end(), std::string("20"), std::string("6"));
        std::replace(order.command.begin(), order.command.end(), std::string("300000"), std::string("50000"));
        order.gpu_kind = kind;
        return order;
    }
};

/// No class is known, and of the second no pace alone: without what other centers measured it would wait for its turn.
TEST_F(GpusAtOnceLink, JobsOfAPairThatWasMeasuredElsewhereHaveTheTurnAtOnce)
{
    start_enrolled();
    const AttemptOrder first = train_kind("type:a");
    AttemptOrder second = train_kind("type:b");
    second.turn_pairs = {{.a = "type:a", .b = "type:b", .a_share = 0.9, .b_share = 0.9, .count = 4}};
    server_.send(link::StartAttempt{first});
    wait_for_report("the first alone", [](const SharedGpu& one) { return one.job_count == 1; });

    server_.send(link::StartAttempt{second});

    wait_for_report("both with the turn", [](const SharedGpu& one) {
        return one.jobs.size() == 2 && one.jobs[0].has_turn && one.jobs[1].has_turn;
    });
    for (const AttemptOrder& order : {first, second}) {
        server_.send(link::CancelAttempt{order.attempt_id, "seen enough"});
        EXPECT_EQ(end_of(order.attempt_id).outcome, AttemptOutcome::kCancelled);
    }
}

} // namespace
} // namespace fathom::agent
