"""How good a ranking is: reports with intervals, curves along the ranking, charts."""
