#include "probes/mpi/payload.hpp"
#include "probes/operators/exchange_process.hpp"
#include "probes/operators/exchange_reply.hpp"
#include "probes/operators/mpi_launch.hpp"
#include "probes/operators/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom::probes {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

using Message = std::vector<std::byte>;

Message message_of(std::size_t size, std::uint64_t seed, MessageWay way)
{
    Message message(size);
    fill_message(message, seed, way);
    return message;
}

TEST(MpiPayload, IsRightAsItWasMade)
{
    for (const std::size_t size : {1U, 7U, 8U, 9U, 100'000U})
        EXPECT_EQ(wrong_bytes(message_of(size, 7, {0, 1}), 7, {0, 1}), 0U) << size;
}

TEST(MpiPayload, HasEachWrongByteCounted)
{
    Message message = message_of(1003, 7, {0, 1});
    for (const std::size_t place : {0U, 500U, 501U, 1002U})
        message[place] ^= std::byte{1};

    EXPECT_EQ(wrong_bytes(message, 7, {0, 1}), 4U);
}

TEST(MpiPayload, IsAnotherForEachWayAndSeed)
{
    const Message message = message_of(1000, 7, {0, 1});

    EXPECT_GT(wrong_bytes(message, 8, {0, 1}), 900U);
    EXPECT_GT(wrong_bytes(message, 7, {1, 0}), 900U);
    EXPECT_GT(wrong_bytes(message, 7, {0, 2}), 900U);
}

/// Of an exchange that brought nothing, or one message less.
TEST(MpiPayload, IsNotWhatWasThereBefore)
{
    Message message = message_of(1000, 7, {0, 1});

    spoil(message);

    EXPECT_GT(wrong_bytes(message, 7, {0, 1}), 900U);
}

TEST(ExchangeReply, IsReadAsTheProgramWritesIt)
{
    const ExchangeReady ready = parse_exchange_ready("fathom-exchange ready 4 2 0 Open MPI v4.1.4").value();
    EXPECT_EQ(ready.processes, 4);
    EXPECT_EQ(ready.hosts, 2);
    EXPECT_FALSE(ready.is_crowded);
    EXPECT_EQ(ready.library, "Open MPI v4.1.4");
    EXPECT_TRUE(parse_exchange_ready("fathom-exchange ready 4 1 1 x").value().is_crowded);
    EXPECT_DOUBLE_EQ(parse_exchange_done("fathom-exchange done 1.250000000e-03").value(), 0.00125);
    const ExchangeChecked checked = parse_exchange_checked("fathom-exchange checked 0.5 0123456789abcdef").value();
    EXPECT_EQ(checked.error, 0.5);
    EXPECT_EQ(checked.checksum, "0123456789abcdef");
    EXPECT_EQ(parse_exchange_library("fathom-exchange library Open MPI v4.1.4").value(), "Open MPI v4.1.4");
}

TEST(ExchangeReply, ThatCannotBeIsRefused)
{
    for (const char* const line :
         {"", "ready 2 1 0 x", "fathom-exchange ready", "fathom-exchange ready 2 1 0", "fathom-exchange ready 2 1 0 ",
          "fathom-exchange ready 1 1 0 x", "fathom-exchange ready 2 3 0 x", "fathom-exchange ready 2 0 0 x",
          "fathom-exchange ready -2 1 0 x", "fathom-exchange ready 2 1 2 x", "fathom-exchange ready 99999999999 1 0 x",
          "fathom-exchange done 1"})
        EXPECT_FALSE(parse_exchange_ready(line)) << line;
    for (const char* const line :
         {"fathom-exchange done", "fathom-exchange done 0", "fathom-exchange done -1", "fathom-exchange done nan",
          "fathom-exchange done inf", "fathom-exchange done 1 2", "fathom-exchange done 1s"})
        EXPECT_FALSE(parse_exchange_done(line)) << line;
    for (const char* const line :
         {"fathom-exchange checked 0", "fathom-exchange checked 0 0123", "fathom-exchange checked 0 0123456789ABCDEF",
          "fathom-exchange checked nan 0123456789abcdef", "fathom-exchange checked -1 0123456789abcdef",
          "fathom-exchange checked 0 0123456789abcdef more"})
        EXPECT_FALSE(parse_exchange_checked(line)) << line;
    EXPECT_FALSE(parse_exchange_library("fathom-exchange library "));
}

TEST(ExchangeReply, IsQuotedShortAndPrintable)
{
    const Error error = parse_exchange_done(std::string("\x1b[31m") + std::string(1000, 'x')).error();

    EXPECT_EQ(error.code, Errc::kUnavailable);
    EXPECT_THAT(error.detail, HasSubstr("\"?[31mxxx"));
    EXPECT_LT(error.detail.size(), 200U);
    EXPECT_LE(parse_exchange_ready("fathom-exchange ready 2 1 0 " + std::string(1000, 'x')).value().library.size(),
              100U);
}

TEST(ExchangePlace, IsThisHostsProcessorsOrTheTasksOfASlurmJob)
{
    EXPECT_EQ(exchange_place(4, "").processes, 4);
    EXPECT_FALSE(exchange_place(4, "").is_slurm_job);
    EXPECT_EQ(exchange_place(4, "1").processes, 4) << "units on one host are one task with all processors";
    EXPECT_FALSE(exchange_place(4, "1").is_slurm_job);
    EXPECT_EQ(exchange_place(4, "3").processes, 3) << "units on several hosts are a task each";
    EXPECT_TRUE(exchange_place(4, "3").is_slurm_job);
    EXPECT_EQ(exchange_place(4, "many").processes, 4);
    EXPECT_EQ(exchange_place(4, "99999999").processes, 4);
}

const MpiLauncher kLauncher{
    .program = "/opt/fathom-mpi-probe", .words = {"/usr/bin/mpirun"}, .counts_slots = true, .library = "Open MPI v4"};

TEST(MpiCommand, StartsAsManyProcessesAsTheHostHasRoomFor)
{
    EXPECT_THAT(mpi_command(kLauncher, {4, false}, "alltoall", 65536, 7),
                ElementsAre("/usr/bin/mpirun", "--host", "localhost:4", "-n", "4", "/opt/fathom-mpi-probe", "alltoall",
                            "65536", "7"));
}

TEST(MpiCommand, LeavesTheTasksOfASlurmJobToTheLauncher)
{
    EXPECT_THAT(mpi_command(kLauncher, {3, true}, "latency", 8, 7),
                ElementsAre("/usr/bin/mpirun", "-n", "3", "/opt/fathom-mpi-probe", "latency", "8", "7"));
}

TEST(MpiCommand, KeepsALaunchersOwnOptions)
{
    MpiLauncher launcher = kLauncher;
    launcher.words = {"/usr/bin/srun", "--mpi=pmix"};
    launcher.counts_slots = false;

    EXPECT_THAT(mpi_command(launcher, {2, false}, "latency", 8, 7),
                ElementsAre("/usr/bin/srun", "--mpi=pmix", "-n", "2", "/opt/fathom-mpi-probe", "latency", "8", "7"));
    EXPECT_FALSE(check_launcher(launcher, {2, false}).has_value()) << "Slurm would give it other processors";
    EXPECT_TRUE(check_launcher(launcher, {2, true}).has_value());
    launcher.words = {"/usr/bin/mpirun"};
    EXPECT_TRUE(check_launcher(launcher, {2, false}).has_value());
}

TEST(MpiEnvironment, HasNoBatchSystemsJobWhoseTasksAreOthers)
{
    const std::vector<std::string> own{"PATH=/bin", "SLURM_JOB_ID=7", "SLURM_NTASKS=1", "PMIX_RANK=0", "HOME=/root"};

    const std::vector<std::string> one = mpi_environment(own, false);
    const std::vector<std::string> several = mpi_environment(own, true);

    EXPECT_THAT(one, AllOf(Contains("PATH=/bin"), Contains("HOME=/root"), Not(Contains(StartsWith("SLURM_"))),
                           Not(Contains(StartsWith("PMIX_")))));
    EXPECT_THAT(several, AllOf(Contains("SLURM_JOB_ID=7"), Contains("SLURM_NTASKS=1"), Contains("SLURM_OVERLAP=1")));
    for (const std::vector<std::string>& both : {one, several})
        EXPECT_THAT(both, AllOf(Contains("OMPI_ALLOW_RUN_AS_ROOT=1"), Contains("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")));
}

std::unique_ptr<ExchangeProcess> shell(const std::string& script)
{
    return ExchangeProcess::start({"/bin/sh", "-c", script}, own_environment(), "a script").value();
}

constexpr std::chrono::seconds kLong{60};

TEST(ExchangeProcess, AnswersAndIsReadWithoutWhatOthersSay)
{
    const auto process =
        shell("echo A warning of MPI; echo fathom-exchange ready; read line; echo \"fathom-exchange $line\"");

    EXPECT_EQ(process->read_reply(kLong).value(), "fathom-exchange ready");
    EXPECT_EQ(process->ask("run 7", kLong).value(), "fathom-exchange run 7");
}

TEST(ExchangeProcess, ThatEndsIsToldWithItsLastWords)
{
    const Error error = shell("echo 'mpirun: no slots' >&2; exit 1")->read_reply(kLong).error();

    EXPECT_EQ(error.code, Errc::kUnavailable);
    EXPECT_THAT(error.detail, AllOf(HasSubstr("has ended"), HasSubstr("it says: mpirun: no slots")));
}

TEST(ExchangeProcess, ThatComplainsWithoutEndTakesNoMoreMemory)
{
    const Error error =
        shell("dd if=/dev/zero bs=1000 count=1000 2>/dev/null | tr '\\0' x >&2; exit 1")->read_reply(kLong).error();

    EXPECT_THAT(error.detail, HasSubstr("it says: xxx"));
    EXPECT_LT(error.detail.size(), 600U);
}

TEST(ExchangeProcess, ThatIsSilentIsGivenUp)
{
    const Error error = shell("exec sleep 100")->read_reply(std::chrono::milliseconds(50)).error();

    EXPECT_THAT(error.detail, HasSubstr("does not answer"));
}

TEST(ExchangeProcess, ThatSaysTooMuchIsGivenUp)
{
    const Error error = shell("exec yes")->read_reply(kLong).error();
    EXPECT_THAT(error.detail, HasSubstr("says much"));

    const Error long_line = shell("printf 'fathom-exchange '; yes | tr -d '\\n'")->read_reply(kLong).error();
    EXPECT_THAT(long_line.detail, HasSubstr("says much"));
}

TEST(ExchangeProcess, ThatCannotBeStartedIsToldSo)
{
    const auto process = ExchangeProcess::start({"/nonexistent/mpirun"}, own_environment(), "mpirun");

    ASSERT_TRUE(process) << "the system knows only later";
    EXPECT_THAT((*process)->read_reply(kLong).error().detail, HasSubstr("has ended"));
    EXPECT_FALSE((*process)->ask("run 1", kLong));
}

TEST(ExchangeOperators, NeedTwoProcessors)
{
    for (const char* const id : {"mpi_latency", "mpi_bandwidth", "mpi_allreduce", "mpi_alltoall", "tcp_allreduce"}) {
        const RegisteredOperator* const found = find_operator(id);
        ASSERT_NE(found, nullptr) << id;

        const Result<void> prepared = found->make(found->manifest.default_parameters(), 1)->prepare(7);

        ASSERT_FALSE(prepared) << id;
        EXPECT_EQ(prepared.error().code, Errc::kUnavailable);
        EXPECT_THAT(prepared.error().detail, HasSubstr("one processor")) << id;
        EXPECT_GT(found->memory(found->manifest.default_parameters()), 16e6) << id;
    }
}

/// Where physics allows no other order: what moves more takes more.
TEST(ExchangeOperators, MoveMoreInLargerClasses)
{
    for (const RegisteredOperator& item : registered_operators()) {
        if (!is_exchange_operator(item.manifest.id)) continue;
        double before = 0;
        for (const SizeClass& size : item.manifest.size_classes) {
            const double bytes = evaluate_formula(item.manifest.byte_count, size.parameters).value();
            EXPECT_GT(bytes, before) << item.manifest.id << "/" << size.name;
            before = bytes;
        }
    }
}

} // namespace
} // namespace fathom::probes
