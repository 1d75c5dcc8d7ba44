"""The studio: from a table to a graph one can defend, in the browser.

A small server on this machine shows one page. Everything the page does is a call of the public API, and every run is a
folder that the command line understands. ``work.py`` is the process that fits, ``security.py`` decides who is heard.
"""
