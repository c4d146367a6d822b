#include "agent/executor/slurm/slurm_client.hpp"

#include "agent/executor/slurm/batch_script.hpp"
#include "core/base/run_program.hpp"

#include <algorithm>

namespace fathom::agent {
namespace {

constexpr std::chrono::seconds kCommandTimeout{60};
/// slurmdbd is asked between looks at slurmctld, which must not wait for long.
constexpr std::chrono::seconds kAccountsTimeout{10};
constexpr std::size_t kMaxListBytes = 256UL << 20U; ///< some million jobs, or all nodes
constexpr std::size_t kMaxAnswerBytes = 1UL << 20U;

/// Who a job is of: options of sbatch.
std::vector<std::string> user_options(const std::optional<JobUser>& user)
{
    if (!user) return {};
    return {"--uid=" + std::to_string(user->uid), "--gid=" + std::to_string(user->gid)};
}

/// What starts a program as that user, without the rights of this process.
std::vector<std::string> starter_as(const std::optional<JobUser>& user)
{
    if (!user) return {};
    return {"/usr/bin/setpriv", "--reuid=" + std::to_string(user->uid), "--regid=" + std::to_string(user->gid),
            "--clear-groups", "--no-new-privs"};
}

} // namespace

Result<std::string> SlurmClient::run(const char* program, const std::vector<std::string>& arguments,
                                     std::size_t most_bytes, TimeZone zone, std::vector<std::string> starter) const
{
    // Nothing of the agent's environment: sbatch would pass it on to jobs.
    std::vector<std::string> command = std::move(starter);
    command.insert(command.end(), {"/usr/bin/env", "-i", "PATH=/usr/local/bin:/usr/bin:/bin"});
    if (!config_.settings.empty()) command.push_back("SLURM_CONF=" + config_.settings.string());
    if (zone == TimeZone::kUtc) command.insert(command.end(), {"TZ=UTC", "SLURM_TIME_FORMAT=standard"});
    command.push_back((config_.programs / program).string());
    command.insert(command.end(), arguments.begin(), arguments.end());
    const bool asks_slurmdbd = std::string_view(program) == "sacct";
    const std::chrono::seconds timeout = asks_slurmdbd ? kAccountsTimeout : kCommandTimeout;
    Result<ProgramAnswer> answer = run_program_to_end(command, {}, timeout, most_bytes);
    if (!answer) return Error{Errc::kUnavailable, answer.error().detail};
    if (answer->exit_code == 0) return std::move(answer->text);
    std::string reason = slurm_reason(answer->text);
    if (reason.empty()) reason = std::string(program) + " ended with " + std::to_string(answer->exit_code);
    return Error{is_unreached(reason) ? Errc::kUnavailable : Errc::kTooMany, reason};
}

Result<std::string> SlurmClient::submit(const std::filesystem::path& script, const std::optional<JobUser>& user)
{
    std::vector<std::string> arguments{"--parsable", "--export=ALL"};
    for (std::string& option : user_options(user))
        arguments.push_back(std::move(option));
    arguments.push_back(script.string());
    const Result<std::string> text = run("sbatch", arguments, kMaxAnswerBytes);
    if (!text && text.error().code == Errc::kTooMany && is_final_refusal(text.error().detail))
        return Error{Errc::kInvalid, text.error().detail};
    if (!text) return text.error();
    Result<std::string> job = parse_submitted(*text);
    if (!job) return Error{Errc::kUnavailable, job.error().detail};
    return job;
}

Result<std::optional<Timestamp>> SlurmClient::expected_start(const BatchPlace& place, std::int64_t wall_limit_s) const
{
    if (const Result<void> checked = check_batch_place(place); !checked) return checked.error();
    std::vector<std::string> arguments;
    for (const auto& [name, value] : demands_of(place, 1, 1))
        arguments.push_back("--" + name + "=" + value);
    // Without a limit the partition's, of days, would be asked for.
    arguments.push_back("--time=" + std::to_string(wall_limit_s / 60) + ":" + std::to_string(wall_limit_s % 60));
    if (!config_.account.empty()) arguments.push_back("--account=" + config_.account);
    if (!config_.qos.empty()) arguments.push_back("--qos=" + config_.qos);
    for (std::string& option : user_options(user_))
        arguments.push_back(std::move(option));
    arguments.insert(arguments.end(), {"--chdir=/", "--output=/dev/null", "--test-only", "--wrap=true"});
    const Result<std::string> text = run("sbatch", arguments, kMaxAnswerBytes, TimeZone::kUtc);
    if (!text && text.error().code == Errc::kTooMany) return std::optional<Timestamp>();
    if (!text) return text.error();
    return parse_tested_start(*text);
}

Result<std::vector<SlurmJob>> SlurmClient::queue(const std::set<unsigned>& users)
{
    std::string uids;
    for (const unsigned uid : users)
        uids += (uids.empty() ? "" : ",") + std::to_string(uid);
    const Result<std::string> text = run(
        "squeue", {"--noheader", "--all", "--states=all", "--user=" + uids, "--Format=" + std::string(kQueueFormat)},
        kMaxListBytes, TimeZone::kUtc);
    if (!text) return Error{Errc::kUnavailable, text.error().detail};
    return parse_queue(*text);
}

Result<std::vector<SlurmJob>> SlurmClient::accounts(const std::vector<std::string>& jobs)
{
    std::string numbers;
    for (const std::string& job : jobs)
        numbers += (numbers.empty() ? "" : ",") + job;
    const Result<std::string> text = run("sacct",
                                         {"--noheader", "--parsable2", "--duplicates", "--noconvert", "--allusers",
                                          "--jobs=" + numbers, "--format=" + std::string(kAccountFormat)},
                                         kMaxListBytes, TimeZone::kUtc);
    if (text) return parse_accounts(*text);
    // What is not a failure to reach slurmdbd stays so, such as accounting that is disabled.
    const bool is_away = text.error().code == Errc::kUnavailable;
    return Error{is_away ? Errc::kUnavailable : Errc::kInfeasible, text.error().detail};
}

Result<void> SlurmClient::cancel(const std::vector<std::string>& jobs, const std::optional<JobUser>& user)
{
    constexpr std::size_t kMaxAtOnce = 500;
    for (std::size_t first = 0; first < jobs.size(); first += kMaxAtOnce) {
        std::vector<std::string> arguments{"--quiet"};
        const std::size_t last = std::min(first + kMaxAtOnce, jobs.size());
        for (std::size_t i = first; i < last; ++i)
            arguments.push_back(jobs[i]);
        const Result<std::string> done = run("scancel", arguments, kMaxAnswerBytes, TimeZone::kHost, starter_as(user));
        if (!done) return done.error();
    }
    return {};
}

void SlurmClient::ask_for_details(const std::vector<SlurmNode>& nodes, std::chrono::steady_clock::time_point now,
                                  SlurmNodeDetails& details) const
{
    if (details.asked_at && now - *details.asked_at < kNodeDetailsInterval && nodes == details.nodes) return;
    const Result<std::string> reserves = run("scontrol", {"-a", "-o", "show", "nodes"}, kMaxListBytes);
    // What it said before is the best that is known. Where it never said anything, jobs that ask for all of a node are
    // refused, and Slurm's words tell why.
    if (!reserves) return;
    const Result<std::string> switches = run("scontrol", {"show", "topology"}, kMaxListBytes);
    details.reserves = parse_reserves(*reserves);
    if (switches) details.leaf_switches = parse_leaf_switches(*switches);
    details.nodes = nodes;
    details.asked_at = now;
}

Result<std::vector<SlurmNode>> SlurmClient::nodes(SlurmNodeDetails& details,
                                                  std::chrono::steady_clock::time_point now) const
{
    const Result<std::string> text = run("sinfo", {"-a", "-h", "-N", "-o", kNodeFormat}, kMaxListBytes);
    if (!text) return Error{Errc::kUnavailable, text.error().detail};
    std::vector<SlurmNode> nodes = parse_nodes(*text);
    ask_for_details(nodes, now, details);
    for (SlurmNode& node : nodes) {
        const auto reserve = details.reserves.find(node.name);
        if (reserve != details.reserves.end()) take_reserve(node, reserve->second);
        const auto switches = details.leaf_switches.find(node.name);
        if (switches != details.leaf_switches.end()) node.leaf_switches = switches->second;
    }
    std::erase_if(nodes, [&](const SlurmNode& node) {
        const auto& offered = config_.partitions;
        return !offered.empty() && std::find(offered.begin(), offered.end(), node.partition) == offered.end();
    });
    if (nodes.empty()) return Error{Errc::kUnavailable, "Slurm shows no node of the partitions that are offered"};
    return nodes;
}

std::string SlurmClient::version() const
{
    const Result<std::string> text = run("sinfo", {"--version"}, kMaxAnswerBytes);
    return text ? slurm_reason(*text) : std::string();
}

} // namespace fathom::agent
