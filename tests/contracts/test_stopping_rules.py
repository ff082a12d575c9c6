"""What every stopping rule keeps: it decides on any progress, asks for no more than was offered, and says why."""

from __future__ import annotations

import numpy as np
import pytest

from riffler.errors import InputError, UnknownName
from riffler.ledger import Entry
from riffler.stopping import STOPPING_RULES, Progress, rule_from_name
from tests.stopping.reviews import Review, ranked_labels

every_rule = pytest.mark.parametrize("name", STOPPING_RULES)


def entry(item: int, answer: int, origin: str = "policy") -> Entry:
    return Entry(item, 0, origin, False, 1.0, answer, 1.0, "")


@every_rule
def test_no_rule_stops_before_anything_was_read(name: str) -> None:
    decision = rule_from_name(name).decide(Progress(1000, []))
    assert not decision.stop
    assert decision.reason


@every_rule
def test_no_certificate_without_a_find(name: str) -> None:
    decision = rule_from_name(name).decide(Progress(10_000, [entry(i, 0) for i in range(300)]))
    assert not decision.stop
    assert decision.recall_low is None


@every_rule
def test_a_collection_of_one_document_is_decided(name: str) -> None:
    rule = rule_from_name(name)
    assert 0 <= rule.controls(Progress(1, []), 1) <= 1
    decision = rule.decide(Progress(1, [entry(0, 1)]))
    assert isinstance(decision.stop, bool)
    if rule.certificate:
        assert decision.stop
        assert decision.recall_low == 1.0


@every_rule
def test_a_review_is_decided_at_every_step_and_asks_for_no_more_than_was_offered(name: str) -> None:
    rule = rule_from_name(name)
    labels = ranked_labels(np.random.default_rng(0), 1500, 150)
    review = Review(labels, np.random.default_rng(1), blind=rule.blind)
    for round in range(40):
        progress = review.progress(0.9)
        decision = rule.decide(progress)
        assert decision.reason.endswith(".")
        assert decision == rule.decide(progress)
        assert not (decision.certificate and not rule.certificate)
        if decision.recall_low is not None:
            assert 0 <= decision.recall_low <= 1
        n_control = rule.controls(progress, 50)
        assert 0 <= n_control <= 50
        if decision.stop:
            break
        review.draw(n_control, round)
        review.go_on(50 - n_control, round)


@every_rule
def test_what_was_searched_or_known_before_is_no_control_document(name: str) -> None:
    """A review of priors and searches alone can never be certified."""
    rule = rule_from_name(name)
    entries = [entry(i, int(i < 100), "prior" if i % 2 else "search") for i in range(900)]
    decision = rule.decide(Progress(1000, entries))
    assert not (decision.stop and decision.certificate)


@pytest.mark.parametrize("name", [name for name, make in STOPPING_RULES.items() if make().certificate])
def test_certificates_need_no_luck_when_all_is_read(name: str) -> None:
    entries = [entry(i, int(i < 3)) for i in range(50)]
    decision = rule_from_name(name).decide(Progress(50, entries))
    assert decision.stop
    assert decision.certificate
    assert decision.recall_low == 1.0


def test_bad_progress_is_refused() -> None:
    with pytest.raises(InputError, match="target must lie between 0 and 1"):
        Progress(10, [], target=1.0)
    with pytest.raises(InputError, match="confidence must lie between 0 and 1"):
        Progress(10, [], confidence=0.0)
    with pytest.raises(InputError, match="The entries name 3 items, and the collection has 2"):
        Progress(2, [entry(i, 0) for i in range(3)])
    with pytest.raises(InputError, match="n_items must be at least 1"):
        Progress(0, [])
    with pytest.raises(InputError, match="control_reach"):
        Progress(5, [entry(0, 0)], control_reach=2)


def test_an_unknown_name_or_setting_is_refused() -> None:
    with pytest.raises(UnknownName, match=r"No stopping rule called 'nonsense'\. Known: autostop, budget"):
        rule_from_name("nonsense")
    with pytest.raises(InputError, match="does not take"):
        rule_from_name("half", n=3)
