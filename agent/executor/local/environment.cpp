#include "agent/executor/local/environment.hpp"

#include "agent/executor/local/attempt_folder.hpp"

namespace fathom::agent {

std::map<std::string, std::string> job_environment(const RunOrder& run, const JobPlace& place)
{
    const std::string cores = std::to_string(run.cores);
    std::map<std::string, std::string> variables{
        {"PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:" + place.programs},
        {"HOME", place.work},
        {"TMPDIR", place.work},
        {"PWD", place.work},
        {"USER", place.user},
        {"LOGNAME", place.user},
        {"SHELL", "/bin/sh"},
        {"LANG", "C.UTF-8"},
        {"FATHOM_JOB_ID", run.order.job_id.value},
        {"FATHOM_UNIT_TYPE", run.order.unit_type},
        {"FATHOM_UNITS", std::to_string(run.order.unit_count)},
        {"FATHOM_CORES", cores},
        {"OMP_NUM_THREADS", cores},
        {"OPENBLAS_NUM_THREADS", cores},
        {"MKL_NUM_THREADS", cores},
        {"BLIS_NUM_THREADS", cores},
    };
    for (const auto& [name, value] : run.environment)
        variables[name] = value;
    for (const auto& [name, value] : run.order.environment)
        variables[name] = value;
    if (variables.contains("FATHOM_PRECISION_RANGE")) {
        variables["FATHOM_PRECISION_FILE"] = place.work + "/" + kPrecisionFile;
        variables["FATHOM_PRECISION_ACK_FILE"] = place.work + "/" + kPrecisionAckFile;
    }
    variables["FATHOM_ATTEMPT_ID"] = run.order.attempt_id.value; // it is by this that leftovers are found
    return variables;
}

} // namespace fathom::agent
