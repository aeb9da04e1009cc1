"""The tables, texts, tags and scripts of a page's HTML."""

from html.parser import HTMLParser


class Parsed(HTMLParser):
    """All tags and scripts, the rows of each table by caption, and texts by element id."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.tables: dict[str, list[list[str]]] = {}
        self.scripts: list[str] = []
        self.texts: dict[str, str] = {}
        self.words = ""
        self._caption = ""
        self._rows: list[list[str]] = []
        self._inside: list[tuple[str, str | None]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.append((tag, given))
        if tag in ("meta", "input", "br", "link", "img"):
            return
        self._inside.append((tag, given.get("id")))
        if tag == "table":
            self._rows, self._caption = [], ""
        elif tag == "tr":
            self._rows.append([])
        elif tag in ("td", "th"):
            self._rows[-1].append("")
        elif tag == "script":
            self.scripts.append("")

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        while self._inside and self._inside.pop()[0] != tag:
            pass
        if tag == "table":
            self.tables[" ".join(self._caption.split())] = [
                [" ".join(cell.split()) for cell in row] for row in self._rows
            ]

    def handle_data(self, data):
        inside = [tag for tag, _ in self._inside]
        if "script" in inside:
            self.scripts[-1] += data
            return
        if "style" in inside:
            return
        if "caption" in inside:
            self._caption += data
        elif self._rows and self._rows[-1] and ("td" in inside or "th" in inside):
            self._rows[-1][-1] += data
        for _, name in self._inside:
            if name:
                self.texts[name] = self.texts.get(name, "") + data
        if "pre" not in inside:
            self.words += data

    def table(self, caption: str) -> dict[str, dict[str, str]]:
        """The table whose caption begins so, as {first cell of a row: {column: cell}}."""
        (rows,) = (found for name, found in self.tables.items() if name.startswith(caption))
        head, *body = rows
        return {row[0]: dict(zip(head, row, strict=False)) for row in body}
