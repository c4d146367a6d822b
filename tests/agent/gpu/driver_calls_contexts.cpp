// The ways of driver_calls with several contexts, and to release memory that work still uses.
#include "tests/agent/gpu/driver_calls.hpp"

using namespace fathom::gpu::cuda;

extern "C" {
CtxSynchronize cuCtxSynchronize;
StreamCreate cuStreamCreate;
StreamDestroy cuStreamDestroy_v2;
Status cuStreamQuery(Stream stream);
}

namespace driver_calls {
namespace {

constexpr unsigned kNonBlocking = 1; ///< CU_STREAM_NON_BLOCKING

} // namespace

/// Small blocks share a piece of memory, so that nothing is unmapped here: the next block may be at the same address.
void released_in_use()
{
    make_context();
    constexpr std::size_t kBytes = kMiB / 16;
    const Address neighbour = allocate(kBytes);
    const Address own = allocate(kBytes);
    Stream stream = nullptr;
    require(cuStreamCreate(&stream, kNonBlocking), "cuStreamCreate");
    launch(kernel("spin"), own, kBytes, 200'000, stream);
    launch(kernel("fill"), own, kBytes, 5, stream);
    release(own);
    require(cuStreamQuery(stream), "memory is released that a kernel will write");
    require(cuCtxSynchronize(), "cuCtxSynchronize");
    require(cuStreamDestroy_v2(stream), "cuStreamDestroy");
    release(neighbour);
}

} // namespace driver_calls
