/// The loop as a program has it. This file is compiled with relaxed arithmetic and for several processors, as programs
/// are for which sines matter: the compiler then calls the C library's vector functions by itself.
#include "tests/bench/bare_operators.hpp"

#include <cmath>
#include <vector>

namespace fathom::bench {
namespace {

#if defined(__x86_64__)
/// Compiled for each of these; which one runs is chosen when the program starts.
#define FATHOM_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define FATHOM_CLONES
#endif

FATHOM_CLONES void sines_and_cosines(const double* angles, double* sines, double* cosines, std::size_t size)
{
    for (std::size_t i = 0; i < size; ++i)
        sines[i] = std::sin(angles[i]);
    for (std::size_t i = 0; i < size; ++i)
        cosines[i] = std::cos(angles[i]);
}

class BareTrigonometric final : public BareOperator {
  public:
    BareTrigonometric()
    {
        for (double& angle : angles_)
            angle *= 100;
    }

    void loop(long times) override
    {
        for (long i = 0; i < times; ++i)
            sines_and_cosines(angles_.data(), sines_.data(), cosines_.data(), kSize);
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
