"""What a cosine means: every model has its own idea of how close unrelated texts are."""

import threading
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from afterwit.embedding.base import Embedder, embed_queries

#: Plain sentences of which no two are about the same thing, half of them Chinese.
_UNRELATED = (
    "The ferry to the island leaves at noon.",
    "Her violin needs new strings.",
    "Interest rates were raised by a quarter of a point.",
    "The parser rejects trailing commas.",
    "Penguins huddle together in winter.",
    "He forgot to water the tomatoes.",
    "The museum is closed on Mondays.",
    "Our warehouse ran out of cardboard boxes.",
    "The referee stopped the match.",
    "Vaccines must be kept cold.",
    "Our team prefers short pull requests.",
    "The bridge was painted green last summer.",
    "小王昨天买了一辆二手自行车。",
    "数据库每天凌晨自动备份。",
    "这家餐馆的豆腐很有名。",
    "老师让我们背诵一首唐诗。",
    "高铁因为大雪晚点了。",
    "她决定下个月辞职创业。",
    "考古队发现了一座古墓。",
    "手机屏幕摔碎了。",
    "公园里的樱花开了。",
    "合同需要双方签字盖章。",
    "他每天早上练习太极拳。",
    "项目的日志要保留半年。",
)


@dataclass(frozen=True)
class Scale:
    """Cosines of unrelated texts under one model."""

    mean: float
    #: standard deviation, > 0
    spread: float

    def spreads(self, cosine: NDArray[np.float64]) -> NDArray[np.float64]:
        """How many spreads a cosine lies above that of unrelated texts; comparable between models."""
        return (cosine - self.mean) / self.spread


_scales: dict[str, Scale] = {}
_lock = threading.Lock()


def scale_of(embedder: Embedder) -> Scale:
    """The scale of an embedder's cosines, measured once per model and process: 24 short texts.

    Raises:
        ProviderError: the embedder failed.
    """
    model = embedder.model
    with _lock:
        if model not in _scales:
            _scales[model] = _measure(embedder)
        return _scales[model]


def _measure(embedder: Embedder) -> Scale:
    kept = embedder.embed(_UNRELATED).astype(np.float64)
    asked = embed_queries(embedder, _UNRELATED).astype(np.float64)
    half = len(_UNRELATED) // 2
    pairs = [asked[part] @ kept[part].T for part in (slice(half), slice(half, None))]
    cosines = np.concatenate([pair[~np.eye(half, dtype=np.bool_)] for pair in pairs])
    return Scale(float(cosines.mean()), max(float(cosines.std()), 1e-3))
