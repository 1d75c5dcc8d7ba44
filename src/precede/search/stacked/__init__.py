"""Algorithm 1 for many runs at once.

A GPU spends a training step of one run on launching thousands of small kernels. Runs of one size and with the same
settings (data sets, seeds) have the same steps: here their networks lie in one tensor for each parameter, the first
axis being the run, and a step of all of them takes hardly longer than a step of one. Each run learns from its own data
alone, and its numbers are those that it would have by itself.
"""
