"""Where a plan's work runs: in this process, in one process a device, or on a Ray cluster."""
