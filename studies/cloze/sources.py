"""Build cloze questions from plain text, like the Children's Book Test.

Twenty sentences are the document; the next sentence, without one word, is the query (Hill et al.
2015 section 2). All ten candidates occur in the document and have the class of the answer. Unlike
theirs, no distractor occurs in the query, where a reader could exclude it.

Rules over the whole text replace a tagger; they miss some words:

- a name is capitalized inside a sentence and never lower-case in the text. Days, months and
  nationalities count as names;
- a common noun is lower-case, is not a function word, and often occurs between a determiner and a
  word that ends a noun phrase ("the lobster is", "a pair of"). Some superlatives pass.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from random import Random

from actmodels.errors import DataError
from pipeline.datasets.features import word_class
from pipeline.parameters.section import SPLITS
from studies.cloze.question import BLANK, CANDIDATES, ClozeQuestion
from studies.cloze.section import CONTEXT_LINES, ClozeText
from studies.cloze.sentences import sections

Section = list[list[str]]
Questions = dict[str, dict[str, list[ClozeQuestion]]]  # by answer class and split
DETERMINERS = frozenset(
    (
        *("a", "an", "the", "this", "that", "these", "those", "every", "each", "another"),
        *("my", "your", "his", "her", "its", "our", "their"),
    )
)
# The word before these may be an adjective: "the large and", "the more so".
NOT_AFTER_NOUN = frozenset(
    ("and", "or", "but", "yet", "nor", "very", "more", "most", "less", "least", "so", "as", "too")
)
SENTENCE_MARKS = frozenset(".;?!")
# A capital after these may begin a sentence.
OPENERS = frozenset(('"', "``", "“", "\u2018", "'", "`", ":", "(", "[", "—", "\u2013", "--", "..."))


def build_questions(lines: Iterable[str], source: str, config: ClozeText) -> Questions:
    """Draw the questions of each answer class and split from the lines of a text.

    The answer classes are those of CBT: NE (named entities) and CN (common nouns).

    Raises:
        DataError: a split has no questions; names the source.
    """
    texts = sections(lines, config)
    sentences = [sentence for section in texts for sentence in section]
    words = {
        "NE": names(sentences),
        "CN": common_nouns(sentences, config.min_noun_count, config.min_noun_share),
    }
    built: Questions = {kind: {} for kind in words}
    for split, numbers in split_sections(len(texts), config).items():
        for kind in words:
            built[kind][split] = [
                question._replace(article=number)
                for number in numbers
                for start in range(0, len(texts[number]) - CONTEXT_LINES, config.stride)
                if (
                    question := draw_question(
                        texts[number][start : start + CONTEXT_LINES],
                        texts[number][start + CONTEXT_LINES],
                        words[kind],
                        Random(f"{config.seed} {kind} {number} {start}"),
                    )
                )
            ]
            if not built[kind][split]:
                problem = f"no {kind} question for {split} in {len(numbers)} sections"
                raise DataError(f"{source}: {problem}; take a longer text, or a larger share of it")
    return built


def split_sections(count: int, config: ClozeText) -> dict[str, list[int]]:
    """Assign sections to splits; return the sorted section numbers of each split."""
    order = list(range(count))
    Random(f"{config.seed} splits").shuffle(order)
    dev, test = round(count * config.dev_share), round(count * config.test_share)
    parts = (order[dev + test :], order[:dev], order[dev : dev + test])
    return {split: sorted(part) for split, part in zip(SPLITS, parts, strict=True)}


def draw_question(
    context: Section, sentence: Sequence[str], words: set[str], rng: Random
) -> ClozeQuestion | None:
    """Remove one of the `words` from a sentence; return None if no word qualifies."""
    # sorted, because the order of a set differs between processes
    present = sorted({token for tokens in context for token in tokens} & words)
    answers = [word for word in sentence if word in present and sentence.count(word) == 1]
    distractors = [word for word in present if word not in sentence]
    if not answers or len(distractors) < CANDIDATES - 1:
        return None
    answer = rng.choice(answers)
    candidates = [answer, *rng.sample(distractors, CANDIDATES - 1)]
    rng.shuffle(candidates)
    query = [BLANK if word == answer else word for word in sentence]
    return ClozeQuestion(context, query, candidates, answer)


def names(sentences: Iterable[Sequence[str]]) -> set[str]:
    """Return the names in tokenized sentences."""
    capitalized, lower = set(), set()
    for sentence in sentences:
        for before, word in zip(["", *sentence], sentence, strict=False):
            if word.islower():
                lower.add(word)
            elif before and before not in OPENERS and _resembles_name(word):
                capitalized.add(word)
    return {word for word in capitalized if word.lower() not in lower}


def _resembles_name(word: str) -> bool:
    letters = word.replace("-", "").replace("'", "")
    return word[0].isupper() and letters.isalpha() and any(letter.islower() for letter in word)


def common_nouns(sentences: Iterable[Sequence[str]], min_count: int, min_share: float) -> set[str]:
    """Return the common nouns in tokenized sentences.

    A common noun occurs in noun positions at least `min_count` times, and in at least a share
    `min_share` of its occurrences.
    """
    occurrences: Counter[str] = Counter()
    as_noun: Counter[str] = Counter()
    for sentence in sentences:
        occurrences.update(sentence)
        for before, word, after in zip(sentence, sentence[1:], sentence[2:], strict=False):
            if _is_noun_position(before, word, after):
                as_noun[word] += 1
    return {
        word
        for word, count in as_noun.items()
        if count >= min_count and count >= min_share * occurrences[word]
    }


def _is_noun_position(before: str, word: str, after: str) -> bool:
    ends_phrase = after in SENTENCE_MARKS or (
        word_class(after) == "function" and after not in NOT_AFTER_NOUN
    )
    lower = len(word) > 2 and word.isalpha() and word.islower()
    return before.lower() in DETERMINERS and ends_phrase and lower and word_class(word) == "content"
