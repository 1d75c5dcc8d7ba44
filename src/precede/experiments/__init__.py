"""The paper's tables and figures: the published numbers, the settings, the runner, and ours beside the paper's."""
