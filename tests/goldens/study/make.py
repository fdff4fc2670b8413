#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Made-up results of two studies, and what cells, pairs and claims come to, computed with numpy and scipy alone.

    python3 make.py            # needs scipy; writes *.json beside this file
"""
import itertools
import json
import os

import numpy as np
from scipy import stats

HERE = os.path.dirname(os.path.abspath(__file__))


def t_interval(values):
    n, mean, sd = len(values), np.mean(values), np.std(values, ddof=1)
    half = stats.t.ppf(0.975, n - 1) * sd / np.sqrt(n)
    return {"kind": "t", "low": mean - half, "high": mean + half}


def exact(k, n, level=0.95):
    tail = (1 - level) / 2
    return {"kind": "exact", "low": 0.0 if k == 0 else stats.beta.ppf(tail, k, n - k + 1),
            "high": 1.0 if k == n else stats.beta.ppf(1 - tail, k + 1, n - k)}


def sign_flip(differences):
    found = abs(sum(differences))
    sums = [abs(sum(s * d for s, d in zip(signs, differences))) for signs in itertools.product([1, -1], repeat=len(differences))]
    return float(np.mean([s >= found - 1e-12 for s in sums]))


def holm(p):
    order, out, worst = np.argsort(p, kind="stable"), [0.0] * len(p), 0.0
    for i, at in enumerate(order):
        worst = max(worst, (len(p) - i) * p[at])
        out[at] = min(1.0, worst)
    return out


def benjamini_hochberg(p):
    return [float(x) for x in stats.false_discovery_control(p, method="bh")]


def twin_groups(items, twins):
    return np.asarray(items).reshape(-1, twins).mean(axis=1)


def cell(values, items=None, twins=1, solved=None, larger=True):
    out = {"n": len(values), "mean": float(np.mean(values)), "sd": float(np.std(values, ddof=1))}
    if out["sd"] > 1e-12:
        out["interval"] = t_interval(values)
    else:
        groups = np.concatenate([twin_groups(of_run, twins) for of_run in items])
        out["sd"] = 0.0
        out["interval"] = exact(groups.sum(), len(groups))
    count = sum(v >= solved if larger else v <= solved for v in values)
    out["solved"] = [int(count), len(values)]
    out["solved_interval"] = exact(count, len(values))
    return out


def pair(a, b, larger):
    d = np.asarray(a) - np.asarray(b)
    return {"difference": float(d.mean()), "sd": float(d.std(ddof=1)), "effect": float(d.mean() / d.std(ddof=1)),
            "interval": t_interval(d), "wins": [int(np.sum(d > 0 if larger else d < 0)), len(d)], "p": sign_flip(d),
            "p_smallest": 2.0 ** (1 - len(d))}


def variance_shares(items, twins):
    """Items nested in seeds: one-way random effects by expected mean squares."""
    groups = np.asarray([twin_groups(of_run, twins) for of_run in items])
    seeds, k = groups.shape
    within = groups.var(axis=1, ddof=1).mean()
    between = max(0.0, (groups.mean(axis=1).var(ddof=1) - within / k))
    parts = np.array([between / seeds, within / (seeds * k)])
    return {"seed": parts[0] / parts.sum(), "item": parts[1] / parts.sum()}


def accuracy_study(rng):
    """Eight seeds, an arm at exactly a half by twins, one without spread, two with; against `none`, Holm."""
    twins, pairs, seeds = 2, 30, 8
    levels = {"none": 0.5, "rope": 1.0, "alibi": 0.93, "t5_bias": 0.90}
    rows, items, values = [], {}, {}
    for level, chance in levels.items():
        items[level], values[level] = [], {16: [], 32: []}
        for seed in range(1, seeds + 1):
            if level == "none":
                of_run = [1.0, 0.0] * pairs
            elif level == "rope":
                of_run = [1.0] * (2 * pairs)
            else:
                of_run = [float(x) for x in rng.random(2 * pairs) < chance]
            far = round(float(np.mean(of_run)) * float(rng.uniform(0.5, 0.9)), 4)
            items[level].append(of_run)
            for length, accuracy in ((16, float(np.mean(of_run))), (32, far)):
                values[level][length].append(accuracy)
                rows.append({"level": level, "seed": seed, "length": length, "value": accuracy,
                             "items": of_run if length == 16 else [], "twins": twins})
    solved = 0.92
    cells, pairs_out = [], []
    for level in levels:
        cells.append({"level": level, "length": 16, **cell(values[level][16], items[level], twins, solved)})
        cells.append({"level": level, "length": 32, **cell(values[level][32], solved=solved)})
        area = [(a + b) / 2 for a, b in zip(values[level][16], values[level][32])]
        cells.append({"level": level, "length": "area", **cell(area, solved=solved)})
    for level in ("alibi", "t5_bias", "rope"):
        if level == "rope":   # no spread on either side: the exact interval of each at half the error
            n = seeds * pairs
            high, low = exact(n, n, 0.975), exact(n / 2, n, 0.975)
            one = {"difference": 0.5, "sd": 0.0, "wins": [seeds, seeds], "p": 2.0 ** (1 - seeds), "p_smallest": 2.0 ** (1 - seeds),
                   "interval": {"kind": "exact", "low": high["low"] - low["high"], "high": high["high"] - low["low"]}}
        else:
            one = pair(values[level][16], values["none"][16], larger=True)
        pairs_out.append({"a": level, "b": "none", **one})
    for one, adjusted in zip(pairs_out, holm([p["p"] for p in pairs_out])):
        one["p_adjusted"] = adjusted
        one["verdict"] = "better"
    change = [b - a for a, b in zip(values["alibi"][16], values["alibi"][32])]
    claims = [{"claim": {"name": "blind", "level": ["none"], "length": 16, "at_most": 0.5, "rule": "every_run"}, "verdict": "holds",
               "measured": [{"values": values["none"][16], "mean": 0.5}]},
              {"claim": {"name": "falls", "level": ["alibi"], "from": 16, "to": 32, "at_most": 0.0, "rule": "intervals"},
               "verdict": "holds" if t_interval(change)["high"] <= 0 else "undecided",
               "measured": [{"values": change, "mean": float(np.mean(change)), "interval": t_interval(change)}]}]
    shares = [{"level": level, **variance_shares(items[level], twins)} for level in ("alibi", "t5_bias")]
    return {"metric": "accuracy", "levels": list(levels), "seeds": seeds, "lengths": [16, 32], "against": "none",
            "correction": "holm", "solved": solved, "rows": rows, "cells": cells, "pairs": pairs_out, "claims": claims,
            "variance": shares}


def loss_study(rng):
    """Six seeds, all against all, Benjamini-Hochberg."""
    means = {"rope": 1.93, "kerple": 1.94, "learned": 2.20, "none": 2.34}
    seeds = 6
    of_seed = rng.normal(0, 0.02, seeds)
    values = {level: [round(float(mean + s + e), 5) for s, e in zip(of_seed, rng.normal(0, 0.008, seeds))]
              for level, mean in means.items()}
    rows = [{"level": level, "seed": seed + 1, "length": 64, "value": value} for level in means
            for seed, value in enumerate(values[level])]
    solved = 2.0
    cells = [{"level": level, "length": 64, **cell(values[level], solved=solved, larger=False)} for level in means]
    pairs = [{"a": a, "b": b, **pair(values[a], values[b], larger=False)} for a, b in itertools.combinations(means, 2)]
    for one, adjusted in zip(pairs, benjamini_hochberg([p["p"] for p in pairs])):
        one["p_adjusted"] = adjusted
        beyond = one["interval"]["low"] > 0 or one["interval"]["high"] < 0
        one["verdict"] = "not told apart" if not (beyond and adjusted < 0.05) else "better" if one["difference"] < 0 else "worse"
    claims = [{"claim": {"name": "order", "order": ["rope", "learned", "none"], "length": 64, "rule": "intervals"}, "verdict": "holds",
               "measured": [{"values": values[level], "mean": float(np.mean(values[level])), "interval": t_interval(values[level])}
                            for level in ("rope", "learned", "none")]}]
    return {"metric": "loss", "levels": list(means), "seeds": seeds, "lengths": [64], "against": "all",
            "correction": "benjamini_hochberg", "solved": solved, "rows": rows, "cells": cells, "pairs": pairs, "claims": claims,
            "variance": []}


def hierarchical_study(rng):
    """The interval of a paired difference by drawing seeds, then twins within each: its ends, and how far such ends lie from
    one set of 4000 draws to another."""
    twins, pairs, seeds = 2, 40, 10
    a = rng.random((seeds, twins * pairs)) < rng.uniform(0.8, 0.95, (seeds, 1))
    b = rng.random((seeds, twins * pairs)) < rng.uniform(0.6, 0.8, (seeds, 1))
    groups = (a.astype(float) - b).reshape(seeds, pairs, twins).mean(axis=2)
    ends = []
    for _ in range(200):
        drawn = rng.integers(0, seeds, (4000, seeds))
        means = np.empty(4000)
        for i, of_draw in enumerate(drawn):
            means[i] = np.mean([groups[s][rng.integers(0, pairs, pairs)].mean() for s in of_draw])
        ends.append(np.quantile(means, [0.025, 0.975]))
    ends = np.asarray(ends)
    rows = [{"level": level, "seed": seed + 1, "length": 16, "value": float(np.mean(of_run)), "items": [float(x) for x in of_run],
             "twins": twins} for level, items in (("none", b), ("rope", a)) for seed, of_run in enumerate(items)]
    return {"metric": "accuracy", "levels": ["none", "rope"], "seeds": seeds, "lengths": [16], "against": "none", "correction": "holm",
            "solved": 1.0, "rows": rows, "low": float(ends[:, 0].mean()), "high": float(ends[:, 1].mean()),
            "standard_error": [float(x) for x in ends.std(axis=0, ddof=1)]}


if __name__ == "__main__":
    RNG = np.random.default_rng(20260601)
    for name, made in (("accuracy", accuracy_study(RNG)), ("loss", loss_study(RNG)), ("hierarchical", hierarchical_study(RNG))):
        with open(os.path.join(HERE, name + ".json"), "w") as f:
            json.dump(made, f, indent=None, allow_nan=False, separators=(",", ":"))
            f.write("\n")
