#include "agent/balance/put_back.hpp"

#include "agent/balance/gpu_driver.hpp"
#include "agent/balance/knob_file.hpp"
#include "agent/balance/precision_hook.hpp"
#include "core/base/log.hpp"

#include <algorithm>

namespace fathom::agent {
namespace {

constexpr std::int64_t kMaxJournalMhz = 1'000'000; ///< more than any settings allow

Result<void> put_files_back(ObjectReader& reader, std::vector<FieldError>& errors)
{
    const Json* const files = reader.array("files", 0, 65536);
    if (files == nullptr) return Error{Errc::kInvalid, "the journal names no files"};
    Result<void> all;
    for (const Json& item : *files) {
        if (!item.is_object()) return Error{Errc::kInvalid, "the journal names no files"};
        ObjectReader file(item, "files", errors);
        const std::string path = file.required_string("path", {.min_length = 1});
        const std::string content = file.required_string("content", {});
        if (!errors.empty()) return Error{Errc::kInvalid, "the journal names no files"};
        std::error_code ignored;
        if (!std::filesystem::exists(path, ignored)) continue; // a processor that went offline
        if (Result<void> written = write_knob(path, content); !written) all = written;
    }
    return all;
}

Result<void> put_gpu_clock_back(ObjectReader& reader)
{
    const std::string device = reader.required_string("device", {});
    const std::string library = reader.required_string("library", {});
    const std::optional<std::int64_t> mhz = reader.optional_integer("mhz", 1, kMaxJournalMhz);
    const Result<std::shared_ptr<GpuDriver>> driver = GpuDriver::open(library, device);
    if (!driver) return driver.error();
    if (!mhz) return (*driver)->unlock_clock();
    const Result<GpuDriver::ClockRange> range = (*driver)->clock_range();
    if (!range) return range.error();
    const unsigned most_mhz =
        std::clamp(static_cast<unsigned>(*mhz), range->least_mhz, std::max(range->least_mhz, range->most_mhz));
    return (*driver)->lock_clock(range->least_mhz, most_mhz);
}

Result<void> put_precision_back(ObjectReader& reader)
{
    const std::string folder = reader.required_string("folder", {});
    const std::string word = reader.required_string("word", {});
    const auto uid = static_cast<uid_t>(reader.required_integer("uid", 0, 0xFFFFFFFFLL));
    std::error_code ignored;
    if (!std::filesystem::exists(folder, ignored)) return {}; // the job has ended
    return write_precision(folder, uid, word);
}

/// What is known of sub-units that were asked back: kAskedBack as put_all_back() writes it.
struct AskedBack {
    std::int64_t times = 0;
    std::optional<std::string> refusal; ///< the last that was known when they were asked back; empty: nobody looked
};

AskedBack read_asked_back(const Json& undo)
{
    const auto found = undo.find(kAskedBack);
    if (found == undo.end()) return {};
    AskedBack asked{.times = 1, .refusal = std::nullopt};
    if (!found->is_object()) return asked;
    std::vector<FieldError> ignored;
    ObjectReader reader(*found, kAskedBack, ignored);
    asked.times = reader.optional_integer("times", 1, kMaxTimesAskedBack).value_or(1);
    asked.refusal = reader.optional_string("refusal", {});
    return asked;
}

Json write_asked_back(const Json& undo, SubUnitSource& sub_units)
{
    const std::optional<SubUnitRefusal> last = sub_units.last_refusal(undo.value("unit", ""));
    return {{"times", read_asked_back(undo).times + 1}, {"refusal", last ? last->request : ""}};
}

/// Asks for what the unit had. A refusal of something that was asked for before is said first, and once.
Result<void> ask_back(const SubUnitRequest& request, SubUnitSource& sub_units)
{
    Result<void> asked = sub_units.ask(request);
    if (!asked && asked.error().code == Errc::kForbidden) asked = sub_units.ask(request);
    return asked;
}

Result<void> ask_sub_units_back(const Json& undo, ObjectReader& reader, SubUnitSource& sub_units)
{
    const std::string unit = reader.required_string("unit", {});
    const std::int64_t count = reader.required_integer("count", 0, 1LL << 40U);
    const Result<std::int64_t> held = sub_units.held(unit);
    if (!held) return held.error();
    const AskedBack before = read_asked_back(undo);
    if (before.times > 0 && *held == count) return {};
    const std::optional<SubUnitRefusal> last = sub_units.last_refusal(unit);
    const bool is_refused = before.refusal && last && last->request != *before.refusal;
    if (is_refused)
        log_warning("balance_not_given_back", {{"unit", unit},
                                               {"held_count", *held},
                                               {"count_before", count},
                                               {"times_asked", before.times},
                                               {"reason", last->reason}});
    if (before.times >= kMaxTimesAskedBack)
        return Error{Errc::kTooMany, "asked back " + std::to_string(before.times) + " times; the unit has " +
                                         std::to_string(*held) + " sub-units and had " + std::to_string(count)};
    // Also where nothing has changed: what was asked for may still be granted.
    const Result<void> asked =
        ask_back({.unit = unit, .held = *held, .change = count - *held, .wanted = count}, sub_units);
    if (!asked) return asked;
    const Result<std::int64_t> now_held = sub_units.held(unit);
    if (*held != count && now_held && *now_held == count) return {};
    return Error{Errc::kConflict, "asked for, and not answered yet"};
}

bool is_of_sub_units(const Json& undo)
{
    return undo.is_object() && undo.value("kind", "") == "sub_units";
}

} // namespace

Result<void> put_back(const Json& undo, SubUnitSource& sub_units)
{
    if (!undo.is_object()) return Error{Errc::kInvalid, "the journal has no such kind"};
    std::vector<FieldError> errors;
    ObjectReader reader(undo, "", errors);
    const std::string kind = reader.required_string("kind", {});
    if (kind == "files") return put_files_back(reader, errors);
    if (kind == "gpu_clock") return put_gpu_clock_back(reader);
    if (kind == "precision") return put_precision_back(reader);
    if (kind == "sub_units") return ask_sub_units_back(undo, reader, sub_units);
    return Error{Errc::kInvalid, "the journal has no such kind"};
}

std::size_t put_all_back(BalanceJournal& journal, SubUnitSource& sub_units,
                         const std::function<bool(const std::string& unit)>& is_meant)
{
    std::size_t done = 0;
    for (const auto& [unit, actuator] : journal.newest_first()) {
        if (!is_meant(unit)) continue;
        const Json undo = journal.entries().at({unit, actuator}); // forget() changes the journal's own
        Result<void> back = put_back(undo, sub_units);
        if (!back && back.error().code == Errc::kConflict && is_of_sub_units(undo)) {
            // Until it is looked at once more: a grant may be on its way, or the broker may refuse to take it back.
            const Result<void> marked = journal.mark_asked(unit, actuator, write_asked_back(undo, sub_units));
            if (!marked)
                log_warning("balance_journal_not_written", {{"unit", unit}, {"reason", marked.error().detail}});
            continue;
        }
        const bool is_given_up = !back && back.error().code == Errc::kTooMany;
        if (!back)
            log_warning("balance_not_put_back",
                        {{"unit", unit}, {"actuator", actuator}, {"reason", back.error().detail}});
        if (!back && !is_given_up) continue;
        const Result<void> forgotten = journal.forget(unit, actuator);
        if (!forgotten)
            log_warning("balance_journal_not_written", {{"unit", unit}, {"reason", forgotten.error().detail}});
        else if (back)
            ++done;
    }
    return done;
}

bool waits_for_sub_units(const BalanceJournal& journal, const std::string& unit)
{
    return std::any_of(journal.entries().begin(), journal.entries().end(), [&](const auto& entry) {
        return entry.first.first == unit && is_of_sub_units(entry.second) && entry.second.contains(kAskedBack);
    });
}

} // namespace fathom::agent
