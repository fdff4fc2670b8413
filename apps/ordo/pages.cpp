// SPDX-License-Identifier: Apache-2.0
#include "pages.h"

namespace ordo::cli {
namespace {

constexpr Page kPages[] = {
    {"overrides", "how the command line changes a config",
     R"(Words of the form a.b.c=value after a command's arguments change the config that it reads:

  ordo train lm.yaml model.position.kind=alibi train.optimizer.lr=3e-4 'evaluate.lengths=[64, 128]'

The value is YAML and gets the same checks as the file; errors name its place as "command line". Where a list is due, one value is
a list of one, and model.position.0.theta=500000 reaches into a list. Setting a `kind` to another kind drops what the file set for the
former one, and the log says so. Paths on the command line are relative to the current folder, paths in a file to that file.
)"},
    {"exit-codes", "what a script can rely on",
     R"(  0    done
  1    anything that is not below: a certificate or replay that does not hold, results that could not be written, a bug
  2    usage or config
  3    data
  4    checkpoint
  5    numbers that are not finite
  6    device or memory
  75   stopped by a signal after writing a checkpoint; the same command goes on from there
  130  a second interrupt: stopped at once
)"},
    {"run-folder", "what a training run writes",
     R"(  config.yaml          the config with every default
  metrics.jsonl        one JSON object a line: {"kind":"train","step":…} and {"kind":"eval","step":…}; steps increase strictly, also after a resume
  log.txt              the log
  events.out.tfevents… for TensorBoard: loss, rate, gradient norm, speed, and the metrics of evaluations
  step-00002000/       a checkpoint: weights, optimiser, state, tokenizer, checksums
  best, last           one line each: a checkpoint's name
  certificate.json     what ordo certify, or train.certify, found of the model
  lock                 held while a training runs in the folder

Commands that take a RUN take the folder or one of its checkpoints. The same `ordo train` command goes on from the newest checkpoint that
verifies; a damaged one is passed over with a warning.
)"},
    {"expression", "position biases by a formula of your own",
     R"text(The encoding `expression` adds to the score of each query and key what a formula says. In a config, below model:

  position: {kind: expression, bias: "-2^(-8*(h + 1)/H)*abs(distance)"}

  position: {kind: expression, bias: "-abs(a)*log(1 + abs(b*distance))", parameters: [{name: a, init: 1}, {name: b, init: 0.5}]}

  position:
    kind: expression
    bias: "near[min(max(distance + 8, 0), 16)] - a*(abs(distance) > 8)"
    parameters: [{name: near, size: 17}, {name: a, init: [0.1, 0.2]}]      # one first value a head, of two heads

names        i, j         positions of the query and the key: whole numbers, the first is 0
             distance     i - j
             h, H         the head, from 0 to H - 1, and the number of heads
             length       in a causal stack how many positions the query sees, i + 1, with a cache or without; in a two-sided
                          one the positions of the row, or of the document in it
             parameters   learned numbers, by the names that you give them
operators    from loose to tight: comparisons; + -; * /; a sign; ^, which groups to the right (2^3^2 is 2^9, -2^2 is -4).
             Times is never left out: 2*h.
comparisons  < <= > >= == != give 1 or 0, one in an expression; several are joined by *: (distance > 2)*(distance < 9)
functions    abs, log (natural), exp, sqrt, sin, cos (of radians), floor, each of one value; min, max of two or more
parameters   {name: a, init: 1} is one learned number a head; init: one first value for all heads, or one a head (absent: 0).
             {name: t, size: 9} is a table of 9 learned numbers a head, read as t[row]; its init has one value, or one a row.
             A row is a whole number from 0 to size - 1: put min, max and floor inside the brackets. Each must be used.
             shared: false gives every layer its own. Nothing keeps a learned number positive: write abs(a) or max(a, 0.01)
             where a log, a root or a denominator needs it.
direction    In a causal stack a query looks back only, so distance is 0 or more. In a two-sided stack it is negative for
             keys that come after the query: abs(distance) treats both sides alike, distance < 0 tells them apart.
limits       A formula has at most 4096 characters, nested 100 deep at most; a table at most 1048576 rows. When the model is
             built, the bias and its gradient are tried up to max_length at the first values: what is not finite there, or asks
             for a row that is not there, is told with its i and j. Positions are whole: stamps of time have time_decay.
             A formula of distance, h and H alone takes the fast path of kernels; with learned numbers sdpa cannot train it.

Mistakes are shown at their character. `ordo positions CONFIG` draws the bias; `ordo help model.position.expression` lists the settings.
)text"},
    {"surgery", "trained weights under other positions",
     R"(`ordo eval`, `ordo generate` and `ordo train --init RUN` take a run's weights under other position settings:
  ordo eval RUN model.position.scaling.kind=yarn model.position.scaling.factor=4     the original length is the run's
  ordo eval RUN model.position.theta=500000
  ordo eval RUN model.max_length=256      a learned table is extended, or stretched (model.position.on_resize=interpolate)
  ordo eval RUN model.position=none       or another kind; entries of a list keep their tensors by kind and order
  ordo train RUN/config.yaml --init RUN --run DIR model.position.kind=alibi          goes on at step 0 with a fresh optimiser
Each tensor of the encoding that is not simply kept is named: resized, new, dropped. All other tensors must fit (exit 4). The config
of a run begun with --init notes the length its first weights were trained at, train.trained_length.
)"},
    {"certificate", "what ordo certify proves",
     R"(`ordo certify CONFIG|RUN` runs the assembled model, with the run's weights where there are any, and measures:

  permutation_equivariance  two-sided, without an encoding a shuffled row gives the shuffled output; with one it must not
  order_sensitivity         the encoding changes the output at all, against the same weights without it
  shift_invariance          a common shift of all positions changes nothing, if the encoding claims it
  causality                 a later token changes nothing earlier
  cache_equals_full         decoding through the cache, at any split, equals one pass
  padding_invariance        pads on the left or on the right change no real token
  batch_invariance          nor do other rows
  packing_equals_separate   nor other documents in the row
  kernels_agree             every kernel that takes the call gives the reference's outputs and gradients
  recompute_equals_plain    gradients of replayed blocks are the plain ones, dropout included
  finite_beyond_length      longer rows stay finite and leave shorter ones as they were, or are refused in words
  rows_sum_to_one           attention weights sum to one over what is visible
  masked_rows_are_zero      who sees nothing gets nothing
  low_precision_error       bf16 and fp16 stay near fp32, and so do the angles of turns
  save_load_round_trip      the saved weights are all there is
  gradients                 they are those of finite differences in fp64, and reach all of the encoding

What an encoding cannot have by its nature is "not applicable", with the reason. Exit 0 only if all others pass, else 1; a run's certificate
is written to its folder as certificate.json. `train.certify: true` asks for it before the first step. `ordo certify CONFIG --explain` shows
by hand how attention sees "cat chases mouse" and "mouse chases cat".
)"},
    {"signals", "how to stop a training run",
     R"(SIGTERM, SIGINT (Ctrl-C), SIGUSR1 and SIGHUP let the running step finish, write a checkpoint and exit with 75: the same command goes on from
there, to the same bytes as a run that was never stopped (same number of threads, on the CPU). A second SIGINT quits at once (exit 130);
the checkpoints stay valid.
)"},
};

}  // namespace

std::span<const Page> pages() { return kPages; }

}  // namespace ordo::cli
