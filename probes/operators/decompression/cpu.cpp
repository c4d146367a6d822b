#include "probes/operators/checksum.hpp"
#include "probes/operators/compressible_blocks.hpp"
#include "probes/operators/cpu_implementation.hpp"

#include <algorithm>

namespace fathom::probes {
namespace {

class BlockExpansion final : public ProbeOperator {
  public:
    BlockExpansion(CompressibleData data, int threads)
        : data_(data), team_(threads), content_(data.bytes), blocks_(data.bytes)
    {
    }

    /// @error kUnavailable  zlib does not compress the inputs.
    Result<void> prepare(std::uint64_t seed) override
    {
        data_.seed = seed;
        const auto fill = [this](Part part) { // who expands a part touches it first
            data_.fill(content_.span().subspan(part.begin, part.end - part.begin), part.begin);
        };
        team_.for_parts(content_.size(), fill);
        if (!blocks_.compress(team_, content_.span()))
            return Error{Errc::kUnavailable, "zlib cannot compress the inputs of decompression"};
        team_.for_parts(content_.size(), [this](Part part) { // what is found later was computed
            std::fill(content_.data() + part.begin, content_.data() + part.end, std::byte{});
        });
        return {};
    }

    void execute() override { is_expanded_ = blocks_.expand(team_, content_.span()); }

    double error() override { return is_expanded_ ? data_.error(content_.span()) : 1; }
    std::string checksum() override { return exact_checksum(content_.bytes()); }
    std::string library() const override { return zlib_name(); }
    std::span<std::byte> output() override { return content_.bytes(); }

  private:
    CompressibleData data_;
    ThreadTeam team_;
    Buffer<std::byte> content_;
    CompressedBlocks blocks_;
    bool is_expanded_ = false;
};

std::unique_ptr<ProbeOperator> make_decompression(const Parameters& parameters, int threads)
{
    const CompressibleData data{.bytes = static_cast<std::size_t>(parameters.at("bytes")),
                                .random_percent = parameters.at("random_percent")};
    return std::make_unique<BlockExpansion>(data, threads);
}

double decompression_memory(const Parameters& parameters)
{
    const auto bytes = static_cast<double>(parameters.at("bytes"));
    return bytes + CompressedBlocks::memory(bytes);
}

} // namespace

CpuImplementation decompression_on_cpu()
{
    return {.make = make_decompression, .memory = decompression_memory, .has_program_threads = true};
}

} // namespace fathom::probes
