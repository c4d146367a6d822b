#pragma once

#include "core/base/open_file.hpp"
#include "probes/profile/counter_records.hpp"
#include "probes/profile/hot_loops.hpp"

#include <map>
#include <string>
#include <sys/types.h>
#include <vector>

namespace fathom::profile {

/// A file of which a program executes code.
class SampledFile {
  public:
    SampledFile(std::string path, OpenFile file) : path_(std::move(path)), file_(std::move(file)) {}

    const std::string& path() const { return path_; }
    const CodeSamples& samples() const { return samples_; }
    CodeSamples& samples() { return samples_; }
    std::string read(std::uint64_t offset, std::size_t bytes) const;

  private:
    std::string path_;
    OpenFile file_; ///< opened while the program had it: it may be another one, or gone, when the program has ended
    CodeSamples samples_;
};

/// Where the threads of a program and all that it starts are, every 5 ms of their processor time: by an event of the
/// kernel's clock (perf_event_open), which needs no counters of the processor. Nothing is done inside the program, and
/// the kernel's own code is not looked at. Not thread-safe.
class ProgramCounters {
  public:
    /// @param root  the program's first process, before it executes its program.
    explicit ProgramCounters(pid_t root);
    ~ProgramCounters();
    ProgramCounters(const ProgramCounters&) = delete;
    ProgramCounters& operator=(const ProgramCounters&) = delete;

    /// Takes what the kernel has kept since the last look, at least some times a second: it keeps some seconds.
    void look();

    const std::vector<SampledFile>& files() const { return files_; }
    /// Samples in code of no file: made at run time, or of processes that ended before they could be looked at.
    std::uint64_t unknown() const { return unknown_; }
    /// All samples that were taken.
    std::uint64_t total() const { return total_; }
    /// Samples that so much processor time is due but that nobody took: in the kernel, and in processes that live
    /// shorter than the time between two. 0 where not all processors are sampled.
    std::uint64_t unseen(double cpu_s) const;
    /// Why there are none, for people; empty: the program was sampled.
    const std::string& why_none() const { return why_none_; }

  private:
    class Ring;

    /// A process's mappings, and in which look they were read.
    struct KnownMappings {
        std::vector<CodeMapping> code;
        std::uint64_t read_in{};
    };

    void count(pid_t process, std::uint64_t address);
    const CodeMapping* mapping_of(pid_t process, std::uint64_t address);
    SampledFile* file_of(pid_t process, const CodeMapping& mapping);

    std::vector<Ring> rings_; ///< one a processor
    std::vector<SampledFile> files_;
    std::map<std::string, std::size_t> file_index_; ///< by CodeMapping::identity; kNoFile: cannot be read
    std::map<pid_t, KnownMappings> mappings_;
    std::uint64_t looks_ = 0;
    bool samples_all_processors_ = false;
    std::size_t places_ = 0; ///< different ones, of all files
    std::uint64_t unknown_ = 0;
    std::uint64_t total_ = 0;
    std::string why_none_;
};

} // namespace fathom::profile
