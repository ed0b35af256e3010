from __future__ import annotations

import threading

import pytest

from mason.pipeline.storage.asking import ask_ahead


def test_answers_come_in_the_order_of_what_was_asked() -> None:
    second_is_there = threading.Event()

    def ask(number: int) -> int:
        if number == 1:
            assert second_is_there.wait(10)  # the first answer is the last to come
        else:
            second_is_there.set()
        return number * 10

    assert [answer() for answer in ask_ahead(ask, [1, 2, 3], 2)] == [10, 20, 30]


def test_no_more_is_asked_than_may_be_under_way() -> None:
    asked: list[int] = []

    answers = ask_ahead(lambda number: asked.append(number), range(100), 4)

    next(answers)()
    assert len(asked) <= 4
    assert len(list(answers)) == 99


def test_what_fails_is_told_when_its_turn_comes_and_the_others_are_answered() -> None:
    def ask(number: int) -> int:
        if number == 1:
            raise ValueError("one")
        return number

    first, second, third = ask_ahead(ask, [0, 1, 2], 3)

    assert (first(), third()) == (0, 2)
    with pytest.raises(ValueError, match="one"):
        second()


def test_who_stops_early_leaves_nothing_under_way() -> None:
    threads = threading.active_count()
    answers = ask_ahead(lambda number: number, range(100), 4)
    next(answers)

    answers.close()

    assert threading.active_count() == threads
