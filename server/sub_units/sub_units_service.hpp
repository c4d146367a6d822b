#pragma once

#include "server/api/caller.hpp"
#include "server/ports/sub_unit_gateway.hpp"
#include "server/store/database.hpp"
#include "server/sub_units/sub_units_list.hpp"

namespace fathom::server {

/// Moves sub-units between centers: what agents and administrators ask for, what agents report, and the grants of what
/// was given up (SubUnitBroker). Thread-safe. The database must outlive it.
class SubUnitsService final : public SubUnitGateway {
  public:
    explicit SubUnitsService(Database& database) : database_(&database) {}

    asio::awaitable<Result<void>> take_state(Reporter reporter, link::SubUnitState state) override;
    asio::awaitable<Result<void>> take_request(Reporter reporter, MessageId message,
                                               link::SubUnitRequest request) override;
    asio::awaitable<Result<std::vector<link::SubUnitTarget>>> targets(Reporter reporter) override;

    struct Wanted {
        std::string center; ///< id or name
        std::string kind;
        std::string action; ///< "release", "gain", or "balance": one of the two, by the loads
        std::int64_t count{};
        double transfer_load{}; ///< of "balance"
        double compute_load{};
        std::string reason;
    };
    /// @error kInvalid     no such center, or no such kind there; loads that wanted_count() refuses.
    /// @error kConflict    the center has an open request of the kind, fewer than it would give up, or just what it
    ///                     wants.
    /// @error kInfeasible  its machines could not have so many.
    asio::awaitable<Result<SubUnitRequestRecord>> ask(Caller caller, Wanted wanted);
    /// Calls an open request off; one that is cancelled stays so.
    /// @error kNotFound  @error kConflict  too late.
    asio::awaitable<Result<SubUnitRequestRecord>> cancel(Caller caller, std::string id);
    /// Has a grant's sub-units go back. @return the release that does it.
    /// @error kNotFound  @error kConflict  it cannot be undone now; the detail says why.
    asio::awaitable<Result<SubUnitRequestRecord>> undo(Caller caller, std::string grant_id);

    /// @error kNotFound
    asio::awaitable<Result<SubUnitRequestRecord>> get_request(std::string id);
    asio::awaitable<Result<Page<SubUnitKindRecord>>> list_kinds(std::int64_t size, std::string after);
    asio::awaitable<Result<Page<SubUnitRequestRecord>>> list_requests(SubUnitFilter filter, std::int64_t size,
                                                                      std::string after);
    asio::awaitable<Result<Page<SubUnitGrantRecord>>> list_grants(SubUnitFilter filter, std::int64_t size,
                                                                  std::string after);
    asio::awaitable<Result<Page<SubUnitEventRecord>>> list_events(SubUnitFilter filter, std::int64_t size,
                                                                  std::string after);

    /// Whatever waits for jobs to end, or for a center to come back. For a periodic task, about once a second.
    static Result<void> look(pqxx::work& transaction);

  private:
    Database* database_;
};

} // namespace fathom::server
