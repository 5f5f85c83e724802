"""The database's schema: its tables, and the views that other programs may read."""

from compute.io.votes import ANSWERS
from compute.types import SEVERITIES, VERDICTS

SCHEMA_VERSION = 16

# The codes of ratings. A test checks that they match the tasks and the procedure, which this file may not import.
PAIR_TYPES = ("identical", "transformed", "transformed-2", "irrelevant")
RATING_PROBLEMS = ("missing", "several", "out of range", "not an integer", "refused", "truncated")


def _codes(values: tuple[str, ...]) -> str:
    return f"ENUM ({', '.join(map(repr, values))})"


# Order matters: a table is filled after those it references.
TABLES = {
    "meta": "key VARCHAR PRIMARY KEY, value VARCHAR NOT NULL",
    "benchmarks": """key VARCHAR PRIMARY KEY, title VARCHAR NOT NULL, paper VARCHAR, url VARCHAR, description VARCHAR,
        bibtex VARCHAR""",
    "suites": """key VARCHAR PRIMARY KEY, title VARCHAR NOT NULL, benchmark VARCHAR NOT NULL REFERENCES benchmarks(key),
        aggregate VARCHAR NOT NULL, description VARCHAR, minimum_coverage DOUBLE NOT NULL,
        minimum_models INTEGER NOT NULL, baselines VARCHAR[],
        category_weights JSON, position INTEGER NOT NULL""",
    "datasets": """key VARCHAR PRIMARY KEY, title VARCHAR, url VARCHAR, license VARCHAR, citation VARCHAR,
        notes VARCHAR, part_of VARCHAR[], names VARCHAR[], private BOOLEAN""",
    "metrics": """key VARCHAR PRIMARY KEY, title VARCHAR NOT NULL, higher_is_better BOOLEAN NOT NULL, lower DOUBLE,
        upper DOUBLE, unit VARCHAR, scale DOUBLE NOT NULL, digits INTEGER NOT NULL, proportion BOOLEAN NOT NULL,
        description VARCHAR""",
    "models": """key VARCHAR PRIMARY KEY, title VARCHAR NOT NULL, organisation VARCHAR, kind VARCHAR NOT NULL,
        family VARCHAR, adapter VARCHAR, weights VARCHAR, revision VARCHAR, abilities VARCHAR[],
        late_interaction BOOLEAN, instructions BOOLEAN, parameters_m DOUBLE, memory_mb DOUBLE, embed_dim INTEGER,
        max_tokens INTEGER, image_size INTEGER, modalities VARCHAR[], languages VARCHAR[], open_weights BOOLEAN,
        license VARCHAR, training_code BOOLEAN, training_data BOOLEAN, paper VARCHAR, released VARCHAR,
        trained_on VARCHAR[], "group" VARCHAR, facts_from VARCHAR, options JSON""",
    "tasks": """key VARCHAR PRIMARY KEY, title VARCHAR NOT NULL, benchmark VARCHAR NOT NULL REFERENCES benchmarks(key),
        category VARCHAR NOT NULL, dataset VARCHAR, cluster VARCHAR, revision VARCHAR, split VARCHAR, subsets VARCHAR[],
        procedure VARCHAR, metrics VARCHAR[], chance DOUBLE, n_items INTEGER, modalities VARCHAR[],
        languages VARCHAR[], license VARCHAR, notes VARCHAR, ranked BOOLEAN NOT NULL, position INTEGER NOT NULL""",
    "suite_tasks": """suite VARCHAR REFERENCES suites(key), task VARCHAR REFERENCES tasks(key),
        PRIMARY KEY (suite, task)""",
    "aliases": """benchmark VARCHAR, printed VARCHAR, model VARCHAR REFERENCES models(key), certainty VARCHAR NOT NULL,
        note VARCHAR, PRIMARY KEY (benchmark, printed)""",
    "laboratories": """key VARCHAR PRIMARY KEY, title VARCHAR NOT NULL, harness VARCHAR NOT NULL, version VARCHAR,
        date VARCHAR, repository VARCHAR, revision VARCHAR, license VARCHAR""",
    # Tasks that ask the same question about the same data; an unlisted task only matches itself.
    "same_data": """data VARCHAR NOT NULL, task VARCHAR NOT NULL REFERENCES tasks(key),
        metric VARCHAR NOT NULL REFERENCES metrics(key), source VARCHAR NOT NULL, doubt VARCHAR,
        PRIMARY KEY (data, task, metric)""",
    "task_faults": """task VARCHAR NOT NULL REFERENCES tasks(key), fault VARCHAR NOT NULL, effect VARCHAR,
        certainty VARCHAR NOT NULL, severe BOOLEAN NOT NULL, source VARCHAR NOT NULL, date VARCHAR""",
    # Scores that the rest contradicts, and what people decided about them.
    "doubts": """model VARCHAR NOT NULL REFERENCES models(key), task VARCHAR NOT NULL REFERENCES tasks(key),
        origin VARCHAR NOT NULL, suite VARCHAR, kind VARCHAR NOT NULL, value DOUBLE NOT NULL, expected DOUBLE,
        low DOUBLE, high DOUBLE, reason VARCHAR NOT NULL, decision VARCHAR NOT NULL, decided VARCHAR NOT NULL,
        PRIMARY KEY (model, task, origin)""",
    "harness_faults": """harness VARCHAR NOT NULL, first_version VARCHAR, last_version VARCHAR, tasks VARCHAR,
        "where" VARCHAR, marks BOOLEAN NOT NULL, fault VARCHAR NOT NULL, effect VARCHAR, certainty VARCHAR NOT NULL,
        source VARCHAR NOT NULL, date VARCHAR""",
    # The protocols of harnesses: a difference between two may cause different scores.
    "protocols": """data VARCHAR NOT NULL, harness VARCHAR NOT NULL, aspect VARCHAR NOT NULL, value VARCHAR NOT NULL,
        certainty VARCHAR NOT NULL, source VARCHAR NOT NULL, PRIMARY KEY (data, harness, aspect)""",
    "runs": """id VARCHAR PRIMARY KEY, model VARCHAR NOT NULL REFERENCES models(key),
        task VARCHAR NOT NULL REFERENCES tasks(key), procedure VARCHAR,
        origin VARCHAR NOT NULL CHECK (origin IN ('published', 'imported', 'computed') OR origin LIKE '%:%'),
        source VARCHAR NOT NULL,
        settings JSON, fingerprint VARCHAR, code VARCHAR, seed BIGINT, dtype VARCHAR, device VARCHAR, seconds DOUBLE,
        started VARCHAR, status VARCHAR NOT NULL, error VARCHAR, main BOOLEAN NOT NULL""",
    "scores": """run VARCHAR REFERENCES runs(id), subset VARCHAR, metric VARCHAR REFERENCES metrics(key),
        value DOUBLE NOT NULL CHECK (isfinite(value)), n BIGINT, stderr DOUBLE, printed VARCHAR,
        coverage DOUBLE, lower_bound DOUBLE, low DOUBLE, high DOUBLE, bias DOUBLE, PRIMARY KEY (run, subset, metric)""",
    "gaps": """model VARCHAR NOT NULL, task VARCHAR NOT NULL, subset VARCHAR, metric VARCHAR, source VARCHAR,
        reason VARCHAR NOT NULL""",
    "averages": """suite VARCHAR NOT NULL REFERENCES suites(key), category VARCHAR NOT NULL,
        model VARCHAR NOT NULL REFERENCES models(key), value DOUBLE NOT NULL CHECK (isfinite(value)),
        tasks INTEGER NOT NULL, source VARCHAR NOT NULL, printed VARCHAR, PRIMARY KEY (suite, category, model)""",
    "notes": """source VARCHAR NOT NULL, model VARCHAR NOT NULL, task VARCHAR NOT NULL, metric VARCHAR,
        note VARCHAR NOT NULL, specific BOOLEAN NOT NULL""",
    "items": """run VARCHAR REFERENCES runs(id), item VARCHAR, subset VARCHAR, expected VARCHAR, answer VARCHAR,
        correct BOOLEAN, value DOUBLE, detail JSON, PRIMARY KEY (run, item)""",
    # Every pair of every judging run, whereas items are a sample. No key: its index would be seven times as large as
    # the table.
    "ratings": f"""run VARCHAR NOT NULL REFERENCES runs(id), subset VARCHAR NOT NULL, source VARCHAR NOT NULL,
        type {_codes(PAIR_TYPES)} NOT NULL, template UTINYINT,
        expected UTINYINT NOT NULL CHECK (expected BETWEEN 1 AND 10),
        forward UTINYINT CHECK (forward BETWEEN 1 AND 10), reverse UTINYINT CHECK (reverse BETWEEN 1 AND 10),
        forward_problem {_codes(RATING_PROBLEMS)}, reverse_problem {_codes(RATING_PROBLEMS)}""",
    # Judges' answers on pairs that people voted on; an answer that is not a vote is NULL. No key, like ratings.
    "votes": f"""origin VARCHAR NOT NULL, task VARCHAR NOT NULL, judge VARCHAR NOT NULL, item VARCHAR NOT NULL,
        human {_codes(ANSWERS)} NOT NULL, answer {_codes(ANSWERS)}""",
    "thumbnails": "task VARCHAR REFERENCES tasks(key), image VARCHAR, webp BLOB NOT NULL, PRIMARY KEY (task, image)",
    "calibrations": """model VARCHAR REFERENCES models(key), pairing VARCHAR, unrelated DOUBLE[] NOT NULL,
        matching DOUBLE[] NOT NULL, n_unrelated INTEGER NOT NULL, n_matching INTEGER NOT NULL, separation DOUBLE,
        source VARCHAR NOT NULL, synthetic BOOLEAN NOT NULL, domain VARCHAR, scenes INTEGER NOT NULL, settings JSON,
        PRIMARY KEY (model, domain, pairing)""",
    "calibration_domains": """model VARCHAR REFERENCES models(key), domain VARCHAR, modality VARCHAR,
        record JSON NOT NULL, PRIMARY KEY (model, domain, modality)""",
    "projections": """kind VARCHAR, key VARCHAR, x DOUBLE NOT NULL, y DOUBLE NOT NULL, cluster INTEGER,
        settings JSON, PRIMARY KEY (kind, key)""",
    "speeds": """model VARCHAR REFERENCES models(key), machine VARCHAR, images_per_second DOUBLE,
        texts_per_second DOUBLE, ms DOUBLE, memory_mb DOUBLE, batch INTEGER, dtype VARCHAR, architecture VARCHAR,
        source VARCHAR NOT NULL, PRIMARY KEY (model, machine)""",
    "claims": f"""key VARCHAR PRIMARY KEY, paper VARCHAR NOT NULL, claim VARCHAR NOT NULL, "where" VARCHAR,
        printed VARCHAR, recomputed VARCHAR, verdict VARCHAR NOT NULL
            CHECK (verdict IN {VERDICTS}),
        severity VARCHAR NOT NULL CHECK (severity IN {SEVERITIES}),
        note VARCHAR, formula VARCHAR, why VARCHAR""",
    "versions": """version VARCHAR PRIMARY KEY, date VARCHAR NOT NULL, changes VARCHAR NOT NULL,
        position INTEGER NOT NULL""",
    # The differences from the next version back to this one: a row as it was before, NULL if there was none.
    "undone": """version VARCHAR NOT NULL REFERENCES versions(version), relation VARCHAR NOT NULL, key JSON NOT NULL,
        before JSON""",
    "past_ranks": """version VARCHAR REFERENCES versions(version), suite VARCHAR, origin VARCHAR NOT NULL,
        model VARCHAR, rank INTEGER NOT NULL, rank_low INTEGER, rank_high INTEGER, mean DOUBLE NOT NULL,
        PRIMARY KEY (version, suite, model)""",
}

# One row per score; a task in several suites is listed under the first suite.
LEADERBOARD_SCORES = """
CREATE VIEW leaderboard_scores AS
SELECT tasks.benchmark, first_suite.suite, tasks.category, runs.task, runs.model, scores.subset, scores.metric,
       scores.value, scores.stderr, scores.n, runs.origin, runs.source, scores.printed,
       scores.coverage, scores.lower_bound, scores.low, scores.high, scores.bias,
       tasks.title AS task_title, models.title AS model_title, benchmarks.title AS benchmark_title
FROM scores
JOIN runs ON runs.id = scores.run
JOIN tasks ON tasks.key = runs.task
JOIN models ON models.key = runs.model
JOIN benchmarks ON benchmarks.key = tasks.benchmark
LEFT JOIN (
    SELECT suite_tasks.task, arg_min(suites.key, suites.position) AS suite
    FROM suite_tasks JOIN suites ON suites.key = suite_tasks.suite GROUP BY suite_tasks.task
) AS first_suite ON first_suite.task = runs.task
"""

# All measurements of a model on the same data, one row per origin; proportions as fractions.
MEASURED = """
CREATE VIEW measured AS
SELECT coalesce(same_data.data, runs.task) AS data, runs.model, runs.origin, runs.task, scores.subset, scores.metric,
       metrics.scale, scores.value, scores.stderr, scores.n, runs.source
FROM scores
JOIN metrics ON metrics.key = scores.metric
JOIN runs ON runs.id = scores.run AND runs.main
JOIN tasks ON tasks.key = runs.task
LEFT JOIN same_data ON same_data.task = runs.task AND same_data.metric = scores.metric
WHERE same_data.data IS NOT NULL OR scores.metric = tasks.metrics[1]
"""

# The tasks whose data set, or one that contains it, a model saw in training.
TRAINED_TASKS = """
CREATE VIEW trained_tasks AS
SELECT models.key AS model, tasks.key AS task
FROM models, tasks LEFT JOIN datasets ON datasets.key = tasks.dataset
WHERE list_contains(models.trained_on, tasks.dataset) OR list_has_any(models.trained_on, datasets.part_of)
"""

VIEWS = (LEADERBOARD_SCORES, MEASURED, TRAINED_TASKS)
