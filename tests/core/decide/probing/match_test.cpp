#include "core/decide/probing/match.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace fathom {
namespace {

using testing::ElementsAre;

OperatorManifest dgemm()
{
    OperatorManifest manifest;
    manifest.id = "dgemm";
    manifest.category = "hpc";
    manifest.parameters = {{"m", 1, 20000, 512, ""}, {"n", 1, 20000, 512, ""}, {"k", 1, 20000, 512, ""}};
    manifest.operation_count = "2*m*n*k";
    manifest.byte_count = "8*(m*k + k*n + m*n)";
    manifest.signature = {{"dgemm_", "cblas_dgemm"}, {"matrix_fp64", "matrix_fp64", "matrix_fp64"}};
    return manifest;
}

OperatorManifest sgemm()
{
    OperatorManifest manifest = dgemm();
    manifest.id = "sgemm";
    manifest.byte_count = "4*(m*k + k*n + m*n)";
    manifest.signature = {{"sgemm_"}, {"matrix_fp32", "matrix_fp32", "matrix_fp32"}};
    return manifest;
}

OperatorManifest conv2d()
{
    OperatorManifest manifest;
    manifest.id = "conv2d";
    manifest.category = "ai";
    manifest.parameters = {{"channels", 1, 4096, 64, ""}};
    manifest.operation_count = "1000*channels^2";
    manifest.byte_count = "4*(channels^2 + 100*channels)";
    manifest.signature = {{"dnnl_primitive_execute/convolution"}, {"tensor_fp32", "tensor_fp32", "tensor_fp32"}};
    return manifest;
}

OperatorManifest stream_triad()
{
    OperatorManifest manifest;
    manifest.id = "stream_triad";
    manifest.category = "memory";
    manifest.parameters = {{"n", 1, 1000000000, 20000000, ""}};
    manifest.operation_count = "2*n";
    manifest.byte_count = "24*n";
    manifest.signature = {{"cblas_daxpy"}, {"vector_fp64", "vector_fp64", "vector_fp64"}};
    return manifest;
}

std::vector<OperatorManifest> library()
{
    return {dgemm(), sgemm(), conv2d(), stream_triad()};
}

ObservedOperation gemm_call(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t count)
{
    return {.symbol = "dgemm_",
            .category = "hpc",
            .argument_kinds = {"matrix_fp64", "matrix_fp64", "matrix_fp64"},
            .parameters = {{"m", m}, {"n", n}, {"k", k}},
            .operations = 2.0 * static_cast<double>(m * n * k),
            .bytes = 8.0 * static_cast<double>(m * k + k * n + m * n),
            .count = count,
            .share = 0.5};
}

/// A dense solve of order n, as a profiler sees it: 2/3 n^3 operations.
ObservedOperation dense_solve(double n)
{
    return {.symbol = "dgesv_",
            .category = "hpc",
            .argument_kinds = {"matrix_fp64", "matrix_fp64"},
            .parameters = {{"n", static_cast<std::int64_t>(n)}},
            .operations = n * n * n * 2 / 3,
            .bytes = 8 * n * n,
            .count = 4,
            .share = 0.9};
}

TEST(Match, ASymbolKeepsSizesAndCountExactly)
{
    const MatchReport report = match_operations(std::vector{gemm_call(100, 200, 300, 3000)}, library());

    ASSERT_EQ(report.matches.size(), 1U);
    EXPECT_TRUE(report.matches[0].is_exact);
    EXPECT_EQ(report.matches[0].operator_id, "dgemm");
    EXPECT_EQ(report.matches[0].score, 1);
    EXPECT_EQ(report.matches[0].use.parameters, (Parameters{{"k", 300}, {"m", 100}, {"n", 200}}));
    EXPECT_EQ(report.matches[0].use.count, 3000);
    EXPECT_EQ(report.matched_share, 0.5);
}

// Units of one processor do not run them: a job that had one for its calls could run nowhere else.
TEST(Match, OperatorsBetweenMpiProcessesStandForNoCall)
{
    OperatorManifest send = stream_triad();
    send.id = "mpi_latency";
    send.category = "network";
    send.signature = {{"MPI_Send"}, {"array_int8"}};
    std::vector<OperatorManifest> all = library();
    all.push_back(send);
    ObservedOperation call;
    call.symbol = "MPI_Send";
    call.category = "network";
    call.argument_kinds = {"array_int8"};
    call.parameters = {{"n", 1000}};
    call.bytes = 24000;
    call.share = 0.5;

    const MatchReport report = match_operations(std::vector{call}, all);

    ASSERT_EQ(report.matches.size(), 1U);
    EXPECT_NE(report.matches[0].operator_id, "mpi_latency");
}

TEST(Match, DecorationsOfSymbolsDoNotMatter)
{
    for (const char* symbol : {"dgemm", "DGEMM", "dgemm_", "dgemm_64_", "dgemm64_", "cblas_dgemm", "cblas_dgemm64_"}) {
        ObservedOperation call = gemm_call(8, 8, 8, 1);
        call.symbol = symbol;
        const MatchReport report = match_operations(std::vector{call}, library());
        EXPECT_TRUE(report.matches[0].is_exact) << symbol;
    }
}

TEST(Match, ADenseSolveIsMostLikeAMatrixProductAndDoesTheSameWork)
{
    const MatchReport report = match_operations(std::vector{dense_solve(3000)}, library());

    const OperationMatch& match = report.matches[0];
    EXPECT_EQ(match.operator_id, "dgemm");
    EXPECT_FALSE(match.is_exact);
    EXPECT_LT(match.score, 1);
    const double work = work_of(dgemm(), match.use.parameters) * static_cast<double>(match.use.count);
    EXPECT_NEAR(work / (4 * dense_solve(3000).operations), 1, 0.1);
}

TEST(Match, SizesBeyondTheRangeBecomeTheSameWorkInRange)
{
    const MatchReport report = match_operations(std::vector{gemm_call(40000, 40000, 100, 10)}, library());

    const OperationMatch& match = report.matches[0];
    EXPECT_TRUE(match.is_exact);
    const double work = work_of(dgemm(), match.use.parameters) * static_cast<double>(match.use.count);
    EXPECT_NEAR(work / (10 * 2.0 * 40000 * 40000 * 100), 1, 0.05);
}

TEST(Match, TheOwnCategoryComesFirst)
{
    // The same features, but one is of the job's category.
    OperatorManifest other = dgemm();
    other.id = "aaa";
    other.category = "ai";
    ObservedOperation call = gemm_call(512, 512, 512, 1);
    call.symbol = "zunknown_";

    const MatchReport report = match_operations(std::vector{call}, std::vector{other, dgemm()});

    EXPECT_EQ(report.matches[0].operator_id, "dgemm");
}

TEST(Match, TheCategoriesOfTheJobTypeComeAfterTheOwnAndBeforeAllOthers)
{
    OperatorManifest other = dgemm(); // the same features, a smaller id
    other.id = "aaa";
    other.category = "ai";
    const std::vector<OperatorManifest> both{other, dgemm(), stream_triad()};
    ObservedOperation call = gemm_call(512, 512, 512, 1);
    call.symbol = "zunknown_";
    const auto found = [&](const std::string& own, const std::vector<std::string>& type_categories) {
        call.category = own;
        return match_operations(std::vector{call}, both, {.type_categories = type_categories}).matches[0].operator_id;
    };

    EXPECT_EQ(found("data", {}), "aaa") << "of two alike the smaller id";
    EXPECT_EQ(found("data", {"hpc"}), "dgemm");
    EXPECT_EQ(found("ai", {"hpc"}), "aaa") << "its own category says more than the type";
    EXPECT_EQ(found("data", {"memory"}), "aaa") << "nothing of the type's is like it";
}

TEST(Match, AMissIsReportedWithItsShare)
{
    const ObservedOperation unlike{.symbol = "quux",
                                   .category = "io",
                                   .argument_kinds = {"file"},
                                   .parameters = {},
                                   .operations = 0,
                                   .bytes = 1e6,
                                   .count = 7,
                                   .share = 0.25};

    const MatchReport report = match_operations(std::vector{unlike, gemm_call(8, 8, 8, 1)}, library());

    EXPECT_EQ(report.matches[0].operator_id, "");
    EXPECT_LT(report.matches[0].score, MatchRule{}.threshold);
    EXPECT_EQ(report.missed_share, 0.25);
    EXPECT_EQ(report.matched_share, 0.5);
}

TEST(Match, ATieIsReportedAndTheSmallerIdIsTaken)
{
    OperatorManifest twin = dgemm();
    twin.id = "dgemm_twin";
    ObservedOperation call = gemm_call(512, 512, 512, 1);
    call.symbol = "something_";

    const MatchReport report = match_operations(std::vector{call}, std::vector{twin, dgemm()});

    EXPECT_EQ(report.matches[0].operator_id, "dgemm");
    EXPECT_THAT(report.matches[0].tied, ElementsAre("dgemm_twin"));
}

TEST(ParametersForWork, KeepsTheShapeAndComesClose)
{
    const Parameters parameters = parameters_for_work(dgemm(), 2e9);

    EXPECT_EQ(parameters, (Parameters{{"k", 1000}, {"m", 1000}, {"n", 1000}}));
    EXPECT_EQ(parameters_for_work(dgemm(), 1e-3).at("m"), 1);
    EXPECT_EQ(parameters_for_work(dgemm(), 1e30).at("m"), 20000);
}

rc::Gen<ObservedOperation> any_operation()
{
    return rc::gen::exec([] {
        ObservedOperation one;
        one.symbol = *rc::gen::element<std::string>("", "dgemm_", "sgemm_", "dgesv_", "zherk_", "memcpy");
        one.category = *rc::gen::element<std::string>("", "hpc", "ai", "memory");
        one.argument_kinds = *rc::gen::container<std::vector<std::string>>(
            rc::gen::element<std::string>("matrix_fp64", "matrix_fp32", "vector_fp64", "tensor_fp32"));
        one.operations = *rc::gen::inRange(0, 1'000'000'000);
        one.bytes = *rc::gen::inRange(0, 1'000'000'000);
        one.count = *rc::gen::inRange(1, 1'000'000);
        one.share = *rc::gen::inRange(0, 100) / 10000.0;
        return one;
    });
}

Json to_json(const OperationMatch& match)
{
    return {{"id", match.operator_id},
            {"score", match.score},
            {"exact", match.is_exact},
            {"tied", match.tied},
            {"use", fathom::to_json(match.use)}};
}

RC_GTEST_PROP(MatchProperty, OrderDoesNotMatter, ())
{
    std::vector<ObservedOperation> observed = *rc::gen::container<std::vector<ObservedOperation>>(any_operation());
    std::vector<OperatorManifest> manifests = library();
    const MatchReport report = match_operations(observed, manifests);
    std::reverse(observed.begin(), observed.end());
    std::rotate(manifests.begin(), manifests.begin() + *rc::gen::inRange(0, 4), manifests.end());
    const MatchReport other = match_operations(observed, manifests);

    for (std::size_t i = 0; i < observed.size(); ++i)
        RC_ASSERT(to_json(report.matches[i]) == to_json(other.matches[observed.size() - 1 - i]));
}

RC_GTEST_PROP(MatchProperty, AnExactSymbolAlwaysWins, ())
{
    ObservedOperation one = *any_operation();
    one.symbol = *rc::gen::element<std::string>("dgemm_", "sgemm_");
    const MatchReport report = match_operations(std::vector{one}, library());

    RC_ASSERT(report.matches[0].is_exact);
    RC_ASSERT(report.matches[0].operator_id + "_" == one.symbol);
    RC_ASSERT(report.matches[0].score == 1);
}

RC_GTEST_PROP(MatchProperty, AnUnrelatedOperatorChangesNothing, ())
{
    const std::vector<ObservedOperation> observed{*any_operation()};
    OperatorManifest unrelated;
    unrelated.id = "aaa_unrelated";
    unrelated.category = "elsewhere";
    unrelated.operation_count = "1000000000";
    unrelated.byte_count = "1";
    unrelated.signature = {{"unrelated_call"}, {"nothing_of_the_kind"}};
    std::vector<OperatorManifest> larger = library();
    larger.push_back(unrelated);
    RC_PRE(similarity(observed[0], unrelated, {}) < MatchRule{}.threshold);

    const OperationMatch before = match_operations(observed, library()).matches[0];
    const OperationMatch after = match_operations(observed, larger).matches[0];

    RC_ASSERT(before.operator_id == after.operator_id);
    RC_ASSERT(before.tied == after.tied);
    RC_ASSERT(fathom::to_json(before.use) == fathom::to_json(after.use));
}

RC_GTEST_PROP(MatchProperty, SharesAddUpAndScoresAreBounded, ())
{
    const auto observed = *rc::gen::container<std::vector<ObservedOperation>>(any_operation());
    const MatchReport report = match_operations(observed, library());
    double sum = 0;
    for (const ObservedOperation& one : observed)
        sum += one.share;
    RC_ASSERT(std::abs(report.matched_share + report.missed_share - sum) < 1e-9);
    for (const OperationMatch& match : report.matches)
        RC_ASSERT(match.score >= 0 && match.score <= 1);
}

} // namespace
} // namespace fathom
