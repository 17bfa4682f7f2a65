"""The page as text: what markdown becomes, and what is embedded."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from reports.blocks import Block, Chart, Figure, Heading, Island, Living, Table, Text
from reports.page import page as page_module
from reports.page.body import body_of
from reports.page.page import PageError, contents, embedded, vega, write_page
from reports.spread import MINUS

ONE = Chart("one", Figure({"mark": "bar", "height": 120}, "One & only"))
TWO = Chart("two", Figure({}, 'Say "so"'))
ISLAND = Island("trials", "All <trials>", "<p>Here</p>", {"text": "</script><script>alert(1)"})


class Tags(HTMLParser):
    """Start tags with their attributes, and the text between tags."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def every(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def body(*blocks: Block) -> str:
    return body_of(blocks).html


def test_headings_have_ids_of_their_own() -> None:
    texts = {"A": 1, "B, *c* & d": 2, "E": 3, "B, c & d": 2, "é": 2}
    found = body_of([Heading(text, level) for text, level in texts.items()])
    assert [heading.id for heading in found.headings] == ["a", "b-c-d", "e", "b-c-d-2", "é"]
    tags = Tags(found.html)
    assert [h["id"] for h in tags.every("h2")] == ["b-c-d", "b-c-d-2", "é"]
    assert [s["aria-labelledby"] for s in tags.every("section")] == ["b-c-d", "b-c-d-2", "é"]
    assert found.html.count("<section") == found.html.count("</section>") == 3


def test_a_heading_leaves_the_id_of_an_island_free() -> None:
    html = body(Heading("Trials"), Living("All", ISLAND))
    assert re.findall(r' id="(.+?)"', html) == ["trials-2", "trials", "heading-trials"]


def test_contents_nest_the_third_level() -> None:
    texts = {"T": 1, "A": 2, "a < b": 3, "c": 3, "B": 2, "d": 4, "e": 3}
    found = body_of([Heading(text, level) for text, level in texts.items()])
    html = contents(found.headings).replace("\n", "")
    assert html == (
        '<ol><li><a href="#a">A</a><ol><li><a href="#a-b">a &lt; b</a></li>'
        '<li><a href="#c">c</a></li></ol></li><li><a href="#b">B</a>'
        '<ol><li><a href="#e">e</a></li></ol></li></ol>'
    )
    assert contents([]) == "<ol></ol>"


def test_raw_html_stays_text() -> None:
    tags = Tags(body(Text("A <b>bold</b> claim\n\n<script>alert(1)</script>")))
    assert [tag for tag, _ in tags.tags] == ["p", "p"]
    assert "<script>alert(1)</script>" in "".join(tags.texts)


def test_an_address_of_a_picture_is_not_loaded() -> None:
    text = "![a](x.png)"
    found = body(Text(text), Table(("name",), [(text,)]))
    assert Tags(found).every("img") == []


def test_a_link_to_a_script_is_no_link() -> None:
    assert Tags(body(Text("[press](javascript:alert(1))"))).every("a") == []


def test_charts_are_numbered_and_said_once() -> None:
    found = body_of([ONE, TWO])
    tags = Tags(found.html)
    assert [figure["data-figure"] for figure in tags.every("figure")] == ["one", "two"]
    charts = [d for d in tags.every("div") if d.get("role") == "img"]
    captions = [caption["id"] for caption in tags.every("figcaption")]
    assert [chart["aria-labelledby"] for chart in charts] == captions
    assert charts[0]["style"] == "min-height:220px"
    assert tags.texts.count(" One & only") == 1 and "One & only" not in tags.texts
    assert "Figure 2." in tags.texts and ' Say "so"' in tags.texts
    assert tags.every("img") == []
    assert found.charts == [ONE, TWO]


def test_an_island_is_a_section_where_it_stands() -> None:
    found = body_of([Heading("A"), Living("All *of* it", ISLAND), Heading("B")])
    assert [(h.id, h.level, h.text) for h in found.headings] == [
        ("a", 2, "A"),
        ("trials", 2, "All <trials>"),
        ("b", 2, "B"),
    ]
    tags = Tags(found.html)
    assert [s.get("id") for s in tags.every("section")] == [None, "trials", None]
    assert "All <trials>" in tags.texts and "Here" in tags.texts
    assert "All *of* it" not in found.html and found.html.count("</section>") == 3


def test_a_table_scrolls_in_a_labelled_frame() -> None:
    long = f"{MINUS}1.10 (82.7 against 83.8)"
    words = "a text that needs more room than others"
    html = body(Heading("Sums"), Table(["a", "b"], [["**x**", "1"], [words, long]]))
    tags = Tags(html)
    frame = tags.every("div")[0]
    assert (frame["class"], frame["role"], frame["tabindex"]) == ("scroll", "region", "0")
    assert frame["aria-label"] == "Table under “Sums”"
    assert [h.get("class") for h in tags.every("th")] == [None, "number"]
    assert [c.get("class") for c in tags.every("td")] == [None, "number", "words", "number long"]
    assert {h["scope"] for h in tags.every("th")} == {"col"}


@pytest.mark.parametrize(
    ("cell", "html"),
    [
        ("-1.10 (82.7 against 83.8)", '-1.10 <span class="whole">(82.7 against 83.8)</span>'),
        ("**81.0 ± 1.00**", '<strong><span class="whole">81.0 ± 1.00</span></strong>'),
        (
            "3 seeds, 4,969 pairs",
            '<span class="whole">3 seeds</span>, <span class="whole">4,969 pairs</span>',
        ),
        (
            "github.com/some/long_repository",
            "github.com/<wbr>some/<wbr>long_<wbr>repository<wbr>",
        ),
        ("a & b < c", "a &amp; b &lt; c"),
        ("(a bracket with more words than that)", "(a bracket with more words than that)"),
    ],
)
def test_cells_break_where_a_reader_would(cell: str, html: str) -> None:
    written = body(Table(["a", "b"], [["x", cell]]))
    assert html in written
    assert cell.replace("*", "") in "".join(Tags(written).texts)  # it says the same


@pytest.mark.parametrize("value", ["</script>", "<!--<script>", "a\u2028b\u2029c", {"é": [1.5]}])
def test_embedded_data_cannot_leave_its_element(value: Any) -> None:
    html = embedded("data-x", value)
    inner = html.removeprefix('<script type="application/json" id="data-x">')
    inner = inner.removesuffix("</script>")
    assert not set("<\u2028\u2029") & set(inner)
    assert json.loads(inner) == value


def test_what_json_cannot_hold_is_refused() -> None:
    with pytest.raises(PageError, match="chart-x cannot be embedded as JSON"):
        embedded("chart-x", {"value": float("nan")})


def test_vega_comes_without_its_editor_and_keeps_its_names() -> None:
    code = vega()
    assert code.startswith("(() => {") and code.endswith("})();")
    assert "window.vegaEmbed=" in code
    assert "window.vega=" not in code and "window.vegaLite=" not in code


def test_the_page_is_one_file_that_names_no_other(tmp_path: Path) -> None:
    blocks = [Heading("T", 1), Heading("A"), ONE, Living("All", ISLAND)]
    write_page(tmp_path / "index.html", "A & B", blocks)
    html = (tmp_path / "index.html").read_text(encoding="utf-8")
    tags = Tags(html)
    assert list(tmp_path.iterdir()) == [tmp_path / "index.html"]
    assert "<title>A &amp; B</title>" in html
    assert not [name for tag, found in tags.tags for name in found if name in ("src", "srcset")]
    assert tags.every("link") == []
    assert all((a["href"] or "").startswith("#") for a in tags.every("a"))
    ids = [found["id"] for _, found in tags.tags if "id" in found]
    assert len(ids) == len(set(ids)) and {"chart-one", "data-trials"} <= set(ids)
    assert "alert(1)" in html and "</script><script>alert" not in html
    assert "#trials fieldset" in html  # the looks of the island


def test_an_island_without_a_script_is_refused(tmp_path: Path) -> None:
    unknown = Island("nobody", "Nobody", "", None)
    with pytest.raises(PageError, match=r"island nobody has no script nobody\.js"):
        write_page(tmp_path / "p.html", "T", [Living("N", unknown)])
    assert list(tmp_path.iterdir()) == []


def test_parts_of_an_islands_script_come_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("x.js", "x_b.js", "x_a.js", "xy.js", *page_module.SCRIPTS):
        (tmp_path / name).write_text(f"// {name}")
    for name in page_module.LOOKS:
        (tmp_path / name).write_text("")
    (tmp_path / "page.html").write_text("$scripts")
    monkeypatch.setattr(page_module, "HERE", tmp_path)
    write_page(tmp_path / "p.html", "T", [Living("X", Island("x", "X", "", 1))])
    found = re.findall(r"// (\S+)</script>", (tmp_path / "p.html").read_text())
    assert found[len(page_module.SCRIPTS) :] == ["x_a.js", "x_b.js", "x.js"]
