#pragma once

#include "core/base/result.hpp"
#include "probes/upload/process_start.hpp"
#include "probes/upload/wire.hpp"

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace fathom::probes {

/// Memory that this process shares with a sandbox; unmapped at the end of its life. Movable.
class SharedMemory {
  public:
    SharedMemory() = default;
    explicit SharedMemory(std::span<std::byte> bytes) : bytes_(bytes) {}
    ~SharedMemory();
    SharedMemory(SharedMemory&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
    SharedMemory& operator=(SharedMemory&& other) noexcept;

    std::span<std::byte> bytes() const { return bytes_; }

  private:
    std::span<std::byte> bytes_;
};

/// One process of fathom-operator-host in a sandbox of its own: bubblewrap's namespaces, an empty file system
/// with the system's libraries, the user nobody when this process is root; then resource limits and a filter of
/// system calls, which the host sets before it loads foreign code. It ends with this process.
///
/// Whatever comes out of it is bounded and checked; whatever goes wrong in it is an Error with the code
/// kForbidden (kDeadline: it did not answer in time) and a detail that says what the uploaded code did.
/// Not thread-safe; make it in a thread that lives as long as it does.
class OperatorProcess {
  public:
    using Clock = std::chrono::steady_clock;

    /// Starts the sandbox; no foreign code runs yet. Blocks, for tens of milliseconds.
    /// @param object  the shared object, copied into the sandbox.
    /// @error kUnavailable  no sandbox can be made here; the detail says why and what to do about it.
    static Result<std::unique_ptr<OperatorProcess>> start(std::string_view object, const SandboxNeeds& needs);

    explicit OperatorProcess(StartedProcess started);
    /// Kills what still runs in the sandbox.
    ~OperatorProcess();
    OperatorProcess(const OperatorProcess&) = delete;
    OperatorProcess& operator=(const OperatorProcess&) = delete;

    /// Has the host set its limits, load the object, and make an instance; an empty id only sets the limits.
    /// The reply has the instance's memory as `number` and its library as `text`.
    Result<wire::Reply> load(const wire::Start& start, Clock::time_point until);

    /// Asks for `command` and waits for the answer.
    /// @param doing  what an error will say: "executing".
    /// @error kForbidden  it crashed, made a forbidden system call, ran out of memory, or answered nonsense; it has
    ///                    ended then.
    /// @error kDeadline   it did not answer by `until`; it was killed.
    /// @error kUnavailable  the operator itself refuses; the detail is its message.
    Result<wire::Reply> call(wire::Command command, std::uint64_t argument, std::string_view doing,
                             Clock::time_point until);

    /// The memory that results pass through, sized once.
    /// @error kUnavailable  it cannot be had.
    Result<SharedMemory> share_result(std::size_t size_bytes);

  private:
    Result<void> wait_until_ready();
    Result<wire::Reply> answer_to(std::uint64_t ticket, std::string_view doing, Clock::time_point until);
    Result<wire::Reply> receive(std::string_view doing, Clock::time_point until);
    Error ended(std::string_view doing);
    Error misbehaved(const std::string& what);
    std::string last_words() const;
    /// Ends the sandbox if it has not ended by itself within `timeout`.
    /// @return its exit code; 128 + n for signal n.
    int reap(std::chrono::milliseconds timeout);

    StartedProcess process_;
};

/// The text of a reply as one line of printable characters.
std::string reply_text(const wire::Reply& reply);

/// Tries whether a sandbox can be made here, by making one.
/// @error kUnavailable  as OperatorProcess::start.
Result<void> try_sandbox();

} // namespace fathom::probes
