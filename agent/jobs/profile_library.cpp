#include "agent/jobs/profile_library.hpp"

#include "core/base/file.hpp"
#include "core/base/log.hpp"
#include "core/model/operator_manifest.hpp"

namespace fathom::agent {
namespace {

/// The file is a message as it came, with what a later version of this program may be able to read.
Result<link::MatchLibrary> read_library_file(const std::filesystem::path& file)
{
    const Result<std::string> text = read_file(file, link::kMaxMessageBytes);
    if (!text) return text.error();
    auto decoded = link::decode(*text);
    if (const auto* failure = std::get_if<link::DecodeFailure>(&decoded)) return failure->error;
    auto* library = std::get_if<link::MatchLibrary>(&std::get<link::Message>(decoded).body);
    if (library == nullptr) return Error{Errc::kInvalid, "it holds another message"};
    return std::move(*library);
}

} // namespace

void ProfileLibrary::load()
{
    const Result<link::MatchLibrary> library = read_library_file(file_);
    if (library) return use(*library);
    if (library.error().code == Errc::kNotFound) return;
    log_warning("match_library_not_read",
                {{"path", file_.string()},
                 {"reason", describe(library.error())},
                 {"effect", "profiled jobs are matched with built-in operators until it is said again"}});
}

Result<void> ProfileLibrary::take(const link::MatchLibrary& library)
{
    const std::string text = link::encode(link::make_message(library));
    if (Result<void> stored = write_file(file_, text, 0600); !stored) return stored;
    use(library);
    return {};
}

void ProfileLibrary::use(const link::MatchLibrary& library)
{
    // fathom-profile refuses a library of which it cannot read a part, and then the job would not run.
    Json readable = Json::array();
    for (const Json& manifest : library.operators) {
        if (parse_operator_manifest(manifest)) readable.push_back(manifest);
    }
    const std::size_t left_out = library.operators.size() - readable.size();
    if (left_out > 0)
        log_warning("match_library_reduced", {{"left_out", left_out},
                                              {"reason", "this version cannot read these manifests"},
                                              {"way_out", "update fathom-agent and fathom-profile"}});
    digest_ = library.digest;
    text_ = readable.empty() && left_out > 0 ? "" : readable.dump();
}

} // namespace fathom::agent
