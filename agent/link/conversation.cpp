#include "agent/link/conversation.hpp"

#include "core/base/log.hpp"

#include <array>
#include <cstdlib>
#include <utility>

namespace fathom::agent {
namespace {

/// Spooled messages on their way at once: enough to fill a long line, few enough to send again.
constexpr std::size_t kMaxTravelling = 256;
constexpr std::int64_t kBatch = 64;
constexpr std::chrono::milliseconds kOutputInterval{200};

} // namespace

void Conversation::connected(Peer peer)
{
    peer_ = std::move(peer);
    welcome_ = false;
    greeted_otherwise_ = false;
    say(link::make_message(
        link::Hello{FATHOM_VERSION, catalog_, book_.inventory(), library_digest_, authorities_, host_id_}));
}

void Conversation::disconnected()
{
    peer_.reset();
    welcome_ = false;
    travelling_.clear();
    balance_.disconnected();
    last_sequence_ = 0;
    settle();
    book_.connection_lost();
}

void Conversation::receive(const link::Message& message)
{
    if (const auto* welcome = std::get_if<link::Welcome>(&message.body))
        handle(*welcome);
    else if (const auto* ack = std::get_if<link::Ack>(&message.body))
        handle(*ack);
    else if (const auto* renewed = std::get_if<link::RenewedCertificate>(&message.body)) {
        if (on_certificate) on_certificate(renewed->certificate_pem);
    } else if (const auto* target = std::get_if<link::SubUnitTarget>(&message.body)) {
        if (on_sub_unit_target) on_sub_unit_target(*target);
    } else if (const auto* order = std::get_if<ResourceOrder>(&message.body)) {
        if (on_resource_order) on_resource_order(*order);
    } else if (const auto* library = std::get_if<link::MatchLibrary>(&message.body)) {
        if (on_match_library) on_match_library(*library);
    } else if (const auto* trusted = std::get_if<link::TrustedAuthorities>(&message.body);
               trusted != nullptr && on_authorities) {
        const Result<void> taken = on_authorities(*trusted);
        acknowledge(message.id, taken ? std::nullopt : std::optional(taken.error()));
    } else if (!handle_order(message)) {
        acknowledge(message.id,
                    Error{Errc::kInvalid, "agents do not take " + std::string(link::type_name(message.body))});
    }
}

void Conversation::handle(const link::Welcome& welcome)
{
    log_info("welcome", {{"center", welcome.center_name},
                         {"center_id", welcome.center_id},
                         {"server_version", welcome.server_version}});
    welcome_ = true;
    heartbeat_ = std::chrono::seconds(welcome.heartbeat_s);
    takes_queues_ = welcome.takes_queues;
    if (takes_queues_) book_.tell_queues_again();
    for (const AttemptId& id : welcome.forget)
        book_.forget(id);
    for (const AttemptId& id : welcome.stop) {
        // The next welcome says so again.
        if (const Result<void> done = book_.cancel(id, "the metascheduler has given it up"); !done)
            return refuse_orders(done.error());
    }
    send_heartbeat();
    // Before what is said of it: the metascheduler knows its unit types then.
    if (std::exchange(greeted_otherwise_, false)) say(link::make_message(link::CatalogChanged{catalog_}));
    send_sub_units();
    send_gpu_memory();
    send_resources();
    balance_.connected(welcome);
    send_spooled();
}

void Conversation::handle(const link::Ack& ack)
{
    if (ack.error) {
        log_warning("message_refused", {{"message_id", ack.of.value}, {"reason", describe(*ack.error)}});
        tell_refused(ack.of, *ack.error);
    }
    travelling_.erase(ack.of);
    balance_.acknowledged(ack);
    book_.acknowledged(ack.of);
    last_output_ = {}; // the next pieces need not wait
}

/// Who has asked for sub-units is told; before the message is dropped, which says what they were.
void Conversation::tell_refused(const MessageId& id, const Error& error)
{
    const Result<std::optional<std::string>> text = spool_.text_of(id);
    if (!text) log_error("spool_failed", {{"reason", text.error().detail}});
    if (!text || !*text || !on_sub_units_refused) return;
    const std::variant<link::Message, link::DecodeFailure> decoded = link::decode(**text);
    const auto* const message = std::get_if<link::Message>(&decoded);
    const auto* const request = message == nullptr ? nullptr : std::get_if<link::SubUnitRequest>(&message->body);
    if (request != nullptr) on_sub_units_refused(*request, {.request = id, .reason = error.detail});
}

void Conversation::take_start(const link::Message& message, const AttemptOrder& order)
{
    if (const Result<void> taken = book_.accept(order); !taken) return refuse_orders(taken.error());
    taken_.push_back(message.id);
    if (on_turn_pairs && !order.turn_pairs.empty()) on_turn_pairs(order.turn_pairs);
}

/// Without an answer the orders stay with the metascheduler, which will repeat them.
void Conversation::refuse_orders(const Error& error)
{
    taken_.clear();
    log_error("order_not_stored", {{"reason", error.detail}});
    if (peer_) peer_->close("the agent cannot store orders");
}

void Conversation::answer_order(const MessageId& id, const Result<void>& done)
{
    if (!done) return refuse_orders(done.error());
    acknowledge(id);
}

/// Orders are acknowledged when they are safe on disk, not when they are done.
void Conversation::settle()
{
    if (taken_.empty()) return;
    const SteadyTime now = std::chrono::steady_clock::now();
    if (const Result<void> stored = book_.store_orders(now); !stored) return refuse_orders(stored.error());
    for (const MessageId& id : std::exchange(taken_, {}))
        acknowledge(id);
    book_.advance(now); // a start need not wait for the next tick
}

bool Conversation::handle_order(const link::Message& message)
{
    if (const auto* start = std::get_if<link::StartAttempt>(&message.body)) {
        take_start(message, start->order);
        return true;
    }
    if (const auto* query = std::get_if<link::UnitTypesQuery>(&message.body)) {
        say(link::make_message(book_.answer(*query)));
        return true;
    }
    if (const auto* query = std::get_if<link::KeptFileQuery>(&message.body)) {
        if (on_kept_file_query)
            on_kept_file_query(*query);
        else
            tell_kept_file({.query_id = query->query_id,
                            .refusal = Error{Errc::kUnavailable, "this agent reads no copies of files"}});
        return true;
    }
    if (const auto* cancel = std::get_if<link::CancelAttempt>(&message.body)) {
        settle(); // what comes before it stands
        answer_order(message.id, book_.cancel(cancel->attempt_id, cancel->reason));
        return true;
    }
    if (const auto* recall = std::get_if<link::RecallAttempt>(&message.body)) {
        settle();
        answer_order(message.id, book_.give_back(recall->attempt_id, recall->reason));
        return true;
    }
    return false;
}

void Conversation::refuse(const link::DecodeFailure& failure)
{
    log_warning("message_malformed", {{"reason", describe(failure.error)}});
    if (failure.id) acknowledge(*failure.id, failure.error);
}

void Conversation::tick(SteadyTime now)
{
    book_.advance(now);
    if (!welcome_) return;
    if (now - last_heartbeat_ >= heartbeat_) send_heartbeat();
    send_balance(now);
    send_queues();
    // Output only after everything that is older: an attempt's start is told before its first line.
    if (!send_spooled() || now - last_output_ < kOutputInterval) return;
    last_output_ = now;
    for (const link::Message& piece : book_.next_output())
        say(piece);
}

/// Sends what the window allows; true when nothing waits any more.
bool Conversation::send_spooled()
{
    while (peer_ && travelling_.size() < kMaxTravelling) {
        const Result<std::vector<SpooledMessage>> messages = spool_.messages_after(last_sequence_, kBatch);
        if (!messages) {
            log_error("spool_failed", {{"reason", messages.error().detail}});
            return false;
        }
        if (messages->empty()) return true;
        for (const SpooledMessage& message : *messages) {
            last_sequence_ = message.sequence;
            travelling_.insert(message.id);
            if (message.end_of) {
                for (const link::Message& piece : book_.output_before_end(*message.end_of))
                    say(piece);
            }
            send(message.text);
        }
    }
    return false;
}

void Conversation::send_heartbeat()
{
    last_heartbeat_ = std::chrono::steady_clock::now();
    std::array<double, 1> load{};
    if (::getloadavg(load.data(), 1) != 1) load[0] = 0;
    const Result<std::int64_t> spooled = spool_.message_count();
    say(link::make_message(link::Heartbeat{load[0], book_.running_count(), spooled ? *spooled : 0}));
}

void Conversation::offer_changed(Catalog catalog)
{
    // Not spooled: an old catalog that is sent again would undo what a later greeting has said.
    catalog_ = std::move(catalog);
    greeted_otherwise_ = peer_ && !welcome_;
    if (welcome_) say(link::make_message(link::CatalogChanged{catalog_}));
}

void Conversation::tell_kept_file(link::KeptFilePiece piece)
{
    if (welcome_) say(link::make_message(std::move(piece)));
}

Result<void> Conversation::request_probes(const std::string& reason)
{
    return ask(link::ProbeRequest{reason});
}

Result<void> Conversation::request_sub_units(link::SubUnitRequest request)
{
    return ask(std::move(request));
}

/// Spooled: it is said once the metascheduler can be reached, and until it has been heard.
Result<void> Conversation::ask(link::Body request)
{
    const link::Message message = link::make_message(std::move(request));
    Result<void> stored = spool_.put(message);
    if (stored) stored = spool_.commit();
    if (!stored) spool_.drop_gathered(message.id); // who asks will ask again
    if (stored && welcome_) send_spooled();
    return stored;
}

void Conversation::sub_units_changed(link::SubUnitState state)
{
    // Not spooled, as the catalog is not: it says how things stand.
    sub_units_ = std::move(state);
    if (welcome_) send_sub_units();
}

void Conversation::send_sub_units()
{
    if (sub_units_) say(link::make_message(*sub_units_));
}

void Conversation::tell_gpu_memory(GpuMemoryReport report)
{
    if (gpu_memory_ == report) return;
    gpu_memory_ = std::move(report);
    if (welcome_) send_gpu_memory();
}

void Conversation::send_gpu_memory()
{
    if (gpu_memory_) say(link::make_message(*gpu_memory_));
}

void Conversation::tell_resources(ResourceState state)
{
    const bool says_something = resources_ || state.version > 0 || !state.differences.empty();
    if (!says_something || resources_ == state) return;
    resources_ = std::move(state);
    if (welcome_) send_resources();
}

void Conversation::send_resources()
{
    if (resources_) say(link::make_message(*resources_));
}

void Conversation::send_balance(SteadyTime now)
{
    if (const std::optional<link::Message> message = balance_.next(now)) say(*message);
}

void Conversation::send_queues()
{
    if (!takes_queues_) return;
    link::QueueReport news = book_.queue_news();
    if (!news.attempts.empty() || !news.unit_types.empty()) say(link::make_message(std::move(news)));
}

bool Conversation::request_certificate(const std::string& request_pem)
{
    if (!welcome_) return false;
    say(link::make_message(link::RenewCertificate{request_pem}));
    return true;
}

void Conversation::acknowledge(const MessageId& id, std::optional<Error> error)
{
    say(link::make_message(link::Ack{id, std::move(error)}));
}

void Conversation::say(const link::Message& message)
{
    send(link::encode(message));
}

void Conversation::send(std::string text)
{
    // A failure shows as a lost connection soon; whatever matters is kept until it is acknowledged.
    if (peer_ && !peer_->send(std::move(text))) peer_->close("the connection takes no more messages");
}

} // namespace fathom::agent
