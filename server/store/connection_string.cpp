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

} // namespace

Result<std::string> connection_string(const std::string& url)
{
    char* message = nullptr;
    const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> options(PQconninfoParse(url.c_str(), &message),
                                                                               &PQconninfoFree);
    if (options == nullptr) {
        // libpq's message can quote the string, password included.
        PQfreemem(message);
        return Error{Errc::kInvalid,
                     "the database setting is neither a postgresql:// URL nor a libpq connection string"};
    }
    std::string text;
    for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
        if (option->val != nullptr)
            append(text, option->keyword, option->val);
        else
            for (const Default& ours : kDefaults)
                if (ours.keyword == option->keyword) append(text, ours.keyword, ours.value);
    }
    return text;
}

} // namespace fathom::server
