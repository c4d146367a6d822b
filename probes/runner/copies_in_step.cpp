#include "probes/runner/copies_in_step.hpp"

#include "core/base/parse_number.hpp"
#include "core/model/probe_result.hpp"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

namespace fathom::probes {

/// New memory is all zeros: no copy has waited for anything, and none has ended.
struct CopiesInStep::Shared {
    struct Copy {
        std::atomic<std::int64_t> step;
        std::atomic<bool> has_ended;
    };
    std::array<Copy, kMaxProbeCopies> copies;
    std::atomic<bool> first_says; ///< what agree() gives

    static_assert(std::atomic<std::int64_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free,
                  "locks are of one process");
};

namespace {

Error refused(const char* what)
{
    return Error{Errc::kUnavailable, fmt::format("{}: {}", what, std::strerror(errno))};
}

} // namespace

void CopiesInStep::Unmap::operator()(Shared* shared) const
{
    munmap(shared, sizeof(Shared));
}

CopiesInStep::Shared* CopiesInStep::map(int descriptor)
{
    void* const memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<Shared*>(memory);
}

Result<CopiesInStep> CopiesInStep::make(int count)
{
    const int descriptor = memfd_create("fathom-copies", 0); // not close-on-exec: copies inherit it
    if (descriptor < 0) return refused("memory that copies share");
    if (ftruncate(descriptor, sizeof(Shared)) != 0) return refused("memory that copies share");
    Shared* const shared = map(descriptor);
    if (shared == nullptr) return refused("memory that copies share");
    return CopiesInStep(descriptor, count, -1, shared);
}

Result<CopiesInStep> CopiesInStep::join(const std::string& place)
{
    const Error wrong{Errc::kInvalid, "FATHOM_COPY is set by fathom-probe --copies itself, not \"" + place + "\""};
    std::array<std::int64_t, 3> numbers{};
    std::string_view rest = place;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const std::size_t end = rest.find(':');
        if ((end == std::string_view::npos) != (i + 1 == numbers.size())) return wrong;
        const auto number = parse_number<std::int64_t>(rest.substr(0, end));
        if (!number || *number < 0 || *number > 1'000'000) return wrong;
        numbers[i] = *number;
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
    const auto [copy, count, descriptor] = numbers;
    if (copy >= count || count > kMaxProbeCopies) return wrong;
    // Less memory than that would be a fault when it is read.
    const off_t size = lseek(static_cast<int>(descriptor), 0, SEEK_END);
    if (size < static_cast<off_t>(sizeof(Shared))) return wrong;
    Shared* const shared = map(static_cast<int>(descriptor));
    if (shared == nullptr) return wrong;
    return CopiesInStep(static_cast<int>(descriptor), static_cast<int>(count), static_cast<int>(copy), shared);
}

std::string CopiesInStep::place_of(int copy) const
{
    return fmt::format("{}:{}:{}", copy, count_, descriptor_);
}

void CopiesInStep::note_end(int copy)
{
    shared_->copies.at(static_cast<std::size_t>(copy)).has_ended.store(true, std::memory_order_release);
}

void CopiesInStep::wait(std::chrono::microseconds pause)
{
    ++step_;
    shared_->copies.at(static_cast<std::size_t>(own_)).step.store(step_, std::memory_order_release);
    for (int i = 0; i < count_; ++i) {
        const Shared::Copy& other = shared_->copies.at(static_cast<std::size_t>(i));
        while (other.step.load(std::memory_order_acquire) < step_ && !other.has_ended.load(std::memory_order_acquire))
            std::this_thread::sleep_for(pause);
    }
}

bool CopiesInStep::is_first_waiting() const
{
    const Shared::Copy& first = shared_->copies.front();
    return first.step.load(std::memory_order_acquire) > step_ || first.has_ended.load(std::memory_order_acquire);
}

bool CopiesInStep::agree(bool says)
{
    if (is_first()) shared_->first_says.store(says, std::memory_order_release);
    wait(kLongPause);
    const bool agreed = shared_->first_says.load(std::memory_order_acquire);
    wait(kLongPause); // it says nothing else before all have heard this
    return agreed;
}

} // namespace fathom::probes
