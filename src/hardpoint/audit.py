"""The words of an audit sink: `from hardpoint.audit import AuditEvent`."""

from hardpoint.seams.audit.guest import AuditEvent, ObjectReference, ResponseStatus, UserInfo

__all__ = ["AuditEvent", "ObjectReference", "ResponseStatus", "UserInfo"]
