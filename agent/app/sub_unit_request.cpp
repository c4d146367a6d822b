#include "agent/app/sub_unit_request.hpp"

#include "agent/app/agent_folder.hpp"
#include "agent/app/probe_request.hpp"
#include "core/base/file.hpp"
#include "core/base/json_reader.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>
#include <variant>

namespace fathom::agent {
namespace {

constexpr std::size_t kLargestRequest = 64UL << 10U;
constexpr std::int64_t kMaxSubUnits = 1'000'000;

/// As the agent's user in the agent's folder: root would follow what that user has laid there.
Result<void> leave_sub_unit_request(const std::filesystem::path& state_dir, const link::SubUnitRequest& request)
{
    const Result<AgentFolder> folder = open_agent_folder(state_dir);
    if (!folder) return folder.error();
    if (Result<void> entered = enter(*folder); !entered) return entered;
    if (folder->user && !become(*folder->user))
        return Error{Errc::kUnavailable, "cannot become the user " + folder->user->name};
    return SubUnitRequestFile(".").leave(request);
}

constexpr const char* kCommand = "fathom-agent request-sub-units";

/// What the command line says.
struct Asked {
    std::filesystem::path state_dir;
    link::SubUnitRequest request;
};

/// @return the exit code where the command line is no request: it was wrong, or asked for help.
std::variant<Asked, int> read_command_line(int argc, const char* const* argv)
{
    Asked asked;
    link::SubUnitRequest& request = asked.request;
    std::int64_t release_count = 0;
    std::int64_t gain_count = 0;
    CLI::App app("Asks the metascheduler to let this center give up sub-units, or gain some that others give up.",
                 kCommand);
    app.add_option("--state-dir", asked.state_dir, "state folder of this center's agent")->required();
    app.add_option("--kind", request.kind, "kind of sub-unit, as in the table [[sub_units]]")->required();
    CLI::Option* const release = app.add_option("--release", release_count, "how many to give up")
                                     ->check(CLI::Range(std::int64_t{1}, kMaxSubUnits));
    CLI::Option* const gain =
        app.add_option("--gain", gain_count, "how many to gain")->check(CLI::Range(std::int64_t{1}, kMaxSubUnits));
    bool is_keep = false;
    CLI::Option* const keep =
        app.add_flag("--keep", is_keep, "withdraw what was asked for and is not granted: nothing more is wanted");
    release->excludes(gain)->excludes(keep);
    gain->excludes(keep);
    app.add_option("--reason", request.reason, "why, for people: up to 500 characters");
    app.footer(
        "Example: fathom-agent request-sub-units --state-dir /var/lib/fathom-agent --kind vgpu --release 50\n"
        "The agent passes it on within a second, or when it runs again. `fathom unit requests` shows what becomes "
        "of it.\n"
        "Exit codes: 0 noted, 1 failed, 2 wrong use.");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : 2;
    }
    if (release->count() + gain->count() == 0 && !is_keep) {
        std::cerr << kCommand << ": --release or --gain must say how many, or --keep none\n";
        return 2;
    }
    request.action = is_keep ? "keep" : release->count() > 0 ? "release" : "gain";
    request.count = std::max(release_count, gain_count);
    request.reason = clean_reason(request.reason);
    return asked;
}

} // namespace

Result<void> SubUnitRequestFile::leave(const link::SubUnitRequest& request) const
{
    const Json json = {
        {"kind", request.kind}, {"action", request.action}, {"count", request.count}, {"reason", request.reason}};
    return write_file(path_, json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n", 0600);
}

std::optional<Result<link::SubUnitRequest>> SubUnitRequestFile::find() const
{
    std::error_code ignored;
    if (!std::filesystem::exists(path_, ignored)) return std::nullopt;
    const Result<std::string> text = read_file(path_, kLargestRequest);
    if (!text) return text.error();
    const Result<Json> json = parse_json(*text);
    if (!json) return json.error();
    std::vector<FieldError> errors;
    ObjectReader reader(*json, "", errors);
    link::SubUnitRequest request;
    request.kind = reader.required_string("kind", {.min_length = 1, .max_length = 64});
    request.action = reader.required_string("action", {.one_of = {"release", "gain", "keep"}});
    const std::int64_t min_count = request.action == "keep" ? 0 : 1;
    request.count = reader.required_integer("count", min_count, min_count * kMaxSubUnits);
    request.reason = clean_reason(reader.required_string("reason", {.max_length = kLargestRequest}));
    return value_or_errors(std::move(request), std::move(errors), "the request");
}

void SubUnitRequestFile::remove() const
{
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
}

int request_sub_units_command(int argc, const char* const* argv)
{
    const std::variant<Asked, int> read = read_command_line(argc, argv);
    if (const int* const code = std::get_if<int>(&read)) return *code;
    const auto& [state_dir, request] = std::get<Asked>(read);
    if (!is_enrolled(state_dir)) {
        std::cerr << kCommand << ": " << state_dir.string()
                  << " is not enrolled: first run fathom-agent enrol (see its --help)\n";
        return 1;
    }
    const Result<void> left = leave_sub_unit_request(state_dir, request);
    if (!left) {
        std::cerr << kCommand << ": " << describe(left.error()) << "\n";
        return 1;
    }
    std::cout << "noted; the agent passes it on to the metascheduler\n";
    return 0;
}

} // namespace fathom::agent
