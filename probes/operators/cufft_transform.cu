#include "probes/operators/checksum.hpp"
#include "probes/operators/cuda_fill.cuh"
#include "probes/operators/cufft_transform.hpp"
#include "probes/operators/data_flow.hpp"
#include "probes/operators/fft_check.hpp"

#include <array>
#include <cmath>
#include <cufft.h>

namespace fathom::probes {
namespace {

using Complex = std::complex<double>;

static_assert(std::is_same_v<cufftHandle, int>);
static_assert(sizeof(Complex) == sizeof(cufftDoubleComplex));

void check(cufftResult status, const char* what)
{
    if (status == CUFFT_SUCCESS) return;
    if (status == CUFFT_ALLOC_FAILED) throw DeviceMemoryError();
    throw CudaError(std::string(what) + ": cuFFT error " + std::to_string(status));
}

std::size_t power(std::size_t base, int exponent)
{
    std::size_t result = 1;
    for (int i = 0; i < exponent; ++i)
        result *= base;
    return result;
}

} // namespace

CufftTransform::CufftTransform(std::size_t n, int dimensions)
    : n_(n), dimensions_(dimensions), size_(power(n, dimensions))
{
}

CufftTransform::~CufftTransform()
{
    if (has_plan_) cufftDestroy(plan_);
}

void CufftTransform::prepare_on_device(std::uint64_t seed)
{
    input_ = DeviceArray<double>(2 * size_);
    spectrum_ = DeviceResult<Complex>(size_, stream());
    fill_on_device(input_.data(), input_.size(), stream(), RandomSigned<double>{seed});

    check(cufftCreate(&plan_), "cufftCreate");
    has_plan_ = true;
    check(cufftSetStream(plan_, stream().get()), "cufftSetStream");
    const auto edge = static_cast<long long>(n_);
    std::array<long long, 3> edges{edge, edge, edge}; // row-major, as many as there are dimensions
    std::size_t work_bytes = 0;
    check(
        cufftMakePlanMany64(plan_, dimensions_, edges.data(), nullptr, 1, 1, nullptr, 1, 1, CUFFT_Z2Z, 1, &work_bytes),
        "cufftMakePlanMany64");
}

void CufftTransform::execute()
{
    check(cufftExecZ2Z(plan_, reinterpret_cast<cufftDoubleComplex*>(input_.data()),
                       reinterpret_cast<cufftDoubleComplex*>(spectrum_.written_by_device()), CUFFT_FORWARD),
          "cufftExecZ2Z");
    stream().wait();
}

std::vector<double> CufftTransform::values()
{
    const std::span<const double> parts = spectrum_parts();
    return {parts.begin(), parts.end()};
}

Result<void> CufftTransform::feed(std::size_t index, std::span<const double> values)
{
    if (index != 0) return Error{Errc::kUnavailable, "has one input"};
    fed_ = fit_values(values, input_.size());
    input_.upload(fed_, stream());
    return {};
}

double CufftTransform::error()
{
    const std::vector<Complex> from = input();
    const std::span<const Complex> spectrum = spectrum_.on_host(stream());
    if (dimensions_ == 1) return fft_error_1d(from, spectrum, seed() + 1);
    if (dimensions_ == 2) return fft_error_2d(from, spectrum, n_, seed() + 1);
    return fft_error_3d(from, spectrum, n_, seed() + 1);
}

std::string CufftTransform::checksum()
{
    // Parts uniform in [-1, 1) have variance 1/3, so those of the spectrum have size/3.
    return rounded_checksum(spectrum_parts(), std::sqrt(static_cast<double>(size_) / 3));
}

std::string CufftTransform::library() const
{
    return cuda_library_name("cuFFT", cufftGetProperty);
}

std::span<std::byte> CufftTransform::output()
{
    return std::as_writable_bytes(spectrum_.on_host(stream()));
}

std::vector<Complex> CufftTransform::input() const
{
    const RandomSigned<double> random{seed()};
    std::vector<Complex> values(size_);
    for (std::size_t i = 0; i < size_; ++i) {
        values[i] = fed_.empty() ? Complex(random(2 * i), random(2 * i + 1)) : Complex(fed_[2 * i], fed_[2 * i + 1]);
    }
    return values;
}

std::span<double> CufftTransform::spectrum_parts()
{
    const std::span<Complex> spectrum = spectrum_.on_host(stream());
    return {reinterpret_cast<double*>(spectrum.data()), 2 * spectrum.size()};
}

double cufft_host_memory(double elements)
{
    return 2 * 16 * elements; // the check's input, and the spectrum
}

double cufft_device_memory(double elements)
{
    // Input, spectrum, and work space of that size again: what lengths with small prime factors take. For others it
    // is larger, and its allocation tells.
    return 3 * 16 * elements;
}

} // namespace fathom::probes
