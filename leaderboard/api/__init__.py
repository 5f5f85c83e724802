"""What programs may ask: four endpoints, also as tools of language models (MCP)."""
