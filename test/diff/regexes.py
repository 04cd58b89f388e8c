"""Regular expressions: fixed odd ones, and random ones of what PostgreSQL and the engine understand alike."""

REGEXES = ["", "a", "^a", "b$", "^ab$", "^$", "a.*b", "a.+b", "^.$", "^..", "日", "ä", "a|日", "^a|b$", "\\\\", "\\.", "_", "%", "A", "x{12}"]
REGEXES += ["[ab]", "a+", "(a|b)c", "a\\d", "a.?b", "^a.*", ".*$", "$", "^", "a$b", "a^"]
ATOMS = ["a", "b", "A", "1", " ", ".", "_", "[ab]", "[^a]", "[a-c]", "[A-Z]", "[]a]", "[a-]", "[0-9_]", "\\d", "\\s", "\\w", "\\W", "\\D"]
ATOMS += ["[[:alpha:]]", "[^[:space:]]", "[[:upper:]1]", "[\\d.]", "(?:ab)", "\\.", "\\-", "\\t", "ä", "[ä-ö]", "日"]
QUANTIFIERS = ["", "", "", "", "*", "+", "?", "{2}", "{1,3}", "{0,2}", "{1,}"]


def random_regex(rng, depth=2):
    """An expression of the parts that PostgreSQL and the engine understand alike."""

    def piece():
        if rng.random() < 0.08:
            return rng.choice(["\\y", "\\Y"])
        atom = f"({random_regex(rng, depth - 1)})" if depth > 0 and rng.random() < 0.2 else rng.choice(ATOMS)
        return atom + rng.choice(QUANTIFIERS)

    branches = []
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        pieces = "".join(piece() for _ in range(rng.randint(1, 4)))
        branches.append(rng.choice(["", "", "^"]) + pieces + rng.choice(["", "", "$"]))
    return "|".join(branches)
