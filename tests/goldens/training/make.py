#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ten training steps of small decoders, computed independently in PyTorch: plain tensors and autograd, no module of Ordo's.

    python3 make.py            # needs torch; writes training.json beside this file

Weights: parameters in alphabetical order of their names in Ordo share one running element index i; element i of a matrix is
(mix(i) >> 40) / 2^24 * 2 - 1 in float32, times 0.08; vectors ending in .weight are 1, other vectors 0. mix is splitmix64 on a counter
(seed 77). Tokens: t[0] = mix(0) % V, t[k] = (3 t[k-1] + 7 + mix(k) % 4) % V with seed 78; batch s, row r takes L + 1 consecutive ones.
"""
import json
import math
import os

import torch

GOLDEN, M = 0x9E3779B97F4A7C15, (1 << 64) - 1


def mix(i, seed):
    z = ((i + 1) * GOLDEN + seed) & M
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & M
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & M
    return z ^ (z >> 31)


def fill(shapes):
    out, i = {}, 0
    for name in sorted(shapes):
        shape = shapes[name]
        n = math.prod(shape)
        if len(shape) == 1:
            out[name] = torch.full(shape, 1.0 if name.endswith(".weight") else 0.0)
        else:
            u = torch.tensor([(mix(i + k, 77) >> 40) / (1 << 24) * 2 - 1 for k in range(n)], dtype=torch.float32)
            out[name] = (u * torch.tensor(0.08, dtype=torch.float32)).reshape(shape)
        i += n
    return {k: v.clone().requires_grad_(True) for k, v in out.items()}


def tokens(count, vocab):
    out = [mix(0, 78) % vocab]
    for k in range(1, count):
        out.append((3 * out[-1] + 7 + mix(k, 78) % 4) % vocab)
    return torch.tensor(out)


V, D, N, H, L, B, STEPS = 29, 32, 2, 4, 24, 3, 10
E = D // H

FAMILIES = {
    "gpt2": dict(position="learned", norm="layer", placement="pre", act="gelu", hidden=4 * D, tied=True, bias=True),
    "llama": dict(position="rope", norm="rms", placement="pre", act="silu", gated=True, hidden=80, kv=2, tied=False, bias=False),
    "original": dict(position="sinusoidal", norm="layer", placement="post", act="relu", hidden=64, tied=True, bias=True,
                     scale_embedding=True, smoothing=0.1),
    "bloom": dict(position="alibi", norm="layer", placement="sandwich", act="gelu_tanh", hidden=64, tied=True, bias=False,
                  embedding_norm=True, z_loss=1e-3),
    "parallel": dict(position="none", norm="layer", placement="parallel", act="gelu", hidden=64, tied=False, bias=True,
                     qk_norm=True, softcap=5.0, head_softcap=4.0),
    "interleaved": dict(position="rope_interleaved", norm="rms", placement="pre", act="gelu", hidden=64, tied=True, bias=False,
                        window=8),
}


def shapes_of(c):
    s, kv = {"embedding.weight": (V, D)}, c.get("kv", H)
    if c["position"] == "learned":
        s["decoder.position.weight"] = (L, D)
    norms = ["norm1", "norm2"] + (["after1", "after2"] if c["placement"] == "sandwich" else [])
    if c["placement"] == "parallel":
        norms = ["norm1"]
    for n in range(N):
        p = f"decoder.blocks.{n}."
        for m in norms:
            s[p + m + ".weight"] = (D,)
            if c["bias"] and c["norm"] == "layer":
                s[p + m + ".bias"] = (D,)
        mats = {"attention.q": (D, D), "attention.k": (kv * E, D), "attention.v": (kv * E, D), "attention.o": (D, D),
                "feed_forward.up": (c["hidden"], D), "feed_forward.down": (D, c["hidden"])}
        if c.get("gated"):
            mats["feed_forward.gate"] = (c["hidden"], D)
        for m, shape in mats.items():
            s[p + m + ".weight"] = shape
            if c["bias"]:
                s[p + m + ".bias"] = (shape[0],)
        if c.get("qk_norm"):
            s[p + "attention.q_norm.weight"] = (E,)
            s[p + "attention.k_norm.weight"] = (E,)
    extra = (["decoder.norm"] if c["placement"] != "post" else []) + (["decoder.embedding_norm"] if c.get("embedding_norm") else [])
    for m in extra:
        s[m + ".weight"] = (D,)
        if c["bias"] and c["norm"] == "layer":
            s[m + ".bias"] = (D,)
    if not c["tied"]:
        s["head.weight"] = (V, D)
    return s


def norm(x, w, name, kind):
    if kind == "rms":
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * w[name + ".weight"]
    mean = x.mean(-1, keepdim=True)
    var = (x - mean).square().mean(-1, keepdim=True)
    y = (x - mean) / torch.sqrt(var + 1e-5) * w[name + ".weight"]
    return y + w[name + ".bias"] if name + ".bias" in w else y


def linear(x, w, name):
    y = x @ w[name + ".weight"].T
    return y + w[name + ".bias"] if name + ".bias" in w else y


def turn(x, interleaved):
    freq = 10000.0 ** (-torch.arange(0, E, 2, dtype=torch.float64) / E)
    angle = torch.arange(x.shape[2], dtype=torch.float64)[:, None] * freq
    cos, sin = angle.cos().float(), angle.sin().float()
    if interleaved:
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack((a * cos - b * sin, b * cos + a * sin), -1).flatten(-2)
    a, b = x[..., : E // 2], x[..., E // 2:]
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


def attention(x, w, p, c):
    b, t, _ = x.shape
    kv = c.get("kv", H)
    q = linear(x, w, p + "q").view(b, t, H, E).transpose(1, 2)
    k = linear(x, w, p + "k").view(b, t, kv, E).transpose(1, 2)
    v = linear(x, w, p + "v").view(b, t, kv, E).transpose(1, 2)
    if c.get("qk_norm"):
        q, k = norm(q, w, p + "q_norm", "rms"), norm(k, w, p + "k_norm", "rms")
    if c["position"].startswith("rope"):
        q, k = (turn(z, c["position"].endswith("interleaved")) for z in (q, k))
    k, v = (z.repeat_interleave(H // kv, dim=1) for z in (k, v))
    s = q @ k.transpose(-1, -2) / math.sqrt(E)
    if c.get("softcap"):
        s = c["softcap"] * torch.tanh(s / c["softcap"])
    i, j = torch.arange(t)[:, None], torch.arange(t)[None, :]
    if c["position"] == "alibi":
        slopes = torch.tensor([2.0 ** (-8.0 * (h + 1) / H) for h in range(H)])
        s = s - slopes[:, None, None] * (i - j).abs()
    hide = j > i
    if c.get("window"):
        hide = hide | (j <= i - c["window"])
    y = torch.softmax(s.masked_fill(hide, -math.inf), -1) @ v
    return linear(y.transpose(1, 2).reshape(b, t, D), w, p + "o")


def feed(x, w, p, c):
    act = {"gelu": torch.nn.functional.gelu, "relu": torch.relu, "silu": torch.nn.functional.silu,
           "gelu_tanh": lambda z: torch.nn.functional.gelu(z, approximate="tanh")}[c["act"]]
    up = linear(x, w, p + "up")
    return linear(act(linear(x, w, p + "gate")) * up if c.get("gated") else act(up), w, p + "down")


def loss_of(w, c, x, y):
    h = w["embedding.weight"][x]
    if c.get("scale_embedding"):
        h = h * math.sqrt(D)
    if c["position"] == "learned":
        h = h + w["decoder.position.weight"][:L]
    if c["position"] == "sinusoidal":
        angle = torch.arange(L, dtype=torch.float64)[:, None] * 10000.0 ** (-torch.arange(0, D, 2, dtype=torch.float64) / D)
        h = h + torch.stack((angle.sin(), angle.cos()), -1).flatten(1).float()
    if c.get("embedding_norm"):
        h = norm(h, w, "decoder.embedding_norm", c["norm"])
    for n in range(N):
        p = f"decoder.blocks.{n}."
        a, f, k = p + "attention.", p + "feed_forward.", c["norm"]
        if c["placement"] == "pre":
            h = h + attention(norm(h, w, p + "norm1", k), w, a, c)
            h = h + feed(norm(h, w, p + "norm2", k), w, f, c)
        elif c["placement"] == "post":
            h = norm(h + attention(h, w, a, c), w, p + "norm1", k)
            h = norm(h + feed(h, w, f, c), w, p + "norm2", k)
        elif c["placement"] == "sandwich":
            h = h + norm(attention(norm(h, w, p + "norm1", k), w, a, c), w, p + "after1", k)
            h = h + norm(feed(norm(h, w, p + "norm2", k), w, f, c), w, p + "after2", k)
        else:
            z = norm(h, w, p + "norm1", k)
            h = h + attention(z, w, a, c) + feed(z, w, f, c)
    if c["placement"] != "post":
        h = norm(h, w, "decoder.norm", c["norm"])
    z = h @ w["embedding.weight" if c["tied"] else "head.weight"].T
    if c.get("head_softcap"):
        z = c["head_softcap"] * torch.tanh(z / c["head_softcap"])
    lse = torch.logsumexp(z, -1)
    hit = z.gather(-1, y[..., None])[..., 0]
    s = c.get("smoothing", 0.0)
    return (lse - (1 - s) * hit - s * z.mean(-1) + c.get("z_loss", 0.0) * lse.square()).mean()


def run(c):
    w = fill(shapes_of(c))
    decay = [k for k in w if w[k].dim() >= 2 and ".position." not in k]
    rest = [k for k in w if k not in decay]
    opt = torch.optim.AdamW([{"params": [w[k] for k in decay], "weight_decay": 0.1},
                             {"params": [w[k] for k in rest], "weight_decay": 0.0}], lr=3e-3, betas=(0.9, 0.99), eps=1e-8)
    t = tokens(STEPS * B * (L + 1), V).view(STEPS, B, L + 1)
    losses, norms = [], []
    for step in range(1, STEPS + 1):
        # warm-up of 4 steps, then a half cosine down to a tenth at the last step
        f = step / 4 if step <= 4 else 0.1 + 0.9 * 0.5 * (1 + math.cos(math.pi * (step - 4) / (STEPS - 4)))
        for group in opt.param_groups:
            group["lr"] = 3e-3 * f
        opt.zero_grad()
        loss = loss_of(w, c, t[step - 1][:, :-1], t[step - 1][:, 1:])
        loss.backward()
        norms.append(torch.nn.utils.clip_grad_norm_(list(w.values()), 1.0).item())
        opt.step()
        losses.append(loss.item())
    return {"settings": c, "losses": losses, "grad_norms": norms,
            "checksums": {k: v.detach().double().abs().sum().item() for k, v in sorted(w.items())}}


if __name__ == "__main__":
    torch.set_num_threads(1)
    out = {"vocab": V, "dim": D, "layers": N, "heads": H, "length": L, "batch": B, "steps": STEPS, "torch": torch.__version__,
           "families": {k: run(c) for k, c in FAMILIES.items()}}
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "training.json"), "w") as f:
        json.dump(out, f, indent=1)
        f.write("\n")
    for k, v in out["families"].items():
        print(f"{k:12} {v['losses'][0]:.6f} -> {v['losses'][-1]:.6f}")
