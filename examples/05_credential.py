"""A credential plugin: what `kubectl` runs to find out who you are.

In a kubeconfig:

    users:
    - name: ali
      user:
        exec:
          apiVersion: client.authentication.k8s.io/v1
          command: hardpoint
          args: [credential, examples/05_credential.py]
          interactiveMode: IfAvailable
"""

from datetime import UTC, datetime, timedelta

from hardpoint import App
from hardpoint.credential import ExecInfo, Token

app = App("sesame")


@app.credential
def log_in(info: ExecInfo) -> Token:
    word = input("What opens the cave? ") if info.interactive else "open-sesame"
    return Token(word, expires=datetime.now(UTC) + timedelta(hours=1))
