#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

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

/// A library that does the same work as an operator which is our own code.
struct LibraryPeer {
    std::string name;
    std::function<std::unique_ptr<BareOperator>()> make;
};

/// Empty for operators whose bare counterpart is a library already, or that no library offers.
std::vector<LibraryPeer> library_peers(std::string_view id);

/// HPC Challenge's RandomAccess, written as its rules say: a loop is 4 × `size` independent updates of a table of
/// `size` words of 64 bits; a power of two.
std::unique_ptr<BareOperator> make_random_updates(std::size_t size);

/// The same for one family each: bare_libraries.cpp, bare_kernels.cpp, bare_sparse.cpp, bare_transfers.cpp,
/// bare_trigonometric.cpp.
std::unique_ptr<BareOperator> make_bare_library_call(std::string_view id);
std::unique_ptr<BareOperator> make_bare_kernel(std::string_view id);
std::unique_ptr<BareOperator> make_bare_sparse(std::string_view id);
std::unique_ptr<BareOperator> make_bare_transfer(std::string_view id);
std::unique_ptr<BareOperator> make_bare_trigonometric();

/// Uniform in [-1, 1).
std::vector<double> random_vector(std::size_t size);

} // namespace fathom::bench
