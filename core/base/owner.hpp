#pragma once

#include <memory>

namespace fathom {

/// Frees an object of a C library by the function that it has for that.
template <auto Free>
struct FreeBy {
    template <class T>
    void operator()(T* object) const
    {
        Free(object);
    }
};

/// Owns an object of a C library.
template <class T, auto Free>
using Owner = std::unique_ptr<T, FreeBy<Free>>;

} // namespace fathom
