#include "agent/executor/local/environment.hpp"

#include "agent/executor/local/attempt_folder.hpp"
#include "agent/gpu/protocol.hpp"

namespace fathom::agent {
namespace {

/// How long a program whose memory manager is away waits for it, since the agent, and with it the manager, may be
/// starting again.
constexpr const char* kGpuMemoryWait_s = "60";

/// A job with GPUs, at a center where jobs share them, takes part whatever its own variables say (docs/gpu-memory.md).
void share_gpus(std::map<std::string, std::string>& variables, const RunOrder& run, const JobPlace& place)
{
    const auto center_socket = run.environment.find("FATHOM_GPU_SOCKET");
    std::string socket = center_socket == run.environment.end() ? "" : center_socket->second;
    if (!place.gpu_memory.empty()) socket = place.gpu_memory + "/" + gpu::kSocketName;
    const auto gpus = variables.find("CUDA_VISIBLE_DEVICES");
    if (socket.empty() || gpus == variables.end() || gpus->second.empty()) return;
    variables["FATHOM_GPU_SOCKET"] = socket;
    variables["FATHOM_GPU_WAIT_S"] = kGpuMemoryWait_s;
    variables["FATHOM_GPU_JOB"] = run.order.job_id.value;
    // By what it is put beside others, as the agent chose its GPU (agent/jobs/unit_allocator).
    const auto set_or_leave_out = [&](const char* name, const std::string& value) {
        variables.erase(name);
        if (!value.empty()) variables[name] = value;
    };
    const KernelClass kernel_class = run.order.kernel_class;
    set_or_leave_out("FATHOM_GPU_CLASS",
                     kernel_class == KernelClass::kUnknown ? "" : std::string(to_string(kernel_class)));
    set_or_leave_out("FATHOM_GPU_KIND", run.order.gpu_kind);
    // What comes before other people's work, and whose a program is, is for the center to say.
    for (const char* name : {"FATHOM_GPU_PROOF", "FATHOM_GPU_SHARE", "FATHOM_GPU_PRIORITY"}) {
        variables.erase(name);
        if (const auto said = run.environment.find(name); said != run.environment.end()) variables.insert(*said);
    }
    const auto put_first = [&](const char* name, const std::string& file) {
        std::string& list = variables[name];
        list = place.programs + file + (list.empty() ? "" : ":" + list);
    };
    put_first("LD_PRELOAD", "/libfathom-gpu.so");
    put_first("PYTHONPATH", "/fathom-gpu-python");
}

} // namespace

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
    share_gpus(variables, run, place);
    variables["FATHOM_ATTEMPT_ID"] = run.order.attempt_id.value; // it is by this that leftovers are found
    return variables;
}

} // namespace fathom::agent
