// The library of a framework that has NCCL's functions in it (nccl.cpp, or passing_nccl.cpp), shows them, and is loaded
// so that nobody else sees them, as modules of Python are. What the framework calls itself goes through the loader all
// the same.
#include "agent/gpu/cuda_abi.hpp"

#include <array>
#include <cstddef>

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

int ownGroupStart();
int ownGroupEnd();
int ownCommInitRank(void** made, int ranks, NcclUniqueId id, int rank);
int ownAllReduce(const void* from, void* to, std::size_t count, int type, int operation, void* communicator,
                 Stream stream);
int ownCommDestroy(void* communicator);

} // extern "C"

namespace {

/// Looked at after each call, so that the call comes from here and not, as a last one may, from who called this
/// library.
int last_status = 0;

} // namespace

extern "C" {

int ownGroupStart()
{
    last_status = ncclGroupStart();
    return last_status;
}

int ownGroupEnd()
{
    last_status = ncclGroupEnd();
    return last_status;
}

int ownCommInitRank(void** made, int ranks, NcclUniqueId id, int rank)
{
    last_status = ncclCommInitRank(made, ranks, id, rank);
    return last_status;
}

int ownAllReduce(const void* from, void* to, std::size_t count, int type, int operation, void* communicator,
                 Stream stream)
{
    last_status = ncclAllReduce(from, to, count, type, operation, communicator, stream);
    return last_status;
}

int ownCommDestroy(void* communicator)
{
    last_status = ncclCommDestroy(communicator);
    return last_status;
}

} // extern "C"
#pragma GCC visibility pop
