"""Precede learns which variable precedes which."""
