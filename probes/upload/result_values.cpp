#include "probes/upload/result_values.hpp"

#include "core/base/secret.hpp"
#include "probes/operators/checksum.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace fathom::probes {
namespace {

constexpr std::byte kNonsenseByte{0xA5};

template <class T>
T element(std::span<const std::byte> bytes, std::size_t index)
{
    T value{};
    std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
    return value;
}

/// A power of two near the root mean square. Shifted, so that values of size 1 do not lie where it changes.
double typical_size(const std::vector<double>& values)
{
    double sum = 0;
    for (const double value : values)
        sum += value * value;
    const double size = std::sqrt(sum / static_cast<double>(values.size()));
    if (!std::isnormal(size)) return 1;
    return std::exp2(std::round(std::log2(size) + 0.3));
}

} // namespace

std::size_t element_bytes(ResultKind kind)
{
    switch (kind) {
    case ResultKind::kDoubles:
        return sizeof(double);
    case ResultKind::kFloats:
        return sizeof(float);
    case ResultKind::kBytes:
        return 1;
    }
    return 1;
}

double ResultValues::number(std::size_t index) const
{
    return kind_ == ResultKind::kDoubles ? element<double>(bytes_, index)
                                         : static_cast<double>(element<float>(bytes_, index));
}

void ResultValues::set_number(std::size_t index, double value)
{
    if (kind_ == ResultKind::kDoubles) {
        std::memcpy(bytes_.data() + index * sizeof value, &value, sizeof value);
        return;
    }
    const auto narrow = static_cast<float>(value);
    std::memcpy(bytes_.data() + index * sizeof narrow, &narrow, sizeof narrow);
}

std::vector<double> ResultValues::numbers() const
{
    std::vector<double> values;
    if (kind_ == ResultKind::kBytes) return values;
    values.reserve(count());
    for (std::size_t i = 0; i < count(); ++i)
        values.push_back(number(i));
    return values;
}

std::string ResultValues::checksum() const
{
    if (kind_ == ResultKind::kBytes)
        return sha256_hex({reinterpret_cast<const char*>(bytes_.data()), bytes_.size()}).substr(0, 16);
    const std::vector<double> values = numbers();
    const double scale = typical_size(values);
    if (kind_ == ResultKind::kDoubles) return rounded_checksum(values, scale);
    const std::vector<float> narrow(values.begin(), values.end());
    return rounded_checksum(narrow, scale);
}

void ResultValues::fill_with_nonsense()
{
    if (kind_ == ResultKind::kBytes) {
        std::fill(bytes_.begin(), bytes_.end(), kNonsenseByte);
        return;
    }
    for (std::size_t i = 0; i < count(); ++i)
        set_number(i, std::numeric_limits<double>::quiet_NaN());
}

std::size_t ResultValues::nonsense_left() const
{
    std::size_t left = 0;
    for (std::size_t i = 0; kind_ != ResultKind::kBytes && i < count(); ++i)
        left += std::isnan(number(i)) ? 1 : 0;
    return left;
}

void ResultValues::spoil(std::size_t index, double tolerance)
{
    if (kind_ == ResultKind::kBytes) {
        bytes_[index] = ~bytes_[index];
        return;
    }
    double largest = 0;
    for (std::size_t i = 0; i < count(); ++i)
        largest = std::max(largest, std::abs(number(i)));
    if (largest == 0) largest = 1;
    // In the Euclidean norm of n elements one wrong element counts a √n-th.
    const double times = 1 + 8 * tolerance * std::sqrt(static_cast<double>(count()));
    set_number(index, number(index) + (number(index) > 0 ? -1 : 1) * 2 * largest * times);
}

bool ResultValues::are_same(const ResultValues& a, const ResultValues& b, double tolerance)
{
    if (a.kind_ != b.kind_ || a.bytes_.size() != b.bytes_.size()) return false;
    if (std::equal(a.bytes_.begin(), a.bytes_.end(), b.bytes_.begin())) return true;
    if (a.kind_ == ResultKind::kBytes) return false;
    double difference = 0;
    double norm = 0;
    for (std::size_t i = 0; i < a.count(); ++i) {
        const double step = a.number(i) - b.number(i);
        difference += step * step;
        norm += a.number(i) * a.number(i);
    }
    return std::sqrt(difference) <= tolerance * std::sqrt(norm); // false for NaN
}

} // namespace fathom::probes
