#include "cli/simulation/command_text.hpp"

#include <string_view>

namespace fathom::cli {
namespace {

/// What a shell takes as it stands.
constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";

/// As a shell takes it for one word.
std::string shell_word(const std::string& text)
{
    if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
    std::string word = "'";
    for (const char c : text)
        word += c == '\'' ? "'\\''" : std::string(1, c);
    return word + "'";
}

} // namespace

std::string command_text(const CLI::App& verb)
{
    std::string text = "fathom simulate";
    for (const CLI::Option* option : verb.get_options()) {
        if (option->count() == 0 || option->get_name() == "--help") continue;
        for (const std::string& value : option->results())
            text += " " + option->get_name() + (option->get_items_expected_max() == 0 ? "" : " " + shell_word(value));
    }
    return text;
}

} // namespace fathom::cli
