#include "probes/profile/program_counters.hpp"

#include "probes/runner/proc_files.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <limits>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace fathom::profile {
namespace {

/// Not a divisor of the times by which programs and the kernel go.
constexpr std::uint64_t kPeriod_ns = 4'990'000;

/// Each event of a processor is inherited by each thread that the program starts: on a machine of many processors a
/// part of them says the same.
constexpr std::size_t kMaxProcessors = 64;

constexpr std::size_t kRingBytes = 32'768; // of samples of 24 bytes: some seconds; a power of two
constexpr std::size_t kMaxFiles = 128;     // that are open at once
constexpr std::size_t kMaxPaths = 4096;    // also of files that cannot be read
constexpr std::size_t kMaxPlaces = 65'536;
constexpr std::size_t kMaxKeptProcesses = 1024; // whose mappings are kept
constexpr std::size_t kNoFile = std::numeric_limits<std::size_t>::max();

/// The processors that a process may use, or evenly some of them.
std::vector<int> processors_of(pid_t process)
{
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    std::vector<int> processors;
    if (::sched_getaffinity(process, sizeof(allowed), &allowed) != 0) return processors;
    for (int i = 0; i < CPU_SETSIZE; ++i) {
        if (CPU_ISSET(i, &allowed)) processors.push_back(i);
    }
    if (processors.size() <= kMaxProcessors) return processors;
    std::vector<int> chosen;
    for (std::size_t i = 0; i < kMaxProcessors; ++i)
        chosen.push_back(processors[i * processors.size() / kMaxProcessors]);
    return chosen;
}

OpenFile open_event(pid_t process, int processor)
{
    perf_event_attr attributes{};
    attributes.size = sizeof(attributes);
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = PERF_COUNT_SW_TASK_CLOCK;
    attributes.sample_period = kPeriod_ns;
    attributes.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID;
    attributes.inherit = 1;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    return OpenFile(
        static_cast<int>(::syscall(SYS_perf_event_open, &attributes, process, processor, -1, PERF_FLAG_FD_CLOEXEC)));
}

const CodeMapping* mapping_at(const std::vector<CodeMapping>& mappings, std::uint64_t address)
{
    const auto behind =
        std::upper_bound(mappings.begin(), mappings.end(), address,
                         [](std::uint64_t at, const CodeMapping& mapping) { return at < mapping.begin; });
    if (behind == mappings.begin() || address >= std::prev(behind)->end) return nullptr;
    return &*std::prev(behind);
}

std::string reason_of(int error)
{
    if (error == EACCES || error == EPERM)
        return "the kernel does not let this user look where programs are (kernel.perf_event_paranoid above 2, or a "
               "container's filter)";
    return "this kernel does not tell where programs are: " + std::generic_category().message(error);
}

} // namespace

/// The kernel's samples of one processor.
class ProgramCounters::Ring {
  public:
    explicit Ring(OpenFile event) : event_(std::move(event))
    {
        void* const memory = ::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, event_.number(), 0);
        if (memory != MAP_FAILED) memory_ = memory;
    }
    ~Ring()
    {
        if (memory_ != nullptr) ::munmap(memory_, bytes());
    }
    Ring(Ring&& other) noexcept : event_(std::move(other.event_)), memory_(std::exchange(other.memory_, nullptr)) {}
    Ring(const Ring&) = delete;
    Ring& operator=(const Ring&) = delete;
    Ring& operator=(Ring&&) = delete;

    bool is_open() const { return memory_ != nullptr; }

    /// What was written since the last time.
    std::string take()
    {
        auto* const page = static_cast<perf_event_mmap_page*>(memory_);
        const std::uint64_t head = std::atomic_ref<__u64>(page->data_head).load(std::memory_order_acquire);
        const std::uint64_t tail = page->data_tail;
        const char* const data = static_cast<const char*>(memory_) + page_bytes();
        const std::uint64_t size = data_bytes();
        std::string records;
        // The kernel does not write over what was not read.
        const std::uint64_t length = std::min(head - tail, size);
        records.reserve(length);
        for (std::uint64_t taken = 0; taken < length;) {
            const std::uint64_t at = (tail + taken) % size;
            const std::uint64_t part = std::min(length - taken, size - at);
            records.append(data + at, part);
            taken += part;
        }
        std::atomic_ref<__u64>(page->data_tail).store(head, std::memory_order_release);
        return records;
    }

  private:
    static std::size_t page_bytes()
    {
        static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
        return bytes;
    }
    /// Pages may be larger than all that is needed.
    static std::size_t data_bytes() { return std::max(kRingBytes, page_bytes()); }
    static std::size_t bytes() { return page_bytes() + data_bytes(); }

    OpenFile event_;
    void* memory_ = nullptr;
};

std::string SampledFile::read(std::uint64_t offset, std::size_t bytes) const
{
    if (offset > static_cast<std::uint64_t>(std::numeric_limits<off_t>::max())) return {};
    std::string text(bytes, '\0');
    const ssize_t size = ::pread(file_.number(), text.data(), text.size(), static_cast<off_t>(offset));
    text.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    return text;
}

ProgramCounters::ProgramCounters(pid_t root)
{
    const std::vector<int> processors = processors_of(root);
    samples_all_processors_ = processors.size() < kMaxProcessors;
    for (const int processor : processors) {
        OpenFile event = open_event(root, processor);
        if (event.number() < 0) {
            why_none_ = reason_of(errno);
            break;
        }
        Ring ring(std::move(event));
        if (!ring.is_open()) {
            why_none_ = "the kernel has no room for what it sees of programs (kernel.perf_event_mlock_kb)";
            break;
        }
        rings_.push_back(std::move(ring));
    }
    // Some processors alone would tell of some threads alone.
    if (!why_none_.empty()) rings_.clear();
    if (rings_.empty() && why_none_.empty()) why_none_ = "the program ended before it could be looked at";
}

ProgramCounters::~ProgramCounters() = default;

std::uint64_t ProgramCounters::unseen(double cpu_s) const
{
    const double due = samples_all_processors_ ? cpu_s * 1e9 / static_cast<double>(kPeriod_ns) : 0;
    return due > static_cast<double>(total_) ? static_cast<std::uint64_t>(due) - total_ : 0;
}

void ProgramCounters::look()
{
    ++looks_;
    for (Ring& ring : rings_) {
        std::uint64_t lost = 0;
        for (const CounterSample& sample : read_samples(ring.take(), lost))
            count(sample.process, sample.address);
        // They were somewhere, and nobody knows where.
        unknown_ += lost;
        total_ += lost;
    }
}

void ProgramCounters::count(pid_t process, std::uint64_t address)
{
    ++total_;
    const CodeMapping* const found = mapping_of(process, address);
    SampledFile* const file = found == nullptr ? nullptr : file_of(process, *found);
    if (file == nullptr) {
        ++unknown_;
        return;
    }
    const std::uint64_t offset = address - found->begin + found->offset;
    const auto place = file->samples().find(offset);
    if (place != file->samples().end()) {
        ++place->second;
    } else if (places_ < kMaxPlaces) {
        ++places_;
        file->samples()[offset] = 1;
    } else {
        ++unknown_;
    }
}

const CodeMapping* ProgramCounters::mapping_of(pid_t process, std::uint64_t address)
{
    // Reading them costs as much as all else of a look, and they seldom change.
    constexpr std::uint64_t kLooksThatTheyHoldFor = 16;
    if (mappings_.size() >= kMaxKeptProcesses && !mappings_.contains(process)) mappings_.clear();
    KnownMappings& known = mappings_[process];
    const CodeMapping* const found = mapping_at(known.code, address);
    const std::uint64_t age = looks_ - known.read_in;
    if (age == 0 || (found != nullptr && age < kLooksThatTheyHoldFor)) return found;
    known.read_in = looks_;
    std::vector<CodeMapping> now = read_code_mappings(probes::proc_text("/proc/" + std::to_string(process) + "/maps"));
    // A process that has ended has none any more: those of before tell where it was.
    if (!now.empty()) known.code = std::move(now);
    return mapping_at(known.code, address);
}

SampledFile* ProgramCounters::file_of(pid_t process, const CodeMapping& mapping)
{
    const auto known = file_index_.find(mapping.identity);
    if (known != file_index_.end()) return known->second == kNoFile ? nullptr : &files_[known->second];
    if (files_.size() >= kMaxFiles || file_index_.size() >= kMaxPaths) return nullptr;
    std::size_t& index = file_index_[mapping.identity] = kNoFile;
    if (mapping.is_deleted) return nullptr;
    // As the process sees it: it may be in a container.
    for (const std::string& root : {"/proc/" + std::to_string(process) + "/root", std::string()}) {
        OpenFile file(::open((root + mapping.path).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
        struct stat facts{};
        if (file.number() < 0 || ::fstat(file.number(), &facts) != 0 || !S_ISREG(facts.st_mode)) continue;
        index = files_.size();
        return &files_.emplace_back(mapping.path, std::move(file));
    }
    return nullptr;
}

} // namespace fathom::profile
