#include "cli/centers/resource_document.hpp"

#include "core/base/error_text.hpp"
#include "core/base/file.hpp"
#include "core/base/wait_for_child.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

// What posix_spawn hands on: POSIX has the program declare it.
extern char** environ; // NOLINT(readability-identifier-naming)

namespace fathom::cli {
namespace {

/// Whether YAML reads a text as just that text without quotes.
bool is_plain(const std::string& text)
{
    static constexpr std::array kWords{"true", "false", "null", "yes", "no", "on", "off", "y", "n"};
    const auto is_letter = [](unsigned char c) { return std::isalpha(c) != 0; };
    const auto is_fine = [](unsigned char c) {
        return std::isalnum(c) != 0 || std::string_view("_-./").find(static_cast<char>(c)) != std::string_view::npos;
    };
    if (text.empty() || !is_letter(static_cast<unsigned char>(text.front()))) return false;
    std::string lower = text;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return std::all_of(text.begin(), text.end(), is_fine) &&
           std::none_of(kWords.begin(), kWords.end(), [&](const char* word) { return lower == word; });
}

std::string scalar(const Json& value)
{
    if (value.is_string() && is_plain(value.get<std::string>())) return value.get<std::string>();
    return value.dump(-1, ' ', false, Json::error_handler_t::replace); // JSON's texts and numbers are YAML's, too
}

bool is_block(const Json& value)
{
    return (value.is_object() || value.is_array()) && !value.empty();
}

void write_value(std::string& text, const Json& value, std::size_t indent);

void write_member(std::string& text, const std::string& name, const Json& value, std::size_t indent)
{
    text += scalar(name) + ":";
    if (is_block(value)) {
        text += "\n" + std::string(indent + 2, ' ');
        write_value(text, value, indent + 2);
    } else {
        text += " " + scalar(value) + "\n";
    }
}

/// The cursor stands at `indent` already; it ends at the start of a line.
void write_value(std::string& text, const Json& value, std::size_t indent)
{
    const std::string margin(indent, ' ');
    bool is_first = true;
    const auto next = [&] { text += std::exchange(is_first, false) ? "" : margin; };
    if (value.is_object()) {
        if (value.contains("name")) {
            next();
            write_member(text, "name", value.at("name"), indent);
        }
        for (const auto& [name, item] : value.items()) {
            if (name == "name") continue;
            next();
            write_member(text, name, item, indent);
        }
    } else if (value.is_array()) {
        for (const Json& item : value) {
            next();
            text += "- ";
            if (is_block(item))
                write_value(text, item, indent + 2);
            else
                text += scalar(item) + "\n";
        }
    }
}

std::vector<std::string> lines_of(const std::string& text)
{
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    return lines;
}

std::string temporary_folder(const Console& console)
{
    const std::string folder = console.environment("TMPDIR");
    return folder.empty() ? "/tmp" : folder;
}

std::string editor_of(const Console& console)
{
    for (const char* name : {"VISUAL", "EDITOR"}) {
        if (const std::string editor = console.environment(name); !editor.empty()) return editor;
    }
    return "vi";
}

} // namespace

std::string write_yaml(const Json& document)
{
    if (!is_block(document)) return scalar(document) + "\n";
    std::string text;
    write_value(text, document, 0);
    return text;
}

std::string line_difference(const std::string& before, const std::string& after)
{
    if (before == after) return {};
    const std::vector<std::string> old_lines = lines_of(before);
    const std::vector<std::string> new_lines = lines_of(after);
    // common[i][j]: how many lines those from i and from j on have in common, in their order.
    std::vector<std::vector<std::size_t>> common(old_lines.size() + 1, std::vector<std::size_t>(new_lines.size() + 1));
    for (std::size_t i = old_lines.size(); i-- > 0;) {
        for (std::size_t j = new_lines.size(); j-- > 0;)
            common[i][j] =
                old_lines[i] == new_lines[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
    }
    std::string text;
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < old_lines.size() || j < new_lines.size()) {
        if (i < old_lines.size() && j < new_lines.size() && old_lines[i] == new_lines[j]) {
            text += "  " + old_lines[i++] + "\n";
            ++j;
        } else if (j == new_lines.size() || (i < old_lines.size() && common[i + 1][j] >= common[i][j + 1])) {
            text += "- " + old_lines[i++] + "\n";
        } else {
            text += "+ " + new_lines[j++] + "\n";
        }
    }
    return text;
}

Result<void> run_editor(const Console& console, const std::string& path)
{
    std::string shell = "/bin/sh";
    std::string option = "-c";
    std::string line = editor_of(console) + " \"$0\""; // an editor may have options of its own
    std::string file = path;
    const std::array<char*, 5> arguments{shell.data(), option.data(), line.data(), file.data(), nullptr};
    pid_t child = 0;
    if (const int failed = ::posix_spawn(&child, shell.c_str(), nullptr, nullptr, arguments.data(), environ);
        failed != 0)
        return Error{Errc::kUnavailable, "no editor can be started: " + error_text(failed)};
    int status = 0;
    if (reap_child(child, status) < 0) return Error{Errc::kUnavailable, "the editor was lost: " + error_text(errno)};
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
    return Error{Errc::kUnavailable, "the editor \"" + editor_of(console) + "\" failed: nothing was changed"};
}

Result<std::string> write_temporary_file(const Console& console, const std::string& content)
{
    std::string path = temporary_folder(console) + "/fathom-resources-XXXXXX.yaml";
    const int descriptor = ::mkstemps(path.data(), 5);
    if (descriptor < 0) return Error{Errc::kUnavailable, path + ": " + error_text(errno)};
    ::close(descriptor);
    if (const Result<void> written = write_file(path, content, 0600); !written) return written.error();
    return path;
}

} // namespace fathom::cli
