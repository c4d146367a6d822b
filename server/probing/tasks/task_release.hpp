#pragma once

#include "server/centers/unit_type_directory.hpp"
#include "server/ports/probe_ports.hpp"
#include "server/probing/tasks/probe_task_store.hpp"
#include "server/probing/tasks/probing_store.hpp"

#include <string>
#include <vector>

/// A probe task's way from draft to released (M7): it is tried on one small unit first, so that a task that takes
/// minutes, crashes or computes nonsense disturbs one unit once.
namespace fathom::server {

/// How a task stands with its test, with the figure; completes "… is not released: ".
std::string standing_of(const ProbeTaskRecord& task);

/// The place for a pre-test: the unit type with the fewest cores a unit among those with a free unit, or among all
/// when none is free; ties go to the smaller id. Pure.
/// @param among  ids of the unit types that come into question; empty for all.
/// @return nullptr when none takes work and runs the operators.
const UnitTypeOffer* choose_test_place(const std::vector<UnitTypeOffer>& offers,
                                       const std::vector<OperatorUse>& operators,
                                       const std::vector<std::string>& among);

/// Queues the pre-test of a locked task there and moves the task to `testing`. @error as queue_run().
Result<ProbeRunId> begin_test(pqxx::work& transaction, ProbeJobWriter& writer, ProbeTaskRecord& task,
                              const UnitTypeOffer& place, const std::string& created_by);

/// The same at the first place of `among`, in the order of choose_test_place(), where it may be.
/// @error kInfeasible  nowhere; with what the last place said.
Result<ProbeRunId> begin_test_somewhere(pqxx::work& transaction, ProbeJobWriter& writer, ProbeTaskRecord& task,
                                        const std::vector<UnitTypeOffer>& offers, std::vector<std::string> among);

struct QueuedProbes {
    std::vector<ProbeRunId> runs;      ///< queued now, or joined
    std::vector<std::string> refusals; ///< why a place takes none, for people
};
/// Queues a released task on one unit of each of the unit types that are still offered and have room in their center's
/// probe budget. `task` must be locked.
Result<QueuedProbes> queue_released(pqxx::work& transaction, ProbeJobWriter& writer, const ProbeTaskRecord& task,
                                    const std::vector<std::string>& unit_types, const std::string& cause);

/// What a pre-test showed.
struct TestVerdict {
    enum class Kind {
        kPassed,
        kRefused,      ///< the task itself is to blame
        kNotConcluded, ///< the place was: the center refused it, vanished, or somebody cancelled the run
    } kind{Kind::kPassed};
    std::string reason;   ///< with the figure, for people; empty when passed
    double wall_s{};      ///< when passed
    bool may_retry{true}; ///< kNotConcluded: another place may be tried
    /// kRefused because it took too long: the same operators at smaller sizes; empty: there are none.
    std::optional<ProbeTask> smaller{};
};

/// Moves the task of a pre-test that has ended: to tested, released (with the runs that waited for it), refused, or
/// back. A task that was made for a job and was not to blame is tried at the next place that it waits for.
Result<void> conclude_test(pqxx::work& transaction, ProbeJobWriter& writer, const EndingRun& run,
                           const TestVerdict& verdict);

} // namespace fathom::server
