"""One file a group. Each module offers the same functions; see `lielab.so3` for the contract."""
