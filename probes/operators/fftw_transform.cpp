#include "probes/operators/fftw_transform.hpp"

#include "probes/operators/checksum.hpp"
#include "probes/operators/data_flow.hpp"
#include "probes/operators/fft_check.hpp"
#include "probes/operators/random.hpp"
#include "probes/operators/thread_team.hpp"

#include <chrono>
#include <cmath>
#include <fftw3.h>
#include <new>

namespace fathom::probes {
namespace {

/// FFTW_MEASURE tries algorithms until the limit and then takes the best that it knows. Long vectors
/// would plan for many seconds; a probe has ten for everything. After 1 s a grid of 128^3 now had the right plan, now
/// one that takes 1.6 times as long.
constexpr double kPlanningLimitS = 2;

std::size_t power(std::size_t base, int exponent)
{
    std::size_t result = 1;
    for (int i = 0; i < exponent; ++i)
        result *= base;
    return result;
}

/// The thread library of FFTW starts working only when asked: with one thread the plain planner runs,
/// as in a program that never heard of threads.
void set_planner_threads(int threads)
{
    static bool started = false;
    if (threads > 1 && !started) started = fftw_init_threads() != 0;
    if (started) fftw_plan_with_nthreads(threads);
}

} // namespace

FftwTransform::FftwTransform(std::size_t n, int dimensions, int threads)
    : n_(n), dimensions_(dimensions), threads_(threads)
{
}

FftwTransform::~FftwTransform()
{
    if (plan_ != nullptr) fftw_destroy_plan(plan_);
}

Result<void> FftwTransform::prepare(std::uint64_t seed)
{
    seed_ = seed;
    const std::size_t size = power(n_, dimensions_);
    input_ = Buffer<std::complex<double>>(size);
    spectrum_ = Buffer<std::complex<double>>(size);
    ThreadTeam team(threads_); // touched before the planner measures, and by as many threads as will compute
    fill_in_parts(team, input_, [](std::size_t) { return std::complex<double>(); });
    fill_in_parts(team, spectrum_, [](std::size_t) { return std::complex<double>(); });

    set_planner_threads(threads_);
    fftw_set_timelimit(kPlanningLimitS);
    const std::vector<int> edges(static_cast<std::size_t>(dimensions_), static_cast<int>(n_));
    const auto start = std::chrono::steady_clock::now();
    plan_ = fftw_plan_dft(dimensions_, edges.data(), reinterpret_cast<fftw_complex*>(input_.data()),
                          reinterpret_cast<fftw_complex*>(spectrum_.data()), FFTW_FORWARD, FFTW_MEASURE);
    planning_s_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (plan_ == nullptr) return Error{Errc::kUnavailable, "FFTW has no plan for this size"};

    for (std::size_t i = 0; i < size; ++i) // planning has overwritten the input
        input_[i] = {random_signed(seed, 2 * i), random_signed(seed, 2 * i + 1)};
    return {};
}

void FftwTransform::execute()
{
    fftw_execute(plan_);
}

std::vector<double> FftwTransform::values()
{
    const auto* const parts = reinterpret_cast<const double*>(spectrum_.data());
    return {parts, parts + 2 * spectrum_.size()};
}

Result<void> FftwTransform::feed(std::size_t index, std::span<const double> values)
{
    if (index != 0) return Error{Errc::kUnavailable, "has one input"};
    const std::vector<double> parts = fit_values(values, 2 * input_.size());
    for (std::size_t i = 0; i < input_.size(); ++i)
        input_[i] = {parts[2 * i], parts[2 * i + 1]};
    return {};
}

double FftwTransform::error()
{
    if (dimensions_ == 1) return fft_error_1d(input_.span(), spectrum_.span(), seed_ + 1);
    if (dimensions_ == 2) return fft_error_2d(input_.span(), spectrum_.span(), n_, seed_ + 1);
    return fft_error_3d(input_.span(), spectrum_.span(), n_, seed_ + 1);
}

std::string FftwTransform::checksum()
{
    const std::size_t size = spectrum_.size();
    // Parts uniform in [-1, 1) have variance 1/3, so those of the spectrum have size/3.
    const double scale = std::sqrt(static_cast<double>(size) / 3);
    return rounded_checksum(std::span(reinterpret_cast<const double*>(spectrum_.data()), 2 * size), scale);
}

std::string FftwTransform::library() const
{
    std::string text = fftw_version; // "fftw-3.3.10-sse2-avx-…": version, then what it was built for
    if (text.starts_with("fftw-")) text.replace(0, 5, "FFTW ");
    if (const std::size_t dash = text.find('-'); dash != std::string::npos) text[dash] = ' ';
    return text + (planning_s_ >= kPlanningLimitS ? ", planning stopped after 2 s" : ", measured plan");
}

double fftw_memory(double elements)
{
    // Input, spectrum, and room for the planner: some algorithms copy the data once.
    return 3 * 16 * elements;
}

} // namespace fathom::probes
