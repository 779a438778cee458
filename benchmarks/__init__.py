"""Side-by-side timings against other implementations; `make bench` measures what the page "Performance" shows."""
