"""Reading Rust source as text, for the scripts beside this one."""
import re

PLAIN = re.compile(r'//[^\n]*|/\*|b?r(#*)"|b?"(?:[^"\\]|\\.)*"|b?\'(?:[^\'\\]|\\(?:.|\n)[^\']*)\'', re.S)


def blank(text):
    """The text with comments and the contents of strings replaced by spaces: same length, same lines."""
    out, at = [], 0
    erased = lambda part: re.sub(r"[^\n]", " ", part)
    while match := PLAIN.search(text, at):
        out.append(text[at:match.start()])
        end = match.end()
        if match[0] == "/*":  # comments of this kind nest
            depth = 1
            while depth and end < len(text):
                if text.startswith("/*", end):
                    depth, end = depth + 1, end + 2
                elif text.startswith("*/", end):
                    depth, end = depth - 1, end + 2
                else:
                    end += 1
        elif match[1] is not None:
            close = text.find('"' + match[1], end)
            end = len(text) if close < 0 else close + 1 + len(match[1])
        out.append(erased(text[match.start():end]))
        at = end
    return "".join(out) + text[at:]


def closing(text, opening):
    """Index of the brace that closes the one at `opening` of a blanked text."""
    depth = 0
    for at in range(opening, len(text)):
        if text[at] == "{":
            depth += 1
        elif text[at] == "}":
            depth -= 1
            if depth == 0:
                return at
    return len(text) - 1


def without_tests(text):
    """A blanked text without its modules for tests: same lines."""
    for match in reversed(list(re.finditer(r"#\[cfg\(test\)\]\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+\w+\s*\{", text))):
        end = closing(text, match.end() - 1) + 1
        text = text[:match.start()] + re.sub(r"[^\n]", " ", text[match.start():end]) + text[end:]
    return text
