#pragma once

#include <cstddef>
#include <cstdint>

/// What travels between fathom-probe and fathom-operator-host: records of fixed size over a socket that keeps
/// their borders. Both are of the same build; what comes from the host is checked all the same, for the
/// uploaded code lives in its process.
namespace fathom::probes::wire {

/// Descriptors that the host finds open.
constexpr int kSocketFd = 3;
constexpr int kResultFd = 4; ///< shared memory for results, sized by fathom-probe

constexpr std::size_t kMaxParameters = 16;
constexpr std::size_t kNameBytes = 65;
constexpr std::size_t kTextBytes = 504;

enum class Command : std::uint32_t {
    kStart = 1, ///< load the object and create an instance: the Start record follows; reply: memory, library
    kPrepare,   ///< `argument`: seed; reply: kind and count of the result
    kExecute,   ///< `argument`: how many times
    kError,     ///< reply: `real`
    kRead,      ///< copy the result into the shared memory
    kWrite,     ///< copy the shared memory into the result
    kEnd,       ///< destroy the instance and leave
};

struct Request {
    std::uint64_t ticket{}; ///< random; the reply repeats it
    Command command{};
    std::uint32_t padding{};
    std::uint64_t argument{};
};

struct NamedValue {
    char name[kNameBytes]{};
    std::int64_t value{};
};

/// Everything that the host needs to know before it loads foreign code.
struct Start {
    char id[kNameBytes]{};
    std::uint32_t allows_network{};
    std::uint32_t threads{};
    std::uint32_t parameter_count{};
    std::uint64_t memory_bytes{}; ///< that the manifest allows
    NamedValue parameters[kMaxParameters]{};
};

enum class Status : std::uint32_t {
    kOk = 1,
    kRefused,       ///< by the host before it ran any of the operator's functions: wrong ABI, wrong id, cannot load
    kFailed,        ///< by the operator; the text is its message
    kOutOfMemory,   ///< likewise
    kForbiddenCall, ///< `number` is the system call; the host ends
    kNoSandbox,     ///< the limits could not be set: nothing was loaded
};

struct Reply {
    std::uint64_t ticket{};
    Status status{};
    std::uint32_t kind{};   ///< of the result, as in fathom_operator.h
    std::uint64_t number{}; ///< memory, count, or system call
    double real{};
    char text[kTextBytes]{}; ///< ends with a NUL
};

} // namespace fathom::probes::wire
