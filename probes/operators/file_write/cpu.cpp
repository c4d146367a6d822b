#include "probes/operators/checksum.hpp"
#include "probes/operators/cpu_implementation.hpp"
#include "probes/operators/scratch_file.hpp"

#include <limits>

namespace fathom::probes {
namespace {

class FileWrite final : public ProbeOperator {
  public:
    explicit FileWrite(std::size_t bytes) : bytes_(whole_blocks(bytes)) {}

    Result<void> prepare(std::uint64_t seed) override
    {
        seed_ = seed;
        Result<ScratchFile> file = ScratchFile::create(bytes_);
        if (!file) return file.error();
        file_ = std::move(*file);
        content_ = Mapping::own(bytes_);
        fill_content({content_.data(), bytes_}, seed);
        return {};
    }

    void execute() override { failed_ = !file_.write({content_.data(), bytes_}); }

    /// What the device gives back.
    double error() override
    {
        const Mapping found = Mapping::own(bytes_);
        if (failed_ || !file_.read({found.data(), bytes_})) return std::numeric_limits<double>::infinity();
        return content_error({found.data(), bytes_}, seed_);
    }

    std::string checksum() override
    {
        const Mapping found = Mapping::own(bytes_);
        if (!file_.read({found.data(), bytes_})) return exact_checksum({});
        return exact_checksum({found.data(), bytes_});
    }

    std::string library() const override { return "own, requests of 1 MiB and fsync, " + file_.description(); }

    std::span<std::byte> output() override
    {
        if (written_.size() == 0) written_ = file_.map(bytes_);
        return {written_.data(), bytes_};
    }

  private:
    std::size_t bytes_;
    std::uint64_t seed_{};
    ScratchFile file_;
    Mapping content_; ///< on whole pages, as O_DIRECT asks for
    Mapping written_; ///< the file as memory, for those who ask for it
    bool failed_ = false;
};

std::unique_ptr<ProbeOperator> make_file_write(const Parameters& parameters, int /*threads*/)
{
    return std::make_unique<FileWrite>(static_cast<std::size_t>(parameters.at("bytes")));
}

double file_write_memory(const Parameters& parameters)
{
    return 2 * static_cast<double>(parameters.at("bytes")) + 2 * kFileBlock; // with what the check reads
}

} // namespace

CpuImplementation file_write_on_cpu()
{
    return {.make = make_file_write, .memory = file_write_memory};
}

} // namespace fathom::probes
