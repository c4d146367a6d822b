#pragma once

namespace fathom::probes {

/// The clock rate of the core that calls, in hertz: a chain of 16 384 dependent additions takes that many cycles on
/// every processor in use, timed three times, of which the shortest counts. Takes about 20 µs, and is right within
/// about 1 %. 0 on architectures for which the chain is not written.
double measure_core_clock_hz();

} // namespace fathom::probes
