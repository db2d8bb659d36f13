"""From events to items: calls meet their results, words meet the calls they explain, requests open tasks.

An item is settled when nothing later in the file can change it: a call that has come back, words that turned out
to explain a call or to stand alone. Settled items leave in the order in which they happened, so what a longer
file gives begins with what a shorter one gave.

Which request opens a task? One that comes when the agent had finished, unless it goes on about the same work (a
correction, a reaction, "also ..."); one that comes more than an hour after the last sign of work, with the same
exception; the first one; and the first after the user cleared the conversation. All others (said while the agent
works, after an interruption or an error) belong to the task that is open.
"""

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import assert_never

from afterwit.transcripts.events import (
    Called,
    Cleared,
    Event,
    Judged,
    Remarked,
    Returned,
    Said,
    Skipped,
    Stopped,
)
from afterwit.transcripts.nouns import Item
from afterwit.transcripts.wording import decides, follows_up

#: After so long without a sign of work, what was going on is taken to be over.
_IDLE = timedelta(hours=1)
#: What an item says when the user stopped the agent.
INTERRUPTED = "The user interrupted the agent."


@dataclass
class _Slot:
    """An item in the making, in its place in the order."""

    item: Item
    is_settled: bool = False
    #: it became the rationale of another
    is_absorbed: bool = False
    #: words came after this call was made; when the agent goes on, it will never come back
    is_overtaken: bool = False


class Assembler:
    """Takes the events of one session, in order, and gives its items."""

    def __init__(self) -> None:
        self.skipped = Counter[str]()
        self._slots = deque[_Slot]()
        self._calls: dict[str, _Slot] = {}
        self._remarks: dict[str, list[_Slot]] = {}
        self._verdicts: dict[str, bool] = {}
        self._keys = Counter[str]()
        self._turn = 0
        self._is_cleared = False
        #: what the main agent's last event was; "" when there was none
        self._last = ""
        self._last_at: datetime | None = None

    def take(self, event: Event) -> None:
        """Take the next event."""
        match event:
            case Skipped():
                self.skipped[event.reason] += 1
            case Returned():
                self._returned(event)
            case Judged():
                self._judged(event)
            case Cleared():
                self._is_cleared = True
            case Said() | Remarked() | Called() | Stopped():
                self._told(event)
                self._last_at = event.at or self._last_at
            case _:
                assert_never(event)

    def _told(self, event: Said | Remarked | Called | Stopped) -> None:
        match event:
            case Said():
                self._said(event)
            case Remarked():
                self._remarked(event)
            case Called():
                self._called(event)
            case Stopped():
                self._stopped(event)

    def settled(self) -> Iterator[Item]:
        """The items that are settled by now and were not given before."""
        while self._slots and self._slots[0].is_settled:
            slot = self._slots.popleft()
            if not slot.is_absorbed:
                yield slot.item

    def finish(self) -> Iterator[Item]:
        """All that is left, as it stands: the session is over."""
        for agent in list(self._remarks):
            self._settle_remarks(agent)
        for slot in self._slots:
            slot.is_settled = True
        self._calls.clear()
        yield from self.settled()

    # --- What happens -----------------------------------------------------------------------------

    def _said(self, event: Said) -> None:
        if event.by == "agent" and self._turn:
            self.skipped["agent_prompt"] += 1
            return
        self._settle_remarks("", signal="finished" if self._last == "remark" else "")
        self._settle_subagents()
        opens = self._opens(event)
        if opens:
            self._turn += 1
            self._is_cleared = False
        action = "user" if event.by == "user" else "note"
        self._add(Item(event.key, self._turn, action, event.text, happened_at=event.at, opens=opens), settled=True)
        for slot in self._calls.values():
            slot.is_overtaken = True
        self._last = "said"

    def _opens(self, event: Said) -> bool:
        if self._turn == 0 or self._is_cleared:
            return True
        has_finished = self._last in ("remark", "finished") and not self._is_working()
        idle = event.at is not None and self._last_at is not None and event.at - self._last_at > _IDLE
        return (has_finished or idle) and not (event.by == "user" and follows_up(event.text))

    def _is_working(self) -> bool:
        return any(not slot.item.agent for slot in self._calls.values())

    def _remarked(self, event: Remarked) -> None:
        self._give_up_overtaken(event.agent)
        action = "decision" if decides(event.text) else "note"
        item = Item(event.key, self._turn, action, event.text, happened_at=event.at, agent=event.agent)
        slot = self._add(item)
        self._remarks.setdefault(event.agent, []).append(slot)
        if event.is_final:
            self._settle_remarks(event.agent, signal="" if event.agent else "finished")
        if not event.agent:
            self._last = "finished" if event.is_final else "remark"

    def _called(self, event: Called) -> None:
        self._give_up_overtaken(event.agent)
        said = self._remarks.pop(event.agent, [])
        for slot in said:
            slot.is_settled = slot.is_absorbed = True
        rationale = "\n".join(slot.item.input for slot in said)
        item = Item(event.key, self._turn, event.tool, event.input, rationale=rationale, happened_at=event.at)
        if event.key in self._calls:  # some models number their calls anew in every answer
            self._calls[event.key].is_settled = True
        self._calls[event.key] = self._add(replace(item, agent=event.agent))
        if not event.agent:
            self._last = "called"

    def _returned(self, event: Returned) -> None:
        slot = self._calls.pop(event.call, None)
        if slot is None:
            self.skipped["result_without_call"] += 1
            return
        ok = self._verdicts.pop(event.call, event.ok)
        slot.item = replace(slot.item, output=event.output, ok=ok, signal=event.signal)
        slot.is_settled = True
        if not slot.item.agent:
            self._settle_subagents()
            self._last = "interrupted" if event.signal else "returned"

    def _judged(self, event: Judged) -> None:
        if event.call in self._calls:
            self._verdicts[event.call] = event.ok

    def _stopped(self, event: Stopped) -> None:
        self._settle_remarks("", signal="finished" if event.how == "finished" else "")
        for slot in self._calls.values():
            slot.is_settled = True
        self._calls.clear()
        self._last = event.how
        if event.how != "finished":
            text = event.text or INTERRUPTED
            self._add(Item(event.key, self._turn, "note", text, happened_at=event.at, signal=event.how), settled=True)

    # --- Slots ------------------------------------------------------------------------------------

    def _add(self, item: Item, *, settled: bool = False) -> _Slot:
        self._keys[item.key] += 1
        if (times := self._keys[item.key]) > 1:
            item = replace(item, key=f"{item.key}~{times}")
        slot = _Slot(item, is_settled=settled)
        self._slots.append(slot)
        return slot

    def _settle_remarks(self, agent: str, *, signal: str = "") -> None:
        """Words that no call followed stand alone; the last of them may say that the agent was done."""
        slots = self._remarks.pop(agent, [])
        for slot in slots:
            slot.is_settled = True
        if slots and signal:
            slots[-1].item = replace(slots[-1].item, signal=signal)

    def _settle_subagents(self) -> None:
        """Their last words are their report; nobody says that it is the last, and it must not hold up the rest."""
        for agent in [agent for agent in self._remarks if agent]:
            self._settle_remarks(agent)

    def _give_up_overtaken(self, agent: str) -> None:
        """A model goes on after words only when every call before them has come back, or never will."""
        if agent:
            return
        for key, slot in list(self._calls.items()):
            if slot.is_overtaken:
                slot.is_settled = True
                del self._calls[key]
