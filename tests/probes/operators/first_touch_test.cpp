// Memory lies at the processor that touches it first: what several threads compute on must not be touched by one alone.
#include "probes/operators/registry.hpp"

#include <gtest/gtest.h>

#include <sys/prctl.h>
#include <sys/resource.h>

namespace fathom::probes {
namespace {

struct Sized {
    const char* id;
    Parameters parameters;
};

/// Pages that this thread was the first to touch while an operator prepared itself for so many threads.
long pages_touched_here(const Sized& sized, int threads)
{
    limit_library_threads(threads);
    const std::unique_ptr<ProbeOperator> made = find_operator(sized.id)->make(sized.parameters, threads);
    rusage before{};
    rusage after{};
    getrusage(RUSAGE_THREAD, &before);
    const Result<void> prepared = made->prepare(7);
    getrusage(RUSAGE_THREAD, &after);
    EXPECT_TRUE(prepared) << describe(prepared.error());
    return after.ru_minflt - before.ru_minflt;
}

class FirstTouch : public testing::TestWithParam<Sized> {
  protected:
    /// Of ordinary pages, so that enough are touched to be counted.
    void SetUp() override { prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); }
    void TearDown() override
    {
        prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
        limit_library_threads(1);
    }
};

TEST_P(FirstTouch, IsByTheThreadsThatCompute)
{
    pages_touched_here(GetParam(), 4); // what libraries allocate once
    const long alone = pages_touched_here(GetParam(), 1);
    const long with_three = pages_touched_here(GetParam(), 4);

    EXPECT_LT(static_cast<double>(with_three), 0.7 * static_cast<double>(alone));
}

INSTANTIATE_TEST_SUITE_P(OfLargeArrays, FirstTouch,
                         testing::Values(Sized{"dgemm", {{"m", 1000}, {"n", 1000}, {"k", 1000}}},
                                         Sized{"sgemm", {{"m", 1400}, {"n", 1400}, {"k", 1400}}},
                                         Sized{"fft1d", {{"n", 262144}}}, Sized{"fft2d", {{"n", 512}}},
                                         Sized{"fft3d", {{"n", 64}}}, Sized{"random_access", {{"n", 500000}}},
                                         Sized{"gemm_mixed", {{"m", 1400}, {"n", 1400}, {"k", 1400}}},
                                         Sized{"compression", {{"bytes", 8'388'608}, {"random_percent", 10}}},
                                         Sized{"decompression", {{"bytes", 8'388'608}, {"random_percent", 10}}},
                                         Sized{"sort", {{"n", 2000000}}}, Sized{"spmv", {{"rows", 100000}}},
                                         Sized{"stream_triad", {{"n", 1000000}}},
                                         Sized{"trigonometric", {{"n", 1000000}}},
                                         Sized{"conjugate_gradient", {{"edge", 48}, {"iterations", 15}}}),
                         [](const auto& one) { return std::string(one.param.id); });

} // namespace
} // namespace fathom::probes
