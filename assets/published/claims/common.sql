-- What the claims of all papers are stated with. It finds:
--   "unisim-table-2", ...   each table as printed, its numbers as numbers, with `row` and the `key` of the model
--   printed                 their cells: source, row, place (of the column), model, key, "group", heading, text, value
--   columns, tasks          columns.csv, and the catalogue's tasks
--   public_files            the results of others, of the models and tasks that MIEB's tables have
-- A number that cannot be read, and one that is not printed, is NULL.

CREATE MACRO whole_mean(cell) AS CASE WHEN count(cell) = count(*) THEN avg(cell) END;

CREATE MACRO compared(name, score, other, place) AS
    string_agg(name || ' ' || rounded(score, 1) || ' against ' || rounded(other, 1), ', ' ORDER BY place);

-- A claim on correlations holds if every interval lies within what is claimed, not if one is wholly outside.
CREATE MACRO by_intervals(within, excluded) AS CASE
    WHEN bool_or(excluded) THEN 'conflict'
    WHEN bool_and(coalesce(within, false)) THEN 'reproduces'
    ELSE 'not significant' END;

CREATE TABLE score_columns AS
SELECT c."table" AS source, c."column" AS heading, t.category, t.n_items::INT AS n_items,
       list_contains(t.suites, 'mieb-lite') AS lite
FROM columns c JOIN tasks t ON t.key = c.task WHERE c.role = 'score' AND c.subset <> 'average';

CREATE TABLE cells AS FROM printed JOIN score_columns USING (source, heading);

-- The columns that an average is of; of a table in halves, those of one.
CREATE TABLE parts (source TEXT, "group" TEXT, average TEXT, "of" TEXT, heading TEXT);

CREATE VIEW averages AS
SELECT a.source, a."group", a.row, a.place, a.model, a.heading, a.text, whole_mean(b.value) AS value, count(*) AS count,
       if(count(DISTINCT parts."of") > 1, 'Tables ', 'Table ')
           || string_agg(DISTINCT split_part(parts."of", '-', 3), ' and ' ORDER BY split_part(parts."of", '-', 3)) AS tables
FROM parts
JOIN printed a ON a.source = parts.source AND a.heading = parts.average
    AND a."group" = coalesce(parts."group", a."group")
LEFT JOIN printed b ON b.source = parts."of" AND b.heading = parts.heading
    AND CASE WHEN parts."of" = parts.source THEN b.row = a.row ELSE b.key = a.key END
GROUP BY ALL;
