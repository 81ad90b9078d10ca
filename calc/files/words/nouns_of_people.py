"""Nouns of people, who use a service, apart from nouns of things that have their endings."""

import re

# Endings of plural nouns of what people do, and nouns of things that end so too.
PERSONS = re.compile(r"(?:er|or|ist|ant|ian|ee|yst)s$")
THINGS = re.compile(
    r"\b(?:pap|ord|lett|fold|serv|contain|clust|off|numb|chapt|lay|paramet|cent|quart|comput"
    r"|print|rout|newslett|head|count|regist|corn|bord|adapt|transform|tim|scann|controll"
    r"|trail|bann|post|fly|stick|filt|pars|suppli|provid|mark|pictur|caterpill|fing)ers$"
    r"|\b(?:sens|monit|process|fact|err|do|flo|vend|competit|mirr|react|vect|connect|sect|mot"
    r"|generat|elevat|indicat|adapt|descript|behavi|col)ors$"
    r"|\b(?:restaur|pl|vari|merch)ants$|\b(?:committ|tr|f|coff|degr|guarant)ees$"
)


def are_persons(words: str) -> bool:
    """Return whether the noun of a count is of people by its ending: 40 brokers, not 40 orders."""
    return bool(PERSONS.search(words)) and not THINGS.search(words)
