"""What axe finds against a page's accessibility."""

from __future__ import annotations

from typing import Any

import pytest


def grave_violations(page: Any) -> list[str]:
    """The serious and critical ones, a line each, at most four places a rule. Skips without axe's package."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    return [
        f"{rule['id']}: {rule['help']}: {node['target']} {node.get('failureSummary', '')}"
        for rule in axe.Axe().run(page).response["violations"]
        if rule["impact"] in ("serious", "critical")
        for node in rule["nodes"][:4]
    ]
