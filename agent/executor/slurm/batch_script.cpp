#include "agent/executor/slurm/batch_script.hpp"

#include "agent/executor/batch/script_parts.hpp"
#include "agent/executor/slurm/usage_note.hpp"
#include "core/model/operator_manifest.hpp"

#include <algorithm>

namespace fathom::agent {
namespace {

void add_option(std::string& script, std::string_view option, std::string_view value)
{
    if (!value.empty()) script += "#SBATCH --" + std::string(option) + "=" + std::string(value) + "\n";
}

/// As Slurm takes it: whole minutes would end it too late.
std::string time_limit(std::int64_t seconds)
{
    return std::to_string(seconds / 60) + ":" + std::to_string(seconds % 60);
}

bool spans_nodes(const RunOrder& run)
{
    return run.order.unit_count > run.place->units_per_node;
}

/// A probe of what processes of their own execute: they measure what lies between hosts, and nothing else does.
bool is_exchange_probe(const RunOrder& run)
{
    const std::vector<OperatorNeed>& operators = run.order.operators;
    return run.order.label == "probe" && !operators.empty() &&
           std::all_of(operators.begin(), operators.end(),
                       [](const OperatorNeed& need) { return is_exchange_operator(need.id); });
}

/// For more units than one leaf switch has, Slurm would only wait in vain.
bool asks_for_one_switch(const RunOrder& run, const BatchOptions& options)
{
    return options.switches_wait_s > 0 && spans_nodes(run) && run.order.unit_count <= run.place->units_per_switch;
}

void add_demands(std::string& script, const RunOrder& run, const BatchOptions& options)
{
    const std::int64_t tasks = spans_nodes(run) ? run.order.unit_count : 1;
    for (const auto& [name, value] : demands_of(*run.place, run.order.unit_count, tasks)) {
        // A constraint's brackets and bars are for Slurm, not for a shell that reads the line.
        add_option(script, name, name == "constraint" ? '"' + value + '"' : value);
    }
    if (asks_for_one_switch(run, options)) add_option(script, "switches", "1@" + time_limit(options.switches_wait_s));
    add_option(script, "time", time_limit(std::max<std::int64_t>(run.order.wall_limit_s, 60)));
}

std::string environment_of(const RunOrder& run, const BatchFolder& folder, const BatchOptions& options)
{
    RunOrder one = run; // a process of a job that spans nodes has a unit's processors
    if (spans_nodes(run)) one.cores = std::max<std::int64_t>(run.cores / run.order.unit_count, 1);
    return environment_lines(one, folder.work(), options.programs, options.user);
}

/// fathom-probe itself has the processes of all tasks started.
std::string launcher_of(const RunOrder& run)
{
    return spans_nodes(run) && !is_exchange_probe(run) ? "srun --kill-on-bad-exit=1 " : "";
}

/// Of a node for the one task there, or of each of several tasks wherever it runs.
void add_devices(std::vector<BatchOption>& options, const BatchPlace& place, std::int64_t units, std::int64_t tasks)
{
    if (place.devices_per_unit == 0) return;
    if (tasks == 1) {
        options.push_back({"gres", place.devices + ":" + std::to_string(place.devices_per_unit * units)});
        return;
    }
    const std::size_t colon = place.devices.find(':');
    const std::string type = colon == std::string::npos ? "" : place.devices.substr(colon + 1) + ":";
    options.push_back({"gpus-per-task", type + std::to_string(place.devices_per_unit * units / tasks)});
}

} // namespace

std::vector<BatchOption> demands_of(const BatchPlace& place, std::int64_t units, std::int64_t tasks)
{
    std::vector<BatchOption> options;
    if (tasks == 1) options.push_back({"nodes", "1"});
    options.push_back({"ntasks", std::to_string(tasks)});
    options.push_back({"cpus-per-task", std::to_string(place.cpus_per_unit * units / tasks)});
    if (place.memory_bytes_per_unit > 0) {
        const std::int64_t megabytes = (place.memory_bytes_per_unit / place.cpus_per_unit) >> 20U;
        options.push_back({"mem-per-cpu", std::to_string(std::max<std::int64_t>(megabytes, 1)) + "M"});
    }
    add_devices(options, place, units, tasks);
    if (!place.partition.empty()) options.push_back({"partition", place.partition});
    if (!place.constraint.empty()) options.push_back({"constraint", place.constraint});
    return options;
}

Result<void> check_batch_place(const BatchPlace& place)
{
    if (place.partition.empty() || !has_only(place.partition, "_-."))
        return Error{Errc::kInvalid, "\"" + place.partition + "\" is no partition's name"};
    if (!has_only(place.constraint, "_-.&|[]()*,:="))
        return Error{Errc::kInvalid, "\"" + place.constraint + "\" is no constraint"};
    if ((place.devices_per_unit > 0 && place.devices.empty()) || !has_only(place.devices, "_-.:"))
        return Error{Errc::kInvalid, "\"" + place.devices + "\" are no devices"};
    return {};
}

Result<std::string> batch_script(const RunOrder& run, const BatchFolder& folder, const BatchOptions& options)
{
    if (!run.place) return Error{Errc::kInvalid, "the order does not say where Slurm is to run it"};
    if (const Result<void> checked = check_batch_place(*run.place); !checked) return checked.error();
    if (run.order.label == "probe" && spans_nodes(run) && !is_exchange_probe(run))
        return Error{Errc::kInfeasible,
                     "probes run on one node, but for those of mpi_ and tcp_ operators alone: at most " +
                         std::to_string(run.place->units_per_node) + " units of this type"};
    std::string script = "#!/bin/bash\n";
    add_option(script, "job-name", run.order.attempt_id.value);
    add_option(script, "comment", "\"fathom " + run.order.label + " " + run.order.job_id.value + "\"");
    add_option(script, "account", options.account);
    add_option(script, "qos", options.qos);
    add_demands(script, run, options);
    add_option(script, "chdir", folder.work().string());
    add_option(script, "output", (folder.path / "stdout").string());
    add_option(script, "error", (folder.path / "stderr").string());
    script += "#SBATCH --open-mode=append\n#SBATCH --no-requeue\n#SBATCH --input=/dev/null\n\n";
    const std::string report = shell_quoted(folder.report().string());
    // A controller that was killed may start a job again whose program runs or has run: the program does not.
    script += "umask 077\nfathom_report=" + report +
              "\n"
              "(set -o noclobber; echo \"$SLURM_JOB_ID\" >\"$fathom_report/first\") 2>/dev/null || {\n"
              "    if [ \"$(cat \"$fathom_report/first\")\" = \"$SLURM_JOB_ID\" ]; then\n"
              "        { read -r fathom_exit_code fathom_rest <\"$fathom_report/ended\"; } 2>/dev/null &&\n"
              "            exit \"$fathom_exit_code\"\n"
              "        echo \"$EPOCHREALTIME\" >\"$fathom_report/started_again\"\n"
              "    fi\n"
              "    echo \"this attempt has begun as Slurm job $(cat \"$fathom_report/first\")\" >&2\n"
              "    exit 1\n"
              "}\n";
    script += environment_of(run, folder, options) + "export SLURM_EXPORT_ENV=ALL\n"; // to what srun starts
    script += "echo \"$EPOCHREALTIME\" >\"$fathom_report/started\"\n" + staging_line(run, options.programs) +
              program_line(run, launcher_of(run)) + "\nfathom_exit_code=$?\n" + storing_lines(run, options.programs) +
              usage_lines() +
              "{ echo \"$fathom_exit_code $EPOCHREALTIME\"; times; } >\"$fathom_report/ended.part\"\n"
              "mv \"$fathom_report/ended.part\" \"$fathom_report/ended\"\n"
              "exit \"$fathom_exit_code\"\n";
    return script;
}

} // namespace fathom::agent
