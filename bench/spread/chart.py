# SPDX-License-Identifier: Apache-2.0
"""The chart: for each loader and seed, how far the loss on each number of ranks is from that on the first."""

WIDTH, HEIGHT, TOP, LEFT, GAP = 760, 300, 40, 70, 40
COLOURS = ("#1b6ca8", "#d1495b", "#3c896d", "#a06cd5", "#e08e1d")
LABELS = {"stock": "order follows the ranks", "laneway": "Laneway"}


def differences(results):
    """Of each loader and seed: losses less the first one."""
    return {loader: [[loss - losses[0] for loss in losses] for losses in seeds] for loader, seeds in results.items()}


def text(x, y, content, anchor="middle"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{content}</text>'


def line(x1, y1, x2, y2, colour="#bbb"):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'


def panel(left, width, seeds, ranks, most):
    """One loader's lines, a colour for each seed; ``most`` is the end of the axis both ways."""
    places = [left + width * (i + 0.5) / len(ranks) for i in range(len(ranks))]
    height = HEIGHT - 2 * TOP

    def y(value):
        return TOP + height * (0.5 - value / (2 * most))

    yield line(left, y(0), left + width, y(0))
    for place, number in zip(places, ranks):
        yield text(place, HEIGHT - TOP + 18, number)
    for seed, values in enumerate(seeds):
        colour = COLOURS[seed % len(COLOURS)]
        points = " ".join(f"{x:.1f},{y(value):.1f}" for x, value in zip(places, values))
        yield f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
        for x, value in zip(places, values):
            yield f'<circle cx="{x:.1f}" cy="{y(value):.1f}" r="4" fill="{colour}"/>'


def draw(results, ranks):
    """The chart as SVG text."""
    found = differences(results)
    most = 1.1 * max(abs(value) for seeds in found.values() for values in seeds for value in values) or 1.0
    width = (WIDTH - LEFT - GAP * len(found)) / len(found)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
             'font-size="13">', f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    for value in (-most, 0.0, most):
        parts.append(text(LEFT - 8, TOP + (HEIGHT - 2 * TOP) * (0.5 - value / (2 * most)) + 4, f"{value:+.4f}", "end"))
    for i, (loader, seeds) in enumerate(found.items()):
        left = LEFT + i * (width + GAP)
        parts += [text(left + width / 2, TOP - 14, LABELS[loader]), *panel(left, width, seeds, ranks, most)]
    caption = "ranks; a line is a seed: its loss less that on the first number of ranks"
    parts.append(text(LEFT + (WIDTH - LEFT - GAP) / 2, HEIGHT - 6, caption))
    return "\n".join([*parts, "</svg>"]) + "\n"
