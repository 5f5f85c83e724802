"""How to use a model: code that loads it and embeds an image and a text, and commands that evaluate it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from compute.catalog.own.models import MARK
from compute.io.files import words_beside
from compute.models.own.own_model import FROM_ENDPOINT, FROM_FILE, FROM_FOLDER, FROM_HUB, FROM_SESSION
from leaderboard.data.models.model_facts import hub_id, own_facts, own_note
from leaderboard.html.formatting import blank

# Suites that mteb itself evaluates, for models that only mteb loads.
BENCHMARKS = {
    "mieb": "MIEB(Multilingual)",
    "mieb-en": "MIEB(eng)",
    "mieb-lite": "MIEB(lite)",
    "mieb-img": "MIEB(Img)",
    "vidore-v3": "ViDoRe(v3)",
    "vidore-v2": "ViDoRe(v2)",
    "vidore-v1": "ViDoRe(v1)",
}
FOLDER = "FOLDER"  # stands for the reader's own copy of the weights
MTEB = "mteb model_meta"  # where the facts of models are from that mteb loads
LATE, DENSE = "VidoreDocVQARetrieval", "Flickr30kT2IRetrieval"  # tasks whose prompts stand in for the reader's own

CODE = {adapter: code for code in words_beside(__file__).values() for adapter in code.pop("adapters")}


def loading_code(model: Mapping[str, Any]) -> str:
    """Returns Python code that loads the model of a catalogue row, pinned if the library allows it, and embeds an image
    and a text as `images` and `texts` (1, dimension), or one of them; for a judge, it rates a pair. Empty if no public
    library is known to load it.
    """
    options, by_mteb, adapter = json.loads(model["options"] or "{}"), mteb_name(model), model["adapter"]
    name = by_mteb or model["weights"] or ""
    code = CODE.get("mteb" if by_mteb else adapter)
    if own_facts(model["options"]) is not None or not (hub_id(name) or adapter in ("dreamsim", "endpoint")) or not code:
        return ""
    facts = {
        "name": name,
        "revision": model["revision"] or "main",
        "pooled": ".mean(dim=1)" if "ijepa" in name else "[:, 0]",
        "architecture": options.get("architecture", f"hf-hub:{name}"),
        "tag": f', pretrained="{options["tag"]}"' if "tag" in options else "",
        "lower": ".lower()" if "siglip2" in name else "",  # it never saw capitals, and its tokenizer keeps them
        "size": f", img_size={options['image_size']}" if "image_size" in options else "",
        "kind": options.get("dreamsim_type"),
        "task": DENSE if blank(model["late_interaction"]) or not model["late_interaction"] else LATE,
        "served": options.get("model") or name or model["key"],
    }
    code = {part: text.format(**facts) for part, text in code.items()}
    if "whole" in code:
        return code["whole"]
    sees, reads = (f"embed_{kind}" in model["abilities"] for kind in ("image", "text"))
    similarity = code.get("similarity", "torch.nn.functional.cosine_similarity")
    lines = [
        code["load"].replace("import torch\n", "import torch\nfrom PIL import Image\n" if sees else "import torch\n"),
        'image = Image.open("photo.jpg").convert("RGB")' if sees else "",
        f'text = "{options.get("text_prefix", "")}a photo of a cat"' if reads else "",
        code.get("pixels", "") if sees else "",
        code.get("tokens", "") if reads else "",
        "with torch.inference_mode():",
        f"    images = {code['image']}" if sees else "",
        f"    texts = {code['text']}" if reads else "",
        f"print({similarity}(texts, images))" if sees and reads else f"print({'images' if sees else 'texts'}.shape)",
    ]
    return "\n".join(filter(None, lines))


def mteb_name(model: Mapping[str, Any]) -> str:
    """Returns mteb's name of a model that only mteb loads, or that it loads most easily; empty for others."""
    if model["adapter"] in ("e5_v", "gme", "moco_v3") or (not model["adapter"] and model["facts_from"] == MTEB):
        return json.loads(model["options"] or "{}").get("mteb", model["weights"])
    return ""


def evaluation_command(model: Mapping[str, Any], *, suite: str, tasks: Sequence[str] = ()) -> str:
    """Returns the command that computes the model's scores on a suite; if its weights cannot be named, it uses the
    reader's FOLDER. `tasks`, by title, are those to run within an hour: the only ones, or `likeness` chooses.
    """
    if not model["adapter"] and (name := mteb_name(model)) and suite in BENCHMARKS:
        chosen = f"--tasks {' '.join(tasks)}" if tasks else f'--benchmarks "{BENCHMARKS[suite]}"'
        return f"mteb run --model {shlex.quote(name)} {chosen}"
    key = shlex.quote(model["key"]) if model["adapter"] else FOLDER
    return f"likeness run --suite {suite} --models {key}{' --budget 1h' if tasks else ''}"


def commands(options: str | None, *, title: str, suites: Sequence[str]) -> list[str]:
    """Returns how to run a user's model again: one command per suite that it was run on; none for a model of the
    catalogue.

    `title`: the recorded one, which is the name that an object of a session was evaluated under.
    """
    note = own_note(options)
    return [] if note is None else [_command(note, title=title, suite=suite) for suite in suites]


def _command(note: Mapping[str, Any], *, title: str, suite: str) -> str:
    source, name = note["source"], str(note.get("name", ""))
    if source in (FROM_FILE, FROM_SESSION):
        called = MARK.sub("", title)
        named = "" if called == name else f", name={json.dumps(called, ensure_ascii=False)}"
        others = "".join(f", {argument}=..." for argument in note.get("arguments", ()))
        return f'compute.evaluate(model, suite="{suite}"{named}{others})  # model: {name}'
    served, _, host = name.rpartition("@")
    # A record is shown without its path.
    named, where = {
        FROM_FOLDER: (f"FOLDER/{name}", "  # FOLDER: the one that holds it"),
        FROM_HUB: (f"hub:{name}", ""),
        FROM_ENDPOINT: (f"endpoint:{served}", f"  # LIKENESS_ENDPOINT at {host}"),
    }[source]
    return f"likeness run --suite {suite} --models {shlex.quote(named)}{where}"
