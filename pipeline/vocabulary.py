"""Stage `vocabulary`: tokenize each labeled pair once, and count the words."""

from collections import Counter
from collections.abc import Iterator

from tqdm import tqdm

from actmodels.errors import DataError
from pipeline.datasets.pairs import PARSES, UNLABELED, Pair, read_pairs
from pipeline.datasets.tokenizer import is_character, read_parse, right_branching, tokenize
from pipeline.datasets.tokens import TokenPair, write_token_pairs, write_words
from pipeline.parameters.load import load_params
from pipeline.parameters.section import SPLITS
from pipeline.runtime.results import write_json
from pipeline.runtime.stage import artifacts, require_artifact, run_stage


def labeled(
    split: str, lowercase: bool, counts: Counter[str], words: Counter[str]
) -> Iterator[TokenPair]:
    """Yield the labeled pairs of a split, tokenized; count pairs and parses in `counts`, and words.

    Raises:
        DataError: no parse matches its sentence.
    """
    path = require_artifact("corpus", f"{split}.jsonl")
    for pair in tqdm(read_pairs(path), f"tokenize {split}", unit=" pairs"):
        if pair["gold_label"] == UNLABELED:
            counts["dropped"] += 1
            continue
        counts["labeled"] += 1
        premise, hypothesis = (
            [*tokenize(pair[key], lowercase)] for key in ("sentence1", "sentence2")
        )
        words.update(premise + hypothesis)
        yield TokenPair(
            pair["pairID"],
            pair["gold_label"],
            pair.get("reasoning_depth", 0),
            premise,
            hypothesis,
            *trees(pair, (premise, hypothesis), counts),
        )
    if counts["right_branching"] and not counts["parsed"]:
        advice = "use a corpus with binary parses, or set corpus.parses to false"
        raise DataError(f"{path}: no parse fits its sentence; {advice}")


def trees(
    pair: Pair, sentences: tuple[list[str], list[str]], counts: Counter[str]
) -> Iterator[list[int]]:
    """Yield the parse tree of each sentence if the corpus has parses.

    A right-branching tree replaces a parse whose number of leaves is not that of the tokens.
    """
    for key, tokens in zip(PARSES, sentences, strict=True):
        if key in pair:
            parse = read_parse(pair[key])
            if parse is not None and len(parse.leaves) == len(tokens):
                counts["parsed"] += 1
                yield parse.tree
            else:
                counts["right_branching"] += 1
                yield right_branching(len(tokens))


def main() -> None:
    """Write artifacts/vocabulary/; print how the tokens were separated."""
    params = load_params().vocabulary
    folder = artifacts("vocabulary")
    words: Counter[str] = Counter()
    splits: dict[str, dict[str, int]] = {}
    for split in SPLITS:
        counts: Counter[str] = Counter(labeled=0, dropped=0)
        pairs = labeled(split, params.lowercase, counts, words)  # of all splits, as the 2016 code
        write_token_pairs(folder / f"{split}.tsv", pairs)
        splits[split] = dict(counts)
    ranked = sorted(words.items(), key=lambda item: (-item[1], item[0]))
    write_words(folder / "words.tsv", ranked)
    kept = sum(count for _, count in ranked[: params.size])
    total = max(words.total(), 1)
    characters = sum(count for word, count in ranked if is_character(word)) / total
    note = f"{len(ranked):,} words, {words.total():,} tokens by the rules of the Penn Treebank"
    if characters:
        note += f"; {100 * characters:.1f} % of them are characters of scripts without blanks"
    summary = {
        "splits": splits,
        "types": len(ranked),
        "tokens": words.total(),
        "characters": round(characters, 6),
        "token_coverage": round(kept / total, 6),
        "note": note,
    }
    write_json(folder / "summary.json", summary, indent=1)
    print(note)


if __name__ == "__main__":
    run_stage(main)
