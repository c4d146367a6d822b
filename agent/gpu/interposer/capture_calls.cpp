#include "agent/gpu/interposer/driver.hpp"
#include "agent/gpu/interposer/share.hpp"

/// The driver's functions that begin and end the capture of a stream into a graph. A capture begins with the turn, and
/// the turn stays until the capture has ended: the end of a turn synchronizes, which a captured stream does not bear.
namespace fathom::gpu {
namespace {

template <class Begin>
cuda::Status begin_capture(cuda::Stream stream, Begin of_driver)
{
    Share& share = Share::instance();
    share.begin_work();
    const bool is_new = share.add_capture(stream);
    const cuda::Status status = of_driver();
    share.end_work();
    if (status != cuda::kSuccess && is_new) share.end_capture(stream);
    return status;
}

template <class End>
cuda::Status end_capture(cuda::Stream stream, End of_driver, DriverFunction<cuda::StreamIsCapturing>& is_capturing)
{
    static DriverFunction<cuda::StreamGetCaptureInfo2> get_info{"cuStreamGetCaptureInfo_v2"};
    int state = cuda::kCaptureNone;
    cuda::Graph graph = nullptr;
    (void)get_info(stream, &state, nullptr, &graph, nullptr, nullptr);
    const cuda::Status status = of_driver();
    // A capture that was invalidated ends with an error; one that another thread began does not end.
    if (status == cuda::kSuccess || is_capturing(stream, &state) != cuda::kSuccess || state == cuda::kCaptureNone)
        Share::instance().end_capture(stream);
    if (status == cuda::kCaptureInvalidated && graph != nullptr) Share::instance().end_graph(graph); // nobody gets it
    return status;
}

cuda::Status destroy_stream(cuda::Stream stream, DriverFunction<cuda::StreamDestroy>& of_driver)
{
    const cuda::Status status = of_driver(stream);
    if (status == cuda::kSuccess) Share::instance().end_capture(stream);
    return status;
}

} // namespace
} // namespace fathom::gpu

using namespace fathom::gpu;

#define FATHOM_BEGIN_CAPTURE(suffix)                                                                                   \
    cuda::Status cuStreamBeginCapture##suffix(cuda::Stream stream)                                                     \
    {                                                                                                                  \
        static DriverFunction<cuda::StreamBeginCapture> of_driver{"cuStreamBeginCapture" #suffix};                     \
        return begin_capture(stream, [&] { return of_driver(stream); });                                               \
    }                                                                                                                  \
    cuda::Status cuStreamBeginCapture_v2##suffix(cuda::Stream stream, int mode)                                        \
    {                                                                                                                  \
        static DriverFunction<cuda::StreamBeginCapture2> of_driver{"cuStreamBeginCapture_v2" #suffix};                 \
        return begin_capture(stream, [&] { return of_driver(stream, mode); });                                         \
    }                                                                                                                  \
    cuda::Status cuStreamBeginCaptureToGraph##suffix(cuda::Stream stream, cuda::Graph graph, const void* dependencies, \
                                                     const void* data, std::size_t count, int mode)                    \
    {                                                                                                                  \
        static DriverFunction<cuda::StreamBeginCaptureToGraph> of_driver{"cuStreamBeginCaptureToGraph" #suffix};       \
        return begin_capture(stream, [&] { return of_driver(stream, graph, dependencies, data, count, mode); });       \
    }                                                                                                                  \
    cuda::Status cuStreamEndCapture##suffix(cuda::Stream stream, cuda::Graph* graph)                                   \
    {                                                                                                                  \
        static DriverFunction<cuda::StreamEndCapture> of_driver{"cuStreamEndCapture" #suffix};                         \
        static DriverFunction<cuda::StreamIsCapturing> is_capturing{"cuStreamIsCapturing" #suffix};                    \
        return end_capture(stream, [&] { return of_driver(stream, graph); }, is_capturing);                            \
    }

#pragma GCC visibility push(default)
extern "C" {

FATHOM_BEGIN_CAPTURE()
FATHOM_BEGIN_CAPTURE(_ptsz)

cuda::Status cuStreamDestroy(cuda::Stream stream)
{
    static DriverFunction<cuda::StreamDestroy> of_driver{"cuStreamDestroy"};
    return destroy_stream(stream, of_driver);
}

cuda::Status cuStreamDestroy_v2(cuda::Stream stream)
{
    static DriverFunction<cuda::StreamDestroy> of_driver{"cuStreamDestroy_v2"};
    return destroy_stream(stream, of_driver);
}

} // extern "C"
#pragma GCC visibility pop
