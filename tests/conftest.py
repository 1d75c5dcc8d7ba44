"""Settings of the whole suite."""

import os

from hypothesis import settings

settings.register_profile("ci", derandomize=True, deadline=None)
if os.environ.get("CI"):  # the same examples every time: a change is judged by itself, not by luck
    settings.load_profile("ci")
