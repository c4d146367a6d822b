#pragma once

#include <cstddef>
#include <span>
#include <vector>

/// The data flow between the operators of a task (M5), as far as it concerns operators.
namespace fathom::probes {

/// `values` cut or repeated to `size` elements and scaled so that their root mean square is that of numbers
/// uniform in [-1, 1), as operators make their own inputs. All zeros, or anything that is not finite, stays
/// as it is: the check of the operator that gets it will tell.
/// @param values  not empty.
std::vector<double> fit_values(std::span<const double> values, std::size_t size);

/// The element-wise mean of several results; all have the size of the first.
/// Accumulates: call add for each, then mean.
class MeanOfResults {
  public:
    void add(std::span<const double> values);
    std::vector<double> mean() const;

  private:
    std::vector<double> sum_;
    double count_ = 0;
};

} // namespace fathom::probes
