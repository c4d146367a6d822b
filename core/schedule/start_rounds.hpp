#pragma once

/// How waiting jobs get started, round after round: the server's scheduler and simulated ones do it by one function.
namespace fathom {

/// What start_in_rounds() asks of who decides.
class StartRounds {
  public:
    StartRounds() = default;
    StartRounds(const StartRounds&) = delete;
    StartRounds& operator=(const StartRounds&) = delete;
    virtual ~StartRounds() = default;

    enum class Round {
        kNothing, ///< the order of the jobs names none
        kStarted, ///< all that it names have started
        kRefused, ///< some could not: units may be left for other jobs
    };
    /// Starts the jobs that their order names now (core/decide/queue/order_jobs).
    virtual Round start_next() = 0;
    /// Looks again at the jobs whose places depend on what is free, of which starts have left less. @return false when
    /// there are none, or it would take too long.
    virtual bool look_again() = 0;
    /// Drops places for which jobs wait in vain. @return false when there are none.
    virtual bool drop_places() = 0;
};

/// Starts jobs until nothing more starts, with kMaxLooksAgain looks at what starts have changed.
void start_in_rounds(StartRounds& rounds);

} // namespace fathom
