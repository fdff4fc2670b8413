#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Numbers for the tests of src/ordo/metrics, by the implementations that papers cite.

    pip install sacrebleu==2.6.0 rouge-score==0.1.2 scikit-learn==1.9.1 jiwer==4.0.0
    python3 make.py            # writes *.json beside this file
"""
import json
import os
import warnings

import jiwer
import numpy as np
from rouge_score import rouge_scorer, tokenize as rouge_tokenize
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from sacrebleu.tokenizers.tokenizer_char import TokenizerChar
from sacrebleu.tokenizers.tokenizer_zh import TokenizerZh
from sklearn import metrics as sk

HERE = os.path.dirname(os.path.abspath(__file__))
RNG = np.random.default_rng(20260102)
warnings.filterwarnings("ignore")   # scikit-learn's on undefined scores, of which there are many here on purpose


def write(name, cases):
    with open(os.path.join(HERE, name + ".json"), "w") as f:
        json.dump(cases, f, indent=None, separators=(",", ":"), allow_nan=False, ensure_ascii=True)
        f.write("\n")


def number(x):
    """NaN is null: there is no such value."""
    return None if x is None or not np.isfinite(x) else float(x)


# --- texts -------------------------------------------------------------------------------------------------------------

ENGLISH = """The quick brown fox jumps over the lazy dog near the old river bank.
It was the best of times, it was the worst of times; it was, they say, 1,234.56 times better - or so.
"Well-known" isn't well known (yet): see pages 12-14, 3.5-inch disks & A/B tests!
A court ruled on Tuesday that the company must pay $3.2 million, i.e. 5% of its income.
the the the the the the a a a
Rain in Spain stays mainly in the plain, said the man who had never been to Spain at all.
Mr. O'Neill's e-mail: o'neill@example.com, ext. 007 ... what?!
Short.
UPPER and lower CASE mix; McDonald vs. mcdonald, USA vs usa.
one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen""".split("\n")
CHINESE = """今天天气很好，我们去公园散步吧。
他在2019年3月5日买了一台iPhone，花了￥6,999.00元。
中华人民共和国成立于一九四九年十月一日——那天下着雨。
“你好！”她说：『世界真大』（笑）。
学而时习之，不亦说乎？有朋自远方来，不亦乐乎？
𠀀𠮷野家は日本の店です、ラーメン１２３。
我我我我 你你 他""".split("\n")
OTHER = """Привет, мир! Это проверка: 3,5 километра — много.
Ο ΣΟΦΟΣ ΟΔΥΣΣΕΥΣ ΕΙΠΕ: ΣΑΣ ΠΕΡΙΜΕΝΩ, Α.Σ. Σ
İSTANBUL'DA IĞDIR ŞİŞLİ K Å ﬁ ǅ ẞtraße
Le cœur déçu mais l'âme plutôt naïve, Louÿs rêva de crapaüter en canoë.
e\u0301tude cafe\u0301 a\u030a n\u0303o \u0928\u092e\u0938\u094d\u0924\u0947 \u0915\u0941\u091b
👩‍👩‍👧‍👦 went to 🏖️ and 🍣🍣🍣, then 🇨🇭 👍🏽 !
안녕하세요 세계, 반갑습니다. ภาษาไทย ไม่มี ช่องว่าง
مرحبا بالعالم، كيف حالك؟ שלום עולם
→ ≤ ∑ “quoted” — dash… ½ №5 §7 €20
tab\there\u00a0nbsp\u2003em\u3000wide\u2028line\u0085next end
&quot;quoted&quot; &amp;amp; &lt;b&gt;x&lt;/b&gt; <skipped> foo-
bar.baz,qux 1.2.3,4 ..,, -5 5- 6-7 a-b .5 5. ,x x,""".split("\n")
POOLS = {"english": ENGLISH, "chinese": CHINESE, "other": OTHER}


def disturbed(text, strength):
    """A hypothesis for a reference: words (or, without spaces, characters) dropped, doubled, swapped, replaced, and a run moved."""
    spaced = " " in text
    units = text.split(" ") if spaced else list(text)
    made = []
    for unit in units:
        kind = RNG.random() / strength
        if kind < 0.15:
            continue
        made.append(unit)
        if kind < 0.25:
            made.append(unit)
        elif kind < 0.4 and len(made) > 1:
            made[-1], made[-2] = made[-2], made[-1]
        elif kind < 0.5:
            made[-1] = unit.upper() if RNG.random() < 0.5 else unit[::-1]
    if len(made) > 4 and RNG.random() < 0.6:
        size = int(RNG.integers(1, min(8, len(made) - 2)))
        at, to = (int(x) for x in RNG.integers(0, len(made) - size, 2))
        run = made[at:at + size]
        rest = made[:at] + made[at + size:]
        made = rest[:to] + run + rest[to:]
    return (" " if spaced else "").join(made)


def corpora():
    """Lists of (hypothesis, references)."""
    made = []
    for pool in POOLS.values():
        for strength in (0.3, 1.0, 2.0):
            for _ in range(4):
                lines = [pool[i] for i in RNG.integers(0, len(pool), int(RNG.integers(1, 5)))]
                made.append([(disturbed(x, strength), [x]) for x in lines])
        for _ in range(3):   # several references, as many for each
            lines = [pool[i] for i in RNG.integers(0, len(pool), 3)]
            made.append([(disturbed(x, 0.7), [x, disturbed(x, 0.7), disturbed(x, 1.5)]) for x in lines])
    everything = ENGLISH + CHINESE + OTHER
    for line in everything:   # each text against itself, and alone
        made.append([(line, [line])])
        made.append([(disturbed(line, 0.6), [line])])
    for _ in range(6):   # some references missing
        lines = [everything[i] for i in RNG.integers(0, len(everything), 4)]
        made.append([(disturbed(x, 0.7), [x] + [disturbed(x, 1.0)] * int(RNG.integers(0, 3))) for x in lines])
    a, b = ENGLISH[0], ENGLISH[3]
    made += [
        [("", [a])], [(a, [""])], [("", [""])], [("   ", [" \t "])], [(a, ["", a])], [("", ["", a])],
        [("", [a]), (b, [b])], [(a, [""]), (b, [b])], [("", [""]), (disturbed(b, 0.5), [b])], [("", [""])] * 3,
        [("a", ["a"])], [("a b", ["a b"])], [("a b c", ["a b c"])], [("x", ["y"])], [("a b c d", ["d c b a"])],
        [("a b c d e", ["a b c d e f", "a b c d"])], [("b c a", ["a b c"])], [("A.", ["a."])], [("\n", ["a\nb-\nc"])],
        [("first line\nsecond line", ["second line\nfirst line\nthird"])],
        [("the cat\n\nsat on the mat\nthe end", ["the cat sat\non the mat the end\nthe the"])],
        [("a b b a\na a", ["a a\nb b a\n", "b\na"])],
    ]
    words = [f"w{i}" for i in RNG.zipf(1.4, 400) % 60]
    half = words[200:] + words[:200]
    made += [[(" ".join(half), [" ".join(words)])], [(" ".join(words[:30]), [" ".join(words)])],
             [(" ".join(words), [" ".join(words[:7])])], [(disturbed(" ".join(words), 0.4), [" ".join(words)])],
             [(" ".join(words[:3]), [" ".join(words)])],   # the band of the alignment has to grow with the reference
             [(disturbed("".join(CHINESE) * 3, 0.3), ["".join(CHINESE) * 3])]]
    for run in (10, 11):   # the longest run of words that TER moves at once, and one more
        front, back = [f"a{i}" for i in range(run)], [f"b{i}" for i in range(30)]
        made.append([(" ".join(back + front), [" ".join(front + back)])])
    return made


def bleus():
    made = {f"{tok}": {"tokenize": tok} for tok in ("13a", "char", "zh", "none")}
    made["lower"] = {"lowercase": True}
    made["floor"] = {"smooth_method": "floor"}
    made["floor-0.02"] = {"smooth_method": "floor", "smooth_value": 0.02}
    made["add-k"] = {"smooth_method": "add-k"}
    made["add-k-0.5"] = {"smooth_method": "add-k", "smooth_value": 0.5}
    made["unsmoothed"] = {"smooth_method": "none"}
    return made


def streams(corpus):
    """sacreBLEU wants the first references of all lines, then the second ones, None where there is none."""
    most = max(len(references) for _, references in corpus)
    return [h for h, _ in corpus], [[r[i] if i < len(r) else None for _, r in corpus] for i in range(most)]


def unsigned(metric):
    return str(metric.get_signature()).rsplit("|version:", 1)[0]


class WordsOf:
    def __init__(self, tokenizer):
        self.tokenizer = tokenizer

    def tokenize(self, text):
        return self.tokenizer(text).split()


def rouges(corpus):
    made = {}
    for name, kind, tokenizer in (("rouge_l", "rougeL", None), ("rouge_lsum", "rougeLsum", None),
                                  ("rouge_l_zh", "rougeL", WordsOf(TokenizerZh())), ("rouge_lsum_char", "rougeLsum", WordsOf(TokenizerChar()))):
        scorer = rouge_scorer.RougeScorer([kind], tokenizer=tokenizer)
        rows = [scorer.score_multi(r, h)[kind] for h, r in corpus]
        made[name] = [float(np.mean([getattr(x, part) for x in rows])) for part in ("fmeasure", "precision", "recall")]
    return made


def error_rate(corpus, process, normal):
    edits = units = 0
    for h, references in corpus:
        best = None
        for r in references:
            found = process(normal(r), normal(h))
            wrong = found.substitutions + found.deletions + found.insertions
            size = found.substitutions + found.deletions + found.hits
            rate = wrong / max(size, 1)
            if best is None or rate < best[0]:
                best = rate, wrong, size
        edits, units = edits + best[1], units + best[2]
    return edits / max(units, 1)


def text_case(corpus):
    hypotheses, references = streams(corpus)
    case = {"examples": [{"hypothesis": h, "references": r} for h, r in corpus], "scores": {}, "signatures": {}, "sentences": {}}

    def keep(name, metric):
        case["scores"][name] = float(metric.corpus_score(hypotheses, references).score)
        case["signatures"][name] = unsigned(metric)

    for name, options in bleus().items():
        keep("bleu " + name, BLEU(force=True, **options))
    keep("chrf", CHRF())
    keep("chrf++", CHRF(word_order=2))
    keep("chrf1 lower", CHRF(beta=1, char_order=4, lowercase=True))
    keep("ter", TER())
    keep("ter case", TER(case_sensitive=True))
    case["sentences"] = {
        "bleu": [BLEU(effective_order=True).sentence_score(h, r).score for h, r in corpus],
        "chrf": [CHRF().sentence_score(h, r).score for h, r in corpus],
        "ter": [TER().sentence_score(h, r).score for h, r in corpus]}
    case["rouge"] = rouges(corpus)
    case["scores"]["wer"] = error_rate(corpus, jiwer.process_words, lambda t: " ".join(t.split()))
    case["scores"]["cer"] = error_rate(corpus, jiwer.process_characters, lambda t: t)
    case["scores"]["exact_match"] = float(np.mean([h in r for h, r in corpus]))
    return case


def tokens():
    texts = ENGLISH + CHINESE + OTHER + ["", " ", "a.b.c", "1.5", ".5.", "a..b", "5-6-7", "x-5-", "'tis '90s", "{[(<a>)]}", "~`^_|\\/",
                                         "&amp;lt;", "-\n-\n", "a-\nb", "\u2001x\u2a6dy\u2f81z", "ΑΣ ΑΣ. ΑΣΑ Σ ΑΣ\u0301 ΑΣ\u0301Α 1Σ ΑΣ'Α", "A\u0130B"]
    western, chinese, characters = Tokenizer13a(), TokenizerZh(), TokenizerChar()
    return [{"text": t, "none": t.split(), "13a": western(t.rstrip()).split(), "zh": chinese(t.rstrip()).split(),
             "char": characters(t.rstrip()).split(), "rouge": rouge_tokenize.tokenize(t, None), "lower": t.lower()} for t in texts]


# --- classes -------------------------------------------------------------------------------------------------------------

def averages(truth, predicted, labels, weights=None):
    made = {}
    for average in ("macro", "micro"):
        p, r, f, _ = sk.precision_recall_fscore_support(truth, predicted, labels=labels, average=average, zero_division=0,
                                                        sample_weight=weights)
        made.update({f"precision_{average}": number(p), f"recall_{average}": number(r), f"f1_{average}": number(f)})
    return made


def class_scores(truth, predicted, weights=None):
    return {"accuracy": sk.accuracy_score(truth, predicted, sample_weight=weights),
            "matthews": sk.matthews_corrcoef(truth, predicted, sample_weight=weights)}


def class_case(truth, predicted, classes):
    truth, predicted = [int(x) for x in truth], [int(x) for x in predicted]
    weights = [int(x) for x in RNG.integers(0, 4, len(truth))]
    weights[0] += 1
    drawn = [i for i, w in enumerate(weights) for _ in range(w)]
    seen = sorted(set(truth) | set(predicted))
    seen_drawn = sorted({truth[i] for i in drawn} | {predicted[i] for i in drawn})
    others = [c for c in seen if c != 0]
    p, r, f, _ = sk.precision_recall_fscore_support(truth, predicted, labels=range(classes), zero_division=0)
    return {"truth": truth, "predicted": predicted, "classes": classes, "weights": weights,
            "scores": {**class_scores(truth, predicted), **averages(truth, predicted, seen)},
            "weighted": {**class_scores(truth, predicted, weights), **averages(truth, predicted, seen_drawn, weights)},
            "without_background": averages(truth, predicted, others) if others else None,
            "each": {"precision": list(map(float, p)), "recall": list(map(float, r)), "f1": list(map(float, f))},
            "confusion": sk.confusion_matrix(truth, predicted, labels=range(classes)).flatten().tolist()}


def class_cases():
    cases = []
    for classes in (2, 2, 2, 3, 3, 4, 5, 8, 12):
        for right in (0.0, 0.5, 0.9):
            n = int(RNG.integers(5, 60))
            share = RNG.dirichlet(np.ones(classes) * 0.7)
            truth = RNG.choice(classes, n, p=share)
            predicted = np.where(RNG.random(n) < right, truth, RNG.choice(classes, n, p=share))
            cases.append(class_case(truth, predicted, classes))
    for truth, predicted, classes in (([0] * 5, [0] * 5, 1), ([0] * 5, [0] * 5, 2), ([1] * 5, [0] * 5, 2), ([0, 1] * 4, [0] * 8, 2),
                                      ([0] * 6, [0, 1] * 3, 2), ([0, 1, 2] * 3, [1, 2, 0] * 3, 3), ([2], [2], 4), ([0, 0, 3], [0, 0, 3], 4)):
        cases.append(class_case(truth, predicted, classes))
    return cases


def area(truth, scores, weights=None):
    return number(sk.roc_auc_score(truth, scores, sample_weight=weights)) if len(set(truth)) > 1 else None


def area_cases():
    cases = []
    for decimals in (12, 2, 1, 0):
        for positive in (0.05, 0.3, 0.5, 0.9):
            n = int(RNG.integers(20, 150))
            truth = (RNG.random(n) < positive).astype(int)
            scores = np.round(RNG.normal(truth * RNG.uniform(-0.5, 2), 1), decimals) + 0.0
            weights = RNG.integers(0, 4, n)
            live = [int(t) for t, w in zip(truth, weights) if w]
            cases.append({"truth": truth.tolist(), "scores": scores.tolist(), "weights": weights.tolist(), "auc": area(truth.tolist(), scores),
                          "weighted": area(truth.tolist(), scores, weights) if len(set(live)) > 1 else None})
    for truth, scores in (([0, 1], [0.5, 0.5]), ([0, 1], [0.1, 0.9]), ([1, 0], [0.1, 0.9]), ([1, 1, 1], [0.1, 0.2, 0.3]), ([0, 0], [0.1, 0.2]),
                          ([0, 1, 0, 1, 1], [3, 3, 3, 3, 3]), ([0, 1, 1, 0], [-1e300, 1e300, -1e300, 1e-300])):
        cases.append({"truth": truth, "scores": scores, "weights": [1] * len(truth), "auc": area(truth, scores), "weighted": area(truth, scores)})
    return cases


def multi_label_cases():
    cases = []
    for labels, n, density, decimals in ((3, 30, 0.3, 12), (3, 30, 0.3, 1), (5, 50, 0.1, 2), (5, 12, 0.02, 2), (1, 10, 0.5, 1), (28, 60, 0.05, 2),
                                         (4, 20, 0.95, 1), (2, 3, 0.5, 12)):
        truth = (RNG.random((n, labels)) < density).astype(int)
        scores = np.clip(np.round(0.25 + 0.4 * truth + RNG.normal(0, 0.2, truth.shape), decimals), 0, 1) + 0.0
        predicted = (scores >= 0.5).astype(int)
        areas = [area(truth[:, k].tolist(), scores[:, k]) for k in range(labels)]
        defined = [a for a in areas if a is not None]
        made = {"labels": labels, "scores": scores.tolist(), "truth": [np.flatnonzero(row).tolist() for row in truth], "values": {
            "subset_accuracy": float(np.mean((truth == predicted).all(axis=1))), "hamming_loss": float(np.mean(truth != predicted)),
            "auc_macro": float(np.mean(defined)) if defined else None}, "areas": areas}
        if labels > 1:   # one column is binary to scikit-learn
            made["values"].update(averages(truth, predicted, list(range(labels))))
            made["values"]["subset_accuracy"] = sk.accuracy_score(truth, predicted)
            made["values"]["hamming_loss"] = sk.hamming_loss(truth, predicted)
        cases.append(made)
    for classes, n in ((3, 40), (5, 80)):   # one-against-the-rest over the probabilities of classes
        truth = RNG.integers(0, classes, n)
        logits = np.round(RNG.normal(0, 1, (n, classes)) + 1.5 * np.eye(classes)[truth], 1)
        scores = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        cases.append({"labels": classes, "scores": scores.tolist(), "truth": [[int(t)] for t in truth], "areas": None, "values": {
            "auc_macro": sk.roc_auc_score(truth, scores, multi_class="ovr", average="macro")}})
    return cases


def calibration_cases():
    cases = []
    for n, bins, decimals in ((200, 15, 12), (200, 10, 1), (50, 15, 2), (5, 15, 12), (100, 1, 12), (100, 4, 2)):
        confidence = np.round(RNG.uniform(0, 1, n), decimals) + 0.0
        if n == 50:
            confidence[:] = 0.75
        right = (RNG.random(n) < confidence ** 1.5).astype(int)
        # Edges are exact where the test is to be: k / bins compared as fractions, in numpy's own order of operations.
        place = np.clip(np.ceil(confidence * bins).astype(int) - 1, 0, bins - 1)
        error = sum(abs(right[place == k].mean() - confidence[place == k].mean()) * (place == k).mean() for k in range(bins) if (place == k).any())
        cases.append({"confidence": confidence.tolist(), "right": right.tolist(), "bins": bins, "calibration_error": float(error)})
    return cases


# --- numbers -------------------------------------------------------------------------------------------------------------

def forecast_cases():
    cases = []
    for windows, steps, period, missing in ((1, 1, 1, 0), (30, 1, 1, 0), (5, 12, 1, 0), (5, 12, 4, 0.2), (8, 24, 7, 0.05), (3, 6, 1, 0.9), (4, 5, 1, 0)):
        histories = [np.round(RNG.normal(10, 3, 40), 3) for _ in range(windows)]
        if steps == 5:
            histories[0][:] = 2.5   # constant: no scale
        actual = np.round(RNG.normal(0, 3, (windows, steps)), 3)
        predicted = np.round(actual + RNG.normal(0, 1, actual.shape), 3)
        actual[0, 0] = predicted[0, 0] = 0.0
        there = RNG.random(actual.shape) >= missing
        there[0, 0] = True
        scales = [float(np.mean(np.abs(h[period:] - h[:-period]))) for h in histories]
        live = there & (np.array(scales) > 0)[:, None]
        error = np.abs(predicted - actual)
        size = np.abs(predicted) + np.abs(actual)
        weights = RNG.integers(0, 3, windows) + (np.arange(windows) == 0)
        cells = np.repeat(weights[:, None], steps, axis=1)
        cases.append({
            "histories": [h.tolist() for h in histories], "period": period, "scales": scales, "predicted": predicted.tolist(),
            "actual": [[float(x) if here else None for x, here in zip(*row)] for row in zip(actual, there)], "weights": weights.tolist(),
            "values": {"mse": sk.mean_squared_error(actual[there], predicted[there]), "mae": sk.mean_absolute_error(actual[there], predicted[there]),
                       "smape": float(np.mean(200 * error[there] / np.where(size[there] > 0, size[there], 1))),
                       "mase": number(np.mean((error / np.array(scales)[:, None])[live]) if live.any() else np.nan)},
            "weighted": {"mse": sk.mean_squared_error(actual[there], predicted[there], sample_weight=cells[there]),
                         "mae": sk.mean_absolute_error(actual[there], predicted[there], sample_weight=cells[there])}})
    return cases


if __name__ == "__main__":
    texts = [text_case(corpus) for corpus in corpora()]
    classes = {"classes": class_cases(), "areas": area_cases(), "multi_label": multi_label_cases(), "calibration": calibration_cases()}
    numbers = forecast_cases()
    write("texts", texts)
    write("tokens", tokens())
    write("classes", classes)
    write("forecasts", numbers)
    print(f"{len(texts)} corpora of texts, {len(numbers)} of forecasts, " + ", ".join(f"{len(v)} of {k}" for k, v in classes.items()))
