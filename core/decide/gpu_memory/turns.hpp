#pragma once

#include <cstdint>
#include <map>
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
};

/// How a job takes part.
struct TurnClient {
    std::set<std::string> gpus; ///< it has the turn on all of them, or on none
    double share = 1;           ///< > 0; of two that always want the GPU, who has twice the share has it twice as long
    std::int64_t priority = 0;  ///< higher first
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

    friend bool operator==(const TurnOrder&, const TurnOrder&) = default;
};

/// Pure but for its own state: the moment is an argument, in seconds of a clock that never goes back. Who has had the
/// least time for its share is next among the highest priority that waits (stride scheduling: Waldspurger and Weihl,
/// 1995); who has waited for most_wait_s comes first, longest wait first. Once it is first, nobody else is given a GPU
/// that it needs, so that its wait ends at most two longest slices later for each that is before it.
class Turns {
  public:
    explicit Turns(const TurnSettings& settings) : settings_(settings) {}

    /// Nothing if there is one of that name.
    void add(const std::string& client, const TurnClient& how, double now_s);
    /// It has work on one GPU more. Its turn, if it has one, is not for that.
    void use(const std::string& client, const std::string& gpu);
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

    /// What follows from all that. Each order is given once, until the state of that client changes.
    std::vector<TurnOrder> decide(double now_s);
    /// When decide() may have something to say though nothing was called in between; infinity if never.
    double next_moment_s() const;

    bool has_turn(const std::string& client) const;
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
        double since_s{}; ///< of the state
        double used_s{};  ///< time with the turn
        double pass{};    ///< used_s / share, caught up with the others' when it comes
        double longest_wait_s{};
        Told told = Told::kNothing;
        double told_at_s{};
    };

    std::vector<const std::string*> waiting_in_order(double now_s) const;
    double ends_at_s(const Client& running) const;
    void tell_end(const std::string& name, Client& running, double now_s, std::vector<TurnOrder>& orders) const;
    bool blocks_someone(const std::string& client, const Client& running) const;
    double least_pass() const;
    void set_state(Client& client, State state);

    TurnSettings settings_;
    std::map<std::string, Client> clients_;
    std::size_t waiting_count_{}; ///< where nobody waits there is nothing to decide, however many there are
};

} // namespace fathom::gpu
