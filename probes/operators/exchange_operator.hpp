#pragma once

#include "probes/operators/exchange_process.hpp"
#include "probes/operators/operator.hpp"

#include <functional>
#include <memory>
#include <string_view>

/// What operators share that processes of another program execute: those between MPI processes (probes/mpi) and those
/// between processes that TCP connects (probes/tcp). They time themselves, and are told what to do a line each.
namespace fathom::probes {

/// How the processes of one operator at one size are started.
struct ExchangeTeam {
    std::string_view means; ///< "MPI" or "TCP", for messages
    int processes{};        ///< at least 1; with 1 there is nothing between processes
    std::function<Result<std::unique_ptr<ExchangeProcess>>(std::uint64_t seed)> start;
};

std::unique_ptr<ProbeOperator> make_exchange_operator(ExchangeTeam team);

} // namespace fathom::probes
