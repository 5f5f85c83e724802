"""Static files, each compressed once: those of our components, and Gradio's scripts and style sheets.

Gradio compresses its files again for every visitor, which fifty new visitors at once would notice.
"""

from __future__ import annotations

import re
from functools import cache, partial
from hashlib import blake2b
from os.path import dirname, isfile, join, normpath
from pathlib import Path
from threading import Condition

import gradio
from cachetools import LRUCache, cached
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from leaderboard.web.responses import FOREVER, compress, respond, takes_brotli

ROOT = Path(__file__).parents[1]  # leaderboard
GRADIO = Path(gradio.__file__).parent / "templates" / "frontend" / "assets"
TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".woff2": "font/woff2"}
COMPRESSED = (".woff2",)  # by their own format
# Folders with scripts or fonts, and the style sheets there, by their path below this package, on disk and in an address
# alike.
COMPONENTS = {
    folder.relative_to(ROOT).as_posix(): folder
    for folder in sorted({path.parent for kind in ("*.js", "*.woff2") for path in ROOT.rglob(kind)})
}
# What a script imports from another of ours, and the style sheets that it adds to the page.
IMPORTED = re.compile(r"""(?:\bfrom |\bimport |new URL\()'(\.[^']+\.(?:js|css))'""")
QUALITY = 6  # of brotli: the largest file, plotly's, takes a third of a second once
FIGURES, WHOLE = "PlotlyPlot-*.js", "whole"  # Gradio's module with plotly, and the query under which it is served
# Served in its place: what came with the figure, the page's answer, is painted first, and plotly comes once the place
# of a figure is near the window. A page in the background paints nothing.
IN_VIEW = """\
const frame = () => new Promise(requestAnimationFrame);
if (!document.hidden) await frame().then(frame);
const near = (place) => {{
  const {{ top, bottom }} = place.getBoundingClientRect();
  return place.offsetParent && top < 1.5 * innerHeight && bottom > -innerHeight / 2;
}};
const waits = (places) => places.length && !places.some(near);
while (waits([...document.querySelectorAll('.empty.large')])) await new Promise((done) => setTimeout(done, 100));
const {{ default: figure }} = await import('./{name}?{whole}');
export default figure;
"""


def version() -> str:
    """Returns a short hash of the components' files. If a file changes, its address and that of all others change."""
    digest = blake2b(digest_size=6)
    for folder in COMPONENTS.values():
        for path in sorted(folder.iterdir()):
            if path.suffix in TYPES:
                digest.update(path.read_bytes())
    return digest.hexdigest()


def address() -> str:
    """Returns the address of the folders of COMPONENTS, relative to the app's root."""
    return f"static/{version()}/"


@cache
def needed(script: str) -> list[str]:
    """Returns the scripts imported by a script, itself first, and their style sheets, as paths below `address`."""
    found, waiting = [], [script]
    while waiting:
        path = waiting.pop(0)
        if path not in found:
            found.append(path)
            text = (ROOT / path).read_text() if path.endswith(".js") else ""
            waiting += [normpath(join(dirname(path), name)) for name in IMPORTED.findall(text)]
    return found


def routes() -> list[Route]:
    """Returns the route of the files; other kinds of files under /assets are Gradio's."""
    return [
        *(
            Route(f"/static/{{version}}/{name}/{{name}}", partial(_file, folder=folder))
            for name, folder in COMPONENTS.items()
        ),
        *(
            Route(f"/assets/{{name}}.{suffix}", partial(_file, folder=GRADIO, suffix=f".{suffix}"))
            for suffix in ("js", "css")
        ),
    ]


async def _file(request: Request, *, folder: Path, suffix: str = "") -> Response:
    path = folder / f"{Path(request.path_params['name']).name}{suffix}"
    if path.suffix not in TYPES or not isfile(path):  # a name that is too long for a file too
        return Response("Not found", status_code=404)
    if folder == GRADIO and path.match(FIGURES) and WHOLE not in request.query_params:
        return respond(request, IN_VIEW.format(name=path.name, whole=WHOLE).encode(), media=TYPES[".js"])
    compressed = None if path.suffix in COMPRESSED else takes_brotli(request)
    key = (path, path.stat().st_mtime_ns, bool(compressed))
    if key not in _ready:  # a thread costs more than the answer, so only the first request uses one
        _ready[key] = await run_in_threadpool(_content, *key)
    return respond(request, _ready[key], media=TYPES[path.suffix], cache=FOREVER, compressed=compressed)


_ready: dict[tuple[Path, int, bool], bytes] = {}


@cached(LRUCache(512), condition=Condition())  # one thread compresses a file, others wait for it
def _content(path: Path, stamp: int, compressed: bool) -> bytes:
    return compress(path.read_bytes(), quality=QUALITY) if compressed else path.read_bytes()


def warm() -> None:
    """Compresses the largest file, plotly's, before the first request for it."""
    for path in GRADIO.glob(FIGURES):
        _content(path, path.stat().st_mtime_ns, True)
