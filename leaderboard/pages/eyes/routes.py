"""Requests of the page Your eyes besides its event: a study's images, order, answers and report."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from compute.eyes import exchange, photographs
from compute.eyes.folder import StudyFolder
from compute.eyes.report import report
from compute.eyes.study import ASKS, LONGEST_NAME, TUNES_FROM, Judgment, Study, StudyFile, parsed
from compute.rounding import rounded
from compute.types import BadInput, LikenessError
from leaderboard.html.templates import render
from leaderboard.page import Site
from leaderboard.pages.eyes.studies import FOLDER, PHOTOGRAPHS, UPLOAD, hold, opened, own
from leaderboard.web.responses import CHECK, refusal

NO_FOLDER = "This app was not started on a study of this machine"
SESSION = "x-likeness-session"
HOUR = {"cache-control": "private, max-age=3600"}
TYPES = {
    b"\x89PNG": "image/png",
    b"RIFF": "image/webp",
    b"GIF8": "image/gif",
}  # of a file by its first bytes, else JPEG


def routes(site: Site) -> list[Route]:
    """Returns the routes."""

    def known(request: Request) -> StudyFolder | None:
        return own(site, request.query_params.get("key", ""))

    def facts(request: Request, study: Study, **of: Any) -> dict[str, Any]:
        held = hold(site, study, session=request.headers.get(SESSION, ""), request=request)
        return opened(study, **of) | {"id": held}

    def stored(request: Request) -> Response:
        """Returns the shipped study of a kind, else the folder's."""
        query = request.query_params
        if (kind := query.get("kind", "")) in ASKS:
            seed = _seed(query)
            return JSONResponse(facts(request, photographs.study(kind), source=PHOTOGRAPHS, seed=seed))
        if (folder := known(request)) is None:
            return refusal(NO_FOLDER, 404)
        by, judgments = folder.settings, folder.judgments()
        found = facts(request, folder.study, source=FOLDER, rater=by.rater, seed=by.seed, judgments=judgments)
        return JSONResponse(found | {"judgments": [each.model_dump() for each in judgments]})

    def image(request: Request) -> Response:
        name = request.query_params.get("name", "")
        try:
            if request.path_params["source"] == PHOTOGRAPHS:
                return Response(photographs.image(name), media_type="image/webp", headers=HOUR)
            if (folder := known(request)) is None or name not in folder.study.contents:
                return refusal("The study has no such image", 404, cache=CHECK)
            content = folder.image(name)
            return Response(content, media_type=TYPES.get(content[:4], "image/jpeg"), headers=HOUR)
        except LikenessError as error:
            return refusal(str(error), 404, cache=CHECK)

    def judge(request: Request, body: bytes) -> Response:
        if (folder := known(request)) is None:
            return refusal(NO_FOLDER, 404)
        try:
            folder.add(Judgment.model_validate_json(body))
        except ValidationError as error:
            raise BadInput("The answer is not one of this page. Reload it and answer again") from error
        return JSONResponse({"stored": len(folder.judgments())})

    def order(request: Request, body: bytes) -> Response:
        given, query = parsed(body, name="The file"), request.query_params
        rater = query.get("rater", "")[:LONGEST_NAME] or (given.judgments[-1].rater if given.judgments else "me")
        seeds = [each.seed for each in given.judgments if each.rater == rater and each.draw != "given"]
        shown = {given.study.contents[at] for at in exchange.images_of(given.study)}
        source = PHOTOGRAPHS if shown <= photographs.names() else UPLOAD
        study, seed = given.study, seeds[-1] if seeds else _seed(query)
        if (folder := known(request)) and folder.study.key == study.key:
            study, source = folder.study, FOLDER
        found = facts(request, study, source=source, seed=seed, rater=rater, judgments=given.judgments)
        del found["study"]  # the browser has it
        return JSONResponse(found)

    def answer(request: Request, body: bytes) -> Response:
        query, session = request.query_params, request.headers.get(SESSION, "")
        try:
            study = site.live.uploads.file(session, query.get("study", ""))
        except BadInput as error:
            return refusal(str(error), 404)  # the browser sends it once more
        given = parsed(b'{"study": %b, "judgments": %b}' % (study, body), name="The answers")
        return JSONResponse(answered(given, source=query.get("source", "")))

    return [
        Route("/eyes/study", site.guard(stored)),
        Route("/eyes/{source}/image", site.guard(image)),
        *(
            Route(f"/eyes/{name}", _posted(site, work), methods=["POST"])
            for name, work in (("judgment", judge), ("order", order), ("report", answer))
        ),
    ]


def answered(given: StudyFile, *, source: str = "") -> dict[str, str]:
    """Returns the report as markup, and the answers as a table of user data. Raises BadInput."""
    found = report(given.study, given.judgments)
    ends = [end for each in found.models for end in (each.agreement.low, each.agreement.high) if end == end]
    lowest, highest = min(ends, default=0.0), max(ends, default=1.0)
    best = found.models[0].title if found.models else ""
    html = render(
        "pages/eyes/answer.html",
        found=found,
        pixels=lambda value: rounded(3 + 114 * (value - lowest) / ((highest - lowest) or 1), 1),
        open_pairs=[each for each in found.pairs if best in (each.first, each.second) and not each.is_significant],
        questions=given.study.questions,
        contents=given.study.contents,
        is_text=given.study.kind == "text",
        source=source,
        best=found.models[0].key if found.models else "",
        missing=max(0, TUNES_FROM - found.judgments + found.cannot_tell),
        tunes_from=TUNES_FROM,
    )
    return {"html": str(html), "manifest": exchange.votes(given.study, given.judgments)}


def _seed(query: QueryParams) -> int:
    if not (seed := query.get("seed", "")[:16]).isdecimal():
        raise BadInput("The request is not one of this page. Reload it and try again")
    return int(seed)


def _posted(site: Site, work: Callable[[Request, bytes], Response]) -> Callable:
    async def respond(request: Request) -> Response:
        body = await request.body()
        return await run_in_threadpool(site.guard(lambda request: work(request, body)), request)

    return respond
