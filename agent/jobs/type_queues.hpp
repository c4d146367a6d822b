#pragma once

#include "core/model/type_queue.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace fathom::agent {

/// What a batch system says of the queues before this center's unit types, and what of that is worth telling: a wait
/// that is a fifth longer or shorter than was told, and at least a minute; whether there is any.
class TypeQueues {
  public:
    /// Of these unit types; what is known of others is forgotten.
    void keep_only(const std::set<std::string>& unit_types);
    /// Nothing is kept of a unit type that keep_only() did not name: it left the plan while its batch system was asked.
    void note(const TypeQueue& queue, Timestamp now);
    /// What is to be told since the last call.
    std::vector<TypeQueue> news();
    /// All that is known is news again.
    void tell_again();

  private:
    struct Entry {
        std::optional<Timestamp> expected_start;
        std::optional<double> told_wait_s; ///< empty: it was told that nothing is known
        bool was_told{false};
        bool is_news{false};
    };
    std::map<std::string, Entry> queues_;
};

} // namespace fathom::agent
