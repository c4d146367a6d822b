#pragma once

#include "agent/gpu/interposer/captures.hpp"
#include "agent/gpu/interposer/kernel_launches.hpp"
#include "agent/gpu/interposer/manager_socket.hpp"
#include "agent/gpu/interposer/region.hpp"
#include "agent/gpu/protocol.hpp"
#include "core/decide/gpu_memory/iteration_finder.hpp"
#include "core/decide/gpu_memory/memory_books.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace fathom::gpu {

/// One GPU that this process uses.
struct OwnGpu {
    explicit OwnGpu(cuda::Device number) : device(number), persistent(number), temporary(number) {}

    /// Whether a memory manager need not be asked for it.
    bool is_known() const { return is_placed || is_refused || is_private || is_said; }
    /// With what was believed to be temporary, and stays.
    std::size_t persistent_bytes() const { return persistent.extent_bytes() + temporary.pinned_bytes() + native_bytes; }

    cuda::Device device;
    cuda::Context context{};          ///< in which memory is mapped: one of the next
    std::set<cuda::Context> contexts; ///< of this GPU, as far as they are known
    std::string id;                   ///< as NVIDIA's tools write it
    std::size_t capacity_bytes{};
    bool is_placed{};  ///< a memory manager has admitted it
    bool is_refused{}; ///< or has not
    bool is_private{}; ///< or does not know it, as a part that was cut after its start: the driver alone rules there
    bool is_said{};    ///< to a manager that began anew, what is there already; the answer says where it is placed
    MemoryPlace place{};
    std::int64_t admitted_room_bytes{}; ///< persistent
    Region persistent;
    Region temporary;
    /// What the driver allocated itself, by address or handle: what came before the manager answered, and what cannot
    /// be mapped in pieces. It stays where it is.
    std::unordered_map<std::uint64_t, std::size_t> native;
    std::size_t native_bytes{};
    // Of this iteration
    std::size_t most_persistent_bytes{};
    std::size_t most_temporary_bytes{};
    // As the manager was told
    std::size_t reported_persistent_bytes{};
    std::size_t reported_temporary_bytes{};
};

/// A pool of memory that the program knows.
struct OwnPool {
    cuda::Location location{};
    bool is_drivers{}; ///< only the driver gives its memory: other processes may get it, or it moves by itself
};

/// What a program is told of a GPU's memory, in whatever way it asks.
struct MemoryView {
    std::size_t free_bytes{};  ///< what this process can still allocate
    std::size_t total_bytes{}; ///< that, and what it has
};

/// What this process knows of its share of the node's GPUs, and its connection to the memory manager. Without
/// FATHOM_GPU_SOCKET, or as long as the manager was never reached, everything goes to the driver as it is.
class Share {
  public:
    /// Lives as long as the process. A forked child has its own from when it first calls the driver: most never do, and
    /// need neither a thread nor a connection.
    static Share& instance();

    /// Whether there is a memory manager to ask.
    bool is_used() const { return !socket_path_.empty(); }
    /// Whether work must be counted: there is memory that may be taken away.
    bool is_counting() const { return is_counting_.load(std::memory_order_relaxed); }
    /// Counts work that begins, once the turn is this process's.
    void begin_work();
    void end_work() { running_.fetch_sub(1); }
    /// Whether a stream is being captured. The end of a turn, and what frees memory, wait for the capture's end.
    bool is_capturing() const { return captures_.is_any(); }
    /// Before a capture begins, within work. @return  false where the stream is captured already.
    bool add_capture(cuda::Stream stream);
    void end_capture(cuda::Stream stream);
    /// No capture begins as long as the lock lives; it owns nothing where there is one.
    std::unique_lock<std::mutex> hold_off_captures() { return captures_.hold_off(); }
    /// Around what makes collective calls: it begins with the turn, and the turn stays until it has ended, so that no
    /// call is begun on some GPUs and not on others.
    /// @param is_counted  all ranks make as many of these
    void begin_collective(bool is_counted);
    void end_collective();
    /// Around what waits on the host for other processes, as for all ranks of a communicator that is made: a turn that
    /// is to end with the iteration ends then, since no iteration ends meanwhile and those others may need the GPUs.
    void begin_meeting();
    void end_meeting();
    /// Before the process makes or joins a communicator of several ranks, whose processes then take turns together.
    /// @param key  of the communicator in this process
    void join_communicator(const void* key, std::int64_t ranks, const std::string& name);
    /// The same communicator by another key, as soon as it has one.
    void rename_communicator(const void* key, const void* new_key);
    void leave_communicator(const void* key);
    /// Of a kernel, around the driver's own function, with the turn. Nothing while a stream is captured: it does not
    /// run.
    KernelLaunches::Ticket begin_launch(const KernelLaunch& launch)
    {
        return is_capturing() ? KernelLaunches::Ticket{} : kernels_.begin(launch, captures_);
    }
    void end_launch(const KernelLaunches::Ticket& ticket, const KernelLaunch& launch, bool is_launched)
    {
        kernels_.end(ticket, launch, is_launched, captures_);
    }
    /// Tells the manager of the kernels, now and then. Not within work, which a turn's end waits for.
    void tell_kernels();
    /// The names of kernels, as the program gets them.
    KernelLaunches& kernels() { return kernels_; }
    /// Before a context may end; null does nothing.
    void drop_events(cuda::Context context) { kernels_.drop_events(context); }
    /// An event of the program, by which its iterations are found where nothing tells of them.
    void note(std::uint64_t event);

    /// @param of_driver  allocates as the program asked, where this library does not.
    template <class OfDriver>
    cuda::Status allocate(cuda::Address* address, std::size_t bytes, OfDriver of_driver)
    {
        bool is_native = false;
        const cuda::Status status = allocate_block(address, bytes, is_native);
        if (!is_native) return status;
        const cuda::Status of_driver_status = of_driver();
        end_native(of_driver_status == cuda::kSuccess ? *address : 0, bytes);
        return of_driver_status;
    }
    /// Memory that only the driver can allocate, on the current GPU. @param key  what the driver made, after it did.
    template <class OfDriver, class Key>
    cuda::Status allocate_native(std::size_t bytes, OfDriver of_driver, Key key)
    {
        return allocate_native_on(std::nullopt, bytes, of_driver, key);
    }
    /// The same on a GPU of that number, whatever the current one is.
    template <class OfDriver, class Key>
    cuda::Status allocate_native_on(std::optional<cuda::Device> device, std::size_t bytes, OfDriver of_driver, Key key)
    {
        if (const cuda::Status status = begin_native(bytes, device); status != cuda::kSuccess) return status;
        const cuda::Status status = of_driver();
        end_native(status == cuda::kSuccess ? static_cast<std::uint64_t>(key()) : 0, bytes, device);
        return status;
    }
    /// Of an allocation node of a graph, on the current GPU: counts from then on until the graph and all that was
    /// instantiated of it are gone, since the graph may be launched at any time.
    template <class OfDriver>
    cuda::Status allocate_in_graph(cuda::Graph graph, std::size_t bytes, OfDriver of_driver)
    {
        if (bytes < kMaxBytes) bytes = static_cast<std::size_t>(whole_pieces(static_cast<std::int64_t>(bytes)));
        if (const cuda::Status status = begin_native(bytes); status != cuda::kSuccess) return status;
        const cuda::Status status = of_driver();
        if (status == cuda::kSuccess) note_graph_memory(graph, bytes);
        return status;
    }
    void note_exec(cuda::GraphExec exec, cuda::Graph graph);
    void end_graph(cuda::Graph graph) { end_user_of(graphs_, graph); }
    void end_exec(cuda::GraphExec exec) { end_user_of(execs_, exec); }
    /// A variable of a module, or of a library, that the program has asked for.
    void note_variable(void* module, cuda::Address address, std::size_t bytes);
    void note_unloaded(void* module);
    /// What the program made by cuMemCreate is there until it is let go of as often as it was asked for, and mapped
    /// nowhere.
    void note_handle(cuda::MemoryHandle handle);
    void note_handle_retained(cuda::MemoryHandle handle);
    void note_handle_released(cuda::MemoryHandle handle);
    void note_mapped(cuda::Address address, std::size_t bytes, cuda::MemoryHandle handle);
    void note_unmapped(cuda::Address address, std::size_t bytes);
    /// @param is_idle  the work that uses it has been waited for.
    /// @return         false for what the driver allocated, which is noted as gone.
    bool release(std::uint64_t address, bool is_idle = false);
    /// Of blocks of this library.
    std::optional<std::pair<cuda::Address, std::size_t>> block_at(cuda::Address address);
    /// Of the current context's GPU. Nothing where others have no memory: then the driver's own figures hold.
    std::optional<MemoryView> view_of_current();
    std::optional<MemoryView> view_of(cuda::Device device);
    /// @param gpu  as NVIDIA's tools write it; this process need not use it.
    std::optional<MemoryView> view_of(const std::string& gpu);
    void note_pool(void* pool, const OwnPool& place);
    void note_pool_gone(void* pool);
    /// Nothing where the program got the pool in a way that this library does not know.
    std::optional<OwnPool> find_pool(void* pool);
    /// A context that the program has; null does nothing.
    void note_context(cuda::Context context, cuda::Device device);
    /// What runs in the current context may use what is allocated in another GPU's.
    void note_peer(cuda::Context peer);
    /// What runs on a GPU may use what pools of others have; of which, the driver knows.
    void note_pool_peer(cuda::Device peer);
    /// A context has ended, and with it the memory that was allocated in it; null does nothing.
    void drop_context(cuda::Context context);

    bool is_shared();
    /// Whether the turn is given back with the next iteration's end.
    bool is_turn_over();
    int set_kind(int kind)
    {
        is_told_iterations_.store(true);
        return kind_.exchange(kind);
    }
    /// Of this process's input, in the program's own unit.
    void set_input_size(double size);
    /// @param source  kIterationBy*
    /// @return        whether the turn was given back.
    /// @param confidence  in [0, 1]
    bool end_iteration(std::int64_t source, double confidence = 1);

  private:
    using Lock = std::unique_lock<std::mutex>;
    using Contents = Region::Contents;

    Share();
    static std::atomic<Share*>& the_one();
    static Share& begin();
    /// Held where the connection is made or closed, so that a child that is forked meanwhile can close its copy.
    /// Nothing waits with it.
    static std::mutex& socket_changes();

    cuda::Status allocate_block(cuda::Address* address, std::size_t bytes, bool& is_native);
    cuda::Status begin_native(std::size_t bytes, std::optional<cuda::Device> device = std::nullopt);
    void end_native(std::uint64_t key, std::size_t bytes, std::optional<cuda::Device> device = std::nullopt);
    OwnGpu* current_gpu(Lock& lock);
    OwnGpu* gpu_of(cuda::Device device, Lock& lock);
    OwnGpu* known_gpu(cuda::Device device);
    std::optional<MemoryView> view(const std::string& id, const OwnGpu* gpu, Lock& lock);
    void let_go(cuda::MemoryHandle handle);
    void place(OwnGpu& gpu, Lock& lock);
    void take_place(OwnGpu& gpu, const Message& answer);
    /// Asks for more memory; where the manager is away, waits for the next one. Nothing where none comes.
    std::optional<Message> ask_to_grow(const OwnGpu& gpu, MemoryKind kind, std::int64_t bytes, Lock& lock);
    bool has_room(OwnGpu& gpu, MemoryKind kind, std::size_t more_bytes, Lock& lock);
    bool is_reserved(OwnGpu& gpu);
    std::pair<MemoryKind, Contents> kind_of(std::uint64_t event) const;
    void drop(OwnGpu& gpu);
    void drop_owned(cuda::Context context);
    static void synchronize(const OwnGpu& gpu);
    void own_by_current(std::uint64_t key);
    void remember(std::uint64_t event, bool dies);
    void note_survivors(Lock& lock);
    void keep_in_place(cuda::Address block, Lock& lock);
    static void give_access(OwnGpu& gpu, cuda::Device peer);
    void add_native(OwnGpu& gpu, std::uint64_t key, std::size_t bytes);
    void note_graph_memory(cuda::Graph graph, std::size_t bytes);
    struct GraphMemory {
        std::uint64_t key{}; ///< of OwnGpu::native
    };
    using GraphUsers = std::unordered_map<void*, std::shared_ptr<GraphMemory>>;
    void end_user_of(GraphUsers& users, void* user);
    bool drop_native(std::uint64_t key);
    std::optional<std::pair<cuda::Address, std::size_t>> find_block(cuda::Address address) const;
    bool release_block(cuda::Address address, bool is_idle);
    void finish_captures(Lock& lock);
    void tell_kernels(Lock& lock);

    bool tell_communicator(bool joins);
    void tell_collectives();
    bool ends_before_collective(Lock& lock);
    void wait_for_turn(Lock& lock);
    /// Whether such memory is there only during the program's own turns.
    bool needs_turn(MemoryKind kind) const { return kind == MemoryKind::kTemporary || swaps_all_; }
    enum class TurnEnd {
        kWithinIteration,
        kIterationFound, ///< by its pattern, which may be wrong: contents are kept
        kIterationTold,
    };
    bool give_back(TurnEnd end, Lock& lock);
    void watch_turn(std::int64_t limit_ms);
    bool does_somebody_wait(const ManagerSocket& asked_by);
    std::optional<std::size_t> take_away(OwnGpu& gpu, TurnEnd end) const;
    void take_turn(Lock& lock);
    bool bring_back_all(std::size_t& copied);
    void set_shared(bool is_shared, bool has_turn, Lock& lock);
    void report_use(OwnGpu& gpu);
    void give_room_back(OwnGpu& gpu);

    bool connect();
    bool tell_kind();
    bool tell_input_size();
    bool has_manager(Lock& lock);
    void tell_of_absence() const;
    void run();
    void receive(const Message& message);
    /// An answer of the manager's. With mutex_ held.
    void take_answer(const Message& message);
    void say_all();
    /// In order, without waiting.
    /// @return  false where there is no connection, or where it is given up: the next manager hears all.
    bool send(const Message& message);
    void send_rest(std::uint64_t connection);
    std::optional<Message> ask(const Message& message, Lock& lock);
    std::optional<Message> ask_left(const std::string& id, Lock& lock);

    std::string socket_path_;
    std::mutex mutex_;
    std::condition_variable changed_;
    ManagerSocket socket_;
    std::uint64_t connections_{}; ///< there were so many
    std::deque<Message> unsent_;  ///< that the manager had no room for yet
    std::chrono::steady_clock::time_point wait_until_ =
        std::chrono::steady_clock::now(); ///< for a manager that is away
    std::chrono::seconds absence_{};      ///< of a manager, that memory is waited for
    std::optional<Message> answer_;
    std::optional<Message> question_; ///< that is being asked
    bool is_left_unanswered_{};
    int unanswered_{}; ///< of what say_all() said: these answers come first

    std::map<cuda::Device, OwnGpu> gpus_;
    std::unordered_map<void*, OwnPool> pools_;
    std::set<cuda::Device> pool_peers_; ///< that may use what pools of other GPUs have
    /// In which context what the program has was allocated: by address, or other key of what the driver made.
    std::unordered_map<std::uint64_t, cuda::Context> owners_;
    struct OwnHandle {
        std::size_t references{};
        std::size_t mappings{};
    };
    std::unordered_map<cuda::MemoryHandle, OwnHandle> handles_;                          ///< of the program's
    std::map<cuda::Address, std::pair<std::size_t, cuda::MemoryHandle>> mapped_handles_; ///< bytes of each

    GraphUsers graphs_; ///< that have memory of their own
    GraphUsers execs_;  ///< and what was instantiated of them
    std::uint64_t graph_count_{};
    std::unordered_map<void*, std::set<cuda::Address>> variables_; ///< by module: those that were asked for

    std::atomic<bool> is_counting_{false};
    std::atomic<bool> may_run_{true};
    std::atomic<std::int64_t> running_{0}; ///< functions that run work, now
    bool is_shared_{};
    bool has_turn_{true};
    bool wants_{};
    std::atomic<bool> is_to_end_after_iteration_{false}; ///< set with mutex_
    std::atomic<bool> is_to_end_after_capture_{false};   ///< or after the collective calls that run; set with mutex_
    int meetings_{};                                     ///< that are waited for, now
    Captures captures_;
    std::set<const void*> communicators_; ///< of several ranks
    std::string first_communicator_;      ///< the first of these
    std::int64_t first_ranks_{};
    std::atomic<std::int64_t> collectives_{0};         ///< that began, and are counted
    std::atomic<std::int64_t> collectives_until_{0};   ///< in this turn; 0: no limit
    std::atomic<std::int64_t> collectives_running_{0}; ///< calls, now
    std::vector<cuda::Address> released_in_capture_;
    double input_size_{}; ///< of the program's input; 0: it does not tell
    KernelLaunches kernels_;
    std::chrono::steady_clock::time_point tell_kernels_at_ = std::chrono::steady_clock::now();
    std::atomic<std::uint64_t> turns_ended_{0};
    std::atomic<bool> others_wait_{true}; ///< as the manager said last; known before the mutex is had
    bool swaps_all_{};                    ///< for comparison: what lives across iterations goes and comes, too
    std::size_t moved_back_bytes_{};      ///< when the turn began
    std::chrono::steady_clock::duration took_back_{};

    std::atomic<int> kind_{0};
    std::atomic<std::int64_t> live_bytes_{0};
    std::atomic<bool> is_told_iterations_{false}; ///< the program takes part: nothing is to be found then
    std::mutex finder_mutex_;
    IterationFinder finder_;
    std::uint64_t ordinal_{};                      ///< of the next allocation in this iteration
    std::unordered_map<std::uint64_t, bool> dies_; ///< by allocation: whether it is gone before its iteration ends
    std::unordered_map<cuda::Address, std::uint64_t> alive_; ///< blocks of this iteration
    std::vector<cuda::Address> survivors_; ///< believed to be temporary, and there at the end of the last iteration
};

/// Around a function of the driver that runs work.
class Work {
  public:
    explicit Work(Share& share) : share_(share), is_counted_(share.is_counting())
    {
        if (is_counted_) share_.begin_work();
    }
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;
    ~Work()
    {
        if (is_counted_) share_.end_work();
    }

  private:
    Share& share_;
    bool is_counted_;
};

} // namespace fathom::gpu
