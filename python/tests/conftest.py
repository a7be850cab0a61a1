"""Says at the top of a report what the tests ran with.

SPDX-License-Identifier: Apache-2.0
"""

from importlib import metadata


def version_of(package):
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "absent"


def pytest_report_header():
    return "with " + ", ".join(f"{package} {version_of(package)}" for package in ("numpy", "torch", "transformers"))
