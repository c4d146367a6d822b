#include "probes/profile/counts_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

extern char** environ; // NOLINT(readability-identifier-naming): the C library's name

namespace fathom::profile {
namespace {

std::string failed(const std::string& what, int error)
{
    return what + ": " + std::strerror(error); // NOLINT(concurrency-mt-unsafe): one thread
}

/// Memory first: counts on a disk would be written back to it while the program runs.
std::vector<std::string> parent_folders()
{
    const char* chosen = std::getenv("TMPDIR"); // NOLINT(concurrency-mt-unsafe): one thread
    std::vector<std::string> parents{"/dev/shm"};
    if (chosen != nullptr && *chosen != '\0') parents.emplace_back(chosen);
    parents.emplace_back("/tmp");
    return parents;
}

Result<Counts*> map(int fd)
{
    void* memory = ::mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE,
                          fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) return Error{Errc::kUnavailable, failed("cannot map the counts", errno)};
    auto* counts = static_cast<Counts*>(memory);
    counts->bytes = sizeof(Counts);
    counts->magic = kCountsMagic;
    return counts;
}

Result<Counts*> make_file(const std::string& path)
{
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return Error{Errc::kUnavailable, failed("cannot create " + path, errno)};
    // With all its blocks: a program that touches a page of a file for which no room is left is killed by SIGBUS.
    const int error = ::posix_fallocate(fd, 0, static_cast<off_t>(sizeof(Counts)));
    Result<Counts*> counts = error == 0 ? map(fd) : Error{Errc::kUnavailable, failed("no room for " + path, error)};
    ::close(fd);
    return counts;
}

} // namespace

Result<CountsFolder> CountsFolder::make()
{
    std::string reasons;
    for (const std::string& parent : parent_folders()) {
        CountsFolder folder; // a failed one goes with its files
        std::string path = parent + "/fathom-profile.XXXXXX";
        std::string reason;
        if (::mkdtemp(path.data()) == nullptr) {
            reason = failed("cannot make a folder in " + parent, errno);
        } else {
            folder.path_ = path;
            const Result<Counts*> counts = make_file(path + "/counts");
            if (counts) {
                folder.counts_ = *counts;
                return folder;
            }
            reason = counts.error().detail;
        }
        reasons += (reasons.empty() ? "" : "; ") + reason;
    }
    const Result<Counts*> counts = map(-1);
    if (!counts) return counts.error();
    CountsFolder folder;
    folder.counts_ = *counts;
    folder.not_counted_ = reasons;
    return folder;
}

CountsFolder::CountsFolder(CountsFolder&& other) noexcept
    : path_(std::exchange(other.path_, "")), not_counted_(std::exchange(other.not_counted_, "")),
      counts_(std::exchange(other.counts_, nullptr))
{
}

CountsFolder::~CountsFolder()
{
    if (counts_ != nullptr) ::munmap(counts_, sizeof(Counts));
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> CountsFolder::environment(const std::string& interposer) const
{
    // The loader splits its list at blanks and colons: a path with one goes through a link.
    std::string library = interposer;
    if (library.find_first_of(" :") != std::string::npos) {
        library = path_ + "/libfathom-profile.so";
        std::error_code ignored;
        std::filesystem::create_symlink(interposer, library, ignored);
    }
    constexpr std::string_view kPreload = "LD_PRELOAD=";
    std::vector<std::string> result;
    std::string preload(kPreload);
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        if (text.starts_with(kPreload) && text.size() > kPreload.size())
            preload.append(text.substr(kPreload.size())).append(":");
        else if (!text.starts_with(kPreload) && !text.starts_with(std::string(kCountsVariable) + "="))
            result.emplace_back(text);
    }
    result.push_back(preload + library);
    result.push_back(std::string(kCountsVariable) + "=" + path_ + "/counts");
    return result;
}

std::vector<std::string> own_environment()
{
    std::vector<std::string> result;
    for (char** entry = environ; *entry != nullptr; ++entry)
        result.emplace_back(*entry);
    return result;
}

std::string own_folder()
{
    std::error_code ignored;
    return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path().string();
}

Result<std::string> find_interposer()
{
    std::string path = own_folder() + "/libfathom-profile.so";
    if (::access(path.c_str(), R_OK) == 0) return path;
    // Where packages put libraries.
    std::string installed = own_folder() + "/../lib/fathom/libfathom-profile.so";
    if (::access(installed.c_str(), R_OK) == 0) return installed;
    return Error{Errc::kUnavailable, path + " is missing: install it beside fathom-profile"};
}

} // namespace fathom::profile
