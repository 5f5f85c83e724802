"""Who measured what, why numbers differ, and which orders are replicated."""
