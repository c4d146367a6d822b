#include "agent/executor/local/profile_report.hpp"

#include "agent/executor/local/attempt_folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

/// The report of fathom-profile. The job could have written anything there: a link, a pipe, gigabytes.
Result<Json> read_profile(const std::filesystem::path& work)
{
    const std::filesystem::path path = work / kProfileName;
    const int fd = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return Error{Errc::kUnavailable, "fathom-profile left no report; is it installed beside fathom-agent?"};
    struct stat facts{};
    std::string text;
    const bool is_file = ::fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode);
    const bool fits = is_file && facts.st_size <= static_cast<off_t>(kMaxProfileBytes);
    if (fits) {
        text.resize(static_cast<std::size_t>(facts.st_size));
        const ssize_t size = ::pread(fd, text.data(), text.size(), 0);
        text.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    }
    ::close(fd);
    if (!is_file) return Error{Errc::kInvalid, "the profile is not a file"};
    if (!fits)
        return Error{Errc::kTooLarge, "the profile is larger than " + std::to_string(kMaxProfileBytes) + " bytes"};
    Result<Json> json = parse_json(text, {.max_bytes = kMaxProfileBytes, .max_depth = kMaxProfileDepth});
    if (json && !json->is_object()) return Error{Errc::kInvalid, "the profile is not a JSON object"};
    return json;
}

} // namespace

std::vector<std::string> profiler_options(const RunOrder& run)
{
    std::vector<std::string> options{"--output", "json", "--output-file", kProfileName};
    if (!run.library.empty()) options.insert(options.end(), {"--library", kLibraryName});
    return options;
}

void add_profile(AttemptEnd& end, const std::filesystem::path& work)
{
    const Result<Json> profile = read_profile(work);
    if (profile)
        end.profile = *profile;
    else
        end.detail += (end.detail.empty() ? "" : "; ") + ("no profile: " + profile.error().detail);
}

} // namespace fathom::agent
