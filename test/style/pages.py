"""Pages: links and their anchors, paths of the repository, columns."""
import glob
import posixpath
import re
import unicodedata

from tree import CPP, Violation

COLUMNS = 120
CELL_COLUMNS = 240
LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)")
SPAN = re.compile(r"`([^`\n]+)`")
LONG_SPAN = re.compile(r"`[^`]+`")
# A word of a code span that looks like a path of the repository.
FOLDERS = ("src", "tools", "test", "bench", "scripts", "cmake", "sql", "docs", ".ci")
PATH = re.compile(rf"^(?:{'|'.join(re.escape(folder) for folder in FOLDERS)})/[\w./*{{}},-]+$")
PLACEHOLDER = re.compile(r"(?:^|[/_.])[A-Z](?:[/_.]|$)|<|…|\$")
# Pages that comments of sources name.
NAMED_PAGE = re.compile(r"\bdocs/[\w/-]+\.md\b")


def without_code(text):
    """The text with the lines of code blocks emptied, so that line numbers stay."""
    lines, code = [], False
    for line in text.split("\n"):
        fence = line.lstrip().startswith("```")
        lines.append("" if code or fence else line)
        code ^= fence
    return lines


def anchors(text):
    """The anchors that GitHub makes of a page's headings."""
    found = set()
    for line in without_code(text):
        heading = re.match(r"#+\s+(.*)", line)
        if not heading:
            continue
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.group(1)).strip().lower()
        kept = "".join(c for c in words if c in " -_" or unicodedata.category(c)[0] in "LN")
        slug, number = kept.replace(" ", "-"), 0
        while (name := slug if not number else f"{slug}-{number}") in found:
            number += 1
        found.add(name)
    return found


def check_columns(tree):
    found = []
    for path in tree.paths(".md"):
        for number, line in enumerate(without_code(tree.read(path)), 1):
            limit = CELL_COLUMNS if line.lstrip().startswith("|") else COLUMNS
            longest = max(map(len, line.split(" | "))) if limit == CELL_COLUMNS else len(line)
            if longest > limit:
                what = "columns in a cell" if limit == CELL_COLUMNS else "columns"
                found.append(Violation("columns", path, f"{path}:{number}: {longest} {what}, {limit} at most", longest))
    return found


def link_problem(tree, path, target):
    """What is wrong with a link, or None."""
    if re.match(r"[a-z]+:", target):
        return None
    file, _, anchor = target.partition("#")
    goal = posixpath.normpath(posixpath.join(posixpath.dirname(path), file)) if file else path
    if not (tree.root / goal).exists():
        return f"{target}: there is no {goal}"
    if anchor and goal.endswith(".md") and anchor not in anchors(tree.read(goal)):
        return f"{target}: {goal} has no such heading"
    return None


def check_links(tree):
    found = []
    for path in tree.paths(".md"):
        # A link's text may go on in the next line, and so may a code span.
        text = LONG_SPAN.sub(lambda span: "\n" * span.group().count("\n"), "\n".join(without_code(tree.read(path))))
        for link in LINK.finditer(text):
            if problem := link_problem(tree, path, link.group(1)):
                number = text.count("\n", 0, link.start()) + 1
                found.append(Violation("links", f"{path} {link.group(1)}", f"{path}:{number}: {problem}"))
    for path in tree.paths(*CPP, ".def", ".py", ".sh", ".sql", ".cmake", ".txt"):
        for page in set(NAMED_PAGE.findall(tree.read(path))):
            if not path.startswith("test/style/") and not (tree.root / page).exists():
                found.append(Violation("links", f"{path} {page}", f"{path}: there is no {page}"))
    return found


def alternatives(word):
    """`a.{cpp,hpp}` as the shell expands it."""
    braces = re.search(r"\{([^{}]*)\}", word)
    if not braces:
        return [word]
    return [name for part in braces.group(1).split(",")
            for name in alternatives(word[:braces.start()] + part + word[braces.end():])]


def check_paths(tree):
    found = []
    for path in tree.paths(".md"):
        for number, line in enumerate(without_code(tree.read(path)), 1):
            for span in SPAN.findall(line):
                word = span.split(" ")[0].split(":")[0].rstrip(".,")
                if not PATH.match(word) or PLACEHOLDER.search(word):
                    continue
                for name in alternatives(word):
                    # `src/base/status` stands for its header and source.
                    if not glob.glob(str(tree.root / name)) and not glob.glob(str(tree.root / name) + ".*"):
                        found.append(Violation("paths", f"{path} {name}", f"{path}:{number}: there is no {name}"))
    return found
