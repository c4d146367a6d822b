#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace fathom {

/// A vector whose copies are one until one of them is changed: for what is copied often and changed seldom. Like a
/// vector, it may be read by many threads, and its copies may be changed by others meanwhile.
template <class T>
class SharedList {
  public:
    using value_type = T;
    using const_iterator = const T*;

    SharedList() = default;
    SharedList(std::initializer_list<T> values) : SharedList(std::vector<T>(values)) {}
    SharedList(std::vector<T> values) // as a vector: not explicit
    {
        if (!values.empty()) values_ = std::make_shared<std::vector<T>>(std::move(values));
    }

    const T* data() const { return values_ ? values_->data() : nullptr; }
    std::size_t size() const { return values_ ? values_->size() : 0; }
    bool empty() const { return size() == 0; }
    const T* begin() const { return data(); }
    const T* end() const { return data() + size(); }
    const T& operator[](std::size_t index) const { return (*values_)[index]; }

    /// What keeps these values as they are while anybody has it; nullptr when the list is empty.
    std::shared_ptr<const void> shared() const { return values_; }

    /// The values, to be changed: from here on no other list has them.
    std::vector<T>& own()
    {
        if (!values_)
            values_ = std::make_shared<std::vector<T>>();
        else if (values_.use_count() > 1)
            values_ = std::make_shared<std::vector<T>>(*values_);
        return *values_;
    }
    void push_back(T value) { own().push_back(std::move(value)); }
    void clear() { values_.reset(); }

  private:
    std::shared_ptr<std::vector<T>> values_; ///< nullptr: empty
};

} // namespace fathom
