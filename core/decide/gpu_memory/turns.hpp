#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

/// Whose turn it is on GPUs that several jobs share by time.
namespace fathom::gpu {

struct TurnSettings {
    double slice_s = 1;      ///< a turn ends with the first iteration that ends after this time
    double most_slice_s = 5; ///< a turn whose iteration does not end is ended between two kernels after this time
    double most_wait_s = 60; ///< who waits longer comes before higher priorities
    /// Who has not given the turn back so long after it was told to end now hangs, and is ended; 0: never. To copy what
    /// temporary memory holds must take less.
    double most_overrun_s = 120;
    /// So many may have the turn on a GPU at once, where whoever is asked lets them (ChoosePartner).
    std::size_t at_once = 1;
};
inline constexpr std::size_t kMaxAtOnce = 16;
/// Who gave the turn back before it did what others of its group wait for gets it again after this time.
inline constexpr double kGroupGrace_s = 0.1;
/// The same where nothing is known that they could wait for.
inline constexpr double kGroupTimeout_s = 10;
/// For so long at least it has the turn then, whoever waits.
inline constexpr double kGroupMin_s = 1;

/// Whom to let go beside `holders`, who have the turn: one of `waiting`, who are in their order and no more than
/// kMaxAtOnce; empty: nobody.
using ChoosePartner =
    std::function<std::string(const std::vector<std::string>& holders, const std::vector<std::string>& waiting)>;

/// How a job takes part.
struct TurnClient {
    std::set<std::string> gpus; ///< it has the turn on all of them, or on none
    double share = 1;           ///< > 0; of two that always want the GPU, who has twice the share has it twice as long
    std::int64_t priority = 0;  ///< higher first
    /// Of those that wait for each other in their kernels, as in collective calls; empty: none. Where each has GPUs of
    /// its own, they have the turn on the GPUs of all of them together.
    std::string group{};
};

/// What is to be said to a client now.
enum class TurnAction {
    kStart,             ///< it has the turn
    kEndAfterIteration, ///< others wait and its slice is over: to give the turn back when its iteration ends
    kEndNow,            ///< to give it back between two kernels
    kEndByForce,        ///< it hangs: its process is to be ended
};

struct TurnOrder {
    std::string client;
    TurnAction action{};
    /// Of a start: to give the turn back before it waits for its group more often than this; 0: as often as it likes.
    std::int64_t until_progress = 0;

    friend bool operator==(const TurnOrder&, const TurnOrder&) = default;
};

/// Pure but for its own state: the moment is an argument, in seconds of a clock that never goes back. Who has had the
/// least time for its share is next among the highest priority that waits (stride scheduling: Waldspurger and Weihl,
/// 1995); who has waited for most_wait_s comes first, longest wait first. Once it is first, nobody else is given a GPU
/// that it needs, so that its wait ends at most two longest slices later for each that is before it. Who is let go
/// beside others before it is first ends when they do, so that nobody waits longer for that.
///
/// One of a group may wait in a kernel for what another would launch next, and cannot give its turn back before. So
/// their GPUs are given together, to all of them that want, and to the others as soon as they want; they end with their
/// iterations, between kernels only most_wait_s after they were told; and who gave the turn back before it waited as
/// often for the others as one of them that still has the turn gets it again, until it has. Who holds others up longer
/// is ended by force, as anybody is.
class Turns {
  public:
    explicit Turns(const TurnSettings& settings) : settings_(settings) {}

    /// Nothing if there is one of that name.
    void add(const std::string& client, const TurnClient& how, double now_s);
    /// It has work on one GPU more. Its turn, if it has one, is not for that.
    void use(const std::string& client, const std::string& gpu, double now_s);
    /// From now on it is of that group; empty: of none. Those of the group that have the turn give it back between two
    /// kernels where somebody else has a GPU of the group's: they have not waited for each other yet.
    void set_group(const std::string& client, const std::string& group, double now_s);
    /// Its turn is to end, or it has ended it, and it has waited so often for others of its group since it began: each
    /// of them has to, or had to, as often.
    void note_progress(const std::string& client, std::int64_t progress);
    /// It is gone, and its turn with it.
    void remove(const std::string& client, double now_s);
    /// It has work for the GPU. Nothing if it has the turn or waits already.
    void want(const std::string& client, double now_s);
    /// It has the turn: as before a manager that began anew. Nothing if somebody else has a turn on one of its GPUs.
    void keep(const std::string& client, double now_s);
    /// It gives the turn back. Nothing if it has none.
    void give_back(const std::string& client, double now_s);

    /// It takes no part until it wants again: nobody else is there.
    void stop(const std::string& client, double now_s);

    /// Beside others it does harm, or lacks memory: it gives its turn back at its iteration's end, also where nobody
    /// waits. Nothing if it has no turn.
    void part(const std::string& client, double now_s);
    /// The same between two kernels: somebody waits for it.
    void part_now(const std::string& client, double now_s);

    /// What follows from all that. Each order is given once, until the state of that client changes.
    /// @param choose  who is let go beside others; empty: nobody.
    std::vector<TurnOrder> decide(double now_s, const ChoosePartner& choose = {});
    /// When decide() may have something to say though nothing was called in between; infinity if never.
    double next_moment_s() const;

    bool has_turn(const std::string& client) const;
    /// Whether it was told to give its turn back, or will be now.
    bool is_ending(const std::string& client) const;
    /// Who has a turn on one of its GPUs, without itself.
    std::vector<std::string> holders_beside(const std::string& client) const;
    /// Of a client, since it was added, the current turn not counted.
    double used_s(const std::string& client) const;
    /// The longest that a client waited for a turn.
    double longest_wait_s(const std::string& client) const;

  private:
    enum class State { kIdle, kWaiting, kRunning };
    enum class Told { kNothing, kToEndAfterIteration, kToEndNow, kThatItHangs };
    struct Client {
        TurnClient how;
        State state = State::kIdle;
        double since_s{};       ///< of the state
        double slice_since_s{}; ///< of the turn, or of the turn that it was let go beside
        double used_s{};        ///< time with the turn
        double pass{};          ///< used_s / share, caught up with the others' when it comes
        double longest_wait_s{};
        Told told = Told::kNothing;
        double told_at_s{};
        std::optional<TurnAction> parts{}; ///< how, where it is to give its turn back whoever waits
        double parts_at_s{};
        std::set<std::string> claimed; ///< its GPUs, or those of all of its group where they take turns together
        bool is_together{};            ///< with its group
        std::int64_t progress{};       ///< as it said last
        double ending_since_s{}; ///< it, or one of its group, was told to end this turn; where told is not kNothing
    };

    // Groups (turns_groups.cpp)
    static bool have_common(const std::set<std::string>& one, const std::set<std::string>& other);
    static bool are_in_conflict(const Client& one, const Client& other);
    static bool are_mates(const Client& one, const Client& other);
    void note_group(const std::string& group, double now_s);
    struct Rejoin {
        double at_s{};
        double slice_since_s{};
        std::int64_t until_progress{};
    };
    std::optional<Rejoin> rejoin_of(const std::string& name, const Client& waiting) const;
    void let_mates_rejoin(double now_s, std::vector<TurnOrder>& orders);
    void inherit_end(const std::string& name, Client& running, double now_s) const;
    double group_ends_at_s(const Client& running) const;

    std::vector<const std::string*> waiting_in_order(double now_s) const;
    double ends_at_s(const Client& running) const;
    void tell_end(const std::string& name, Client& running, double now_s, std::vector<TurnOrder>& orders) const;
    void tell_parting(const std::string& name, Client& running, double now_s, std::vector<TurnOrder>& orders);
    void part(const std::string& client, TurnAction how, double now_s);
    void start(const std::string& name, double now_s, double slice_since_s, std::vector<TurnOrder>& orders);
    std::vector<std::string> who_may_join(const std::vector<std::string>& holders, double now_s) const;
    bool let_one_go_beside(const std::string& holder, double now_s, const ChoosePartner& choose,
                           std::vector<TurnOrder>& orders);
    bool blocks_someone(const std::string& client, const Client& running) const;
    double least_pass() const;
    void set_state(Client& client, State state);

    TurnSettings settings_;
    std::map<std::string, Client> clients_;
    // Where both are 0 there is nothing to decide, however many there are.
    std::size_t waiting_count_{};
    std::size_t parting_count_{}; ///< that were not told yet
};

} // namespace fathom::gpu
