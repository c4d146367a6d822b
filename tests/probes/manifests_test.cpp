#include "probes/operators/manifests.hpp"
#include "probes/operators/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom::probes {
namespace {

using testing::Contains;
using testing::ElementsAre;

TEST(OperatorManifestFiles, ParseAndNameTheirFolder)
{
    for (const EmbeddedFile& file : operator_manifest_files()) {
        const Result<Json> json = parse_json(file.content);
        ASSERT_TRUE(json) << file.name << ": " << describe(json.error());

        const Result<OperatorManifest> manifest = parse_operator_manifest(*json);

        ASSERT_TRUE(manifest) << file.name << ": " << describe(manifest.error());
        EXPECT_EQ(file.name, "operators/" + manifest->id + "/manifest.json");
        EXPECT_TRUE(manifest->runs_on("cpu"));
        EXPECT_FALSE(manifest->signature.symbols.empty());
        EXPECT_GT(manifest->tolerance, 0);
    }
}

TEST(OperatorManifests, AreTheOperatorsOfTheProgram)
{
    std::vector<std::string> ids;
    for (const OperatorManifest& manifest : operator_manifests())
        ids.push_back(manifest.id);

    EXPECT_THAT(ids, ElementsAre("conv2d", "dgemm", "fft1d", "fft3d", "spmv", "stream_triad"));
    ASSERT_EQ(registered_operators().size(), ids.size());
    EXPECT_EQ(find_operator("dgemm")->manifest.id, "dgemm");
    EXPECT_EQ(find_operator("lu"), nullptr);
}

double operations(const char* id, const Parameters& parameters)
{
    return evaluate_formula(find_operator(id)->manifest.operation_count, parameters).value();
}

double bytes(const char* id, const Parameters& parameters)
{
    return evaluate_formula(find_operator(id)->manifest.byte_count, parameters).value();
}

TEST(OperatorManifests, CountOperationsAndBytes)
{
    EXPECT_DOUBLE_EQ(operations("dgemm", {{"m", 2}, {"n", 3}, {"k", 5}}), 2 * 2 * 3 * 5);
    EXPECT_DOUBLE_EQ(bytes("dgemm", {{"m", 2}, {"n", 3}, {"k", 5}}), 8 * (10 + 15 + 6));
    EXPECT_DOUBLE_EQ(operations("fft1d", {{"n", 1024}}), 5 * 1024 * 10);
    EXPECT_DOUBLE_EQ(operations("fft3d", {{"n", 4}}), 5 * 64 * 6); // 5·N·log2(N) with N = 4^3 = 2^6
    EXPECT_DOUBLE_EQ(bytes("fft3d", {{"n", 4}}), 2 * 16 * 64);
    EXPECT_DOUBLE_EQ(operations("spmv", {{"rows", 1000}}), 2 * 27 * 1000);
    EXPECT_DOUBLE_EQ(bytes("spmv", {{"rows", 1000}}), 27 * (8 + 4) * 1000 + 4 * 1001 + 2 * 8 * 1000);
    EXPECT_DOUBLE_EQ(operations("stream_triad", {{"n", 1000}}), 2000);
    EXPECT_DOUBLE_EQ(bytes("stream_triad", {{"n", 1000}}), 24000);
    const Parameters layer{{"batch", 2},  {"channels_in", 3}, {"channels_out", 4},
                           {"height", 5}, {"width", 6},       {"kernel", 3}};
    EXPECT_DOUBLE_EQ(operations("conv2d", layer), 2.0 * 2 * 4 * 5 * 6 * 3 * 9);
    EXPECT_DOUBLE_EQ(bytes("conv2d", layer), 4 * (2 * 5 * 6 * (3 + 4) + 4 * 3 * 9));
}

TEST(OperatorManifests, KnowTheSymbolsOfRealLibraries)
{
    const auto symbols = [](const char* id) { return find_operator(id)->manifest.signature.symbols; };

    EXPECT_THAT(symbols("dgemm"), Contains("dgemm_"));
    EXPECT_THAT(symbols("dgemm"), Contains("cblas_dgemm"));
    EXPECT_THAT(symbols("fft1d"), Contains("fftw_plan_dft_1d"));
    EXPECT_THAT(symbols("fft3d"), Contains("fftw_plan_dft_3d"));
}

} // namespace
} // namespace fathom::probes
