# SPDX-License-Identifier: MIT
"""Snapshots by fork: the same content as in the process, a host that notices
nothing, and a child that may end at any moment."""
import os

import cases
from harness import *

FORK = ",fork=always"


def forks(path, status=(OK, INCOMPLETE)):
    return [snapshot["fork"] for snapshot in snapshots(path, status=status)]


def case_by_fork(name, rows, directory):
    recording = cases.run_case(name, rows, directory, FORK)
    wanted = forks(recording.path)
    assert wanted and set(wanted) == {"child"}, wanted


for case_name, case_rows in cases.read_cases().items():
    test("case by fork: " + case_name)(
        lambda directory, name=case_name, rows=case_rows: case_by_fork(name, rows, directory))

main(jobs=2)
