# SPDX-License-Identifier: Apache-2.0
"""Resident memory over a long run, sampled from outside: its height over the budget, and its growth."""
import json
import re
import statistics
import subprocess
import time

from measure import LANES, Figure, at_most

STEPS = 500000
MIB = 1 << 20
GOAL_OVER_MIB = 64
GOAL_GROWTH = 1.05
SAMPLE_SECONDS = 0.02


def minimum_bytes(lab, recipe):
    """The least budget that `explain` names."""
    return int(re.search(r"^minimum +(\d+)", lab.output("explain", recipe), re.MULTILINE)[1])


def resident_bytes(pid):
    """None when the process is gone."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8") as file:
            found = re.search(r"^VmRSS:\s+(\d+) kB", file.read(), re.MULTILINE)
    except OSError:
        return None
    return int(found[1]) * 1024 if found else None


def watched_run(lab, recipe, budget):
    """The samples of a run and its report."""
    line = [lab.program, "bench", recipe, "--steps", str(STEPS), "--threads", "2", "--set",
            f"runtime.memory={budget}"]
    samples = []
    with subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            value = resident_bytes(process.pid)
            if value is not None:
                samples.append(value)
            time.sleep(SAMPLE_SECONDS)
        report = process.stdout.read()
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, line)
    return samples, json.loads(report)


def tenth(samples, number):
    """The mean of one tenth of the samples."""
    return statistics.mean(samples[number * len(samples) // 10:(number + 1) * len(samples) // 10])


def budget_figures(lab, recipe, name, budget):
    samples, report = watched_run(lab, recipe, budget)
    early, late = tenth(samples, 4), tenth(samples, 9)
    lab.keep("memory." + name, {"budget_bytes": budget, "samples": samples[::25], "report": report})
    yield Figure(f"{name}: budget; resident in the fifth and last tenth, MiB",
                 f"{budget / MIB:.1f}; {early / MIB:.1f}, {late / MIB:.1f}")
    yield at_most(f"{name}: peak resident over the budget, MiB", (report["peak_rss_bytes"] - budget) / MIB,
                  GOAL_OVER_MIB, "{:.1f}")
    yield at_most(f"{name}: last tenth over fifth", late / early, GOAL_GROWTH, "{:.3f}")
    yield Figure(f"{name}: tokens a second", f"{report['tokens_per_second']:,.0f}")


def figures(lab):
    recipe = lab.recipe("memory", global_batch=LANES, shuffle={"rows": 64})
    minimum = minimum_bytes(lab, recipe)
    yield from budget_figures(lab, recipe, "1.2 x minimum", minimum * 6 // 5)
    yield from budget_figures(lab, recipe, "256MB", 256 * 10**6)
