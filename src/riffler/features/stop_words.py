"""English words that say nothing of what a text is about: articles, pronouns, prepositions, conjunctions, auxiliaries.

The list is short on purpose: words that may be the topic of a collection (computer, system, well, second) are not in
it. Pieces that contractions leave behind (doesn from doesn't) are.
"""

from __future__ import annotations

from collections.abc import Sequence

from riffler.errors import InputError, UnknownName

ENGLISH = tuple(
    """
    a an the
    i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers
    herself it its itself they them their theirs themselves one oneself who whom whose which what this that these those
    someone somebody something anyone anybody anything everyone everybody everything nobody nothing none
    about above across after against along among amongst around as at before behind below beneath beside besides between
    beyond by despite down during except for from in inside into like near of off on onto out outside over per since
    than through throughout till to toward towards under until unto up upon via with within without
    and but or nor so yet if else then because although though while whilst whereas whether unless once
    am is are was were be been being do does did doing done has have had having
    can could may might must shall should will would ought cannot
    isn aren wasn weren don doesn didn hasn haven hadn won wouldn shan shouldn couldn mustn needn mightn ain ll ve re
    not no any all both each every either neither some such same other others another many much more most few fewer less
    least several enough own only just even also too very quite rather almost already still ever never always often
    again further here there where when why how now however therefore thus hence moreover furthermore nevertheless
    wherever whenever whatever whichever whoever thereby therein thereafter hereby herein whereby wherein
    elsewhere otherwise instead indeed perhaps maybe
    etc eg ie
    """.split()  # noqa: SIM905 - a page of words reads better than a list
)

LANGUAGES = {"english": ENGLISH}


def resolve_stop_words(stop_words: str | Sequence[str] | None) -> tuple[str, ...]:
    """Turn the name of a language, a list of words or None into words.

    >>> resolve_stop_words(None), resolve_stop_words(["der", "die"]), "the" in resolve_stop_words("english")
    ((), ('der', 'die'), True)
    """
    if stop_words is None:
        return ()
    if isinstance(stop_words, str):
        if stop_words not in LANGUAGES:
            raise UnknownName.among("list of stop words", stop_words, LANGUAGES)
        return LANGUAGES[stop_words]
    words = tuple(stop_words)
    wrong = [word for word in words if not isinstance(word, str)]
    if wrong:
        raise InputError(f"Stop words must be strings, got {wrong[0]!r} of type {type(wrong[0]).__name__}.")
    return words
