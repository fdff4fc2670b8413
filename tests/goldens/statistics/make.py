#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Numbers for the tests of src/ordo/statistics, computed independently with scipy (1.17) and by enumeration.

    python3 make.py            # needs scipy; writes *.json beside this file
"""
import itertools
import json
import os

import numpy as np
from scipy import stats

HERE = os.path.dirname(os.path.abspath(__file__))
RNG = np.random.default_rng(20260101)


def sample(n, mean=0.8, sd=0.1):
    return [round(float(x), 4) for x in RNG.normal(mean, sd, n)]


def write(name, cases):
    with open(os.path.join(HERE, name + ".json"), "w") as f:
        json.dump(cases, f, indent=1, allow_nan=False)
        f.write("\n")


def intervals():
    t = []
    for n, level in itertools.product([2, 3, 5, 8, 20], [0.9, 0.95, 0.99]):
        x = sample(n)
        low, high = stats.t.interval(level, n - 1, loc=np.mean(x), scale=stats.sem(x))
        t.append({"values": x, "level": level, "mean": float(np.mean(x)), "sd": float(np.std(x, ddof=1)),
                  "low": float(low), "high": float(high)})
    exact = []
    for k, n in [(0, 3), (1, 3), (3, 3), (0, 10), (10, 10), (5, 20), (19, 20), (512, 1024), (1023, 1024), (3, 100000)]:
        for level in (0.95, 0.99):
            ci = stats.binomtest(k, n).proportion_ci(level, method="exact")
            exact.append({"successes": k, "trials": n, "level": level, "low": float(ci.low), "high": float(ci.high)})
    write("interval", {"t": t, "exact": exact})


def pairs():
    cases = []
    for n, grid in [(3, None), (4, None), (5, None), (6, None), (6, 0.25), (8, None), (8, 0.25), (10, None), (12, 0.1), (14, None)]:
        a, b = sample(n, 0.85), sample(n, 0.75)
        if grid:   # ties among the sums, and differences of 0
            a, b = [round(round(v / grid) * grid, 4) for v in a], [round(round(v / grid) * grid, 4) for v in b]
        d = np.subtract(a, b)
        found = stats.ttest_rel(a, b)
        ci = found.confidence_interval(0.95)
        flips = stats.permutation_test((a, b), lambda x, y, axis: np.mean(np.subtract(x, y), axis=axis), vectorized=True,
                                       permutation_type="samples", n_resamples=np.inf, alternative="two-sided")
        cases.append({"a": a, "b": b, "difference": float(np.mean(d)), "sd": float(np.std(d, ddof=1)),
                      "effect": float(found.statistic / np.sqrt(n)), "low": float(ci.low), "high": float(ci.high),
                      "wins": int(np.sum(d > 1e-9)), "ties": int(np.sum(abs(d) <= 1e-9)), "p": float(flips.pvalue)})
    # Too many for enumeration: the distribution of Σ ±d, exactly, by adding one difference at a time on a grid.
    d = [round(float(x), 2) for x in RNG.normal(0.02, 0.05, 30)]
    ways = {0: 1}
    for step in (round(x * 100) for x in d):
        more = {}
        for total, count in ways.items():
            for sign in (step, -step):
                more[total + sign] = more.get(total + sign, 0) + count
        ways = more
    reached = sum(c for total, c in ways.items() if abs(total) >= abs(round(sum(d) * 100)))
    write("paired", {"cases": cases, "many": {"differences": d, "p": reached / 2 ** len(d)}})


def holm(p):
    """By its closed form: reject at the largest level that all smaller p-values pass with their own number of rivals."""
    return [min(1.0, max(sum(r >= q for r in p) * q for q in p if q <= mine)) for mine in p]


def corrections():
    cases = [[0.01], [0.03125, 0.0078125, 0.0078125, 0.5, 1.0], [0.2, 0.001, 0.04, 0.03, 0.01, 0.6],
             [round(float(x), 5) for x in RNG.uniform(0, 0.2, 15)]]
    write("corrections", [{"p": p, "holm": holm(p), "benjamini_hochberg": stats.false_discovery_control(p, method="bh").tolist()}
                          for p in cases])


def percentiles(means, level=0.95):
    tail = round(0.5 - level / 2, 6)
    return {"low": float(np.quantile(means, tail, method="inverted_cdf")),
            "high": -float(np.quantile(np.negative(means), tail, method="inverted_cdf")), "standard_error": float(np.std(means))}


def spread_of_quantile(means, q, draws):
    """The standard error of a q-quantile of so many draws, by the density between the quantiles beside it."""
    low, high = np.quantile(means, [q - 0.005, q + 0.005])
    return float(np.sqrt(q * (1 - q) / draws) * (high - low) / 0.01)


def bootstraps():
    enumerated = []
    for n in (2, 3, 4, 5, 6):
        x = sample(n)
        means = [np.mean(pick) for pick in itertools.product(x, repeat=n)]
        enumerated += [{"values": x, "level": level, **percentiles(means, level)} for level in (0.9, 0.95)]
    drawn = []
    for n in (7, 10, 25):
        x = np.array(sample(n))
        found = stats.bootstrap((x,), np.mean, n_resamples=400_000, method="percentile", rng=np.random.default_rng(n))
        means = found.bootstrap_distribution
        drawn.append({"values": x.tolist(), "low": float(found.confidence_interval.low), "high": float(found.confidence_interval.high),
                      "standard_error": float(np.std(x) / np.sqrt(n)), "spread_low": spread_of_quantile(means, 0.025, 20_000),
                      "spread_high": spread_of_quantile(means, 0.975, 20_000)})
    write("bootstrap", {"enumerated": enumerated, "drawn": drawn})


def projections(y):
    """Mean squares of y [seeds, instances, groups] with groups nested in instances, by projecting on each term of the model."""
    S, I, K = y.shape
    def averaged(*axes): return np.broadcast_to(y.mean(axis=axes, keepdims=True), y.shape)
    m, s, i, si, ik = averaged(0, 1, 2), averaged(1, 2), averaged(0, 2), averaged(2), averaged(0)
    terms = {"s": (s - m, S - 1), "i": (i - m, I - 1), "k": (ik - i, I * (K - 1)), "si": (si - s - i + m, (S - 1) * (I - 1)),
             "e": (y - si - ik + i, (S - 1) * I * (K - 1))}
    return {name: float((t ** 2).sum() / degrees) if degrees else 0.0 for name, (t, degrees) in terms.items()}


def as_shares(seed, instance, item, rest):
    variance = seed + instance + item + rest
    return {"seed": seed / variance, "instance": instance / variance, "item": item / variance, "rest": rest / variance,
            "variance": variance}


def crossed_shares(y):
    S, I, K = y.shape
    ms, n = projections(y), y.size
    si = max(0.0, ms["si"] - ms["e"]) / K if I > 1 else 0.0
    seed = max(0.0, ms["s"] - (ms["si"] if I > 1 else ms["e"])) / (I * K)
    instance = max(0.0, ms["i"] - ms["si"] - ms["k"] + ms["e"]) / (S * K) if I > 1 else 0.0
    item = max(0.0, ms["k"] - ms["e"]) / S
    return as_shares(seed / S, instance / I, item / (I * K), si / (S * I) + ms["e"] / n)


def nested_shares(y):
    S, K = y.shape
    item = float(np.mean(y.var(axis=1, ddof=1)))
    seed = max(0.0, float(np.var(y.mean(axis=1), ddof=1)) - item / K)
    return as_shares(seed / S, 0.0, item / (S * K), 0.0)


def nested_resamples(y):
    S, K = y.shape
    inner = [[np.mean(pick) for pick in itertools.product(row, repeat=K)] for row in y]
    for seeds in itertools.product(range(S), repeat=S):
        yield from (np.mean(pick) for pick in itertools.product(*(inner[s] for s in seeds)))


def crossed_resamples(y):
    S, I, K = y.shape
    for seeds in itertools.product(range(S), repeat=S):
        z = y[list(seeds)].mean(axis=0)
        inner = [[np.mean(pick) for pick in itertools.product(row, repeat=K)] for row in z]
        for instances in itertools.product(range(I), repeat=I):
            yield from (np.mean(pick) for pick in itertools.product(*(inner[i] for i in instances)))


def scores(S, I, K, sd_seed, sd_instance, sd_item, sd_run, sd_answer):
    y = 0.6 + RNG.normal(0, sd_seed, (S, 1, 1)) + RNG.normal(0, sd_instance, (1, I, 1)) + RNG.normal(0, sd_item, (1, I, K))
    return np.round(y + RNG.normal(0, sd_run, (S, I, 1)) + RNG.normal(0, sd_answer, (S, I, K)), 4)


def runs_of(y):
    return [{"seed": 11 + s, "instance": 5 + i, "items": y[s, i].tolist()} for s in range(y.shape[0]) for i in range(y.shape[1])]


def hierarchies():
    cases = []
    for shape, spreads in [((3, 1, 2), (0.1, 0, 0, 0, 0.2)), ((2, 1, 4), (0.3, 0, 0, 0, 0.1)), ((6, 1, 40), (0.05, 0, 0, 0, 0.4)),
                           ((5, 1, 12), (0, 0, 0, 0, 0.2)), ((4, 1, 1), (0.1, 0, 0, 0, 0.1))]:
        y = scores(*shape, *spreads)
        shares = nested_shares(y[:, 0]) if shape[2] > 1 else as_shares(float(np.var(y, ddof=1)) / shape[0], 0.0, 0.0, 0.0)
        cases.append({"items_of": "seed", "runs": runs_of(y), "mean": float(y.mean()), "shares": shares})
        if y.size <= 8:
            cases[-1]["resamples"] = percentiles(list(nested_resamples(y[:, 0])))
    for shape, spreads in [((3, 2, 2), (0.1, 0.1, 0.1, 0.05, 0.1)), ((2, 3, 2), (0.2, 0.1, 0.05, 0.05, 0.1)), ((3, 1, 3), (0.1, 0, 0.2, 0, 0.1)),
                           ((8, 4, 30), (0.1, 0.05, 0.2, 0.05, 0.2)), ((4, 3, 1), (0.2, 0.1, 0, 0.05, 0)), ((5, 3, 8), (0, 0, 0.3, 0, 0.3))]:
        y = scores(*shape, *spreads)
        cases.append({"items_of": "instance", "runs": runs_of(y), "mean": float(y.mean()), "shares": crossed_shares(y)})
        if y.size <= 12:
            cases[-1]["resamples"] = percentiles(list(crossed_resamples(y)))
    write("hierarchy", cases)


def power_at(effect, n, alpha):
    limit, centre = stats.t.ppf(1 - alpha / 2, n - 1), effect * np.sqrt(n)
    return float(stats.nct.sf(limit, n - 1, centre) + stats.nct.cdf(-limit, n - 1, centre))


def powers():
    cases = [{"effect": e, "seeds": n, "alpha": a, "power": power_at(e, n, a)}
             for e, n, a in [(3, 3, 0.05), (2, 5, 0.05), (3, 3, 0.01), (2, 5, 0.01), (0.5, 2, 0.05), (0.5, 10, 0.05), (-1, 8, 0.05), (1, 8, 0.01),
                             (0.1, 100, 0.05), (1e-6, 5, 0.05)]]
    needed = [{"difference": d, "sd": sd, "power": w, "alpha": a, "seeds": next(n for n in itertools.count(2) if power_at(d / sd, n, a) >= w)}
              for d, sd, w, a in [(1, 1, 0.8, 0.05), (3, 1, 0.8, 0.05), (0.02, 0.05, 0.8, 0.05), (-0.02, 0.05, 0.8, 0.05), (0.02, 0.05, 0.9, 0.01),
                                  (0.1, 1, 0.8, 0.05)]]
    write("power", {"cases": cases, "needed": needed})


def ranks():
    cases = []
    for k, n, grid in [(3, 10, None), (6, 12, None), (4, 10, 0.1), (3, 9, None), (5, 40, 0.05)]:
        y = np.round(RNG.normal(0.7, 0.1, (n, k)) + np.linspace(0, 0.1, k), 3)
        if grid:
            y = np.round(np.round(y / grid) * grid, 4)
        found = stats.friedmanchisquare(*y.T)
        rank = np.mean([stats.rankdata(-row) for row in y], axis=0)
        cd = stats.studentized_range.ppf(0.95, k, np.inf) / np.sqrt(2) * np.sqrt(k * (k + 1) / (6 * n))
        cases.append({"values": y.tolist(), "ranks": rank.tolist(), "friedman": float(found.statistic), "p": float(found.pvalue), "critical_difference": float(cd)})
    write("ranks", cases)


def distributions():
    write("distributions", {
        "normal_range_quantile": [{"p": p, "k": k, "value": float(stats.studentized_range.ppf(p, k, np.inf))}
                                  for p in (0.5, 0.9, 0.95, 0.99) for k in (2, 3, 4, 5, 6, 10, 20, 50)],
        "normal_range_cdf": [{"r": r, "k": k, "value": float(stats.studentized_range.cdf(r, k, np.inf))} for r in (0.1, 1, 3, 6) for k in (2, 3, 10)],
        "t_quantile": [{"p": p, "degrees": v, "value": float(stats.t.ppf(p, v))} for p in (0.025, 0.9, 0.975, 0.9999) for v in (1, 2, 7, 99)],
        "beta_quantile": [{"p": p, "a": a, "b": b, "value": float(stats.beta.ppf(p, a, b))} for p in (0.025, 0.975) for a, b in [(1, 3), (2.5, 9), (500, 525)]],
        "chi_squared_above": [{"x": x, "degrees": v, "value": float(stats.chi2.sf(x, v))} for x in (0, 0.5, 5, 60) for v in (1, 5, 30)],
        "noncentral_t_outside": [{"t": t, "degrees": v, "centre": c, "value": float(stats.nct.sf(t, v, c) + stats.nct.cdf(-t, v, c))}
                                 for t in (0.5, 2.5, 6) for v in (1, 4, 30) for c in (-3, 0.2, 5)],
    })


if __name__ == "__main__":
    for part in (intervals, pairs, corrections, bootstraps, hierarchies, powers, ranks, distributions):
        part()
