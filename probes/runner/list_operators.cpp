#include "probes/runner/list_operators.hpp"

#include "probes/operators/cuda_library.hpp"
#include "probes/operators/registry.hpp"

#include <fmt/format.h>

namespace fathom::probes {

namespace {

/// On the resource type in use.
std::string library_of(const OperatorManifest& manifest)
{
    for (const OperatorImplementation& implementation : manifest.implementations) {
        if (implementation.resource_type == to_string(used_resource_type())) return implementation.library;
    }
    return "";
}

/// What the model of CPU and GPU needs of a device (docs/measurement.md): its multiprocessors are what computes side by
/// side; how each compares with a core is measured by operators.
Json device_facts(const CudaDevice& device)
{
    Json facts = {{"gpu_name", device.name},
                  {"compute_capability", device.compute_capability},
                  {"gpu_parallelism", device.multiprocessors}};
    if (const Result<double> bus = measure_used_bus(); bus) facts["bus_gb_s"] = *bus / 1e9;
    return facts;
}

} // namespace

std::string operators_table()
{
    std::string text = fmt::format("{:<20}{:<10}{:<10}{:<10}{:<14}{:>10}   {}\n", "OPERATOR", "CATEGORY", "LIBRARY",
                                   "PRECISION", "PARAMETER", "DEFAULT", "RANGE");
    std::string unavailable;
    for (const RegisteredOperator& item : registered_operators()) {
        const OperatorManifest& manifest = item.manifest;
        if (const Result<void> available = item.available(); !available) {
            unavailable += fmt::format("{:<20}not available here: {}\n", manifest.id, available.error().detail);
            continue;
        }
        std::string left = fmt::format("{:<20}{:<10}{:<10}{:<10}", manifest.id, manifest.category, library_of(manifest),
                                       manifest.precision);
        for (const OperatorParameter& parameter : manifest.parameters) {
            text += fmt::format("{}{:<14}{:>10}   {}..{}\n", left, parameter.name, parameter.default_value,
                                parameter.min, parameter.max);
            left.assign(left.size(), ' ');
        }
    }
    return text + unavailable;
}

Json operators_json()
{
    Json operators = Json::array();
    Json unavailable = Json::array();
    for (const RegisteredOperator& item : registered_operators()) {
        if (const Result<void> available = item.available(); available)
            operators.push_back(to_json(item.manifest));
        else
            unavailable.push_back({{"id", item.manifest.id}, {"reason", available.error().detail}});
    }
    const BlasCore core = blas_core();
    Json json = {{"runner_version", FATHOM_VERSION},
                 {"operators", std::move(operators)},
                 {"unavailable", std::move(unavailable)},
                 {"openblas_core", core.used}};
    if (!core.better.empty()) json["openblas_better_core"] = core.better;
    const CudaDevice* const device = used_cuda_device(); // without one that answers all of it is empty
    if (device != nullptr && device->multiprocessors > 0) json["device"] = device_facts(*device);
    return json;
}

} // namespace fathom::probes
