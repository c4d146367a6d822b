#pragma once

#include "core/decide/corun/instruction_model.hpp"
#include "core/decide/corun/pair_model.hpp"
#include "core/model/gpu_memory.hpp"
#include "core/model/gpu_pair.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// Which programs have the turn on a GPU at the same time, by how fast their iterations come (C2 to C6, C8).
namespace fathom {

/// A program as whoever started it told of it.
struct PacedProgram {
    std::string kind; ///< what pairs are known by; not empty
    KernelClass kernel_class{KernelClass::kUnknown};
    /// What pairs that were measured elsewhere know it by (GpuPair); empty: they do not.
    std::string known_as{};
    /// Others of its kind may come, and it has just begun: for them it is learned how many iterations it had.
    bool has_kind{true};
    std::optional<double> input_size{}; ///< in its own unit; empty: it does not tell
};

/// Two programs were measured beside each other.
struct MeasuredTurns {
    std::string a;
    std::string b;
    double a_share{}; ///< of its pace alone
    double b_share{};
};

/// A program that has the turn, when it is weighed whether it should go on beside the others.
struct TurnHolder {
    std::string program;
    double switch_s{}; ///< what taking its turn away and giving it back takes
};

/// Measures what programs keep of their pace beside each other, and decides by it. The pace of a program is iterations
/// by time, from one end of an iteration to a later one with the same programs beside it; its normalized IPC is that
/// beside others over that alone. Not thread-safe; moments are in seconds of a clock that never goes back.
class TurnPairs {
  public:
    /// @param at_once  so many have the turn on a GPU at most, 1 … kMaxConcurrent
    explicit TurnPairs(std::size_t at_once) : at_once_(at_once) {}

    /// Nothing if there is one of that name.
    void add(const std::string& program, const PacedProgram& how);
    /// It tells the size of its input.
    void set_input_size(const std::string& program, double size);
    /// It has ended.
    void remove(const std::string& program);
    /// Pairs that were measured elsewhere: what is known of two programs until they have been measured here, and a part
    /// of the mean then. Newer ones of the same kinds replace older ones; so many kinds at most as are learned of.
    void know(std::span<const GpuPair> pairs);
    /// Who runs beside it from now on; empty: it runs alone.
    void run_beside(const std::string& program, const std::set<std::string>& others);
    /// It does not run.
    void stop(const std::string& program);
    /// An iteration of a program has ended.
    /// @return  whether something was learned of how it does beside others.
    bool end_iteration(const std::string& program, double now_s);

    /// Who of `waiting`, in their order, is let go beside `holders`: nobody of whom nothing is known, nobody beside
    /// whom anybody is expected to keep less than an equal part, and of the others the one that decide_corun()
    /// launches, which holds back what would lower the combined performance. Empty: nobody.
    std::string choose(const std::vector<std::string>& holders, const std::vector<std::string>& waiting) const;
    /// Who of several holders should give the turn back, since more is done without it: by what was measured while they
    /// ran beside each other, and by decide_corun() with what taking the turn away costs. Empty: nobody.
    std::string find_worse(const std::vector<TurnHolder>& holders) const;

    /// What it keeps of its pace beside those that run beside it, as measured last.
    std::optional<double> share_of(const std::string& program) const;
    const PairModel& pairs() const { return pairs_; }
    /// How many iterations a program of this kind has until it ends, by those of its kind that have ended, and by the
    /// size of its input where they and this one tell it. Empty: none has.
    std::optional<ExpectedIterations> expected_iterations(const std::string& kind,
                                                          std::optional<double> input_size = std::nullopt) const;
    /// Pairs of programs that were measured since the last call, the oldest first; of very many the newest.
    std::vector<MeasuredTurns> take_measured() { return std::exchange(measured_, {}); }

  private:
    struct Program {
        PacedProgram how;
        std::optional<std::set<std::string>> beside; ///< nothing: it does not run
        std::int64_t iterations{};                   ///< that have ended since
        std::int64_t all_iterations{};               ///< since it came
        double first_end_s{};
        std::optional<double> alone_pace; ///< iterations by second
        std::optional<double> share;      ///< beside these, as measured last
        bool is_share_new{};              ///< no pair has it yet
    };

    const Program* find(const std::string& program) const;
    PairMember member(const std::string& program) const;
    bool is_known(const std::string& program) const;
    bool is_measured(const std::string& program, const std::string& beside) const;
    void begin_with_known(const PacedProgram& one);
    bool begin_with_known(const PacedProgram& one, const PacedProgram& other);
    RunningKernel running(const std::string& program, double ipc) const;
    double share_beside(const std::string& program, const std::vector<std::string>& holders) const;
    void learn_pair(Program& one);
    void learn_run(const Program& one);
    /// Seconds that it takes alone until it ends, as far as what is found is expected to hold.
    double rest_s(const Program& one) const;
    static void forget_run(Program& one);

    std::size_t at_once_;
    std::map<std::string, Program> programs_;
    PairModel pairs_;
    InstructionModel runs_; ///< whose instructions are iterations
    struct Forecasts {
        std::int64_t count{}; ///< of programs that have ended since
        double off{};         ///< Σ |expected / had − 1|
    };
    std::map<std::string, Forecasts> kinds_of_runs_;               ///< applications that runs_ knows
    std::map<std::pair<std::string, std::string>, GpuPair> known_; ///< by their kinds, `a` not greater than `b`
    std::vector<MeasuredTurns> measured_;
};

} // namespace fathom
