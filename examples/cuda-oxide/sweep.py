"""Draws a sweep as an SVG, TFLOP/s against the side of a square for Mage and its peer, and lists the
cliffs: the squares that are below 85 % of their smooth neighbours.

The smooth neighbours of a square are the multiples of 64 within 10 % of it, itself left out, and at
least the two that are nearest; their rate is the median of Mage's own there.

Usage: python3 sweep.py record.json sweep.svg   (the list goes to standard output)
"""

import json
import statistics
import sys

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 1000, 480, 60, 50, 40, 20
SMOOTH, REACH, LEAST = 64, 0.10, 0.85
COLOURS = {"Mage": "#1f6fb4", "peer": "#d0701f"}


def rates(entries, of):
    """TFLOP/s by side; `of` finds the measurement."""
    return {entry["extents"][0]: entry["flops"] / of(entry)["median_us"] / 1e6 for entry in entries}


def peer_of(entry):
    """The measurement of the one peer."""
    return entry["peers"]["torch"]


def neighbours(rate, side):
    """The smooth neighbours' median rate."""
    smooth = sorted((n for n in rate if n % SMOOTH == 0 and n != side), key=lambda n: abs(n - side))
    near = [n for n in smooth if abs(n - side) <= REACH * side]
    return statistics.median(rate[n] for n in (near if len(near) >= 2 else smooth[:2]))


def text(x, y, words, anchor="middle", size=13, colour="#333"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{colour}">{words}</text>'


def plot(series, title):
    """The curves through multiples of 64, and a dot for every size."""
    sides = [side for rate in series.values() for side in rate]
    most_side = max(sides)
    most_rate = 10 * (int(max(max(rate.values()) for rate in series.values()) / 10) + 1)
    x = lambda side: LEFT + (WIDTH - LEFT - RIGHT) * side / most_side
    y = lambda rate: HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * rate / most_rate
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        text(WIDTH / 2, 22, title, size=15),
        text(WIDTH / 2, HEIGHT - 10, "n, for a product of two n by n matrices"),
        text(LEFT, TOP - 8, "TFLOP/s"),
    ]
    for rate in range(0, most_rate + 1, 10):
        parts.append(f'<path d="M{LEFT} {y(rate):.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        parts.append(text(LEFT - 8, y(rate) + 4, rate, "end"))
    for side in range(0, most_side + 1, 512):
        parts.append(f'<path d="M{x(side):.1f} {HEIGHT - BOTTOM}v5" stroke="#333"/>')
        parts.append(text(x(side), HEIGHT - BOTTOM + 20, side))
    for at, (name, rate) in enumerate(series.items()):
        colour = COLOURS["Mage" if at == 0 else "peer"]
        smooth = [side for side in sorted(rate) if side % SMOOTH == 0]
        line = " ".join(f"{x(side):.1f},{y(rate[side]):.1f}" for side in smooth)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        for side in sorted(rate):
            filled = colour if side % SMOOTH == 0 else "white"
            parts.append(
                f'<circle cx="{x(side):.1f}" cy="{y(rate[side]):.1f}" r="2.5" fill="{filled}" stroke="{colour}"/>'
            )
        parts.append(text(WIDTH - RIGHT - 10, HEIGHT - BOTTOM - 60 + 20 * at, name, "end", colour=colour))
    parts.append(
        text(WIDTH - RIGHT - 10, HEIGHT - BOTTOM - 15, "filled: multiples of 64; hollow: other sizes", "end")
    )
    return "\n".join(parts + ["</svg>", ""])


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        record = json.load(file)
    squares = [entry for entry in record["work"] if len(set(entry["extents"])) == 1]
    mage, peer = rates(squares, lambda entry: entry), rates(squares, peer_of)
    title = f"{squares[0]['notation']} in f32 without a tile, {record['device']}"
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write(plot({"Mage": mage, record["peer"]: peer}, title))
    cliffs = [side for side in sorted(mage) if mage[side] < LEAST * neighbours(mage, side)]
    of_peer = [side for side in sorted(peer) if peer[side] < LEAST * neighbours(peer, side)]
    print(f"{len(squares)} squares, {len(cliffs)} below {LEAST:.0%} of their smooth neighbours")
    print(f"(of the peer's own rates {len(of_peer)} are)")
    print("n, TFLOP/s, share of the smooth neighbours, the peer's share, ratio of times peer over Mage")
    for side in cliffs:
        share, peers = (rate[side] / neighbours(rate, side) for rate in (mage, peer))
        print(f"{side:5} {mage[side]:6.2f} {share:5.2f} {peers:5.2f} {mage[side] / peer[side]:5.2f}")
    print("rows, terms, columns: us, the peer's us, ratio")
    for entry in record["work"]:
        if len(set(entry["extents"])) > 1:
            peer = peer_of(entry)
            times = f"{entry['median_us']:9.1f} {peer['median_us']:9.1f} {peer['ratio']:6.3f}"
            print(f"{str(entry['extents']):20} {times}")


if __name__ == "__main__":
    main()
