// The stand-in driver's modules and launches. The image of a module is a text: `NAME BYTES` for each of its variables.
#include "tests/support/standin_gpu/cuda_driver_state.hpp"

#include <sstream>

using namespace fathom;
using namespace fathom::gpu::cuda;
using namespace fathom::standin;

namespace fathom::standin {
namespace {

Status load(void** module, const char* image)
{
    Driver& one = driver();
    const std::scoped_lock lock(one.mutex);
    std::map<std::string, Address> variables;
    std::istringstream lines(image);
    std::size_t bytes = 0;
    for (std::string name; lines >> name >> bytes;) {
        if (const Status status = take_block(&variables[name], bytes, BlockOf::kModule); status != kSuccess)
            return status;
    }
    *module = new char;
    one.modules[*module] = std::move(variables);
    return kSuccess;
}

Status launch(void* function, unsigned threads, Stream stream, void** parameters, void** extra)
{
    CHECK_CONTEXT;
    (void)context;
    if (threads == 0 || extra != nullptr) return kInvalidValue;
    Launch made;
    {
        const std::scoped_lock lock(driver().mutex);
        auto* const kernel = static_cast<std::string*>(function);
        if (!driver().kernels.contains(kernel)) fault("a kernel is launched that is none");
        made.kernel = *kernel;
    }
    for (std::size_t i = 0; i < made.arguments.size(); ++i)
        made.arguments[i] = *static_cast<const std::uint64_t*>(parameters[i]);
    return launch_on(stream, made);
}

} // namespace
} // namespace fathom::standin

#pragma GCC visibility push(default)
extern "C" {

Status cuModuleLoadData(void** module, const void* image)
{
    CHECK_CONTEXT;
    (void)context;
    REFUSE_IN_CAPTURE(refuse_unsafe());
    return load(module, static_cast<const char*>(image));
}

Status cuModuleUnload(void* module)
{
    CHECK_CONTEXT;
    (void)context;
    REFUSE_IN_CAPTURE(refuse_unsafe());
    wait_for_kernels();
    Driver& one = driver();
    const std::scoped_lock lock(one.mutex);
    const auto found = one.modules.find(module);
    if (found == one.modules.end()) fault("a module is unloaded that is none");
    for (const auto& [name, address] : found->second)
        drop_block(one.blocks.find(address));
    one.modules.erase(found);
    return kSuccess;
}

Status cuModuleGetGlobal_v2(Address* address, std::size_t* bytes, void* module, const char* name)
{
    const std::scoped_lock lock(driver().mutex);
    const auto found = driver().modules.find(module);
    if (found == driver().modules.end()) fault("a variable of no module is asked for");
    const auto variable = found->second.find(name);
    if (variable == found->second.end()) return kNotFound;
    if (address != nullptr) *address = variable->second;
    if (bytes != nullptr) *bytes = driver().blocks.at(variable->second).bytes;
    return kSuccess;
}

/// Loaded for the current context at once.
Status cuLibraryLoadData(void** library, const void* code, int* /*options*/, void** /*values*/, unsigned /*count*/,
                         int* /*library_options*/, void** /*library_values*/, unsigned /*library_count*/)
{
    return cuModuleLoadData(library, code);
}

Status cuLibraryGetGlobal(Address* address, std::size_t* bytes, void* library, const char* name)
{
    return cuModuleGetGlobal_v2(address, bytes, library, name);
}

Status cuLibraryUnload(void* library)
{
    return cuModuleUnload(library);
}

Status cuModuleGetFunction(void** function, void* /*module*/, const char* name)
{
    const std::string text = name;
    if (text != "fill" && text != "check" && text != "spin") return kNotFound;
    const std::scoped_lock lock(driver().mutex);
    auto* const made = new std::string(text);
    driver().kernels.insert(made);
    *function = made;
    return kSuccess;
}

Status cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                      unsigned block_y, unsigned block_z, unsigned /*shared*/, Stream stream, void** parameters,
                      void** extra)
{
    return launch(function, grid_x * grid_y * grid_z * block_x * block_y * block_z, stream, parameters, extra);
}

Status cuLaunchKernelEx(const LaunchConfiguration* how, void* function, void** parameters, void** extra)
{
    if (how == nullptr || (how->attribute_count != 0 && how->attributes == nullptr)) return kInvalidValue;
    return launch(function, how->grid_x * how->grid_y * how->grid_z * how->block_x * how->block_y * how->block_z,
                  how->stream, parameters, extra);
}

Status cuLaunchCooperativeKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                 unsigned block_y, unsigned block_z, unsigned /*shared*/, Stream stream,
                                 void** parameters)
{
    return launch(function, grid_x * grid_y * grid_z * block_x * block_y * block_z, stream, parameters, nullptr);
}

} // extern "C"
#pragma GCC visibility pop
