#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

/// What a program's preloaded library and the memory manager of its node say to each other, over a SOCK_SEQPACKET Unix
/// socket: each message is one packet of this size. Both come from one release and run on one host.
namespace fathom::gpu {

inline constexpr std::uint32_t kProtocolVersion = 1;

/// Of the socket in the folder that an agent shows to jobs.
inline constexpr const char* kSocketName = "socket";

enum class MessageType : std::uint32_t {
    // From a program
    kHello = 1,  ///< text: its job; first: its process; second: its share in thousandths; third: its priority; fourth:
                 ///< what it was given to show that it is its job's
    kUseGpu = 2, ///< text: the GPU; first: its bytes; second and third: the need, persistent and temporary
    kGrow = 3,   ///< text: the GPU; first: the kind; second: how many bytes more
    kUse = 4,    ///< text: the GPU; first: the kind; second: bytes in use
    kWant = 5,   ///< it has work
    kGiveBack = 6, ///< the turn. first: 1 at the end of an iteration; second: bytes moved; third: microseconds it took;
                   ///< fourth: bytes that stayed
    kIterationEnd = 7, ///< first: as kIterationBy*; second: where it was found, with what confidence, in thousandths
    kShrink = 8,       ///< text: the GPU; first: what it needs of its persistent room, without a gap
    kAskLeft = 9,      ///< text: the GPU. What could its rooms there grow by? Admits nobody
    kKind = 10,        ///< text: what jobs like its own are called, or nothing; first: its class, as kClass*
    /// It makes its first communicator, of ranks that wait for each other in collective calls, or leaves its last.
    kCommunicator = 11, ///< text: its name, or nothing; first: 1 or 0; second: how many ranks it has
    kCollectives = 12,  ///< its turn is to end. first: how many collective calls it has made
    /// Of a kernel (kernel_message.hpp). text: KernelText; first: launches; second: of them, those that were timed;
    /// third:
    /// the shortest of these in ns; fourth: all of these
    kKernel = 13,
    kInputSize = 14, ///< first: the size of its input in its own unit, as the bits of a double
    // To a program
    kPlace = 101,   ///< text: the GPU; first to fourth: MemoryPlace
    kRefused = 102, ///< text: why; first: kNotShared or 0. Answers kUseGpu and kGrow: second: which of
                    ///< them; third: gpu_number() of its GPU. Both are 0 from a manager of before
    kGrown = 103,   ///< text: the GPU; first: the kind; second: the room
    kShared = 104,  ///< first: whether others have memory on one of its GPUs; second: whether it has the
                    ///< turn, or was alone and is to end it: kEndNow follows
    kTurn = 105,    ///< it has the turn. first: to give it back before its next collective call after so many;
                    ///< 0: as it is told
    kEndAfterIteration = 106, ///< to give it back when its iteration ends
    kEndNow =
        107,     ///< to give it back between two kernels. first: within so many milliseconds, or it hangs; 0: no limit
    kRoom = 108, ///< text: the GPU; first: its persistent room. After kShrink
    kLeft =
        109, ///< text: the GPU; first: bytes, -1 where jobs share no such GPU; second: whether others have memory there
};

inline constexpr std::int64_t kNotShared = 1; ///< the manager has no such GPU: whoever uses it asks nobody
inline constexpr std::int64_t kClassUnknown = 0;
inline constexpr std::int64_t kClassCompute = 1;
inline constexpr std::int64_t kClassMemory = 2;
inline constexpr std::int64_t kHadMemory = 1;
inline constexpr std::int64_t kHadTurn = 2;
inline constexpr std::int64_t kIterationByCall = 1;    ///< the program or its framework says so
inline constexpr std::int64_t kIterationByPattern = 2; ///< found in what it does

struct Message {
    std::uint32_t version = kProtocolVersion;
    MessageType type{};
    std::int64_t first{};
    std::int64_t second{};
    std::int64_t third{};
    std::int64_t fourth{};
    std::array<char, 216> text{}; ///< ends with a zero
};
static_assert(sizeof(Message) == 256 && std::is_trivially_copyable_v<Message>);

inline std::string_view text_of(const Message& message)
{
    const std::string_view all(message.text.data(), message.text.size());
    return all.substr(0, all.find('\0'));
}

/// What does not fit is cut.
inline Message with_text(Message message, std::string_view text)
{
    text = text.substr(0, message.text.size() - 1);
    message.text.fill('\0');
    text.copy(message.text.data(), text.size());
    return message;
}

/// A GPU's name as a number: above 0, and another for others as far as one can tell (FNV-1a).
inline std::int64_t gpu_number(std::string_view gpu)
{
    std::uint64_t number = 0xcbf29ce484222325ULL;
    for (const char letter : gpu)
        number = (number ^ static_cast<unsigned char>(letter)) * 0x100000001b3ULL;
    return static_cast<std::int64_t>(number >> 1U | 1U);
}

/// Whether that is an answer to a question of a program's: an answer that comes late may be another question's.
inline bool is_answer_to(const Message& question, const Message& answer)
{
    const auto is_asked = [&](MessageType type) { return question.type == type; };
    const bool is_of_gpu = text_of(question) == text_of(answer);
    if (answer.type == MessageType::kPlace) return is_asked(MessageType::kUseGpu) && is_of_gpu;
    if (answer.type == MessageType::kLeft) return is_asked(MessageType::kAskLeft) && is_of_gpu;
    if (answer.type == MessageType::kGrown)
        return is_asked(MessageType::kGrow) && is_of_gpu && answer.first == question.first;
    if (answer.type != MessageType::kRefused || (!is_asked(MessageType::kUseGpu) && !is_asked(MessageType::kGrow)))
        return false;
    return answer.second == 0 ||
           (answer.second == static_cast<std::int64_t>(question.type) && answer.third == gpu_number(text_of(question)));
}

} // namespace fathom::gpu
