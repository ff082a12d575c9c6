"""When to stop, and what may be claimed: one rule or claim a file."""

from __future__ import annotations

from riffler.stopping.top_claim import TopClaim, claim_path, claim_top

__all__ = ["TopClaim", "claim_path", "claim_top"]
