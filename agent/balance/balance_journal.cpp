#include "agent/balance/balance_journal.hpp"

#include "core/base/error_text.hpp"
#include "core/base/file.hpp"

#include <sstream>

namespace fathom::agent {
namespace {

constexpr std::size_t kLargestJournal = 16UL << 20U;

} // namespace

Result<BalanceJournal> BalanceJournal::open(std::filesystem::path path)
{
    BalanceJournal journal(std::move(path));
    const Result<std::string> text = read_file(journal.path_, kLargestJournal);
    if (!text && text.error().code == Errc::kNotFound) return journal;
    if (!text) return Error{Errc::kUnavailable, text.error().detail};
    std::istringstream lines(*text);
    for (std::string line; std::getline(lines, line);) {
        const Result<Json> json = parse_json(line);
        std::vector<FieldError> errors;
        if (!json || !json->is_object())
            return Error{Errc::kUnavailable, journal.path_.string() + " is damaged: look at it and remove it"};
        ObjectReader reader(*json, "", errors);
        const std::string unit = reader.required_string("unit", {});
        const std::string actuator = reader.required_string("actuator", {});
        const Json* const undo = reader.object("undo");
        if (undo == nullptr || !errors.empty())
            return Error{Errc::kUnavailable, journal.path_.string() + " is damaged: look at it and remove it"};
        if (!journal.entries_.insert_or_assign({unit, actuator}, *undo).second) continue;
        journal.order_.emplace_back(unit, actuator);
    }
    return journal;
}

Result<void> BalanceJournal::store(const std::map<Key, Json>& entries, const std::vector<Key>& order) const
{
    if (entries.empty()) {
        std::error_code failure;
        std::filesystem::remove(path_, failure);
        if (failure) return Error{Errc::kUnavailable, "cannot remove " + path_.string() + ": " + failure.message()};
        return {};
    }
    std::string text;
    for (const Key& key : order)
        text += Json{{"unit", key.first}, {"actuator", key.second}, {"undo", entries.at(key)}}.dump() + "\n";
    return write_file(path_, text, 0600);
}

/// The file first: what it does not say is not so here either.
Result<void> BalanceJournal::replace(std::map<Key, Json> entries, std::vector<Key> order)
{
    Result<void> stored = store(entries, order);
    if (!stored) return stored;
    entries_ = std::move(entries);
    order_ = std::move(order);
    return {};
}

Result<void> BalanceJournal::note(const std::string& unit, const std::string& actuator, const Json& undo)
{
    std::map<Key, Json> entries = entries_;
    const auto [entry, is_new] = entries.try_emplace({unit, actuator}, undo);
    // It is changed anew, which nobody has asked to undo yet.
    if (!is_new && entry->second.erase(kAskedBack) == 0) return {};
    std::vector<Key> order = order_;
    if (is_new) order.emplace_back(unit, actuator);
    return replace(std::move(entries), std::move(order));
}

Result<void> BalanceJournal::mark_asked(const std::string& unit, const std::string& actuator, const Json& mark)
{
    std::map<Key, Json> entries = entries_;
    const auto entry = entries.find({unit, actuator});
    if (entry == entries.end()) return {};
    entry->second[kAskedBack] = mark;
    return replace(std::move(entries), order_);
}

Result<void> BalanceJournal::forget(const std::string& unit, const std::string& actuator)
{
    std::map<Key, Json> entries = entries_;
    if (entries.erase({unit, actuator}) == 0) return {};
    std::vector<Key> order = order_;
    std::erase(order, Key{unit, actuator});
    return replace(std::move(entries), std::move(order));
}

} // namespace fathom::agent
