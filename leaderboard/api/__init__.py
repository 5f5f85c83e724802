"""Interfaces for programs and other sites: API v1, tools for language models (MCP), and a small table to embed in a
frame.
"""
