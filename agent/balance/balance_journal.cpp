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
        journal.entries_[{unit, actuator}] = *undo;
    }
    return journal;
}

Result<void> BalanceJournal::store() const
{
    if (entries_.empty()) {
        std::error_code failure;
        std::filesystem::remove(path_, failure);
        if (failure) return Error{Errc::kUnavailable, "cannot remove " + path_.string() + ": " + failure.message()};
        return {};
    }
    std::string text;
    for (const auto& [key, undo] : entries_)
        text += Json{{"unit", key.first}, {"actuator", key.second}, {"undo", undo}}.dump() + "\n";
    return write_file(path_, text, 0600);
}

Result<void> BalanceJournal::note(const std::string& unit, const std::string& actuator, const Json& undo)
{
    const auto [entry, is_new] = entries_.try_emplace({unit, actuator}, undo);
    if (!is_new) {
        // It is changed anew, which nobody has asked to undo yet.
        if (entry->second.erase(kAskedBack) == 0) return {};
        Result<void> stored = store();
        if (!stored) entry->second[kAskedBack] = true;
        return stored;
    }
    Result<void> stored = store();
    if (!stored) entries_.erase(entry);
    return stored;
}

Result<void> BalanceJournal::mark_asked(const std::string& unit, const std::string& actuator)
{
    const auto entry = entries_.find({unit, actuator});
    if (entry == entries_.end()) return {};
    entry->second[kAskedBack] = true;
    return store();
}

Result<void> BalanceJournal::forget(const std::string& unit, const std::string& actuator)
{
    if (entries_.erase({unit, actuator}) == 0) return {};
    return store();
}

} // namespace fathom::agent
