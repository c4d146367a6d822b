#pragma once

#include "schema/link/messages.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <variant>

/// Encoding and decoding in tests.
namespace fathom::link::test {

template <class Kind>
Kind round_trip(Kind body)
{
    const Message message = make_message(std::move(body));
    auto decoded = decode(encode(message));
    EXPECT_TRUE(std::holds_alternative<Message>(decoded));
    Message& again = std::get<Message>(decoded);
    EXPECT_EQ(again.id, message.id);
    EXPECT_TRUE(std::holds_alternative<Kind>(again.body));
    return std::get<Kind>(std::move(again.body));
}

inline Json envelope(const std::string& type, const Json& body)
{
    return {{"v", 1}, {"id", MessageId::make().value}, {"type", type}, {"body", body}};
}

inline DecodeFailure failure_of(const std::string& text)
{
    auto decoded = decode(text);
    EXPECT_TRUE(std::holds_alternative<DecodeFailure>(decoded)) << text;
    return std::get<DecodeFailure>(decoded);
}

inline AttemptEnded ended_as(AttemptOutcome outcome)
{
    AttemptEnded ended;
    ended.end.attempt_id = AttemptId::make();
    ended.end.outcome = outcome;
    ended.end.detail = "why";
    return ended;
}

} // namespace fathom::link::test
