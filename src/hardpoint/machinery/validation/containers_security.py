"""What makes a security context invalid, a container's or a whole pod's: ids, profiles, sysctls, Windows options."""

from __future__ import annotations

import re
from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import (
    FieldError,
    duplicate,
    invalid,
    invalids,
    json_as_go,
    not_supported,
    required,
    too_long,
)
from hardpoint.machinery.validation.paths import descending

Json = dict[str, Any]
Errors = list[FieldError]

PROFILE_TYPES = ("Localhost", "RuntimeDefault", "Unconfined")
LOCAL_PROFILE_LENGTH_MAX = 4095
SYSCTL_LENGTH_MAX = 253
CREDENTIAL_SPEC_KIB_MAX = 64
WINDOWS_DOMAIN_LENGTH_MAX = 256
WINDOWS_USER_LENGTH_MAX = 104

_SYSCTL_PATTERN = r"^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$"
_SYSCTL = re.compile(_SYSCTL_PATTERN.strip("^$"))
_IPC_SYSCTLS = frozenset(
    f"kernel.{name}"
    for name in ("msg", "msgmax", "msgmnb", "msgmni", "sem", "shm", "shm_rmid_forced", "shmall", "shmmax", "shmmni")
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_NETBIOS = re.compile(r'[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}')
_DNS_PART = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_WINDOWS_DOMAIN = re.compile(rf"{_DNS_PART}(?:\.{_DNS_PART})*")
_WINDOWS_USER_FORBIDDEN = re.compile(r'["/\\:;|=,+*?<>@\[\]]')

# The internal form, whose names and order upstream's messages show.
_SECURITY_CONTEXT = (
    "Capabilities",
    "Privileged",
    "SELinuxOptions",
    "WindowsOptions",
    "RunAsUser",
    "RunAsGroup",
    "RunAsNonRoot",
    "ReadOnlyRootFilesystem",
    "AllowPrivilegeEscalation",
    "ProcMount",
    "SeccompProfile",
    "AppArmorProfile",
)


def container_context(errors: Errors, path: str, context: Json, *, host_users: bool) -> None:
    """`securityContext` of a container. `host_users` is false where the pod has a user namespace of its own."""
    _ids(errors, path, context, ("runAsUser", "runAsGroup"))
    mount = context.get("procMount")
    if mount is not None:
        if mount not in ("Default", "Unmasked"):
            errors.append(not_supported(f"{path}.procMount", mount, ("Default", "Unmasked")))
        if host_users and mount == "Unmasked":
            errors.append(invalid(f"{path}.procMount", mount, "`hostUsers` must be false to use `Unmasked`"))
    _seccomp(errors, f"{path}.seccompProfile", context.get("seccompProfile"))
    if context.get("allowPrivilegeEscalation") is False:
        _no_escalation(errors, path, context)
    windows_options(errors, f"{path}.windowsOptions", context.get("windowsOptions"))
    app_armor(errors, f"{path}.appArmorProfile", context.get("appArmorProfile"))


def pod_context(errors: Errors, path: str, context: Json, spec: Json) -> None:
    """`securityContext` of a pod's spec."""
    _ids(errors, path, context, ("fsGroup", "runAsUser", "runAsGroup"))
    for index, group in enumerate(context.get("supplementalGroups") or ()):
        if wrong := names.group_id(group):
            errors += invalids(f"{path}.supplementalGroups[{index}]", group, wrong)
    _sysctls(errors, f"{path}.sysctls", context.get("sysctls") or [], spec)
    _choice(errors, f"{path}.fsGroupChangePolicy", context.get("fsGroupChangePolicy"), ("Always", "OnRootMismatch"))
    _seccomp(errors, f"{path}.seccompProfile", context.get("seccompProfile"))
    windows_options(errors, f"{path}.windowsOptions", context.get("windowsOptions"))
    app_armor(errors, f"{path}.appArmorProfile", context.get("appArmorProfile"))
    _choice(errors, f"{path}.supplementalGroupsPolicy", context.get("supplementalGroupsPolicy"), ("Merge", "Strict"))
    _choice(errors, f"{path}.seLinuxChangePolicy", context.get("seLinuxChangePolicy"), ("MountOption", "Recursive"))


def app_armor(errors: Errors, path: str, profile: Json | None) -> None:
    if profile is None:
        return
    kind, local = profile.get("type", ""), profile.get("localhostProfile")
    if not kind:
        errors.append(required(f"{path}.type", "type is required when appArmorProfile is set"))
    elif kind not in PROFILE_TYPES:
        errors.append(not_supported(f"{path}.type", kind, PROFILE_TYPES))
    elif kind == "Localhost":
        _local_app_armor(errors, f"{path}.localhostProfile", local)
    elif local is not None:
        errors.append(invalid(f"{path}.localhostProfile", local, "can only be set when AppArmor type is Localhost"))


def windows_options(errors: Errors, path: str, options: Json | None) -> None:
    if not options:
        return
    name, spec = options.get("gmsaCredentialSpecName"), options.get("gmsaCredentialSpec")
    if name is not None and (wrong := names.dns_subdomain(name)):
        errors += invalids(f"{path}.gmsaCredentialSpecName", name, wrong)
    if spec == "":
        told = "gmsaCredentialSpec cannot be an empty string"
        errors.append(invalid(f"{path}.gmsaCredentialSpec", spec, told))
    elif spec is not None and names.length(spec) > CREDENTIAL_SPEC_KIB_MAX * 1024:
        told = f"gmsaCredentialSpec size must be under {CREDENTIAL_SPEC_KIB_MAX} KiB"
        errors.append(invalid(f"{path}.gmsaCredentialSpec", spec, told))
    user = options.get("runAsUserName")
    if user is not None:
        errors += invalids(f"{path}.runAsUserName", user, _windows_user(user))


def _ids(errors: Errors, path: str, context: Json, fields: tuple[str, ...]) -> None:
    for field in fields:
        number = context.get(field)
        if number is not None and (wrong := names.user_id(number)):
            errors += invalids(f"{path}.{field}", number, wrong)


def _choice(errors: Errors, path: str, value: str | None, supported: tuple[str, ...]) -> None:
    if value is not None and value not in supported:
        errors.append(not_supported(path, value, supported))


def _no_escalation(errors: Errors, path: str, context: Json) -> None:
    """Privileges that cannot be taken away by forbidding to gain them."""
    reasons = []
    if context.get("privileged"):
        reasons.append("`privileged` to true")
    added = (context.get("capabilities") or {}).get("add") or ()
    reasons += ["`capabilities.Add` CAP_SYS_ADMIN" for capability in added if capability == "CAP_SYS_ADMIN"]
    shown = _internal(context)
    errors += [
        FieldError("FieldValueInvalid", path, shown, f"cannot set `allowPrivilegeEscalation` to false and {reason}")
        for reason in reasons
    ]


def _internal(context: Json) -> str:
    """The context as upstream's messages show it: the fields of its internal form, absent ones as null."""
    wire = {name: name[0].lower() + name[1:] for name in _SECURITY_CONTEXT} | {"SELinuxOptions": "seLinuxOptions"}
    shown = {name: context.get(wire[name]) for name in _SECURITY_CONTEXT}
    if (capabilities := shown["Capabilities"]) is not None:
        shown["Capabilities"] = {"Add": capabilities.get("add"), "Drop": capabilities.get("drop")}
    return json_as_go(shown)


def _seccomp(errors: Errors, path: str, profile: Json | None) -> None:
    if profile is None:
        return
    kind, local = profile.get("type", ""), profile.get("localhostProfile")
    if not kind:
        errors.append(required(f"{path}.type", "type is required when seccompProfile is set"))
    elif kind not in PROFILE_TYPES:
        errors.append(not_supported(f"{path}.type", kind, PROFILE_TYPES))
    if kind == "Localhost":
        if local is None:
            errors.append(required(f"{path}.localhostProfile", "must be set when seccomp type is Localhost"))
        else:
            descending(errors, f"{path}.localhostProfile", local)
    elif local is not None:
        shown = json_as_go({"Type": kind, "LocalhostProfile": local})
        told = "can only be set when seccomp type is Localhost"
        errors.append(FieldError("FieldValueInvalid", f"{path}.localhostProfile", shown, told))


def _local_app_armor(errors: Errors, path: str, profile: str | None) -> None:
    if profile is None or not profile:
        errors.append(required(path, "must be set when AppArmor type is Localhost"))
        return
    if profile.strip() != profile:
        errors.append(invalid(path, profile, "must not be padded with whitespace"))
    if names.length(profile) > LOCAL_PROFILE_LENGTH_MAX:
        errors.append(too_long(path, LOCAL_PROFILE_LENGTH_MAX))


def _sysctls(errors: Errors, path: str, sysctls: list[Json], spec: Json) -> None:
    seen: set[str] = set()
    for index, sysctl in enumerate(sysctls):
        place, name = f"{path}[{index}].name", sysctl.get("name", "")
        if not name:
            errors.append(required(place))
        elif names.length(name) > SYSCTL_LENGTH_MAX or not _SYSCTL.fullmatch(name):
            told = f"must have at most {SYSCTL_LENGTH_MAX} characters and match regex {_SYSCTL_PATTERN}"
            errors.append(invalid(place, name, told))
        elif name in seen:
            errors.append(duplicate(place, name))
        if (shared := _shared_with_host(name, spec)) is not None:
            errors.append(invalid(place, name, shared))
        seen.add(name)


def _shared_with_host(sysctl: str, spec: Json) -> str | None:
    """Why a pod that shares the host's namespace may not set the sysctl, or None."""
    name = _dotted(sysctl).partition("*")[0]
    if spec.get("hostNetwork") and name.startswith("net."):
        return "may not be specified when 'hostNetwork' is true"
    if spec.get("hostIPC") and (name in _IPC_SYSCTLS or name.startswith("fs.mqueue.")):
        return "may not be specified when 'hostIPC' is true"
    return None


def _dotted(sysctl: str) -> str:
    """sysctl(8) takes `net/ipv4/x` for `net.ipv4.x`; the first separator decides which way a name is written."""
    first = re.search(r"[./]", sysctl)
    if first is None or first[0] == ".":
        return sysctl
    return sysctl.translate(str.maketrans("./", "/."))


def _windows_user(value: str) -> list[str]:
    if not value:
        return ["runAsUserName cannot be an empty string"]
    if _CONTROL.search(value):
        return ["runAsUserName cannot contain control characters"]
    if value.count("\\") > 1:
        return ["runAsUserName cannot contain more than one backslash"]
    domain, separator, user = value.rpartition("\\")
    wrong = []
    if names.length(domain) >= WINDOWS_DOMAIN_LENGTH_MAX:
        wrong.append(f"runAsUserName's Domain length must be under {WINDOWS_DOMAIN_LENGTH_MAX} characters")
    if separator and not _NETBIOS.fullmatch(domain) and not _WINDOWS_DOMAIN.fullmatch(domain):
        wrong.append("runAsUserName's Domain doesn't match the NetBios nor the DNS format")
    if not user:
        wrong.append("runAsUserName's User cannot be empty")
    elif names.length(user) > WINDOWS_USER_LENGTH_MAX:
        wrong.append(f"runAsUserName's User length must not be longer than {WINDOWS_USER_LENGTH_MAX} characters")
    if user and not user.strip(". "):
        wrong.append("runAsUserName's User cannot contain only periods or spaces")
    if _WINDOWS_USER_FORBIDDEN.search(user):
        wrong.append("runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]")
    return wrong


def windows_host_process(errors: Errors, path: str, spec: Json, contexts: list[tuple[str, Json]]) -> None:
    """All containers of a pod run as processes of a Windows host, or none. `contexts` are theirs, with their paths."""
    of_pod = ((spec.get("securityContext") or {}).get("windowsOptions") or {}).get("hostProcess")
    count = 0
    for place, context in contexts:
        own = (context.get("windowsOptions") or {}).get("hostProcess")
        if of_pod is not None and own is not None and of_pod != own:
            told = f"pod hostProcess value must be identical if both are specified, was {str(of_pod).lower()}"
            errors.append(invalid(f"{place}.securityContext.windowsOptions.hostProcess", own, told))
        count += bool(of_pod if own is None else own)
    if not count:
        return
    if count != len(contexts):
        told = "If pod contains any hostProcess containers then all containers must be HostProcess containers"
        errors.append(invalid(path, "", told))
    if not spec.get("hostNetwork"):
        told = "hostNetwork must be true if pod contains any hostProcess containers"
        errors.append(invalid(f"{path}.hostNetwork", False, told))
