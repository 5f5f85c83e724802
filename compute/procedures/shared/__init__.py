"""Parts shared by several procedures."""
