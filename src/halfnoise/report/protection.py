"""How people are protected, and what margins cover, in words that readers can hold."""

from halfnoise.report.markup import Markup, tag
from halfnoise.results.release import GroupedRelease, Released
from halfnoise.results.render import coverage
from halfnoise.text import at_most, percent

WIDE, HIGH, LINE = 360, 58, 22  # of the picture of a guess, and where its line is
START, END = 30, 330  # where a coin flip and certainty stand


def guessing(release: Released) -> list[str]:
    """Say what the noise does, and what somebody may learn of one person at most."""
    answers = release.facts.get("design", {}).get("neighbors") == "replace"
    hidden = "what that person answered" if answers else "whether that person is in the data at all"
    right = at_most(release.guarantee.best_guess)
    noise = "Noise was added to every number before it was published: so much that it hardly"
    noise += f" depends on any one person. {_who(release)}"
    guess = "Suppose somebody knows everything about everybody else, reads this page, and wants to"
    guess += f" find out about one person {hidden}. Their best guess between two possibilities is"
    guess += f" right in at most {right} of cases. Without this page it would be a coin flip, which"
    guess += " is right in 50%."
    more = "This holds for all numbers of the page together, whatever is computed from them and"
    more += " whatever else is known. It is about this release alone: another one about the same"
    more += " people adds to what can be learned of them."
    return [noise, guess, more]


def _who(release: Released) -> str:
    unit = release.facts.get("unit")
    if isinstance(unit, list) and unit:
        return f"All rows with the same {' and '.join(map(str, unit))} are one person."
    return "Each row of the data is one person."


def best_guess(right: float) -> Markup:
    """Return the picture of a guess: where the best one stands between a coin flip and certainty.

    >>> "54.8%" in best_guess(0.5472)
    True
    """
    said = (
        f"The best guess is right in at most {at_most(right)} of cases: a coin flip in 50%,"
        " certainty 100%."
    )
    at = f"{START + (END - START) * (2 * right - 1):.1f}"
    ends = ((START, "50%", "coin flip", "start"), (END, "100%", "certainty", "end"))
    words = []
    for x, share, name, side in ends:
        place = START - 6 if side == "start" else END + 6
        look = {"text_anchor": side, "fill": "var(--quiet)", "font_size": "12.5"}
        words.append(tag("text", f"{share} {name}", x=str(place), y=str(LINE + 30), **look))
        words.append(tag("circle", cx=str(x), cy=str(LINE), r="4", fill="var(--quiet)"))
    line = tag("path", d=f"M{START},{LINE}H{END}", stroke="var(--line)", stroke_width="4")
    gain = tag("path", d=f"M{START},{LINE}H{at}", stroke="var(--mark)", stroke_width="4")
    dot = tag("circle", cx=at, cy=str(LINE), r="8", fill="var(--mark)")
    box = {"viewBox": f"0 0 {WIDE} {HIGH}", "width": str(WIDE), "height": str(HIGH)}
    picture = tag("svg", line, gain, *words, dot, **box, role="img", aria_label=said)
    return tag("div", tag("strong", at_most(right)), picture, class_="guess")


def covered(release: Released) -> list[str]:
    """Say what an interval holds, and what it does not."""
    level = percent(release.level)
    drawn, about, held = "the noise", "", "the number that the data give without noise"
    if release.sampling is not None:
        drawn, about = "the sample and the noise", "about "
        held = "what samples of as many people give on average"
    meant = f"An interval of {level}: were {drawn} drawn again and again, {about}{level} of such"
    meant += f" intervals would hold {held}. A margin of error is how far its farther end is from"
    meant += " the number itself."
    if isinstance(release, GroupedRelease) and release.discovered:
        meant += " Of small groups fewer hold it: they are shown only where noise lifted them over"
        meant += " the threshold."
    rse = "RSE is the relative standard error: that of a number in per cent of the number."
    each = "Each interval is for one number by itself: of many, a few will miss."
    return [meant, *coverage(release), each, rse]
