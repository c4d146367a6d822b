#pragma once

// Internal to server/sub_units.

#include "schema/link/messages.hpp"
#include "server/sub_units/sub_units_store.hpp"

#include <deque>

namespace fathom::server {

/// Who asks for something, and why.
struct SubUnitWanted {
    std::string center_id;
    std::string action; ///< "release" or "gain"
    std::int64_t count{};
    std::string reason;
    std::string actor;        ///< token id of a person, or the center's id
    std::string message_id{}; ///< of an agent's message
};

/// All that happens to one kind of sub-units, in one transaction, which locks it: replicas take turns.
///
/// Nothing exists twice, because sub-units are counted where they may be in use: at the giving center until its agent
/// has said that they are given up, then free, then at the gaining center from the moment on that it is told. A release
/// first has the center offer less (draining); once what is placed there fits into the rest, which the router cannot
/// change any more, the center is told to give them up (giving). One change at a time for each center.
/// Blocks; pqxx's exceptions pass through.
class SubUnitBroker {
  public:
    /// Empty: there is no such kind.
    static std::optional<SubUnitBroker> open(pqxx::transaction_base& transaction, const std::string& kind);
    /// Makes the kind if it is new.
    static SubUnitBroker open_or_add(pqxx::transaction_base& transaction, const std::string& kind);

    /// What a center's agent says that it has. Repeats change nothing.
    void take(const std::string& center_id, const link::SubUnitHolding& report);

    /// What a center's agent asks for takes the place of what it has asked for before, unless that is the same or the
    /// center is giving it up already.
    /// @error kInvalid     the center has not said that it has sub-units of the kind.
    /// @error kConflict    it has another open request, or fewer than it would give up.
    /// @error kInfeasible  its machines could not have so many.
    /// @error kTooMany     its agent has had as much recorded lately as it may; what it asked for before stands.
    Result<SubUnitRequestId> ask(const SubUnitWanted& wanted);
    /// What the center's agent has asked for and has not got is cancelled, unless the center is giving it up already.
    void withdraw(const std::string& center_id, const std::string& actor);
    /// @error kConflict  the request has ended, or the center is giving its sub-units up already.
    Result<void> cancel(const SubUnitRequestId& request, const std::string& actor);
    /// The open release that takes a grant back; nullptr when there is none.
    const SubUnitRequestRecord* find_undo(const SubUnitGrantId& grant) const;
    /// Has a grant's sub-units go back to where they came from. @return the release that does it; the same one for a
    /// grant that is being undone.
    /// @error kConflict  the grant has not arrived or went back already; jobs use the sub-units; or one of the two
    ///                   centers has too few, or too little room.
    Result<SubUnitRequestId> undo(const SubUnitGrantRecord& grant, const std::string& actor);

    /// Whatever can be done now: changed totals, releases, grants. Call it at the end.
    void advance();

    /// Empty: it has said nothing of the kind.
    const SubUnitHoldingRecord* find(const std::string& center_id) const;

  private:
    SubUnitBroker(pqxx::transaction_base& transaction, std::string kind);

    struct Note {
        std::string event;
        std::int64_t count{};
        std::string actor = "broker";
        std::string request_id{};
        std::string grant_id{};
        std::string detail{};
    };
    void note(const SubUnitHoldingRecord& holding, const Note& note);
    void set_target(SubUnitHoldingRecord& holding, std::int64_t held, std::int64_t offered);
    void save(const SubUnitRequestRecord& request) { update_sub_unit_request(*transaction_, request); }

    SubUnitHoldingRecord* holding_of(const std::string& center_id);
    SubUnitRequestRecord* request_of(const std::string& id);
    /// The open request by which the center's agent asks for just that already; nullptr when there is none.
    SubUnitRequestRecord* find_same(const SubUnitWanted& wanted);
    SubUnitRequestId add(const SubUnitRequestRecord& request);
    void add_holding(const std::string& center_id, const link::SubUnitHolding& report);
    void reach(SubUnitHoldingRecord& holding);
    void finish_release(SubUnitHoldingRecord& holding, SubUnitRequestRecord& request);
    void refuse(SubUnitHoldingRecord& holding, const std::string& reason);
    void take_back(SubUnitHoldingRecord& holding, SubUnitGrantRecord& grant, const std::string& reason);
    void end(SubUnitRequestRecord& request, const std::string& state, const std::string& reason,
             const std::string& actor);
    void apply_total(SubUnitHoldingRecord& holding);
    void start_release(SubUnitHoldingRecord& holding, SubUnitRequestRecord& request);
    void give_up_drained(SubUnitHoldingRecord& holding, SubUnitRequestRecord& request);
    void return_undone();
    void grant_free();
    void grant(SubUnitRequestRecord& release, const SubUnitHoldingRecord& to, SubUnitRequestRecord* gain,
               std::int64_t count);

    pqxx::transaction_base* transaction_;
    std::string kind_;
    std::vector<SubUnitHoldingRecord> holdings_;
    std::deque<SubUnitRequestRecord> requests_; ///< live ones, by turn, then others that were looked at
    std::vector<SubUnitGrantRecord> grants_;    ///< moving ones
};

} // namespace fathom::server
