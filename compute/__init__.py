"""The offline layer: reads and makes scores, and keeps them in one database. Never imports leaderboard."""
