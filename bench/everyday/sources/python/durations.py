"""Durations, slugs and medians, some of them wrong.

>>> parse("1h30m")
5400
>>> render(5400)
'1h30m'
>>> slug("Hello World")
'hello-world'
>>> median([3, 1, 2])
2
>>> clamp(12, 0, 10)
10
"""
import re

UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1}


def parse(text):
    """Seconds of a duration like 1h30m.

    >>> parse("2d")
    172800
    >>> parse("90")
    90
    """
    if not re.fullmatch(r"(?:\d+[dhms])+", text):
        raise ValueError(f"no duration: {text!r}")
    return sum(int(number) * UNITS[unit] for number, unit in re.findall(r"(\d+)([dhms])", text))


def render(seconds):
    """The shortest text of a duration."""
    parts = []
    for unit, size in UNITS.items():
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts)


def slug(text):
    """Words in lower case, joined by dashes."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower())


def median(values):
    """The middle value."""
    return sorted(values)[len(values) // 2]


def clamp(value, low, high):
    """The value, or the limit that it is beyond."""
    return max(low, min(value, high))
