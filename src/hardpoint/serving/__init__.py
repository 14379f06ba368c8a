"""The socket server: HTTP/1.1 over TLS in, `Request` values out to a `Handler`, and its `Response` back.

    async with await serve(api.handle, host="127.0.0.1", port=6443, ssl_context=context) as server:
        ...

reading.py     bytes to Requests, and what is refused before anybody is asked
writing.py     Responses to bytes
streaming.py   the pieces of a stream, sent together when they come together
patience.py    how long a peer may take
connection.py  one connection: in order, with back-pressure
server.py      all of them: listen, sweep, stop
tls.py         the TLS side: versions, ciphers, whose client certificates
peers.py       who is at the other end, and who vouches for them
health.py      /healthz and its like: checks by name
certificates.py, issuing.py   certificates in a folder, made when they are due

The API server listens with it, and so does every webhook written with the SDK.
"""

from hardpoint.serving.limits import Limits
from hardpoint.serving.server import HttpServer, bind, bind_or_any, serve

__all__ = ["HttpServer", "Limits", "bind", "bind_or_any", "serve"]
