"""What programs and other sites use: API v1, tools of language models (MCP), and a small table to show in a frame."""
