"""The socket server: HTTP/1.1 over TLS in, `Request` values out to a `Handler`, and its `Response` back.

    async with await serve(api.handle, host="127.0.0.1", port=6443, ssl_context=context) as server:
        ...

reading.py     bytes to Requests, and what is refused before anybody is asked
writing.py     Responses to bytes
streaming.py   the pieces of a stream, sent together when they come together
patience.py    how long a peer may take
connection.py  one connection: in order, with back-pressure
server.py      all of them: listen, sweep, stop
"""

from hardpoint.apiserver.http.limits import Limits
from hardpoint.apiserver.http.server import HttpServer, bind, serve

__all__ = ["HttpServer", "Limits", "bind", "serve"]
