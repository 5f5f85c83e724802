"""The table component: what it shows (table, payload, places) and how it is drawn (board.js and its modules)."""
