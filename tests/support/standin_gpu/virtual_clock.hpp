#pragma once

#include "tests/support/standin_gpu/cuda_driver_state.hpp"

#include <cstdint>

/// The stand-in driver's virtual clock, where FATHOM_STANDIN_CLOCK is `virtual`: what calls cost is counted, and
/// nothing sleeps. Times depend on which calls are made and in which order, and on nothing else, however fast the host
/// is.
///
/// - The program has one time line, of all its threads: a call that has to do with streams moves it on by its cost, one
///   that waits moves it on to the time at which what it waits for is done.
/// - Each stream has a time line: what is put there begins when all that was put there before is done, and no earlier
///   than the program has come to it. The legacy stream waits for all blocking streams of its context, and they for it.
/// - A card has one engine for copies and one for kernels, for all programs together. Each does one thing at a time, in
///   the order in which they were put into streams, whoever put them there.
/// - A program comes to a card, with a context, at the latest time that any program of the card has waited until. The
///   time of a card goes on as long as its books are there; work of a program that has ended is done all the same.
///
/// All functions are called with the driver's mutex held, and change nothing where the clock is real.
namespace fathom::standin {

bool is_virtual();

/// A call that has to do with streams; a launch costs more.
void charge_call();
void charge_launch();

/// How long something takes, in ns.
std::int64_t copy_ns(std::size_t bytes);   ///< between the host and a card
std::int64_t memory_ns(std::size_t bytes); ///< to write memory of a card
/// As the launch declares: `spin` by its last argument, others as many blocks as it has of what the module says. No
/// less than FATHOM_STANDIN_KERNEL_US.
std::int64_t kernel_ns(const Kernel& kernel, std::int64_t blocks, std::uint64_t last_argument);

/// Into a stream; null: the legacy stream of the context. @return when it will be done
std::int64_t put_work(OwnContext& context, OwnStream* stream, Engine engine, std::int64_t cost_ns);
/// When all that has been put there is done, and no earlier than the program has come.
std::int64_t done_at(const OwnContext& context, const OwnStream* stream);
/// What is put there from now on begins at that time at the earliest.
void hold_stream(OwnContext& context, OwnStream* stream, std::int64_t until_ns);
/// The same of all streams of a context.
std::int64_t all_done_at(const OwnContext& context);

/// The program has waited until then.
void move_program_to(const OwnContext& context, std::int64_t at_ns);
std::int64_t program_ns();
/// A program that makes a context comes to its card.
void come_to(const OwnContext& context);

} // namespace fathom::standin
