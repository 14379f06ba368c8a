"""Schemas with rules, and objects for them, drawn at random: mostly right, and wrong in one place or two."""

from __future__ import annotations

import random
from collections.abc import Callable
from copy import deepcopy
from typing import Any

Json = dict[str, Any]

RULES = "x-kubernetes-validations"
LIST_TYPE, LIST_KEYS, MAP_TYPE = "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type"
PRESERVE, EMBEDDED = "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"
INT_OR_STRING = "x-kubernetes-int-or-string"
NAMES = ("a", "b", "c-d", "e.f", "namespace", "x__y", "1st", "kind")
FORMATS = ("date-time", "date", "duration", "byte", "email", "ipv4", "uuid", "uri", "int64", "odd")
TEXTS = ("", "a", "abc", "x y", "10.0.0.1", "2020-01-01", "2020-01-01T00:00:00Z", "1h", "3 days", "YWJj", "a@b.c", "5")
NUMBERS = (0, 1, 2, 5, -1, 3.5, 1e3, 2**31, 100)
REASONS = ("FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate", "FieldValueInvalid", "Nonsense")


class Draw:
    """One definition and what is done with it. The same number draws the same."""

    def __init__(self, number: int) -> None:
        self._random = random.Random(number)

    def chance(self, one_in: int) -> bool:
        return self._random.randrange(one_in) == 0

    def pick(self, choices: Any) -> Any:
        return self._random.choice(choices)

    def definition_schema(self) -> Json:
        spec = self._object(3)
        if self.chance(3):
            spec = self.ruled(spec)
        whole: Json = {"type": "object", "properties": {"spec": spec}}
        if self.chance(4):
            whole["properties"]["status"] = self.ruled(self._object(1))
        if self.chance(6):
            whole["properties"]["metadata"] = {"type": "object", "properties": {"name": self._string()}}
        return self.ruled(whole, "self.metadata.name") if self.chance(4) else whole

    def wrong(self, schema: Json) -> Json:
        """The schema with a mistake somewhere."""
        changed = deepcopy(schema)
        self._mistake(self.pick(list(_spine(changed))))
        return changed

    def tightened(self, schema: Json) -> Json:
        """The schema with more rules and limits, so that what was stored may not fit."""
        changed = deepcopy(schema)
        for part in _spine(changed["properties"]["spec"]):
            if self.chance(3):
                part |= self._limits(part.get("type", ""))
            if self.chance(4):
                self.ruled(part)
        return changed

    def schema(self, depth: int) -> Json:
        kinds: list[Callable[[int], Json]] = [self._scalar, self._scalar, self._scalar]
        if depth > 0:
            kinds += [self._object, self._list, self._list, self._map, self._special]
        made: Json = self.pick(kinds)(depth)
        if self.chance(6):
            made["nullable"] = True
        if self.chance(5):
            self.ruled(made)
        if self.chance(8):
            made[self.pick(("allOf", "anyOf", "oneOf"))] = [self._limits(made.get("type", "")) for _ in range(2)]
        return made

    def _scalar(self, depth: int) -> Json:
        return self.pick((self._string, self._integer, self._boolean, self._number))()

    def _string(self) -> Json:
        made = {"type": "string"} | (self._limits("string") if self.chance(3) else {})
        if self.chance(4):
            made["format"] = self.pick(FORMATS)
        if self.chance(8):
            made["default"] = self.pick(TEXTS)
        return made

    def _integer(self) -> Json:
        made = {"type": "integer"} | (self._limits("integer") if self.chance(3) else {})
        return made | ({"default": self.pick((1, 2, 5))} if self.chance(8) else {})

    def _boolean(self) -> Json:
        return {"type": "boolean"}

    def _number(self) -> Json:
        return {"type": "number"} | (self._limits("number") if self.chance(3) else {})

    def _object(self, depth: int) -> Json:
        names = self._random.sample(NAMES, self._random.randrange(1, 4))
        made: Json = {"type": "object", "properties": {name: self.schema(depth - 1) for name in names}}
        if self.chance(3):
            made["required"] = [self.pick(names)]
        if self.chance(6):
            made[PRESERVE] = True
        if self.chance(8):
            made[MAP_TYPE] = self.pick(("atomic", "granular"))
        return made

    def _map(self, depth: int) -> Json:
        made = {"type": "object", "additionalProperties": self.schema(depth - 1)}
        return made | ({"maxProperties": self.pick((2, 10, 1000))} if self.chance(2) else {})

    def _list(self, depth: int) -> Json:
        made: Json = {"type": "array", "items": self.schema(depth - 1)}
        if self.chance(2):
            made["maxItems"] = self.pick((1, 3, 10, 1000))
        if self.chance(2):
            keys = self.pick((["a"], ["a"], ["a", "b"]))
            fields = {key: self.pick(({"type": "string"}, {"type": "integer"})) for key in keys}
            items = {"type": "object", "required": keys, "properties": fields | {"v": self.schema(0)}}
            made |= {LIST_TYPE: "map", LIST_KEYS: keys, "items": self.ruled(items) if self.chance(2) else items}
        elif self.chance(3):
            made |= {LIST_TYPE: "set", "items": self._scalar(0)}
        return made

    def _special(self, depth: int) -> Json:
        return deepcopy(
            self.pick(
                (
                    {INT_OR_STRING: True},
                    {PRESERVE: True},
                    {"type": "object", PRESERVE: True},
                    {"type": "object", EMBEDDED: True, PRESERVE: True},
                    {"type": "object", EMBEDDED: True, "properties": {"spec": {"type": "object"}}},
                )
            )
        )

    def _limits(self, kind: str) -> Json:
        choices: dict[str, tuple[Json, ...]] = {
            "string": (
                {"maxLength": 3},
                {"minLength": 2},
                {"pattern": "^a"},
                {"enum": ["a", "abc"]},
                {"maxLength": 99},
            ),
            "integer": ({"minimum": 2}, {"maximum": 4}, {"multipleOf": 2}, {"enum": [1, 2]}),
            "number": ({"minimum": 1.5}, {"maximum": 10, "exclusiveMaximum": True}),
            "array": ({"maxItems": 2}, {"minItems": 2}),
            "object": ({"maxProperties": 2}, {"minProperties": 1}, {"required": ["a"]}),
        }
        return deepcopy(self.pick(choices.get(kind, ({},))))

    def ruled(self, schema: Json, more: str = "") -> Json:
        """The schema itself, with rules that mostly fit it."""
        rules = schema.setdefault(RULES, [])
        for _ in range(self._random.randrange(1, 3)):
            rule: Json = {"rule": self._expression(schema, more)}
            if self.chance(3):
                rule["message"] = self.pick(("not so", "  spaces  ", "line\nbreak", ""))
            if self.chance(5):
                rule["messageExpression"] = self.pick(("'is ' + string(self)", "'fixed'", "''", "1", "string(oldSelf)"))
            if self.chance(5):
                rule["reason"] = self.pick(REASONS)
            if self.chance(8):
                rule["fieldPath"] = self.pick((".a", ".spec", ".c-d", "['e.f']", ".v", "a", ".a.b"))
            if "oldSelf.hasValue" in rule["rule"] or self.chance(20):
                rule["optionalOldSelf"] = self.pick((True, True, False))
            rules.append(rule)
        return schema

    def _expression(self, schema: Json, more: str) -> str:
        made: list[str] = [self._about(schema, "self", 2) for _ in range(self._random.randrange(1, 3))]
        if more and self.chance(2):
            made.append(f"{more}.startsWith('n')")
        if self.chance(5):
            made.append(
                self.pick(("self == oldSelf", "oldSelf.hasValue() || true", "oldSelf != self", "self in [oldSelf]"))
            )
        if self.chance(12):
            made.append(
                self.pick(("self.nope > 1", "self", "1 +", "self.size()", "undefined(self)", "'a' > 1", "dyn(1) > 'a'"))
            )
        return self.pick((" && ", " || ", " &&\n ")).join(made)

    def _about(self, schema: Json, path: str, depth: int) -> str:
        """A condition on what lies at a path."""
        match schema.get("type"):
            case "string":
                return self._about_text(schema.get("format", ""), path)
            case "integer":
                return f"{path} {self.pick(('>', '<', '==', '!='))} {self.pick((1, 2, 5))}"
            case "number":
                return f"{path} {self.pick(('>', '<'))} {self.pick(('1.5', '2.0', '2'))}"
            case "boolean":
                return path
            case "array":
                return self._about_list(schema, path, depth)
            case "object":
                return self._about_object(schema, path, depth)
        if schema.get(INT_OR_STRING):
            return self.pick((f"type({path}) == int", f"{path} == 5", f"{path} < 5"))
        return f"{path} == {path}"

    def _about_text(self, layout: str, path: str) -> str:
        if layout in ("date", "date-time"):
            return f"{path} > timestamp('2020-01-01T00:00:00Z')"
        if layout == "duration":
            return f"{path} < duration('2h')"
        if layout == "byte":
            return f"size({path}) < 5"
        tests = ("{} == 'abc'", "{}.startsWith('a')", "{}.matches('^[a-z]+$')", "{}.size() > 1", "{}.contains('b')")
        return str(self.pick((*tests, "isQuantity({})", "{}.lowerAscii() == {}"))).replace("{}", path)

    def _about_list(self, schema: Json, path: str, depth: int) -> str:
        if depth == 0 or self.chance(4):
            return self.pick((f"{path}.size() < 3", f"{path} == {path}", f"size({path}) > 0"))
        item = f"i{depth}"
        loop = self.pick(("all", "exists", "exists_one"))
        return f"{path}.{loop}({item}, {self._about(schema.get('items') or {}, item, depth - 1)})"

    def _about_object(self, schema: Json, path: str, depth: int) -> str:
        values = schema.get("additionalProperties")
        if isinstance(values, dict):
            if depth == 0 or self.chance(3):
                return f"'a' in {path}"
            key = f"k{depth}"
            return f"{path}.all({key}, {self._about(values, f'{path}[{key}]', depth - 1)})"
        properties = {name: child for name, child in (schema.get("properties") or {}).items() if name != "1st"}
        if not properties or depth < 0:
            return f"{path} == {path}"
        name = self.pick(sorted(properties))
        field = f"{path}.{_spelled(name)}"
        condition = self._about(properties[name], field, depth - 1)
        return self.pick((condition, f"!has({field}) || {condition}", f"has({field})"))

    def _mistake(self, schema: Json) -> None:
        match self._random.randrange(16):
            case 0:
                schema["type"] = self.pick(("strnig", "null", "", "object", "string"))
            case 1:
                schema.pop("type", None)
            case 2:
                schema["default"] = self.pick((1, "x", [], {}, {"zz": 1}, None, True))
            case 3:
                schema["pattern"] = "("
            case 4:
                schema["additionalProperties"] = self.pick((True, False, {"type": "string"}))
            case 5:
                schema["uniqueItems"] = True
            case 6:
                schema[LIST_TYPE] = self.pick(("set", "map", "atomic", "odd"))
            case 7:
                schema[LIST_KEYS] = self.pick((["a"], ["zz"], ["a", "a"]))
            case 8:
                schema[MAP_TYPE] = self.pick(("atomic", "odd"))
            case 9:
                schema[self.pick((EMBEDDED, INT_OR_STRING, PRESERVE))] = self.pick((True, False))
            case 10:
                schema["items"] = self.pick(({}, {"type": "string"}, {"type": "object", "nullable": True}))
            case 11:
                schema[self.pick(("allOf", "anyOf", "oneOf"))] = [self.schema(0)]
            case 12:
                schema["not"] = self.pick(
                    ({"required": ["a"]}, {"properties": {"zz": {"minimum": 1}}}, {"type": "string"})
                )
            case 13:
                schema["nullable"] = True
            case 14:
                schema[self.pick(("$ref", "id", "format", "title"))] = "x"
            case _:
                schema.setdefault(RULES, []).append(
                    self.pick(({"rule": ""}, {"rule": "self.q == 1"}, {"rule": "true"}))
                )

    def value(self, schema: Json, *, wrong: int = 25) -> Any:
        """A value that mostly fits a schema; one in `wrong` does not."""
        if self.chance(wrong):
            return self.pick((None, "x", 1, 2.5, True, [], {}, ["a", "a"], {"a": 1, "zz": {}}))
        if schema.get("nullable") and self.chance(4):
            return None
        if schema.get("enum") and not self.chance(4):
            return self.pick(schema["enum"])
        match schema.get("type"):
            case "string":
                return self.pick(TEXTS)
            case "integer":
                return self.pick((0, 1, 2, 3, 5))
            case "number":
                return self.pick(NUMBERS)
            case "boolean":
                return self.chance(2)
            case "array":
                return [self.value(schema.get("items") or {}, wrong=wrong) for _ in range(self._random.randrange(4))]
            case "object":
                return self._object_value(schema, wrong)
        return self.pick((1, "x", "5%", {"apiVersion": "v1", "kind": "Pod"}))

    def _object_value(self, schema: Json, wrong: int) -> Json:
        values = schema.get("additionalProperties")
        if isinstance(values, dict):
            names = self._random.sample(("a", "b", "c.d", "e f"), self._random.randrange(3))
            return {name: self.value(values, wrong=wrong) for name in names}
        made: Json = {}
        if schema.get(EMBEDDED):
            made |= {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": self.pick(("n", "N"))}}
        for name, child in (schema.get("properties") or {}).items():
            if not self.chance(5) or (name in schema.get("required", ()) and not self.chance(5)):
                made[name] = self.value(child, wrong=wrong)
        if schema.get(PRESERVE) and self.chance(2):
            made["more"] = self.pick((1, {"x": None}, []))
        return made

    def changed(self, value: Any, schema: Json) -> Any:
        """The value with some part of it drawn anew."""
        if self.chance(4):
            return self.value(schema)
        if isinstance(value, dict) and value:
            name = self.pick(sorted(value))
            child = (schema.get("properties") or {}).get(name, schema.get("additionalProperties"))
            return {**value, name: self.changed(value[name], child if isinstance(child, dict) else {})}
        if isinstance(value, list) and value:
            changed = [*value]
            if self.chance(2):
                self._random.shuffle(changed)
                return changed
            index = self._random.randrange(len(changed))
            changed[index] = self.changed(changed[index], schema.get("items") or {})
            return changed
        return self.value(schema)


def _spelled(name: str) -> str:
    spelled = {"c-d": "c__dash__d", "e.f": "e__dot__f", "x__y": "x__underscores__y"}
    return spelled.get(name, name)


def _spine(schema: Json) -> list[Json]:
    found = [schema]
    for child in (schema.get("properties") or {}).values():
        found += _spine(child)
    for word in ("items", "additionalProperties"):
        if isinstance(schema.get(word), dict):
            found += _spine(schema[word])
    return found
