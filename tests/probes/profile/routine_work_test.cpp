#include "probes/profile/routine_work.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

namespace fathom::profile {
namespace {

const SymbolInfo& symbol(std::string_view name)
{
    const auto* found = std::find_if(std::begin(kSymbols), std::end(kSymbols),
                                     [&](const SymbolInfo& info) { return info.name == name; });
    EXPECT_NE(found, std::end(kSymbols)) << name;
    return *found;
}

struct Described {
    ObservedOperation operation;
    std::int64_t executions{};
};

Described describe(std::string_view name, std::initializer_list<std::int64_t> sizes)
{
    std::vector<std::int64_t> dimensions(sizes);
    dimensions.resize(kMaxDimensions);
    Described described;
    described.operation = describe_calls(symbol(name), dimensions, described.executions);
    return described;
}

TEST(RoutineWork, AMatrixProductDoesTwoOperationsForEachElementOfItsInnerDimension)
{
    const Described product = describe("cblas_dgemm", {3, 5, 7});

    EXPECT_EQ(product.operation.parameters, (Parameters{{"m", 3}, {"n", 5}, {"k", 7}}));
    EXPECT_DOUBLE_EQ(product.operation.operations, 2 * 3 * 5 * 7);
    EXPECT_DOUBLE_EQ(product.operation.bytes, 8 * (3 * 7 + 7 * 5 + 3 * 5));
    EXPECT_EQ(product.operation.argument_kinds, std::vector<std::string>(3, "matrix_fp64"));
}

TEST(RoutineWork, AComplexProductIsFourRealOnes)
{
    EXPECT_DOUBLE_EQ(describe("zgemm_", {3, 5, 7}).operation.operations, 8 * 3 * 5 * 7);
}

TEST(RoutineWork, ASideGivesTheTrianglesOrder)
{
    // Left: the triangle is 4 x 4.
    EXPECT_DOUBLE_EQ(describe("dtrsm_", {4, 9, 4}).operation.operations, 4 * 9 * 4);
}

TEST(RoutineWork, ASolveDoesTwoThirdsOfNCubedAndTheSubstitutions)
{
    EXPECT_DOUBLE_EQ(describe("dgesv_", {30, 2}).operation.operations, 2.0 / 3 * 27000 + 2 * 900 * 2);
}

TEST(RoutineWork, ACubicTransformIsNamedByItsEdgeAndABatchByItsNumber)
{
    const Described cube = describe("fftw_execute", {3, 16, 16, 16, 5, 'c'});

    EXPECT_EQ(cube.operation.symbol, "fftw_execute/3d");
    EXPECT_EQ(cube.operation.parameters, (Parameters{{"n", 16}}));
    EXPECT_DOUBLE_EQ(cube.operation.operations, 5.0 * 4096 * 12);
    EXPECT_EQ(cube.executions, 5);
}

TEST(RoutineWork, ARealTransformIsHalfTheWorkOfAComplexOne)
{
    EXPECT_DOUBLE_EQ(describe("fftw_execute", {1, 64, 1, 1, 1, 'r'}).operation.operations, 0.5 * 5 * 64 * 6);
}

TEST(RoutineWork, APlanThatIsNotKnownHasNoSizes)
{
    const Described unknown = describe("fftw_execute", {});

    EXPECT_EQ(unknown.operation.symbol, "fftw_execute");
    EXPECT_TRUE(unknown.operation.parameters.empty());
    EXPECT_DOUBLE_EQ(unknown.operation.operations, 0);
}

TEST(RoutineWork, MixedProductsOfCudaTakeTheirTypeFromTheArgument)
{
    constexpr std::int64_t kCudaBf16 = 14;
    const Described product = describe("cublasGemmEx", {2, 3, 4, kCudaBf16});

    EXPECT_EQ(product.operation.argument_kinds,
              (std::vector<std::string>{"matrix_bf16", "matrix_bf16", "matrix_fp32"}));
}

TEST(RoutineWork, WhatMovesBytesIsNamedAsItIsCalled)
{
    const Described stream = describe("inflate", {});

    EXPECT_EQ(stream.operation.symbol, "inflate");
    EXPECT_EQ(stream.operation.argument_kinds, std::vector<std::string>(2, "array_int8"));
    EXPECT_TRUE(stream.operation.parameters.empty()) << "the bytes are those of all calls together";
}

TEST(RoutineWork, EverySymbolOfACallHasItsRoutinesWork)
{
    for (const SymbolInfo& info : kSymbols) {
        if (info.action != Action::kCall) continue;
        std::vector<std::int64_t> dimensions(kMaxDimensions, 100);
        std::int64_t executions = 0;
        const ObservedOperation operation = describe_calls(info, dimensions, executions);
        const std::string_view routine = info.routine;
        const bool is_banded = routine == "gbsv" || routine == "gbtrf"; // its work depends on the band, not counted
        EXPECT_TRUE(is_banded || operation.bytes > 0) << info.name;
    }
}

} // namespace
} // namespace fathom::profile
