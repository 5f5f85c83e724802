"""What the page of judges shows of a database, each made once a file."""

from __future__ import annotations

from leaderboard.data import judge_queries
from leaderboard.data.memo import memoised, shared
from leaderboard.page import Site
from leaderboard.pages.judges import comparison as compared
from leaderboard.pages.judges import diagnosis


class Judging:
    """What the page shows of a database, each made once a file."""

    def __init__(self, site: Site) -> None:
        db = site.db
        self.db = db
        self.pairs = memoised(lambda suite: judge_queries.ratings(db, suite=suite), most=4, of=db)
        self.runs = memoised(lambda suite: judge_queries.runs(db, suite=suite), most=8, of=db)
        self.scores = memoised(lambda suite: judge_queries.scores(db, suite=suite), most=8, of=db)
        self.compare = memoised(
            lambda suite, splits: compared.compare(
                db,
                suite=suite,
                splits=splits,
                pairs=self.pairs(suite),
                ranked=lambda tasks: site.suite_cache.ranked(suite, tasks=tasks),
            ),
            most=16,
            of=db,
        )
        self.diagnose = memoised(
            lambda suite, model: diagnosis.diagnose(
                db, suite=suite, model=model, pairs=self.pairs(suite), runs=self.runs(suite)
            ),
            most=64,
            of=db,
        )


judging_of = shared(Judging)  # of a site
