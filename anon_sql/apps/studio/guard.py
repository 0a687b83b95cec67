"""Let only the browser that was opened speak to the studio.

Host is checked first; then the token, which works once and for a minute, or the cookie that it has
set; the key of the page for data; and the page's own Origin for whatever changes something.
"""

import secrets
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

VALID = 60.0  # seconds of the token
KEY = "x-studio-key"
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
# A page of its own, not an answer 303: a browser that comes from a file would not send the cookie.
_ENTER = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>anon-sql studio</title>'
    '<link rel="icon" href="/static/icon.svg">'
    '<meta http-equiv="refresh" content="0; url=/table"><p><a href="/table">Open the studio</a>'
)

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class Guard:
    """ASGI middleware. port: of the server; now: a clock in seconds."""

    def __init__(self, app: App, port: int, now: Callable[[], float] = time.monotonic):
        self.app, self.port, self._now = app, port, now
        self._secret, self.key = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self._token: str | None = secrets.token_urlsafe(32)
        self._made = self.last_request = now()

    @property
    def url(self) -> str:
        """Return the address with the token. Raises ValueError once that was used."""
        if self._token is None:
            raise ValueError("the token was used")
        return f"http://127.0.0.1:{self.port}/?token={self._token}"

    @property
    def _cookie(self) -> str:
        return f"anon_sql_studio_{self.port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on if it has the right to be answered."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        refused = self._answer(Request(scope))
        await (refused or self.app)(scope, receive, with_headers)

    def _answer(self, request: Request) -> Response | None:
        """Return the answer to a request that is not passed on."""
        headers, path = request.headers, str(request.scope["path"])
        if not self._own_host(headers):
            return _refuse()
        if path == "/" and "token" in request.query_params:
            return self._enter(request)
        if not _same(request.cookies.get(self._cookie, ""), self._secret):
            return _refuse()
        self.last_request = self._now()
        if ".." in path.split("/") or "\\" in path:
            return Response(status_code=404)
        changes = request.method != "GET"
        keyed = not (changes or path.startswith("/data/")) or _same(headers.get(KEY, ""), self.key)
        return None if keyed and (not changes or self._own_origin(headers)) else _refuse()

    def _own_host(self, headers: Headers) -> bool:
        hosts = (f"127.0.0.1:{self.port}", f"localhost:{self.port}")
        return headers.getlist("host") in [[host] for host in hosts]

    def _own_origin(self, headers: Headers) -> bool:
        return headers.getlist("origin") == [f"http://{headers['host']}"]

    def _enter(self, request: Request) -> Response:
        """Answer the request with the token: set the cookie, once."""
        fresh = self._now() - self._made <= VALID
        if self._token is None or not _same(request.query_params["token"], self._token):
            return _refuse()
        self._token = None
        if not fresh:
            return _refuse()
        answer = HTMLResponse(_ENTER)
        answer.set_cookie(self._cookie, self._secret, path="/", httponly=True, samesite="strict")
        return answer


def _refuse() -> Response:
    return Response(
        "403: this link has expired or was opened in another browser", 403, media_type="text/plain"
    )


def _same(text: str, secret: str) -> bool:
    """Return whether two texts are equal, in a time that does not tell where they differ."""
    return secrets.compare_digest(text.encode("utf-8", "surrogatepass"), secret.encode())
