#include "agent/balance/put_back.hpp"

#include "agent/balance/gpu_driver.hpp"
#include "agent/balance/knob_file.hpp"
#include "agent/balance/precision_hook.hpp"
#include "core/base/log.hpp"

namespace fathom::agent {
namespace {

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

Result<void> unlock_gpu(ObjectReader& reader)
{
    const std::string device = reader.required_string("device", {});
    const std::string library = reader.required_string("library", {});
    const Result<std::shared_ptr<GpuDriver>> driver = GpuDriver::open(library, device);
    if (!driver) return driver.error();
    return (*driver)->unlock_clock();
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

Result<void> ask_sub_units_back(ObjectReader& reader, SubUnitSource& sub_units)
{
    const std::string unit = reader.required_string("unit", {});
    const std::int64_t count = reader.required_integer("count", 0, 1LL << 40U);
    const Result<std::int64_t> held = sub_units.held(unit);
    if (!held) return held.error();
    const bool is_asked = reader.optional_boolean(kAskedBack).value_or(false);
    if (is_asked && *held == count) return {};
    // Also where nothing has changed: what was asked for may still be granted.
    const Result<void> asked = sub_units.ask({.unit = unit, .held = *held, .change = count - *held, .wanted = count});
    if (!asked || is_asked) return asked;
    const Result<std::int64_t> now_held = sub_units.held(unit);
    if (*held != count && now_held && *now_held == count) return {};
    return Error{Errc::kConflict, "asked for, and not answered yet"};
}

bool is_only_asked(const Json& undo, const Result<void>& back)
{
    return !back && back.error().code == Errc::kConflict && undo.value("kind", "") == "sub_units" &&
           !undo.contains(kAskedBack);
}

} // namespace

Result<void> put_back(const Json& undo, SubUnitSource& sub_units)
{
    if (!undo.is_object()) return Error{Errc::kInvalid, "the journal has no such kind"};
    std::vector<FieldError> errors;
    ObjectReader reader(undo, "", errors);
    const std::string kind = reader.required_string("kind", {});
    if (kind == "files") return put_files_back(reader, errors);
    if (kind == "gpu_clock") return unlock_gpu(reader);
    if (kind == "precision") return put_precision_back(reader);
    if (kind == "sub_units") return ask_sub_units_back(reader, sub_units);
    return Error{Errc::kInvalid, "the journal has no such kind"};
}

std::size_t put_all_back(BalanceJournal& journal, SubUnitSource& sub_units,
                         const std::function<bool(const std::string& unit)>& is_meant)
{
    std::size_t done = 0;
    const std::map<BalanceJournal::Key, Json> entries = journal.entries(); // forget() changes the journal's own
    for (const auto& [key, undo] : entries) {
        const auto& [unit, actuator] = key;
        if (!is_meant(unit)) continue;
        Result<void> back = put_back(undo, sub_units);
        if (is_only_asked(undo, back)) {
            // Until it is looked at once more: a grant may be on its way, or the broker may refuse to take it back.
            if (const Result<void> marked = journal.mark_asked(unit, actuator); !marked)
                log_warning("balance_journal_not_written", {{"unit", unit}, {"reason", marked.error().detail}});
            continue;
        }
        if (back) back = journal.forget(unit, actuator);
        if (back)
            ++done;
        else
            log_warning("balance_not_put_back",
                        {{"unit", unit}, {"actuator", actuator}, {"reason", back.error().detail}});
    }
    return done;
}

} // namespace fathom::agent
