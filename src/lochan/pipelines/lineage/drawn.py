# SPDX-License-Identifier: Apache-2.0
"""A graph of commits for people and programs: as a tree of lines, as dot, as SVG.

The SVG stands in columns: a commit is one to the right of the furthest of its inputs. It needs no
other program, and shows names and edges, nothing cleverer.
"""

from collections.abc import Iterator
from html import escape
from typing import Final

from lochan.pipelines.lineage.provenance import Edge, Graph, Known

_SHORT: Final = 12
_WIDTH: Final = 210
_HEIGHT: Final = 44
_ACROSS: Final = 280
_DOWN: Final = 70
_MARGIN: Final = 20


def tree_lines(graph: Graph) -> Iterator[str]:
    """Draw from the start on: what it was made of, or what came of it; repeats are not unfolded."""
    known = {commit.name: commit for commit in graph.commits}
    below: dict[str, list[Edge]] = {}
    for edge in graph.edges:
        below.setdefault(edge.made if graph.direction == "up" else edge.source, []).append(edge)
    seen: set[str] = set()

    def walk(name: str, indent: str) -> Iterator[str]:
        edges = [] if name in seen else below.get(name, [])
        seen.add(name)
        for edge in edges:
            is_last = edge is edges[-1]
            other = edge.source if graph.direction == "up" else edge.made
            again = " (see above)" if other in seen and other in below else ""
            yield f"{indent}{'└─' if is_last else '├─'} {_line(known[other])}{_via(edge)}{again}"
            yield from walk(other, indent + ("   " if is_last else "│  "))

    yield _line(known[graph.start])
    yield from walk(graph.start, "")


def dot(graph: Graph) -> str:
    """Write it for Graphviz."""
    lines = ["digraph provenance {", "  rankdir=LR;", '  node [shape=box, fontname="sans-serif"];']
    for commit in graph.commits:
        style = "" if commit.is_there else ", style=dashed"
        lines.append(f"  {_quoted(commit.name)} [label={_quoted(_label(commit))}{style}];")
    lines += [
        f"  {_quoted(edge.source)} -> {_quoted(edge.made)} [label={_quoted(edge.input)}];"
        for edge in graph.edges
    ]
    return "\n".join([*lines, "}", ""])


def svg(graph: Graph) -> str:
    """Draw it in columns."""
    places = _places(graph)
    right = max(x for x, _ in places.values()) + _WIDTH + _MARGIN
    bottom = max(y for _, y in places.values()) + _HEIGHT + _MARGIN
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{right}" height="{bottom}"'
            ' font-family="sans-serif" font-size="13">'
        ),
        (
            "<style>rect{fill:#eef4fb;stroke:#4a78a8}.start{fill:#fdf3d8}.gone{stroke-dasharray:4}"
            "path{fill:none;stroke:#888}.input{fill:#666;font-size:11px}</style>"
        ),
    ]
    for edge in graph.edges:
        parts += _drawn_edge(edge, places)
    for commit in graph.commits:
        parts += _drawn_commit(commit, places[commit.name], is_start=commit.name == graph.start)
    return "\n".join([*parts, "</svg>", ""])


def _places(graph: Graph) -> dict[str, tuple[int, int]]:
    column: dict[str, int] = {commit.name: 0 for commit in graph.commits}
    inputs: dict[str, list[str]] = {}
    for edge in graph.edges:
        inputs.setdefault(edge.made, []).append(edge.source)
    for commit in graph.commits:  # inputs come first
        column[commit.name] = max(
            (column[one] + 1 for one in inputs.get(commit.name, ())), default=0
        )
    filled: dict[int, int] = {}
    places = {}
    for commit in graph.commits:
        across = column[commit.name]
        row = filled.get(across, 0)
        filled[across] = row + 1
        places[commit.name] = (_MARGIN + across * _ACROSS, _MARGIN + row * _DOWN)
    return places


def _drawn_edge(edge: Edge, places: dict[str, tuple[int, int]]) -> list[str]:
    from_x, from_y = places[edge.source]
    to_x, to_y = places[edge.made]
    from_x, from_y, to_y = from_x + _WIDTH, from_y + _HEIGHT // 2, to_y + _HEIGHT // 2
    middle = (from_x + to_x) // 2
    curve = f"M{from_x} {from_y} C{middle} {from_y} {middle} {to_y} {to_x} {to_y}"
    drawn = [f'<path d="{curve}"/>']
    if edge.input:
        at = f'x="{middle}" y="{(from_y + to_y) // 2 - 4}" text-anchor="middle"'
        drawn.append(f'<text class="input" {at}>{escape(edge.input)}</text>')
    return drawn


def _drawn_commit(commit: Known, place: tuple[int, int], *, is_start: bool) -> list[str]:
    x, y = place
    kind = "start" if is_start else "" if commit.is_there else "gone"
    name, _, rest = _label(commit).partition("\n")
    return [
        (
            f'<g><title>{escape(commit.name)}</title><rect class="{kind}" x="{x}" y="{y}"'
            f' width="{_WIDTH}" height="{_HEIGHT}" rx="6"/>'
        ),
        f'<text x="{x + 10}" y="{y + 18}">{escape(name)}</text>',
        f'<text class="input" x="{x + 10}" y="{y + 35}">{escape(rest)}</text></g>',
    ]


def _label(commit: Known) -> str:
    short = f"{commit.repository}@{commit.commit[:_SHORT]}"
    return f"{short}\n{f'by {commit.pipeline}' if commit.pipeline else commit.message[:30]}"


def _line(commit: Known) -> str:
    made = f"  by {commit.pipeline}" if commit.pipeline else ""
    gone = "" if commit.is_there else "  (gone)"
    return f"{commit.repository}@{commit.commit[:_SHORT]}{made}{gone}"


def _via(edge: Edge) -> str:
    if not edge.input:
        return ""
    return f"  as {edge.input}" + (f" {edge.glob}" if edge.glob else "")


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
