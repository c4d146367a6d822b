#include "agent/executor/local/attempt_folder.hpp"

#include "agent/executor/run_order.hpp"
#include "core/base/file.hpp"
#include "schema/link/messages.hpp"

#include <csignal>
#include <limits>
#include <sstream>
#include <sys/stat.h>

namespace fathom::agent {

std::string_view to_string(OutputStream stream)
{
    return stream == OutputStream::kStdout ? "stdout" : "stderr";
}

namespace {

constexpr const char* kCgroupPrefix = "supervisor-";

Json to_json(const Isolation& isolation)
{
    return {{"user_namespace", isolation.user_namespace},
            {"files", isolation.files},
            {"processes", isolation.processes},
            {"filters_system_calls", isolation.filters_system_calls},
            {"limits_io", isolation.limits_io}};
}

/// Throws nlohmann::json::exception.
Isolation read_isolation(const Json& json)
{
    return {.user_namespace = json.at("user_namespace").get<bool>(),
            .files = json.at("files").get<bool>(),
            .processes = json.at("processes").get<bool>(),
            .filters_system_calls = json.value("filters_system_calls", false), // older agents had no filter
            .limits_io = json.value("limits_io", false)};                      // nor these
}

Json to_json(const IoLimits& limits)
{
    return {{"device", limits.device},
            {"read_bytes_per_s", limits.read_bytes_per_s},
            {"write_bytes_per_s", limits.write_bytes_per_s},
            {"reads_per_s", limits.reads_per_s},
            {"writes_per_s", limits.writes_per_s}};
}

/// Throws nlohmann::json::exception.
IoLimits read_io_limits(const Json& json)
{
    return {.device = json.at("device").get<std::string>(),
            .read_bytes_per_s = json.at("read_bytes_per_s").get<std::int64_t>(),
            .write_bytes_per_s = json.at("write_bytes_per_s").get<std::int64_t>(),
            .reads_per_s = json.at("reads_per_s").get<std::int64_t>(),
            .writes_per_s = json.at("writes_per_s").get<std::int64_t>()};
}

/// Which numbers of processes ours are: containers may share the tree of control groups, and each has a process 100.
std::uint64_t pid_namespace()
{
    struct stat facts{};
    return ::stat("/proc/self/ns/pid", &facts) == 0 ? facts.st_ino : 0;
}

} // namespace

std::string encode(const Isolation& isolation)
{
    return to_json(isolation).dump();
}

Result<Isolation> decode_isolation(const std::string& text)
{
    try {
        return read_isolation(Json::parse(text));
    } catch (const std::exception& e) {
        return Error{Errc::kInvalid, std::string("not an isolation: ") + e.what()};
    }
}

std::string encode(const SupervisorOrder& order)
{
    Json json = to_json(order.run);
    json.update({{"programs", order.programs.string()},
                 {"output_limit_bytes", order.output_limit_bytes},
                 {"disk_limit_bytes", order.disk_limit_bytes},
                 {"disk_limit_files", order.disk_limit_files},
                 {"io", to_json(order.io)},
                 {"has_own_user", order.has_own_user},
                 {"removes_work", order.removes_work},
                 {"isolation", to_json(order.isolation)},
                 {"hidden", order.hidden.string()},
                 {"home", order.home.string()},
                 {"shows_home", order.shows_home},
                 {"gpu_memory", order.gpu_memory.string()},
                 {"staging", to_json(order.staging)},
                 {"input_cache", order.input_cache.folder.string()},
                 {"input_cache_bytes", order.input_cache.limit_bytes},
                 {"shared", Json::array()}});
    for (const std::filesystem::path& path : order.shared)
        json["shared"].push_back(path.string());
    if (order.user) json["user"] = {{"name", order.user->name}, {"uid", order.user->uid}, {"gid", order.user->gid}};
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<SupervisorOrder> decode_supervisor_order(const std::string& text)
{
    SupervisorOrder order;
    // Our own file: a type error in it can only be damage, so one message for all of them will do.
    try {
        const Json json = Json::parse(text);
        Result<RunOrder> run = read_run_order(json);
        if (!run) return Error{Errc::kInvalid, "order.json is damaged: " + run.error().detail};
        order.run = std::move(*run);
        order.programs = json.at("programs").get<std::string>();
        order.output_limit_bytes = json.at("output_limit_bytes").get<std::int64_t>();
        order.disk_limit_bytes = json.value("disk_limit_bytes", std::int64_t{0}); // older agents knew none
        order.disk_limit_files = json.value("disk_limit_files", std::int64_t{0}); // nor this one
        if (json.contains("io")) order.io = read_io_limits(json["io"]);
        order.has_own_user = json.at("has_own_user").get<bool>();
        order.removes_work = json.at("removes_work").get<bool>();
        order.isolation = read_isolation(json.at("isolation"));
        order.hidden = json.at("hidden").get<std::string>();
        order.home = json.value("home", std::string()); // older agents knew none
        order.shows_home = json.value("shows_home", false);
        order.gpu_memory = json.value("gpu_memory", std::string()); // nor this one
        if (json.contains("staging")) {                             // nor this one
            Result<StagingRule> staging = read_staging_rule(json["staging"]);
            if (!staging) return staging.error();
            order.staging = std::move(*staging);
        }
        order.input_cache = {.folder = json.value("input_cache", std::string()), // nor these
                             .limit_bytes = json.value("input_cache_bytes", std::int64_t{0})};
        for (const std::string& path : json.at("shared").get<std::vector<std::string>>())
            order.shared.emplace_back(path);
        if (json.contains("user")) {
            const Json& user = json["user"];
            order.user = JobUser{user.at("name").get<std::string>(), user.at("uid").get<unsigned>(),
                                 user.at("gid").get<unsigned>()};
        }
    } catch (const std::exception& e) {
        return Error{Errc::kInvalid, std::string("order.json is damaged: ") + e.what()};
    }
    return order;
}

std::optional<ProcessName> name_process(int pid)
{
    const Result<std::string> stat = read_file("/proc/" + std::to_string(pid) + "/stat", 65536);
    if (!stat) return std::nullopt;
    // The second field is the program's name in parentheses and may hold anything.
    const std::size_t name_end = stat->rfind(')');
    if (name_end == std::string::npos) return std::nullopt;
    std::istringstream fields(stat->substr(name_end + 1));
    std::string skipped;
    for (int i = 0; i < 19; ++i)
        fields >> skipped;
    ProcessName process{pid, 0};
    if (!(fields >> process.start_ticks)) return std::nullopt;
    return process;
}

std::string encode_running(Timestamp started_at)
{
    return Json{{"started_at", format_rfc3339(started_at)}}.dump();
}

std::optional<Timestamp> decode_running(std::string_view text)
{
    const Result<Json> json = parse_json(text);
    if (!json) return std::nullopt;
    std::vector<FieldError> errors;
    return ObjectReader(*json, "", errors).optional_time("started_at");
}

std::string encode_supervisor(const ProcessName& process)
{
    return Json{{"pid", process.pid}, {"start_ticks", process.start_ticks}}.dump();
}

std::optional<ProcessName> decode_supervisor(std::string_view text)
{
    const Result<Json> json = parse_json(text);
    if (!json) return std::nullopt;
    std::vector<FieldError> errors;
    ObjectReader reader(*json, "", errors);
    const std::int64_t pid = reader.required_integer("pid", 1, std::numeric_limits<int>::max());
    const std::int64_t ticks = reader.required_integer("start_ticks", 0, std::numeric_limits<std::int64_t>::max());
    if (!errors.empty()) return std::nullopt;
    return ProcessName{static_cast<int>(pid), ticks};
}

std::optional<AttemptEnd> decode_status(std::string_view text)
{
    auto decoded = link::decode(text);
    auto* message = std::get_if<link::Message>(&decoded);
    auto* ended = message == nullptr ? nullptr : std::get_if<link::AttemptEnded>(&message->body);
    return ended == nullptr ? std::nullopt : std::optional(std::move(ended->end));
}

void signal_process(const ProcessName& process, int signal)
{
    if (is_alive(process)) ::kill(process.pid, signal);
}

std::string supervisor_cgroup(const ProcessName& supervisor)
{
    return kCgroupPrefix + std::to_string(supervisor.pid) + "-" + std::to_string(supervisor.start_ticks) + "-" +
           std::to_string(pid_namespace());
}

std::optional<ProcessName> supervisor_of_cgroup(const std::string& name)
{
    if (!name.starts_with(kCgroupPrefix)) return std::nullopt;
    std::istringstream fields(name.substr(std::string_view(kCgroupPrefix).size()));
    ProcessName process;
    char dash = 0;
    char second_dash = 0;
    std::uint64_t numbered_in = 0;
    fields >> process.pid >> dash >> process.start_ticks >> second_dash >> numbered_in;
    if (!fields || dash != '-' || second_dash != '-' || numbered_in != pid_namespace()) return std::nullopt;
    return process;
}

bool is_alive(const ProcessName& process)
{
    const std::optional<ProcessName> present = name_process(process.pid);
    return present && present->start_ticks == process.start_ticks;
}

} // namespace fathom::agent
