#pragma once

#include "core/decide/probing/match.hpp"
#include "probes/profile/child_process.hpp"
#include "probes/profile/own_code.hpp"
#include "probes/profile/routine_work.hpp"
#include "probes/profile/sampler.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fathom::profile {

/// Time that no operator covers, as shares of the program's thread time.
struct Remainder {
    double memory{};
    double compute{};
    double io{};
    double waiting{};
    std::string method; ///< how memory and compute were told apart; empty: there was nothing to tell
};

/// One kind of call and what became of it.
struct ProfileLine {
    ObservedCalls observed;
    std::string operator_id; ///< empty: no operator of the library is like it
    double score{};
    std::string use; ///< operator_key of the use that stands for it; empty for none
};

/// What a run of a program turned out to be made of. Shares are of its thread time: the time from start to end,
/// or, while several of its threads have executed operators, the sum of theirs. They and the remainder sum to 1.
struct Profile {
    double wall_s{};
    double cpu_s{};
    double thread_s{}; ///< what shares are of
    int cores{1};      ///< that the program could use
    /// Threads that ran, on average, while the program computed outside operators; at least so many: operators are
    /// taken to have kept all cores busy.
    double parallelism{1};
    std::vector<OperatorUse> operators;
    std::vector<ProfileLine> lines; ///< exact, by falling share
    /// How often calls of one line read what another had written.
    struct Flow {
        std::size_t from{};
        std::size_t to{};
        std::int64_t count{};
    };
    std::vector<Flow> flows;
    Remainder remainder;
    OwnCode own_code; ///< what the memory and compute parts of the remainder are, as far as it was seen
    /// How alike what stands for a part of the remainder is to the loops that it stands for, 0..1: by operator_key and
    /// the part's name.
    std::map<std::string, double> stand_in_similarity;
    double coverage{}; ///< share of calls that have an operator
    double missed{};   ///< share of calls that have none
    std::vector<std::string> notes;
};

/// What is known when a program has ended (or so far).
struct ProfileInput {
    const Counts* counts{};
    const Sampler* sampler{};
    std::uint64_t begin_ticks{};
    std::uint64_t end_ticks{};
    double wall_s{};
    double cpu_s{};
    double bandwidth_bytes_per_s{};             ///< of one core; 0: not measured
    int cores{1};                               ///< that the program could use
    std::vector<std::string> type_categories{}; ///< MatchRule::type_categories
    std::vector<std::string> notes;
};

} // namespace fathom::profile
