"""dewpoint predict variant: masks, windows and sinks on a simplex, beside plain sums over keys."""

import math
import unittest

from harness import ProgramTest


def dense_row(keys, beta, rho, sink=None):
    """Weights on the token itself, on each other key, and on the sink."""
    own, other = math.exp(beta), math.exp(beta * rho)
    total = own + (keys - 1) * other + (0.0 if sink is None else math.exp(sink))
    return own / total, other / total, 1.0 - (own + (keys - 1) * other) / total


class Variant(ProgramTest):
    def ask(self, *options):
        return self.succeed_json("predict", "variant", *options)

    def test_the_example_works_when_pasted_and_explains_itself(self):
        help_text = self.succeed("predict", "variant", "--help")
        example = help_text.split("Example:")[1].strip().split("\n")[0].split()
        self.assertEqual(example[:3], ["dewpoint", "predict", "variant"])
        text = self.succeed(*example[1:])
        for word in ["window of 4096 keys", "sink of logit 0", "β_dew", "Along the text", "distance"]:
            self.assertIn(word, text)
        self.assertEqual(self.succeed_json(*example[1:])["prediction"], "variant")

    # beta = 2 log n is critical for all n = 131072 keys at rho = 1/2: tau is log n/log(n - 1).
    def test_a_window_keeps_its_own_dew_point_however_long_the_text(self):
        found = self.ask("--n", "131072", "--rho", "0.5", "--gamma", "2", "--window", "4096")
        rows = found["quantities"]
        self.assertAlmostEqual(rows["beta_dew"]["softmax"], 2 * math.log(131071), 11)
        self.assertAlmostEqual(rows["beta_dew"]["variant"], 2 * math.log(4095), 11)
        self.assertAlmostEqual(rows["phase"]["variant"], math.log(131072) / math.log(4095), 12)
        own, other, _ = dense_row(4096, 2 * math.log(131072), 0.5)
        self.assertAlmostEqual(rows["self"]["variant"], own, 12)
        self.assertAlmostEqual(rows["participation"]["variant"], own**2 + 4095 * other**2, 12)

    def test_early_queries_of_a_causal_mask_are_condensed(self):
        found = self.ask("--n", "4096", "--rho", "0.5", "--gamma", "2", "--causal",
                         "--position", "1,2,16,256,4096")
        places = {record["position"]: record for record in found["positions"]}
        self.assertIsNone(places[1]["beta_dew"])
        self.assertIsNone(places[2]["phase"])
        for position in (16, 256, 4096):
            self.assertEqual(places[position]["visible"], position)
            self.assertAlmostEqual(places[position]["phase"], math.log(4096) / math.log(position - 1), 12)
            own, _, _ = dense_row(position, 2 * math.log(4096), 0.5)
            self.assertAlmostEqual(places[position]["self"], own, 12)
        self.assertGreater(places[16]["self"], 0.99)

    # Two windows of W keys that share s of them, the earlier query among those: overlap a b + (s - 1) b b.
    def test_queries_that_share_no_key_keep_their_angle(self):
        found = self.ask("--n", "1000", "--rho", "0.3", "--beta", "2", "--window", "10")
        pairs = {record["distance"]: record for record in found["pairs"]}
        own, other, _ = dense_row(10, 2.0, 0.3)
        norm = 0.3 + 0.7 * (own**2 + 9 * other**2)
        for distance, shared in ((1, 9), (5, 5), (10, 0)):
            overlap = own * other + (shared - 1) * other**2 if shared else 0.0
            self.assertAlmostEqual(pairs[distance]["cosine"], (0.3 + 0.7 * overlap) / norm, 12)
            self.assertAlmostEqual(pairs[distance]["contraction"],
                                   (1 - (0.3 + 0.7 * overlap) / norm) / 0.7, 12)

    def test_a_sink_takes_mass_and_moves_no_dew_point(self):
        for n, beta, sink in ((64, 3.0, 0.0), (64, 3.0, 6.0), (1000, 9.0, 12.0)):
            found = self.ask("--n", str(n), "--rho", "0.4", "--beta", str(beta), "--sink", str(sink))
            rows = found["quantities"]
            own, other, rest = dense_row(n, beta, 0.4, sink)
            self.assertAlmostEqual(rows["self"]["variant"], own, 12)
            self.assertAlmostEqual(rows["per_token"]["variant"], other, 12)
            self.assertAlmostEqual(rows["sink"]["variant"], rest, 12)
            self.assertEqual(rows["beta_dew"]["variant"], rows["beta_dew"]["softmax"])
            self.assertEqual(rows["contraction"]["variant"], rows["contraction"]["softmax"])
            self.assertAlmostEqual(rows["squared_norm"]["variant"],
                                   rows["squared_norm"]["softmax"] * (1 - rest) ** 2, 12)
            even = rows["beta_even"]["variant"]
            self.assertAlmostEqual((n - 1) * math.exp(-0.6 * even) + math.exp(sink - even), 1.0, 12)

    def test_says_where_the_sink_holds_half(self):
        sink = self.ask("--n", "100", "--rho", "0.4", "--beta", "3", "--sink", "6")["sink"]
        half = sink["half_beta"]
        self.assertAlmostEqual(math.log(math.exp(half) + 99 * math.exp(0.4 * half)), 6.0, 11)
        keys = sink["half_keys"]
        self.assertAlmostEqual(math.log(math.exp(3) + (keys - 1) * math.exp(1.2)), 6.0, 11)
        off = self.ask("--n", "100", "--rho", "0.4", "--beta", "3", "--off-by-one")["sink"]
        self.assertEqual(off["logit"], 0)
        self.assertIsNone(off["half_beta"])
        self.assertIsNone(off["half_keys"])
        self.assertIn("never holds half", self.succeed("predict", "variant", "--n", "100", "--rho", "0.4",
                                                       "--beta", "3", "--off-by-one"))

    def test_a_sink_slows_the_collapse_beside_a_residual(self):
        # log Z is 1208.9: the sink holds three quarters.
        question = ("--n", "1e300", "--rho", "0.5", "--gamma", "1.5", "--alpha", "1", "--sink", "1210")
        rows = self.ask(*question)["quantities"]
        self.assertGreater(rows["contraction"]["variant"], rows["contraction"]["softmax"])

    def test_refusals_name_the_field_the_value_and_what_is_allowed(self):
        base = ["--n", "100", "--rho", "0.5", "--gamma", "2"]
        for options, words in [
            (["--window", "1"], ["window: 1", "[2, 1e15]"]),
            (["--window", "8.5"], ["window: 8.5", "whole"]),
            (["--causal", "--position", "0,3"], ["position: 0", "at least 1"]),
            (["--causal", "--position", "101"], ["position: 101", "n = 100"]),
            (["--sink", "1e95"], ["sink: 1e95", "1e90"]),
            (["--sink", "1", "--off-by-one"], ["sink: 1 is given beside off-by-one"]),
            (["--window", "8", "--causal"], ["window: 8 is given beside causal"]),
            (["--alpha", "-1"], ["alpha: -1"]),
        ]:
            message = self.refuse(2, "predict", "variant", *base, *options)
            for word in words:
                self.assertIn(word, message)
        message = self.refuse(2, "predict", "variant", "--n", "1e16", "--rho", "0.5", "--gamma", "2", "--causal")
        self.assertIn("n: 1e+16", message)


if __name__ == "__main__":
    unittest.main()
