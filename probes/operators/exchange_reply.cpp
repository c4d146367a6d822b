#include "probes/operators/exchange_reply.hpp"

#include "core/base/parse_number.hpp"
#include "core/base/split_text.hpp"
#include "core/base/utf8_prefix.hpp"

#include <algorithm>
#include <vector>

namespace fathom::probes {
namespace {

constexpr std::size_t kMaxLibraryBytes = 100;
constexpr std::size_t kMaxQuotedBytes = 80;
constexpr std::size_t kDigestLength = 16;
constexpr int kMaxProcesses = 1'000'000;

/// Whatever it is, on one line.
std::string printable(std::string_view text, std::size_t most_bytes)
{
    std::string line(utf8_prefix(text, most_bytes));
    std::replace_if(line.begin(), line.end(), [](unsigned char c) { return c < ' ' || c > '~'; }, '?');
    return line;
}

Error nonsense(std::string_view line)
{
    return Error{Errc::kUnavailable, "its processes answered \"" + printable(line, kMaxQuotedBytes) + '"'};
}

/// The words after the prefix and the line's name, `most` at most, the last with the rest; empty: it is another line.
std::vector<std::string_view> words_of(std::string_view line, std::string_view name, std::size_t most)
{
    if (!line.starts_with(kExchangeReplyPrefix)) return {};
    std::vector<std::string_view> words = split_text(line.substr(kExchangeReplyPrefix.size()), ' ', most + 1);
    if (words.front() != name || words.size() != most + 1) return {};
    words.erase(words.begin());
    return words;
}

bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

} // namespace

Result<ExchangeReady> parse_exchange_ready(std::string_view line)
{
    const std::vector<std::string_view> words = words_of(line, "ready", 4);
    if (words.empty()) return nonsense(line);
    const std::optional<int> processes = parse_number<int>(words[0]);
    const std::optional<int> hosts = parse_number<int>(words[1]);
    const bool is_complete = processes && hosts && (words[2] == "0" || words[2] == "1") && !words[3].empty();
    if (!is_complete || *processes < 2 || *processes > kMaxProcesses || *hosts < 1 || *hosts > *processes)
        return nonsense(line);
    return ExchangeReady{.processes = *processes,
                         .hosts = *hosts,
                         .is_crowded = words[2] == "1",
                         .library = printable(words[3], kMaxLibraryBytes)};
}

Result<double> parse_exchange_done(std::string_view line)
{
    const std::vector<std::string_view> words = words_of(line, "done", 1);
    const std::optional<double> seconds = words.empty() ? std::nullopt : parse_number<double>(words[0]);
    if (!seconds || *seconds <= 0) return nonsense(line);
    return *seconds;
}

Result<ExchangeChecked> parse_exchange_checked(std::string_view line)
{
    const std::vector<std::string_view> words = words_of(line, "checked", 2);
    if (words.empty()) return nonsense(line);
    const std::optional<double> error = parse_number<double>(words[0]);
    const bool is_digest = words[1].size() == kDigestLength && std::all_of(words[1].begin(), words[1].end(), is_hex);
    if (!error || *error < 0 || !is_digest) return nonsense(line);
    return ExchangeChecked{*error, std::string(words[1])};
}

Result<std::string> parse_exchange_library(std::string_view line)
{
    const std::vector<std::string_view> words = words_of(line, "library", 1);
    if (words.empty() || words[0].empty()) return nonsense(line);
    return printable(words[0], kMaxLibraryBytes);
}

} // namespace fathom::probes
