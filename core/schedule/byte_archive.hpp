#pragma once

#include "core/base/clock.hpp"
#include "core/base/result.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

/// Values as bytes, the same on every machine, and back. Writer and reader have the same members, so that one list of
/// an object's fields serves both (core/schedule/cycle_fields.hpp). Numbers of doubles keep every bit.
namespace fathom {

/// Of what a number may be; anything else is refused when it is read.
enum class NumberRange {
    kFinite,
    kAmount,  ///< finite, at least 0
    kForEver, ///< at least 0, perhaps infinite
};

class ByteWriter {
  public:
    static constexpr bool kReads = false;

    void number(std::uint64_t value)
    {
        for (; value >= 0x80; value >>= 7U)
            bytes_.push_back(static_cast<char>(value | 0x80));
        bytes_.push_back(static_cast<char>(value));
    }
    /// From `least` to `most`.
    void integer(std::int64_t value, std::int64_t least = 0, std::int64_t /*most*/ = kMax)
    {
        number(static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(least));
    }
    void real(double value, NumberRange /*range*/ = NumberRange::kFinite)
    {
        auto bits = std::bit_cast<std::uint64_t>(value);
        for (int i = 0; i < 8; ++i, bits >>= 8U)
            bytes_.push_back(static_cast<char>(bits));
    }
    void flag(bool value) { bytes_.push_back(value ? 1 : 0); }
    void moment(Timestamp at) { integer(at.time_since_epoch().count(), -kMaxMicros, kMaxMicros); }
    template <class Enum>
    void choice(Enum value, Enum /*last*/)
    {
        number(static_cast<std::uint64_t>(value));
    }
    /// What comes again is written as its number.
    void text(const std::string& value)
    {
        const auto [known, is_new] = texts_.try_emplace(value, texts_.size() + 1);
        number(is_new ? 0 : known->second);
        if (!is_new) return;
        number(value.size());
        bytes_ += value;
    }
    /// The count of what follows.
    std::uint64_t size(std::size_t count)
    {
        number(count);
        return count;
    }
    static constexpr bool is_good() { return true; }
    /// The newest: what has a field writes it.
    static constexpr std::uint64_t version() { return std::numeric_limits<std::uint64_t>::max(); }
    void set_version(std::uint64_t /*version*/) {}
    void expect(bool /*is_so*/, std::string_view /*what*/) {}

    std::string take() { return std::move(bytes_); }

    static constexpr std::int64_t kMax = std::int64_t{1} << 40;
    static constexpr std::int64_t kMaxMicros = std::int64_t{1} << 58; ///< nine thousand years

  private:
    std::string bytes_;
    std::unordered_map<std::string, std::uint64_t> texts_;
};

/// Reads what a ByteWriter wrote. After the first fault all that it reads is empty. It never takes more room than a
/// small multiple of what it is given.
class ByteReader {
  public:
    static constexpr bool kReads = true;

    explicit ByteReader(std::string_view bytes, std::uint64_t version = ByteWriter::version())
        : bytes_(bytes), version_(version)
    {
    }

    /// Of the document that is read: fields that came later are not in it, and stay as they are.
    std::uint64_t version() const { return version_; }
    void set_version(std::uint64_t version) { version_ = version; }

    std::uint64_t number()
    {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            if (bytes_.empty()) break;
            const auto byte = static_cast<unsigned char>(bytes_.front());
            bytes_.remove_prefix(1);
            value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
            const bool is_shortest = byte != 0 || shift == 0; // one way to write each number
            if (byte < 0x80 && is_shortest && (shift < 63 || byte < 2)) return value;
            if (byte < 0x80) break;
        }
        fail("a number is broken");
        return 0;
    }
    void number(std::uint64_t& value) { value = number(); }
    void integer(std::int64_t& value, std::int64_t least = 0, std::int64_t most = ByteWriter::kMax)
    {
        const std::uint64_t above = number();
        const bool is_inside = above <= static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least);
        if (!is_inside) fail("a number is out of its range");
        value = is_inside ? static_cast<std::int64_t>(above + static_cast<std::uint64_t>(least)) : least;
    }
    void real(double& value, NumberRange range = NumberRange::kFinite)
    {
        value = 0;
        if (bytes_.size() < 8) return fail("it ends too early");
        std::uint64_t bits = 0;
        for (unsigned i = 0; i < 8; ++i)
            bits |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes_[i])) << (8 * i);
        bytes_.remove_prefix(8);
        const auto read = std::bit_cast<double>(bits);
        const bool is_inside = range == NumberRange::kFinite   ? std::isfinite(read)
                               : range == NumberRange::kAmount ? std::isfinite(read) && read >= 0
                                                               : read >= 0;
        if (!is_inside) return fail("a number is out of its range");
        value = read;
    }
    void flag(bool& value)
    {
        const std::uint64_t read = number();
        if (read > 1) fail("a flag is neither 0 nor 1");
        value = read == 1;
    }
    void moment(Timestamp& at)
    {
        std::int64_t micros = 0;
        integer(micros, -ByteWriter::kMaxMicros, ByteWriter::kMaxMicros);
        at = Timestamp(Timestamp::duration(micros));
    }
    template <class Enum>
    void choice(Enum& value, Enum last)
    {
        const std::uint64_t read = number();
        if (read > static_cast<std::uint64_t>(last)) fail("there is no such choice");
        value = is_good() ? static_cast<Enum>(read) : Enum{};
    }
    void text(std::string& value)
    {
        value.clear();
        const std::uint64_t known = number();
        if (known > texts_.size()) return fail("there is no such text");
        if (known > 0) {
            value = texts_[known - 1];
            return;
        }
        const std::uint64_t length = number();
        if (length > bytes_.size()) return fail("it ends too early");
        value = bytes_.substr(0, length);
        texts_.push_back(bytes_.substr(0, length));
        bytes_.remove_prefix(length);
    }
    /// The count of what follows: each takes a byte at least.
    std::uint64_t size(std::size_t /*count*/)
    {
        const std::uint64_t count = number();
        if (count > bytes_.size()) fail("it ends too early");
        return is_good() ? count : 0;
    }
    bool is_good() const { return fault_.empty(); }
    /// What was read must be so.
    void expect(bool is_so, std::string_view what)
    {
        if (!is_so) fail(what);
    }
    void fail(std::string_view what)
    {
        if (fault_.empty()) fault_ = what;
        bytes_ = {};
    }
    /// All must have been read. @error kInvalid  the first fault
    Result<void> finish(std::string_view what)
    {
        if (is_good() && !bytes_.empty()) fail("something follows its end");
        if (is_good()) return {};
        return Error{Errc::kInvalid, std::string(what) + " cannot be read: " + fault_};
    }

  private:
    std::string_view bytes_;
    std::uint64_t version_;
    std::vector<std::string_view> texts_;
    std::string fault_;
};

/// An object of this type as an archive has it: to be read, or to be written.
template <class T, class Object>
concept FieldsOf = std::same_as<std::remove_const_t<T>, Object>;

/// A list, each of whose items `fields(item)` reads or writes.
template <class Archive, class Items, class Fields>
void list_fields(Archive& archive, Items& items, const Fields& fields)
{
    const std::uint64_t count = archive.size(items.size());
    if constexpr (Archive::kReads) {
        items.clear();
        for (std::uint64_t i = 0; i < count && archive.is_good(); ++i)
            fields(items.emplace_back());
    } else {
        for (auto& item : items)
            fields(item);
    }
}

template <class Archive, class Texts>
void text_fields(Archive& archive, Texts& texts)
{
    list_fields(archive, texts, [&](auto& text) { archive.text(text); });
}

template <class Archive, class Optional, class Fields>
void optional_fields(Archive& archive, Optional& optional, const Fields& fields)
{
    bool is_there = optional.has_value();
    archive.flag(is_there);
    if constexpr (Archive::kReads) {
        optional.reset();
        if (is_there && archive.is_good()) optional.emplace();
    }
    if (optional) fields(*optional);
}

/// A map from texts, in their order; an unordered one is written in order as well.
template <class Archive, class Map, class Fields>
void map_fields(Archive& archive, Map& map, const Fields& fields)
{
    const std::uint64_t count = archive.size(map.size());
    if constexpr (Archive::kReads) {
        map.clear();
        std::string last;
        for (std::uint64_t i = 0; i < count && archive.is_good(); ++i) {
            std::string key;
            archive.text(key);
            archive.expect(i == 0 || last < key, "texts are not in order");
            fields(map[key]);
            last = std::move(key);
        }
    } else {
        std::vector<const typename Map::value_type*> ordered;
        ordered.reserve(map.size());
        for (const auto& one : map)
            ordered.push_back(&one);
        std::sort(ordered.begin(), ordered.end(), [](const auto* a, const auto* b) { return a->first < b->first; });
        for (const auto* one : ordered) {
            archive.text(one->first);
            fields(one->second);
        }
    }
}

/// What many objects point at is written once; the next ones name its number.
template <class T>
class SharedFields {
  public:
    /// @param fields  reads (returns a shared_ptr<const T>) or writes (takes a const T&) one of them.
    template <class Archive, class Pointer, class Fields>
    void operator()(Archive& archive, Pointer& pointer, const Fields& fields)
    {
        if constexpr (Archive::kReads) {
            pointer.reset();
            const std::uint64_t number = archive.number();
            archive.expect(number <= values_.size() + 1, "there is no such object");
            if (number == 0 || !archive.is_good()) return;
            if (number > values_.size()) values_.push_back(fields());
            pointer = values_[number - 1];
        } else {
            if (pointer == nullptr) return archive.number(0);
            const auto [known, is_new] = numbers_.try_emplace(pointer.get(), numbers_.size() + 1);
            archive.number(known->second);
            if (is_new) fields(*pointer);
        }
    }

  private:
    std::unordered_map<const T*, std::uint64_t> numbers_;
    std::vector<std::shared_ptr<const T>> values_;
};

} // namespace fathom
