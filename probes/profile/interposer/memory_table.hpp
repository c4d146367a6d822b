#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace fathom::profile {

/// Remembers kWords words for each key. Reading takes no lock and never waits, whatever a writer does; writers take
/// turns under a lock of their caller. A fork in the middle of a write leaves the table whole.
///
/// Why a reader never takes one key's words for another's: a slot's key is taken away before its words change and
/// stands there after them, and the reader looks at the key before and after it has read the words.
template <std::size_t kWords, std::size_t kSlots>
class MemoryTable {
    static_assert((kSlots & (kSlots - 1)) == 0, "a power of two");

  public:
    /// Keys below this mean something else in the table, and are neither kept nor found.
    static constexpr std::uint64_t kMinKey = 2;

    /// @return false when it is not known; then `words` hold anything.
    bool find(std::uint64_t key, std::uint64_t (&words)[kWords]) const
    {
        const Slot* slot = slot_of(key);
        if (slot == nullptr) return false;
        for (std::size_t i = 0; i < kWords; ++i)
            words[i] = slot->words[i].load(std::memory_order_acquire);
        return slot->key.load(std::memory_order_relaxed) == key;
    }

    /// Under the writers' lock. What was known of the key is replaced. @return false when there is no room near it.
    bool put(std::uint64_t key, const std::uint64_t (&words)[kWords])
    {
        if (key < kMinKey) return true;
        Slot* slot = const_cast<Slot*>(slot_of(key));
        for (std::size_t step = 0; slot == nullptr && step < kMaxSteps; ++step) {
            Slot& tried = slots_[(start_of(key) + step) % kSlots];
            if (tried.key.load(std::memory_order_relaxed) < kMinKey) slot = &tried;
        }
        if (slot == nullptr) return false;
        slot->key.store(kForgotten, std::memory_order_relaxed);
        for (std::size_t i = 0; i < kWords; ++i)
            slot->words[i].store(words[i], std::memory_order_release);
        slot->key.store(key, std::memory_order_release);
        return true;
    }

    /// Under the writers' lock.
    void forget(std::uint64_t key)
    {
        if (const Slot* slot = slot_of(key); slot != nullptr)
            const_cast<Slot*>(slot)->key.store(kForgotten, std::memory_order_relaxed);
    }

    /// Under the writers' lock.
    void clear()
    {
        for (Slot& slot : slots_) {
            // A table that was never used keeps its pages untouched.
            if (slot.key.load(std::memory_order_relaxed) != kFree) slot.key.store(kFree, std::memory_order_relaxed);
        }
    }

  private:
    static constexpr std::size_t kMaxSteps = 64;
    static constexpr std::uint64_t kFree = 0;      ///< no key was ever beyond it
    static constexpr std::uint64_t kForgotten = 1; ///< keys that found no room here may stand beyond it

    struct Slot {
        std::atomic<std::uint64_t> key;
        std::atomic<std::uint64_t> words[kWords];
    };

    static std::size_t start_of(std::uint64_t key) { return (key * 0x9e3779b97f4a7c15U) >> 40U; }

    const Slot* slot_of(std::uint64_t key) const
    {
        if (key < kMinKey) return nullptr;
        for (std::size_t step = 0; step < kMaxSteps; ++step) {
            const Slot& slot = slots_[(start_of(key) + step) % kSlots];
            const std::uint64_t found = slot.key.load(std::memory_order_acquire);
            if (found == key) return &slot;
            if (found == kFree) return nullptr;
        }
        return nullptr;
    }

    Slot slots_[kSlots];
};

} // namespace fathom::profile
