"""Numbers at the edges: an answer is finite, says that it is undefined and why, or is refused in a line.

Every numeric option of the verbs below is set to 0, to the smallest and largest numbers, to nan, and to
the ends of the range that its own refusal states.
"""

import array
import json
import math
import re
import struct
import subprocess
import unittest
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal, localcontext

from harness import DEWPOINT, ProgramTest

SECONDS = 60  # for one answer at an edge: all are of a small size

VERBS = {  # a command that is quick
    "phase point": "--n 24 --d 4",
    "phase map": "--n 24 --d 4 --rho 0.5 --gamma 1",
    "phase depth": "--n 24 --d 4 --gamma 2 --layers 3",
    "phase depth --exact": "--n 24 --gamma 2 --layers 3",
    "condense": "--n 100 --t 1 --draws 20",
    "query point": "--d 5 --n 1e3 --theta 1 --draws 20",
    "query output": "--keys sphere:d=5 --n 100 --beta 2 --draws 20",
    "query heat": "--d 5 --kappa 5 --angle 1 --n 200 --draws 5",
    "dew": "--law gaussian:sigma=1 --n 100,1000 --draws 20",
    "predict layer": "--n 1e6 --rho 0.5 --gamma 2.2",
    "predict bounds": "--n 4096 --d 128 --rho1 0.4 --rho2 0.6 --gamma 1",
    "predict critical": "--n 1024 --d 64 --rho 0.5",
    "predict depth": "--n 1e6 --rho 0.5 --gamma 2.4 --layers 3",
    "predict phases": "--n 1e3 --tau 0.7 --rho-rest 0.1 --rho-cluster 0.7",
    "predict scaling": "--n 65536 --n0 4096 --rho 0.5",
    "predict condense": "--n 1e6 --t 1.5",
    "predict query": "--d 5 --n 1e6 --theta 1",
    "predict softmax": "--law gaussian:sigma=1 --n 1e6 --beta 10",
    "predict dew": "--law sphere:d=64 --n 1e3",
    "predict heat": "--d 3 --kappa 2 --angle 0.7 --n 1e5 --beta 10",
    "predict variant": "--n 1024 --rho 0.5 --gamma 2 --window 64",
    "predict train": "--pi 0.6,0.2,0.2 --lambda 0.8",
    "train": "--steps 5 --sequences 200 --m 4",
}
# Arguments that a split of words cannot hold.
BESIDE = {"phase map": ["--output", ""]}
# An option that stands in for others, and what it needs.
INSTEAD_OF = {"beta": ["gamma", "theta", "t"], "gamma": ["beta"], "c": ["gamma"], "edge": ["theta"], "sink": ["window"],
              "strength": ["gamma"]}
NEEDS = {"strength": ["--law", "log"]}
# Sizes: their far end costs hours or terabytes, and only numbers up to 2 are asked for.
SIZES = {"n", "d", "layers", "replicas", "draws", "top", "steps", "sequences", "batch", "m", "s",
         "particles", "singular-values", "probes", "eta-probes", "seeds", "record-every", "time",
         "target-error", "eta-error", "bound", "rows", "cluster-size", "harmonics", "window",
         "keys-dimension"}
# Words, files, and what no number of the answer depends on.
NOT_ASKED = {"tokens", "norm", "common", "mask", "attention", "projections", "eta", "law", "output",
             "chain", "data", "optimiser", "method", "corpus", "scores", "queries", "keys", "values",
             "moments", "figures", "resume", "seed", "threads", "tail", "halvings", "least-keys",
             "replicates", "keep-column", "tokenizer", "vocabulary", "position"}
NUMBERS = ["0", "1e-300", "1e300", "-1", "nan"]
BAD_TEXT = re.compile(r"(?<![a-z])[-+]?(nan|inf)(?![a-z])", re.IGNORECASE)


def run(arguments, folder):
    return subprocess.run([DEWPOINT, *arguments], cwd=folder, text=True, capture_output=True,
                          timeout=SECONDS)


def command_without(verb, options):
    """The quick command of a verb without these options and their values."""
    kept, words = verb.split(), VERBS[verb].split()
    while words:
        option, value = words.pop(0), words.pop(0)
        if option.removeprefix("--") not in options:
            kept += [option, value]
    return kept + BESIDE.get(verb, [])


RANGE = re.compile(r"([\[(])([-\d.e+]+), ([-\d.e+]+)([\])])")


def ends_of(refusal):
    """The ends of the range that a refusal names which belong to it: 'not a number in [0, 1e6]'."""
    found = RANGE.search(refusal)
    if not found:
        return []
    return [end for end, bracket in ((found[2], found[1]), (found[3], found[4])) if bracket in "[]"]


def silent_nulls(value, path=""):
    """Where an estimate has no mean and does not say why."""
    if isinstance(value, dict):
        if "mean" in value and value["mean"] is None and "undefined" not in value:
            yield path
        for key, part in value.items():
            yield from silent_nulls(part, f"{path}.{key}")


class Edges(ProgramTest):
    def complaint(self, arguments):
        """What is wrong with the answer to a command, and its refusal if that is fine."""
        try:
            text = run(arguments, self.folder.name)
        except subprocess.TimeoutExpired:
            return f"no answer after {SECONDS} s", ""
        if text.returncode == 2:
            lines = text.stderr.strip().split("\n")
            fine = len(lines) == 1 and text.stdout == "" and lines[0].startswith("dewpoint: ")
            return ("" if fine else f"refused with {text.stderr!r}"), text.stderr
        if text.returncode != 0:
            return f"status {text.returncode}: {text.stderr.strip()[-200:]!r}", ""
        if found := BAD_TEXT.search(text.stdout):
            line = next(l for l in text.stdout.split("\n") if BAD_TEXT.search(l))
            return f"prints {found[0]}: {line!r}", ""
        answer = run([*arguments, "--json"], self.folder.name)
        if answer.returncode != 0:
            return f"status {answer.returncode} with --json", ""
        if found := BAD_TEXT.search(re.sub(r'"(\\.|[^"\\])*"', "", answer.stdout)):
            return f"--json has {found[0]}", ""
        nulls = list(silent_nulls(json.loads(answer.stdout)))
        return (f"--json says nothing of {nulls[0]}" if nulls else ""), ""

    def complaints_of(self, verb, option):
        command = command_without(verb, [option, *INSTEAD_OF.get(option, [])]) + NEEDS.get(option, [])
        whole = option not in SIZES
        found, ends = [], {}

        def ask(value):
            wrong, refusal = self.complaint([*command, f"--{option}={value}"])
            if wrong:
                found.append(f"{' '.join(command)} --{option}={value}: {wrong}")
            return refusal

        for value in NUMBERS:
            if not whole and float(value) > 2:
                continue
            refusal = ask(value)
            if refusal.startswith(f"dewpoint: {option}:"):
                ends.update({end: RANGE.search(refusal)[0] for end in ends_of(refusal)})
        for end, range_ in ends.items():
            if (whole or float(end) <= 2) and range_ in ask(end):
                found.append(f"{verb} --{option}={end}: refused, and is an end of its range {range_}")
        return found

    def test_no_number_of_an_option_gives_a_number_that_is_none(self):
        described = {verb["verb"]: verb["options"] for verb in json.loads(self.succeed("manual", "json"))}
        questions = []
        for verb in VERBS:
            plain, _ = self.complaint(command_without(verb, []))
            self.assertEqual(plain, "", verb)
            for option in described[verb.removesuffix(" --exact")]:
                if option["kind"] != "flag" and not option["positional"] and option["name"] not in NOT_ASKED:
                    questions.append((verb, option["name"]))
        self.assertGreater(len(questions), 100)
        with ThreadPoolExecutor(2) as pool:
            found = sum(pool.map(lambda question: self.complaints_of(*question), questions), [])
        self.assertEqual(found, [], "\n" + "\n".join(found))


def write_npy(path, rows):
    """A matrix of doubles in the format of NumPy."""
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({len(rows)}, {len(rows[0])}), }}"
    header = header.ljust(117) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(array.array("d", [x for row in rows for x in row]).tobytes())


# Directions of many angles; a power of two, a power of ten and what is not a number of few digits.
TOKENS = [[1.0, 0.25, -0.5], [0.3, 1.7, 0.1], [-0.2, 0.4, 1.1], [0.7, 0.7, 0.6], [1.3, -0.4, 0.2]]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def layer_of(tokens, beta):
    """λ, η and the mean weight of a token on itself, with 40 digits and nothing of ours."""
    with localcontext() as context:
        context.prec = 40
        beta = Decimal(beta)
        rows = [[Decimal(x) for x in row] for row in tokens]
        unit = [[x / dot(row, row).sqrt() for x in row] for row in rows]
        size, axes = len(unit), range(len(unit[0]))
        outputs, own, square = [], [], Decimal(0)
        for j, query in enumerate(unit):
            weights = [(beta * (dot(query, key) - 1)).exp() for key in unit]
            share = [weight / sum(weights) for weight in weights]
            mixed = [dot(share, [key[k] for key in unit]) for k in axes]
            away = [[key[k] - mixed[k] for k in axes] for key in unit]
            outputs.append([x / dot(mixed, mixed).sqrt() for x in mixed])
            own.append(share[j])
            for i, key in enumerate(unit):  # the derivative of output j by token i
                tangent = [[Decimal(a == b) - key[a] * key[b] for b in axes] for a in axes]
                pull = [dot(query, tangent[b]) for b in axes]
                block = [[share[i] * (tangent[a][b] + beta * away[i][a] * pull[b]) for b in axes] for a in axes]
                if i == j:
                    spread = [[sum(share[k] * away[k][a] * away[k][b] for k in range(size)) for b in axes]
                              for a in axes]
                    block = [[share[j] * tangent[a][b] + beta * dot(spread[a], [tangent[c][b] for c in axes])
                              for b in axes] for a in axes]
                square += sum(x * x for row in block for x in row)
        pairs = [(i, j) for i in range(size) for j in range(i)]
        ratios = [(1 - dot(outputs[i], outputs[j])) / (1 - dot(unit[i], unit[j])) for i, j in pairs]
        return (float(sum(ratios) / len(pairs)), float(square / (size * len(axes))),
                float(sum(own) / size))


class UserTokens(ProgramTest):
    def point(self, tokens, *options):
        write_npy(self.path("tokens.npy"), tokens)
        return self.succeed_json("phase", "point", "--tokens", "tokens.npy", *options)["observables"]

    def test_the_size_of_tokens_does_not_change_their_directions(self):
        contraction, norm, own = layer_of(TOKENS, 2)
        for scale in (1.0, 1e-310, 1e-300, 1e-160, 1e160, 1e300):
            seen = self.point([[scale * x for x in row] for row in TOKENS], "--beta", "2")
            # float32, a dozen roundings of numbers of order 1 (denormal tokens have 13 digits).
            self.assertAlmostEqual(seen["contraction"]["mean"], contraction, delta=12 * 2**-23, msg=scale)
            self.assertAlmostEqual(seen["jacobian_norm"]["mean"], norm, delta=24 * 2**-23, msg=scale)
            self.assertAlmostEqual(seen["self_mass"]["mean"], own, delta=12 * 2**-23, msg=scale)

    def test_near_tokens_compete_at_any_temperature(self):
        """Two of six tokens are 2e-3 apart, which float32 products of all do not tell at these beta."""
        near = [TOKENS[0][0], TOKENS[0][1] + 0.0023, TOKENS[0][2]]
        for beta in ("3e5", "1e6", "3e6"):
            _, norm, own = layer_of(TOKENS + [near], beta)
            self.assertGreater(1 - own, 1e-4)
            seen = self.point(TOKENS + [near], "--beta", beta, "--eta", "exact")
            # A difference of offsets of size 1 is off by 2^-23, x = βΔ by √(2xβ) of that; x e^-x < 1,
            # and eta has squares of two weights and two differences.
            error = math.sqrt(2 * float(beta)) * 2**-23
            self.assertAlmostEqual(seen["self_mass"]["mean"], own, delta=error)
            self.assertAlmostEqual(seen["jacobian_norm"]["mean"], norm, delta=8 * error)

    def test_norms_that_cannot_be_kept_are_refused(self):
        write_npy(self.path("tokens.npy"), [[1e-310, 0.0], [1.0, 1.0]])
        said = self.refuse(2, "phase", "point", "--tokens", "tokens.npy", "--norm", "gauss")
        self.assertEqual(said, "tokens.npy: row 0 has norm 1e-310; allowed: 1e-09 to 1e+09, or --norm unit")

    def test_the_contraction_of_identical_tokens_is_undefined_and_says_why(self):
        for tokens, options, why in (
                ([[1.0, 2.0]] * 4, [], "all tokens are identical"),
                ([[1.0, 0.0], [-1.0, 0.0]], ["--beta", "0"], "an output is zero and has no direction")):
            seen = self.point(tokens, *options)
            self.assertIsNone(seen["contraction"]["mean"])
            self.assertEqual(seen["contraction"]["undefined"], why)
            self.assertNotIn("undefined", seen["self_mass"])
            text = self.succeed("phase", "point", "--tokens", "tokens.npy", *options)
            self.assertIn(f"undefined: {why}", text)
            self.assertIsNone(BAD_TEXT.search(text), text)

    def test_the_norm_of_a_frozen_layer_is_that_of_a_projection(self):
        for beta in ("1e5", "1e7", "1e8"):
            for eta in ("exact", "mixed"):
                out = self.succeed_json("phase", "point", "--n", "50", "--d", "8", "--beta", beta, "--eta", eta)
                self.assertEqual(out["observables"]["jacobian_norm"]["mean"], 0.875)

    def test_ranges_are_said(self):
        for option, value, allowed in (("beta", "1e9", "[0, 1e8]"), ("gamma", "1e300", "[0, 1e6]"),
                                       ("alpha", "1e308", "[0, 1e6]")):
            said = self.refuse(2, "phase", "point", "--n", "16", f"--{option}", value)
            self.assertTrue(said.startswith(f"{option}: {value} is not"), said)
            self.assertIn(allowed, said)
        for verb in ("map", "depth"):
            self.assertIn("[0, 1e6]", self.refuse(2, "phase", verb, "--n", "16", "--gamma", "1e300"))


class Scores(ProgramTest):
    ROWS = [[math.sin(1.7 * i + 2.3 * j * j) for j in range(24)] for i in range(12)]

    def dew(self, rows, *options):
        write_npy(self.path("scores.npy"), rows)
        return ["dew", "--scores", "scores.npy", "--replicates", "20", *options]

    def test_a_factor_of_the_scores_divides_their_dew_point(self):
        def median(scale):
            head = self.succeed_json(*self.dew([[scale * s for s in row] for row in self.ROWS]))
            return head["lengths"][-1]["beta_dew_median"]["mean"] * scale

        for scale in (1e-140, 1e140):
            # Both solve the equation to 1e-13 (kDewPointError), of scores that are rounded once more.
            self.assertAlmostEqual(median(scale) / median(1.0), 1.0, delta=1e-12)

    def test_scores_that_no_gap_is_counted_in_are_refused(self):
        for scale in (1e-160, 1e-310):
            said = self.refuse(2, *self.dew([[scale * s for s in row] for row in self.ROWS]))
            self.assertIn("allowed: 1e-150 to 1e+150", said)

    def test_tied_scores_never_condense(self):
        text = self.succeed(*self.dew([[1.0] * 24] * 12))
        self.assertIn("never", text)
        self.assertIn("100% of queries have a tied maximum", text)
        self.assertIsNone(BAD_TEXT.search(text), text)


if __name__ == "__main__":
    unittest.main()
