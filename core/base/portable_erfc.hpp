#pragma once

namespace fathom::portable {

// As the functions of core/base/portable_math.
/// 1 − erf x, exact also where it is small; error below 1.6. Takes a microsecond.
double erfc(double x);

} // namespace fathom::portable
