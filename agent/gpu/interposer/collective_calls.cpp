#include "agent/gpu/interposer/driver.hpp"
#include "agent/gpu/interposer/entry_points.hpp"
#include "agent/gpu/interposer/share.hpp"

#include <boost/preprocessor/repetition/enum_params.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// NVIDIA's library for collective calls (NCCL), where a program is linked to it or finds it by dlsym(), or has one of
/// its own in a library that shows its functions: which communicators a process is in, and when it makes a collective
/// call. What it does, the library itself does.
namespace fathom::gpu {

/// ncclUniqueId: the rank that made it tells it the others.
struct NcclUniqueId {
    std::array<char, 128> bytes;
};

namespace {

using Word = std::uintptr_t;
using Status = int; ///< ncclResult_t
using Communicator = void*;

constexpr Status kSuccess = 0;
constexpr Status kInternalError = 3;
constexpr Status kInProgress = 7;

void* function_of(const char* library, const char* name)
{
    if (library == nullptr || *library == '\0') return nullptr; // the program itself, which comes before this library
    // Kept for as long as the process lives: functions of it are.
    void* const loaded = ::dlopen(library, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
    void* const found = loaded == nullptr ? nullptr : real_dlsym(loaded, name);
    return found == own_collective_function(name, nullptr) ? nullptr : found;
}

/// In the order in which the loader would have looked without this library: among what all see, then in the caller's
/// library and in those that it is linked to, as where a module of Python's brings an NCCL of its own.
void* function_for(const char* name, const void* caller)
{
    if (void* const next = real_dlsym(RTLD_NEXT, name)) return next;
    Dl_info library{};
    return ::dladdr(caller, &library) == 0 ? nullptr : function_of(library.dli_fname, name);
}

/// Where the caller is not who linked it.
void* function_anywhere(const char* name)
{
    if (void* const found = function_of("libnccl.so.2", name)) return found;
    std::vector<std::string> libraries;
    ::dl_iterate_phdr(
        [](dl_phdr_info* one, std::size_t, void* all) {
            if (one->dlpi_name != nullptr) static_cast<std::vector<std::string>*>(all)->emplace_back(one->dlpi_name);
            return 0;
        },
        &libraries);
    for (const std::string& library : libraries) {
        if (void* const found = function_of(library.c_str(), name)) return found;
    }
    return nullptr;
}

/// Where a call of this thread's that is passed on has gone.
void*& passed_to()
{
    thread_local void* function = nullptr;
    return function;
}

/// A function of NCCL, as each caller would have found it: a process may have several NCCLs, whose communicators only
/// they themselves understand.
template <class Signature>
class NcclFunction {
  public:
    template <class... Arguments>
    Status operator()(const char* name, const void* caller, Arguments... arguments)
    {
        void* found = find(name, caller);
        // It comes back: the caller is a library whose functions of these names only call what it found by dlsym().
        if (found != nullptr && found == passed_to()) found = given_.load(std::memory_order_relaxed);
        if (found == nullptr) return kInternalError;
        void* const before = std::exchange(passed_to(), found);
        const Status status = reinterpret_cast<Signature*>(found)(arguments...);
        passed_to() = before;
        return status;
    }

    /// Found by the program's dlsym(). @return  whether calls of this library's function lead there.
    bool give(const char* name, void* function)
    {
        void* const next = real_dlsym(RTLD_NEXT, name);
        if (next != nullptr && next != function) return false;
        void* none = nullptr;
        return given_.compare_exchange_strong(none, function) || none == function;
    }

  private:
    struct Known {
        std::atomic<const void*> caller{nullptr}; ///< written last
        std::atomic<void*> function{nullptr};
    };

    void* find(const char* name, const void* caller)
    {
        for (const Known& one : known_) {
            if (one.caller.load(std::memory_order_acquire) == caller)
                return one.function.load(std::memory_order_relaxed);
        }
        void* found = function_for(name, caller);
        if (found == nullptr) found = given_.load(std::memory_order_relaxed);
        if (found == nullptr) found = function_anywhere(name);
        if (found == nullptr || known_count_.load(std::memory_order_relaxed) >= known_.size()) return found;
        const std::size_t place = known_count_.fetch_add(1, std::memory_order_relaxed);
        if (place >= known_.size()) return found;
        known_[place].function.store(found, std::memory_order_relaxed);
        known_[place].caller.store(caller, std::memory_order_release);
        return found;
    }

    std::atomic<void*> given_{nullptr};
    std::array<Known, 32> known_{}; ///< who calls from more places looks each time
    std::atomic<std::size_t> known_count_{0};
};

template <std::size_t>
using OneWord = Word;
template <class Numbers>
struct OfWords;
template <std::size_t... numbers>
struct OfWords<std::index_sequence<numbers...>> {
    using Type = Status(OneWord<numbers>...);
};
template <std::size_t words>
using Words = typename OfWords<std::make_index_sequence<words>>::Type;

struct Nccl {
#define FATHOM_COLLECTIVE(name, words) NcclFunction<Words<words>> name;
#include "agent/gpu/interposer/collective_calls.def"
#undef FATHOM_COLLECTIVE
    NcclFunction<Status()> group_start;
    NcclFunction<Status()> group_end;
    NcclFunction<Status(void*)> group_simulate_end;
    NcclFunction<Status(Communicator*, int, NcclUniqueId, int)> init_rank;
    NcclFunction<Status(Communicator*, int, NcclUniqueId, int, void*)> init_rank_config;
    NcclFunction<Status(Communicator*, int, int, int, NcclUniqueId*, void*)> init_rank_scalable;
    NcclFunction<Status(Communicator, int, int, Communicator*, void*)> split;
    NcclFunction<Status(Communicator, int*)> count;
    NcclFunction<Status(Communicator)> destroy;
    NcclFunction<Status(Communicator)> abort;
};

Nccl& nccl()
{
    static Nccl functions;
    return functions;
}

/// A group of calls of this thread is one: all of its work begins at its end.
struct Group {
    int depth{};
    bool has_collective{};
    int meetings{}; ///< communicators that are made at its end
};
Group& group()
{
    thread_local Group one;
    return one;
}

/// Whether each rank of a communicator makes that call. What two of them send each other says nothing of the others.
bool is_of_all_ranks(std::string_view name)
{
    return name != "ncclSend" && name != "ncclRecv";
}

template <class Function, class... Arguments>
Status collective(Function& function, const char* name, const void* caller, Arguments... arguments)
{
    Share& share = Share::instance();
    const bool is_grouped = group().depth > 0;
    if (!is_grouped || !group().has_collective) share.begin_collective(is_of_all_ranks(name));
    group().has_collective = is_grouped;
    const Status status = function(name, caller, arguments...);
    if (!is_grouped) share.end_collective();
    return status;
}

void end_group()
{
    if (group().depth == 0 || --group().depth > 0) return;
    if (std::exchange(group().has_collective, false)) Share::instance().end_collective();
    for (int left = std::exchange(group().meetings, 0); left > 0; --left)
        Share::instance().end_meeting();
}

/// A name that all ranks have, and nobody else: of the number that they all got from one of them (FNV-1a).
std::string name_of(const NcclUniqueId& id)
{
    std::uint64_t number = 0xcbf29ce484222325ULL;
    for (const char byte : id.bytes)
        number = (number ^ static_cast<unsigned char>(byte)) * 0x100000001b3ULL;
    return "communicator " + std::to_string(number);
}

/// What waits for all other ranks on the host, at once or at the end of the group that it is in.
template <class Call>
Status meet(Call call)
{
    Share& share = Share::instance();
    share.begin_meeting();
    const Status status = call();
    if (group().depth > 0)
        ++group().meetings;
    else
        share.end_meeting();
    return status;
}

/// Said before it is made: from then on its processes wait for each other.
template <class Init>
Status make_communicator(Communicator* made, int ranks, const NcclUniqueId& id, Init init)
{
    Share& share = Share::instance();
    share.join_communicator(made, ranks, name_of(id));
    const Status status = meet(init);
    if ((status == kSuccess || status == kInProgress) && *made != nullptr)
        share.rename_communicator(made, *made);
    else
        share.leave_communicator(made);
    return status;
}

} // namespace
} // namespace fathom::gpu

using namespace fathom::gpu;

#pragma GCC visibility push(default)
extern "C" {

#define FATHOM_COLLECTIVE(name, words)                                                                                 \
    int name(BOOST_PP_ENUM_PARAMS(words, std::uintptr_t a));                                                           \
    int name(BOOST_PP_ENUM_PARAMS(words, std::uintptr_t a))                                                            \
    {                                                                                                                  \
        return collective(nccl().name, #name, __builtin_return_address(0), BOOST_PP_ENUM_PARAMS(words, a));            \
    }
#include "agent/gpu/interposer/collective_calls.def"
#undef FATHOM_COLLECTIVE

int ncclGroupStart();
int ncclGroupEnd();
int ncclGroupSimulateEnd(void* told);
int ncclCommInitRank(void** made, int ranks, NcclUniqueId id, int rank);
int ncclCommInitRankConfig(void** made, int ranks, NcclUniqueId id, int rank, void* how);
int ncclCommInitRankScalable(void** made, int ranks, int rank, int count, NcclUniqueId* ids, void* how);
int ncclCommSplit(void* of, int color, int key, void** made, void* how);
int ncclCommDestroy(void* communicator);
int ncclCommAbort(void* communicator);

int ncclGroupStart()
{
    const int status = nccl().group_start("ncclGroupStart", __builtin_return_address(0));
    if (status == kSuccess) ++group().depth;
    return status;
}

int ncclGroupEnd()
{
    const int status = nccl().group_end("ncclGroupEnd", __builtin_return_address(0));
    end_group();
    return status;
}

/// Ends the group, too, and runs nothing of it.
int ncclGroupSimulateEnd(void* told)
{
    const int status = nccl().group_simulate_end("ncclGroupSimulateEnd", __builtin_return_address(0), told);
    end_group();
    return status;
}

int ncclCommInitRank(void** made, int ranks, NcclUniqueId id, int rank)
{
    const void* const caller = __builtin_return_address(0);
    return make_communicator(made, ranks, id,
                             [&] { return nccl().init_rank("ncclCommInitRank", caller, made, ranks, id, rank); });
}

int ncclCommInitRankConfig(void** made, int ranks, NcclUniqueId id, int rank, void* how)
{
    const void* const caller = __builtin_return_address(0);
    return make_communicator(made, ranks, id, [&] {
        return nccl().init_rank_config("ncclCommInitRankConfig", caller, made, ranks, id, rank, how);
    });
}

int ncclCommInitRankScalable(void** made, int ranks, int rank, int count, NcclUniqueId* ids, void* how)
{
    const void* const caller = __builtin_return_address(0);
    return make_communicator(made, ranks, count > 0 && ids != nullptr ? ids[0] : NcclUniqueId{}, [&] {
        return nccl().init_rank_scalable("ncclCommInitRankScalable", caller, made, ranks, rank, count, ids, how);
    });
}

/// Of a communicator that this process is in already; who splits off is in one of as many ranks or fewer. Within a
/// group there is none to be asked yet.
int ncclCommSplit(void* of, int color, int key, void** made, void* how)
{
    const void* const caller = __builtin_return_address(0);
    const int status = meet([&] { return nccl().split("ncclCommSplit", caller, of, color, key, made, how); });
    int ranks = 0;
    if (status == kSuccess && group().depth == 0 && *made != nullptr &&
        nccl().count("ncclCommCount", caller, *made, &ranks) == kSuccess)
        Share::instance().join_communicator(*made, ranks, "");
    return status;
}

int ncclCommDestroy(void* communicator)
{
    const int status = nccl().destroy("ncclCommDestroy", __builtin_return_address(0), communicator);
    Share::instance().leave_communicator(communicator);
    return status;
}

int ncclCommAbort(void* communicator)
{
    const int status = nccl().abort("ncclCommAbort", __builtin_return_address(0), communicator);
    Share::instance().leave_communicator(communicator);
    return status;
}

} // extern "C"
#pragma GCC visibility pop

void* fathom::gpu::own_collective_function(const char* name, void* of_nccl)
{
    const auto own = [&](const char* of, auto& function, auto* here) -> void* {
        if (std::strcmp(name, of) != 0) return nullptr;
        const bool leads_there = of_nccl == nullptr || function.give(name, of_nccl);
        return leads_there ? reinterpret_cast<void*>(here) : nullptr;
    };
#define FATHOM_COLLECTIVE(function, words)                                                                             \
    if (void* const found = own(#function, nccl().function, &::function)) return found;
#include "agent/gpu/interposer/collective_calls.def"
#undef FATHOM_COLLECTIVE
    if (void* const found = own("ncclGroupStart", nccl().group_start, &ncclGroupStart)) return found;
    if (void* const found = own("ncclGroupEnd", nccl().group_end, &ncclGroupEnd)) return found;
    if (void* const found = own("ncclGroupSimulateEnd", nccl().group_simulate_end, &ncclGroupSimulateEnd)) return found;
    if (void* const found = own("ncclCommInitRank", nccl().init_rank, &ncclCommInitRank)) return found;
    if (void* const found = own("ncclCommInitRankConfig", nccl().init_rank_config, &ncclCommInitRankConfig))
        return found;
    if (void* const found = own("ncclCommInitRankScalable", nccl().init_rank_scalable, &ncclCommInitRankScalable))
        return found;
    if (void* const found = own("ncclCommSplit", nccl().split, &ncclCommSplit)) return found;
    if (void* const found = own("ncclCommDestroy", nccl().destroy, &ncclCommDestroy)) return found;
    return own("ncclCommAbort", nccl().abort, &ncclCommAbort);
}
