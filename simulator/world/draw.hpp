#pragma once

#include <cstdint>
#include <random>

namespace fathom {

/// Random numbers of a simulation. The generator is the standard's mt19937_64, whose numbers the standard fixes; the
/// distributions are written out, because those of the standard library differ from one library to the next.
class Draw {
  public:
    explicit Draw(std::uint64_t seed);
    double uniform(); ///< in [0, 1), 53 bits
    double uniform(double low, double high);
    double exponential(double mean);
    double normal();                     ///< mean 0, variance 1; Box and Muller, one of each pair is dropped
    std::size_t index(std::size_t size); ///< 0 … size − 1

  private:
    std::mt19937_64 generator_;
};

} // namespace fathom
