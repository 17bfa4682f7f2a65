"""The page as text: what markdown becomes, and what is embedded."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from reports.charts.figure import Figure
from reports.page import page as page_module
from reports.page.body import PageError, body_of
from reports.page.island import Island
from reports.page.page import contents, embedded, vega, write_page
from reports.spread import MINUS

FIGURES = {"one": Figure({"mark": "bar", "height": 120}, "One & only"), "two": Figure({}, "Two")}
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


def body(markdown: str, *islands: Island) -> str:
    return body_of(markdown, FIGURES, islands).html


def test_headings_have_ids_of_their_own() -> None:
    found = body_of("# A\n\n## B, *c* & d\n\n### E\n\n## B, c & d\n\n## é\n", {}, [])
    assert [heading.id for heading in found.headings] == ["a", "b-c-d", "e", "b-c-d-2", "é"]
    assert [heading.text for heading in found.headings][1] == "B, c & d"
    tags = Tags(found.html)
    assert [h["id"] for h in tags.every("h2")] == ["b-c-d", "b-c-d-2", "é"]
    assert [s["aria-labelledby"] for s in tags.every("section")] == ["b-c-d", "b-c-d-2", "é"]
    assert found.html.count("<section") == found.html.count("</section>") == 3


def test_a_heading_leaves_the_id_of_an_island_free() -> None:
    html = body("## Trials\n\n[All](index.html#trials)\n", ISLAND)
    assert re.findall(r' id="(.+?)"', html) == ["trials-2", "trials", "heading-trials"]


def test_contents_nest_the_third_level() -> None:
    found = body_of("# T\n\n## A\n\n### a < b\n\n### c\n\n## B\n\n#### d\n\n### e\n", {}, [])
    html = contents(found.headings).replace("\n", "")
    assert html == (
        '<ol><li><a href="#a">A</a><ol><li><a href="#a-b">a &lt; b</a></li>'
        '<li><a href="#c">c</a></li></ol></li><li><a href="#b">B</a>'
        '<ol><li><a href="#e">e</a></li></ol></li></ol>'
    )
    assert contents([]) == "<ol></ol>"


def test_raw_html_stays_text() -> None:
    tags = Tags(body("A <b>bold</b> claim\n\n<script>alert(1)</script>\n"))
    assert [tag for tag, _ in tags.tags] == ["p", "p"]
    assert "<script>alert(1)</script>" in "".join(tags.texts)


def test_a_link_to_a_script_is_no_link() -> None:
    assert Tags(body("[press](javascript:alert(1))")).every("a") == []


def test_an_image_becomes_the_chart_of_its_name() -> None:
    found = body_of('![Say "so"](figures/one.png)\n![T](figures/two.png)\n', FIGURES, [])
    tags = Tags(found.html)
    assert [figure["data-figure"] for figure in tags.every("figure")] == ["one", "two"]
    charts = [d for d in tags.every("div") if d.get("role") == "img"]
    assert [chart["aria-label"] for chart in charts] == ["One & only", "Two"]
    assert charts[0]["style"] == "min-height:220px"
    assert tags.texts.count("One & only") == 1
    assert "Figure 1." in tags.texts and ' Say "so"' in tags.texts
    assert tags.every("img") == []
    assert found.shown == ["one", "two"]


def test_a_caption_that_says_all_is_said_once() -> None:
    tags = Tags(body("![One & only](figures/one.png)"))
    (chart,) = [d for d in tags.every("div") if d.get("role") == "img"]
    assert "aria-label" not in chart
    assert chart["aria-labelledby"] == tags.every("figcaption")[0]["id"]
    assert " One & only" in tags.texts and "One & only" not in tags.texts


@pytest.mark.parametrize(
    ("markdown", "problem"),
    [
        (
            "![T](figures/three.png)",
            r"'figures/three\.png', which is no chart; there are: one, two",
        ),
        ("![T](other/one.png)", r"'other/one\.png', which is no chart"),
        ("See ![T](figures/one.png).", "a chart stands inside a sentence"),
        ("![T](figures/one.png)\n\n![T](figures/one.png)", "shows the chart 'one' twice"),
        ("[All](index.html#triasl)", "index.html#triasl in a paragraph, but it is no part"),
        ("[A](index.html#trials)\n\n[A](index.html#trials)", "but it stands there twice"),
        ("Nothing", "no place for trials; add a paragraph of one link to index.html#trials"),
        ("See [all](index.html#trials).", "no place for trials"),
    ],
)
def test_what_does_not_fit_together_is_refused(markdown: str, problem: str) -> None:
    with pytest.raises(PageError, match=problem):
        body(markdown, ISLAND)


def test_an_island_is_a_section_where_its_link_stands() -> None:
    found = body_of("## A\n\n[All *of* it](index.html#trials)\n\n## B\n", {}, [ISLAND])
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
    html = body(f"## Sums\n\n| a | b |\n| --- | ---: |\n| **x** | 1 |\n| {words} | {long} |\n")
    tags = Tags(html)
    frame = tags.every("div")[0]
    assert (frame["class"], frame["role"], frame["tabindex"]) == ("scroll", "region", "0")
    assert frame["aria-label"] == "Table under “Sums”"
    assert [h.get("class") for h in tags.every("th")] == [None, "number"]
    assert [c.get("class") for c in tags.every("td")] == [None, "number", "words", "number long"]
    assert {h["scope"] for h in tags.every("th")} == {"col"}
    assert "style" not in html


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
    written = body(f"| a | b |\n| --- | ---: |\n| x | {cell} |\n")
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
    markdown = "# T\n\n## A\n\n![T](figures/one.png)\n\n[All](index.html#trials)\n"
    write_page(tmp_path / "index.html", "A & B", markdown, FIGURES, [ISLAND])
    html = (tmp_path / "index.html").read_text(encoding="utf-8")
    tags = Tags(html)
    assert list(tmp_path.iterdir()) == [tmp_path / "index.html"]
    assert "<title>A &amp; B</title>" in html
    assert not [name for tag, found in tags.tags for name in found if name in ("src", "srcset")]
    assert tags.every("link") == []
    assert all((a["href"] or "").startswith("#") for a in tags.every("a"))
    ids = [found["id"] for _, found in tags.tags if "id" in found]
    assert len(ids) == len(set(ids)) and {"chart-one", "data-trials"} <= set(ids)
    assert "chart-two" not in ids  # what is not shown is not embedded
    assert "alert(1)" in html and "</script><script>alert" not in html
    assert "#trials fieldset" in html  # the looks of the island


def test_an_island_without_a_script_is_refused(tmp_path: Path) -> None:
    unknown = Island("nobody", "Nobody", "", None)
    with pytest.raises(PageError, match=r"island nobody has no script nobody\.js"):
        write_page(tmp_path / "p.html", "T", "[N](index.html#nobody)", {}, [unknown])
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
    write_page(tmp_path / "p.html", "T", "[X](index.html#x)", {}, [Island("x", "X", "", 1)])
    found = re.findall(r"// (\S+)</script>", (tmp_path / "p.html").read_text())
    assert found[len(page_module.SCRIPTS) :] == ["x_a.js", "x_b.js", "x.js"]
