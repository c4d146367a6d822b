#include "agent/gpu/interposer/driver.hpp"
#include "agent/gpu/interposer/entry_points.hpp"
#include "agent/gpu/interposer/share.hpp"

#include <boost/preprocessor/repetition/enum_params.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <utility>

/// NVIDIA's library for collective calls (NCCL), where a program is linked to it or finds it by dlsym(): which
/// communicators a process is in, and when it makes a collective call. What it does, the library itself does.
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

/// What the program's own library calls so, found by another of its functions or in the libraries that it has loaded.
void* nccl_function(const char* name)
{
    if (void* const next = real_dlsym(RTLD_NEXT, name)) return next;
    void* const library = ::dlopen("libnccl.so.2", RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
    return library == nullptr ? nullptr : real_dlsym(library, name);
}

/// A function of NCCL, found when it is first called, or as the program found it.
template <class Signature>
class NcclFunction {
  public:
    template <class... Arguments>
    Status operator()(const char* name, Arguments... arguments)
    {
        void* found = function_.load(std::memory_order_relaxed);
        if (found == nullptr) {
            found = nccl_function(name);
            function_.store(found, std::memory_order_relaxed);
        }
        return found == nullptr ? kInternalError : reinterpret_cast<Signature*>(found)(arguments...);
    }
    void set(void* function)
    {
        void* none = nullptr;
        function_.compare_exchange_strong(none, function);
    }

  private:
    std::atomic<void*> function_{nullptr};
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

/// Of each function its own, so that a program's dlsym() can say where the real one is.
struct Nccl {
#define FATHOM_COLLECTIVE(name, words) NcclFunction<Words<words>> name;
#include "agent/gpu/interposer/collective_calls.def"
#undef FATHOM_COLLECTIVE
    NcclFunction<Status()> group_start;
    NcclFunction<Status()> group_end;
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
};
Group& group()
{
    thread_local Group one;
    return one;
}

template <class Function, class... Arguments>
Status collective(Function& function, const char* name, Arguments... arguments)
{
    Share& share = Share::instance();
    const bool is_grouped = group().depth > 0;
    if (!is_grouped || !group().has_collective) share.begin_collective();
    group().has_collective = is_grouped;
    const Status status = function(name, arguments...);
    if (!is_grouped) share.end_collective();
    return status;
}

/// A name that all ranks have, and nobody else: of the number that they all got from one of them (FNV-1a).
std::string name_of(const NcclUniqueId& id)
{
    std::uint64_t number = 0xcbf29ce484222325ULL;
    for (const char byte : id.bytes)
        number = (number ^ static_cast<unsigned char>(byte)) * 0x100000001b3ULL;
    return "communicator " + std::to_string(number);
}

/// Said before it is made: from then on its processes wait for each other.
template <class Init>
Status make_communicator(Communicator* made, int ranks, const NcclUniqueId& id, Init init)
{
    Share& share = Share::instance();
    share.join_communicator(made, ranks, name_of(id));
    const Status status = init();
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
        return collective(nccl().name, #name, BOOST_PP_ENUM_PARAMS(words, a));                                         \
    }
#include "agent/gpu/interposer/collective_calls.def"
#undef FATHOM_COLLECTIVE

int ncclGroupStart();
int ncclGroupEnd();
int ncclCommInitRank(void** made, int ranks, NcclUniqueId id, int rank);
int ncclCommInitRankConfig(void** made, int ranks, NcclUniqueId id, int rank, void* how);
int ncclCommInitRankScalable(void** made, int ranks, int rank, int count, NcclUniqueId* ids, void* how);
int ncclCommSplit(void* of, int color, int key, void** made, void* how);
int ncclCommDestroy(void* communicator);
int ncclCommAbort(void* communicator);

int ncclGroupStart()
{
    const int status = nccl().group_start("ncclGroupStart");
    if (status == kSuccess) ++group().depth;
    return status;
}

int ncclGroupEnd()
{
    const int status = nccl().group_end("ncclGroupEnd");
    if (group().depth == 0 || --group().depth > 0) return status;
    if (std::exchange(group().has_collective, false)) Share::instance().end_collective();
    return status;
}

int ncclCommInitRank(void** made, int ranks, NcclUniqueId id, int rank)
{
    return make_communicator(made, ranks, id,
                             [&] { return nccl().init_rank("ncclCommInitRank", made, ranks, id, rank); });
}

int ncclCommInitRankConfig(void** made, int ranks, NcclUniqueId id, int rank, void* how)
{
    return make_communicator(
        made, ranks, id, [&] { return nccl().init_rank_config("ncclCommInitRankConfig", made, ranks, id, rank, how); });
}

int ncclCommInitRankScalable(void** made, int ranks, int rank, int count, NcclUniqueId* ids, void* how)
{
    return make_communicator(made, ranks, count > 0 ? ids[0] : NcclUniqueId{}, [&] {
        return nccl().init_rank_scalable("ncclCommInitRankScalable", made, ranks, rank, count, ids, how);
    });
}

/// Of a communicator that this process is in already; who splits off is in one of as many ranks or fewer.
int ncclCommSplit(void* of, int color, int key, void** made, void* how)
{
    const int status = nccl().split("ncclCommSplit", of, color, key, made, how);
    int ranks = 0;
    if (status == kSuccess && *made != nullptr && nccl().count("ncclCommCount", *made, &ranks) == kSuccess)
        Share::instance().join_communicator(*made, ranks, "");
    return status;
}

int ncclCommDestroy(void* communicator)
{
    const int status = nccl().destroy("ncclCommDestroy", communicator);
    Share::instance().leave_communicator(communicator);
    return status;
}

int ncclCommAbort(void* communicator)
{
    const int status = nccl().abort("ncclCommAbort", communicator);
    Share::instance().leave_communicator(communicator);
    return status;
}

} // extern "C"
#pragma GCC visibility pop

void* fathom::gpu::own_collective_function(const char* name, void* of_nccl)
{
    const auto own = [&](const char* of, auto& function, auto* here) -> void* {
        if (std::strcmp(name, of) != 0) return nullptr;
        if (of_nccl != nullptr) function.set(of_nccl);
        return reinterpret_cast<void*>(here);
    };
#define FATHOM_COLLECTIVE(function, words)                                                                             \
    if (void* const found = own(#function, nccl().function, &::function)) return found;
#include "agent/gpu/interposer/collective_calls.def"
#undef FATHOM_COLLECTIVE
    if (void* const found = own("ncclGroupStart", nccl().group_start, &ncclGroupStart)) return found;
    if (void* const found = own("ncclGroupEnd", nccl().group_end, &ncclGroupEnd)) return found;
    if (void* const found = own("ncclCommInitRank", nccl().init_rank, &ncclCommInitRank)) return found;
    if (void* const found = own("ncclCommInitRankConfig", nccl().init_rank_config, &ncclCommInitRankConfig))
        return found;
    if (void* const found = own("ncclCommInitRankScalable", nccl().init_rank_scalable, &ncclCommInitRankScalable))
        return found;
    if (void* const found = own("ncclCommSplit", nccl().split, &ncclCommSplit)) return found;
    if (void* const found = own("ncclCommDestroy", nccl().destroy, &ncclCommDestroy)) return found;
    return own("ncclCommAbort", nccl().abort, &ncclCommAbort);
}
