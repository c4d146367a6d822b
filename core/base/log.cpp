#include "core/base/log.hpp"

#include "core/base/clock.hpp"
#include "core/base/log_line.hpp"

#include <nlohmann/json.hpp>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

namespace fathom {
namespace {

struct LogState {
    std::string program = "fathom";
    std::shared_ptr<spdlog::logger> logger = make_logger();

    static std::shared_ptr<spdlog::logger> make_logger()
    {
        auto logger = std::make_shared<spdlog::logger>("fathom", std::make_shared<spdlog::sinks::stderr_sink_mt>());
        logger->set_pattern("%v"); // the line is JSON already
        logger->set_level(spdlog::level::info);
        logger->flush_on(spdlog::level::debug);
        return logger;
    }
};

LogState& state()
{
    static LogState instance;
    return instance;
}

spdlog::level::level_enum to_spdlog(LogLevel level)
{
    switch (level) {
    case LogLevel::kDebug:
        return spdlog::level::debug;
    case LogLevel::kInfo:
        return spdlog::level::info;
    case LogLevel::kWarning:
        return spdlog::level::warn;
    case LogLevel::kError:
        return spdlog::level::err;
    }
    return spdlog::level::info;
}

std::string_view level_name(LogLevel level)
{
    switch (level) {
    case LogLevel::kDebug:
        return "debug";
    case LogLevel::kInfo:
        return "info";
    case LogLevel::kWarning:
        return "warning";
    case LogLevel::kError:
        return "error";
    }
    return "info";
}

} // namespace

void start_log(std::string_view program, LogLevel least)
{
    state().program = std::string(program);
    state().logger->set_level(to_spdlog(least));
}

void write_log_line(LogLevel level, std::string_view event, std::span<const LogField> fields)
{
    if (!state().logger->should_log(to_spdlog(level))) return;
    nlohmann::ordered_json line;
    line["time"] = format_rfc3339(SystemClock().now());
    line["level"] = level_name(level);
    line["program"] = state().program;
    line["event"] = event;
    for (const LogField& field : fields) {
        std::visit([&](const auto& value) { line[std::string(field.key)] = value; }, field.value);
    }
    state().logger->log(to_spdlog(level), "{}",
                        line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

void log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields)
{
    write_log_line(level, event, {fields.begin(), fields.size()});
}

} // namespace fathom
