#include "core/model/probe_result.hpp"
#include "tests/probes/probe_program.hpp"

#include <gmock/gmock.h>

#include <filesystem>

/// fathom-probe when it is asked to measure a GPU, with one or without.
namespace fathom {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kTask =
    R"({"name": "gpu", "limit_s": 600, "repeats": 3, "target_interval": 0, "min_sample_s": 0.002, "operators": [
    {"id": "dgemm", "parameters": {"m": 256, "n": 256, "k": 256}}, {"id": "fft3d", "parameters": {"n": 32}},
    {"id": "spmv", "parameters": {"rows": 5000}}, {"id": "stream_triad", "parameters": {"n": 200000}}]})";

class CudaProgram : public ProbeProgram {
  protected:
    /// Operators that --list has for the GPU: none without one.
    Json listed() const
    {
        const Outcome outcome = run({"--list", "--output", "json", "--resource-type", "cuda"});
        EXPECT_EQ(outcome.exit_code, 0);
        return parse_json(outcome.out).value().at("operators");
    }
};

TEST_F(CudaProgram, SaysWhatIsMissingWhereThereIsNoDevice)
{
    if (!listed().empty()) GTEST_SKIP() << "there is a CUDA device";

    const Outcome outcome = run_task(kTask, {"FATHOM_RESOURCE_TYPE=cuda"});

    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.err, HasSubstr("; ")); // the cause, and the way out
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_THAT(run({"--list", "--resource-type", "cuda"}).err, HasSubstr("fathom-probe: "));
}

TEST_F(CudaProgram, SaysThatItsLibraryIsMissing)
{
    program_ = folder_ + "/fathom-probe"; // alone
    std::filesystem::copy_file(FATHOM_PROBE, program_);

    const Outcome outcome = run_task(kTask, {"FATHOM_RESOURCE_TYPE=cuda"});

    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.err, HasSubstr("this build has no operators for CUDA devices"));
    EXPECT_THAT(outcome.err, HasSubstr("nvcc"));
}

TEST_F(CudaProgram, SaysThatItsLibraryIsBroken)
{
    program_ = folder_ + "/fathom-probe";
    std::filesystem::copy_file(FATHOM_PROBE, program_);
    write("fathom-operators-cuda.so", "not a library");

    const Outcome outcome = run_task(kTask, {"FATHOM_RESOURCE_TYPE=cuda"});

    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.err, HasSubstr("cannot load the operators for CUDA devices"));
}

TEST_F(CudaProgram, RefusesResourceTypesThatItDoesNotKnow)
{
    EXPECT_EQ(run_task(kTask, {"FATHOM_RESOURCE_TYPE=abacus"}).exit_code, 2);
    EXPECT_THAT(run({"--list", "--resource-type", "abacus"}).err, HasSubstr("cpu or cuda"));
}

TEST_F(CudaProgram, LetsTheOptionWinOverTheEnvironment)
{
    const Outcome outcome = run({"--list", "--resource-type", "cpu"}, {"FATHOM_RESOURCE_TYPE=cuda"});

    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_THAT(outcome.out, HasSubstr("openblas"));
}

TEST_F(CudaProgram, MeasuresTheDevice)
{
    if (listed().empty()) GTEST_SKIP() << "no CUDA device to test on";

    const Outcome outcome = run_task(kTask, {"FATHOM_RESOURCE_TYPE=cuda"});

    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const Result<ProbeResult> result = parse_probe_result(parse_json(outcome.out).value());
    ASSERT_TRUE(result) << describe(result.error());
    const std::string device = result->host.at("gpu").at("name");
    for (const OperatorResult& item : result->operators) {
        EXPECT_LE(item.error, item.tolerance) << item.id;
        EXPECT_THAT(item.library, HasSubstr(device));
    }
}

TEST_F(CudaProgram, DoesNotStartWhatTheDeviceCannotHold)
{
    if (listed().empty()) GTEST_SKIP() << "no CUDA device to test on";

    const Outcome outcome = run_task(R"({"name": "t", "operators": [
        {"id": "stream_triad", "parameters": {"n": 4000000000}}, {"id": "stream_triad", "parameters": {"n": 3999999999}},
        {"id": "stream_triad", "parameters": {"n": 3999999998}}]})",
                                     {"FATHOM_RESOURCE_TYPE=cuda"});

    EXPECT_EQ(outcome.exit_code, 4);
    EXPECT_THAT(outcome.err, HasSubstr("out of memory"));
}

} // namespace
} // namespace fathom
