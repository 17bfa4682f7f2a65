"""Stage `vocabulary`: tokenise every labelled pair once, and count the words."""

from collections import Counter
from collections.abc import Iterator

from tqdm import tqdm

from actmodels.errors import DataError
from pipeline.parameters.load import load_params
from pipeline.parameters.section import SPLITS
from pipeline.running.results import write_json
from pipeline.running.stage import artefacts, made, run_stage
from pipeline.sources.jsonl import UNLABELLED, Pair, read_pairs
from pipeline.sources.parses import right_branching, tree_over
from pipeline.sources.tokens import TokenPair, write_token_pairs, write_words
from pipeline.sources.treebank import tokenise


def labelled(split: str, lowercase: bool, seen: Counter[str]) -> Iterator[TokenPair]:
    """The labelled pairs of a split, tokenised; counts them and those dropped in `seen`.

    With parses, counts too the sentences that have the tree of theirs, and those that have not.

    Raises:
        DataError: no sentence has a parse that fits.
    """
    path = made("corpus", f"{split}.jsonl")
    for pair in tqdm(read_pairs(path), f"tokenise {split}", unit=" pairs"):
        if pair.label == UNLABELLED:
            seen["dropped"] += 1
            continue
        seen["labelled"] += 1
        tokens = tokenise_pair(pair, lowercase, path.name)
        if pair.premise_parse is not None and pair.hypothesis_parse is not None:
            premise = tree_of(tokens.premise, pair.premise_parse, seen)
            hypothesis = tree_of(tokens.hypothesis, pair.hypothesis_parse, seen)
            tokens = tokens._replace(premise_tree=premise, hypothesis_tree=hypothesis)
        yield tokens
    if seen["right_branching"] and not seen["parsed"]:
        raise DataError(
            f"{path}: no parse fits its sentence; take a corpus with binary parses, or set "
            "corpus.parses to false"
        )


def tree_of(tokens: list[str], parse: str, seen: Counter[str]) -> list[int]:
    """The tree of a parse of as many leaves as tokens, else one that branches to the right."""
    tree = tree_over(len(tokens), parse)
    seen["right_branching" if tree is None else "parsed"] += 1
    return right_branching(len(tokens)) if tree is None else tree


def tokenise_pair(pair: Pair, lowercase: bool, source: str) -> TokenPair:
    """Tokenise both sentences.

    Raises:
        DataError: a sentence has no token, so nothing could be attended to.
    """
    premise, hypothesis = tokenise(pair.premise, lowercase), tokenise(pair.hypothesis, lowercase)
    for part, tokens in {"premise": premise, "hypothesis": hypothesis}.items():
        if not tokens:
            raise DataError(
                f"{source}: the {part} of pair {pair.pair_id} has no words; "
                "mend or remove the pair in the corpus"
            )
    return TokenPair(pair.pair_id, pair.label, pair.depth, list(premise), list(hypothesis))


def main() -> None:
    """Write artefacts/vocabulary/."""
    params = load_params().vocabulary
    folder = artefacts("vocabulary")
    words: Counter[str] = Counter()
    splits: dict[str, dict[str, int]] = {}

    def counted(split: str, pairs: Iterator[TokenPair]) -> Iterator[TokenPair]:
        for pair in pairs:
            if split in params.count_splits:
                words.update(pair.premise)
                words.update(pair.hypothesis)
            yield pair

    for split in SPLITS:
        seen: Counter[str] = Counter(labelled=0, dropped=0)
        pairs = labelled(split, params.lowercase, seen)
        write_token_pairs(folder / f"{split}.tsv", counted(split, pairs))
        splits[split] = dict(seen)
    ranked = sorted(words.items(), key=lambda item: (-item[1], item[0]))
    write_words(folder / "words.tsv", ranked)
    kept = sum(count for _, count in ranked[: params.size])
    summary = {
        "splits": splits,
        "types": len(ranked),
        "tokens": words.total(),
        "token_coverage": round(kept / max(words.total(), 1), 6),
    }
    write_json(folder / "summary.json", summary, indent=1)


if __name__ == "__main__":
    run_stage(main)
