#include "agent/balance/knob_file.hpp"

#include "core/base/error_text.hpp"
#include "core/base/file.hpp"
#include "core/base/open_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

constexpr std::size_t kMaxKnob = 4096;

Error knob_error(const std::filesystem::path& path, int code)
{
    if (code == ENOENT) return {Errc::kUnavailable, "absent: " + path.string()};
    const bool is_refused = code == EACCES || code == EPERM || code == EROFS || code == EINVAL || code == EBUSY;
    return {is_refused ? Errc::kForbidden : Errc::kUnavailable,
            (is_refused ? "refused: " : "failed: ") + path.string() + ": " + error_text(code)};
}

} // namespace

Result<std::string> read_knob(const std::filesystem::path& path)
{
    Result<std::string> text = read_file(path, kMaxKnob);
    if (!text && text.error().code == Errc::kNotFound) return knob_error(path, ENOENT);
    if (!text) return Error{Errc::kUnavailable, text.error().detail};
    while (text->ends_with('\n'))
        text->pop_back();
    return text;
}

Result<void> write_knob(const std::filesystem::path& path, const std::string& content)
{
    const OpenFile file(::open(path.c_str(), O_WRONLY | O_TRUNC | O_NOFOLLOW | O_CLOEXEC));
    if (file.number() < 0) return knob_error(path, errno);
    const ssize_t written = ::write(file.number(), content.data(), content.size());
    if (written < 0) return knob_error(path, errno);
    if (static_cast<std::size_t>(written) != content.size())
        return Error{Errc::kUnavailable, "failed: " + path.string() + " took a part only"};
    return {};
}

} // namespace fathom::agent
