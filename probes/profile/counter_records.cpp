#include "probes/profile/counter_records.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <linux/perf_event.h>
#include <optional>
#include <utility>

namespace fathom::profile {
namespace {

constexpr std::size_t kMaxMappings = 4096;

struct SampleBody {
    std::uint64_t address;
    std::uint32_t process;
    std::uint32_t thread;
};

struct LostBody {
    std::uint64_t id;
    std::uint64_t lost;
};

template <class T>
std::optional<T> body_of(std::string_view record)
{
    T body{};
    if (record.size() < sizeof(perf_event_header) + sizeof(body)) return std::nullopt;
    std::memcpy(&body, record.data() + sizeof(perf_event_header), sizeof(body));
    return body;
}

/// Takes a word off a line; blanks before it go, too.
std::string_view take_word(std::string_view& line)
{
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    const std::string_view word = line.substr(0, line.find(' '));
    line.remove_prefix(word.size());
    return word;
}

std::optional<std::uint64_t> hexadecimal(std::string_view text)
{
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// "55d4-55d8 r-xp 00002000 fe:01 1234    /usr/bin/program"
std::optional<CodeMapping> read_mapping(std::string_view line)
{
    const std::string_view range = take_word(line);
    const std::string_view rights = take_word(line);
    const std::optional<std::uint64_t> offset = hexadecimal(take_word(line));
    const std::string_view device = take_word(line);
    const std::string_view inode = take_word(line);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    const std::size_t dash = range.find('-');
    if (dash == std::string_view::npos || rights.size() < 3 || rights[2] != 'x' || !offset) return std::nullopt;
    const std::optional<std::uint64_t> begin = hexadecimal(range.substr(0, dash));
    const std::optional<std::uint64_t> end = hexadecimal(range.substr(dash + 1));
    if (!begin || !end || *begin >= *end || !line.starts_with('/')) return std::nullopt;
    constexpr std::string_view kDeleted = " (deleted)";
    const bool is_deleted = line.ends_with(kDeleted);
    if (is_deleted) line.remove_suffix(kDeleted.size());
    std::string identity(device);
    for (const std::string_view part : {inode, line})
        identity.append(" ").append(part);
    return CodeMapping{*begin, *end, *offset, std::string(line), std::move(identity), is_deleted};
}

} // namespace

std::vector<CounterSample> read_samples(std::string_view records, std::uint64_t& lost)
{
    std::vector<CounterSample> samples;
    perf_event_header header{};
    while (records.size() >= sizeof(header)) {
        std::memcpy(&header, records.data(), sizeof(header));
        if (header.size < sizeof(header) || header.size > records.size()) break;
        const std::string_view record = records.substr(0, header.size);
        if (header.type == PERF_RECORD_SAMPLE) {
            if (const auto body = body_of<SampleBody>(record))
                samples.push_back({static_cast<pid_t>(body->process), body->address});
        } else if (header.type == PERF_RECORD_LOST) {
            if (const auto body = body_of<LostBody>(record)) lost += body->lost;
        }
        records.remove_prefix(header.size);
    }
    return samples;
}

std::vector<CodeMapping> read_code_mappings(std::string_view maps)
{
    std::vector<CodeMapping> mappings;
    while (!maps.empty() && mappings.size() < kMaxMappings) {
        const std::string_view line = maps.substr(0, maps.find('\n'));
        maps.remove_prefix(std::min(line.size() + 1, maps.size()));
        if (std::optional<CodeMapping> mapping = read_mapping(line)) mappings.push_back(std::move(*mapping));
    }
    std::sort(mappings.begin(), mappings.end(),
              [](const CodeMapping& a, const CodeMapping& b) { return a.begin < b.begin; });
    return mappings;
}

} // namespace fathom::profile
