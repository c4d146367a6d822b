// The stand-in driver's events, questions to streams, and copies in the order of a stream. Where the clock is virtual
// (virtual_clock.hpp), it answers; else what has really been done by now.
#include "tests/support/standin_gpu/virtual_clock.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

using namespace fathom;
using namespace fathom::gpu::cuda;
using namespace fathom::standin;

namespace fathom::standin {
namespace {

const char* const kRecordEvent = "record an event";
const char* const kCopyToCard = "copy to the card";
const char* const kCopyFromCard = "copy from the card";

/// Of cuEventCreate.
constexpr unsigned kNoTiming = 2;
constexpr unsigned kBetweenProcesses = 4;
constexpr unsigned kAllEventFlags = 7;

OwnEvent& event_of(Event event)
{
    const auto found = driver().events.find(event);
    if (found == driver().events.end()) fault("an event is used that is none, or was destroyed");
    return found->second;
}

/// With the mutex held. null: the legacy stream
OwnStream* stream_of(Stream stream)
{
    auto* const own = static_cast<OwnStream*>(stream);
    if (own != nullptr && !driver().streams.contains(own)) fault("a stream is named that is none");
    return own;
}

/// With the mutex held.
bool is_done(const OwnEvent& event)
{
    if (event.recorded == 0) return true; // as if nothing had been captured
    return is_virtual() ? program_ns() >= event.at_ns : event.done == event.recorded;
}

/// What the virtual clock says to be done has been done when the answer is given.
Status answer(std::unique_lock<std::mutex> lock, bool is_complete)
{
    lock.unlock();
    if (!is_complete) return kNotReady;
    if (is_virtual()) wait_for_kernels();
    return kSuccess;
}

/// With the mutex held.
bool is_busy(const OwnContext& context, const OwnStream* stream)
{
    const auto is_of_stream = [&](OwnStream* other) {
        if (stream != nullptr || other == nullptr) return other == stream;
        return driver().streams.contains(other) && other->context == &context && other->is_blocking;
    };
    const Driver& one = driver();
    return (one.is_working && is_of_stream(one.working_on)) ||
           std::any_of(one.queue.begin(), one.queue.end(),
                       [&](const Launch& launch) { return is_of_stream(launch.stream); });
}

Status copy_in_order(const char* kind, Address to, Address from, std::size_t bytes, Stream stream)
{
    {
        const std::scoped_lock lock(driver().mutex);
        charge_call();
    }
    Launch launch{kind, {to, from, bytes}};
    launch.engine = Engine::kCopy;
    launch.cost_ns = copy_ns(bytes);
    return launch_on(stream, launch);
}

Status elapsed(float* milliseconds, Event start, Event end)
{
    if (milliseconds == nullptr) return kInvalidValue;
    const std::scoped_lock lock(driver().mutex);
    const OwnEvent& first = event_of(start);
    const OwnEvent& last = event_of(end);
    for (const OwnEvent* event : {&first, &last}) {
        if (event->recorded == 0 || (event->flags & kNoTiming) != 0) return kInvalidHandle;
    }
    if (!is_done(first) || !is_done(last)) return kNotReady;
    constexpr double kNsPerMs = 1e6;
    *milliseconds = static_cast<float>(static_cast<double>(last.at_ns - first.at_ns) / kNsPerMs);
    return kSuccess;
}

} // namespace

bool run_event_or_copy(const Launch& launch)
{
    const auto [first, second, bytes] = launch.arguments;
    if (launch.kernel == kRecordEvent) {
        const std::scoped_lock lock(driver().mutex);
        const auto event = driver().events.find(reinterpret_cast<Event>(first));
        if (event == driver().events.end() || event->second.recorded != second) return true; // or recorded again
        event->second.done = second;
        event->second.at_ns = std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
        return true;
    }
    const bool is_to_card = launch.kernel == kCopyToCard;
    if (!is_to_card && launch.kernel != kCopyFromCard) return false;
    require_mapped(is_to_card ? first : second, bytes, launch.kernel);
    std::memcpy(reinterpret_cast<void*>(first), reinterpret_cast<const void*>(second), bytes);
    return true;
}

} // namespace fathom::standin

#pragma GCC visibility push(default)
extern "C" {

Status cuEventCreate(Event* event, unsigned flags)
{
    CHECK_CONTEXT;
    const bool is_shared_with_times = (flags & kBetweenProcesses) != 0 && (flags & kNoTiming) == 0;
    if (event == nullptr || flags > kAllEventFlags || is_shared_with_times) return kInvalidValue;
    const std::scoped_lock lock(driver().mutex);
    *event = new char;
    driver().events[*event] = {.context = context, .flags = flags};
    return kSuccess;
}

Status cuEventDestroy_v2(Event event)
{
    const std::scoped_lock lock(driver().mutex);
    (void)event_of(event);
    driver().events.erase(event);
    delete static_cast<char*>(event);
    return kSuccess;
}

Status cuEventRecord(Event event, Stream stream)
{
    CHECK_CONTEXT;
    if (stream == nullptr) REFUSE_IN_CAPTURE(refuse_legacy_stream(context));
    std::uint64_t number = 0;
    {
        const std::scoped_lock lock(driver().mutex);
        if (capture_of(stream) != nullptr) fault("an event is recorded in a capture, which is not here");
        charge_call();
        OwnEvent& own = event_of(event);
        const OwnStream* const where = stream_of(stream);
        if (own.context != (where == nullptr ? context : where->context)) return kInvalidHandle;
        number = ++own.recorded;
        if (is_virtual()) {
            own.at_ns = done_at(*context, stream_of(stream));
            return kSuccess;
        }
    }
    return launch_on(stream, {kRecordEvent, {reinterpret_cast<std::uintptr_t>(event), number, 0}});
}

Status cuEventQuery(Event event)
{
    CHECK_CONTEXT;
    (void)context;
    std::unique_lock lock(driver().mutex);
    charge_call();
    const bool is_complete = is_done(event_of(event));
    return answer(std::move(lock), is_complete);
}

Status cuEventSynchronize(Event event)
{
    std::unique_lock lock(driver().mutex);
    charge_call();
    const OwnEvent& own = event_of(event);
    if (is_virtual()) {
        if (own.recorded != 0) move_program_to(*own.context, own.at_ns);
        return answer(std::move(lock), true);
    }
    const std::uint64_t number = own.recorded;
    driver().queue_changed.wait(lock, [&] { return event_of(event).done >= number; });
    return kSuccess;
}

Status cuEventElapsedTime(float* milliseconds, Event start, Event end)
{
    CHECK_CONTEXT;
    (void)context;
    return elapsed(milliseconds, start, end);
}

Status cuStreamQuery(Stream stream)
{
    CHECK_CONTEXT;
    if (stream == nullptr) REFUSE_IN_CAPTURE(refuse_legacy_stream(context));
    std::unique_lock lock(driver().mutex);
    if (Capture* const capture = capture_of(stream)) {
        capture->is_invalidated = true;
        return kCaptureUnsupported;
    }
    const OwnStream* const own = stream_of(stream);
    charge_call();
    const bool is_complete = is_virtual() ? done_at(*context, own) <= program_ns() : !is_busy(*context, own);
    return answer(std::move(lock), is_complete);
}

/// Where the clock is real, all that is put into streams is done in one order.
Status cuStreamWaitEvent(Stream stream, Event event, unsigned flags)
{
    CHECK_CONTEXT;
    if (flags != 0) return kInvalidValue;
    if (stream == nullptr) REFUSE_IN_CAPTURE(refuse_legacy_stream(context));
    const std::scoped_lock lock(driver().mutex);
    if (capture_of(stream) != nullptr) fault("an event is waited for in a capture, which is not here");
    charge_call();
    const OwnEvent& own = event_of(event);
    if (own.recorded != 0 && is_virtual()) hold_stream(*context, stream_of(stream), own.at_ns);
    return kSuccess;
}

Status cuMemcpyHtoDAsync_v2(Address to, const void* from, std::size_t bytes, Stream stream)
{
    return copy_in_order(kCopyToCard, to, reinterpret_cast<Address>(from), bytes, stream);
}

Status cuMemcpyDtoHAsync_v2(void* to, Address from, std::size_t bytes, Stream stream)
{
    return copy_in_order(kCopyFromCard, reinterpret_cast<Address>(to), from, bytes, stream);
}

} // extern "C"
#pragma GCC visibility pop
