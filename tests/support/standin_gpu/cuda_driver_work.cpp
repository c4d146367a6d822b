// The stand-in driver's modules and launches. The image of a module is a text: `NAME BYTES` for each of its variables,
// `block-ns:KERNEL NS` for what each block of a kernel takes by the virtual clock.
#include "tests/support/standin_gpu/virtual_clock.hpp"

#include <sstream>
#include <string_view>

using namespace fathom;
using namespace fathom::gpu::cuda;
using namespace fathom::standin;

namespace fathom::standin {
namespace {

constexpr std::string_view kBlockTime = "block-ns:";

Status load(void** module, const char* image)
{
    Driver& one = driver();
    const std::scoped_lock lock(one.mutex);
    OwnModule made;
    std::istringstream lines(image);
    std::size_t number = 0;
    for (std::string name; lines >> name >> number;) {
        if (name.starts_with(kBlockTime)) {
            made.block_ns[name.substr(kBlockTime.size())] = static_cast<std::int64_t>(number);
            continue;
        }
        if (const Status status = take_block(&made.variables[name], number, BlockOf::kModule); status != kSuccess)
            return status;
    }
    *module = new char;
    one.modules[*module] = std::move(made);
    return kSuccess;
}

Status launch(void* function, unsigned blocks, unsigned threads_of_block, Stream stream, void** parameters,
              void** extra)
{
    CHECK_CONTEXT;
    if (blocks == 0 || threads_of_block == 0 || extra != nullptr) return kInvalidValue;
    Launch made;
    for (std::size_t i = 0; i < made.arguments.size(); ++i)
        made.arguments[i] = *static_cast<const std::uint64_t*>(parameters[i]);
    {
        const std::scoped_lock lock(driver().mutex);
        auto* const kernel = static_cast<Kernel*>(function);
        if (!driver().kernels.contains(kernel)) fault("a kernel is launched that is none");
        made.kernel = kernel->name;
        if (kernel->name != "spin" && kernel->name != "meet") require_access(*context, made.arguments.front());
        made.engine = Engine::kCompute;
        made.cost_ns = kernel_ns(*kernel, blocks, made.arguments.back());
        charge_launch();
    }
    return launch_on(stream, made);
}

/// As if it had been compiled to that: `spin` takes 40 registers, others 32, and each has 128 bytes of shared memory.
Status get_attribute(int* value, int attribute, void* function, bool is_of_library)
{
    if (attribute != kRegisters && attribute != kStaticSharedBytes) return kInvalidValue;
    const std::scoped_lock lock(driver().mutex);
    auto* const kernel = static_cast<Kernel*>(function);
    if (!driver().kernels.contains(kernel) || kernel->is_of_library != is_of_library)
        fault("an attribute of no kernel is asked for");
    const int registers = kernel->name == "spin" ? 40 : 32;
    *value = attribute == kRegisters ? registers : 128;
    return kSuccess;
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
    for (const auto& [name, address] : found->second.variables)
        drop_block(one.blocks.find(address));
    one.modules.erase(found);
    return kSuccess;
}

Status cuModuleGetGlobal_v2(Address* address, std::size_t* bytes, void* module, const char* name)
{
    const std::scoped_lock lock(driver().mutex);
    const auto found = driver().modules.find(module);
    if (found == driver().modules.end()) fault("a variable of no module is asked for");
    const auto variable = found->second.variables.find(name);
    if (variable == found->second.variables.end()) return kNotFound;
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

Status cuModuleGetFunction(void** function, void* module, const char* name)
{
    const std::string text = name;
    if (text != "fill" && text != "check" && text != "spin" && text != "meet") return kNotFound;
    const std::scoped_lock lock(driver().mutex);
    auto* const made = new Kernel{text};
    const auto of = driver().modules.find(module);
    if (of != driver().modules.end() && of->second.block_ns.contains(text)) made->block_ns = of->second.block_ns[text];
    driver().kernels.insert(made);
    *function = made;
    return kSuccess;
}

Status cuLibraryGetKernel(void** kernel, void* library, const char* name)
{
    {
        const std::scoped_lock lock(driver().mutex);
        if (!driver().modules.contains(library)) fault("a kernel of no library is asked for");
    }
    const Status status = cuModuleGetFunction(kernel, library, name);
    if (status == kSuccess) static_cast<Kernel*>(*kernel)->is_of_library = true;
    return status;
}

/// Both can be launched.
Status cuKernelGetFunction(void** function, void* kernel)
{
    CHECK_CONTEXT;
    (void)context;
    const std::scoped_lock lock(driver().mutex);
    auto* const of_library = static_cast<Kernel*>(kernel);
    if (!driver().kernels.contains(of_library) || !of_library->is_of_library)
        fault("a function of no kernel is asked for");
    auto* const made = new Kernel(*of_library);
    made->is_of_library = false;
    driver().kernels.insert(made);
    *function = made;
    return kSuccess;
}

Status cuFuncGetAttribute(int* value, int attribute, void* function)
{
    CHECK_CONTEXT;
    (void)context;
    return get_attribute(value, attribute, function, false);
}

Status cuKernelGetAttribute(int* value, int attribute, void* kernel, Device device)
{
    CHECK_CONTEXT;
    if (device != context->device) return kInvalidValue;
    return get_attribute(value, attribute, kernel, true);
}

Status cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                      unsigned block_y, unsigned block_z, unsigned /*shared*/, Stream stream, void** parameters,
                      void** extra)
{
    return launch(function, grid_x * grid_y * grid_z, block_x * block_y * block_z, stream, parameters, extra);
}

Status cuLaunchKernelEx(const LaunchConfiguration* how, void* function, void** parameters, void** extra)
{
    if (how == nullptr || (how->attribute_count != 0 && how->attributes == nullptr)) return kInvalidValue;
    return launch(function, how->grid_x * how->grid_y * how->grid_z, how->block_x * how->block_y * how->block_z,
                  how->stream, parameters, extra);
}

Status cuLaunchCooperativeKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                 unsigned block_y, unsigned block_z, unsigned /*shared*/, Stream stream,
                                 void** parameters)
{
    return launch(function, grid_x * grid_y * grid_z, block_x * block_y * block_z, stream, parameters, nullptr);
}

} // extern "C"
#pragma GCC visibility pop
