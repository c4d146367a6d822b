#include "agent/executor/local/attempt_folder.hpp"

#include "core/base/file.hpp"
#include "schema/link/messages.hpp"

#include <csignal>
#include <fcntl.h>
#include <sstream>
#include <unistd.h>

namespace fathom::agent {

std::string_view to_string(OutputStream stream)
{
    return stream == OutputStream::kStdout ? "stdout" : "stderr";
}

std::string encode(const SupervisorOrder& order)
{
    Json json = {{"start", link::encode(link::make_message(link::StartAttempt{order.run.order}))},
                 {"cpus", order.run.cpus},
                 {"cores", order.run.cores},
                 {"memory_bytes", order.run.memory_bytes},
                 {"environment", order.run.environment},
                 {"programs", order.programs.string()},
                 {"output_limit_bytes", order.output_limit_bytes},
                 {"has_own_user", order.has_own_user},
                 {"removes_work", order.removes_work},
                 {"isolation",
                  {{"user_namespace", order.isolation.user_namespace},
                   {"files", order.isolation.files},
                   {"processes", order.isolation.processes}}},
                 {"hidden", order.hidden.string()},
                 {"shared", Json::array()}};
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
        auto decoded = link::decode(json.at("start").get<std::string>());
        if (const auto* failure = std::get_if<link::DecodeFailure>(&decoded)) return failure->error;
        order.run.order = std::get<link::StartAttempt>(std::get<link::Message>(decoded).body).order;
        order.run.cpus = json.at("cpus").get<std::vector<std::int64_t>>();
        order.run.cores = json.at("cores").get<std::int64_t>();
        order.run.memory_bytes = json.at("memory_bytes").get<std::int64_t>();
        order.run.environment = json.at("environment").get<std::map<std::string, std::string>>();
        order.programs = json.at("programs").get<std::string>();
        order.output_limit_bytes = json.at("output_limit_bytes").get<std::int64_t>();
        order.has_own_user = json.at("has_own_user").get<bool>();
        order.removes_work = json.at("removes_work").get<bool>();
        const Json& isolation = json.at("isolation");
        order.isolation = {isolation.at("user_namespace").get<bool>(), isolation.at("files").get<bool>(),
                           isolation.at("processes").get<bool>(), ""};
        order.hidden = json.at("hidden").get<std::string>();
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

bool take_lock(int fd)
{
    struct flock lock{};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    return ::fcntl(fd, F_OFD_SETLK, &lock) == 0;
}

bool is_locked(const std::filesystem::path& path)
{
    const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) return false;
    struct flock lock{};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    const bool known = ::fcntl(fd, F_OFD_GETLK, &lock) == 0;
    ::close(fd);
    return known && lock.l_type != F_UNLCK;
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

void signal_process(const ProcessName& process, int signal)
{
    const std::optional<ProcessName> present = name_process(process.pid);
    if (present && present->start_ticks == process.start_ticks) ::kill(process.pid, signal);
}

} // namespace fathom::agent
