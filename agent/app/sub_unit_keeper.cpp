#include "agent/app/sub_unit_keeper.hpp"

#include "core/base/file.hpp"
#include "core/base/log.hpp"
#include "core/base/run_program.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>

namespace fathom::agent {
namespace {

constexpr std::size_t kMaxProgramOutput = 64UL << 10U;
constexpr std::size_t kMaxChangeReasonLength = 500;

/// What a program said last, on one line.
std::string last_words(const std::string& output)
{
    std::string text = output.substr(output.size() - std::min(output.size(), kMaxChangeReasonLength));
    std::replace_if(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c > 0x7E; }, ' ');
    const std::size_t first = text.find_first_not_of(' ');
    if (first == std::string::npos) return "it said nothing";
    return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// Blocks until the program has ended, at its limit at the latest.
Result<void> move_sub_units(const SubUnitChange& change)
{
    const SubUnitRule& rule = change.rule;
    if (rule.change_program.empty() || !change.moves) return {};
    const Result<ProgramAnswer> answer =
        run_program_to_end({rule.change_program.string(), rule.kind, rule.unit_type, std::to_string(change.to.held)},
                           {{"FATHOM_SUB_UNIT_KIND", rule.kind},
                            {"FATHOM_UNIT_TYPE", rule.unit_type},
                            {"FATHOM_SUB_UNIT_COUNT", std::to_string(change.to.held)},
                            {"FATHOM_SUB_UNIT_COUNT_BEFORE", std::to_string(change.from.held)}},
                           rule.change_limit, kMaxProgramOutput);
    if (!answer) return Error{answer.error().code, rule.change_program.string() + ": " + answer.error().detail};
    if (answer->exit_code == 0) return {};
    return Error{Errc::kUnavailable, rule.change_program.string() + " ended with status " +
                                         std::to_string(answer->exit_code) + ": " + last_words(answer->text)};
}

} // namespace

Result<void> SubUnitKeeper::load(std::vector<SubUnitRule> rules)
{
    const Result<std::string> text = read_file(file_, 1U << 20U);
    if (!text && text.error().code != Errc::kNotFound) return text.error();
    Result<SubUnits> sub_units = SubUnits::make(std::move(rules), text ? *text : std::string());
    if (!sub_units) return Error{Errc::kInvalid, file_.string() + ": " + describe(sub_units.error())};
    sub_units_ = std::move(*sub_units);
    return {};
}

void SubUnitKeeper::serve(AttemptBook& book, Conversation& conversation, std::function<void()> offer)
{
    book_ = &book;
    conversation_ = &conversation;
    offer_ = std::move(offer);
    conversation.on_sub_unit_target = [this](const link::SubUnitTarget& target) { take(target); };
    conversation.on_sub_units_refused = [this](const link::SubUnitRequest& request,
                                               const link::SubUnitRefusal& refusal) {
        SubUnits changed = *sub_units_;
        if (changed.note_refusal(request.kind, refusal)) keep_refusal(std::move(changed), request.kind);
    };
    tell();
}

void SubUnitKeeper::take(const link::SubUnitTarget& target)
{
    SubUnits changed = *sub_units_;
    if (changed.hear_refusal(target)) keep_refusal(std::move(changed), target.kind);
    sub_units_->take(target);
    book_->limit_units(sub_units_->limits());
    tick();
}

/// In the file, where those who balance units find it.
void SubUnitKeeper::keep_refusal(SubUnits changed, const std::string& kind)
{
    const link::SubUnitRefusal refusal = changed.last_refusal(kind).value();
    log_warning("sub_unit_request_refused",
                {{"kind", kind}, {"message_id", refusal.request.value}, {"reason", refusal.reason}});
    if (const Result<void> stored = save(changed); !stored) {
        log_warning("sub_unit_refusal_not_stored", {{"kind", kind}, {"reason", stored.error().detail}});
        return;
    }
    sub_units_ = std::move(changed);
}

Result<void> SubUnitKeeper::replace_rules(std::vector<SubUnitRule> rules)
{
    return sub_units_->replace_rules(std::move(rules));
}

Result<void> SubUnitKeeper::save(const SubUnits& sub_units) const
{
    return write_file(file_, sub_units.stored(), 0600);
}

Catalog SubUnitKeeper::limited(const Catalog& machine)
{
    sub_units_->note_machine(machine);
    return sub_units_->limited(machine);
}

void SubUnitKeeper::tell()
{
    if (book_ == nullptr) return;
    book_->limit_units(sub_units_->limits());
    if (!sub_units_->empty()) conversation_->sub_units_changed(sub_units_->state());
}

void SubUnitKeeper::tick()
{
    std::optional<SubUnitChange> change = sub_units_->next(
        [this](const std::string& type, std::int64_t first) { return book_->holds_beyond(type, first); });
    if (!change) return;
    log_info("sub_units_changing", {{"kind", change->rule.kind},
                                    {"version", change->to.version},
                                    {"held_count", change->to.held},
                                    {"held_before", change->from.held},
                                    {"offered_count", change->to.offered}});
    // First on disk: after a crash in between, what is being given up is given to no job.
    if (const Result<void> stored = save(*sub_units_); !stored) return keep_failure(*change, stored.error().detail);
    boost::asio::post(programs_, [this, change = std::move(*change)] {
        Result<void> moved = move_sub_units(change);
        boost::asio::post(work_, [this, change, moved = std::move(moved)] { finish(change, moved); });
    });
}

void SubUnitKeeper::finish(const SubUnitChange& change, const Result<void>& moved)
{
    // What goes on as before is not refused again: the center has what it had, and the next change runs the program
    // anew.
    const bool stays = change.from.held == change.to.held;
    if (!moved && !stays) return keep_failure(change, moved.error().detail);
    if (!moved) log_warning("sub_units_not_put_back", {{"kind", change.rule.kind}, {"reason", moved.error().detail}});
    SubUnits changed = *sub_units_;
    changed.done(change, moved ? PartsPlace::kKnown : PartsPlace::kUnsure);
    if (const Result<void> stored = save(changed); !stored) return keep_failure(change, stored.error().detail);
    sub_units_ = std::move(changed);
    log_info("sub_units_changed", {{"kind", change.rule.kind}, {"held_count", change.to.held}});
    book_->limit_units(sub_units_->limits());
    offer_(); // before the counts: who hears that they are reached knows the catalog already
    tell();
    tick();
}

void SubUnitKeeper::keep_failure(const SubUnitChange& change, const std::string& reason)
{
    log_warning("sub_units_not_changed", {{"kind", change.rule.kind},
                                          {"version", change.to.version},
                                          {"held_count", change.from.held},
                                          {"reason", reason}});
    sub_units_->refuse(change, reason);
    // On disk before the metascheduler hears it: else a later start would go on to what others have by then.
    if (const Result<void> stored = save(*sub_units_); !stored)
        log_warning("sub_unit_refusal_not_stored", {{"kind", change.rule.kind}, {"reason", stored.error().detail}});
    tell();
}

} // namespace fathom::agent
