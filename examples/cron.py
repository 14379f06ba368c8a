"""When cron would run something: five fields of numbers, `*`, `1-5`, `*/15` and `1,15`."""

from datetime import datetime, timedelta

LOWEST, HIGHEST = (0, 0, 1, 1, 0), (59, 23, 31, 12, 7)


def next_run(schedule: str, after: datetime) -> datetime:
    """The next minute that fits. Raises ValueError if there is none, or if the schedule cannot be read."""
    minutes, hours, days, months, weekdays = map(numbers, schedule.split(), LOWEST, HIGHEST)
    day_fits = all if "*" in schedule.split()[2::2] else any  # Cron's oddity: of two wishes for the day one will do.
    moment = after.replace(second=0, microsecond=0) + timedelta(minutes=1)
    while moment.year < after.year + 9:  # Leap days are at most eight years apart.
        weekday = {moment.isoweekday(), moment.isoweekday() % 7}  # Sunday is 7 and 0.
        if moment.month not in months or not day_fits((moment.day in days, weekday & weekdays)):
            moment = moment.replace(hour=0, minute=0) + timedelta(days=1)
        elif moment.hour not in hours or moment.minute not in minutes:
            moment += timedelta(minutes=1)
        else:
            return moment
    raise ValueError(f"{schedule!r} never comes")


def numbers(field: str, low: int, high: int) -> set[int]:
    """What a field stands for. Raises ValueError."""
    found: set[int] = set()
    for part in field.split(","):
        span, _, step = part.partition("/")
        first, _, last = (f"{low}-{high}" if span == "*" else span).partition("-")
        found.update(range(int(first), int(last or (high if step else first)) + 1, int(step or 1)))
    if not found <= set(range(low, high + 1)):
        raise ValueError(f"{field!r} is not within {low} and {high}")
    return found
