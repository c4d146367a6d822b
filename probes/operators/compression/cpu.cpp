#include "probes/operators/checksum.hpp"
#include "probes/operators/compressible_blocks.hpp"
#include "probes/operators/cpu_implementation.hpp"

namespace fathom::probes {
namespace {

class BlockCompression final : public ProbeOperator {
  public:
    BlockCompression(CompressibleData data, int threads)
        : data_(data), team_(threads), content_(data.bytes), blocks_(data.bytes)
    {
    }

    Result<void> prepare(std::uint64_t seed) override
    {
        data_.seed = seed;
        team_.for_parts(content_.size(), [this](Part part) { // who compresses a part touches it first
            data_.fill(content_.span().subspan(part.begin, part.end - part.begin), part.begin);
        });
        blocks_.prepare(team_);
        return {};
    }

    void execute() override { is_compressed_ = blocks_.compress(team_, content_.span()); }

    /// What the streams hold.
    double error() override
    {
        Buffer<std::byte> found(data_.bytes);
        return expand_to(found) ? data_.error(found.span()) : 1;
    }

    /// Of what the streams hold: versions of zlib differ in how they say the same.
    std::string checksum() override
    {
        Buffer<std::byte> found(data_.bytes);
        return exact_checksum(expand_to(found) ? found.bytes() : std::span<const std::byte>());
    }

    std::string library() const override { return zlib_name(); }

    std::map<std::string, double> figures() override
    {
        return {{"compressed_fraction", static_cast<double>(blocks_.size()) / static_cast<double>(data_.bytes)}};
    }

    std::span<std::byte> output() override { return blocks_.joined(); }

  private:
    bool expand_to(Buffer<std::byte>& found) { return is_compressed_ && blocks_.expand(team_, found.span()); }

    CompressibleData data_;
    ThreadTeam team_;
    Buffer<std::byte> content_;
    CompressedBlocks blocks_;
    bool is_compressed_ = false;
};

std::unique_ptr<ProbeOperator> make_compression(const Parameters& parameters, int threads)
{
    const CompressibleData data{.bytes = static_cast<std::size_t>(parameters.at("bytes")),
                                .random_percent = parameters.at("random_percent")};
    return std::make_unique<BlockCompression>(data, threads);
}

double compression_memory(const Parameters& parameters)
{
    const auto bytes = static_cast<double>(parameters.at("bytes"));
    return 2 * bytes + CompressedBlocks::memory(bytes); // with what the check expands
}

} // namespace

CpuImplementation compression_on_cpu()
{
    return {.make = make_compression, .memory = compression_memory, .has_program_threads = true};
}

} // namespace fathom::probes
