#pragma once

#include <array>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

/// Keys of what is kept by all that it depends on: of numbers the bytes, so that what differs in a bit has another key.
namespace fathom::byte_key {

template <class T>
    requires std::is_trivially_copyable_v<T>
void add(std::string& key, const T& value)
{
    std::array<char, sizeof(T)> bytes{};
    std::memcpy(bytes.data(), &value, sizeof(T));
    key.append(bytes.data(), bytes.size());
}

inline void add(std::string& key, const std::string& text)
{
    add(key, text.size());
    key += text;
}

inline void add(std::string& key, const std::vector<std::string>& texts)
{
    add(key, texts.size());
    for (const std::string& text : texts)
        add(key, text);
}

} // namespace fathom::byte_key
