#pragma once

#include "schema/link/declaration.hpp"

#include <type_traits>

// The messages about a center's units: what they are made of, and how they are balanced and shared.
namespace fathom::link {

inline constexpr std::int64_t kMaxSubUnits = 1'000'000;

template <>
struct Declaration<SubUnitState> {
    static constexpr std::string_view kType = "sub_unit_state";
    static constexpr bool kNeedsAck = false;

    template <class Fields, class Self>
    static void declare(Fields& fields, Self& state)
    {
        auto& [holdings] = state;
        fields.require_there("holdings");
        fields.items("holdings", holdings, kMaxUnitTypes, [](auto& of, auto& holding) {
            auto& [kind, unit_type, sub_units_per_unit, registered_count, most_count, version, held_count,
                   offered_count, refused_version, refusal] = holding;
            using Of = std::decay_t<decltype(of)>;
            of.text("kind", kind, {.min_length = 1, .max_length = 64});
            of.text("unit_type", unit_type, name_rule());
            of.integer("sub_units_per_unit", sub_units_per_unit, 1, kMaxSubUnits);
            of.integer("registered_count", registered_count, 0, kMaxSubUnits);
            of.integer("most_count", most_count, 0, kMaxSubUnits);
            of.integer("version", version, 0, kMaxBytes);
            of.integer("held_count", held_count, 0, kMaxSubUnits);
            of.integer("offered_count", offered_count, 0, kMaxSubUnits);
            of.integer_if_any("refused_version", refused_version, kMaxBytes);
            if (Of::kReads || refused_version > 0) of.text_or_empty("refusal", refusal, {.max_length = kMaxReason});
        });
    }
};

template <>
struct Declaration<SubUnitTarget> {
    static constexpr std::string_view kType = "sub_unit_target";
    static constexpr bool kNeedsAck = false;

    template <class Fields, class Self>
    static void declare(Fields& fields, Self& target)
    {
        auto& [kind, version, held_count, offered_count, refusal] = target;
        fields.text("kind", kind, {.min_length = 1, .max_length = 64});
        fields.integer("version", version, 1, kMaxBytes);
        fields.integer("held_count", held_count, 0, kMaxSubUnits);
        fields.integer("offered_count", offered_count, 0, kMaxSubUnits);
        fields.optional_fields("refused_request", refusal, [](auto& of, auto& refused) {
            auto& [request, reason] = refused;
            of.id("refused_request", request);
            of.text_or_empty("refusal", reason, {.max_length = kMaxSubUnitRefusal});
        });
    }
};

template <>
struct Declaration<SubUnitRequest> {
    static constexpr std::string_view kType = "sub_unit_request";
    static constexpr bool kNeedsAck = true;

    template <class Fields, class Self>
    static void declare(Fields& fields, Self& request)
    {
        auto& [kind, action, count, reason] = request;
        fields.text("kind", kind, {.min_length = 1, .max_length = 64});
        fields.text("action", action, {.one_of = {"release", "gain", "keep"}});
        const std::int64_t min_count = action == "keep" ? 0 : 1;
        fields.integer("count", count, min_count, min_count * kMaxSubUnits);
        fields.text_or_empty("reason", reason, {.max_length = kMaxReason});
    }
};

template <>
struct Declaration<GpuMemoryReport> : DeclaredByModel<&read_gpu_memory_report> {
    static constexpr std::string_view kType = "gpu_memory";
    static constexpr bool kNeedsAck = false;
};

template <>
struct Declaration<BalanceSteps> : DeclaredByModel<&read_balance_steps> {
    static constexpr std::string_view kType = "balance_steps";
    static constexpr bool kNeedsAck = true;
};

template <>
struct Declaration<ResourceOrder> : DeclaredByModel<&read_resource_order> {
    static constexpr std::string_view kType = "resource_order";
    static constexpr bool kNeedsAck = false;
};

template <>
struct Declaration<ResourceState> : DeclaredByModel<&read_resource_state> {
    static constexpr std::string_view kType = "resource_state";
    static constexpr bool kNeedsAck = false;
};

} // namespace fathom::link
