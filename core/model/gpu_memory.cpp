#include "core/model/gpu_memory.hpp"

#include "core/base/json_reader.hpp"
#include "core/base/result.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fathom {
namespace {

constexpr std::int64_t kMaxDeviceBytes = 1LL << 50U;
constexpr std::int64_t kMaxCount = 1LL << 60U;
constexpr std::int64_t kMaxExtent = 4'294'967'295;
constexpr double kMaxSeconds = 1e12;
constexpr double kMaxInput = 1e18;
constexpr double kMinInput = 1 / kMaxInput;
constexpr double kMaxIterations = 1e12;
constexpr std::size_t kMaxDeviceNameLength = 256;

/// The objects of a list of the reader's that must be there.
template <class Read>
void read_list(ObjectReader& reader, const std::string& name, std::size_t max_count, const std::string& path,
               std::vector<FieldError>& errors, Read read)
{
    const Json* const items = reader.array(name, 0, max_count);
    if (items == nullptr) {
        if (!reader.has(name)) reader.fail(name, "is required");
        return;
    }
    for (std::size_t i = 0; i < items->size(); ++i) {
        const std::string item = path + name + "[" + std::to_string(i) + "]";
        if ((*items)[i].is_object())
            read((*items)[i], item);
        else
            errors.push_back({item, "must be an object"});
    }
}

GpuMemoryRegion read_region(ObjectReader& job, const std::string& name, const std::string& path,
                            std::vector<FieldError>& errors, std::int64_t* gap_bytes)
{
    GpuMemoryRegion region;
    const Json* const json = job.object(name);
    if (json == nullptr) {
        if (!job.has(name)) job.fail(name, "is required");
        return region;
    }
    ObjectReader reader(*json, path + "." + name, errors);
    region.start = reader.required_integer("start", 0, kMaxCount);
    region.room_bytes = reader.required_integer("room_bytes", 0, kMaxDeviceBytes);
    region.used_bytes = reader.required_integer("used_bytes", 0, kMaxDeviceBytes);
    region.peak_bytes = reader.required_integer("peak_bytes", 0, kMaxDeviceBytes);
    if (gap_bytes != nullptr) *gap_bytes = reader.required_integer("gap_bytes", 0, kMaxDeviceBytes);
    return region;
}

std::optional<ExpectedIterations> read_expected_iterations(ObjectReader& job, const std::string& path,
                                                           std::vector<FieldError>& errors)
{
    const Json* const json = job.object("expected_iterations");
    if (json == nullptr) return std::nullopt;
    ObjectReader reader(*json, path + ".expected_iterations", errors);
    ExpectedIterations expected;
    expected.likely = reader.required_number("likely", 0, kMaxIterations);
    expected.low = reader.required_number("low", 0, kMaxIterations);
    expected.high = reader.required_number("high", 0, kMaxIterations);
    expected.runs = reader.required_integer("runs", 1, kMaxCount);
    expected.mean_error = reader.optional_number("mean_error", 0, kMaxIterations);
    return expected;
}

std::optional<ExpectedKernelTime> read_expected_time(ObjectReader& kernel, const std::string& path,
                                                     std::vector<FieldError>& errors)
{
    const Json* const json = kernel.object("expected");
    if (json == nullptr) return std::nullopt;
    ObjectReader reader(*json, path + ".expected", errors);
    ExpectedKernelTime expected;
    expected.likely_s = reader.required_number("likely_s", 0, kMaxSeconds);
    expected.low_s = reader.required_number("low_s", 0, kMaxSeconds);
    expected.high_s = reader.required_number("high_s", 0, kMaxSeconds);
    expected.runs = reader.required_integer("runs", 1, kMaxCount);
    expected.mean_error = reader.optional_number("mean_error", 0, kMaxSeconds);
    return expected;
}

std::array<std::int64_t, 3> read_extent(ObjectReader& kernel, const std::string& name)
{
    std::array<std::int64_t, 3> extent{};
    const Json* const numbers = kernel.array(name, extent.size(), extent.size());
    for (std::size_t i = 0; numbers != nullptr && i < extent.size(); ++i) {
        const Json& number = (*numbers)[i];
        const bool is_extent = number.is_number_integer() && number >= 1 && number <= kMaxExtent;
        if (is_extent)
            extent[i] = number.get<std::int64_t>();
        else
            kernel.fail(name, "must be three whole numbers from 1 to 4294967295");
    }
    return extent;
}

KernelUse read_kernel(const Json& json, const std::string& path, std::vector<FieldError>& errors)
{
    ObjectReader reader(json, path, errors);
    KernelUse kernel;
    kernel.name = reader.required_string("name", {.min_length = 1, .max_length = kMaxDeviceNameLength});
    kernel.grid = read_extent(reader, "grid");
    kernel.block = read_extent(reader, "block");
    kernel.shared_bytes = reader.required_integer("shared_bytes", 0, kMaxExtent);
    kernel.registers = reader.optional_integer("registers", 1, kMaxExtent).value_or(0);
    kernel.static_shared_bytes = reader.optional_integer("static_shared_bytes", 0, kMaxExtent).value_or(0);
    kernel.launches = reader.required_integer("launches", 1, kMaxCount);
    kernel.timed = reader.required_integer("timed", 0, kMaxCount);
    kernel.least_s = reader.optional_number("least_s", 0, kMaxSeconds).value_or(0);
    kernel.mean_s = reader.optional_number("mean_s", 0, kMaxSeconds).value_or(0);
    kernel.expected = read_expected_time(reader, path, errors);
    return kernel;
}

SharedGpuJob read_job(const Json& json, const std::string& path, std::vector<FieldError>& errors)
{
    ObjectReader reader(json, path, errors);
    SharedGpuJob job;
    job.job = reader.required_string("job", {.max_length = kMaxDeviceNameLength});
    job.process = reader.required_integer("process", 0, kMaxCount);
    job.has_turn = reader.optional_boolean("has_turn").value_or(false);
    job.share = reader.required_number("share", 0, kMaxSeconds);
    job.priority = reader.required_integer("priority", -kMaxCount, kMaxCount);
    job.persistent = read_region(reader, "persistent", path, errors, &job.gap_bytes);
    job.temporary = read_region(reader, "temporary", path, errors, nullptr);
    job.iterations = reader.required_integer("iterations", 0, kMaxCount);
    job.iteration_confidence = reader.optional_number("iteration_confidence", 0, 1);
    job.kept_pace = reader.optional_number("kept_pace", kMinKeptPace, kMaxKeptPace);
    job.expected_iterations = read_expected_iterations(reader, path, errors);
    job.input_size = reader.optional_number("input_size", kMinInput, kMaxInput);
    // Older agents tell none.
    if (reader.has("kernels"))
        read_list(reader, "kernels", kMaxKernelsOfProgram, path + ".", errors,
                  [&](const Json& item, const std::string& place) {
                      job.kernels.push_back(read_kernel(item, place, errors));
                  });
    job.refusals = reader.required_integer("refusals", 0, kMaxCount);
    job.switches = reader.required_integer("switches", 0, kMaxCount);
    job.switches_after_iteration = reader.required_integer("switches_after_iteration", 0, kMaxCount);
    job.moved_bytes = reader.required_integer("moved_bytes", 0, kMaxCount);
    job.kept_bytes = reader.required_integer("kept_bytes", 0, kMaxCount);
    job.switch_s = reader.required_number("switch_s", 0, kMaxSeconds);
    job.turn_s = reader.required_number("turn_s", 0, kMaxSeconds);
    job.longest_wait_s = reader.required_number("longest_wait_s", 0, kMaxSeconds);
    job.wrong_messages = reader.required_integer("wrong_messages", 0, kMaxCount);
    return job;
}

SharedGpu read_gpu(const Json& json, const std::string& path, std::vector<FieldError>& errors)
{
    ObjectReader reader(json, path, errors);
    SharedGpu gpu;
    gpu.gpu = reader.required_string("gpu", {.min_length = 1, .max_length = kMaxDeviceNameLength});
    gpu.capacity_bytes = reader.required_integer("capacity_bytes", 0, kMaxDeviceBytes);
    gpu.persistent_bytes = reader.required_integer("persistent_bytes", 0, kMaxDeviceBytes);
    gpu.temporary_bytes = reader.required_integer("temporary_bytes", 0, kMaxDeviceBytes);
    gpu.free_bytes = reader.required_integer("free_bytes", 0, kMaxDeviceBytes);
    gpu.gap_bytes = reader.required_integer("gap_bytes", 0, kMaxDeviceBytes);
    gpu.is_shared = reader.optional_boolean("is_shared").value_or(false);
    gpu.refused_count = reader.required_integer("refused_count", 0, kMaxCount);
    gpu.job_count = reader.required_integer("job_count", 0, kMaxCount);
    read_list(reader, "jobs", kMaxSharedGpuJobs, path + ".", errors,
              [&](const Json& item, const std::string& place) { gpu.jobs.push_back(read_job(item, place, errors)); });
    return gpu;
}

MeasuredJobPair read_pair(const Json& json, const std::string& path, std::vector<FieldError>& errors)
{
    ObjectReader reader(json, path, errors);
    const auto read_pace = [&](const char* job, const char* pace) -> JobPace {
        return {.job = reader.required_string(job, {.min_length = 1, .max_length = kMaxDeviceNameLength}),
                .kept_pace = reader.required_number(pace, kMinKeptPace, kMaxKeptPace)};
    };
    MeasuredJobPair pair{.a = read_pace("a_job", "a_kept_pace"), .b = read_pace("b_job", "b_kept_pace")};
    pair.count = reader.required_integer("count", 1, kMaxCount);
    if (pair.b.job < pair.a.job) std::swap(pair.a, pair.b);
    return pair;
}

Json pair_json(const MeasuredJobPair& pair)
{
    return {{"a_job", pair.a.job},
            {"a_kept_pace", pair.a.kept_pace},
            {"b_job", pair.b.job},
            {"b_kept_pace", pair.b.kept_pace},
            {"count", pair.count}};
}

Json region_json(const GpuMemoryRegion& region)
{
    return {{"start", region.start},
            {"room_bytes", region.room_bytes},
            {"used_bytes", region.used_bytes},
            {"peak_bytes", region.peak_bytes}};
}

Json kernel_json(const KernelUse& kernel)
{
    Json json{{"name", kernel.name},         {"grid", kernel.grid},
              {"block", kernel.block},       {"shared_bytes", kernel.shared_bytes},
              {"launches", kernel.launches}, {"timed", kernel.timed}};
    if (kernel.registers > 0) {
        json["registers"] = kernel.registers;
        json["static_shared_bytes"] = kernel.static_shared_bytes;
    }
    if (const auto& expected = kernel.expected) {
        json["expected"] = {{"likely_s", std::min(expected->likely_s, kMaxSeconds)},
                            {"low_s", std::min(expected->low_s, kMaxSeconds)},
                            {"high_s", std::min(expected->high_s, kMaxSeconds)},
                            {"runs", expected->runs}};
        if (expected->mean_error) json["expected"]["mean_error"] = std::min(*expected->mean_error, kMaxSeconds);
    }
    if (kernel.timed == 0) return json;
    json["least_s"] = kernel.least_s;
    json["mean_s"] = kernel.mean_s;
    return json;
}

Json job_json(const SharedGpuJob& job)
{
    Json persistent = region_json(job.persistent);
    persistent["gap_bytes"] = job.gap_bytes;
    Json json{{"job", job.job},
              {"process", job.process},
              {"has_turn", job.has_turn},
              {"share", job.share},
              {"priority", job.priority},
              {"persistent", std::move(persistent)},
              {"temporary", region_json(job.temporary)},
              {"iterations", job.iterations},
              {"refusals", job.refusals},
              {"switches", job.switches},
              {"switches_after_iteration", job.switches_after_iteration},
              {"moved_bytes", job.moved_bytes},
              {"kept_bytes", job.kept_bytes},
              {"switch_s", job.switch_s},
              {"turn_s", job.turn_s},
              {"longest_wait_s", job.longest_wait_s},
              {"wrong_messages", job.wrong_messages}};
    if (job.iteration_confidence) json["iteration_confidence"] = *job.iteration_confidence;
    if (job.kept_pace) json["kept_pace"] = *job.kept_pace;
    if (job.input_size) json["input_size"] = *job.input_size;
    for (const KernelUse& kernel : job.kernels)
        json["kernels"].push_back(kernel_json(kernel));
    if (const auto& expected = job.expected_iterations) {
        // Of a kind whose runs differ by far the interval may reach beyond what is read.
        json["expected_iterations"] = {{"likely", std::min(expected->likely, kMaxIterations)},
                                       {"low", std::min(expected->low, kMaxIterations)},
                                       {"high", std::min(expected->high, kMaxIterations)},
                                       {"runs", expected->runs}};
        if (expected->mean_error)
            json["expected_iterations"]["mean_error"] = std::min(*expected->mean_error, kMaxIterations);
    }
    return json;
}

Json gpu_json(const SharedGpu& gpu)
{
    Json jobs = Json::array();
    for (const SharedGpuJob& job : gpu.jobs)
        jobs.push_back(job_json(job));
    return {{"gpu", gpu.gpu},
            {"capacity_bytes", gpu.capacity_bytes},
            {"persistent_bytes", gpu.persistent_bytes},
            {"temporary_bytes", gpu.temporary_bytes},
            {"free_bytes", gpu.free_bytes},
            {"gap_bytes", gpu.gap_bytes},
            {"is_shared", gpu.is_shared},
            {"refused_count", gpu.refused_count},
            {"job_count", gpu.job_count},
            {"jobs", std::move(jobs)}};
}

} // namespace

std::int64_t GpuRoom::missing_bytes(const GpuMemoryRequest& need) const
{
    GpuRoom with = *this;
    with.admit(need);
    return with.persistent_bytes + with.temporary_bytes - capacity_bytes;
}

void GpuRoom::admit(const GpuMemoryRequest& need)
{
    const auto pieces = [](std::int64_t bytes) {
        return (bytes + kGpuPieceBytes - 1) / kGpuPieceBytes * kGpuPieceBytes;
    };
    persistent_bytes += pieces(need.persistent_bytes) + pieces(gap_bytes);
    temporary_bytes = std::max(temporary_bytes, pieces(need.temporary_bytes));
}

GpuRoom room_of(const SharedGpu& gpu)
{
    return {gpu.capacity_bytes, gpu.persistent_bytes, gpu.temporary_bytes, gpu.gap_bytes};
}

GpuMemoryReport read_gpu_memory_report(ObjectReader& reader, std::vector<FieldError>& errors)
{
    GpuMemoryReport report;
    read_list(reader, "gpus", kMaxSharedGpus, "", errors, [&](const Json& item, const std::string& place) {
        report.gpus.push_back(read_gpu(item, place, errors));
    });
    // Older agents tell none.
    if (reader.has("pairs")) {
        read_list(reader, "pairs", kMaxMeasuredJobPairs, "", errors, [&](const Json& item, const std::string& place) {
            report.pairs.push_back(read_pair(item, place, errors));
        });
    }
    return report;
}

Json to_json(const GpuMemoryReport& report)
{
    Json gpus = Json::array();
    for (const SharedGpu& gpu : report.gpus)
        gpus.push_back(gpu_json(gpu));
    Json json{{"gpus", std::move(gpus)}};
    for (const MeasuredJobPair& pair : report.pairs)
        json["pairs"].push_back(pair_json(pair));
    return json;
}

} // namespace fathom
