"""Labels of bench/names/export.mjs -> src/summarize/identifiers/model.json.

Prints the area under the curve within an output, of the rule and of a model that was trained on all other families, then trains on all and
writes weights as whole hundredths, which is what the core adds up. What that model is worth is said by `frozen.jsonl.gz` beside this file: labels of
projects from which no weight was ever learned, at most 40 outputs of each. Nothing here is random.

    pip install -r bench/names/requirements.txt
    python bench/names/train.py LABELS
"""
import gzip
import json
import re
import sys
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

FROZEN = Path(__file__).parent / "frozen.jsonl.gz"
ROOT = Path(__file__).parents[2] / "src/summarize/identifiers"
STEPS = 8
STRENGTH = 0.003


def features():
    """The names of the features, as the core lists them."""
    listed = re.search(r"const FEATURES: .*?=\s*\[(.*?)\];", (ROOT / "learned.rs").read_text(), re.S).group(1)
    return re.findall(r'"([a-z-]+)"', listed)


def read(path):
    """Steps, the rule's score, whether needed, output and family, by name."""
    steps, rule, needed, output, family = [], [], [], [], []
    with (gzip.open if str(path).endswith(".gz") else open)(path, "rt") as lines:
        for number, line in enumerate(map(json.loads, lines)):
            for row, score, _, needs in line["rows"]:
                steps.append(row)
                rule.append(score)
                needed.append(needs > 0)
                output.append(number)
                family.append(line["family"])
    return np.array(steps), np.array(rule), np.array(needed), np.array(output), np.array(family)


def one_hot(steps):
    rows, width = steps.shape
    columns = (steps + np.arange(width) * STEPS).ravel()
    return csr_matrix((np.ones(rows * width), columns, np.arange(rows + 1) * width), (rows, width * STEPS))


def area(score, needed, output):
    """Of pairs of a needed name and another of the same output, how many the score puts right: the mean over outputs, and over pairs."""
    shares, right, pairs = [], 0.0, 0
    for number in np.unique(output[needed]):
        here = output == number
        above, below = score[here & needed][:, None], score[here & ~needed][None, :]
        if below.size == 0:
            continue
        won = (above > below) + 0.5 * (above == below)
        shares.append(won.mean())
        right += won.sum()
        pairs += won.size
    if pairs == 0:
        return None
    return {"outputs": len(shares), "mean": round(float(np.mean(shares)), 3), "pairs": round(right / pairs, 3)}


def fit(steps, needed):
    """Bias and weights in whole hundredths."""
    model = LogisticRegression(C=STRENGTH, max_iter=1000, solver="lbfgs").fit(one_hot(steps), needed)
    return round(100 * float(model.intercept_[0])), np.rint(100 * model.coef_[0]).astype(int)


def compared(rule, learned, needed, output):
    """Both scores on the same names; `None` where no output has names of both kinds."""
    if (by_rule := area(rule, needed, output)) is None:
        return None
    return {"names": len(rule), "needed": int(needed.sum()), "rule": by_rule, "learned": area(learned, needed, output)}


def main(labels):
    steps, rule, needed, output, family = read(labels)
    left_out = np.zeros(len(rule))
    by_family = {}
    for name in np.unique(family):
        own = family == name
        bias, weights = fit(steps[~own], needed[~own])
        left_out[own] = bias + one_hot(steps[own]) @ weights
        by_family[str(name)] = compared(rule[own], left_out[own], needed[own], output[own])
    bias, weights = fit(steps, needed)
    frozen_steps, frozen_rule, frozen_needed, frozen_output, _ = read(FROZEN)
    metrics = {
        "area under the curve within an output, each family by a model of the others": {
            "all": compared(rule, left_out, needed, output),
            **{name: row for name, row in by_family.items() if row},
        },
        "on the frozen labels, by this model": compared(frozen_rule, bias + one_hot(frozen_steps) @ weights, frozen_needed, frozen_output),
    }
    # Generated examples, with which a test of the core checks that it computes the same sums as this file.
    made_up = np.array([[(row * column + row) % STEPS for column in range(steps.shape[1])] for row in range(4)])
    sums = (bias + one_hot(made_up) @ weights).astype(int).tolist()
    examples = ",\n".join(f"    {json.dumps({'steps': row, 'score': score})}" for row, score in zip(made_up.tolist(), sums, strict=True))
    rows = ",\n".join(f'    "{name}": {json.dumps(row.tolist())}' for name, row in zip(features(), weights.reshape(-1, STEPS), strict=True))
    measured = json.dumps(metrics, indent=2).replace("\n", "\n  ")
    (ROOT / "model.json").write_text(f'{{\n  "metrics": {measured},\n  "bias": {bias},\n  "weights": {{\n{rows}\n  }},\n  "examples": [\n{examples}\n  ]\n}}\n')
    print(json.dumps(metrics, indent=2))


main(*sys.argv[1:])
