#pragma once

#include "core/base/json_reader.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace fathom::agent {

/// In what a journal has to undo: it was asked for already. What mark_asked() was given; `true` in journals of older
/// agents.
inline constexpr const char* kAskedBack = "asked_back";

/// What the loop has changed and how it was before: on disk before the change is made, so that it can be put back after
/// a kill or a power failure. The file is gone when nothing is changed. In a folder that nobody else may write to: what
/// stands there is written to the places that it names. Not thread-safe; blocks.
class BalanceJournal {
  public:
    /// Takes up what an earlier process left.
    /// @error kUnavailable  the file is there and cannot be read.
    static Result<BalanceJournal> open(std::filesystem::path path);

    /// Notes how an actuator stands (Actuator::undo()) before it is changed first; later calls for it keep what
    /// the first has noted.
    /// @error kUnavailable  it is not on disk: do not change anything.
    Result<void> note(const std::string& unit, const std::string& actuator, const Json& undo);
    /// What it was put back to has been asked for and may be answered otherwise: the entry stays with the mark
    /// kAskedBack, which the next note() takes away.
    /// @error kUnavailable  the mark is not on disk, nor here: it will be asked for once more, which does no harm.
    Result<void> mark_asked(const std::string& unit, const std::string& actuator, const Json& mark);
    /// It has been put back.
    /// @error kUnavailable  file and entry stay as they were: it will be put back once more, which does no harm.
    Result<void> forget(const std::string& unit, const std::string& actuator);

    using Key = std::pair<std::string, std::string>; ///< unit and actuator
    const std::map<Key, Json>& entries() const { return entries_; }
    /// What was noted last comes first: changes are put back in this order, since a later one may have been noted on
    /// top of an earlier one of the same knob (processors of two units that have one clock).
    std::vector<Key> newest_first() const { return {order_.rbegin(), order_.rend()}; }

  private:
    explicit BalanceJournal(std::filesystem::path path) : path_(std::move(path)) {}
    Result<void> store(const std::map<Key, Json>& entries, const std::vector<Key>& order) const;
    Result<void> replace(std::map<Key, Json> entries, std::vector<Key> order);

    std::filesystem::path path_;
    std::map<Key, Json> entries_;
    std::vector<Key> order_; ///< of the entries, as they were noted; that of the file's lines
};

} // namespace fathom::agent
