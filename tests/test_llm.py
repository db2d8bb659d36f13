"""Language models behind HTTP APIs, against a real server that answers well, badly and not at all."""

import asyncio
import json
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from typing import Any, Literal

import pytest
from pydantic import BaseModel
from tests.llm_server import ModelServer, Said, anthropic, chat, refusal, running_server

from afterwit.config import Settings, load_settings
from afterwit.errors import ConfigError, ProviderError
from afterwit.llm import LLM, open_llm
from afterwit.prompts import Prompt
from afterwit.testing import ScriptedLLM

KEY = "sk-very-secret-key-1234567890"
PROMPT = Prompt("test", 1, "Say what fruit it is.", "It is a red apple.")


class Fruit(BaseModel):
    """What the tests ask for."""

    name: str
    ripeness: Literal["ripe", "unripe"]


APPLE = {"name": "apple", "ripeness": "ripe"}
GOOD = chat(json.dumps(APPLE))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("TEST_KEY", KEY)
    with running_server() as running:
        yield running


def settings_for(llm: str, **more: str | float) -> Settings:
    return load_settings(environ={"AFTERWIT_DATA_DIR": "/nonexistent"}, overrides={"llm": llm, **more})


def opened(llm: str, url: str = "", **more: str | float) -> LLM:
    made = open_llm(settings_for(llm, llm_url=url, **({"llm_key_env": "TEST_KEY"} if url else {}), **more))
    assert made is not None
    return made


def ask(llm: LLM, *, timeout_s: float = 120.0) -> Any:
    return llm.answer(PROMPT, schema=Fruit, max_tokens=100, timeout_s=timeout_s)


def failure(llm: LLM, *, timeout_s: float = 120.0) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        ask(llm, timeout_s=timeout_s)
    assert caught.value.next_step
    assert KEY not in "".join(traceback.format_exception(caught.value))
    return caught.value


# --- Good answers ---------------------------------------------------------------------------------


def test_answer_comes_back_as_the_schema_with_its_usage(server: ModelServer) -> None:
    server.script = [GOOD]
    llm = opened("openai:small", server.url)
    answer = ask(llm)
    assert answer.output == Fruit(name="apple", ripeness="ripe")
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (11, 7)
    assert answer.usage.model == llm.model == f"openai:small@{server.host}"
    assert 0 < answer.usage.seconds < 20
    (request,) = server.requests
    assert request["model"] == "small"
    assert request["max_tokens"] == 100
    assert request["messages"] == [
        {"role": "system", "content": PROMPT.instructions},
        {"role": "user", "content": PROMPT.content},
    ]
    assert set(request["response_format"]["json_schema"]["schema"]["properties"]) == {"name", "ripeness"}
    assert server.paths == ["/v1/chat/completions"]
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("name", ["deepseek", "qwen"])
def test_providers_without_schemas_are_told_the_form_in_words(server: ModelServer, name: str) -> None:
    server.script = [GOOD]
    assert ask(opened(f"{name}:m", server.url)).output.name == "apple"
    (request,) = server.requests
    assert request.get("response_format", {"type": "json_object"}) == {"type": "json_object"}
    assert "ripeness" in json.dumps([message for message in request["messages"] if message["role"] == "system"])


def test_ollama_is_given_the_schema(server: ModelServer) -> None:
    server.script = [GOOD]
    assert ask(opened("ollama:qwen3:0.6b", server.url)).output.name == "apple"
    assert server.requests[0]["response_format"]["type"] == "json_schema"
    assert server.requests[0]["model"] == "qwen3:0.6b"


def test_server_that_knows_no_schemas_is_asked_in_words_from_then_on(server: ModelServer) -> None:
    llm = opened("openai:m", server.url)
    server.script = [refusal(400, "response_format is not supported"), GOOD, GOOD]
    assert (ask(llm).output, ask(llm).output) == (Fruit(**APPLE), Fruit(**APPLE))
    forms = [request.get("response_format", {}).get("type") for request in server.requests]
    assert forms[0] == "json_schema"
    assert "json_schema" not in forms[1:]


def test_question_that_is_too_long_is_no_reason_to_give_up_the_form(server: ModelServer) -> None:
    llm = opened("openai:m", server.url)
    words = "request (6031 tokens) exceeds the available context size (4096 tokens), try increasing it"
    server.script = [refusal(400, words), GOOD]
    error = failure(llm)
    assert (error.reason, len(server.requests)) == ("too long", 1)
    assert words in error.message
    assert "longer context" in error.next_step
    assert ask(llm).output == Fruit(**APPLE)
    assert server.requests[-1]["response_format"]["type"] == "json_schema"


def test_form_is_given_up_only_when_the_other_one_is_answered(server: ModelServer) -> None:
    llm = opened("openai:m", server.url)
    server.script = [refusal(400, "Bad request"), refusal(400, "Bad request"), GOOD]
    assert failure(llm).reason == "status 400"
    ask(llm)
    forms = [request.get("response_format", {}).get("type") for request in server.requests]
    assert (forms[0], forms[-1]) == ("json_schema", "json_schema")


def test_anthropic_answers_through_a_tool(server: ModelServer) -> None:
    server.script = [anthropic([{"type": "tool_use", "id": "t1", "name": "final_result", "input": APPLE}])]
    answer = ask(opened("anthropic:claude-haiku-4-5", server.url.removesuffix("/v1")))
    assert answer.output == Fruit(**APPLE)
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (13, 5)
    assert server.paths == ["/v1/messages"]
    assert KEY in (
        server.headers[0].get("x-api-key"),
        server.headers[0].get("authorization", "").removeprefix("Bearer "),
    )
    assert server.requests[0]["tools"][0]["input_schema"]["required"] == ["name", "ripeness"]


def test_anthropic_that_answers_in_prose_is_asked_again_and_then_given_up(server: ModelServer) -> None:
    prose = anthropic([{"type": "text", "text": "It is an apple."}], stop="end_turn")
    server.script = [prose, prose]
    error = failure(opened("anthropic:claude-haiku-4-5", server.url.removesuffix("/v1")))
    assert (error.reason, error.tokens, len(server.requests)) == ("invalid", (26, 10), 2)


def test_anthropic_refusals_are_told(server: ModelServer) -> None:
    llm = opened("anthropic:claude-haiku-4-5", server.url.removesuffix("/v1"))
    server.script = [refusal(401)]
    assert failure(llm).reason == "key"
    server.script = [refusal(529, "overloaded"), refusal(529, "overloaded")]
    assert failure(llm).reason == "status 529"


def test_local_server_needs_no_key(server: ModelServer) -> None:
    server.script = [GOOD]
    made = open_llm(settings_for("openai:m", llm_url=server.url))
    assert made is not None
    assert ask(made).output.name == "apple"
    assert KEY not in server.headers[0]["authorization"]


def test_key_of_the_provider_is_not_sent_to_another_server(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server.script = [GOOD]
    made = open_llm(settings_for("openai:m", llm_url=server.url))
    assert made is not None
    ask(made)
    assert KEY not in json.dumps(server.headers)


def test_may_be_asked_where_an_event_loop_runs(server: ModelServer) -> None:
    server.script = [GOOD]
    llm = opened("openai:m", server.url)

    async def inside() -> Any:
        return ask(llm)

    assert asyncio.run(inside()).output.name == "apple"


def test_fenced_json_is_read(server: ModelServer) -> None:
    server.script = [chat(f"```json\n{json.dumps(APPLE)}\n```")]
    assert ask(opened("deepseek:m", server.url)).output == Fruit(**APPLE)
    assert len(server.requests) == 1


# --- Bad answers ----------------------------------------------------------------------------------

BAD = {
    "prose": "It is a nice apple.",
    "half of it": '{"name": "apple", "ripen',
    "an array": '[{"name": "apple", "ripeness": "ripe"}]',
    "a number": "7",
    "nothing": "",
    "no content at all": None,
    "a wrong value": '{"name": "apple", "ripeness": "rotten"}',
    "a missing field": '{"name": "apple"}',
}


@pytest.mark.parametrize("content", BAD.values(), ids=BAD)
def test_answer_out_of_form_is_asked_for_again_and_then_an_error(server: ModelServer, content: str | None) -> None:
    llm = opened("openai:m", server.url)
    server.script = [chat(content), GOOD]
    answer = ask(llm)
    assert answer.output == Fruit(**APPLE)
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (22, 14)
    server.script = [chat(content), chat(content), GOOD]
    error = failure(llm)
    assert "form" in error.message
    assert (error.reason, error.tokens) == ("invalid", (22, 14))
    assert len(server.script) == 1


def test_error_says_what_was_wrong_without_repeating_the_answer(server: ModelServer) -> None:
    server.script = [chat('{"name": "a secret pear", "ripeness": "rotten"}')] * 2
    error = failure(opened("openai:m", server.url))
    assert "ripeness: Input should be 'ripe' or 'unripe'" in error.message
    assert "secret" not in str(error)


def test_answer_that_is_cut_off_is_an_error_that_says_so(server: ModelServer) -> None:
    server.script = [chat('{"name": "app', finish="length")] * 2
    error = failure(opened("openai:m", server.url))
    assert (error.reason, error.tokens[1] > 0) == ("cut off", True)


@pytest.mark.parametrize("status", [429, 500, 503])
def test_passing_failure_is_tried_once_more(server: ModelServer, status: int) -> None:
    llm = opened("openai:m", server.url)
    server.script = [refusal(status), GOOD]
    assert ask(llm).output.name == "apple"
    server.script = [refusal(status, "busy"), refusal(status, "busy"), GOOD]
    error = failure(llm)
    assert f"answered status {status}: busy" in error.message
    assert (error.reason, error.next_step) == (f"status {status}", "Try again later.")
    assert len(server.script) == 1


@pytest.mark.parametrize("status", [401, 403])
def test_refused_key_names_its_variable_and_is_not_shown(server: ModelServer, status: int) -> None:
    server.script = [refusal(status, f"Incorrect API key provided: {KEY}")]
    error = failure(opened("openai:m", server.url))
    assert error.message.endswith(f"refused the key ({status}).")
    assert "TEST_KEY" in error.next_step
    assert KEY not in str(error)
    assert len(server.requests) == 1


def test_unknown_model_is_told_in_the_server_s_words(server: ModelServer) -> None:
    server.script = [refusal(404, f"The model m does not exist for {KEY}")]
    error = failure(opened("openai:m", server.url))
    assert "answered status 404: The model m does not exist for ***" in error.message


@pytest.mark.parametrize(
    "said",
    [
        Said(b"<html>It works!</html>", headers={"content-type": "text/html"}),
        Said(b"{}"),
        Said(b'{"choices": []}'),
        Said(b"not json"),
        Said(b"[1]"),
        Said(b""),
    ],
)
def test_what_is_no_language_model_is_told(server: ModelServer, said: Said) -> None:
    server.script = [said] * 4
    error = failure(opened("openai:m", server.url))
    assert error.reason in {"unreadable", "invalid"}
    assert "form" in error.message or "did not answer as a language model does" in error.message


def test_nobody_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    error = failure(opened("openai:m", url))
    assert "cannot be reached" in error.message
    assert (error.reason, error.tokens) == ("unreachable", (0, 0))


def test_server_that_hangs_is_left_at_the_deadline(server: ModelServer) -> None:
    llm = opened("openai:m", server.url)
    llm.warm()
    server.script = [GOOD, Said(b"", hangs=True)]
    ask(llm)
    started = time.monotonic()
    error = failure(llm, timeout_s=0.2)
    assert time.monotonic() - started < 20
    assert "did not answer within 0.2 s" in error.message
    assert error.reason == "timeout"


def test_second_tries_share_the_deadline(server: ModelServer) -> None:
    llm = opened("openai:m", server.url)
    server.script = [GOOD, chat("prose"), Said(b"", hangs=True)]
    ask(llm)
    started = time.monotonic()
    assert failure(llm, timeout_s=3.0).reason == "timeout"
    assert time.monotonic() - started < 30
    assert len(server.requests) == 3


# --- Settings -------------------------------------------------------------------------------------


def test_none_is_the_default() -> None:
    assert open_llm(load_settings(environ={})) is None


@pytest.mark.parametrize("llm", ["gpt-5", "openai:", "mistral:large", ":m", "openai: "])
def test_unknown_provider_names_those_there_are(llm: str) -> None:
    with pytest.raises(ConfigError, match="Unknown language model") as caught:
        open_llm(settings_for(llm))
    assert '"ollama:MODEL"' in caught.value.next_step


@pytest.mark.parametrize(
    ("llm", "variable"),
    [
        ("openai:m", "OPENAI_API_KEY"),
        ("anthropic:m", "ANTHROPIC_API_KEY"),
        ("deepseek:m", "DEEPSEEK_API_KEY"),
        ("qwen:m", "DASHSCOPE_API_KEY"),
    ],
)
def test_missing_key_names_its_variable(monkeypatch: pytest.MonkeyPatch, llm: str, variable: str) -> None:
    monkeypatch.delenv(variable, raising=False)
    with pytest.raises(ConfigError, match=variable):
        open_llm(settings_for(llm))
    monkeypatch.setenv(variable, KEY)
    made = open_llm(settings_for(llm))
    assert made is not None
    assert (made.model, KEY in repr(made)) == (llm, False)


def test_ollama_needs_no_key() -> None:
    made = open_llm(settings_for("ollama:qwen3:0.6b"))
    assert made is not None
    assert made.model == "ollama:qwen3:0.6b"


@pytest.mark.parametrize(
    "url", ["not a url", "ftp://host/v1", "http://user:pw@host/v1", "http://[::1", "http://h/v1?a=1"]
)
def test_malformed_url_is_refused_when_it_is_opened(url: str) -> None:
    with pytest.raises(ConfigError, match="llm_url"):
        open_llm(settings_for("openai:m", llm_url=url))


def test_key_that_no_header_can_carry_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "密钥")
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        open_llm(settings_for("openai:m"))


def test_absent_package_is_told_with_the_command_to_install_it() -> None:
    code = (
        "import sys; sys.modules['pydantic_ai'] = None\n"
        "import importlib.util; find = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name: None if name == 'pydantic_ai' else find(name)\n"
        "from afterwit.config import load_settings\n"
        "from afterwit.llm import open_llm\n"
        "try: open_llm(load_settings(environ={}, overrides={'llm': 'ollama:m'}))\n"
        "except Exception as error: print(type(error).__name__, error)\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.startswith("ConfigError ")
    assert "pip install 'afterwit[llm]'" in found.stdout


def test_opening_one_loads_no_library() -> None:
    code = (
        "import sys\n"
        "from afterwit.config import load_settings\n"
        "from afterwit.llm import open_llm\n"
        "assert open_llm(load_settings(environ={}, overrides={'llm': 'ollama:m'})) is not None\n"
        "print([name for name in ('pydantic', 'pydantic_ai', 'openai', 'anthropic', 'httpx2') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


# --- The double -----------------------------------------------------------------------------------


def test_scripted_model_answers_in_turn_and_keeps_what_it_was_asked() -> None:
    llm = ScriptedLLM(
        [APPLE, Fruit(**APPLE), ProviderError("It is down."), lambda prompt: {**APPLE, "name": prompt.name}]
    )
    assert [ask(llm).output for _ in range(2)] == [Fruit(**APPLE)] * 2
    with pytest.raises(ProviderError, match="down"):
        ask(llm)
    answer = ask(llm)
    assert answer.output.name == "test"
    assert answer.usage.input_tokens > 5
    assert llm.prompts == [PROMPT] * 4
    with pytest.raises(AssertionError, match="more often than scripted"):
        ask(llm)


def test_scripted_answer_out_of_form_fails_as_a_model_s_does() -> None:
    with pytest.raises(ProviderError) as caught:
        ask(ScriptedLLM([{"name": "apple"}]))
    assert caught.value.reason == "invalid"
