"""Core: what everything else stands on; from outside only `values` and `jit` are used, to write kernels.

`values` (vectors and matrices of three), `jit` (the one place that knows about Numba), `march` (the loop over steps
and its record), `linear`, `dense` and `newton` (small matrices, one Newton), `kernels` and `readers` (ours and readers'
functions, made safe), `arguments` (what a caller passed), `differences`, `round_off`, `travel`, `interrupts`.
It imports from no other room; everything may import from here.
"""
