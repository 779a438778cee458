"""Core: what everything else stands on. `values`: vectors and matrices of three, written as in the papers.

Nothing here imports from another room but the compiler's door `lielab._jit`; everything may import from here. A value
is made, computed with and stored in one source, which runs compiled and in Python alike.
"""
