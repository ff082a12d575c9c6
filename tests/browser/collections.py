"""Collections that the browser tests start from: files as a person has them."""

from __future__ import annotations

from pathlib import Path

TOPICS = (
    (
        "whale",
        "The song of the humpback whale",
        "Whales sing. We recorded the song of humpback whales near krill fields.",
    ),
    (
        "market",
        "Prices on the bond market",
        "Bond prices follow the market. We model how traders set the price of stock.",
    ),
    ("forest", "Old oaks in northern forests", "Oak trees in cold forests grow slowly. We measured rings of old oaks."),
    (
        "bread",
        "Sourdough and the taste of bread",
        "Bakers know that dough rises slowly. We compare flour, yeast and salt.",
    ),
)
HOSTILE = "<script>window.broken = true</script><img src=x onerror='window.broken = true'>"


def is_relevant(title: str) -> bool:
    """Whether a document is about whales: what the reviewers of these tests look for."""
    return "whale" in title.lower()


def write_ris(path: Path, n: int = 60, hostile: str = "") -> Path:
    """Write n records, every fourth about whales; the first has a copy, the second says what ``hostile`` is."""
    records = [_record(row, hostile if row == 1 else "") for row in range(n)]
    records.append(_record(0, "").replace("ID  - r0\n", "ID  - r0-copy\n"))
    path.write_text("".join(records), encoding="utf-8")
    return path


def _record(row: int, hostile: str) -> str:
    word, title, abstract = TOPICS[row % len(TOPICS)]
    code = f"{chr(97 + row % 26)}{chr(97 + row // 26)}"
    return (
        f"TY  - JOUR\nID  - r{row}\nTI  - {title}, part {row} {hostile}\nAU  - Melville, H.\nAU  - Ahab, C.\n"
        f"PY  - {1950 + row}\nJO  - Journal of Things\nDO  - 10.1000/{word}.{row}\nUR  - javascript:alert(1)\n"
        f"AB  - {abstract} Study number {row} of {word} {code}. {hostile}\nER  - \n\n"
    )
