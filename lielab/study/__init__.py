"""Study: what is measured of a method, and what was measured.

`diagnostics` is what a user calls (also `lielab.diagnostics`); behind it `orders`, `structure` (symmetry, symplectic
form, drift of the energy) and `report_card`; `order_problems` are the problems, `basin` is the study of a closed loop.
The json files hold what the benchmarks measured. It imports from `solve`, `control` and all below them.
"""
