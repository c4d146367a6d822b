#include "core/base/log.hpp"

#include "core/base/clock.hpp"
#include "core/base/hex.hpp"
#include "core/base/log_line.hpp"

#include <nlohmann/json.hpp>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

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

/// The character at the beginning of UTF-8 text, if terminals that show a log would obey it: DEL, the controls U+0080
/// to U+009F, and what turns the direction of the text after it. JSON itself wants only controls below U+0020 escaped.
std::optional<unsigned> obeyed_control(std::string_view text)
{
    const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    if (byte(0) == 0x7F) return 0x7FU;
    if (byte(0) == 0xC2 && byte(1) >= 0x80 && byte(1) <= 0x9F) return byte(1);
    if (byte(0) != 0xE2) return std::nullopt;
    const bool turns_direction = (byte(1) == 0x80 && byte(2) >= 0xAA && byte(2) <= 0xAE) ||
                                 (byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9);
    if (!turns_direction) return std::nullopt;
    return 0x2000U | (byte(1) & 0x3FU) << 6U | (byte(2) & 0x3FU);
}

/// That one of them takes.
std::size_t utf8_bytes(unsigned code)
{
    if (code == 0x7F) return 1;
    return code <= 0xFF ? 2 : 3;
}

/// The same JSON with those characters escaped: what strangers say may stand in a line.
std::string escape_controls(const std::string& json)
{
    constexpr unsigned kByteMask = 0xFF;
    std::string safe;
    safe.reserve(json.size());
    for (std::size_t i = 0; i < json.size();) {
        const std::optional<unsigned> code = obeyed_control(std::string_view(json).substr(i, 3));
        if (!code) {
            safe += json[i++];
            continue;
        }
        safe += "\\u";
        append_hex(safe, static_cast<unsigned char>(*code >> 8U));
        append_hex(safe, static_cast<unsigned char>(*code & kByteMask));
        i += utf8_bytes(*code);
    }
    return safe;
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
                        escape_controls(line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)));
}

void log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields)
{
    write_log_line(level, event, {fields.begin(), fields.size()});
}

} // namespace fathom
