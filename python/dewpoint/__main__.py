"""`python -m dewpoint phase point --n 512`: the command line.

SPDX-License-Identifier: Apache-2.0
"""

import sys

from ._core import run_program


def main() -> int:
    return run_program(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
