#include "probes/operators/cuda_library.hpp"
#include "probes/operators/manifests.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <dlfcn.h>

/// The library alone: what can be said about it without a GPU.
namespace fathom::probes {
namespace {

using testing::ElementsAreArray;
using testing::HasSubstr;

const CudaLibrary* library()
{
    void* const handle = dlopen(FATHOM_CUDA_LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    EXPECT_NE(handle, nullptr) << dlerror();
    if (handle == nullptr) return nullptr;
    const auto entry = reinterpret_cast<const CudaLibrary* (*)()>(dlsym(handle, kCudaLibraryEntry));
    return entry != nullptr ? entry() : nullptr;
}

TEST(CudaLibraryFile, HasTheOperatorsWhoseManifestsNameCudaAndNoOthers)
{
    ASSERT_NE(library(), nullptr);
    std::vector<std::string> named;
    for (const OperatorManifest& manifest : operator_manifests()) {
        if (manifest.runs_on("cuda")) named.push_back(manifest.id);
    }

    std::vector<std::string> found;
    for (const CudaImplementation& item : library()->operators)
        found.emplace_back(item.id);

    EXPECT_THAT(found, ElementsAreArray(named));
    EXPECT_EQ(library()->version, std::string(FATHOM_VERSION));
}

TEST(CudaLibraryFile, KnowsTheMemoryOfEveryOperatorAtTheEndsOfItsRange)
{
    ASSERT_NE(library(), nullptr);
    for (const OperatorManifest& manifest : operator_manifests()) {
        for (const CudaImplementation& item : library()->operators) {
            if (item.id != manifest.id) continue;
            Parameters least;
            Parameters most;
            for (const OperatorParameter& parameter : manifest.parameters) {
                least[parameter.name] = parameter.min;
                most[parameter.name] = parameter.max;
            }
            EXPECT_GT(item.host_memory(least), 0) << item.id;
            EXPECT_GT(item.device_memory(least), 0) << item.id;
            EXPECT_GT(item.host_memory(most), item.host_memory(least)) << item.id;
            EXPECT_GT(item.device_memory(most), 1e9) << item.id;
            EXPECT_NE(item.make(manifest.default_parameters(), 1), nullptr) << item.id;
        }
    }
}

TEST(CudaLibraryFile, FindsADeviceOrSaysWhyNot)
{
    ASSERT_NE(library(), nullptr);

    const Result<CudaDevice> device = library()->device();

    if (device) {
        EXPECT_FALSE(device->name.empty());
        EXPECT_GT(device->free_memory_bytes, 0);
        EXPECT_LE(device->free_memory_bytes, device->memory_bytes);
        return;
    }
    EXPECT_EQ(device.error().code, Errc::kUnavailable);
    EXPECT_THAT(device.error().detail, HasSubstr("; ")); // the cause, and the way out
}

TEST(CudaLibraryFile, RefusesToPrepareWithoutADevice)
{
    ASSERT_NE(library(), nullptr);
    if (library()->device()) GTEST_SKIP() << "there is a device";
    for (const OperatorManifest& manifest : operator_manifests()) {
        for (const CudaImplementation& item : library()->operators) {
            if (item.id != manifest.id) continue;
            Parameters least;
            for (const OperatorParameter& parameter : manifest.parameters)
                least[parameter.name] = parameter.min;

            const Result<void> prepared = item.make(least, 1)->prepare(7);

            ASSERT_FALSE(prepared) << item.id;
            EXPECT_EQ(prepared.error().code, Errc::kUnavailable) << item.id;
        }
    }
}

} // namespace
} // namespace fathom::probes
