"""Who is heard: this machine's own page with the token, and nobody else.

The server listens on 127.0.0.1 only. A web page that the user happens to visit can still send requests there, by that
address or by a name that it makes point here (DNS rebinding). So the Host must be ours, a browser must not say that the
request comes from elsewhere, what changes something must carry our Origin, and everything needs the token.
"""

import secrets
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

READING = ("GET", "HEAD")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Guard:
    """ASGI middleware that stands before everything.

    Parameters
    ----------
    app : ASGI application
    port : int
    token : str
        In the address that is opened first; from then on in a cookie that no script and no other site can use.
    """

    def __init__(self, app: ASGIApp, port: int, token: str) -> None:
        self.app, self.token = app, token
        self.hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self.cookie = f"precede-studio-{port}"  # cookies do not know ports

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, let in, or pass on with the headers that keep a page to itself."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # nothing here speaks WebSocket

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        answer = self._answer(scope)
        await (answer or self.app)(scope, receive, with_headers)

    def _answer(self, scope: Scope) -> Response | None:
        """What to say instead of passing the request on."""
        headers, method = Headers(scope=scope), scope["method"]
        host = headers.get("host", "")
        if host not in self.hosts:
            return _refused("this address is not the studio's.", 421)
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return _refused("requests from other pages are refused.")
        if method not in READING and headers.get("origin") != f"http://{host}":
            return _refused("what changes something must come from the studio's own page.")
        if method in READING and scope["path"] == "/":
            given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
            if given and self._is_token(given):
                welcome = RedirectResponse("/", 303)
                welcome.set_cookie(self.cookie, self.token, httponly=True, samesite="strict", path="/")
                return welcome
        if not self._is_token(self._from_cookie(headers)):
            return _refused("open the address that 'precede studio' has printed: it holds the key.")
        return None

    def _from_cookie(self, headers: Headers) -> str:
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            return ""
        return "" if found is None else found.value

    def _is_token(self, text: str) -> bool:
        return secrets.compare_digest(text.encode(), self.token.encode())


def _refused(why: str, status: int = 403) -> Response:
    return PlainTextResponse(f"Refused: {why}\n", status)
