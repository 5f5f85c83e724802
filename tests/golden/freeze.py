"""What people and programs get, as it was: pages with their figures, payloads, exports, endpoints, databases, answers.

    python -m tests.golden.freeze [SECTION ...]            compares, and prints what differs
    python -m tests.golden.freeze [SECTION ...] --write    writes the files anew, in the commit that explains it

A section is a file `freeze/<section>.json.xz` of named documents. It is read from the outside: by the pages' addresses,
as a browser opens them, by the routes, the endpoints and the functions of `compute`. There are three databases:
`shipped`; `computed`, with the drawn tasks run by two small models; `made`, with a table of 60 models. Of the second
and third only what differs from the first is stored. Statistics agree to 1e-12, what models computed to 1e-5, since
processors differ.
"""

import difflib
import inspect
import json
import lzma
import math
import re
import shutil
import sys
import tempfile
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path

import duckdb
import numpy as np
from PIL import Image

from tests.golden.site import site

HERE = Path(__file__).parent / "freeze"
EXACT, COMPUTED = 1e-12, 1e-5  # relative
SECTIONS = ("pages", "payloads", "database", "answers", "generators", "tables", "python")
FORMS = ("csv", "parquet", "json", "markdown", "latex", "bibtex")
DIGESTED = {  # what a row is counted by, and its content
    "items": ("run, subset", "(item, expected, answer, correct, value, detail)"),
    "thumbnails": ("task", "(image, md5(webp))"),
    "calibration_domains": ("model, domain, modality", "md5(record::VARCHAR)"),
}
MACHINE = {("meta", "value"), ("runs", "seconds"), ("runs", "started"), ("runs", "code"), ("runs", "settings")}
PLAIN = (str, int, float, bool, type(None))
FINGERPRINT = re.compile(r"(?<![0-9a-f])[0-9a-f]{20}(?![0-9a-f])")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")

# Tasks of the drawn suites that the two smallest models run in a second or two each.
RUNS = {
    "mini": ("mini/image-choice", "mini/odd-one-out", "mini/instances", "mini/shapes"),
    "mini-pairs": ("mini/pairs-r",),
}
# What every page is opened with, besides nothing.
QUERIES = {
    "choose": (
        "need=quality&license=permissive&size=1b",
        "need=documents&hardware=gpu8",
        "need=classification&language=swa",
        "need=judge",
        "need=documents&size=1b&license=stated",
        "need=general",
        "need=clustering",
        "need=text-in-images",
        "need=similarity",
        "need=alignment",
        "need=quality",
        "need=similarity&size=500m&license=stated",
        "need=judge&size=1b",
        "need=judge&size=1.5%20B&hardware=gpu80",
        "need=generators",
    ),
    "compare": (
        "models=google/siglip-so400m-patch14-384,openai/clip-vit-large-patch14",
        "models=google/siglip-so400m-patch14-224,openai/clip-vit-large-patch14-336",
        "models=dreamsim-ensemble,openai/clip-vit-large-patch14-336",
        "models=google/siglip-so400m-patch14-384,openai/clip-vit-large-patch14&origin=published",
        "suite=mieb&models=openai/clip-vit-large-patch14~published,openai/clip-vit-large-patch14~imported",
        "suite=mieb&models=google/siglip-so400m-patch14-384,openai/clip-vit-large-patch14,dreamsim-ensemble",
        "suite=mieb&language=swa&models=google/siglip-so400m-patch14-384,openai/clip-vit-large-patch14",
        "models=google/siglip-so400m-patch14-384,quansun/eva02-clip-bige-14-plus&w=Clustering:0",
        "models=google/siglip-so400m-patch14-384,quansun/eva02-clip-bige-14-plus&w=Clustering:x",
        "models=google/siglip-so400m-patch14-384,quansun/eva02-clip-bige-14-plus&by=Clustering&w=Retrieval:2",
        "models=google/siglip-so400m-patch14-384,quansun/eva02-clip-bige-14-plus&w=IQA:3&tasks=unisim/nights&condition=sensitive",
        "suite=cfred-coco&models=black-forest-labs/flux.1-dev,stabilityai/stable-diffusion-3-medium",
        "suite=mieb&models=google/siglip-so400m-patch14-384,dreamsim-ensemble",
        "models=dreamsim-ensemble,black-forest-labs/flux.1-dev",
        "models=google/siglip-so400m-patch14-224,openai/clip-vit-large-patch14-336&by=IQA",
        "models=google/siglip-so400m-patch14-224,openai/clip-vit-large-patch14-336&by=unisim/nights",
        "models=google/siglip-so400m-patch14-384,openai/clip-vit-large-patch14&by=mieb/stl10",
        "models=google/siglip-so400m-patch14-384",
        "suite=mieb&models=google/siglip-so400m-patch14-384,openai/clip-vit-large-patch14",
        "suite=unisim-core&models=openai/clip-vit-large-patch14,dreamsim-ensemble,ssim,gpt-4o-2024-08-06",
    ),
    "correlations": (
        "suites=mieb-lite&level=tasks&method=kendall",
        "suites=unisim-core,unisim-ood&group=specialised&origin=published",
        "suites=mieb&level=tasks&origin=all",
        "suites=mieb&origin=computed",
        *(f"preset={name}" for name in ("unisim-3a", "mieb-tasks", "pairbench", "cfred", "across")),
    ),
    "map": ("of=models&suites=unisim-core,unisim-ood", "of=tasks&suites=pairbench&colour=license"),
    "smaller-suite": ("suite=unisim-core", "suite=mieb&size=15", "suite=mieb-lite"),
    "cost": ("suite=mieb-lite&axis=dimension&model=openai/clip-vit-base-patch32", "suite=vidore-v3&axis=age"),
    "judges": ("suite=mini-pairs", "judge=gpt-4o-2024-11-2", "splits=images&judge=gpt-4o-2024-08-06"),
    "generators": ("metric=fid&set=mini-generators", "metric=clipscore&set=hpdv2"),
    "model": (
        "model=google/siglip-so400m-patch14-384&suite=mieb&by=task",
        "model=gpt-4o-2024-08-06",
        "model=tiny",
        "model=dreamsim-ensemble",
        "model=openai/clip-vit-base-patch23",
        "model=royokong/e5-v",
        "model=xswu/hpsv2",
        "model=black-forest-labs/flux.1-dev",
        "model=cfred",
        "model=wordllama",
        "model=gemini-1.5-flash",
        "model=unisim-vit-l-14&suite=mieb",
        "model=unisim-vit-l-14&suite=unisim-core",
    ),
    "task": (
        "task=unisim/nights",
        "task=pairbench/coco-cj",
        "task=mieb/cifar10",
        "task=mieb/winoground",
        "task=mini/photographs",
        "task=mini/shapes",
        "task=mieb/stl11",
    ),
}
ADDRESSES = (
    "/data/search",
    "/api/v1/models",
    "/data/claims",
    "/data/models",
    "/data/tasks",
    "/data/rank/unisim-core?w=IQA:3",
    "/data/rank/unisim-core?coverage=0",
    "/data/rank/unisim-core?tasks=unisim/nights,unisim/bapps",
    "/data/rank/mieb?coverage=0.5&w=Retrieval:2",
    "/data/relations?suites=unisim-core,unisim-ood",
    "/data/rank/unisim-core?w=IQA:0",
    "/data/rank/unisim-core?w=IQA:0,IT-2AFC:2",
    "/data/rank/unisim-core?w=IQA:0.25,Img-2AFC:3",
    "/data/rank/unisim-core?w=Img-2AFC:2,IT-2AFC:2,Text-2AFC:2,IQA:2",
    "/data/rank/unisim-core?w=IQA:2&tasks=unisim/nights,unisim/bapps&coverage=0",
    "/data/rank/mieb?w=Multilingual Retrieval:0,Visual STS (cross %26 multi):0",
    "/data/rank/cfred-hpdv2?coverage=0.5",
    "/data/task?task=unisim/nights",
    "/data/task?task=cfred/coco",
    "/data/model?model=unisim-vit-l-14",
    "/data/model?model=tiny",
    "/data/task?task=mini/pairs-r",
    "/data/cell/mini-pairs?row=tiny~computed&column=mini/pairs-r",
    "/data/rank/unisim-core?tasks=unisim/nights",
    "/data/cell/mieb?row=google/siglip-so400m-patch14-384~imported&column=mieb/stl10",
    "/data/cell/mieb?row=google/siglip-so400m-patch14-384~published&column=Clustering",
    "/live/published?mode=choice&kinds=image,image,image&model=dreamsim-ensemble",
    "/data/relations?suites=mieb-lite&level=tasks&method=kendall",
    "/data/relations?suites=unisim-core,unisim-ood,pairbench&origin=all&order=paper",
    "/data/items?task=mini/photographs",
    "/data/items?task=mini/shapes",
    "/live/examples",
    "/live/plan?kinds=image,image",
    "/live/plan?kinds=image,text",
    "/live/plan?kinds=image,image,image&mode=quality",
    "/export/relations?suites=unisim-core",
)
CALLS = (
    ("list_suites", {}),
    ("list_models", {"all": True}),
    ("leaderboard", {"suite": "pairbench", "limit": 50}),
    ("leaderboard", {"suite": "mieb", "open_weights": True, "trained": "no"}),
    ("compare_models", {"models": "openai/clip-vit-base-patch32,openai/clip-vit-large-patch14", "suite": "mieb"}),
    ("model_scores", {"model": "openai/clip-vit-base-patch32"}),
    ("choose_model", {"need": "search"}),
    ("search", {"query": "siglip so400m 384"}),
    ("search", {"query": "siglpi", "kind": "models"}),
    ("search", {"query": "swahili"}),
    ("search", {"query": "cifar 10", "kind": "tasks"}),
    ("search", {"query": "zzzz"}),
    ("query", {"sql": "SELECT origin, count(*) AS runs FROM runs GROUP BY origin ORDER BY origin"}),
)
# What a visit, a start or a machine decides, in the documents' JSON.
PASSING = (
    (r"\bstatic/[0-9a-f]{6,}/", "static/…/"),
    (r"\b127\.0\.0\.1:\d+", "host"),
    (r"\?v=[\w.-]+", ""),
    (r"/assets/[\w-]+\.(js|css)", r"/assets/….\1"),
    (r" at 0x[0-9a-f]+", ""),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "…"),
    (r"Answered in [\d.]+ s", "Answered"),
    (r'"version": "[0-9a-f]{16}"', '"version": "…"'),
    (r'"seconds": \d+\.?\d*', '"seconds": 0'),
    (r"\b\d+ \(cpu\)", "… (cpu)"),  # items a second
    (r'"bytes": \d+', '"bytes": "…"'),  # of an installed package's files too
)


# ---- the sections


def pages(site):
    """Every page, by its address."""
    known = [key for key, *_ in site.client.get("/config").json()["pages"]]
    return {f"/{key}?{query}": partial(site.page, key, query) for key in known for query in ("", *QUERIES.get(key, ()))}


def payloads(site):
    """What routes, exports and endpoints answer."""
    suites = [row["key"] for row in site.client.get("/data/board/unisim-core").json()["suites"]]
    addresses = (*ADDRESSES, *(f"/data/board/{suite}" for suite in suites))
    found = {address: partial(site.document, address) for address in addresses}
    found |= {f"/export/board/pairbench {form}": partial(site.export, "pairbench", form) for form in FORMS}
    return found | {f"{name} {json.dumps(values)}": partial(site.call, name, **values) for name, values in CALLS}


def database(path):
    """Every table, row by row; of the items a digest for each run, and of pictures."""
    found = {}
    with duckdb.connect(str(path), read_only=True) as connection:
        known = connection.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()
        for (name,) in known:
            source = f'"{name}"'
            if name == "runs":  # the end of a fingerprint says nothing new, and is half of what is stored
                source = "(SELECT * REPLACE (left(fingerprint, 20) AS fingerprint) FROM runs)"
            if name in DIGESTED:
                key, content = DIGESTED[name]
                rows = f"string_agg(md5({content}::VARCHAR), '' ORDER BY {content}::VARCHAR)"
                source = f'(SELECT {key}, count(*) AS n, md5({rows}) AS digest FROM "{name}" GROUP BY ALL)'
            answer = connection.execute(f"FROM {source} ORDER BY ALL")
            names = [column[0] for column in answer.description]
            columns = list(zip(*answer.fetchall(), strict=True)) or [()] * len(names)
            kept = [(n, c) for n, c in zip(names, columns, strict=True) if (name, n) not in MACHINE]
            found[name] = {n: [value if isinstance(value, PLAIN) else str(value) for value in c] for n, c in kept}
    return found


def answers(site):
    """What the models that need no download make of the ready comparisons, in every mode; of pairs all digits."""
    found = {}
    examples = site.client.get("/live/examples").json()
    kinds_of = {each["key"]: each["modality"] for each in examples["inputs"]}
    quality = {"key": "quality", "mode": "quality", "inputs": ["coffee", "coffee-blurred"], "question": "sharpness"}
    for one in (*examples["comparisons"], quality):
        kinds = ",".join(kinds_of[key] for key in one["inputs"])
        plan = site.client.get("/live/plan", params={"kinds": kinds, "mode": one["mode"]}).json()
        models = [row["key"] for row in plan["models"] if row["state"] == "ready"]
        asked = {"inputs": [{"kind": "example", "key": key} for key in one["inputs"]], "mode": one["mode"]}
        found[one["key"]] = site.compared(asked | {"question": one["question"]}, models)
        if one["mode"] == "pair":
            first, second = (f"example:{key}" for key in one["inputs"])
            (numbers,) = site.call("score_pair", first=first, second=second, models=models)
            found[f"{one['key']}, numbers"] = [{k: v for k, v in row.items() if k != "seconds"} for row in numbers]
    return found


def python():
    """The parameters of the Python interface's functions, with their defaults."""
    import compute

    named = {name: getattr(compute, name) for name in compute.__all__}
    named |= {f"metrics.{name}": getattr(compute.metrics, name) for name in sorted(compute.metrics.__all__)}
    return {
        name: [str(each.replace(annotation=each.empty)) for each in inspect.signature(one).parameters.values()]
        for name, one in named.items()
        if callable(one)
    }


def tables():
    """The rankings of tables that people have."""
    import compute

    files = sorted((HERE.parent / "tables").glob("*.csv"))
    return {path.stem: compute.rank(path).frame().to_dict("list") for path in files}


def generators():
    """Distances, intervals and limits of two sets of 40 images by the bundled encoder, each with its prompts."""
    import compute

    def images(seed, shift):
        random = np.random.default_rng(seed)
        y, x = np.mgrid[0:64, 0:64] / 64
        found = []
        for _ in prompts:
            colour, wave, phase = random.random(3), random.uniform(2, 9, 2), random.uniform(0, 6)
            grey = 0.5 + 0.5 * np.sin(wave[0] * x + wave[1] * y + phase)
            pixels = np.clip(grey[..., None] * colour + shift * random.random((64, 64, 3)), 0, 1)
            found.append(Image.fromarray((pixels * 255).astype(np.uint8)))
        return found

    things = ("wave", "field", "sky", "stone", "sea", "fire", "leaf", "rose", "sand", "snow")
    prompts = [f"a {colour} {thing}" for colour in ("red", "blue", "green", "grey") for thing in things]
    with tempfile.TemporaryDirectory() as folder:
        table = compute.frechet(
            reference=images(0, 0.0),
            generated={"near": images(1, 0.05), "far": images(2, 0.6)},
            prompts=prompts,
            backbones="tiny",
            features=Path(folder),
        )
    return {row.pop("metric") + " " + row.pop("generator"): row for row in table.frame().to_dict("records")}


# ---- the databases


def shipped(folder):
    from compute.database.build import build

    return build(folder / "likeness.duckdb", results=folder / "results").path


def computed(folder):
    """The drawn tasks' runs of the two smallest models."""
    began = datetime.now(UTC).isoformat()
    from typer.testing import CliRunner

    from compute.__main__ import app

    for suite, tasks in RUNS.items():
        words = ["run", "--suite", suite, "--tasks", ",".join(tasks), "--models", "tiny,ssim", "--offline", "--again"]
        result = CliRunner().invoke(app, [*words, "--results", str(folder / "results")])
        assert result.exit_code in (0, 1), result.output  # 1: ssim cannot run a task of texts
    path = shipped(folder)
    with duckdb.connect(str(path)) as connection:  # the time that they took
        connection.execute(
            "UPDATE runs SET seconds = 1, started = '2026-01-01T00:00:00', settings = "
            'regexp_replace(settings, \'"timings": \\{[^}]*\\}\', \'"timings": {"procedure": 1}\') WHERE started > ?',
            [began],
        )
    return path


def made(folder):
    """A table of 60 models on the core tasks, one score in twenty missing."""
    from compute.catalog import shipped as catalog
    from compute.importing import collection, read_scores_csv

    random = np.random.default_rng(5)
    known = catalog()
    tasks = [task.key for task in known.tasks if "unisim-core" in task.suites]
    rows = ["benchmark,model,task,metric,value,n"]
    for row in known.models[:: len(known.models) // 60][:60]:
        scores = np.clip(random.normal(0.6, 0.1) + random.normal(0, 0.05, len(tasks)), 0, 1)
        there = random.random(len(tasks)) < 0.95
        rows += [
            f"unisim,{row.key},{t},accuracy,{s:.4f},200" for t, s, h in zip(tasks, scores, there, strict=True) if h
        ]
    (folder / "made.csv").write_text("\n".join(rows))
    scores = read_scores_csv(folder / "made.csv", catalog=known)
    collection.save(scores, name="scores-made", folder=folder / "results" / "imported")
    return shipped(folder)


def fingerprints(path):
    """Of the runs that were made here: the installed packages decide them."""
    with duckdb.connect(str(path), read_only=True) as connection:
        found = connection.execute("SELECT fingerprint FROM runs WHERE origin = 'computed'").fetchall()
    return {fingerprint for (fingerprint,) in found}


DATABASES = {"shipped": shipped, "computed": computed, "made": made}


def of_database(name, sections, *, first=None, every=True):
    """The documents of sections about one of the databases; those of no database are with the first.

    `first` is a shipped database, to begin with. Unless `every`, the pages and payloads of a later database that are
    stored as those of the first are left out: every row of its tables is compared.
    """
    found = {section: OWN[section]() for section in sections if section in OWN and name == "shipped"}
    if not {*sections} - {*OWN}:
        return plain(found)
    with tempfile.TemporaryDirectory() as folder:
        if first:
            shutil.copy(first, Path(folder, "likeness.duckdb"))
        path = DATABASES[name](Path(folder))
        passing = set() if name == "shipped" else fingerprints(path)
        if "database" in sections:
            found["database"] = database(path)
        with site(path) as app:
            for section, documents in (("pages", pages(app)), ("payloads", payloads(app))):
                if section in sections:
                    kept = () if every else stored(section)
                    found[section] = {k: read() for k, read in documents.items() if every or f"{name} {k}" in kept}
            if name == "shipped" and "answers" in sections:
                found["answers"] = answers(app)
    return plain(found, hidden=passing)


def plain(found, *, hidden=()):
    """The same as JSON, numbers with 13 digits, without what passes."""
    text = json.dumps(rounded(found), ensure_ascii=False)
    text = FINGERPRINT.sub(lambda found: "…" if found[0] in hidden else found[0], text)
    for pattern, instead in PASSING:
        text = re.sub(pattern, instead, text)
    return json.loads(text)


OWN = {"python": python, "generators": generators, "tables": tables}


def rounded(value):
    """The same with 13 significant digits."""
    if isinstance(value, float):
        return float(f"{value:.13g}") if math.isfinite(value) else str(value)
    if isinstance(value, dict):
        return {str(key): rounded(each) for key, each in value.items()}
    return [rounded(each) for each in value] if isinstance(value, list | tuple) else value


# ---- what differs


def differences(before, now, *, close, path=""):
    """One line for each value that differs, with its place; of lists of lines a diff."""
    if isinstance(before, int | float) and isinstance(now, int | float) and not isinstance(before, bool):
        if not math.isclose(before, now, rel_tol=close, abs_tol=close):
            yield f"{path}: {before} -> {now}"
    elif isinstance(before, dict) and isinstance(now, dict):
        for key in {**before, **now}:
            if key not in before or key not in now:
                yield f"{path}/{key}: {'lost' if key in before else 'new'}"
            else:
                yield from differences(before[key], now[key], close=close, path=f"{path}/{key}")
    elif isinstance(before, list) and isinstance(now, list):
        if len(before) == len(now) and not all(isinstance(each, str) for each in (*before, *now)):
            yield from differences(dict(enumerate(before)), dict(enumerate(now)), close=close, path=path)
            return
        texts = [[each if isinstance(each, str) else json.dumps(each) for each in side] for side in (before, now)]
        if not alike(*texts, close):
            changed = difflib.unified_diff(*texts, lineterm="", n=0)
            yield from (f"{path} {line}" for line in changed if not line.startswith(("---", "+++", "@@")))
    elif before != now and not (isinstance(before, str) and isinstance(now, str) and alike([before], [now], close)):
        yield f"{path}: {json.dumps(before)[:200]} -> {json.dumps(now)[:200]}"


def alike(before, now, close):
    """Whether lines differ in numbers alone, and these by rounding."""
    if len(before) != len(now):
        return False
    for old, new in zip(before, now, strict=True):
        if old != new:
            numbers = [[float(n) for n in NUMBER.findall(line)] for line in (old, new)]
            if NUMBER.sub("#", old) != NUMBER.sub("#", new) or not np.allclose(*numbers, rtol=close, atol=close):
                return False
    return True


@cache
def stored(section):
    return json.loads(lzma.decompress((HERE / f"{section}.json.xz").read_bytes()))


def compared(name, section, documents):
    """What differs of a database's documents from those that are stored, or from the first database's; a line each."""
    close = COMPUTED if name == "computed" or section in ("answers", "generators") else EXACT
    kept = stored(section)
    of_name = {key.removeprefix(f"{name} "): each for key, each in kept.items() if key.startswith(f"{name} ")}
    found = [f"{name} {key}: lost" for key in of_name if key not in documents]
    for key, now in documents.items():
        before = of_name.get(key, kept.get(f"shipped {key}"))
        if before is None:
            found.append(f"{name} {key}: new")
        else:
            found += differences(before, now, close=close, path=f"{name} {key}")
    return found


def write(sections):
    """Writes the sections: of the second and third database what differs from the first."""
    HERE.mkdir(exist_ok=True)
    found = {}
    for name in DATABASES:
        for section, documents in of_database(name, sections).items():
            known = found.setdefault(section, {})
            new = {f"{name} {key}": each for key, each in documents.items() if known.get(f"shipped {key}") != each}
            found[section] = known | new
    for section, documents in found.items():
        text = json.dumps(documents, ensure_ascii=False, separators=(",", ":"))
        (HERE / f"{section}.json.xz").write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
        print(f"{section}: {len(documents)} documents, {len(text) / 1e6:.1f} MB as text")


def main(words):
    sections = tuple(word for word in words if word != "--write") or SECTIONS
    if "--write" in words:
        write(sections)
        return 0
    fallen = 0
    for name in DATABASES:
        for section, documents in of_database(name, sections).items():
            found = compared(name, section, documents)
            fallen += len(found)
            print(f"{name}, {section}: {len(documents)} documents, {len(found)} differences", *found, sep="\n  ")
    return int(fallen > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
