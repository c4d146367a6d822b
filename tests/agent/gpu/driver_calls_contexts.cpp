// The ways of driver_calls with several contexts, and to release memory that work still uses.
#include "tests/agent/gpu/driver_calls.hpp"

using namespace fathom::gpu::cuda;

extern "C" {
Status cuCtxCreate_v2(Context* context, unsigned flags, Device device);
CtxDestroy cuCtxDestroy_v2;
CtxSynchronize cuCtxSynchronize;
StreamCreate cuStreamCreate;
StreamDestroy cuStreamDestroy_v2;
Status cuStreamQuery(Stream stream);
}

namespace driver_calls {
namespace {

constexpr unsigned kNonBlocking = 1; ///< CU_STREAM_NON_BLOCKING

Context make_current_context(Device device)
{
    Context context = nullptr;
    require(cuCtxCreate_v2(&context, 0, device), "cuCtxCreate");
    return context;
}

} // namespace

/// Of one GPU. What was allocated in a context ends with it, and nothing else.
void two_contexts()
{
    const Context first = make_current_context(0);
    (void)allocate(2 * kMiB);
    const Context second = make_current_context(0);
    const Address own = allocate(4 * kMiB);
    launch(kernel("fill"), own, 4 * kMiB, 3, nullptr);
    require(cuCtxDestroy_v2(first), "cuCtxDestroy of the first");
    launch(kernel("check"), own, 4 * kMiB, 3, nullptr);
    require(cuCtxSynchronize(), "cuCtxSynchronize");
    pause("first ended");
    const Context third = make_current_context(0);
    (void)allocate(6 * kMiB);
    require(cuCtxDestroy_v2(third), "cuCtxDestroy of the third");
    const Address more = allocate(2 * kMiB);
    pause("third ended");
    launch(kernel("check"), own, 4 * kMiB, 3, nullptr);
    require(cuCtxSynchronize(), "cuCtxSynchronize");
    release(more);
    release(own);
    require(cuCtxDestroy_v2(second), "cuCtxDestroy of the second");
}

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
