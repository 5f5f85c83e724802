"""Code that loads a model with a public library and embeds an image and a text, and the command that evaluates it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

from leaderboard.data.model_facts import hub_id
from leaderboard.data.own_models import own_facts
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

TRANSFORMERS = """\
import torch
from transformers import {model}, {processor}

name, revision = "{name}", "{revision}"
model = {model}.from_pretrained(name, revision=revision).eval()
processor = {processor}.from_pretrained(name, revision=revision)"""

PROCESSED = (
    'pixels = processor(images=image, return_tensors="pt")',
    'tokens = processor(text=[text], padding=True, truncation=True, return_tensors="pt")',
)

OPEN_CLIP = """\
import open_clip
import torch

model, preprocess = open_clip.create_model_from_pretrained("{name}"{tag})
tokenizer = open_clip.get_tokenizer("{name}")
model.eval()"""

TIMM = """\
import timm
import torch

model = timm.create_model("hf-hub:{name}", pretrained=True, num_classes=0{size}).eval()
config = timm.data.resolve_model_data_config(model)
preprocess = timm.data.create_transform(**config, is_training=False)"""

SENTENCE_TRANSFORMERS = """\
import torch
from sentence_transformers import SentenceTransformer

model = SentenceTransformer("{name}", revision="{revision}")"""

DREAMSIM = """\
import torch
from dreamsim import dreamsim

model, preprocess = dreamsim(pretrained=True, dreamsim_type="{kind}", device="cpu")"""

BY_MTEB = """\
import mteb
import torch
from datasets import Dataset
from mteb.types import PromptType
from torch.utils.data import DataLoader

model = mteb.get_model("{name}")
task = mteb.get_task("{task}").metadata  # its prompt is used

def encode(kind, item, role):
    data = Dataset.from_dict({{kind: [item]}})
    batches = DataLoader(data, collate_fn=lambda rows: {{kind: [row[kind] for row in rows]}})
    where = {{"task_metadata": task, "hf_split": "test", "hf_subset": "default", "prompt_type": role}}
    return model.encode(batches, **where, batch_size=1)
"""

JUDGE = """\
from PIL import Image
from transformers import pipeline

name, revision = "{name}", "{revision}"
judge = pipeline("image-text-to-text", model=name, revision=revision)
question = "How similar are the two images, from 1 to 10? Answer with the number alone."
content = [{{"type": "image", "image": Image.open(path)}} for path in ("first.jpg", "second.jpg")]
content.append({{"type": "text", "text": question}})
answers = judge(text=[{{"role": "user", "content": content}}], max_new_tokens=16, return_full_text=False)
print(answers[0]["generated_text"])"""

ASKED = """\
import base64
from pathlib import Path

from openai import OpenAI

judge = OpenAI()  # OPENAI_BASE_URL and OPENAI_API_KEY name its server: the vendor's, or vLLM's
question = "How similar are the two images, from 1 to 10? Answer with the number alone."
content = [{{"type": "text", "text": question}}]
for path in ("first.jpg", "second.jpg"):
    image = base64.b64encode(Path(path).read_bytes()).decode()
    content.append({{"type": "image_url", "image_url": {{"url": f"data:image/jpeg;base64,{{image}}"}}}})
answer = judge.chat.completions.create(model="{name}", messages=[{{"role": "user", "content": content}}])
print(answer.choices[0].message.content)"""


def loading_code(model: Mapping[str, Any]) -> str:
    """Python that loads the model of a catalogue row, pinned where the library can, and embeds an image and a text as
    `images` and `texts` (1, dimension), or each alone; of a judge, it rates a pair. Empty where no public library is
    known to load it.
    """
    options, by_mteb = json.loads(model["options"] or "{}"), mteb_name(model)
    name = by_mteb or model["weights"]
    hub = {"name": name, "revision": model["revision"] or "main"}
    if own_facts(model["options"]) is not None or not (hub_id(name) or model["adapter"] in ("dreamsim", "endpoint")):
        return ""
    ready, similarity = ("", ""), "torch.nn.functional.cosine_similarity"
    hub |= {"model": "AutoModel", "processor": "AutoProcessor"}
    match model["adapter"]:
        case "clip" | "align":
            load, ready = TRANSFORMERS.format(**hub), PROCESSED
            image = "model.get_image_features(**pixels).pooler_output"
            text = "model.get_text_features(**tokens).pooler_output"
        case "siglip":  # trained on texts padded to full length, whose padding is not masked
            load = TRANSFORMERS.format(**hub)
            ready = PROCESSED[0], PROCESSED[1].replace("True", '"max_length"', 1)
            image = "model.get_image_features(**pixels).pooler_output"
            text = "model.get_text_features(input_ids=tokens.input_ids).pooler_output"
        case "blip":
            load, ready = TRANSFORMERS.format(**hub | {"model": "BlipForImageTextRetrieval"}), PROCESSED
            image = "model.vision_proj(model.vision_model(**pixels)[0][:, 0])"
            text = "model.text_proj(model.text_encoder(**tokens)[0][:, 0])"
        case "late_interaction":
            load = TRANSFORMERS.format(**hub | {"model": "AutoModelForPreTraining"})
            image, text = (
                f'model(**processor.process_{items}, return_tensors="pt")).embeddings'
                for items in ("images(images=[image]", "queries(text=[text]")
            )
            similarity = "processor.score_retrieval"
        case "vision":
            load, ready = TRANSFORMERS.format(**hub | {"processor": "AutoImageProcessor"}), PROCESSED
            image = "model(**pixels).last_hidden_state" + (".mean(dim=1)" if "ijepa" in name else "[:, 0]")
        case "open_clip":
            known = options.get("architecture", f"hf-hub:{name}")
            tag = f', pretrained="{options["tag"]}"' if "tag" in options else ""
            load = OPEN_CLIP.format(name=known, tag=tag)
            image, text = "model.encode_image(preprocess(image).unsqueeze(0))", "model.encode_text(tokenizer([text]))"
        case "timm":
            size = f", img_size={options['image_size']}" if "image_size" in options else ""
            load, image = TIMM.format(**hub, size=size), "model(preprocess(image).unsqueeze(0))"
        case "bert" | "t5" | "sentence_transformer":
            load, text = SENTENCE_TRANSFORMERS.format(**hub), "model.encode([text], convert_to_tensor=True)"
        case "dreamsim":
            load, image = DREAMSIM.format(kind=options["dreamsim_type"]), "model.embed(preprocess(image))"
        case "endpoint":
            return ASKED.format(name=options.get("model") or name or model["key"])
        case "vlm":
            return JUDGE.format(**hub)
        case _ if by_mteb:
            late = not blank(model["late_interaction"]) and model["late_interaction"]
            load = BY_MTEB.format(name=name, task=LATE if late else DENSE)
            image, text = 'encode("image", image, PromptType.document)', 'encode("text", text, PromptType.query)'
            similarity = "model.similarity"
        case _:
            return ""
    sees, reads = (f"embed_{kind}" in model["abilities"] for kind in ("image", "text"))
    if sees:
        load = load.replace("import torch\n", "import torch\nfrom PIL import Image\n")
    lines = [
        load,
        'image = Image.open("photo.jpg").convert("RGB")' if sees else "",
        f'text = "{options.get("text_prefix", "")}a photo of a cat"' if reads else "",
        ready[0] if sees else "",
        ready[1] if reads else "",
        "with torch.inference_mode():",
        f"    images = {image}" if sees else "",
        f"    texts = {text}" if reads else "",
        f"print({similarity}(texts, images))" if sees and reads else f"print({'images' if sees else 'texts'}.shape)",
    ]
    return "\n".join(filter(None, lines))


def mteb_name(model: Mapping[str, Any]) -> str:
    """What mteb calls a model that mteb alone loads, or that it loads most simply; empty for others."""
    if model["adapter"] in ("e5_v", "gme", "moco_v3", "vlm2vec") or (
        not model["adapter"] and model["facts_from"] == MTEB
    ):
        return json.loads(model["options"] or "{}").get("mteb", model["weights"])
    return ""


def evaluation_command(model: Mapping[str, Any], *, suite: str) -> str:
    """The command that makes the model's scores on a suite; of one whose weights nothing here can name, it takes them
    from the reader's FOLDER."""
    if not model["adapter"] and (name := mteb_name(model)) and suite in BENCHMARKS:
        return f'mteb run --model {shlex.quote(name)} --benchmarks "{BENCHMARKS[suite]}"'
    return f"likeness run --suite {suite} --models {shlex.quote(model['key']) if model['adapter'] else FOLDER}"
