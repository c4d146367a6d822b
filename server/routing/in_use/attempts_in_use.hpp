#pragma once

#include "core/decide/corun/expect_share.hpp"
#include "core/schedule/unit_ledger.hpp"
#include "server/catalog/catalog_snapshot.hpp"
#include "server/store/transaction.hpp"

#include <pqxx/row>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace fathom::server {

/// What attempts hold of each unit type at one moment, in short. All by unit type.
struct UseOfUnits {
    static constexpr double kSoon_s = 4;

    UnitCounts taken;                 ///< units that they have now
    UnitCounts queued;                ///< attempts that wait for a unit at its center
    std::set<std::string> with_short; ///< where attempts run that take less than a second
    std::set<std::string> with_long;  ///< where others run that are expected to end within kSoon_s
};

/// GPUs of unit types, those that nobody has among them; by id of the unit type, where somebody has a part.
using GpusInUse = std::map<std::string, std::vector<TenantedGpu>>;

/// A job that was placed and has not started, so that its center has not told which GPUs it has.
struct ComingTenant {
    GpuTenant tenant;
    std::int64_t unit_count{1};
    bool is_exclusive{};

    friend bool operator==(const ComingTenant&, const ComingTenant&) = default;
};
/// By id of the unit type; of each those that were placed first come first.
using ComingTenants = std::map<std::string, std::vector<ComingTenant>>;

/// The attempts that have not ended, kept from one cycle of the router to the next: read() reads those that have
/// changed since, whoever changed them. It knows these by transactions (attempt.changed_in), not by time or number: one
/// that is committed late is not missed. All are read again after a crash of the
/// database, and where attempts were deleted
/// whose last change it had not read; retention deletes those that ended long ago. What is kept is what is committed,
/// so a transaction that fails afterwards leaves it right. Not
/// thread-safe.
class AttemptsInUse {
  public:
    /// As of now. After a transaction that wrote before this the next one reads all. Blocks; pqxx's exceptions pass
    /// through.
    void read(pqxx::work& transaction);
    /// Attempts that the last read() got from the database: those that had changed, or all.
    std::int64_t rows_read() const { return rows_read_; }

    UseOfUnits use() const;
    /// With the time in which they are expected to be free, from when the last read()'s transaction began; in order of
    /// unit type and attempt. An attempt without an expected end, or past it, is expected to take as long again as it
    /// is past it.
    /// @param unit_types  those among them whose units have devices together get whole_device_units.
    std::vector<Reservation> reservations(std::span<const UnitTypeView> unit_types) const;

    /// Who has which parts of the GPUs of those unit types whose units have devices together; as far as their centers
    /// have told: one that they have not told of may be anywhere.
    GpusInUse gpus(std::span<const UnitTypeView> unit_types) const;
    /// Of the same unit types.
    ComingTenants coming_tenants(std::span<const UnitTypeView> unit_types) const;

  private:
    /// Times in microseconds since 1970.
    struct Attempt {
        std::string project;
        std::string gpu_kind; ///< of its job (gpu_kind_of()); empty: it has no type
        std::int64_t unit_count{1};
        std::int64_t created_us{};
        std::optional<std::int64_t> started_us;
        std::optional<std::int64_t> expected_end_us;
        std::optional<std::int64_t> queued_until_us;   ///< not empty: it waits for a unit at its center
        std::optional<std::int64_t> expected_start_us; ///< as its center's batch system said last, while it waits there
        std::vector<std::int64_t> units;               ///< empty: its center has not told yet
        bool is_exclusive{};
        std::optional<MemoryUse> memory; ///< empty: not known
    };
    struct HeldTime {
        double from_s{};
        double release_s{};
        bool is_short{};
    };

    /// @return false when all must be read.
    bool read_changes(pqxx::work& transaction);
    void read_all(pqxx::work& transaction);
    /// Of what the database said of itself.
    void note_state(const pqxx::row& state);
    void put(const pqxx::row& row);
    void forget(const std::string& id);
    static Attempt to_attempt(const pqxx::row& row);
    HeldTime held_time(const Attempt& attempt) const;

    std::map<std::string, std::map<std::string, Attempt>> unit_types_; ///< attempts by unit type and id
    std::unordered_map<std::string, std::string> unit_type_of_;        ///< by attempt
    std::string snapshot_; ///< pg_snapshot of the last read(); empty: all must be read
    std::string since_;    ///< attempt_changes_since.id
    std::int64_t now_us_{};
    std::int64_t rows_read_{};
};

/// What attempts hold, for one decision.
struct UnitsInUse {
    std::vector<Reservation> reservations; ///< AttemptsInUse::reservations()
    std::vector<KnownGpuRoom> gpu_rooms;
    GpusInUse gpus;       ///< AttemptsInUse::gpus()
    ComingTenants coming; ///< AttemptsInUse::coming_tenants()
};
/// Blocks; pqxx's exceptions pass through.
UnitsInUse select_units_in_use(pqxx::work& transaction, const CatalogSnapshot& catalog);

} // namespace fathom::server
