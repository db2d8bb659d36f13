"""A machine of its own for each test of agents' clients."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.agents.mock_llm import serving
from tests.agents.rig import Rig


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with serving(tmp_path / "model.jsonl") as model:
        rig = Rig(tmp_path, model)
        rig.make()
        try:
            yield rig
        finally:
            rig.afterwit("daemon", "stop")
