#include "probes/operators/cpu_implementation.hpp"
#include "probes/operators/cuda_library.hpp"
#include "probes/operators/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

/// The operators on a GPU. Linked with operators_test.cpp, whose tests then run there, too.
namespace fathom::probes {
namespace {

using testing::HasSubstr;

/// Skips every test of the program where there is no GPU.
class OnCuda : public testing::Environment {
  public:
    void SetUp() override
    {
        const Result<void> chosen = use_resource_type(ResourceType::kCuda);
        if (!chosen) GTEST_SKIP() << "no CUDA device to test on: " << chosen.error().detail;
    }
};
const testing::Environment* const kOnCuda = testing::AddGlobalTestEnvironment(new OnCuda);

struct Pair {
    const char* id;
    Parameters parameters;

    std::unique_ptr<ProbeOperator> make_on_cpu() const
    {
        const auto all = cpu_implementations();
        return std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.id == id; })->make(parameters, 1);
    }
};

/// Not those in single precision: their digests round so coarsely that the order of sums may show.
const std::vector<Pair>& pairs()
{
    static const std::vector<Pair> all{
        {"conjugate_gradient", {{"edge", 9}, {"iterations", 20}}},
        {"dgemm", {{"m", 33}, {"n", 17}, {"k", 65}}},
        {"fft1d", {{"n", 1000}}},
        {"fft2d", {{"n", 30}}},
        {"fft3d", {{"n", 12}}},
        {"random_access", {{"n", 50000}}},
        {"reduction", {{"n", 1003}}},
        {"sort", {{"n", 50001}}},
        {"spmv", {{"rows", 5003}}},
        {"stream_triad", {{"n", 5003}}},
        {"trigonometric", {{"n", 1003}}},
    };
    return all;
}

std::unique_ptr<ProbeOperator> executed(std::unique_ptr<ProbeOperator> made)
{
    const Result<void> prepared = made->prepare(7);
    EXPECT_TRUE(prepared) << describe(prepared.error());
    made->execute();
    return made;
}

TEST(CudaOperators, ComputeOnTheSameInputsAsOnCpus)
{
    for (const Pair& pair : pairs()) {
        const RegisteredOperator* const found = find_operator(pair.id);
        ASSERT_NE(found, nullptr) << pair.id;

        const auto on_gpu = executed(found->make(pair.parameters, 1));
        const auto on_cpu = executed(pair.make_on_cpu());

        EXPECT_EQ(on_gpu->checksum(), on_cpu->checksum()) << pair.id;
    }
}

TEST(CudaOperators, AreRightOnDataOfOtherOperators)
{
    const std::vector<double> values{3, -1, 4, 1, -5, 9, 2, -6, 5};
    for (const Pair& pair : pairs()) {
        const RegisteredOperator* const found = find_operator(pair.id);
        const auto on_gpu = executed(found->make(pair.parameters, 1));
        const auto on_cpu = executed(pair.make_on_cpu());
        const bool is_fed = static_cast<bool>(on_cpu->feed(0, values));
        ASSERT_EQ(static_cast<bool>(on_gpu->feed(0, values)), is_fed) << pair.id;
        EXPECT_EQ(on_gpu->values().size(), on_cpu->values().size()) << pair.id;
        if (!is_fed) continue;

        on_gpu->execute();
        on_cpu->execute();

        EXPECT_LE(on_gpu->error(), found->manifest.tolerance) << pair.id;
        EXPECT_EQ(on_gpu->checksum(), on_cpu->checksum()) << pair.id;
    }
}

TEST(CudaOperators, NameTheDevice)
{
    for (const Pair& pair : pairs()) {
        const auto made = executed(find_operator(pair.id)->make(pair.parameters, 1));

        EXPECT_THAT(made->library(), HasSubstr(used_cuda_device()->name)) << pair.id;
    }
}

TEST(CudaOperators, SayThatTheMemoryOfTheDeviceIsTooSmall)
{
    const Parameters too_large{{"n", 4'000'000'000'000}}; // beyond the manifest: no device has 96 TB

    const Result<void> prepared = find_operator("stream_triad")->make(too_large, 1)->prepare(7);

    ASSERT_FALSE(prepared);
    EXPECT_EQ(prepared.error().code, Errc::kTooLarge);
    EXPECT_THAT(prepared.error().detail, HasSubstr("GPU"));
}

} // namespace
} // namespace fathom::probes
