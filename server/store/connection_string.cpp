#include "server/store/connection_string.hpp"

#include <array>
#include <libpq-fe.h>
#include <memory>

namespace fathom::server {
namespace {

struct Default {
    std::string_view keyword;
    std::string_view value;
};
// Without these a connection whose peer vanished can hang a pool thread for many minutes.
constexpr std::array<Default, 6> kDefaults{{{"connect_timeout", "5"},
                                            {"application_name", "fathomd"},
                                            {"keepalives_idle", "10"},
                                            {"keepalives_interval", "5"},
                                            {"keepalives_count", "4"},
                                            {"tcp_user_timeout", "30000"}}};

std::string quoted(std::string_view value)
{
    std::string text = "'";
    for (const char c : value) {
        if (c == '\'' || c == '\\') text += '\\';
        text += c;
    }
    return text + "'";
}

void append(std::string& text, std::string_view keyword, std::string_view value)
{
    if (!text.empty()) text += ' ';
    text.append(keyword).append("=").append(quoted(value));
}

using ConnectionOptions = std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)>;

Result<ConnectionOptions> parse_connection(const std::string& url)
{
    char* message = nullptr;
    ConnectionOptions options(PQconninfoParse(url.c_str(), &message), &PQconninfoFree);
    if (options != nullptr) return options;
    // libpq's message can quote the string, password included.
    PQfreemem(message);
    return Error{Errc::kInvalid, "the database setting is neither a postgresql:// URL nor a libpq connection string"};
}

bool is_secret(const PQconninfoOption& option)
{
    return std::string_view(option.dispchar) == "*";
}

/// What is not said and has a default of ours.
void append_default(std::string& text, const PQconninfoOption& option)
{
    for (const Default& ours : kDefaults)
        if (ours.keyword == option.keyword) append(text, ours.keyword, ours.value);
}

} // namespace

Result<std::string> connection_string(const std::string& url)
{
    const Result<ConnectionOptions> options = parse_connection(url);
    if (!options) return options.error();
    std::string text;
    for (const PQconninfoOption* option = options->get(); option->keyword != nullptr; ++option) {
        if (option->val != nullptr)
            append(text, option->keyword, option->val);
        else
            append_default(text, *option);
    }
    return text;
}

Result<ToolConnection> tool_connection(const std::string& url)
{
    const Result<ConnectionOptions> options = parse_connection(url);
    if (!options) return options.error();
    ToolConnection connection;
    for (const PQconninfoOption* option = options->get(); option->keyword != nullptr; ++option) {
        if (option->val == nullptr) {
            append_default(connection.text, *option);
        } else if (!is_secret(*option)) {
            append(connection.text, option->keyword, option->val);
        } else if (option->envvar != nullptr) {
            connection.environment.push_back(std::string(option->envvar) + "=" + option->val);
        } else {
            return Error{Errc::kInvalid, std::string(option->keyword) +
                                             " of the database cannot be given to PostgreSQL's "
                                             "programs; name a key without one (sslkey=…)"};
        }
    }
    return connection;
}

Result<std::string> without_password(const std::string& url)
{
    const Result<ConnectionOptions> options = parse_connection(url);
    if (!options) return options.error();
    std::string text;
    bool has_secret = false;
    for (const PQconninfoOption* option = options->get(); option->keyword != nullptr; ++option) {
        if (option->val == nullptr) continue;
        has_secret = has_secret || is_secret(*option);
        append(text, option->keyword, is_secret(*option) ? "***" : option->val);
    }
    return has_secret ? text : url;
}

} // namespace fathom::server
