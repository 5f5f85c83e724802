"""The search over the whole site: pages, models, tasks, metrics, suites and claims."""
