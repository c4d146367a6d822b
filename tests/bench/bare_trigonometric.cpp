/// The loop as a program has it. This file is compiled for this processor and with relaxed arithmetic, as
/// programs are for which sines matter: the compiler then calls the C library's vector functions by itself.
#include "tests/bench/bare_operators.hpp"

#include <cmath>
#include <vector>

namespace fathom::bench {
namespace {

class BareTrigonometric final : public BareOperator {
  public:
    BareTrigonometric()
    {
        for (double& angle : angles_)
            angle *= 100;
    }

    void loop(long times) override
    {
        for (long i = 0; i < times; ++i) {
            const double* const angles = angles_.data();
            double* const sines = sines_.data();
            double* const cosines = cosines_.data();
            for (std::size_t j = 0; j < kSize; ++j)
                sines[j] = std::sin(angles[j]);
            for (std::size_t j = 0; j < kSize; ++j)
                cosines[j] = std::cos(angles[j]);
        }
    }

  private:
    static constexpr std::size_t kSize = 200000;
    std::vector<double> angles_ = random_vector(kSize);
    std::vector<double> sines_ = std::vector<double>(kSize);
    std::vector<double> cosines_ = std::vector<double>(kSize);
};

} // namespace

std::unique_ptr<BareOperator> make_bare_trigonometric()
{
    return std::make_unique<BareTrigonometric>();
}

} // namespace fathom::bench
