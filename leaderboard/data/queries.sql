-- What pages ask the database, by name: `Database.query(name, parameter=value)`. Answers are long frames in stored units;
-- a comment names their columns.

-- ---- suites, benchmarks and claims

-- name: suites
-- Every suite in its order, with its benchmark's title, citation and number of tasks: those that count in a mean,
-- or that people rank by.
SELECT suites.*, benchmarks.title AS benchmark_title, benchmarks.bibtex, benchmarks.paper, benchmarks.url,
       (SELECT count(*) FROM suite_tasks JOIN tasks ON tasks.key = suite_tasks.task
        WHERE suite = suites.key AND (ranked OR aggregate = 'human')) AS tasks
FROM suites JOIN benchmarks ON benchmarks.key = suites.benchmark ORDER BY position

-- name: suite_tasks
-- The tasks of a suite in catalogue order.
SELECT tasks.* FROM tasks JOIN suite_tasks ON suite_tasks.task = tasks.key
WHERE suite_tasks.suite = $suite ORDER BY position

-- name: suite_columns
-- The metrics of a suite's tasks with their facts, in catalogue order, a task's headline first; bounds may be infinite.
SELECT tasks.key AS task, metrics.key AS metric, tasks.title, tasks.category AS "group", t.n = 1 AS headline,
       coalesce(tasks.cluster, '') AS cluster, CASE WHEN t.n = 1 THEN tasks.chance END AS chance, tasks.n_items AS n,
       tasks.ranked, metrics.title AS metric_title, metrics.higher_is_better AS higher,
       coalesce(metrics.lower, '-inf'::DOUBLE) AS lower, coalesce(metrics.upper, 'inf'::DOUBLE) AS upper,
       metrics.scale, metrics.digits, metrics.proportion, coalesce(datasets.private, false) AS private, tasks.modalities,
       tasks.procedure
FROM suite_tasks JOIN tasks ON tasks.key = suite_tasks.task LEFT JOIN datasets ON datasets.key = tasks.dataset
CROSS JOIN unnest(range(1, len(tasks.metrics) + 1)) AS t(n) JOIN metrics ON metrics.key = tasks.metrics[t.n]
WHERE suite_tasks.suite = $suite ORDER BY tasks.position, t.n

-- name: image_judges
-- Who chooses between two images of a prompt in MMRB2, best first: title, kind, value.
SELECT models.title, models.kind, scores.value FROM scores JOIN runs ON runs.id = scores.run
JOIN models ON models.key = runs.model
WHERE runs.task = 'mmrb2/text-to-image' AND runs.origin = 'published' ORDER BY scores.value DESC, models.key

-- name: suites_of_task
-- The suites a task belongs to, in order.
SELECT suites.* FROM suites JOIN suite_tasks ON suite_tasks.suite = suites.key
WHERE suite_tasks.task = $task ORDER BY position

-- name: suites_of_model
-- The suites with a task that a model has a run of: suite.
SELECT DISTINCT suite FROM suite_tasks JOIN runs USING (task) WHERE model = $model

-- name: suites_of_sources
-- The first suite that shows a source's scores: source, suite.
SELECT runs.source, arg_min(suites.key, suites.position) AS suite
FROM runs JOIN suite_tasks ON suite_tasks.task = runs.task
JOIN suites ON suites.key = suite_tasks.suite
WHERE runs.origin = 'published' GROUP BY runs.source

-- name: scored_subsets
-- Subsets with scores of the tasks of a suite that read a language: task, subsets, languages, source, subset.
--
-- A task reads one where a text goes in, or is shown as an image (procedure sts). `source` has the scores: the task
-- itself, or one of other suites with the same sentences.
SELECT DISTINCT listed.key AS task, listed.subsets, listed.languages, runs.task AS source, scores.subset
FROM suite_tasks JOIN tasks AS listed ON listed.key = suite_tasks.task
JOIN tasks AS other ON other.key = listed.key
    OR (other.procedure = 'sts' AND listed.procedure = 'sts' AND other.dataset = listed.dataset
        AND other.key NOT IN (SELECT task FROM suite_tasks AS own WHERE own.suite = suite_tasks.suite))
JOIN runs ON runs.task = other.key AND runs.main
JOIN scores ON scores.run = runs.id AND scores.metric = listed.metrics[1]
WHERE suite_tasks.suite = $suite AND (list_contains(listed.modalities, 'text') OR listed.procedure = 'sts')
ORDER BY ALL

-- name: subset_metrics
-- Which scores a suite has: task, metric, subset.
SELECT DISTINCT runs.task, scores.metric, scores.subset FROM scores JOIN runs ON runs.id = scores.run
WHERE runs.task IN (SELECT task FROM suite_tasks WHERE suite = $suite)

-- name: gaps
-- Which scores of the suite a source leaves blank, and why: model, task, reason.
SELECT DISTINCT model, task, reason FROM gaps
WHERE task IN (SELECT task FROM suite_tasks WHERE suite = $suite)

-- name: averages
-- Category means as the papers print them: category, model, value, tasks, source, printed.
SELECT category, model, value, tasks, source, printed FROM averages WHERE suite = $suite

-- name: highest_printed
-- The model whose printed category means of a suite are most and highest, as a frame of at most one row: model.
SELECT model FROM averages WHERE suite = $suite GROUP BY model
ORDER BY count(*) DESC, avg(value) DESC, model LIMIT 1

-- name: trained_on
-- Pairs (model, task) of the suite where the model saw the task's data set, or one that it is part of.
SELECT model, task FROM trained_tasks
WHERE task IN (SELECT task FROM suite_tasks WHERE suite = $suite)

-- name: notes
-- Which single scores of the suite are remarked upon: model, task, metric (empty: every metric).
SELECT DISTINCT model, task, metric FROM notes
WHERE specific AND task IN (SELECT task FROM suite_tasks WHERE suite = $suite)

-- name: doubts
-- Headline scores of the suite that the rest contradicts, but for those that people found right: model, task, origin,
-- metric, kind, expected.
SELECT doubts.model, doubts.task, doubts.origin, tasks.metrics[1] AS metric, doubts.kind, doubts.expected
FROM doubts JOIN tasks ON tasks.key = doubts.task
WHERE decision <> 'right' AND doubts.task IN (SELECT task FROM suite_tasks WHERE suite = $suite)

-- name: doubtful
-- Every row of the table of doubts with titles, units and source, the newest import first.
SELECT doubts.*, models.title, tasks.title AS task_title, metrics.scale, metrics.digits, coalesce(metrics.unit, '') AS unit,
       runs.source, coalesce(laboratories.date, runs.started, '') AS date
FROM doubts JOIN models ON models.key = doubts.model JOIN tasks ON tasks.key = doubts.task
JOIN metrics ON metrics.key = tasks.metrics[1] JOIN runs USING (model, task, origin)
LEFT JOIN laboratories ON origin = 'imported:' || laboratories.key
WHERE runs.main ORDER BY date DESC, doubts.kind <> 'one class', origin, model, task

-- name: doubt
-- Why a score is doubtful, as at most one row of the table of doubts, which is about headline scores.
SELECT doubts.* FROM doubts JOIN tasks ON tasks.key = task
WHERE model = $model AND task = $task AND origin = $origin AND tasks.metrics[1] = $metric

-- name: disagreements
-- Pairs (model, task) for which another table of the same paper prints another number.
SELECT DISTINCT model, task FROM runs
WHERE NOT main AND origin = 'published' AND task IN (SELECT task FROM suite_tasks WHERE suite = $suite)

-- name: benchmarks
-- The four benchmarks.
SELECT * FROM benchmarks

-- name: benchmark
-- One benchmark as a frame of at most one row.
SELECT * FROM benchmarks WHERE key = $key

-- name: benchmark_sizes
-- The four benchmarks with how many models, tasks (as in `suites`) and scores each has.
SELECT benchmarks.*, count(DISTINCT runs.model) AS models, count(scores.value) AS scores,
       count(DISTINCT tasks.key) FILTER (tasks.ranked OR tasks.key IN (
           SELECT task FROM suite_tasks JOIN suites ON suites.key = suite WHERE aggregate = 'human')) AS tasks
FROM benchmarks LEFT JOIN tasks ON tasks.benchmark = benchmarks.key LEFT JOIN runs ON runs.task = tasks.key
LEFT JOIN scores ON scores.run = runs.id GROUP BY ALL ORDER BY benchmarks.key

-- name: claims
-- Every claim in the papers' order: its fields as texts.
SELECT key, paper, claim, coalesce("where", '') AS "where", coalesce(printed, '') AS printed,
       coalesce(recomputed, '') AS recomputed, verdict, severity, coalesce(formula, '') AS formula,
       coalesce(note, '') AS note, coalesce(why, '') AS why
FROM claims ORDER BY paper, claims."where", claim

-- name: lite_claims
-- MIEB's claims on how well its lite suite preserves the order: claim, printed.
SELECT DISTINCT claim, printed FROM claims WHERE paper = 'MIEB' AND "where" = 'Section 6.3'
AND claim LIKE '%correlation of the means%' ORDER BY claim DESC

-- name: projection
-- One shipped map: key, x, y, cluster, settings; empty if that kind is missing.
SELECT key, x, y, cluster, settings FROM projections WHERE kind = $kind ORDER BY key

-- name: counts
-- One row: models with scores, tasks, scores.
SELECT (SELECT count(DISTINCT model) FROM runs) AS models, (SELECT count(*) FROM tasks) AS tasks,
(SELECT count(*) FROM scores) AS scores

-- name: origins
-- How many scores each origin gave: origin, scores.
SELECT origin, count(*) AS scores FROM scores JOIN runs ON runs.id = scores.run
GROUP BY origin ORDER BY scores DESC, origin

-- name: metrics
-- Every metric.
SELECT * FROM metrics

-- name: datasets
-- Every data set.
SELECT * FROM datasets

-- name: years
-- The years of the papers that the published scores are from, each once, the first first: year.
SELECT DISTINCT CAST(regexp_extract(bibtex, 'year = \{(\d{4})\}', 1) AS INTEGER) AS year
FROM benchmarks WHERE regexp_matches(bibtex, 'year = \{\d{4}\}') ORDER BY year

-- name: claim_counts
-- One row, how many claims there are: claims, recomputed, and conflicts among these.
SELECT count(*) AS claims, count(*) FILTER (verdict != 'cannot be recomputed') AS recomputed,
       count(*) FILTER (verdict = 'conflict') AS conflicts FROM claims

-- name: data_version
-- The version of the published scores; no row where the database does not record it: version.
SELECT value AS version FROM meta WHERE key = 'version'

-- name: versions
-- One row a version of the data, stored or not, the newest first: version, date, changes.
SELECT version, date, changes FROM versions ORDER BY position

-- name: undone_rows
-- One row a stored version and table: version, relation, and rows that are new since, and that were changed or taken back.
SELECT version, relation, count(*) FILTER (before IS NULL) AS new, count(before) AS changed
FROM undone GROUP BY version, relation

-- name: new_models
-- One row a model that was not there in a version and is now: version, key, title.
SELECT version, models.key, models.title FROM undone JOIN models ON models.key = undone.key->>'$[0]'
WHERE relation = 'models' AND before IS NULL ORDER BY title

-- name: changed_scores
-- One row a score that is another in the version after, those that changed most first: version, model, task, both with
-- titles, subset, metric, scale, digits, value then and after. The value after is what the nearest later version that
-- changed it again had, else today's.
WITH found AS (
    SELECT version, before, key->>'$[0]' AS run, key->>'$[1]' AS subset, key->>'$[2]' AS metric,
           lag(coalesce(CAST(before AS VARCHAR), '{}')) OVER (PARTITION BY key ORDER BY position) AS again
    FROM undone JOIN versions USING (version) WHERE relation = 'scores'
)
SELECT found.version, runs.model, models.title AS model_title, runs.task, tasks.title AS task_title, found.subset,
       metrics.title AS metric, metrics.scale, metrics.digits, CAST(before->>'$.value' AS DOUBLE) AS value_before,
       coalesce(CAST(again->>'$.value' AS DOUBLE), scores.value) AS value
FROM found JOIN runs ON runs.id = found.run JOIN models ON models.key = runs.model JOIN tasks ON tasks.key = runs.task
JOIN metrics ON metrics.key = found.metric
LEFT JOIN scores ON scores.run = found.run AND scores.subset = found.subset AND scores.metric = found.metric
WHERE before IS NOT NULL AND value <> value_before ORDER BY abs(value - value_before) * scale DESC, found.run, subset

-- name: past_ranks
-- One row a model of a suite in a stored version, the oldest last, of one model or, with an empty $model, of all: version,
-- date, suite, origin, model, title, rank, rank_low, rank_high, the last two NULL where they are not known.
SELECT past_ranks.version, date, suite, origin, model, coalesce(models.title, model) AS title, rank, rank_low, rank_high
FROM past_ranks JOIN versions USING (version) LEFT JOIN models ON models.key = model
WHERE $model IN ('', model) ORDER BY versions.position, suite, rank, model

-- name: stored_versions
-- One row a version of the data that can be shown, the newest first: version, date, changes.
SELECT version, date, changes FROM versions
WHERE version IN (SELECT version FROM past_ranks) OR version IN (SELECT value FROM meta WHERE key = 'version')
ORDER BY position

-- ---- tasks and single cells of the board

-- name: part_values
-- One row a (model, origin, task, metric): means over all parts of a task, as TASK_VALUES has those of whole tasks.
--
-- The parts are three lists: tasks, sources, subsets. A source is the task whose runs have the part; of a task's sources
-- its own comes first.
WITH parts AS (SELECT unnest($tasks::VARCHAR[]) AS task, unnest($sources::VARCHAR[]) AS source,
                      unnest($subsets::VARCHAR[]) AS subset),
     wanted AS (SELECT *, count(*) OVER (PARTITION BY task, source) AS parts FROM parts)
SELECT runs.model, runs.origin, wanted.task, scores.metric, avg(scores.value) AS value,
       CASE WHEN count(*) = count(scores.stderr) THEN avg(scores.stderr) END AS stderr,
       CASE WHEN count(*) = count(scores.bias) THEN avg(scores.bias) END AS bias,
       CASE WHEN count(*) = 1 THEN any_value(scores.n) END AS n,
       CASE WHEN count(*) = 1 THEN any_value(scores.printed) END AS printed,
       CASE WHEN count(*) = 1 THEN any_value(scores.low) END AS low,
       CASE WHEN count(*) = 1 THEN any_value(scores.high) END AS high, any_value(runs.source) AS source
FROM wanted JOIN runs ON runs.task = wanted.source
JOIN scores ON scores.run = runs.id AND scores.subset = wanted.subset
WHERE runs.main
GROUP BY runs.model, runs.origin, wanted.task, wanted.source, scores.metric
HAVING count(*) = any_value(wanted.parts)
QUALIFY row_number() OVER (PARTITION BY runs.model, runs.origin, wanted.task, scores.metric
                           ORDER BY wanted.source <> wanted.task) = 1
ORDER BY ALL

-- name: task
-- One task with its benchmark's and data set's facts, as a frame of at most one row; a data set that no catalogue
-- lists, a user task, has its key as title.
SELECT tasks.*, benchmarks.title AS benchmark_title, benchmarks.bibtex, benchmarks.url AS paper_url,
       coalesce(datasets.title, tasks.dataset) AS dataset_title, datasets.url AS dataset_url,
       datasets.license AS dataset_license, datasets.citation AS dataset_citation,
       datasets.notes AS dataset_notes, datasets.private
FROM tasks JOIN benchmarks ON benchmarks.key = tasks.benchmark
LEFT JOIN datasets ON datasets.key = tasks.dataset WHERE tasks.key = $key

-- name: listed_tasks
-- Every task, for a list to choose from: key, title, benchmark's title, category, scored (whether it has a run).
SELECT tasks.key, tasks.title, benchmarks.title AS benchmark, tasks.category,
       tasks.key IN (SELECT task FROM runs) AS scored
FROM tasks JOIN benchmarks ON benchmarks.key = tasks.benchmark
ORDER BY tasks.benchmark, tasks.position

-- name: tasks
-- Every task with its benchmark's title, its data set's title and licence, and how many models have a score.
SELECT tasks.*, benchmarks.title AS benchmark_title, benchmarks.url AS paper_url,
       coalesce(datasets.title, tasks.dataset) AS dataset_title, datasets.license AS dataset_license,
       (SELECT count(DISTINCT runs.model) FROM runs JOIN scores ON scores.run = runs.id
        WHERE runs.task = tasks.key) AS models
FROM tasks JOIN benchmarks ON benchmarks.key = tasks.benchmark
LEFT JOIN datasets ON datasets.key = tasks.dataset ORDER BY tasks.benchmark, tasks.position

-- name: task_scores
-- Every score on one task, with its model, best first within the headline metric: one row a score, with what
-- `scores.listing` shows of it.
SELECT models.key AS model, models.key AS link, models.title, models.kind, tasks.benchmark,
       scores.subset, scores.metric, metrics.title AS metric_title, metrics.scale, metrics.digits,
       metrics.lower, metrics.upper, metrics.proportion, scores.value, scores.printed, scores.n,
       scores.stderr, scores.coverage, scores.lower_bound, scores.low, scores.high, scores.bias, runs.origin,
       runs.source, runs.main,
       (runs.model, runs.task) IN (SELECT (model, task) FROM trained_tasks) AS trained,
       EXISTS (SELECT 1 FROM notes WHERE specific AND notes.model = runs.model AND notes.task = runs.task
               AND coalesce(notes.metric, '') IN ('', scores.metric)) AS suspect,
       bool_or(NOT runs.main AND runs.origin = 'published') OVER (PARTITION BY runs.model, runs.task) AS disputed
FROM scores JOIN runs ON runs.id = scores.run JOIN models ON models.key = runs.model
JOIN metrics ON metrics.key = scores.metric JOIN tasks ON tasks.key = runs.task
WHERE runs.task = $task
ORDER BY coalesce(nullif(list_position(tasks.metrics, scores.metric), 0), 99), runs.main DESC,
         scores.subset NOT IN ('default', 'average'), scores.subset,
         CASE WHEN metrics.higher_is_better THEN -scores.value ELSE scores.value END, runs.origin, models.title,
         scores.metric

-- name: task_faults
-- What is known to be wrong with a task, the surest first: fault, effect, certainty, source, date.
SELECT fault, coalesce(effect, '') AS effect, certainty, source, date FROM task_faults
WHERE task = $task ORDER BY certainty <> 'confirmed', date DESC, fault

-- name: fault_counts
-- How many faults of each task are known, the severe one if there is: task, faults, severe, fault.
SELECT task, count(*) AS faults, bool_or(severe) AS severe, any_value(fault) FILTER (severe) AS fault
FROM task_faults GROUP BY task

-- name: task_notes
-- Remarks on one task and on single models' scores there: note, model, metric, specific, title (of the model).
SELECT DISTINCT notes.note, notes.model, notes.metric, notes.specific, coalesce(models.title, '') AS title
FROM notes LEFT JOIN models ON models.key = notes.model
WHERE notes.task = $task AND (notes.model = '*' OR EXISTS (
    SELECT 1 FROM runs WHERE runs.model = notes.model AND runs.task = notes.task))
ORDER BY title, notes.note

-- name: trained_models
-- The models that saw a task's data set in training: model.
SELECT model FROM trained_tasks WHERE task = $task

-- name: printed_agreement
-- The summary rows as printed, one a metric that judges generators: model, metric, printed, value.
SELECT runs.model, scores.metric, scores.printed, scores.value FROM scores
JOIN runs ON runs.id = scores.run WHERE runs.task = $task AND runs.main
  AND scores.metric IN ('rho_squared', 'rank_accuracy')

-- name: sources
-- Where the shown scores of some tasks come from: model, origin, sources.
SELECT model, origin, list(DISTINCT source) AS sources FROM runs
WHERE main AND task IN (SELECT unnest($tasks)) GROUP BY model, origin

-- name: cell
-- Every score of one model on one task, from all sources, the shown one first.
SELECT scores.subset, scores.metric, scores.value, scores.stderr, scores.n, scores.printed, scores.coverage,
       scores.lower_bound, scores.low, scores.high, scores.bias, runs.origin, runs.source,
       runs.main, runs.seconds,
       runs.error, runs.id AS run, coalesce(runs.settings->>'$.file', '') AS file,
       coalesce(runs.settings->>'$.commit', '') AS commit,
       EXISTS (SELECT 1 FROM items WHERE items.run = runs.id) AS items
FROM scores JOIN runs ON runs.id = scores.run
WHERE runs.model = $model AND runs.task = $task
ORDER BY runs.main DESC, runs.origin, scores.metric, scores.subset

-- name: cell_notes
-- Remarks that concern one figure: those on it alone first, then those on the model's table, then the task's.
SELECT note FROM notes WHERE model IN ('*', $model) AND task = $task AND metric IN ('', $metric) GROUP BY note
ORDER BY bool_or(specific) DESC, bool_and(model = '*'), note

-- ---- models

-- name: models
-- Every model with the number of its runs and its measured speeds.
SELECT models.* REPLACE (coalesce(organisation, '') AS organisation, coalesce(family, '') AS family,
                         coalesce(license, '') AS license, coalesce(released, '') AS released),
       (SELECT count(*) FROM runs WHERE model = models.key) AS runs,
       coalesce((SELECT list(speeds ORDER BY machine DESC) FROM speeds WHERE speeds.model = models.key), []) AS speeds,
       (SELECT 1 / images_per_second FROM speeds WHERE model = key AND machine = 'NVIDIA RTX 4090') AS seconds_gpu,
       (SELECT 1 / images_per_second FROM speeds WHERE model = key AND machine = 'Intel i7-12700H laptop CPU')
           AS seconds_laptop
FROM models ORDER BY key

-- name: model_facts
-- What programs get of each model; null or empty where it is not stated.
SELECT key, CAST(round(parameters_m * 1e6) AS BIGINT) AS parameters, embed_dim AS dimension, open_weights,
       coalesce(license, '') AS license, coalesce(released, '') AS released
FROM models

-- name: board_models
-- What a board shows and filters of each model; null or empty where it is not stated.
SELECT key, title, coalesce(organisation, '') AS organisation, coalesce(family, '') AS family, kind,
       parameters_m AS parameters, memory_mb AS memory, embed_dim AS dimension, max_tokens AS tokens,
       late_interaction AS late, instructions, open_weights AS open, coalesce(released, '') AS released, modalities,
       coalesce("group", '') AS "group", coalesce(license, '') AS license, training_code, training_data,
       coalesce(paper, '') AS paper
FROM models

-- name: model
-- One model, with its measured speeds, as a frame of at most one row.
SELECT *, coalesce((SELECT list(speeds ORDER BY machine DESC) FROM speeds WHERE speeds.model = models.key), []) AS speeds
FROM models WHERE key = $key

-- name: listed_models
-- Models that have a run, for a list to choose from: key, title, kind.
SELECT key, title, kind FROM models WHERE key IN (SELECT model FROM runs)
ORDER BY lower(title), key

-- name: spellings
-- How the papers spell the models: model, printed.
SELECT DISTINCT model, printed FROM aliases ORDER BY model, printed

-- name: scored_tasks
-- How many tasks of each benchmark a model has scores on: model, benchmark, tasks.
SELECT runs.model, tasks.benchmark, count(DISTINCT tasks.key) AS tasks
FROM runs JOIN tasks ON tasks.key = runs.task
WHERE EXISTS (SELECT 1 FROM scores WHERE scores.run = runs.id)
GROUP BY ALL ORDER BY ALL

-- name: catalogue
-- Every model, for a list to choose from: key, title, kind, scored (whether it has a run).
SELECT key, title, kind, key IN (SELECT model FROM runs) AS scored FROM models
ORDER BY lower(title), key

-- name: model_scores
-- Every score of one model, with its task and metric: one row a score, with what `scores.listing` shows of it.
SELECT tasks.benchmark, tasks.category, tasks.key AS task, tasks.title, tasks.dataset, tasks.chance,
       tasks.metrics[1] AS headline, scores.subset, scores.metric, metrics.title AS metric_title, metrics.scale,
       metrics.digits, metrics.lower, metrics.upper, metrics.proportion, scores.value, scores.printed,
       scores.n, scores.stderr, scores.coverage, scores.lower_bound, scores.low, scores.high,
       scores.bias, runs.origin, runs.source, runs.main, runs.task AS link,
       (runs.model, runs.task) IN (SELECT (model, task) FROM trained_tasks) AS trained,
       EXISTS (SELECT 1 FROM notes WHERE specific AND notes.model = runs.model AND notes.task = runs.task
               AND coalesce(notes.metric, '') IN ('', scores.metric)) AS suspect,
       bool_or(NOT runs.main AND runs.origin = 'published') OVER (PARTITION BY runs.model, runs.task) AS disputed
FROM scores JOIN runs ON runs.id = scores.run JOIN tasks ON tasks.key = runs.task
JOIN metrics ON metrics.key = scores.metric
WHERE runs.model = $model ORDER BY tasks.position, runs.main DESC, runs.origin, scores.metric, scores.subset

-- name: computed_suites
-- The suites that hold a model's computed runs, in the catalogue's order: suite. Of a task in several, its first.
SELECT suite FROM leaderboard_scores JOIN suites ON suites.key = suite
WHERE model = $model AND origin = 'computed' GROUP BY suite ORDER BY any_value(suites.position)

-- name: aliases
-- How the papers spell a model: benchmark_title, printed, certainty, note.
SELECT benchmarks.title AS benchmark_title, printed, certainty, note
FROM aliases JOIN benchmarks ON benchmarks.key = aliases.benchmark
WHERE model = $model ORDER BY benchmarks.key, printed

-- name: model_notes
-- Remarks on one model, once each: note, specific (on single scores), tasks (titles; none: on the model).
SELECT notes.note, bool_or(notes.specific) AS specific,
       coalesce(list(DISTINCT tasks.title ORDER BY tasks.title) FILTER (tasks.title IS NOT NULL), []) AS tasks
FROM notes LEFT JOIN tasks ON tasks.key = notes.task
WHERE notes.model = $model AND (notes.task = '*' OR EXISTS (
    SELECT 1 FROM runs WHERE runs.model = $model AND runs.task = notes.task))
GROUP BY notes.note ORDER BY specific DESC, notes.note

-- name: differing_facts
-- Where the catalogue keeps another fact of a model than its public model_meta.json: model, title, note.
SELECT model, title, note FROM notes JOIN models ON models.key = notes.model
WHERE notes.task = '*' AND notes.metric <> '' ORDER BY title, note

-- name: benchmarks_of
-- The benchmarks in which a model has a run: title, bibtex.
SELECT DISTINCT benchmarks.key, benchmarks.title, benchmarks.bibtex
FROM runs JOIN tasks ON tasks.key = runs.task JOIN benchmarks ON benchmarks.key = tasks.benchmark
WHERE runs.model = $model ORDER BY benchmarks.key

-- name: calibrations
-- Every model's own distributions of scores, a row a model, domain and pairing: the fields of a `Reference`.
SELECT model, pairing, unrelated, matching, n_unrelated, n_matching, separation, source, synthetic,
       domain, scenes
FROM calibrations ORDER BY model, pairing, domain

-- name: calibration_domains
-- The domains of these distributions, one row a model, domain and modality: record, as analysis.domain has it.
SELECT model, domain, modality, record FROM calibration_domains ORDER BY ALL

-- name: computed_runs
-- Computed runs of one task, one model or both, with the number of its items and its headline.
--
-- One row a run: id, model, title, task, task_title, benchmark, benchmark_title, variant, main, status, device, dtype,
-- seconds, started, coverage, tied (share), items (stored), total (of the task), value, metric, scale, digits, higher;
-- those on the board first.
SELECT runs.id, runs.model, models.title, runs.task, tasks.title AS task_title, tasks.benchmark,
       benchmarks.title AS benchmark_title, coalesce(runs.settings->>'$.variant', '') AS variant, runs.main,
       runs.status, runs.device, runs.dtype,
       runs.seconds, runs.started, try_cast(runs.settings->>'$.coverage' AS DOUBLE) AS coverage,
       try_cast(runs.settings->>'$.tied' AS DOUBLE) AS tied,
       (SELECT count(*) FROM items WHERE items.run = runs.id) AS items,
       try_cast(runs.settings->>'$.items' AS BIGINT) AS total,
       (SELECT coalesce(any_value(value) FILTER (subset = 'default'), avg(value)) FROM scores
        WHERE scores.run = runs.id AND scores.metric = tasks.metrics[1]) AS value,
       metrics.title AS metric, metrics.scale, metrics.digits, metrics.higher_is_better AS higher
FROM runs JOIN models ON models.key = runs.model JOIN tasks ON tasks.key = runs.task
JOIN benchmarks ON benchmarks.key = tasks.benchmark LEFT JOIN metrics ON metrics.key = tasks.metrics[1]
WHERE runs.origin = 'computed' AND runs.task = coalesce(nullif($task, ''), runs.task)
  AND runs.model = coalesce(nullif($model, ''), runs.model)
ORDER BY runs.main DESC, tasks.position, lower(models.title), runs.id

-- name: run
-- One run with its model's and task's titles, as a frame of at most one row.
SELECT runs.*, models.title AS model_title, tasks.title AS task_title, tasks.benchmark,
       (SELECT count(*) FROM items WHERE items.run = runs.id) AS items
FROM runs JOIN models ON models.key = runs.model JOIN tasks ON tasks.key = runs.task WHERE runs.id = $key

-- name: run_scores
-- Every score of one run with its metric's facts, the headline first.
SELECT scores.*, metrics.title, metrics.scale, metrics.digits, metrics.lower, metrics.upper,
       metrics.proportion
FROM scores JOIN metrics ON metrics.key = scores.metric JOIN runs ON runs.id = scores.run
JOIN tasks ON tasks.key = runs.task
WHERE scores.run = $key ORDER BY list_position(tasks.metrics, scores.metric), scores.subset

-- name: items
-- The items of a run without their details: item, subset, expected, answer, correct, value, replied, pictured.
--
-- `replied`: it is a judge's reply. `pictured`: it shows no image, or every image it shows has a thumbnail.
WITH shown AS (
    SELECT item, unnest(from_json(detail->'$.images', '["VARCHAR"]')) AS image FROM items WHERE run = $run
),
incomplete AS (
    SELECT DISTINCT shown.item FROM shown
    LEFT JOIN thumbnails ON thumbnails.task = $task AND thumbnails.image = shown.image
    WHERE shown.image <> '' AND thumbnails.image IS NULL
)
SELECT item, subset, expected, answer, correct, value, (detail->>'$.reply') IS NOT NULL AS replied,
       item NOT IN (SELECT item FROM incomplete) AS pictured
FROM items WHERE run = $run ORDER BY item

-- name: runnable
-- The smallest model of public weights that can be run and has a score on the task: key; at most one row.
--
-- With `text` only models that take texts too, for tasks that show some.
SELECT DISTINCT models.key, models.parameters_m FROM models JOIN runs ON runs.model = models.key
WHERE runs.task = $task AND models.adapter <> '' AND models.weights <> '' AND models.open_weights
  AND list_contains(models.abilities, 'embed_image')
  AND (NOT $text OR list_contains(models.abilities, 'embed_text'))
ORDER BY models.parameters_m NULLS LAST, models.key LIMIT 1

-- ---- judges of pairs

-- name: judged_suites
-- The suites that judges have scores in, in order: key, title, benchmark, description.
SELECT key, title, benchmark, description FROM suites WHERE key IN (
    SELECT suite FROM suite_tasks JOIN tasks ON tasks.key = suite_tasks.task
    JOIN runs ON runs.task = tasks.key WHERE tasks.procedure = 'judging')
ORDER BY position

-- name: judges
-- Every judge with a figure: key, title, kind.
SELECT DISTINCT models.key, models.title, models.kind FROM models JOIN runs ON runs.model = models.key
JOIN tasks ON tasks.key = runs.task WHERE tasks.procedure = 'judging' ORDER BY lower(models.title), models.key

-- name: judged_tasks
-- The splits of a suite in order: key, title, category, images (of two images each), ranked.
SELECT tasks.key, tasks.title, tasks.category, tasks.modalities = ['image'] AS images, tasks.ranked
FROM tasks JOIN suite_tasks ON suite_tasks.task = tasks.key
WHERE suite_tasks.suite = $suite AND tasks.procedure = 'judging' ORDER BY tasks.position

-- name: judged_scores
-- Every shown figure of a suite's judges: model, title, kind, origin, task, subset, metric, value, stderr, low and
-- high (ends of the metric's own 95% interval), bias.
SELECT runs.model, models.title, models.kind, runs.origin, runs.task, scores.subset, scores.metric,
       scores.value, scores.stderr, scores.low, scores.high, scores.bias
FROM scores JOIN runs ON runs.id = scores.run JOIN models ON models.key = runs.model
JOIN tasks ON tasks.key = runs.task JOIN suite_tasks ON suite_tasks.task = runs.task
WHERE suite_tasks.suite = $suite AND runs.main AND tasks.procedure = 'judging'
ORDER BY lower(models.title), runs.model, runs.origin, tasks.position, scores.metric, scores.subset

-- name: judged_runs
-- The computed runs of one of a suite's judges that have ratings: settings (JSON), seconds, total (pairs that it
-- should rate), stored (pairs with ratings).
SELECT runs.settings, runs.seconds, counted.pairs AS stored,
       coalesce(try_cast(runs.settings->>'$.items' AS BIGINT), counted.pairs) AS total
FROM runs JOIN tasks ON tasks.key = runs.task JOIN suite_tasks ON suite_tasks.task = runs.task
JOIN (SELECT run, count(*) AS pairs FROM ratings GROUP BY run) AS counted ON counted.run = runs.id
WHERE suite_tasks.suite = $suite AND runs.model = $model AND runs.main AND runs.origin = 'computed'
  AND tasks.procedure = 'judging'
ORDER BY tasks.position

-- name: flips
-- The pairs that a page can open whose two scores are farthest apart, of one judge; the largest difference first.
--
-- One row a pair: task, item, condition, type, expected_score, forward, reverse, detail (JSON).
SELECT runs.task, items.item, items.subset AS condition, coalesce(items.detail->>'$.type', '') AS type,
       try_cast(items.expected AS INTEGER) AS expected_score,
       try_cast(split_part(items.answer, ' | ', 1) AS INTEGER) AS forward,
       try_cast(split_part(items.answer, ' | ', 2) AS INTEGER) AS reverse, items.detail
FROM items JOIN runs ON runs.id = items.run JOIN tasks ON tasks.key = runs.task
JOIN suite_tasks ON suite_tasks.task = runs.task
WHERE suite_tasks.suite = $suite AND runs.main AND tasks.procedure = 'judging'
  AND runs.model = $model AND runs.task IN (SELECT unnest($tasks))
  AND items.value > 0 AND items.detail IS NOT NULL
  AND least(expected_score, forward, reverse) >= 1 AND greatest(expected_score, forward, reverse) <= 10
  AND forward IS NOT NULL AND reverse IS NOT NULL AND expected_score IS NOT NULL
ORDER BY abs(forward - reverse) DESC, runs.task, items.item LIMIT $most

-- name: ratings
-- Every pair that a judge of a suite rated, as both orders were.
--
-- One row a pair: task, condition, source, type, expected_score, forward, reverse (NaN: no score), template (NaN: of a
-- model without a prompt), forward_problem, reverse_problem (empty: a score; missing: no score, and no reason stated).
SELECT runs.task, subset AS condition, ratings.source, type, expected AS expected_score, forward::FLOAT AS forward,
       reverse::FLOAT AS reverse, template::FLOAT AS template,
       coalesce(forward_problem::VARCHAR, if(forward IS NULL, 'missing', '')) AS forward_problem,
       coalesce(reverse_problem::VARCHAR, if(reverse IS NULL, 'missing', '')) AS reverse_problem
FROM ratings JOIN runs ON runs.id = ratings.run JOIN tasks ON tasks.key = runs.task
JOIN suite_tasks ON suite_tasks.task = runs.task
WHERE suite_tasks.suite = $suite AND runs.main AND tasks.procedure = 'judging' AND runs.model = $model ORDER BY ALL

-- name: votes
-- What judges answered of pairs that people voted on: origin, task, judge, item, human, answer (NULL: unreadable).
SELECT origin, task, judge, item, human::VARCHAR AS human, answer::VARCHAR AS answer FROM votes ORDER BY ALL

-- name: pictured_pairs
-- The small pictures of a suite's pairs: task, image.
SELECT task, image FROM thumbnails WHERE task IN (SELECT task FROM suite_tasks WHERE suite = $suite)

-- ---- sets of generators that were computed

-- name: generator_sets
-- Suites with scores of computed generators under a backbone, by their first such task: suite, title (of the suite),
-- benchmark, description, task, n_items, metrics, scored (of these), subsets, paired; in order.
--
-- `paired`: image i of every generator was made from prompt i. Grids of backbones, a task a backbone, are not among
-- them.
SELECT suites.key AS suite, suites.title, suites.benchmark, suites.description, tasks.key AS task,
       tasks.n_items, tasks.metrics, tasks.subsets,
       [metric FOR metric IN tasks.metrics IF list_contains(own.metrics, metric)] AS scored,
       list_contains(tasks.modalities, 'text') AS paired
FROM suites JOIN suite_tasks ON suite_tasks.suite = suites.key JOIN tasks ON tasks.key = suite_tasks.task
JOIN (SELECT runs.task, list(DISTINCT scores.metric) AS metrics FROM scores JOIN runs ON runs.id = scores.run
      JOIN models ON models.key = runs.model
      WHERE runs.main AND runs.origin = 'computed' AND models.kind = 'generator' AND scores.subset <> 'default'
      GROUP BY runs.task) AS own ON own.task = tasks.key
WHERE tasks.procedure <> 'cfred-grid'
QUALIFY row_number() OVER (PARTITION BY suites.key ORDER BY tasks.position) = 1 ORDER BY suites.position

-- name: generator_runs
-- The generators of a set, one run each: id, model, title, settings (JSON).
SELECT runs.id, runs.model, models.title, runs.settings
FROM runs JOIN models ON models.key = runs.model WHERE runs.main AND runs.origin = 'computed' AND models.kind = 'generator' AND runs.task = $task ORDER BY runs.model

-- name: generator_scores
-- Every figure of a set: run, metric, subset (a backbone; `default` for all of the task), value, n.
SELECT scores.run, scores.metric, scores.subset, scores.value, scores.n
FROM scores JOIN runs ON runs.id = scores.run JOIN models ON models.key = runs.model
WHERE runs.main AND runs.origin = 'computed' AND models.kind = 'generator' AND runs.task = $task ORDER BY scores.run, scores.metric, scores.subset

-- name: generator_pairs
-- cFreD of every generator under every pair of backbones: suite, title (of the suite), benchmark, model, subset,
-- value.
SELECT suites.key AS suite, suites.title, suites.benchmark, runs.model, scores.subset, scores.value FROM scores JOIN runs ON runs.id = scores.run JOIN models ON models.key = runs.model
 JOIN tasks ON tasks.key = runs.task
 JOIN suite_tasks ON suite_tasks.task = runs.task JOIN suites ON suites.key = suite_tasks.suite
 WHERE runs.main AND runs.origin = 'computed' AND models.kind = 'generator'
AND scores.metric = 'cfred' AND contains(scores.subset, '|')
ORDER BY suites.position, tasks.position, scores.subset, runs.model

-- name: generator_ratings
-- What people think of them, or the known order of drawn ones: suite, model, metric (human_rate, elo, human_rank or
-- strength), value.
SELECT suites.key AS suite, runs.model, scores.metric, any_value(scores.value) AS value FROM scores JOIN runs ON runs.id = scores.run JOIN models ON models.key = runs.model
 JOIN tasks ON tasks.key = runs.task
 JOIN suite_tasks ON suite_tasks.task = runs.task JOIN suites ON suites.key = suite_tasks.suite
 WHERE runs.main AND runs.origin = 'computed' AND models.kind = 'generator'
AND list_contains($metrics, scores.metric) GROUP BY ALL
UNION ALL
SELECT DISTINCT suites.key, runs.model, 'strength', CAST(runs.settings->>'$.model.strength' AS DOUBLE) FROM scores JOIN runs ON runs.id = scores.run JOIN models ON models.key = runs.model
 JOIN tasks ON tasks.key = runs.task
 JOIN suite_tasks ON suite_tasks.task = runs.task JOIN suites ON suites.key = suite_tasks.suite
 WHERE runs.main AND runs.origin = 'computed' AND models.kind = 'generator'
AND runs.settings->>'$.model.strength' IS NOT NULL
ORDER BY 1, 2

-- ---- the database's own form

-- name: names
-- What a visitor's query can be about, by its key or title: name.
SELECT key AS name FROM tasks UNION SELECT title FROM tasks UNION SELECT category FROM tasks
UNION SELECT key FROM models UNION SELECT title FROM models UNION SELECT key FROM metrics
UNION SELECT key FROM suites UNION SELECT key FROM benchmarks UNION SELECT origin FROM runs
UNION SELECT subset FROM scores

-- name: everything
-- The whole contract view: one row a score.
SELECT * FROM leaderboard_scores ORDER BY benchmark, task, model, origin, subset, metric

-- name: columns
-- Every column of every table and view in its order: table_name, column_name, data_type.
SELECT table_name, column_name, data_type FROM duckdb_columns()
WHERE NOT internal ORDER BY table_name, column_index

-- name: item_details
-- The details of some items of a run as JSON text: item, detail; items without one are skipped.
SELECT item, detail FROM items
WHERE run = $run AND item IN (SELECT unnest($names)) AND detail IS NOT NULL

-- name: pictured
-- Which of a task's images have a thumbnail: image.
SELECT image FROM thumbnails WHERE task = $task AND image IN (SELECT unnest($images))

-- name: thumbnail
-- One thumbnail as WebP.
SELECT webp FROM thumbnails WHERE task = $task AND image = $image

-- ---- laboratories

-- name: measured
-- Every value of a model on data that anyone measured: the view's columns.
SELECT * FROM measured

-- name: measured_by_several
-- Values of models on data that several origins measured: the view's columns.
FROM measured
SEMI JOIN (SELECT data, subset, model FROM measured GROUP BY ALL HAVING min(origin) <> max(origin))
USING (data, subset, model)

-- name: laboratories
-- Who measured imported scores, by which harness.
SELECT * FROM laboratories

-- name: protocols
-- How harnesses measure: data, harness, aspect, value, certainty, source.
SELECT * FROM protocols
