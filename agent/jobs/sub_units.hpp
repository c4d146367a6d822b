#pragma once

#include "agent/config/sub_unit_tables.hpp"
#include "core/model/center.hpp"
#include "schema/link/messages.hpp"

#include <functional>
#include <map>
#include <optional>

namespace fathom::agent {

/// What a center has of a kind of sub-units.
struct SubUnitCounts {
    std::int64_t version{}; ///< of the target that it is; 0: none was reached yet
    std::int64_t held{};
    std::int64_t offered{}; ///< of them, that jobs may be placed on

    bool operator==(const SubUnitCounts&) const = default;
};

/// A step from what a center has to what it is to have.
struct SubUnitChange {
    SubUnitRule rule;
    SubUnitCounts from;
    SubUnitCounts to;
    bool moves = true; ///< false: only what is offered changes
};

/// Where the parts are after a change.
enum class PartsPlace {
    kKnown,
    kUnsure ///< a program has failed: the next change moves them, whatever the counts say
};

/// Which of this center's sub-units are its own now, and what the metascheduler wants them to be (R8). Until it has
/// said so for the first time, none are: another center may have them. Sub-units are given up only when no attempt
/// holds units of them. Pure; not thread-safe.
class SubUnits {
  public:
    using HoldsBeyond = std::function<bool(const std::string& unit_type, std::int64_t first)>;

    /// @param stored  as stored() gave it; empty: nothing was reached yet.
    /// @error kInvalid  a kind that is shared is not in the rules any more; or the text is something else.
    static Result<SubUnits> make(std::vector<SubUnitRule> rules, const std::string& stored);
    /// What must survive a crash before anything follows from it.
    std::string stored() const;

    /// Other settings. @error kInvalid  as make(); then nothing changes.
    Result<void> replace_rules(std::vector<SubUnitRule> rules);
    /// What the machine could offer without limits.
    void note_machine(const Catalog& catalog);

    /// What the metascheduler wants. Older targets, and repeats, change nothing.
    void take(const link::SubUnitTarget& target);
    /// What can be done now, once; then done() or refuse() must follow before there is another.
    std::optional<SubUnitChange> next(const HoldsBeyond& holds_beyond);
    void done(const SubUnitChange& change, PartsPlace parts = PartsPlace::kKnown);
    /// The target of the change is not tried again, also not by a later start: others may have by then what it named.
    void refuse(const SubUnitChange& change, const std::string& reason);

    /// The metascheduler has taken a request, and refused it later: what a target says of that, again and again.
    /// @return whether that is new
    bool hear_refusal(const link::SubUnitTarget& target);
    /// It has not taken a request. @return whether there is such a kind
    bool note_refusal(const std::string& kind, const link::SubUnitRefusal& refusal);
    /// Of the two, what was said last; empty: nothing.
    std::optional<link::SubUnitRefusal> last_refusal(const std::string& kind) const;

    /// How many units of each type may be given, by unit type. Of what is to be given up none are given any more.
    std::map<std::string, std::int64_t> limits() const;
    /// The catalog with the units that are offered; a unit type without any is left out. The fact `sub_units` of the
    /// others names their kind.
    Catalog limited(Catalog catalog) const;
    link::SubUnitState state() const;
    bool empty() const { return rules_.empty(); }
    bool knows(const std::string& kind) const { return entries_.contains(kind); }

  private:
    struct Entry {
        SubUnitCounts counts;
        std::optional<SubUnitCounts> target = std::nullopt; ///< newer than `counts`
        std::int64_t refused_version = 0;                   ///< of a target that this center has refused
        std::string refusal{};                              ///< why
        bool is_unsure = false;                             ///< a change failed: where the parts are now is not known
        std::int64_t most_units = 0;                        ///< that the machine has
        std::optional<link::SubUnitRefusal> last_refusal = std::nullopt; ///< of this center's requests
        MessageId heard_refusal{}; ///< the request that a target has told to be refused; empty: none
    };

    SubUnits() = default;
    static Entry read_entry(const Json& json, const std::string& kind, std::vector<FieldError>& errors);
    static Json entry_json(const Entry& entry);

    std::vector<SubUnitRule> rules_;
    std::map<std::string, Entry> entries_; ///< by kind; one for each rule
    bool is_changing_ = false;
};

} // namespace fathom::agent
