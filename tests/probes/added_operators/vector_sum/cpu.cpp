#include "probes/operators/checksum.hpp"
#include "probes/operators/cpu_implementation.hpp"

#include <algorithm>
#include <cmath>

namespace fathom::probes {
namespace {

class VectorSum final : public ProbeOperator {
  public:
    explicit VectorSum(std::size_t n) : a_(n), b_(n), sums_(n) {}

    Result<void> prepare(std::uint64_t seed) override
    {
        for (std::size_t i = 0; i < a_.size(); ++i) {
            a_[i] = static_cast<double>((seed + i) % 1000);
            b_[i] = static_cast<double>(i % 7);
        }
        return {};
    }
    void execute() override
    {
        for (std::size_t i = 0; i < sums_.size(); ++i)
            sums_[i] = a_[i] + b_[i];
    }
    double error() override
    {
        double largest = 0;
        for (std::size_t i = 0; i < sums_.size(); ++i)
            largest = std::max(largest, std::abs(sums_[i] - a_[i] - b_[i]));
        return largest;
    }
    std::string checksum() override { return rounded_checksum(std::span<const double>(sums_), 1000); }
    std::string library() const override { return "none"; }
    std::span<std::byte> output() override { return std::as_writable_bytes(std::span(sums_)); }

  private:
    std::vector<double> a_;
    std::vector<double> b_;
    std::vector<double> sums_;
};

std::unique_ptr<ProbeOperator> make_vector_sum(const Parameters& parameters, int /*threads*/)
{
    return std::make_unique<VectorSum>(static_cast<std::size_t>(parameters.at("n")));
}

double vector_sum_memory(const Parameters& parameters)
{
    return 24 * static_cast<double>(parameters.at("n"));
}

} // namespace

CpuImplementation vector_sum_on_cpu()
{
    return {.make = make_vector_sum, .memory = vector_sum_memory};
}

} // namespace fathom::probes
