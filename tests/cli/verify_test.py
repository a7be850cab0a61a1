"""dewpoint verify and dewpoint verify errata, run as a user would."""

import unittest

from harness import ProgramTest

# Fast rows: a plain one, one with a correction, one with a simulated cloud.
PLAIN, CORRECTED, SIMULATED = "cas.lemma-b.7", "cas.lemma-b.6", "cas.table-1.yarn"


class Verify(ProgramTest):
    def test_one_row_says_what_where_how_and_how_to_repeat_it(self):
        text = self.succeed("verify", "--only", PLAIN)
        for word in (PLAIN, "CAS, Lemma B.7", "predicted", "measured", "holds", " s\n",
                     f"dewpoint verify --only {PLAIN}", "and 26 more",
                     "1 row: 1 hold, 0 hold as corrected, 0 do not reproduce, 0 fail"):
            self.assertIn(word, text)

    def test_a_correction_is_shown_beside_what_is_printed(self):
        text = self.succeed("verify", "--only", CORRECTED)
        self.assertIn("holds as corrected", text)
        self.assertIn("as printed: ", text)

    def test_text_fits_a_hundred_columns(self):
        text = self.succeed("verify", "--only", PLAIN, "--only", CORRECTED, "--only", SIMULATED)
        self.assertLessEqual(max(len(line) for line in text.split("\n")), 100)

    def test_json_has_every_comparison(self):
        out = self.succeed_json("verify", "--only", CORRECTED, "--seed", "5")
        self.assertEqual(out["experiment"], "verify")
        self.assertEqual(out["seed"], 5)
        self.assertEqual(out["effort"], "quick")
        (row,) = out["rows"]
        self.assertEqual(row["id"], CORRECTED)
        self.assertEqual(row["verdict"], "holds as corrected")
        self.assertEqual(row["command"], f"dewpoint verify --only {CORRECTED} --seed 5")
        self.assertGreater(len(row["comparisons"]), 1)
        for comparison in row["comparisons"]:
            self.assertTrue(comparison["holds"])
            self.assertEqual(comparison["relation"], "equals")
            off = abs(comparison["measured"]["mean"] - comparison["predicted"])
            self.assertLessEqual(off, comparison["tolerance"])
        self.assertTrue(row["as_printed"])
        for comparison in row["as_printed"]:
            self.assertFalse(comparison["holds"])

    def test_rows_come_in_the_order_of_the_paper(self):
        out = self.succeed_json("verify", "--only", SIMULATED, "--only", PLAIN)
        self.assertEqual([row["id"] for row in out["rows"]], [PLAIN, SIMULATED])

    def test_threads_do_not_change_a_number(self):
        def numbers(threads):
            out = self.succeed_json("verify", "--only", PLAIN, "--only", SIMULATED,
                                    "--threads", threads)
            return [row["comparisons"] for row in out["rows"]]
        self.assertEqual(numbers("1"), numbers("2"))

    def test_markdown_is_one_table(self):
        text = self.succeed("verify", "--only", PLAIN, "--only", CORRECTED, "--markdown")
        table = [line for line in text.split("\n") if line.startswith("|")]
        self.assertEqual(len(table), 4)
        for line in table:
            self.assertEqual(line.replace("\\|", "").count("|"), 11, line)
        self.assertIn(f"`dewpoint verify --only {CORRECTED}`", table[2])

    def test_list_names_every_row_and_examines_nothing(self):
        out = self.succeed_json("verify", "--list")
        ids = [row["id"] for row in out["rows"]]
        self.assertEqual(len(ids), len(set(ids)))
        for name in ("cas.theorem-2.1", "cas.lemma-b.10", "cas.theorem-c.2", "cas.table-1.qwen"):
            self.assertIn(name, ids)
        text = self.succeed("verify", "--list")
        self.assertEqual([line for line in text.split("\n") if line and line[0] != " "], ids)

    def test_an_unknown_row_is_refused_with_the_nearest(self):
        message = self.refuse(2, "verify", "--only", "cas.theorm-2.1")
        self.assertIn("cas.theorm-2.1", message)
        self.assertIn("did you mean 'cas.theorem-2.1'?", message)
        message = self.refuse(2, "verify", "--only", "nonsense")
        self.assertNotIn("did you mean", message)
        self.assertIn("dewpoint verify --list", message)
        self.assertIn("markdown: is given beside json",
                      self.refuse(2, "verify", "--only", PLAIN, "--json", "--markdown"))


class FreshSeed(ProgramTest):
    def test_a_random_seed_is_another_each_time_and_in_every_command(self):
        first, second = (self.succeed_json("verify", "--only", SIMULATED, "--seed", "random")
                         for _ in range(2))
        self.assertNotEqual(first["seed"], second["seed"])  # alike once in four billion runs
        (row,) = first["rows"]
        self.assertEqual(row["command"],
                         f"dewpoint verify --only {SIMULATED} --seed {first['seed']}")
        again = self.succeed_json(*row["command"].split()[1:])
        self.assertEqual(again["rows"][0]["comparisons"], row["comparisons"])

    def test_text_and_markdown_name_it(self):
        result = self.run_program("verify", "--only", PLAIN, "--seed=random")
        (line,) = [line for line in result.stdout.split("\n") if line.startswith("seed ")]
        self.assertIn(line, result.stderr)
        self.assertIn(f"--{line}", result.stdout)
        self.assertIn("Seed 7, quick", self.succeed("verify", "--only", PLAIN, "--seed", "7",
                                                    "--markdown"))

    def test_errata_take_it_too(self):
        out = self.succeed_json("verify", "errata", "--only", "erratum.1", "--seed", "random")
        self.assertIn(f"--seed {out['seed']}", out["rows"][0]["command"])

    def test_a_study_records_the_number(self):
        self.succeed("phase", "map", "--n", "16", "--d", "4", "--rho", "0.5", "--gamma", "1:2:2",
                     "--replicas", "1", "-o", "map.study", "--seed", "random")
        shown = self.succeed("show", "map.study")
        self.assertRegex(shown, r"seed (\d+) [^\n]*\ncommand [^\n]* --seed \1\n")

    def test_other_words_are_refused(self):
        self.refuse(2, "verify", "--only", PLAIN, "--seed", "randm")
        self.refuse(2, "verify", "--only", PLAIN, "--seed", "-1")


class Errata(ProgramTest):
    def test_every_row_is_a_correction_that_can_be_run_alone(self):
        ids = [row["id"] for row in self.succeed_json("verify", "errata", "--list")["rows"]]
        self.assertTrue(ids)
        numbers = [int(name.removeprefix("erratum.")) for name in ids]
        self.assertEqual(numbers, sorted(numbers))
        text = self.succeed("verify", "errata", "--only", ids[0])
        self.assertIn(f"dewpoint verify errata --only {ids[0]}", text)

    def test_rows_of_the_papers_are_not_among_them(self):
        message = self.refuse(2, "verify", "errata", "--only", PLAIN)
        self.assertIn("dewpoint verify errata --list", message)


if __name__ == "__main__":
    unittest.main()
