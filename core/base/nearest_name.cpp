#include "core/base/nearest_name.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {
namespace {

constexpr std::size_t kMaxChanges = 2;
constexpr std::size_t kLettersPerChange = 3;

char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_alike(char a, char b)
{
    return lower(a) == lower(b);
}

/// Changes from one text to the other; anything above `most` when they are more.
std::size_t changes_between(std::string_view a, std::string_view b, std::size_t most)
{
    const std::size_t longer = std::max(a.size(), b.size());
    if (longer - std::min(a.size(), b.size()) > most) return most + 1;
    // Row i: from the first i letters of a to the first j of b.
    std::vector<std::size_t> before_last(b.size() + 1);
    std::vector<std::size_t> last(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(last.begin(), last.end(), 0U);
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t changed = last[j - 1] + (is_alike(a[i - 1], b[j - 1]) ? 0 : 1);
            row[j] = std::min({changed, last[j] + 1, row[j - 1] + 1});
            const bool is_swapped = i > 1 && j > 1 && is_alike(a[i - 1], b[j - 2]) && is_alike(a[i - 2], b[j - 1]);
            if (is_swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
        }
        if (*std::min_element(row.begin(), row.end()) > most) return most + 1;
        before_last.swap(last);
        last.swap(row);
    }
    return last[b.size()];
}

} // namespace

std::string nearest_name(std::string_view given, const std::set<std::string, std::less<>>& known)
{
    std::size_t fewest = std::min(kMaxChanges, given.size() / kLettersPerChange) + 1;
    std::string nearest;
    for (const std::string& name : known) {
        const std::size_t changes = changes_between(given, name, fewest - 1);
        if (changes >= fewest) continue;
        fewest = changes;
        nearest = name;
        if (fewest == 0) break;
    }
    return nearest;
}

std::string name_hint(std::string_view given, const std::set<std::string, std::less<>>& known)
{
    if (const std::string meant = nearest_name(given, known); !meant.empty()) return "; did you mean " + meant + "?";
    if (known.empty()) return {};
    return (known.size() == 1 ? "; there is " : "; there are ") + short_list(known);
}

std::string short_list(const std::set<std::string, std::less<>>& names, std::size_t most)
{
    std::string text;
    std::size_t said = 0;
    for (const std::string& name : names) {
        if (said == most) return text + " and " + std::to_string(names.size() - said) + " more";
        const bool is_last = said + 1 == names.size();
        text += (said == 0 ? "" : is_last ? " and " : ", ") + name;
        ++said;
    }
    return text;
}

} // namespace fathom
