#include "probes/operators/registry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace fathom::probes {
namespace {

struct Case {
    const char* name; ///< of the test
    const char* id;
    Parameters parameters;
    bool single_precision = false;
};

const std::vector<Case>& cases()
{
    static const std::vector<Case> all{
        {"DgemmSquare", "dgemm", {{"m", 64}, {"n", 64}, {"k", 64}}},
        {"DgemmUneven", "dgemm", {{"m", 17}, {"n", 5}, {"k", 33}}},
        {"DgemmOne", "dgemm", {{"m", 1}, {"n", 1}, {"k", 1}}},
        {"Fft1dPowerOfTwo", "fft1d", {{"n", 4096}}},
        {"Fft1dPrime", "fft1d", {{"n", 1009}}},
        {"Fft1dLeast", "fft1d", {{"n", 2}}},
        {"Fft3dEven", "fft3d", {{"n", 16}}},
        {"Fft3dOdd", "fft3d", {{"n", 9}}},
        {"SpmvLeast", "spmv", {{"rows", 1000}}},
        {"SpmvUneven", "spmv", {{"rows", 12345}}},
        {"StreamTriad", "stream_triad", {{"n", 10007}}},
        {"Conv2d",
         "conv2d",
         {{"batch", 2}, {"channels_in", 16}, {"channels_out", 32}, {"height", 12}, {"width", 10}, {"kernel", 3}},
         true},
        {"Conv2dEvenKernel",
         "conv2d",
         {{"batch", 1}, {"channels_in", 16}, {"channels_out", 16}, {"height", 9}, {"width", 8}, {"kernel", 4}},
         true},
        {"Conv2dFewChannels",
         "conv2d",
         {{"batch", 1}, {"channels_in", 3}, {"channels_out", 5}, {"height", 8}, {"width", 8}, {"kernel", 7}},
         true},
        {"Conv2dPoint",
         "conv2d",
         {{"batch", 3}, {"channels_in", 16}, {"channels_out", 16}, {"height", 4}, {"width", 4}, {"kernel", 1}},
         true},
    };
    return all;
}

std::unique_ptr<ProbeOperator> executed(const Case& item, int threads, std::uint64_t seed)
{
    limit_library_threads(threads);
    std::unique_ptr<ProbeOperator> made = find_operator(item.id)->make(item.parameters, threads);
    const Result<void> prepared = made->prepare(seed);
    EXPECT_TRUE(prepared) << describe(prepared.error());
    made->execute();
    return made;
}

double tolerance(const Case& item)
{
    return find_operator(item.id)->manifest.tolerance;
}

/// Doubles the largest element of the result: what a wrong kernel or a flipped exponent bit does.
template <class T>
void corrupt(std::span<std::byte> output)
{
    T* const values = reinterpret_cast<T*>(output.data());
    T* const end = values + output.size() / sizeof(T);
    T* const largest = std::max_element(values, end, [](T a, T b) { return std::abs(a) < std::abs(b); });
    *largest *= 2;
}

void corrupt(const Case& item, ProbeOperator& made)
{
    item.single_precision ? corrupt<float>(made.output()) : corrupt<double>(made.output());
}

class Operators : public testing::TestWithParam<Case> {};

TEST_P(Operators, AreRightWithinTheirTolerance)
{
    for (const int threads : {1, 2}) {
        const std::unique_ptr<ProbeOperator> made = executed(GetParam(), threads, 7);

        EXPECT_LE(made->error(), tolerance(GetParam())) << threads << " threads";
        EXPECT_GE(made->error(), 0);
    }
}

TEST_P(Operators, NoticeOneWrongElement)
{
    const std::unique_ptr<ProbeOperator> made = executed(GetParam(), 1, 7);
    const std::string right = made->checksum();

    corrupt(GetParam(), *made);

    EXPECT_GT(made->error(), 100 * tolerance(GetParam()));
    EXPECT_NE(made->checksum(), right);
}

TEST_P(Operators, NoticeAResultThatWasNeverComputed)
{
    const std::unique_ptr<ProbeOperator> made = executed(GetParam(), 1, 7);

    std::memset(made->output().data(), 0, made->output().size());

    EXPECT_GT(made->error(), 100 * tolerance(GetParam()));
}

TEST_P(Operators, NoticeAResultThatIsNotANumber)
{
    const std::unique_ptr<ProbeOperator> made = executed(GetParam(), 1, 7);

    std::memset(made->output().data(), 0xff, made->output().size()); // every element a NaN

    EXPECT_FALSE(made->error() <= tolerance(GetParam()));
}

TEST_P(Operators, ComputeTheWholeResultAgain)
{
    const std::unique_ptr<ProbeOperator> made = executed(GetParam(), 2, 7);
    const std::string first = made->checksum();

    std::memset(made->output().data(), 0xff, made->output().size());
    made->execute();

    EXPECT_EQ(made->checksum(), first);
    EXPECT_LE(made->error(), tolerance(GetParam()));
}

TEST_P(Operators, GiveTheSameChecksumForTheSameSeedOnly)
{
    const std::string one = executed(GetParam(), 1, 7)->checksum();

    EXPECT_EQ(one, executed(GetParam(), 1, 7)->checksum());
    EXPECT_EQ(one, executed(GetParam(), 2, 7)->checksum());
    EXPECT_NE(one, executed(GetParam(), 1, 8)->checksum());
}

TEST_P(Operators, NameTheirLibrary)
{
    const std::string library = executed(GetParam(), 1, 7)->library();

    EXPECT_FALSE(library.empty());
    EXPECT_LE(library.size(), 200U); // the limit of the result's field
}

TEST_P(Operators, KnowTheMemoryThatTheyNeed)
{
    const std::unique_ptr<ProbeOperator> made = executed(GetParam(), 1, 7);

    EXPECT_GE(find_operator(GetParam().id)->memory(GetParam().parameters) + 64 * 1024,
              static_cast<double>(made->output().size())); // blocked layouts pad small tensors
}

INSTANTIATE_TEST_SUITE_P(Cpu, Operators, testing::ValuesIn(cases()),
                         [](const testing::TestParamInfo<Case>& info) { return info.param.name; });

TEST(OperatorLibraries, SayTheirVersionAndWhatTheyChose)
{
    const auto library = [](std::size_t index) { return executed(cases()[index], 1, 7)->library(); };

    EXPECT_TRUE(library(0).starts_with("OpenBLAS 0.")) << library(0);
    EXPECT_TRUE(library(0).ends_with(blas_core().used)) << library(0);
    EXPECT_TRUE(library(3).starts_with("FFTW 3.")) << library(3);
    EXPECT_TRUE(library(11).starts_with("oneDNN 2.")) << library(11);
}

} // namespace
} // namespace fathom::probes
