#include "probes/operators/checksum.hpp"
#include "probes/operators/cpu_implementation.hpp"
#include "probes/operators/scratch_file.hpp"

#include <limits>

namespace fathom::probes {
namespace {

class FileRead final : public ProbeOperator {
  public:
    explicit FileRead(std::size_t bytes) : bytes_(whole_blocks(bytes)) {}

    Result<void> prepare(std::uint64_t seed) override
    {
        seed_ = seed;
        Result<ScratchFile> file = ScratchFile::create(bytes_);
        if (!file) return file.error();
        file_ = std::move(*file);
        content_ = Mapping::own(bytes_);
        fill_content(content(), seed);
        if (!file_.write(content())) return Error{Errc::kUnavailable, "the file that is to be read cannot be written"};
        return {};
    }

    void execute() override { failed_ = !file_.read(content()); }

    double error() override
    {
        return failed_ ? std::numeric_limits<double>::infinity() : content_error(content(), seed_);
    }

    std::string checksum() override { return exact_checksum(content()); }
    std::string library() const override { return "own, requests of 1 MiB, " + file_.description(); }
    std::span<std::byte> output() override { return content(); }

  private:
    std::span<std::byte> content() const { return {content_.data(), bytes_}; }

    std::size_t bytes_;
    std::uint64_t seed_{};
    ScratchFile file_;
    Mapping content_; ///< on whole pages, as O_DIRECT asks for
    bool failed_ = false;
};

std::unique_ptr<ProbeOperator> make_file_read(const Parameters& parameters, int /*threads*/)
{
    return std::make_unique<FileRead>(static_cast<std::size_t>(parameters.at("bytes")));
}

double file_read_memory(const Parameters& parameters)
{
    return static_cast<double>(parameters.at("bytes")) + kFileBlock;
}

} // namespace

CpuImplementation file_read_on_cpu()
{
    return {.make = make_file_read, .memory = file_read_memory};
}

} // namespace fathom::probes
