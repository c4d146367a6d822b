#include "probes/operators/manifests.hpp"
#include "probes/operators/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <regex>

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
        EXPECT_GE(manifest->size_classes.size(), 3U) << file.name;
        EXPECT_LE(manifest->size_classes.size(), 5U) << file.name;
        for (const SizeClass& size : manifest->size_classes) // a class belongs to itself
            EXPECT_EQ(size_class_of(*manifest, size.parameters)->name, size.name) << file.name;
    }
}

TEST(OperatorManifests, AreTheOperatorsOfTheProgram)
{
    std::vector<std::string> ids;
    for (const OperatorManifest& manifest : operator_manifests())
        ids.push_back(manifest.id);

    EXPECT_THAT(ids,
                ElementsAre("compression", "conjugate_gradient", "conv2d", "decompression", "dgemm", "fft1d", "fft2d",
                            "fft3d", "file_read", "file_write", "gemm_mixed", "mpi_allreduce", "mpi_alltoall",
                            "mpi_bandwidth", "mpi_latency", "network_fetch", "random_access", "reduction", "sgemm",
                            "sort", "spmv", "stream_triad", "tcp_allreduce", "trigonometric"));
    ASSERT_EQ(registered_operators().size(), ids.size());
    EXPECT_EQ(find_operator("dgemm")->manifest.id, "dgemm");
    EXPECT_EQ(find_operator("lu"), nullptr);
}

/// By their ids centers and surveys know them (core/model/operator_manifest.hpp).
TEST(OperatorManifests, BetweenProcessesAreKnownByTheirIds)
{
    for (const OperatorManifest& manifest : operator_manifests()) {
        const bool is_of_mpi = manifest.implementations.front().library == "mpi";
        EXPECT_EQ(is_exchange_operator(manifest.id), is_of_mpi || manifest.id == "tcp_allreduce") << manifest.id;
        // What the metascheduler verifies on its own machine must not need several processors: it leaves transfers out.
        if (is_exchange_operator(manifest.id)) EXPECT_EQ(manifest.category + manifest.operation_count, "network0");
    }
}

/// A parameter that a probe draws: `operator.parameter`.
std::vector<std::string> drawn_parameters()
{
    std::vector<std::string> names;
    for (const OperatorManifest& manifest : operator_manifests()) {
        for (const OperatorParameter& parameter : manifest.parameters) {
            if (parameter.draw_share > 0) names.push_back(manifest.id + "." + parameter.name);
        }
    }
    return names;
}

/// Time follows work from size to size, but for transforms, and for the number of iterations.
TEST(OperatorManifests, SayWhichSizesAreDrawn)
{
    EXPECT_THAT(drawn_parameters(),
                ElementsAre("compression.bytes", "conjugate_gradient.edge", "conv2d.height", "conv2d.width",
                            "decompression.bytes", "dgemm.m", "dgemm.n", "dgemm.k", "file_read.bytes",
                            "file_write.bytes", "gemm_mixed.m", "gemm_mixed.n", "gemm_mixed.k", "mpi_allreduce.n",
                            "mpi_alltoall.bytes", "mpi_bandwidth.bytes", "network_fetch.bytes", "random_access.n",
                            "reduction.n", "sgemm.m", "sgemm.n", "sgemm.k", "sort.n", "spmv.rows", "stream_triad.n",
                            "tcp_allreduce.n", "trigonometric.n"));
}

/// A center that has prepared itself for one size is wrong most of the time.
TEST(OperatorManifests, LeaveACenterManySizesToGuessFrom)
{
    for (const OperatorManifest& manifest : operator_manifests()) {
        double sizes = 1;
        bool is_drawn = false;
        for (const OperatorParameter& parameter : manifest.parameters) {
            EXPECT_LE(parameter.draw_share, 0.125) << manifest.id; // the size class must stay the same
            if (parameter.draw_share <= 0) continue;
            is_drawn = true;
            const double reach = parameter.draw_share * static_cast<double>(parameter.default_value);
            sizes *= 2 * std::floor(reach / static_cast<double>(parameter.draw_step)) + 1;
        }
        if (is_drawn) EXPECT_GE(sizes, 9) << manifest.id;
    }
}

/// The largest for two sockets of 1 152 MiB each, the first for units of a few gigabytes.
TEST(OperatorManifests, OfMemoryHaveSizesForTheCachesOfTodaysServers)
{
    const OperatorManifest& triad = find_operator("stream_triad")->manifest;
    ASSERT_TRUE(triad.cache_rule);
    const CacheRule& rule = *triad.cache_rule;
    EXPECT_EQ(rule.least_multiple, 4) << "STREAM's";
    const double largest = evaluate_formula(rule.array_bytes, rule.larger_sizes.back()).value();
    EXPECT_GE(largest * (1 - triad.parameters[0].draw_share), 4 * 2 * 1152.0 * (1 << 20));
    const double first = evaluate_formula(rule.memory_bytes, rule.larger_sizes.front()).value();
    EXPECT_LE(first, 1e9);
    for (const Parameters& size : rule.larger_sizes) {
        EXPECT_EQ(evaluate_formula(rule.memory_bytes, size).value(), find_operator("stream_triad")->memory(size));
        EXPECT_EQ(size_class_of(triad, size)->name, "huge") << "what scores by the default's class find it";
    }
}

TEST(OperatorManifests, OfLatencyTellWhatTheyGoThrough)
{
    const OperatorManifest& chase = find_operator("random_access")->manifest;
    ASSERT_TRUE(chase.working_set);
    EXPECT_DOUBLE_EQ(evaluate_formula(chase.working_set->bytes, {{"n", 8192}}).value(), 512 * 1024);
    EXPECT_DOUBLE_EQ(evaluate_formula(chase.working_set->parts, {{"n", 8192}}).value(), 2) << "walks of 4096 lines";
    EXPECT_DOUBLE_EQ(evaluate_formula(chase.working_set->parts, {{"n", 512}}).value(), 1);
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

TEST(OperatorManifests, CountOperationsAndBytesOfTheNewerOnes)
{
    const Parameters cube{{"m", 2}, {"n", 3}, {"k", 5}};
    EXPECT_DOUBLE_EQ(operations("sgemm", cube), 2 * 2 * 3 * 5);
    EXPECT_DOUBLE_EQ(bytes("sgemm", cube), 4 * (10 + 15 + 6));
    EXPECT_DOUBLE_EQ(bytes("gemm_mixed", cube), 2 * (10 + 15) + 4 * 6);
    EXPECT_DOUBLE_EQ(operations("fft2d", {{"n", 8}}), 5 * 64 * 6); // 5·N·log2(N) with N = 8^2 = 2^6
    EXPECT_DOUBLE_EQ(bytes("fft2d", {{"n", 8}}), 2 * 16 * 64);
    // On a 2 x 2 x 2 grid every point is a neighbour of every other: 64 entries, 8 rows.
    EXPECT_DOUBLE_EQ(operations("conjugate_gradient", {{"edge", 2}, {"iterations", 10}}), 10 * (2 * 64 + 10 * 8));
    EXPECT_DOUBLE_EQ(bytes("conjugate_gradient", {{"edge", 2}, {"iterations", 10}}), 10 * (12 * 64 + 4 * 9 + 88 * 8));
    EXPECT_DOUBLE_EQ(operations("sort", {{"n", 1024}}), 10240);
    EXPECT_DOUBLE_EQ(operations("random_access", {{"n", 100}}), 0);
    EXPECT_DOUBLE_EQ(bytes("random_access", {{"n", 100}}), 6400);
    EXPECT_DOUBLE_EQ(bytes("file_write", {{"bytes", 100}}), 100);
    EXPECT_DOUBLE_EQ(bytes("compression", {{"bytes", 5000}, {"random_percent", 10}}), 5000);
    EXPECT_DOUBLE_EQ(bytes("decompression", {{"bytes", 5000}, {"random_percent", 10}}), 5000);
}

/// An exact symbol says which operator it is: no two may claim the same.
TEST(OperatorManifests, NameEverySymbolOnce)
{
    std::map<std::string, std::string> owners;
    for (const OperatorManifest& manifest : operator_manifests()) {
        for (const std::string& symbol : manifest.signature.symbols) {
            const auto [place, is_new] = owners.emplace(symbol, manifest.id);
            EXPECT_TRUE(is_new) << symbol << " is of " << place->second << " and of " << manifest.id;
        }
    }
}

/// The vocabulary of docs/operators.md.
TEST(OperatorManifests, SpeakOfArgumentsInOneVocabulary)
{
    const std::regex kind("(matrix|vector|scalar|sparse_csr|grid[123]d|tensor|array)_"
                          "(fp64|fp32|fp16|bf16|complex_fp64|complex_fp32|int64|int32|int8)|file|stream|communicator");
    for (const OperatorManifest& manifest : operator_manifests()) {
        for (const std::string& argument : manifest.signature.argument_kinds)
            EXPECT_TRUE(std::regex_match(argument, kind)) << manifest.id << ": " << argument;
    }
}

TEST(OperatorManifests, KnowTheSymbolsOfRealLibraries)
{
    const auto symbols = [](const char* id) { return find_operator(id)->manifest.signature.symbols; };

    EXPECT_THAT(symbols("dgemm"), Contains("dgemm_"));
    EXPECT_THAT(symbols("dgemm"), Contains("cblas_dgemm"));
    EXPECT_THAT(symbols("sgemm"), Contains("cublasSgemm_v2"));
    EXPECT_THAT(symbols("fft1d"), Contains("fftw_plan_dft_1d"));
    EXPECT_THAT(symbols("fft2d"), Contains("fftw_execute/2d"));
    EXPECT_THAT(symbols("fft3d"), Contains("fftw_plan_dft_3d"));
}

} // namespace
} // namespace fathom::probes
