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

Error failed(const std::string& what)
{
    return {Errc::kUnavailable, what + ": " + std::strerror(errno)}; // NOLINT(concurrency-mt-unsafe): one thread
}

Result<std::string> make_folder()
{
    const char* chosen = std::getenv("TMPDIR"); // NOLINT(concurrency-mt-unsafe): one thread
    // Memory first: counts on a disk would be written back to it while the program runs.
    for (const std::string parent : {"/dev/shm", chosen != nullptr ? chosen : "/tmp", "/tmp"}) {
        std::string path = parent + "/fathom-profile.XXXXXX";
        if (::mkdtemp(path.data()) != nullptr) return path;
    }
    return failed("cannot make a folder in /dev/shm or /tmp");
}

} // namespace

Result<CountsFolder> CountsFolder::make()
{
    const Result<std::string> path = make_folder();
    if (!path) return path.error();
    CountsFolder folder;
    folder.path_ = *path;
    const std::string file = folder.path_ + "/counts";
    const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return failed("cannot create " + file);
    const bool is_sized = ::ftruncate(fd, static_cast<off_t>(sizeof(Counts))) == 0;
    void* memory = is_sized ? ::mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    const Error error = failed("cannot map " + file);
    ::close(fd);
    if (memory == MAP_FAILED) return error;
    folder.counts_ = static_cast<Counts*>(memory);
    folder.counts_->bytes = sizeof(Counts);
    folder.counts_->magic = kCountsMagic;
    return folder;
}

CountsFolder::CountsFolder(CountsFolder&& other) noexcept
    : path_(std::exchange(other.path_, "")), counts_(std::exchange(other.counts_, nullptr))
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
