"""Small edits of JSON with comments and of TOML: everything else stays as it is."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afterwit.cli.clients import jsonc, toml
from afterwit.cli.clients.keys import NotReadable

_NAMES = st.text(st.sampled_from('ab我"\\ ./#'), min_size=1, max_size=4)
_SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.text(st.sampled_from('a,}]"\\/*#我\n'), max_size=5)
_DOCUMENTS = st.dictionaries(
    _NAMES,
    st.recursive(_SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=3)),
)
_WRITERS: list[Callable[[Any], str]] = [
    json.dumps,
    lambda value: json.dumps(value, ensure_ascii=False, indent=4) + "\n",
    lambda value: json.dumps(value, indent="\t").replace("\n", "\r\n"),
    lambda value: "// 注释 {\n" + re.sub(r"\n( *)([}\]])", r",\n\1\2", json.dumps(value, indent=2)) + " /* , */\n",
]


@settings(max_examples=80, deadline=None)
@given(_DOCUMENTS, st.sampled_from(_WRITERS), st.lists(_NAMES, min_size=1, max_size=3), _SCALARS)
def test_any_json_keeps_all_else_when_a_value_is_set_and_taken_out(
    document: dict[str, Any], write: Callable[[Any], str], keys: list[str], value: Any
) -> None:
    text = write(document)
    assert jsonc.load(text) == document
    try:
        after = jsonc.put(text, tuple(keys), value)
    except TypeError:
        return  # something that is no object is on the way
    expected = json.loads(json.dumps(document))
    inner = expected
    for key in keys[:-1]:
        inner = inner.setdefault(key, {})
    inner[keys[-1]] = value
    assert jsonc.load(after) == expected
    del inner[keys[-1]]
    assert jsonc.load(jsonc.remove(after, tuple(keys))) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a = 1",
        "[a]\n[a.b]\nc = '''x\n[mcp_servers.afterwit]\n'''\n",
        '[[a]]\nb = { "]" = "[x]" } # [c]\n[[a]]\n# [mcp_servers.afterwit]\nd = [\n  [1], # ]\n  "\\"]",\n]\n',
        '"a.b".c = """\n"q" \\"""\n"""\r\n[x]\r\ny = 1979-05-27T07:32:00Z\r\n',
    ],
)
def test_any_toml_keeps_all_else_when_a_table_is_added_and_taken_out(text: str) -> None:
    place = ("mcp_servers", "afterwit")
    after = toml.put(text, place, {"command": 'C:\\a "b"', "args": ["一"], "env": {"A B": "x"}})
    assert after.startswith(text)
    assert toml.load(after) == toml.load(text) | {
        "mcp_servers": {"afterwit": {"command": 'C:\\a "b"', "args": ["一"], "env": {"A B": "x"}}}
    }
    changed = toml.put(after, (*place, "command"), "other")
    assert toml.load(changed)["mcp_servers"]["afterwit"]["command"] == "other"
    assert toml.remove(changed, place).rstrip() == text.rstrip()


@pytest.mark.parametrize("text", ["{", '{"a"', '{"a": }', '{"a": 1 "b": 2}', '{"a": tru}', '{"a": "x\n"}'])
def test_a_fault_is_told_with_its_place(text: str) -> None:
    with pytest.raises(NotReadable) as raised:
        jsonc.load(text)
    assert raised.value.what
    assert (raised.value.line, raised.value.column >= 1) == (1, True)
