"""Databases to serve, and the app's own routes in a test client, without Gradio's pages around them."""

import os
import shutil

import duckdb
import gradio as gr
from starlette.applications import Starlette
from starlette.testclient import TestClient

from compute.catalog import shipped
from compute.importing import collection, read_scores_csv
from leaderboard.live.live import Live
from leaderboard.page import Site
from leaderboard.server import routes
from tests.leaderboard import generator_stand_ins, grid_stand_ins, judge_stand_ins, stand_ins

HOSTILE = '<img src=x onerror="window.harmed=1">${window.harmed=1}{{7*7}}'  # a model's title, out of an imported file


def client(suite_cache, *, raises=True):
    """Every route that the pages hand to the server; with `raises`, an error that no boundary caught fails the test."""
    site = Site(db=suite_cache.db, suite_cache=suite_cache, blocks=gr.Blocks(), assets="", live=Live())
    return TestClient(Starlette(routes=routes(site)), raise_server_exceptions=raises)


def everything(folder):
    """The shipped figures, and beside them: a small import with a hostile title, runs of stand-in models and judges,
    a rated set of generators, and one under a grid of backbones."""
    catalog = shipped()
    tasks = [task for task in catalog.tasks if "unisim-core" in task.suites]
    lines = ["benchmark,model,task,metric,value,model_title,model_kind,n,source"]
    title = '"' + HOSTILE.replace('"', '""') + '"'
    for at, task in enumerate(tasks):
        where = f"{task.key},{task.metrics[0]}"
        lines.append(f"unisim,example/hostile,{where},0.{60 + at},{title},encoder,1000,Example file")
        lines.append(f"unisim,openai/clip-vit-base-patch32,{where},0.{65 + at},,,,Example file")
    table = folder / "example.csv"
    table.write_text("\n".join(lines) + "\n")
    results = folder / "results"
    collection.save(read_scores_csv(table, catalog=catalog), name="scores-example", folder=results / "imported")
    stand_ins.make(results)
    judge_stand_ins.make(results)
    generator_stand_ins.make(results)
    grid_stand_ins.make(results)
    made_up = {row.key: row for row in (*stand_ins.MODELS, *judge_stand_ins.MODELS)}
    return stand_ins.database(folder, models=[*made_up.values()])


def copied(table, where, **changes):
    """The statement that adds a table's rows once more, with these changes."""
    replaced = ", ".join(f"{value} AS {name}" for name, value in changes.items())
    return f"INSERT INTO {table} SELECT * REPLACE ({replaced}) FROM {table} WHERE {where}"


def rebuild(path, statement="UPDATE models SET title = 'Rebuilt' WHERE key = 'dreamsim-ensemble'"):
    """Replaces a database by itself after a statement, as a build does."""
    draft = path.with_name("draft.duckdb")
    shutil.copyfile(path, draft)
    with duckdb.connect(draft) as connection:
        connection.execute(statement)
    os.replace(draft, path)
