# SPDX-License-Identifier: MIT
"""On what the run was made."""
import os
import platform
import re
import subprocess


def first_line(command):
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=dict(os.environ, LC_ALL="C")).stdout.decode().split("\n")[0]
    except OSError:
        return "-"


def processor():
    with open("/proc/cpuinfo") as file:
        found = re.search(r"(?m)^(?:model name|Model)\s*: (.*)$", file.read())
    return found.group(1) if found else platform.machine()


def huge_pages():
    try:
        with open("/sys/kernel/mm/transparent_hugepage/enabled") as file:
            return re.search(r"\[(\w+)\]", file.read()).group(1)
    except OSError:
        return "-"


def describe():
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "processor": processor(),
        "processors": os.cpu_count(),
        "memory_mb": pages >> 20,
        "kernel": platform.release(),
        "huge_pages": huge_pages(),
        "mono": first_line(["mono", "--version"]),
        "load": os.getloadavg()[0],
    }
