"""The page that tests metrics of generators on faults that are known."""
