#include "agent/executor/slurm/leaf_switches.hpp"

#include "agent/executor/batch/script_parts.hpp"
#include "core/base/parse_number.hpp"
#include "core/base/split_text.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

namespace fathom::agent {
namespace {

constexpr std::size_t kMaxHostBytes = 255;
constexpr std::size_t kMaxHostDigits = 9;
constexpr std::size_t kMaxSwitchNameBytes = 64;
constexpr std::size_t kMaxSwitchesNamed = 32;

/// A line of scontrol's answer; a word that it does not have is empty.
struct SwitchLine {
    std::string_view name;
    std::string_view level;
    std::string_view nodes;
};

SwitchLine read_switch(std::string_view line)
{
    constexpr std::string_view kName = "SwitchName=";
    constexpr std::string_view kLevel = "Level=";
    constexpr std::string_view kNodes = "Nodes=";
    SwitchLine read;
    if (!line.starts_with(kName)) return read; // a warning
    for (const std::string_view word : split_text(line, ' ')) {
        if (word.starts_with(kName)) read.name = word.substr(kName.size());
        if (word.starts_with(kLevel)) read.level = word.substr(kLevel.size());
        if (word.starts_with(kNodes)) read.nodes = word.substr(kNodes.size());
    }
    return read;
}

/// The items of a list; commas in brackets separate none.
std::vector<std::string_view> items_of_list(std::string_view list)
{
    std::vector<std::string_view> items;
    std::size_t begin = 0;
    bool is_in_brackets = false;
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (list[i] == '[') is_in_brackets = true;
        if (list[i] == ']') is_in_brackets = false;
        if (list[i] != ',' || is_in_brackets) continue;
        items.push_back(list.substr(begin, i - begin));
        begin = i + 1;
    }
    items.push_back(list.substr(begin));
    return items;
}

std::optional<std::size_t> host_number(std::string_view digits)
{
    if (digits.size() > kMaxHostDigits) return std::nullopt;
    return parse_number<std::size_t>(digits);
}

/// With as many digits as the list gives its range.
std::string with_zeros(std::size_t number, std::size_t digits)
{
    const std::string text = std::to_string(number);
    return std::string(digits - std::min(digits, text.size()), '0') + text;
}

/// `01-04,07` one by one; empty: it is not that, or more than `most`.
std::vector<std::string> expand_ranges(std::string_view ranges, std::size_t most)
{
    std::vector<std::string> numbers;
    for (const std::string_view range : split_text(ranges, ',')) {
        const std::vector<std::string_view> ends = split_text(range, '-');
        const std::optional<std::size_t> first = host_number(ends.front());
        const std::optional<std::size_t> last = host_number(ends.back());
        if (ends.size() > 2 || !first || !last || *last < *first || *last - *first >= most - numbers.size()) return {};
        for (std::size_t number = *first; number <= *last; ++number)
            numbers.push_back(with_zeros(number, ends.front().size()));
    }
    return numbers;
}

/// `beginnings`, each with each of the endings.
std::vector<std::string> each_with_each(const std::vector<std::string>& beginnings,
                                        const std::vector<std::string>& endings)
{
    std::vector<std::string> all;
    all.reserve(beginnings.size() * endings.size());
    for (const std::string& beginning : beginnings) {
        for (const std::string& ending : endings)
            all.push_back(beginning + ending);
    }
    return all;
}

/// Of one item of a list: `gpu-a[1-2]x[1-2]`.
std::vector<std::string> expand_item(std::string_view item, std::size_t most)
{
    std::vector<std::string> hosts{std::string()};
    for (;;) {
        const std::size_t open = std::min(item.find('['), item.size());
        const std::string_view plain = item.substr(0, open);
        if (!has_only(plain, "_-.") || hosts.front().size() + plain.size() > kMaxHostBytes) return {};
        for (std::string& host : hosts)
            host += plain;
        item.remove_prefix(open);
        if (item.empty()) break;
        const std::size_t close = item.find(']');
        if (close == std::string_view::npos) return {};
        const std::vector<std::string> numbers = expand_ranges(item.substr(1, close - 1), most / hosts.size());
        if (numbers.empty()) return {};
        hosts = each_with_each(hosts, numbers);
        item.remove_prefix(close + 1);
    }
    if (hosts.front().empty() || hosts.size() > most) return {};
    return hosts;
}

/// How many of the nodes each leaf switch has.
std::map<std::string, std::int64_t> count_by_switch(const std::vector<const SlurmNode*>& nodes)
{
    std::map<std::string, std::int64_t> counts;
    for (const SlurmNode* node : nodes) {
        for (const std::string& leaf : node->leaf_switches)
            ++counts[leaf];
    }
    return counts;
}

} // namespace

std::vector<std::string> expand_hosts(std::string_view list, std::size_t most)
{
    std::vector<std::string> hosts;
    for (const std::string_view item : items_of_list(list)) {
        std::vector<std::string> some = expand_item(item, most - hosts.size());
        if (some.empty()) return {};
        hosts.insert(hosts.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
    }
    return hosts;
}

LeafSwitches parse_leaf_switches(std::string_view text)
{
    LeafSwitches switches;
    std::size_t links = 0;
    for (const std::string_view line : split_text(text, '\n')) {
        const SwitchLine read = read_switch(line);
        if (read.name.empty()) continue;
        const std::optional<std::size_t> level = host_number(read.level);
        if (!level || read.name.size() > kMaxSwitchNameBytes || !has_only(read.name, "_-.")) return {};
        if (*level > 0 || read.nodes.empty()) continue; // above the leaves, or nothing is connected
        const std::vector<std::string> hosts = expand_hosts(read.nodes, kMaxSlurmNodes - links);
        if (hosts.empty()) return {};
        links += hosts.size();
        for (const std::string& host : hosts) {
            std::vector<std::string>& leaves = switches[host];
            if (leaves.empty() || leaves.back() != read.name) leaves.emplace_back(read.name);
        }
    }
    return switches;
}

std::int64_t most_below_a_switch(const std::vector<const SlurmNode*>& nodes)
{
    std::int64_t most = 0;
    const std::map<std::string, std::int64_t> counts = count_by_switch(nodes);
    for (const auto& [leaf, count] : counts)
        most = std::max(most, count);
    return most;
}

Json leaf_switch_facts(const std::vector<const SlurmNode*>& nodes, std::int64_t units_per_node)
{
    const std::map<std::string, std::int64_t> counts = count_by_switch(nodes);
    Json facts = Json::object();
    if (counts.empty()) {
        facts["absent"] = "Slurm tells no switches of these nodes (topology/tree)";
        return facts;
    }
    facts["count"] = counts.size();
    facts["most_units_of_one"] = most_below_a_switch(nodes) * units_per_node;
    if (counts.size() <= kMaxSwitchesNamed) facts["nodes"] = counts;
    const auto without =
        std::count_if(nodes.begin(), nodes.end(), [](const SlurmNode* node) { return node->leaf_switches.empty(); });
    if (without > 0) facts["nodes_without"] = without;
    return facts;
}

} // namespace fathom::agent
