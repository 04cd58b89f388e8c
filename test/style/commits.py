"""Subjects of commits: imperative, at most 72 characters. Those since base.txt, where git has the history."""
import re

from tree import Violation

MOST_CHARACTERS = 72
# First words that look like a third person, a past or a noun, and are imperatives.
IMPERATIVES = {"Alias", "Bias", "Bring", "Embed", "Exceed", "Feed", "Focus", "Need", "Proceed", "Seed", "Shed", "Speed",
               "String"}
# First words that are no verbs.
NOT_VERBS = {"A", "All", "An", "And", "Another", "Better", "Both", "Each", "Every", "Faster", "First", "For", "From",
             "Further", "How", "If", "In", "It", "Its", "Last", "Less", "Many", "Minor", "More", "New", "No", "None",
             "Not", "Now", "Of", "On", "One", "Only", "Other", "Our", "Plainer", "Several", "Simple", "Small", "Some",
             "That", "The", "Their", "These", "They", "This", "Three", "To", "Two", "Various", "What", "When", "Where",
             "Which", "Why", "With", "Without", "Work"}


def problem(subject):
    """What is wrong with a subject, or None."""
    if len(subject) > MOST_CHARACTERS:
        return f"{len(subject)} characters, {MOST_CHARACTERS} at most"
    word = subject.split(" ")[0]
    if not re.fullmatch(r"[A-Z][a-z-]+", word):
        return f"begins with {word!r}, not with a capitalised verb"
    if word in IMPERATIVES:
        return None
    if word in NOT_VERBS or re.search(r"(?:ed|ing|[^s]s)$", word):
        return f"begins with {word!r}, which is no imperative"
    if subject.endswith("."):
        return "ends with a full stop"
    return None


def check_commits(tree, base=None, say=print):
    base = base or tree.base()
    if not tree.has_commit(base):
        say(f"        commits: this tree's history does not reach back to {base}")
        return []
    found = []
    for line in tree.git("log", "--no-merges", "--format=%H %s", f"{base}..HEAD").splitlines():
        name, _, subject = line.partition(" ")
        if wrong := problem(subject):
            found.append(Violation("commits", name, f"{name[:10]} {subject}: {wrong}"))
    return found
