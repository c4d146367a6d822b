#pragma once

#include <memory>
#include <string_view>

namespace fathom::bench {

/// The same work as a probe operator at its default size, written as a programmer would who calls the
/// library directly: no interface of ours in between. One thread.
class BareOperator {
  public:
    BareOperator() = default;
    virtual ~BareOperator() = default;
    BareOperator(const BareOperator&) = delete;
    BareOperator& operator=(const BareOperator&) = delete;

    /// Calls the library `times` times in a loop.
    virtual void loop(long times) = 0;
};

/// Nullptr for an operator without a bare counterpart. The sizes are those of the manifests' defaults.
std::unique_ptr<BareOperator> make_bare_operator(std::string_view id);

} // namespace fathom::bench
