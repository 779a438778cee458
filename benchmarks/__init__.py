"""Side-by-side timings against other implementations; `python -m benchmarks` runs them all."""
