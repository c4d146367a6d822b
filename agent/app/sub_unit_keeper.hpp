#pragma once

#include "agent/jobs/attempt_book.hpp"
#include "agent/jobs/sub_units.hpp"
#include "agent/link/conversation.hpp"

#include <boost/asio/any_io_executor.hpp>

namespace fathom::agent {

/// Carries out what SubUnits decides: runs the center's program that moves sub-units, keeps the counts in a file, and
/// has the attempts and the metascheduler know them. The program is told the count to have, not the difference, and may
/// be called again with the same one: what it has done counts once the file says so.
/// Runs on: the agent's working thread; the program on another one.
class SubUnitKeeper {
  public:
    /// @param work      of the agent's working thread
    /// @param programs  of a thread that may block
    SubUnitKeeper(boost::asio::any_io_executor work, boost::asio::any_io_executor programs, std::filesystem::path file)
        : work_(std::move(work)), programs_(std::move(programs)), file_(std::move(file))
    {
    }

    /// Reads the file. Call once, first.
    /// @error kInvalid      sub-units that have moved are not in the rules; or the file is damaged.
    /// @error kUnavailable  it cannot be read.
    Result<void> load(std::vector<SubUnitRule> rules);
    /// From now on changes are told to these, which outlive it; `offer` has the catalog reported again.
    void serve(AttemptBook& book, Conversation& conversation, std::function<void()> offer);

    /// Other settings. @error kInvalid  as load(); then nothing changes.
    Result<void> replace_rules(std::vector<SubUnitRule> rules);
    /// What of the machine's catalog is offered.
    Catalog limited(const Catalog& machine);
    /// After limited(): tells the present counts.
    void tell();

    /// Whether this center shares sub-units of the kind.
    bool knows(const std::string& kind) const { return sub_units_->knows(kind); }
    /// Begins what can be done now. Call it every 100 ms or so.
    void tick();

  private:
    Result<void> save(const SubUnits& sub_units) const;
    void take(const link::SubUnitTarget& target);
    void keep_refusal(SubUnits changed, const std::string& kind);
    void finish(const SubUnitChange& change, const Result<void>& moved);
    void keep_failure(const SubUnitChange& change, const std::string& reason);

    boost::asio::any_io_executor work_;
    boost::asio::any_io_executor programs_;
    std::filesystem::path file_;
    std::optional<SubUnits> sub_units_;
    AttemptBook* book_ = nullptr;
    Conversation* conversation_ = nullptr;
    std::function<void()> offer_;
};

} // namespace fathom::agent
