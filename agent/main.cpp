#include "agent/app/balance_command.hpp"
#include "agent/app/catalog_command.hpp"
#include "agent/app/enrol.hpp"
#include "agent/app/gpu_memory_command.hpp"
#include "agent/app/probe_request.hpp"
#include "agent/app/run.hpp"
#include "agent/app/sub_unit_request.hpp"
#include "agent/app/supervise_command.hpp"

#include <iostream>
#include <string_view>

namespace {

constexpr const char* kHelp = R"(fathom-agent: offers a computing center to the Fathom metascheduler.

Usage: fathom-agent COMMAND [options]      (each command has --help)

  enrol     get this center's certificate with a one-time token
  run       the daemon: report what the center has, run jobs, stream their output
  catalog   print what this center would report
  balance   show what the loops that balance transfer and compute do
  gpu-memory
            share a node's GPUs among jobs, and show their memory
  request-probes
            ask to be measured anew
  request-sub-units
            ask to give up or to gain sub-units

  --help, --version

Exit codes: 0 done, 1 failed, 2 wrong use.
)";

} // namespace

int main(int argc, char** argv)
{
    const std::string_view command = argc > 1 ? argv[1] : "--help";
    const char* const* rest = argv + 1;
    if (command == "enrol") return fathom::agent::enrol_command(argc - 1, rest);
    if (command == "run") return fathom::agent::run_command(argc - 1, rest);
    if (command == "catalog") return fathom::agent::catalog_command(argc - 1, rest);
    if (command == "balance") return fathom::agent::balance_command(argc - 1, rest);
    if (command == "gpu-memory") return fathom::agent::gpu_memory_command(argc - 1, rest);
    if (command == "request-probes") return fathom::agent::request_probes_command(argc - 1, rest);
    if (command == "request-sub-units") return fathom::agent::request_sub_units_command(argc - 1, rest);
    if (command == "supervise") return fathom::agent::supervise_command(argc - 1, rest);
    if (command == "--version") {
        std::cout << FATHOM_VERSION << "\n";
        return 0;
    }
    const bool asked = argc > 1 && (command == "--help" || command == "-h" || command == "help");
    (asked ? std::cout : std::cerr) << kHelp;
    if (!asked && argc > 1) std::cerr << "\nfathom-agent: there is no command \"" << command << "\"\n";
    return asked ? 0 : 2;
}
