// Functions of NCCL's names that only call those of libnccl.so.2, which they find when they are first called, as
// frameworks have them that are built without NCCL.
#include "agent/gpu/cuda_abi.hpp"

#include <array>
#include <cstddef>
#include <dlfcn.h>

using fathom::gpu::cuda::Stream;

#pragma GCC visibility push(default)
extern "C" {

struct NcclUniqueId {
    std::array<char, 128> bytes;
};
int ncclGroupStart();
int ncclGroupEnd();
int ncclCommInitRank(void** made, int ranks, NcclUniqueId id, int rank);
int ncclAllReduce(const void* from, void* to, std::size_t count, int type, int operation, void* communicator,
                  Stream stream);
int ncclCommDestroy(void* communicator);

} // extern "C"

namespace {

constexpr int kSystemError = 2;

template <class Function, class... Arguments>
int pass(const char* name, Function* /*of_that_name*/, Arguments... arguments)
{
    static void* const library = ::dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    auto* const found = reinterpret_cast<Function*>(library == nullptr ? nullptr : ::dlsym(library, name));
    return found == nullptr ? kSystemError : found(arguments...);
}

} // namespace

extern "C" {

int ncclGroupStart()
{
    return pass("ncclGroupStart", &ncclGroupStart);
}

int ncclGroupEnd()
{
    return pass("ncclGroupEnd", &ncclGroupEnd);
}

int ncclCommInitRank(void** made, int ranks, NcclUniqueId id, int rank)
{
    return pass("ncclCommInitRank", &ncclCommInitRank, made, ranks, id, rank);
}

int ncclAllReduce(const void* from, void* to, std::size_t count, int type, int operation, void* communicator,
                  Stream stream)
{
    return pass("ncclAllReduce", &ncclAllReduce, from, to, count, type, operation, communicator, stream);
}

int ncclCommDestroy(void* communicator)
{
    return pass("ncclCommDestroy", &ncclCommDestroy, communicator);
}

} // extern "C"
#pragma GCC visibility pop
