"""What supports a result: its checks, how sure it is, tests that a wrong graph fails, and the data it keeps."""
