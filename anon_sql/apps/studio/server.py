"""The server of the studio: screens, their parts, and choices. It holds no row of the data."""

import asyncio
import contextlib
import json
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from anon_sql.apps import files
from anon_sql.apps.studio import pages
from anon_sql.apps.studio.bench import NOT_YET, OPEN_CHECK
from anon_sql.apps.studio.csv_file import FORM, stated
from anon_sql.apps.studio.guard import Guard
from anon_sql.apps.studio.process import EngineProcess, Refused
from anon_sql.apps.studio.session import SLOW, Session
from anon_sql.apps.studio.spelling import sentence
from anon_sql.errors import AnonError
from anon_sql.hosts import recipes

IDLE = 3600.0  # seconds without a request after which the studio ends
_BODY = 1 << 20  # bytes of the largest request
_KINDS = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}

_POSTED = ("choice", "dialect", "sheet", "load", "stop", "ask", "save", "write", "quit")

Part = Callable[[Request], Awaitable[Response]]


class Studio:
    """One studio: a source, an engine, and who sits before it."""

    def __init__(self, source: Mapping[str, Any], folder: Path):
        self.engine = EngineProcess(source, folder)
        self.session = Session(Path(source["start"]))
        path = Path(source["path"])
        stored = recipes.is_recipe(path) or files.in_database(path) is not None
        kind = None if stored else files.kind(path)[0]
        self.written = dict(FORM) if kind == "csv" else None  # what the first screen says of it
        self.sheet = "" if kind == "workbook" else None  # that the first screen says
        self.server: uvicorn.Server | None = None
        self._opening: asyncio.Task[None] | None = None
        self._stopping: asyncio.Task[None] | None = None
        routes = [
            Route("/", self._first),
            *(Route(f"/{name}", self._screen) for name in pages.SCREENS),
            Route("/static/{name}", self._asset),
            Route("/data/progress", self._progress),
            Route("/data/verdict", self._verdict),
            Route("/data/{part}", self._part),
            *(Route(f"/{name}", getattr(self, f"_{name}"), methods=["POST"]) for name in _POSTED),
        ]
        self.app = Starlette(routes=routes, lifespan=self._life)

    @contextlib.asynccontextmanager
    async def _life(self, app: Starlette) -> AsyncIterator[None]:
        self._open()
        idle = asyncio.create_task(self._idle())
        yield
        idle.cancel()
        await self.engine.end()

    async def _idle(self) -> None:
        """End the studio when it has not been used for long."""
        while True:
            await asyncio.sleep(min(IDLE / 10, 30))
            if self.guard is not None and time.monotonic() - self.guard.last_request > IDLE:
                self._end()

    guard: Guard | None = None

    def _end(self) -> None:
        if self.server is not None:
            self.server.should_exit = True

    def _open(self) -> asyncio.Task[None]:
        """Return the task that reads the source; a new one if the last has failed."""
        task = self._opening
        if task is None or (task.done() and (task.cancelled() or task.exception() is not None)):
            task = self._opening = asyncio.create_task(self._read())
        return task

    async def _read(self) -> None:
        facts = await self.engine.call("table")
        self.session.open(facts, await self.engine.call("roles"))

    def _shown(self, template: str, **context: Any) -> HTMLResponse:
        session = self.session
        text = pages.render(template, session=session, facts=session.facts, **context)
        return HTMLResponse(text)

    async def _first(self, request: Request) -> Response:
        return RedirectResponse("/table", 303)

    async def _screen(self, request: Request) -> Response:
        assert self.guard is not None
        name = request.url.path[1:]
        return self._shown(f"{name}.html", screen=name, key=self.guard.key)

    async def _asset(self, request: Request) -> Response:
        name = request.path_params["name"]
        content = pages.asset(name)
        if content is None:
            return Response(status_code=404)
        return Response(content, media_type=_KINDS[name.rpartition(".")[2]])

    async def _progress(self, request: Request) -> Response:
        return JSONResponse(self.engine.running or {})

    async def _verdict(self, request: Request) -> Response:
        """Say the verdict on the present choice, in the header of every screen."""
        return self._shown(
            "verdict.html", judged=self.session.judged() if self.session.tables else None
        )

    async def _part(self, request: Request) -> Response:
        """Answer with a part of a screen, which names the choice it is of."""
        part = request.path_params["part"]
        answer = getattr(self, f"_data_{part}", None)
        if answer is None:
            return Response(status_code=404)
        try:
            if part != "lines":
                await asyncio.shield(self._open())
            response: Response = await answer(request)
            return response
        except (Refused, AnonError) as error:
            return await self._failed(error, str(request.url.path))

    async def _failed(self, error: Exception, again: str) -> Response:
        stopped, detected = isinstance(error, Refused) and error.stopped, None
        text, control = (
            (str(error), error.control) if isinstance(error, Refused) else sentence(error)
        )
        sheets: dict[str, bool] = {}
        if again == "/data/table" and not stopped:
            with contextlib.suppress(Refused):
                if self.written is not None:
                    detected = await self.engine.call("detected")
                if self.sheet is not None:
                    sheets = await self.engine.call("sheets")
        failure = {"text": text, "control": control, "again": again, "stopped": stopped}
        how = {"written": self.written, "detected": detected}
        return self._shown("failed.html", **failure, **how, sheets=sheets, sheet=self.sheet)

    def _table(self) -> Response:
        facts = self.session.facts
        how = {"written": self.written, "detected": facts["written"]}
        return self._shown("part_table.html", **how, sheets=facts["sheets"], sheet=self.sheet)

    async def _data_table(self, request: Request) -> Response:
        return self._table()

    async def _data_lines(self, request: Request) -> Response:
        """Show the first lines of a CSV file, which only a confirmed click asks for."""
        if self.written is None or request.query_params.get("confirmed") != "yes":
            return Response(status_code=403)
        return self._shown("part_lines.html", found=await self.engine.call("lines"))

    async def _data_roles(self, request: Request) -> Response:
        return self._shown("part_roles.html")

    async def _data_risk(self, request: Request) -> Response:
        answer = None
        if not self.session.empty:
            answer = await self._asked("risk", suggested=self.session.suggested)
        return self._shown("part_risk.html", found=answer)

    async def _begin(self) -> None:
        """Choose the t of a first recipe by trials, once its roles are there."""
        session = self.session
        if session.is_first and session.can_release:
            choice = session.choice
            try:
                tried = await self.engine.call("first", tables=session.recipe)
            except Refused:  # it stays as it is
                session.is_first = False
                return
            if choice == session.choice:
                session.begin(tried)

    async def _data_controls(self, request: Request) -> Response:
        await self._begin()
        return self._shown("part_controls.html")

    async def _data_tree(self, request: Request) -> Response:
        """Show the hierarchy of a column, if the folder has one."""
        file = self.session.facts["hierarchies"].get(request.query_params.get("column"))
        if file is None:
            return Response(status_code=404)
        return self._shown("part_tree.html", found=await self.engine.call("tree", file=file))

    async def _data_preview(self, request: Request) -> Response:
        """Show what a quick release keeps; on a button where the last took long."""
        session = self.session
        answer = session.answer_for("preview")
        waits = session.facts["every"] > 1 or (session.slow > SLOW and not request.query_params)
        if answer is None and session.can_release and not waits:
            started = time.monotonic()
            answer = await self._asked("preview")
            session.slow = time.monotonic() - started
        return self._shown("part_preview.html", found=answer, waits=waits)

    async def _data_attacks(self, request: Request) -> Response:
        """Show what the quick release discloses, and the verdict so far."""
        session = self.session
        answer = session.answer_for("attacks")
        if (
            answer is None
            and session.answer_for("preview")
            and session.answers.get("there") == {"choice": session.choice}
        ):
            answer = await self._asked("attacks")
        return self._shown("part_attacks.html", found=answer, judged=session.judged())

    async def _data_remedies(self, request: Request) -> Response:
        """Try what lifts the reasons of the verdict, and show it with what that gave."""
        session, failure = self.session, ""
        of, choice = session.judged_by, session.choice
        if of is not None and session.trials:
            measured = session.answers[of]["measured"]
            try:
                await self._asked("remedies", measured=measured, made=of == "check")
                if session.answers.get("rows") != {"choice": choice}:  # it was made again
                    session.released(choice)
            except Refused as error:
                failure = str(error)
        return self._shown("part_remedies.html", judged=session.judged(), failure=failure)

    async def _data_compare(self, request: Request) -> Response:
        session = self.session
        answer = session.answer_for("compare")
        if answer is None and request.query_params and session.can_release:
            answer = await self._asked("compare")
        return self._shown("part_compare.html", found=answer)

    async def _data_check(self, request: Request) -> Response:
        session = self.session
        answer = session.answer_for("check")
        if answer is None and request.query_params and session.can_release:
            await self._begin()
            answer = await self._asked("check")
        return self._shown("part_check.html", found=answer, judged=session.judged())

    async def _data_rows(self, request: Request) -> Response:
        """Show rows, which only a confirmed click asks for; they are kept nowhere."""
        query = request.query_params
        if query.get("confirmed") != "yes":
            return Response(status_code=403)
        session = self.session
        rows = await self.engine.call(
            "rows",
            table="released" if query.get("table") == "released" else "raw",
            offset=_number(query.get("offset")),
            tables=session.recipe,
            clear=query.get("clear") == "yes",
        )
        return self._shown("part_rows.html", found=rows, table=query.get("table", "raw"))

    async def _data_pairs(self, request: Request) -> Response:
        """Show raw rows beside released ones, once somebody has asked for them."""
        query, session, pairs = request.query_params, self.session, None
        there = session.answers.get("rows") == {"choice": session.choice}
        if query.get("confirmed") == "yes" and session.can_release and there:
            offset, clear = _number(query.get("offset")), query.get("clear") == "yes"
            pairs = await self.engine.call(
                "pairs", tables=session.recipe, offset=offset, clear=clear
            )
        return self._shown("part_pairs.html", found=pairs, asked=query, there=there)

    async def _data_sign(self, request: Request) -> Response:
        return self._shown("part_sign.html", judged=self.session.judged(), names=self._names())

    async def _asked(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Ask the engine about the present choice, and keep the answer."""
        session = self.session
        choice = session.choice_of(name)
        kept = session.answer_for(name)
        if kept is not None:
            return kept
        if name in ("preview", "check", "compare"):
            session.released(None)
        try:
            answer = await self.engine.call(name, tables=session.recipe, **arguments)
        except Refused as error:
            if name != "remedies" or not error.stopped:
                session.released(None)  # whatever the engine had made
            raise
        session.keep(name, answer, choice)
        if name in ("preview", "check"):
            session.released(choice, quick=name == "preview")
        return session.answers[name]

    def _names(self) -> dict[str, str]:
        """Return the names of the files that Sign writes, unless others are typed."""
        stem = self.session.facts["stem"]
        return {
            "release": f"{stem}.released{self._ending()}",
            "recipe": f"{stem}.recipe.toml",
            "summary": f"{stem}.summary.html",
        }

    def _ending(self) -> str:
        """Return the extension of the release: that of the source, unless ranges are typed."""
        typed = self.session.tables["release"].get("format") == "typed"
        return ".parquet" if typed else str(self.session.facts["ending"])

    async def _body(self, request: Request) -> dict[str, Any]:
        """Return the JSON object that a request brings. Raises AnonError for anything else."""
        text = b""
        async for chunk in request.stream():
            text += chunk
            if len(text) > _BODY:
                raise AnonError("studio", "a request must be small", "a large one")
        try:
            body = json.loads(text or b"{}")
        except ValueError:
            body = None
        if not isinstance(body, dict):
            raise AnonError("studio", "a request must be an object of JSON")
        return body

    async def _choice(self, request: Request) -> Response:
        """Take a choice, and say which one holds now."""
        session = self.session
        try:
            await asyncio.shield(self._open())
            body = await self._body(request)
            columns = body.get("columns") or []
            before = session.choice_of("remedies")
            session.apply(str(body.get("name")), body.get("value"), [str(each) for each in columns])
        except (AnonError, Refused) as error:
            text = str(error) if isinstance(error, Refused) else sentence(error)[0]
            return JSONResponse({"error": text}, 422)
        if session.choice_of("remedies") != before:
            self._forget_trials()
        texts = {"unread": pages.unread(session.unread, len(session.names))}
        return JSONResponse({"choice": session.choice, "texts": texts})

    def _forget_trials(self) -> None:
        """Stop trials of a choice that holds no longer; the answer to the new one does not wait."""
        running = self.engine.running
        if running is not None and running["call"] == "remedies":
            self._stopping = asyncio.create_task(self.engine.stop(running["number"]))

    async def _dialect(self, request: Request) -> Response:
        """Read a CSV file again, as it is said to be written; there are no choices then."""
        if self.written is None:
            return Response(status_code=404)
        body = await self._body(request)
        self.written = {name: str(body.get(name, default)) for name, default in FORM.items()}
        return await self._read_again(stated(self.written))

    async def _sheet(self, request: Request) -> Response:
        """Read another sheet of a workbook; there are no choices then."""
        if self.sheet is None:
            return Response(status_code=404)
        self.sheet = str((await self._body(request)).get("sheet", ""))
        return await self._read_again({"sheet": self.sheet or None})

    async def _read_again(self, fields: Mapping[str, Any]) -> Response:
        await self.engine.read_as(fields)
        self.session, self._opening = Session(self.session.start), None
        try:
            await asyncio.shield(self._open())
        except (Refused, AnonError) as error:
            return await self._failed(error, "/data/table")
        return self._table()

    async def _load(self, request: Request) -> Response:
        """Take the recipe that lies beside the source."""
        await asyncio.shield(self._open())
        beside = self.session.facts["beside"]
        if not beside or beside["tables"] is None:
            return Response(status_code=404)
        self.session.load(beside["tables"])
        return self._table()

    async def _stop(self, request: Request) -> Response:
        body = await self._body(request)
        await self.engine.stop(int(body.get("number", 0)))
        return JSONResponse({})

    async def _ask(self, request: Request) -> Response:
        """Ask the release a question that the user has typed."""
        try:
            body = await self._body(request)
            sql = str(body.get("question", ""))
            answer = await self.engine.call("question", tables=self.session.recipe, sql=sql)
        except (Refused, AnonError) as error:
            return await self._failed(error, "")
        return self._shown("part_answer.html", found=answer)

    async def _save(self, request: Request) -> Response:
        """Write the recipe alone."""
        try:
            body = await self._body(request)
            await self._begin()
            written = await self.engine.call(
                "save",
                tables=self.session.recipe,
                file=str(body.get("recipe", "")),
                overwrite=bool(body.get("overwrite")),
            )
        except (Refused, AnonError) as error:
            return await self._failed(error, "")
        return self._shown("part_written.html", found=written, away=None)

    async def _write(self, request: Request) -> Response:
        """Sign: write release, manifest, recipe and summary."""
        session = self.session
        try:
            body = await self._body(request)
            names = {name: str(body.get(name, "")) for name in ("release", "recipe", "summary")}
            if session.answer_for("check") is None:
                raise AnonError(
                    "studio", "these settings must be checked first", NOT_YET, OPEN_CHECK
                )
            written = await self.engine.call(
                "sign", tables=session.recipe, names=names, overwrite=bool(body.get("overwrite"))
            )
        except (Refused, AnonError) as error:
            return await self._failed(error, "")
        trees = session.tables["hierarchies"]
        away = pages.away(session.parsed, trees, names, session.facts["relation"])
        return self._shown("part_written.html", found=written, away=away)

    async def _quit(self, request: Request) -> Response:
        self._end()
        return self._shown("part_ended.html")


def _number(text: str | None) -> int:
    """Return a number of rows, 0 for anything else."""
    return int(text) if text and text.isdecimal() and len(text) < 16 else 0


def listening(port: int = 0) -> socket.socket:
    """Return a socket bound to the loopback address alone; 0 for any free port.

    Raises AnonError for a port that another program has, or that is reserved.
    """
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind(("127.0.0.1", port))
        bound.listen(64)
    except OSError:
        bound.close()
        hint = "leave it out for a free one"
        raise AnonError("studio", "--port must be free", f"{port}, which is not", hint) from None
    return bound


def serve(source: Mapping[str, Any], folder: Path, port: int, ready: Callable[[str], None]) -> None:
    """Serve a studio until it is ended. ready: is told the address, once it is bound."""
    with listening(port) as bound:
        studio = Studio(source, folder)
        guard = studio.guard = Guard(studio.app, bound.getsockname()[1])
        config = uvicorn.Config(
            guard,
            access_log=False,
            log_config=None,
            log_level="critical",
            server_header=False,
            date_header=False,
            timeout_graceful_shutdown=1,
        )
        studio.server = uvicorn.Server(config)
        ready(guard.url)
        studio.server.run(sockets=[bound])
