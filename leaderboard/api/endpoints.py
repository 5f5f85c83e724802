"""The functions behind all programs: routes of API v1, tools of language models (MCP) and the Python client.

Their annotations, so not postponed here, and docstrings are what programs are told of them, by `schemas`.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from leaderboard.api import pairs, records
from leaderboard.api.schemas import Functions
from leaderboard.data.shortlist import Conditions
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.data.visitors import sandbox
from leaderboard.live.live import Live


def functions(suite_cache: SuiteCache, live: Live) -> Functions:
    """Every function by its name. Each answers in plain JSON values, from one file of the database."""

    def choose_model(
        need: str,
        language: str = "",
        max_parameters: float = 0,
        open_weights: bool = False,
        license: str = "",
        suite: str = "",
        smallest_first: bool = False,
    ) -> dict[str, Any]:
        """Chooses models for a need: the best that fits, the runner-up and whether it is significantly worse.

        Needs are search (retrieval: find images by text or by image), documents (find pages), general (embed images for
        many uses), classification, clustering, text-in-images (compare texts shown as images), similarity (which of two
        images is more similar to a third), alignment (which image fits a text), quality (of images) and judge (rate
        pairs with a vision-language model).

        Args:
            need: one of these words, such as search.
            language: of the texts, such as swa or Swahili, or several with commas between; many: over many languages.
                Empty: any.
            conditions: of the model
            suite: key of another suite to choose by; list_suites names them. Empty: the usual one for the need.
            smallest_first: of models that are not significantly worse than the best, the smallest first.

        Returns:
            answer (string): the result as a sentence
            need (string): what was asked for
            suite (string): the suite of tasks behind the means
            origin (string): of the scores: published, imported, computed or imported:NAME
            unit (string): of means and differences
            tasks (integer): how many count
            ranked (integer): models with a rank on these tasks
            fitting (integer): those of them that meet every condition
            unknown_size (integer): excluded only because no source states their size
            unknown_license (integer): excluded only because no source states their licence
            ties (integer): fitting models that are not significantly worse than the best, the best included
            best (object): the fitting model with the highest mean, as in shortlist; null where none fits
            runner_up (object): the next by its mean, as in shortlist
            shortlist (array): at most five that are not significantly worse, the best first; each has model (a key),
                title, parameters, dimension, open_weights, license, released, rank (among all), mean, difference
                from the best with low and high (95% interval of this pair alone) over shared_tasks, significantly_worse
                (after correction for all pairs of the board; null: the best, or not tested), trained (on data of these
                tasks), and of several languages weakest_language with its weakest_mean
        """
        wanted = Conditions(
            language=language, max_parameters=max_parameters, open_weights=open_weights, license=license
        )
        return records.choice(suite_cache, need, wanted, suite=suite, smallest=smallest_first)

    def compare_models(
        models: list[str] | str, suite: str = "", origin: str = "", tasks: bool = False
    ) -> dict[str, Any]:
        """Compares two to six models: paired differences from the first by mean and category, and whether they are
        significant.

        Args:
            models: keys, as a list or with commas between; search finds them. The others are compared with the first.
            suite: key of a suite; list_suites names them. Empty: the one in which they share most tasks.
            origin: published, imported or computed scores. Empty: as for suite.
            tasks: also each task.

        Returns:
            answer (string): the result in words
            suite (string): the suite of tasks
            origin (string): of the scores; all: of several origins
            models (array): model (its key), title, parameters, dimension, open_weights, license and released of each
            lines (array): the mean, then categories, then tasks where asked for; each has kind (mean, category, task),
                key, title, higher_is_better, unit, values (model, value, low and high of its 95% interval) and
                differences of the other models from the first (model, difference, low, high, p by itself, shared_tasks,
                significant after correction, why it is not known)
        """
        return records.comparison(suite_cache, pairs.keys_of(models), suite=suite, origin=origin, tasks=tasks)

    def leaderboard(
        suite: str,
        limit: int = 20,
        origin: str = "",
        license: str = "",
        released: str = "",
        trained: str = "",
        max_parameters: float = 0,
        open_weights: bool = False,
    ) -> list[dict[str, Any]]:
        """Ranks the models of one suite as the board shows them, the best first, with the uncertainty of every rank.

        Ranks count among rows of one origin; a filter changes no rank.

        Args:
            suite: key of a suite, such as mieb or unisim-core; list_suites names them.
            limit: how many rows from the top, 1 to 1000.
            origin: published, imported, computed or imported:NAME. Empty: that of most models with every task.
            released: only models of these years, commas between, such as 2024,2025; unknown: not stated.
            trained: only models with these answers, commas between: yes, no, unknown.
            conditions: of the model

        Returns:
            rank (integer): 1 is the best; null where the row has no rank
            rank_low (integer): of an interval that holds the rank in at least 95%
            rank_high (integer): of the same
            tie_class (string): no two models of one letter differ significantly
            model (string): its key in other calls
            title (string): its name
            kind (string): encoder, metric, mllm, generator or distribution
            facts: of the model
            origin (string): published, imported, computed or imported:NAME
            mean (number): what the suite ranks by
            mean_low (number): of its 95% interval; at least 95% where few_tasks
            mean_high (number): of the same
            few_tasks (boolean): the interval of the mean rests on few tasks
            interval_unknown (string): why there is neither interval nor class
            unit (string): of means and scores
            scores (object): by category, in the unit the papers print
            coverage (number): share of the tasks with a score
            covered (number): that plus the tasks covered by a printed mean: what a row needs to be ranked
            why (string): it is not ranked
            trained_on (array): categories with data that the model was trained on
            trained (string): on any data set of the suite: yes, no, or unknown, where no source states its training
                data, which is not zero-shot
            source (string): the papers' tables, or runs
            synthetic (boolean): a program drew the items
        """
        wanted = Conditions(max_parameters=max_parameters, open_weights=open_weights, license=license)
        filters = {"released": released, "trained": trained}
        return records.leaderboard(suite_cache, suite, limit=limit, origin=origin, wanted=wanted, filters=filters)

    def list_models(
        mode: str = "", all: bool = False, max_parameters: float = 0, open_weights: bool = False, license: str = ""
    ) -> list[dict[str, Any]]:
        """Lists the models that score_pair can use on this server.

        Many more have published scores: see leaderboard, search and model_scores.

        Args:
            mode: pair, choice, odd or quality: only models that can compare in this way. Empty: all of these.
            all: also models that are not ready: their weights are not downloaded, or they cannot run here.
            conditions: of the model

        Returns:
            key (string): the model's name in other calls
            title (string): its name
            kind (string): encoder, metric or mllm
            abilities (array): what it can do
            state (string): ready; download: its weights are not downloaded yet; impossible
            reason (string): why it is not ready
            facts: of the model
        """
        rows = [row for row in live.roster.records(mode) if all or row["state"] == "ready"]
        wanted = Conditions(max_parameters=max_parameters, open_weights=open_weights, license=license)
        return records.models(suite_cache, rows, wanted)

    def model_facts(max_parameters: float = 0, open_weights: bool = False, license: str = "") -> list[dict[str, Any]]:
        """Lists every model with what is known of it beside its scores.

        Args:
            conditions: of the model

        Returns:
            key (string): the model's name in other calls
            title (string): its name
            organisation (string): who made it
            kind (string): encoder, metric, mllm, generator or distribution
            facts: of the model
            address (string): of its page, below the app's root
            weights (string): their address; empty: not on the Hub
            scored (boolean): it has scores here
        """
        wanted = Conditions(max_parameters=max_parameters, open_weights=open_weights, license=license)
        return records.catalogue(suite_cache, wanted)

    def list_suites() -> list[dict[str, Any]]:
        """Lists the suites of tasks on which models are ranked, each a table that leaderboard returns.

        Returns:
            key (string): how other calls name the suite
            title (string): its name
            benchmark (string): where it comes from
            tasks (integer): how many
            ranked_by (string): what the rank is of
            description (string): what it asks
            paper (string): its address
            synthetic (boolean): a program drew the items, so the scores say nothing about photographs
        """
        return records.suites(suite_cache)

    def model_scores(model: str, suite: str = "", origin: str = "") -> list[dict[str, Any]]:
        """Lists a model's scores, one record a task and metric.

        Args:
            model: key of a model; search finds it.
            suite: only the tasks of this suite; list_suites names them. Empty: all tasks.
            origin: published, imported, computed or of one laboratory (imported:NAME). Empty: all.

        Returns:
            score: of the task
            suite (string): the first that has the task
            facts: of the model
        """
        return records.model_scores(suite_cache, model, suite=suite, origin=origin)

    def suite_scores(suite: str, origin: str = "", metric: str = "") -> list[dict[str, Any]]:
        """Lists all scores of a suite, one record a model, task and metric; of large suites some thousand.

        Args:
            suite: key of a suite; list_suites names them.
            origin: published, imported, computed or of one laboratory (imported:NAME). Empty: all.
            metric: key of a metric, such as relax_sym. Empty: all.

        Returns:
            score: of the task
        """
        return records.suite_scores(suite_cache, suite, origin=origin, metric=metric)

    def task_scores(task: str, origin: str = "", metric: str = "") -> dict[str, Any]:
        """Lists a task's scores of all models, the best first, with what is known to be wrong with the task.

        Args:
            task: key of a task; search finds it.
            origin: published, imported, computed or of one laboratory (imported:NAME). Empty: all.
            metric: key of a metric. Empty: all.

        Returns:
            task (string): its key
            title (string): its name
            doubt (string): why its scores should not decide a rank, or what else is doubtful; empty: nothing
            unknown (string): why there are no scores by the metric, and the nearest there are; empty: there are some
            faults (array): known faults of its data; each has fault, effect, certainty, source and date
            scores (array): each with the fields of suite_scores
        """
        return records.task_scores(suite_cache, task, origin=origin, metric=metric)

    def replication(model: str = "", task: str = "") -> list[dict[str, Any]]:
        """Lists values that two laboratories measured of the same weights on the same data, and why they may differ.

        Args:
            model: key of a model; search finds it. Empty: all, some thousand records.
            task: key of a task. Empty: all.

        Returns:
            model (string): its key
            data (string): the data set, under one name for all laboratories
            title (string): its name
            a (string): the first origin: published, imported, computed or imported:NAME
            task_a (string): the task's key there
            metric_a (string): key of the metric
            value_a (number): in points of 100
            source_a (string): where it is printed
            b (string): the second origin
            task_b (string): as of the first
            metric_b (string): as of the first
            value_b (number): as of the first
            source_b (string): as of the first
            difference (number): b less a
            subsets (integer): whose mean both values are; 0: of the whole task
            causes (array): in what the two differ; each has aspect, a, b, certainty (known, likely) and source
        """
        return records.replicated(suite_cache, model=model, task=task)

    def query(sql: str) -> dict[str, Any]:
        """Answers one read-only SELECT (DuckDB) over the whole database, within a second.

        SHOW TABLES lists the tables; leaderboard_scores has one score a row, with suite, task, model, metric, value and
        origin, and models their facts. Proportions are fractions: 0.851 for 85.1%.

        Args:
            sql: one SELECT of at most 6000 characters.

        Returns:
            columns (array): name, type and numeric of each
            rows (array): values, at most 10000 rows
            truncated (string): what is missing from a large answer; empty: nothing
            cells (integer): how many texts were shortened to 1000 characters
            seconds (number): that it took
            hint (string): names in a query without rows that the database does not have, and the nearest ones
        """
        return sandbox.answer(suite_cache.db, sql)

    def score_pair(first: str, second: str, models: list[str] | str = "", request: Any = None) -> list[dict[str, Any]]:
        """Scores how similar two inputs are to some models: two images, two texts, or an image and a text.

        Scores of different models cannot be compared. Images have at most 8 MB. Nothing that is sent is written to
        disk, and no address is fetched.

        Args:
            first: a text, an image as data:image/png;base64,... or one of the app's examples as example:KEY.
            second: the same.
            models: keys, as a list or with commas between; list_models names them. Empty: the server's choice.

        Returns:
            model (string): its key
            title (string): its name
            pairing (string): image-image, image-text or text-text
            score (number): of the model; null: see problem
            score_is (string): what the score is
            percentile (number): where it lies among calibration pairs; null: see no_percentile
            reading (string): what that says
            above_unrelated (number): share of unrelated pairs below it
            above_matching (number): share of matching pairs below it
            no_percentile (string): why there is none
            problem (string): why there is no score
            note (string): what was changed in an input, such as transparent parts shown on white
            published (array): the model's published scores for this kind of question
            facts: of the model
        """
        live.admit(request)
        return pairs.score_pair(suite_cache, live, first, second, models, request=request)

    def search(query: str, kind: str = "", limit: int = 10) -> list[dict[str, Any]]:
        """Finds models, suites, metrics, tasks and more by words of their names, also misspelt ones.

        Only models have parameters and the fields after it.

        Args:
            query: a few words, such as siglip so400m.
            kind: models, suites, metrics, languages, tasks, claims or docs. Empty: all.
            limit: how many at most.

        Returns:
            kind (string): as above
            key (string): its name in other calls
            title (string): its name
            note (string): about it
            address (string): of its page, below the app's root
            facts: of the model
        """
        return records.search(suite_cache, query, kind=kind, limit=limit)

    of_models = (choose_model, compare_models, leaderboard, list_models, model_facts, model_scores, score_pair)
    of_scores = (list_suites, suite_scores, task_scores, replication)
    return {each.__name__: _snapshot(suite_cache, each) for each in (*of_models, *of_scores, query, search)}


def _snapshot(suite_cache: SuiteCache, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def answer(**given: Any) -> Any:
        with suite_cache.db.snapshot():
            return _plain(function(**given))

    return answer


def _plain(value: Any) -> Any:
    """The value as JSON has it: numpy's numbers would arrive as text, and JSON has no NaN."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(item) for item in value]
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not math.isfinite(value) else value
