#include "agent/gpu/interposer/driver.hpp"
#include "agent/gpu/interposer/share.hpp"

/// The driver's functions by which the driver itself takes memory: for nodes of graphs, and for modules.
namespace fathom::gpu {
namespace {

template <class OfDriver>
cuda::Status instantiate(cuda::GraphExec* exec, cuda::Graph graph, OfDriver of_driver)
{
    const cuda::Status status = of_driver();
    if (status == cuda::kSuccess) Share::instance().note_exec(*exec, graph);
    return status;
}

template <class OfDriver>
cuda::Status add_node(cuda::Graph graph, const cuda::GraphNodeParameters* parameters, OfDriver of_driver)
{
    if (parameters == nullptr || parameters->type != cuda::kMemAllocNode) return of_driver();
    return Share::instance().allocate_in_graph(graph, parameters->allocation.bytes, of_driver);
}

/// Modules count by what the program asks for.
template <class OfDriver>
cuda::Status get_variable(cuda::Address* address, std::size_t* bytes, void* module, OfDriver of_driver)
{
    cuda::Address at = 0;
    std::size_t size = 0;
    const cuda::Status status = of_driver(&at, &size);
    if (status != cuda::kSuccess) return status;
    if (address != nullptr) *address = at;
    if (bytes != nullptr) *bytes = size;
    Share::instance().note_variable(module, at, size);
    return status;
}

template <class Signature>
cuda::Status unload(void* module, DriverFunction<Signature>& of_driver)
{
    const cuda::Status status = of_driver(module);
    if (status == cuda::kSuccess) Share::instance().note_unloaded(module);
    return status;
}

} // namespace
} // namespace fathom::gpu

using namespace fathom::gpu;

#pragma GCC visibility push(default)
extern "C" {

cuda::Status cuGraphAddMemAllocNode(cuda::GraphNode* node, cuda::Graph graph, const cuda::GraphNode* dependencies,
                                    std::size_t count, cuda::MemAllocNodeParameters* parameters)
{
    static DriverFunction<cuda::GraphAddMemAllocNode> of_driver{"cuGraphAddMemAllocNode"};
    const auto by_driver = [&] { return of_driver(node, graph, dependencies, count, parameters); };
    if (parameters == nullptr) return by_driver();
    return Share::instance().allocate_in_graph(graph, parameters->bytes, by_driver);
}

cuda::Status cuGraphAddNode(cuda::GraphNode* node, cuda::Graph graph, const cuda::GraphNode* dependencies,
                            std::size_t count, cuda::GraphNodeParameters* parameters)
{
    static DriverFunction<cuda::GraphAddNode> of_driver{"cuGraphAddNode"};
    return add_node(graph, parameters, [&] { return of_driver(node, graph, dependencies, count, parameters); });
}

cuda::Status cuGraphAddNode_v2(cuda::GraphNode* node, cuda::Graph graph, const cuda::GraphNode* dependencies,
                               const void* data, std::size_t count, cuda::GraphNodeParameters* parameters)
{
    static DriverFunction<cuda::GraphAddNode2> of_driver{"cuGraphAddNode_v2"};
    return add_node(graph, parameters, [&] { return of_driver(node, graph, dependencies, data, count, parameters); });
}

#define FATHOM_INSTANTIATE(name)                                                                                       \
    cuda::Status name(cuda::GraphExec* exec, cuda::Graph graph, cuda::GraphNode* wrong, char* log, std::size_t bytes)  \
    {                                                                                                                  \
        static DriverFunction<cuda::GraphInstantiate> of_driver{#name};                                                \
        return instantiate(exec, graph, [&] { return of_driver(exec, graph, wrong, log, bytes); });                    \
    }
FATHOM_INSTANTIATE(cuGraphInstantiate)
FATHOM_INSTANTIATE(cuGraphInstantiate_v2)

cuda::Status cuGraphInstantiateWithFlags(cuda::GraphExec* exec, cuda::Graph graph, unsigned long long flags)
{
    static DriverFunction<cuda::GraphInstantiateWithFlags> of_driver{"cuGraphInstantiateWithFlags"};
    return instantiate(exec, graph, [&] { return of_driver(exec, graph, flags); });
}

#define FATHOM_INSTANTIATE_WITH(name)                                                                                  \
    cuda::Status name(cuda::GraphExec* exec, cuda::Graph graph, void* parameters)                                      \
    {                                                                                                                  \
        static DriverFunction<cuda::GraphInstantiateWithParameters> of_driver{#name};                                  \
        return instantiate(exec, graph, [&] { return of_driver(exec, graph, parameters); });                           \
    }
FATHOM_INSTANTIATE_WITH(cuGraphInstantiateWithParams)
FATHOM_INSTANTIATE_WITH(cuGraphInstantiateWithParams_ptsz)

cuda::Status cuGraphExecDestroy(cuda::GraphExec exec)
{
    static DriverFunction<cuda::GraphExecDestroy> of_driver{"cuGraphExecDestroy"};
    const cuda::Status status = of_driver(exec);
    if (status == cuda::kSuccess) Share::instance().end_exec(exec);
    return status;
}

cuda::Status cuGraphDestroy(cuda::Graph graph)
{
    static DriverFunction<cuda::GraphDestroy> of_driver{"cuGraphDestroy"};
    const cuda::Status status = of_driver(graph);
    if (status == cuda::kSuccess) Share::instance().end_graph(graph);
    return status;
}

cuda::Status cuModuleUnload(void* module)
{
    static DriverFunction<cuda::ModuleUnload> of_driver{"cuModuleUnload"};
    return unload(module, of_driver);
}

cuda::Status cuLibraryUnload(void* library)
{
    static DriverFunction<cuda::ModuleUnload> of_driver{"cuLibraryUnload"};
    return unload(library, of_driver);
}

#define FATHOM_VARIABLE(name)                                                                                          \
    cuda::Status name(cuda::Address* address, std::size_t* bytes, void* module, const char* variable)                  \
    {                                                                                                                  \
        static DriverFunction<cuda::ModuleGetGlobal> of_driver{#name};                                                 \
        return get_variable(address, bytes, module, [&](cuda::Address* at, std::size_t* size) {                        \
            return of_driver(at, size, module, variable);                                                              \
        });                                                                                                            \
    }
FATHOM_VARIABLE(cuModuleGetGlobal_v2)
FATHOM_VARIABLE(cuLibraryGetGlobal)
FATHOM_VARIABLE(cuLibraryGetManaged)

} // extern "C"
#pragma GCC visibility pop
