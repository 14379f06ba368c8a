"""Be told what is asked of a cluster: who did what, and how it was answered.

Try it, in two terminals:

    hardpoint run examples/04_audit_sink.py --write-config webhooks
    hardpoint up --audit-policy-file policy.yaml --audit-webhook-config-file webhooks/audit.yaml
"""

from hardpoint import App
from hardpoint.audit import AuditEvent

app = App("who-did-what")


@app.audit_sink
def tell(events: list[AuditEvent]) -> None:
    for event in events:
        code = event.responseStatus.code if event.responseStatus else "-"
        print(event.user.username or "somebody", event.verb, event.requestURI, code, flush=True)
