#pragma once

#include "core/base/result.hpp"
#include "probes/upload/sandbox_command.hpp"

#include <string_view>
#include <utility>

namespace fathom::probes {

/// An open file; closed at the end of its life.
class FileDescriptor {
  public:
    explicit FileDescriptor(int number = -1) : number_(number) {}
    ~FileDescriptor();
    FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    FileDescriptor& operator=(FileDescriptor&& other) noexcept;

    int number() const { return number_; }

  private:
    int number_;
};

/// A sandbox that was just started; it may still fail.
struct StartedProcess {
    int pid{-1};                  ///< of bubblewrap
    FileDescriptor socket;        ///< our end; records keep their borders
    FileDescriptor result_memory; ///< of no size yet
    FileDescriptor stderr_memory; ///< what bubblewrap and the guest write to standard error
};

/// Starts fathom-operator-host, which lies beside this program, in a sandbox; as nobody when this process is root.
/// @error kUnavailable  a program is missing or the system refuses; the detail says what.
Result<StartedProcess> start_in_sandbox(std::string_view object, const SandboxNeeds& needs);

} // namespace fathom::probes
