#include "tests/agent/gpu/gpu_sharing.hpp"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>
#include <utility>
#include <vector>

namespace fathom::gpu {
namespace {

using namespace std::chrono_literals;

const std::string kOtherGpu = "GPU-55555555-1111-2222-3333-444444444444";

} // namespace

GpuSharing::GpuSharing()
{
    std::string text = (std::filesystem::temp_directory_path() / "gpu-sharing-XXXXXX").string();
    folder_ = ::mkdtemp(text.data());
    std::filesystem::create_directory(folder_ / "cards");
    std::ofstream gpus(folder_ / "gpus");
    for (const std::string& id : {kGpu, kOtherGpu})
        gpus << "gpu\t" << id << "\tStand-in\t" << 32 * kMiB << '\n';
    settings_.socket = folder_ / "socket";
    settings_.coordinator.gpus = {{kGpu, 32 * kMiB}, {kOtherGpu, 32 * kMiB}};
    settings_.coordinator.gap_bytes = 2 * kMiB;
    settings_.coordinator.turns = {.slice_s = 0.02, .most_slice_s = 2, .most_wait_s = 30};
    settings_.coordinator.settle_s = 0;
}

GpuSharing::~GpuSharing()
{
    EXPECT_FALSE(std::filesystem::exists(folder_ / "faults")) << "the stand-in driver has found faults";
    service_.reset();
    std::filesystem::remove_all(folder_);
}

void GpuSharing::start()
{
    service_ = MemoryService::start(settings_).value();
}

std::map<std::string, std::string> GpuSharing::environment(const std::map<std::string, std::string>& more) const
{
    std::map<std::string, std::string> all{{"LD_LIBRARY_PATH", FATHOM_STANDIN_FOLDER},
                                           {"LD_PRELOAD", FATHOM_GPU_LIBRARY},
                                           {"FATHOM_GPU_SOCKET", (folder_ / "socket").string()},
                                           {"FATHOM_STANDIN_GPUS", (folder_ / "gpus").string()},
                                           {"FATHOM_STANDIN_CARDS", (folder_ / "cards").string()},
                                           {"FATHOM_STANDIN_FAULTS", (folder_ / "faults").string()},
                                           {"FATHOM_STANDIN_LEAKS", "1"}};
    for (const auto& [name, value] : more)
        all[name] = value;
    return all;
}

std::unique_ptr<Program> GpuSharing::train(const std::string& job, const std::map<std::string, std::string>& options,
                                           std::map<std::string, std::string> variables) const
{
    std::vector<std::string> command{FATHOM_TRAINING_LOOP};
    for (const auto& [name, value] : options) {
        command.push_back(name);
        command.push_back(name == "until" ? (folder_ / value).string() : value);
    }
    variables["FATHOM_GPU_JOB"] = job;
    return std::make_unique<Program>(command, environment(variables), folder_);
}

std::unique_ptr<Program> GpuSharing::call(const std::string& way,
                                          const std::map<std::string, std::string>& more_variables) const
{
    std::map<std::string, std::string> variables{
        {"FATHOM_GPU_JOB", way},
        {"DRIVER_CALLS_FOLDER", folder_.string()},
        {"LD_LIBRARY_PATH", std::string(FATHOM_STANDIN_FOLDER) + ":" + FATHOM_STANDIN_NVML_FOLDER}};
    for (const auto& [name, value] : more_variables)
        variables[name] = value;
    return std::make_unique<Program>(std::vector<std::string>{FATHOM_DRIVER_CALLS, way}, environment(variables),
                                     folder_);
}

void GpuSharing::go_on(const std::string& pause) const
{
    std::ofstream(folder_ / pause) << pause;
}

bool GpuSharing::wait_for_persistent_bytes(const std::string& name, std::int64_t bytes) const
{
    return wait_until([&] {
        const Json known = job(name);
        return known.is_object() && known.at("persistent").at("used_bytes") == bytes;
    });
}

Json GpuSharing::job(const std::string& name) const
{
    const Json state = to_json(service_->report());
    for (const Json& gpu : state.at("gpus")) {
        for (const Json& one : gpu.at("jobs")) {
            if (one.at("job") == name) return one;
        }
    }
    return {};
}

bool GpuSharing::wait_until(const std::function<bool()>& condition)
{
    for (int i = 0; i < 12'000; ++i) {
        if (condition()) return true;
        std::this_thread::sleep_for(10ms);
    }
    return false;
}

} // namespace fathom::gpu
