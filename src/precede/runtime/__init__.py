"""How code runs: time limits, devices and threads, worker processes, random numbers, progress."""
