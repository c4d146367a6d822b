#pragma once

#include "core/base/json_reader.hpp"
#include "core/model/operator_manifest.hpp"
#include "probes/profile/stand_ins.hpp"

#include <optional>
#include <string>
#include <vector>

namespace fathom::profile {

/// How long one execution of an operator takes with one thread.
struct TimedStandIn {
    std::string id;
    Parameters parameters; ///< complete
    double each_s{};
};

/// What a profile needs to know of the machine, whatever the program is. Where it is known from before, nothing is
/// measured while the job's units are held.
struct KnownMachine {
    double bandwidth_bytes_per_s{};        ///< measure_bandwidth(); 0: not known
    std::optional<bool> shows_pages{};     ///< shows_touched_pages(); empty: not known
    std::vector<TimedStandIn> stand_ins{}; ///< those that are known
};

/// Measures all of it; may take some seconds. Operators that `library` lacks are left out.
/// @error kUnavailable  fathom-probe beside this program cannot be run; the detail says why.
Result<KnownMachine> measure_machine(const std::vector<OperatorManifest>& library);

Json machine_json(const KnownMachine& machine);
/// @error kInvalid  with every field error. Unknown fields are ignored.
Result<KnownMachine> parse_known_machine(const Json& json);

/// The time of a stand-in: of its operator at its size. nullptr: it is not known.
const TimedStandIn* find_time(const std::vector<TimedStandIn>& times, const StandIn& part);

/// Times stand-ins, in their order, with fathom-probe beside this program.
/// @error kUnavailable  it cannot be run; the detail says why.
Result<std::vector<TimedStandIn>> time_stand_ins(const std::vector<StandIn>& parts);

} // namespace fathom::profile
