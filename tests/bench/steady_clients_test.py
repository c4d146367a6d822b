"""How long clients at a steady pace wait, and what an agent's connection sends."""
import io
import json

import pytest

from link_client import PING, TEXT, frame, message, read_frame
from steady_clients import ask_steadily, percentile


class Clock:
    def __init__(self):
        self.now_s = 100.0

    def time(self):
        return self.now_s

    def sleep(self, seconds):
        self.now_s += seconds


def waits_of(answers_s, per_s, oversleeps_s=0.0):
    clock, left = Clock(), list(answers_s)
    waits = ask_steadily(lambda: clock.sleep(left.pop(0)), per_s, len(answers_s) / per_s, clock.time,
                         lambda seconds: clock.sleep(seconds + oversleeps_s))
    return waits


def test_each_answer_is_timed_from_its_question():
    assert waits_of([0.01, 0.02, 0.01], 10) == pytest.approx([0.01, 0.02, 0.01])


def test_who_waits_for_an_earlier_answer_waits_from_when_its_question_was_due():
    assert waits_of([0.25, 0.01, 0.01, 0.01], 10) == pytest.approx([0.25, 0.16, 0.07, 0.01])


def test_a_client_that_wakes_up_late_is_no_wait_for_an_answer():
    assert waits_of([0.01, 0.01], 10, oversleeps_s=0.03) == pytest.approx([0.01, 0.01])


def test_a_percentile_is_a_value_that_so_many_do_not_exceed():
    assert percentile(list(range(1, 101)), 0.99) == 99
    assert percentile([7], 0.99) == 7


def unmasked(sent):
    """What a client sent, as a server would send it."""
    size = {126: 2, 127: 8}.get(sent[1] & 0x7F, 0)
    mask, payload = sent[2 + size:6 + size], sent[6 + size:]
    return bytes([sent[0], sent[1] & 0x7F]) + sent[2:2 + size] + bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))


@pytest.mark.parametrize("size", [0, 1, 125, 126, 65535, 65536])
def test_frames_of_every_length_are_read_as_they_were_sent(size):
    payload = bytes(i % 251 for i in range(size))
    sent = frame(TEXT, payload)
    assert sent[1] & 0x80, "what a client sends is masked"
    stream = io.BytesIO(unmasked(sent) + unmasked(frame(PING, b"1")))
    assert read_frame(stream) == (TEXT, payload)
    assert read_frame(stream) == (PING, b"1")


def test_messages_have_ids_of_their_own():
    first, second = (json.loads(message("heartbeat", {})) for _ in range(2))
    assert first["id"] != second["id"] and len(first["id"]) == len("msg_01KAFP6X5T8Z3Q4R5S6T7V8W18")
    assert first["type"] == "heartbeat" and first["v"] == 1
