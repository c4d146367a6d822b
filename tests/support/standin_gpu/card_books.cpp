#include "tests/support/standin_gpu/card_books.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

namespace fathom::standin {
namespace {

struct Locked {
    explicit Locked(int locked_file) : file(locked_file)
    {
        if (file >= 0) ::flock(file, LOCK_EX);
    }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;
    ~Locked()
    {
        if (file >= 0) ::flock(file, LOCK_UN);
    }
    int file;
};

} // namespace

void fault(const std::string& text)
{
    const std::string line = "stand-in driver: " + text + "\n";
    std::fputs(line.c_str(), stderr);
    if (const char* const path = std::getenv("FATHOM_STANDIN_FAULTS")) {
        std::ofstream file(path, std::ios::app);
        file << line;
    }
    std::abort();
}

CardBooks::CardBooks(const std::string& id)
{
    const char* const folder = std::getenv("FATHOM_STANDIN_CARDS");
    if (folder != nullptr) {
        file_ = ::open((std::string(folder) + "/" + id).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (file_ < 0 || ::ftruncate(file_, sizeof(Shared)) != 0) fault("no books in FATHOM_STANDIN_CARDS");
    }
    void* const memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                                file_ < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, file_, 0);
    if (memory == MAP_FAILED) fault("no memory for a card's books");
    shared_ = static_cast<Shared*>(memory);
}

bool CardBooks::take(std::int64_t bytes, std::int64_t capacity)
{
    const Locked locked(file_);
    std::int64_t used = 0;
    for (std::size_t i = 0; i < shared_->slots.size(); ++i) {
        if (shared_->slots[i].process != 0 && i != own_ && !is_alive(i)) shared_->slots[i] = {};
        used += shared_->slots[i].bytes;
    }
    if (own_ == kNone) take_slot();
    Slot* const own = &shared_->slots[own_];
    if (bytes > 0 && used + bytes > capacity) {
        ++shared_->refusals;
        return false;
    }
    own->bytes += bytes;
    shared_->peak_bytes = std::max(shared_->peak_bytes, used + bytes);
    used_ = used + bytes;
    return true;
}

std::int64_t CardBooks::use(Engine engine, std::int64_t earliest_ns, std::int64_t cost_ns)
{
    const Locked locked(file_);
    const auto which = static_cast<std::size_t>(engine);
    std::int64_t& free_at_ns = shared_->free_at_ns[which];
    free_at_ns = std::max(free_at_ns, earliest_ns) + cost_ns;
    shared_->busy_ns[which] += cost_ns;
    return free_at_ns;
}

void CardBooks::note_time(std::int64_t at_ns)
{
    const Locked locked(file_);
    shared_->latest_ns = std::max(shared_->latest_ns, at_ns);
}

std::int64_t CardBooks::latest_ns() const
{
    const Locked locked(file_);
    return shared_->latest_ns;
}

struct flock CardBooks::lock_of(std::size_t slot) const
{
    struct flock lock{};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = static_cast<off_t>(sizeof(Shared) + slot);
    lock.l_len = 1;
    return lock;
}

bool CardBooks::is_alive(std::size_t slot) const
{
    struct flock lock = lock_of(slot);
    return file_ < 0 || ::fcntl(file_, F_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

void CardBooks::take_slot()
{
    for (std::size_t i = 0; i < shared_->slots.size(); ++i) {
        if (shared_->slots[i].process != 0) continue;
        struct flock lock = lock_of(i);
        if (file_ >= 0 && ::fcntl(file_, F_SETLK, &lock) != 0) fault("a card's books cannot be locked");
        own_ = i;
        shared_->slots[i].process = ::getpid();
        return;
    }
    fault("more processes than a card's books have lines");
}

} // namespace fathom::standin
