#pragma once

#include <cstddef>
#include <vector>

namespace fathom::profile {

/// A triad over arrays that no cache holds.
class Triad {
  public:
    static constexpr std::size_t kElements = std::size_t{8} << 20U; ///< 64 MiB an array
    static constexpr double kElementBytes = 24;                     ///< two are read, one is written

    /// Computes elements from `first` to before `last`.
    void run(std::size_t first, std::size_t last, double factor)
    {
        for (std::size_t i = first; i < last; ++i)
            a_[i] = b_[i] + factor * c_[i];
        asm volatile("" : : "r"(a_.data()) : "memory"); // the compiler may not leave the loop out
    }

  private:
    std::vector<double> a_ = std::vector<double>(kElements, 0);
    std::vector<double> b_ = std::vector<double>(kElements, 1);
    std::vector<double> c_ = std::vector<double>(kElements, 2);
};

} // namespace fathom::profile
