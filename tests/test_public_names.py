"""`import afterwit` gives every public name and costs next to nothing until one is used."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import afterwit


@pytest.mark.parametrize("name", afterwit.__all__)
def test_every_public_name_can_be_imported(name: str) -> None:
    namespace: dict[str, object] = {}
    exec(f"from afterwit import {name}", namespace)  # noqa: S102 - the statement that users write
    assert namespace[name] is getattr(afterwit, name)
    assert name in dir(afterwit)


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        _ = afterwit.Nonsense


def test_what_type_checkers_see_is_what_there_is() -> None:
    tree = ast.parse(Path(afterwit.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        (node.module, alias.name) for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names
    } - {("typing", "Any")}
    assert seen == {(module, name) for module, names in afterwit._MODULES.items() for name in names}
    assert {name for _, name in seen} | {"__version__"} == set(afterwit.__all__)


def test_importing_the_package_loads_no_library() -> None:
    code = "import sys, afterwit; print([name for name in sys.modules if name.startswith('afterwit.')])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    # The version is a constant of its own, so that the door can read it without the package.
    assert found.stdout.strip() == "['afterwit.version']"
