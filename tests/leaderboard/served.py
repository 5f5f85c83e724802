"""Databases to serve, and the app's own routes in a test client, without Gradio's pages around them."""

import os
import shutil

import duckdb
import gradio as gr
from starlette.applications import Starlette
from starlette.testclient import TestClient

from compute.catalog import shipped
from compute.database.build import build
from compute.importing import collection, read_scores_csv
from leaderboard.live.live import Live
from leaderboard.page import Site
from leaderboard.server import routes


def client(suite_cache, *, raises=True):
    """Every route that the pages hand to the server; with `raises`, an error that no boundary caught fails the test."""
    site = Site(db=suite_cache.db, suite_cache=suite_cache, blocks=gr.Blocks(), assets="", live=Live())
    return TestClient(Starlette(routes=routes(site)), raise_server_exceptions=raises)


def with_scores(folder, lines):
    """A database of the shipped figures and of scores imported from a file of these lines."""
    (folder / "scores.csv").write_text("\n".join(lines))
    found = read_scores_csv(folder / "scores.csv", catalog=shipped())
    collection.save(found, name="scores-more", folder=folder / "results" / "imported")
    return build(folder / "likeness.duckdb", results=folder / "results").path


def rebuild(path, statement="UPDATE models SET title = 'Rebuilt' WHERE key = 'dreamsim-ensemble'"):
    """Replaces a database by itself after a statement, as a build does."""
    draft = path.with_name("draft.duckdb")
    shutil.copyfile(path, draft)
    with duckdb.connect(draft) as connection:
        connection.execute(statement)
    os.replace(draft, path)
