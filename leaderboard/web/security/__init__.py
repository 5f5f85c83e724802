"""Which hosts and sites may use the app, and what browsers let its pages do."""
