#pragma once

#include "agent/gpu/kernel_message.hpp"
#include "agent/gpu/protocol.hpp"
#include "core/decide/corun/kernel_times.hpp"
#include "core/decide/corun/turn_pairs.hpp"
#include "core/decide/gpu_memory/memory_books.hpp"
#include "core/decide/gpu_memory/turns.hpp"
#include "core/model/gpu_memory.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <sys/types.h>
#include <vector>

namespace fathom::gpu {

/// A connection of a program; never 0.
using ClientId = std::uint64_t;

struct Outgoing {
    ClientId to{};
    Message message;
};

/// By what a program takes turns.
struct TurnRight {
    double share = 1;          ///< as TurnClient's
    std::int64_t priority = 0; ///< likewise
};

struct CoordinatorSettings {
    std::map<std::string, std::int64_t> gpus; ///< of this node: id and bytes
    std::int64_t gap_bytes = kDefaultGapBytes;
    std::int64_t reserved_bytes{}; ///< of each GPU, for what the driver and its contexts take
    TurnSettings turns;
    std::optional<TurnRight> right; ///< of all programs, whatever they say; empty: each says its own
    /// Whether a program that said that number is of that job; empty: all are believed.
    std::function<bool(const std::string& job, std::int64_t proof)> is_of_job;
    /// After a start nobody is admitted or given a turn for so long: programs that had memory or a turn before come
    /// back and say so.
    double settle_s = 2;
};

/// What the memory manager of a node decides on each message, without sockets and clock: the books of each GPU (G2 to
/// G8) and the turns. Programs are not believed: what does not fit their rooms or makes no sense changes nothing.
class Coordinator {
  public:
    /// @error kInvalid  settings that leave no memory on some GPU; each GPU is named.
    static Result<Coordinator> make(const CoordinatorSettings& settings, double now_s);

    /// @param user  whose the process is, by the kernel's word. As long as a program of a user has a job's name, no
    ///              other user's program gets it.
    void connect(ClientId client, std::int64_t process, uid_t user = 0);
    void disconnect(ClientId client, double now_s);
    void receive(ClientId client, const Message& message, double now_s);
    /// Gives and ends turns, as each message does, too. To be called at next_moment_s() at the latest.
    void tick(double now_s);
    double next_moment_s() const;

    /// What is to be sent since the last call, in order.
    std::vector<Outgoing> take_outgoing();
    /// Whose processes are to be ended, since the last call: they hang with the turn while others wait.
    std::vector<ClientId> take_hung();

    /// Of each GPU and job: regions, use by kind, peaks, turns, what moved and what stayed, refusals. Of each GPU
    /// kMaxSharedGpuJobs jobs at most.
    GpuMemoryReport report() const;
    /// What jobs kept of their pace beside others where they had the turn at once at other centers, or before.
    void know_pairs(std::span<const GpuPair> pairs) { pairs_.know(pairs); }
    bool is_changed() const { return is_changed_; }
    void clear_changed() { is_changed_ = false; }

  private:
    struct Client {
        std::string job;
        std::int64_t process{};
        uid_t user{};
        bool has_said_hello{};
        double share{1};
        std::int64_t priority{};
        std::string kind;             ///< of its user's jobs; empty: it said nothing
        std::string known_as;         ///< the same as it said it, by which pairs of other centers are known
        std::int64_t communicators{}; ///< of several ranks, that it is in
        std::string communicator;     ///< its user's name of the first; empty: it has none
        KernelClass kernel_class{KernelClass::kUnknown};
        std::optional<double> input_size;   ///< as it tells; empty: it does not
        std::vector<KernelFigures> kernels; ///< that have taken longest; kMaxKernelsOfProgram at most
        std::set<std::string> gpus;
        std::set<std::string> awaited_gpus;         ///< that it asked for before the end of the start
        bool is_shared{};                           ///< as it was told
        bool lacks_turn{};                          ///< it has waited for it since before this manager began
        std::optional<double> iteration_confidence; ///< as SharedGpuJob's
        std::int64_t switches{};
        std::int64_t switches_after_iteration{};
        std::int64_t moved_bytes{};
        std::int64_t kept_bytes{}; ///< that swapping everything would have moved
        std::int64_t switch_us{};  ///< all together
        std::int64_t wrong_messages{};
    };

    explicit Coordinator(const CoordinatorSettings& settings, double now_s)
        : settings_(settings), settled_at_s_(now_s + settings.settle_s), turns_(settings.turns),
          pairs_(settings.turns.at_once)
    {
    }

    static std::string key(ClientId client);
    void say(ClientId to, const Message& message) { outgoing_.push_back({to, message}); }
    /// What is done on a message of one type.
    using Handler = void (*)(Coordinator& self, ClientId id, Client& client, const Message& message, double now_s);
    /// nullptr: no message of a program.
    static Handler handler_of(MessageType type);
    void hello(Client& client, const Message& message);
    bool take_name(Client& client, const std::string& job, std::int64_t proof);
    void give_name_back(const Client& client);
    void use_gpu(ClientId id, Client& client, const Message& message, double now_s);
    void take_place(ClientId id, Client& client, const Message& message, const MemoryPlace& place, double now_s);
    bool is_beside_own(ClientId id, const Client& client, const std::string& gpu) const;
    void grow(ClientId id, Client& client, const Message& message, double now_s);
    void shrink(ClientId id, Client& client, const Message& message);
    void use(ClientId id, Client& client, const Message& message);
    void tell_left(ClientId id, const Message& message);
    static void note_kernel(Client& client, const Message& message);
    void note_input_size(ClientId id, Client& client, const Message& message);
    void learn_kernels(const Client& client);
    std::vector<KernelUse> kernels_of(const Client& client) const;
    void want(ClientId id, const Client& client, double now_s);
    void give_back(ClientId id, Client& client, const Message& message, double now_s);

    // Who is alone (coordinator_sharing.cpp)
    Message end_now() const;
    bool note_shared_gpus();
    /// What who is placed on a GPU has there, or on its others.
    enum class Newcomer {
        kWaits,
        kRuns,     ///< memory that goes when a turn ends: it was alone
        kRanBefore ///< the same, by its turn under the manager before: it is told to end it once it has its place
    };
    void tell_sharing(ClientId newcomer_id, double now_s, Newcomer newcomer);
    void tell_who_is_left_alone();

    // Processes that wait for each other (coordinator_sharing.cpp)
    void note_communicator(ClientId id, Client& client, const Message& message, double now_s);
    void note_collectives(ClientId id, Client& client, const Message& message, double now_s);
    static std::string group_of(ClientId id, const Client& client);

    // Several that have the turn at once (coordinator_at_once.cpp)
    void set_kind(Client& client, const Message& message);
    void note_turns();
    std::string choose_partner(const std::vector<std::string>& holders, const std::vector<std::string>& waiting) const;
    bool fits_beside_holders(ClientId id, const Client& client) const;
    void keep_turn(ClientId id, const Client& client, double now_s);
    bool may_go_beside(const std::string& program, const std::vector<std::string>& holders) const;
    void end_iteration(ClientId id, Client& client, const Message& message, double now_s);
    double switch_s(const std::string& program) const;
    void note_measured();
    bool would_admit_in_turns(ClientId id, const Client& client, const std::string& gpu, const MemoryNeed& need) const;
    void answer_later(ClientId id, const Message& question, double now_s);
    void answer_deferred(double now_s);

    SharedGpu report_of(const std::string& gpu, const MemoryBooks& books) const;
    SharedGpuJob report_of(ClientId id, const Client& client, const ClientMemory& memory) const;

    CoordinatorSettings settings_;
    double settled_at_s_;
    bool is_settled_{};
    std::map<std::string, MemoryBooks> books_;           ///< by GPU
    std::map<std::string, std::int64_t> refused_counts_; ///< by GPU: who was not admitted
    std::set<std::string> shared_gpus_;                  ///< as their clients were told
    Turns turns_;
    TurnPairs pairs_;                        ///< of programs, where several may have the turn at once
    KernelTimes kernel_times_;               ///< by the kinds of programs that have ended
    std::vector<MeasuredJobPair> job_pairs_; ///< as in the report, the newest last
    std::map<ClientId, Client> clients_;
    struct JobName {
        uid_t user{};
        std::size_t clients{}; ///< that have it
    };
    std::map<std::string, JobName> names_; ///< by job
    std::vector<Outgoing> outgoing_;
    std::vector<ClientId> hung_;
    std::vector<std::pair<ClientId, Message>> waiting_;  ///< for the end of the start
    std::vector<std::pair<ClientId, Message>> deferred_; ///< until those that have the turn at once take turns again
    bool is_answering_deferred_{};
    std::map<uid_t, double> forced_at_s_; ///< when a user's program last ended others' turns between kernels
    bool is_changed_{true};
};

} // namespace fathom::gpu
