"""The public API: four endpoints, also as tools of language models (MCP)."""
