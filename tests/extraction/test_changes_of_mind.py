"""Changes of mind as people write them: what held, what holds now, and under which key both stand."""

from __future__ import annotations

import pytest

from workbench.extraction import Extractor

EXTRACTOR = Extractor()


@pytest.mark.parametrize(
    ("before", "after", "key", "values"),
    [
        (
            "The cache file is cache.db.",
            "Use sessions.db for the cache file.",
            "cache_file",
            ("cache.db", "sessions.db"),
        ),
        ("debounce: 150ms", "set the debounce to 50ms", "debounce", ("150ms", "50ms")),
        ("We settled on Jest.", "Swap Jest for Vitest.", "test_framework", ("Jest", "Vitest")),
        ("page size: 50", "change the page size to 100", "page_size", (50, 100)),
        ("Use Redis.", "No, use Memcached instead of Redis.", "cache", ("Redis", "Memcached")),
        ("主题是蓝色", "把主题改成绿色", "theme.color", ("blue", "green")),
        ("数据库用 MySQL", "不用 MySQL，改用 PostgreSQL 16", "database", ("MySQL", "PostgreSQL 16")),
        ("端口是 3000", "端口从 3000 改成 8080", "port", (3000, 8080)),
        ("默认分支是 main", "默认分支改为 dev", "default_branch", ("main", "dev")),
        ("retries: 5", "重试次数改为 3", "retries", (5, 3)),
        ("timeout: 60s", "Don't set the timeout to 60 seconds.", "timeout", ("60s", "not 60s")),
        ("端口是 8080", "端口别用 8080，用 9090", "port", (8080, 9090)),
    ],
)
def test_both_values_stand_under_one_key(before: str, after: str, key: str, values: tuple[object, object]) -> None:
    found = [find for text in (before, after) for find in EXTRACTOR.extract(text).finds]
    assert [(find.key, find.value) for find in found] == [(key, values[0]), (key, values[1])]
