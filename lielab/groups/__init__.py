"""Groups: one file each, all with the same functions; see `lielab.so3` for the contract.

Beside them what they share: `batch` (kernels made public functions with leading axes), `scalars` (the series behind the
closed forms), `derived`, `flat`, `rotations`; and for the methods products of groups, `factors` and `left_factors`.
It imports from `core` alone.
"""
