// The ways of driver_calls by the stand-in's virtual clock. Only what the driver itself has is used: an event that is
// recorded where nothing waits says how far the program has come. Expected times are for the costs that the test sets:
// a call 1 us, a launch 5 us, a copy 10 us and 1 us for each KiB, memory 1 us for each 64 KiB.
#include "tests/agent/gpu/driver_calls.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

using namespace fathom::gpu::cuda;

extern "C" {
CtxSynchronize cuCtxSynchronize;
StreamCreate cuStreamCreate;
StreamDestroy cuStreamDestroy_v2;
StreamSynchronize cuStreamSynchronize;
StreamBeginCapture2 cuStreamBeginCapture_v2;
StreamEndCapture cuStreamEndCapture;
GraphInstantiateWithFlags cuGraphInstantiateWithFlags;
GraphLaunch cuGraphLaunch;
GraphExecDestroy cuGraphExecDestroy;
GraphDestroy cuGraphDestroy;
ModuleLoadData cuModuleLoadData;
ModuleGetFunction cuModuleGetFunction;
LaunchKernel cuLaunchKernel;
MemcpyHtoD cuMemcpyHtoD_v2;
MemcpyDtoH cuMemcpyDtoH_v2;
Status cuMemcpyHtoDAsync_v2(Address to, const void* from, std::size_t bytes, Stream stream);
Status cuMemcpyDtoHAsync_v2(void* to, Address from, std::size_t bytes, Stream stream);
Status cuMemsetD32_v2(Address to, unsigned value, std::size_t count);
Status cuEventCreate(Event* event, unsigned flags);
Status cuEventDestroy_v2(Event event);
Status cuEventRecord(Event event, Stream stream);
Status cuEventQuery(Event event);
Status cuEventSynchronize(Event event);
Status cuEventElapsedTime(float* milliseconds, Event start, Event end);
Status cuStreamQuery(Stream stream);
Status cuStreamWaitEvent(Stream stream, Event event, unsigned flags);
}

namespace driver_calls {
namespace {

constexpr unsigned kNoTiming = 2; ///< CU_EVENT_DISABLE_TIMING

/// The streams and events of a way, which are gone with it, and how far the program has come.
class Clock {
  public:
    Clock() : idle_(stream()) {}
    Clock(const Clock&) = delete;
    Clock& operator=(const Clock&) = delete;
    ~Clock()
    {
        for (const Event event : events_)
            require(cuEventDestroy_v2(event), "cuEventDestroy");
        for (const Stream stream : streams_)
            require(cuStreamDestroy_v2(stream), "cuStreamDestroy");
    }

    Stream stream(unsigned flags = kNonBlocking)
    {
        Stream made = nullptr;
        require(cuStreamCreate(&made, flags), "cuStreamCreate");
        streams_.push_back(made);
        return made;
    }
    Event event(unsigned flags = 0)
    {
        Event made = nullptr;
        require(cuEventCreate(&made, flags), "cuEventCreate");
        events_.push_back(made);
        return made;
    }
    Event record(Stream where)
    {
        const Event made = event();
        require(cuEventRecord(made, where), "cuEventRecord");
        return made;
    }
    /// How far the program is.
    Event now() { return record(idle_); }

    static double us_between(Event first, Event last)
    {
        float milliseconds = 0;
        require(cuEventElapsedTime(&milliseconds, first, last), "cuEventElapsedTime");
        return 1000.0 * static_cast<double>(milliseconds);
    }
    /// Of what came after `first`: the call that looks costs a call, too.
    void expect_us(Event first, double us, const std::string& what) { expect_between(first, now(), us + 1, what); }
    static void expect_between(Event first, Event last, double us, const std::string& what)
    {
        const double real_us = us_between(first, last);
        std::printf("%s: %.1f us\n", what.c_str(), real_us);
        require(std::abs(real_us - us) < 0.5, what + " takes not " + std::to_string(us) + " us");
    }

  private:
    std::vector<Stream> streams_;
    std::vector<Event> events_;
    Stream idle_;
};

/// As the kernel `spin` says it.
void spin(Stream stream, std::uint64_t us)
{
    launch(kernel("spin"), 0, 0, us, stream);
}

void copy_later(Address to, const std::vector<char>& from, Stream stream)
{
    require(cuMemcpyHtoDAsync_v2(to, from.data(), from.size(), stream), "cuMemcpyHtoDAsync");
}

void wait_for_all()
{
    require(cuCtxSynchronize(), "cuCtxSynchronize");
}

} // namespace

/// Bytes by the bandwidth, after the latency; the program waits for a copy, and not for a memset.
void clock_copies()
{
    make_context();
    Clock clock;
    const Address address = allocate(2 * kMiB);
    std::vector<char> text(2 * kMiB, 'x');

    Event before = clock.now();
    require(cuMemcpyHtoD_v2(address, text.data(), kMiB), "cuMemcpyHtoD");
    clock.expect_us(before, 1 + 10 + 1024, "a copy of 1 MiB to the card");
    before = clock.now();
    require(cuMemcpyDtoH_v2(text.data(), address, 2 * kMiB), "cuMemcpyDtoH");
    clock.expect_us(before, 1 + 10 + 2048, "a copy of 2 MiB from the card");
    before = clock.now();
    require(cuMemcpyHtoD_v2(address, text.data(), 1), "cuMemcpyHtoD");
    require(cuMemcpyHtoD_v2(address, text.data(), 2047), "cuMemcpyHtoD");
    clock.expect_us(before, 11 + 1 / 1024.0 + 11 + 2047 / 1024.0, "two copies of few bytes");
    before = clock.now();
    require(cuMemsetD32_v2(address, 7, kMiB / 4), "cuMemsetD32");
    clock.expect_us(before, 1, "a memset that is not waited for");
    before = clock.now();
    require(cuMemsetD32_v2(address, 7, kMiB / 4), "cuMemsetD32");
    wait_for_all();
    clock.expect_us(before, 14 + 16, "a memset behind what is left of another"); // which had 2 of its 16 us
    release(address);
}

/// A launch costs the program its overhead; a kernel takes what its launch declares, an hour, too.
void clock_launches()
{
    make_context();
    Clock clock;
    const Stream stream = clock.stream();

    Event before = clock.now();
    for (int i = 0; i < 100; ++i)
        spin(stream, 0);
    clock.expect_us(before, 100 * 5, "a hundred launches");
    wait_for_all();
    before = clock.record(stream);
    spin(stream, 3000);
    const Event after = clock.record(stream);
    require(cuEventSynchronize(after), "cuEventSynchronize");
    Clock::expect_between(before, after, 5 + 3000, "a kernel of 3 ms, behind its launch");

    void* module = nullptr;
    void* fill = nullptr;
    require(cuModuleLoadData(&module, "block-ns:fill 2000"), "cuModuleLoadData");
    require(cuModuleGetFunction(&fill, module, "fill"), "cuModuleGetFunction");
    const Address address = allocate(kMiB);
    Address to = address;
    std::uint64_t words = 16;
    std::uint64_t value = 1;
    std::array<void*, 3> parameters{&to, &words, &value};
    before = clock.now();
    require(cuLaunchKernel(fill, 4, 3, 2, 32, 1, 1, 0, stream, parameters.data(), nullptr), "cuLaunchKernel");
    require(cuStreamSynchronize(stream), "cuStreamSynchronize");
    clock.expect_us(before, 5 + 24 * 2, "24 blocks of 2 us");

    constexpr std::uint64_t kHour_us = 3'600'000'000;
    before = clock.now();
    spin(stream, kHour_us);
    wait_for_all();
    require(Clock::us_between(before, clock.now()) >= static_cast<double>(kHour_us), "an hour passes");
    release(address);
}

/// What is not done yet is not said to be, and who asks again and again comes to it.
void clock_questions()
{
    make_context();
    Clock clock;
    const Stream stream = clock.stream();
    const Event never = clock.event();
    const Event untimed = clock.event(kNoTiming);
    require(cuEventQuery(never), "an event that nobody has recorded is done");
    require(cuStreamQuery(stream), "a stream in which nothing is is done");

    const Event before = clock.now();
    spin(stream, 3000); // from 5 to 3005 us
    const Event after = clock.record(stream);
    require(cuEventRecord(untimed, stream), "cuEventRecord");
    float milliseconds = 0;
    require(cuEventElapsedTime(&milliseconds, before, after) == kNotReady, "the time of what is not done");
    require(cuEventElapsedTime(&milliseconds, before, never) == kInvalidHandle, "the time of an event of nothing");
    require(cuEventElapsedTime(&milliseconds, before, untimed) == kInvalidHandle, "the time of an event without time");
    require(cuStreamQuery(stream) == kNotReady, "a stream whose kernel runs is done"); // at 8 us
    int questions = 1;
    for (; cuEventQuery(after) == kNotReady; ++questions)
        require(questions < 100'000, "an event that never comes");
    require(questions == 3005 - 8, "asked so often until it is done: " + std::to_string(questions));
    require(cuStreamQuery(stream), "the stream is done, too");
    clock.expect_us(before, 3005 + 1, "until it is done");
}

/// A copy runs beside a kernel; copies, and kernels, run one after another; streams wait as they are to.
void clock_streams()
{
    make_context();
    Clock clock;
    const Stream first = clock.stream();
    const Stream second = clock.stream();
    const Stream blocking = clock.stream(0);
    const Address address = allocate(kMiB);
    const std::vector<char> text(kMiB, 'x'); // 1034 us

    Event before = clock.now();
    copy_later(address, text, first); // 1 to 1035
    spin(second, 900);                // 6 to 906
    wait_for_all();
    clock.expect_us(before, 1035, "a copy beside a kernel");

    before = clock.now();
    copy_later(address, text, first);  // 1 to 1035
    copy_later(address, text, second); // 1035 to 2069
    wait_for_all();
    clock.expect_us(before, 2069, "two copies");

    before = clock.now();
    spin(first, 100);  // 5 to 105
    spin(second, 100); // 105 to 205
    wait_for_all();
    clock.expect_us(before, 205, "two kernels");

    before = clock.now();
    copy_later(address, text, first); // 1 to 1035
    const Event copied = clock.record(first);
    require(cuStreamWaitEvent(second, copied, 0), "cuStreamWaitEvent");
    spin(second, 100); // 1035 to 1135
    require(cuStreamSynchronize(second), "cuStreamSynchronize");
    clock.expect_us(before, 1135, "a kernel that waits for a copy");

    before = clock.now();
    spin(nullptr, 100);                  // 5 to 105
    copy_later(address, text, blocking); // 105 to 1139
    spin(nullptr, 10);                   // 1139 to 1149
    copy_later(address, text, first);    // waits for the engine alone: 1139 to 2173
    require(cuStreamSynchronize(nullptr), "cuStreamSynchronize");
    clock.expect_us(before, 1149, "the legacy stream and one that it waits for");
    wait_for_all();
    clock.expect_us(before, 2173, "one that it does not wait for");
    release(address);
}

/// The memory is as without the clock: what is said to be done is.
void clock_graph()
{
    make_context();
    Clock clock;
    const Stream stream = clock.stream();
    const Address address = allocate(kMiB);
    std::vector<char> text(kMiB, 'x');
    require(cuStreamBeginCapture_v2(stream, kCaptureRelaxed), "cuStreamBeginCapture");
    for (int i = 0; i < 3; ++i)
        spin(stream, 100);
    copy_later(address, text, stream);
    Graph graph = nullptr;
    GraphExec exec = nullptr;
    require(cuStreamEndCapture(stream, &graph), "cuStreamEndCapture");
    require(cuGraphInstantiateWithFlags(&exec, graph, 0), "cuGraphInstantiate");

    const Event before = clock.now();
    require(cuGraphLaunch(exec, stream), "cuGraphLaunch");
    require(cuStreamSynchronize(stream), "cuStreamSynchronize");

    clock.expect_us(before, 5 + 300 + 1034, "a graph of three kernels and a copy");
    std::vector<char> back(kMiB);
    require(cuMemcpyDtoHAsync_v2(back.data(), address, kMiB, stream), "cuMemcpyDtoHAsync");
    while (cuStreamQuery(stream) == kNotReady) {
    }
    require(back == text, "what was copied there and back is the same");
    require(cuGraphExecDestroy(exec), "cuGraphExecDestroy");
    require(cuGraphDestroy(graph), "cuGraphDestroy");
    release(address);
}

/// Holds the card for 10 ms from 5 us on, and goes when it may.
void clock_first()
{
    make_context();
    Clock clock;
    const Stream stream = clock.stream();
    spin(stream, 10'000);
    wait_for("clock_first");
    wait_for_all();
}

/// Its kernel waits for that of the other program, its copy does not.
void clock_second()
{
    make_context();
    Clock clock;
    const Stream stream = clock.stream();
    const Stream other = clock.stream();
    const Address address = allocate(kMiB);
    const std::vector<char> text(kMiB, 'x');
    const Event before = clock.record(stream); // at 1 us
    spin(stream, 5000);                        // 10005 to 15005
    copy_later(address, text, other);          // 7 to 1041
    const Event copied = clock.record(other);
    const Event after = clock.record(stream);
    require(cuEventSynchronize(copied), "cuEventSynchronize");
    Clock::expect_between(before, copied, 1040, "a copy beside another program's kernel");
    wait_for_all();
    Clock::expect_between(before, after, 15'004, "a kernel behind another program's");
    release(address);
}

/// Begins where the others have come to: nothing of theirs is before it.
void clock_later()
{
    make_context();
    Clock clock;
    const Stream stream = clock.stream();
    const Event before = clock.record(stream);
    spin(stream, 5000);
    const Event after = clock.record(stream);
    wait_for_all();
    Clock::expect_between(before, after, 5005, "a kernel after all others'");
}

/// Without the virtual clock: kernels sleep, and events say how long.
void clock_real()
{
    make_context();
    Clock clock;
    const Stream stream = clock.stream();
    const Stream other = clock.stream();
    const Event before = clock.record(stream);
    spin(stream, 5'000'000);
    const Event after = clock.record(stream);
    require(cuEventQuery(after) == kNotReady, "a kernel of 5 s is done at once");
    require(cuStreamQuery(stream) == kNotReady, "its stream is done at once");
    require(cuStreamQuery(other), "another stream is not done");
    require(cuEventSynchronize(after), "cuEventSynchronize");
    require(cuEventQuery(after), "what was waited for is not done");
    require(Clock::us_between(before, after) >= 5'000'000, "a kernel of 5 s takes less");
}

} // namespace driver_calls
