#include "probes/operators/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace fathom::probes {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

enum class Element { kFp64, kFp32, kInt64, kInt8 };

struct Case {
    const char* name; ///< of the test
    const char* id;
    Parameters parameters;
    Element element = Element::kFp64; ///< of the result
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
        {"SgemmSquare", "sgemm", {{"m", 64}, {"n", 64}, {"k", 64}}, Element::kFp32},
        {"SgemmUneven", "sgemm", {{"m", 17}, {"n", 5}, {"k", 33}}, Element::kFp32},
        {"SgemmLongSums", "sgemm", {{"m", 8}, {"n", 8}, {"k", 32768}}, Element::kFp32},
        {"GemmMixedSquare", "gemm_mixed", {{"m", 64}, {"n", 64}, {"k", 64}}, Element::kFp32},
        {"GemmMixedUneven", "gemm_mixed", {{"m", 17}, {"n", 5}, {"k", 33}}, Element::kFp32},
        {"GemmMixedLongSums", "gemm_mixed", {{"m", 8}, {"n", 8}, {"k", 32768}}, Element::kFp32},
        {"Fft2dEven", "fft2d", {{"n", 32}}},
        {"Fft2dOdd", "fft2d", {{"n", 45}}},
        {"Fft2dLeast", "fft2d", {{"n", 2}}},
        {"Fft3dEven", "fft3d", {{"n", 16}}},
        {"Fft3dOdd", "fft3d", {{"n", 9}}},
        {"SpmvLeast", "spmv", {{"rows", 1000}}},
        {"SpmvUneven", "spmv", {{"rows", 12345}}},
        {"StreamTriad", "stream_triad", {{"n", 10007}}},
        {"Trigonometric", "trigonometric", {{"n", 10000}}},
        {"TrigonometricUneven", "trigonometric", {{"n", 1003}}},
        {"TrigonometricOne", "trigonometric", {{"n", 1}}},
        {"ConjugateGradient", "conjugate_gradient", {{"edge", 20}, {"iterations", 25}}},
        {"ConjugateGradientOdd", "conjugate_gradient", {{"edge", 7}, {"iterations", 30}}},
        {"ConjugateGradientLeast", "conjugate_gradient", {{"edge", 2}, {"iterations", 10}}},
        {"ConjugateGradientLong", "conjugate_gradient", {{"edge", 9}, {"iterations", 400}}},
        {"Reduction", "reduction", {{"n", 10007}}},
        {"ReductionOne", "reduction", {{"n", 1}}},
        {"Sort", "sort", {{"n", 10007}}, Element::kInt64},
        {"SortLeast", "sort", {{"n", 2}}, Element::kInt64},
        {"RandomAccess", "random_access", {{"n", 100000}}, Element::kInt64},
        {"RandomAccessLeast", "random_access", {{"n", 16}}, Element::kInt64},
        {"FileRead", "file_read", {{"bytes", 3000000}}, Element::kInt64},
        {"FileReadOne", "file_read", {{"bytes", 1}}, Element::kInt64},
        {"FileWrite", "file_write", {{"bytes", 3000000}}, Element::kInt64},
        {"FileWriteOne", "file_write", {{"bytes", 1}}, Element::kInt64},
        {"Compression", "compression", {{"bytes", 300'001}, {"random_percent", 10}}, Element::kInt8},
        {"CompressionLeast", "compression", {{"bytes", 4096}, {"random_percent", 0}}, Element::kInt8},
        {"CompressionOfRandomWords", "compression", {{"bytes", 200'000}, {"random_percent", 100}}, Element::kInt8},
        {"Decompression", "decompression", {{"bytes", 300'001}, {"random_percent", 10}}, Element::kInt8},
        {"DecompressionLeast", "decompression", {{"bytes", 4096}, {"random_percent", 0}}, Element::kInt8},
        {"DecompressionOfRandomWords", "decompression", {{"bytes", 200'000}, {"random_percent", 100}}, Element::kInt8},
        {"Conv2d",
         "conv2d",
         {{"batch", 2}, {"channels_in", 16}, {"channels_out", 32}, {"height", 12}, {"width", 10}, {"kernel", 3}},
         Element::kFp32},
        {"Conv2dEvenKernel",
         "conv2d",
         {{"batch", 1}, {"channels_in", 16}, {"channels_out", 16}, {"height", 9}, {"width", 8}, {"kernel", 4}},
         Element::kFp32},
        {"Conv2dFewChannels",
         "conv2d",
         {{"batch", 1}, {"channels_in", 3}, {"channels_out", 5}, {"height", 8}, {"width", 8}, {"kernel", 7}},
         Element::kFp32},
        {"Conv2dPoint",
         "conv2d",
         {{"batch", 3}, {"channels_in", 16}, {"channels_out", 16}, {"height", 4}, {"width", 4}, {"kernel", 1}},
         Element::kFp32},
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
void corrupt_largest(std::span<std::byte> output)
{
    T* const values = reinterpret_cast<T*>(output.data());
    T* const end = values + output.size() / sizeof(T);
    T* const largest = std::max_element(values, end, [](T a, T b) { return std::abs(a) < std::abs(b); });
    *largest *= 2;
}

void corrupt(const Case& item, ProbeOperator& made)
{
    const std::span<std::byte> output = made.output();
    switch (item.element) {
    case Element::kFp64:
        return corrupt_largest<double>(output);
    case Element::kFp32:
        return corrupt_largest<float>(output);
    case Element::kInt64: // not of the first or last element: any is looked at
    case Element::kInt8:
        output[output.size() / 2] ^= std::byte{1};
    }
}

TEST(LibraryThreads, AreWhatTheLibrariesMakeOfTheLimit)
{
    constexpr int kTooMany = 100'000; // no OpenBLAS is built for so many
    const LibraryThreads most = limit_library_threads(kTooMany);
    const LibraryThreads one = limit_library_threads(1);

    EXPECT_GE(most.openblas, 1);
    EXPECT_LT(most.openblas, kTooMany);
    EXPECT_EQ(one.openblas, 1);
    EXPECT_EQ(one.openmp, 1) << "oneDNN's threads";
}

class Operators : public testing::TestWithParam<Case> {
  protected:
    void SetUp() override
    {
        const RegisteredOperator* const found = find_operator(GetParam().id);
        if (found == nullptr) GTEST_SKIP() << "not on the resource type " << to_string(used_resource_type());
        const Result<void> available = found->available();
        if (!available) GTEST_SKIP() << available.error().detail;
    }
};

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

INSTANTIATE_TEST_SUITE_P(All, Operators, testing::ValuesIn(cases()),
                         [](const testing::TestParamInfo<Case>& item) { return item.param.name; });

std::string library_of(std::string_view test_name)
{
    const auto item =
        std::find_if(cases().begin(), cases().end(), [&](const Case& one) { return one.name == test_name; });
    return executed(*item, 1, 7)->library();
}

TEST(OperatorLibraries, SayTheirVersionAndWhatTheyChose)
{
    if (used_resource_type() != ResourceType::kCpu) GTEST_SKIP() << "names the libraries for processors";
    EXPECT_THAT(library_of("DgemmSquare"), StartsWith("OpenBLAS 0."));
    EXPECT_THAT(library_of("DgemmSquare"), EndsWith(blas_core().used));
    EXPECT_THAT(library_of("Fft1dPowerOfTwo"), StartsWith("FFTW 3."));
    EXPECT_THAT(library_of("Conv2d"), StartsWith("oneDNN 2."));
    EXPECT_THAT(library_of("Trigonometric"), StartsWith("glibc 2."));
    EXPECT_THAT(library_of("Sort"), StartsWith("Boost.Sort 1."));
    EXPECT_THAT(library_of("FileRead"), HasSubstr("requests of 1 MiB"));
    EXPECT_THAT(library_of("Compression"), StartsWith("zlib 1."));
}

double compressed_fraction(std::int64_t random_percent)
{
    const Case item{"", "compression", {{"bytes", 1 << 20}, {"random_percent", random_percent}}, Element::kInt8};
    return executed(item, 1, 7)->figures().at("compressed_fraction");
}

/// No compression can do with fewer bits than the entropy, and zlib is not far from it.
TEST(CompressedFraction, FollowsTheEntropyOfTheData)
{
    if (used_resource_type() != ResourceType::kCpu) GTEST_SKIP() << "only processors compress";
    const double entropy_of_tenth = (0.1 * 64 + 0.9 * 8 + 0.469) / 64; // of a word: 0.22 of its bits

    EXPECT_GT(compressed_fraction(10), entropy_of_tenth);
    EXPECT_LT(compressed_fraction(10), 2 * entropy_of_tenth);
    EXPECT_LT(compressed_fraction(0), compressed_fraction(10));
    EXPECT_LT(compressed_fraction(10), compressed_fraction(50));
    EXPECT_NEAR(compressed_fraction(100), 1, 0.01);
}

} // namespace
} // namespace fathom::probes
