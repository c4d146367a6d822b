#pragma once

#include <string_view>

namespace fathom::probes {

/// Where the processes of operators between processes run.
struct ExchangePlace {
    int processes{};
    bool is_slurm_job{}; ///< as the tasks of the Slurm job that this process belongs to, on its hosts
};

/// A process for each task of a Slurm job that has several, on one host or more; else one for each processor.
/// @param threads      processors that may be used here, at least 1
/// @param slurm_tasks  SLURM_NTASKS; empty where there is none
ExchangePlace exchange_place(int threads, std::string_view slurm_tasks);
/// By this process's environment.
ExchangePlace exchange_place_here(int threads);

} // namespace fathom::probes
