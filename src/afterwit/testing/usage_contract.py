"""The part of the store contract that is about what language models took."""
# ruff: noqa: S101  a test asserts

from datetime import timedelta

from afterwit.storage import LLMUse, Store
from afterwit.testing.samples import NOW, OTHER, SPACE, memory, put_memories

HOUR = timedelta(hours=1)


class UsageContract:
    """Every call of a model is kept, failed ones as well."""

    def test_calls_of_a_model_come_back_by_time(self, store: Store) -> None:
        assert store.usage(SPACE, NOW - HOUR, NOW + HOUR) == []
        first = LLMUse(NOW, "review/1", "openai:模型", 812, 64)
        failed = LLMUse(NOW + HOUR, "rerank/1", "openai:模型", 100, 0, "timeout")
        for use in (failed, first):
            store.record_usage(SPACE, use)
        store.record_usage(OTHER, LLMUse(NOW, "extract/1", "m", 1, 1))
        assert store.usage(SPACE, NOW, NOW + 2 * HOUR) == [first, failed]
        assert store.usage(SPACE, NOW, NOW + HOUR) == [first], "the end is not in it"
        assert store.usage(SPACE, NOW + HOUR, NOW + 2 * HOUR) == [failed], "the beginning is"
        assert [use.purpose for use in store.usage(OTHER, NOW, NOW + HOUR)] == ["extract/1"]

    def test_what_a_model_took_is_no_change_of_the_memory(self, store: Store) -> None:
        put_memories(store, memory(1))
        before, events = store.change_number(SPACE), len(store.events(SPACE))
        store.record_usage(SPACE, LLMUse(NOW, "review/1", "m", 5, 5))
        assert store.change_number(SPACE) == before
        assert len(store.events(SPACE)) == events

    def test_calls_at_one_moment_are_all_kept(self, store: Store) -> None:
        same = LLMUse(NOW, "review/1", "m", 5, 5)
        for _ in range(3):
            store.record_usage(SPACE, same)
        assert store.usage(SPACE, NOW, NOW + HOUR) == [same] * 3
