"""Times Mage's kernels and their peers in one run on one GPU, by one method, and joins them.

Method: batches of launches are captured as CUDA graphs; the span between two events around a replay that
follows another at once is divided by the batch's launches. Operands stay where they are, so they are
warm in the L2 cache where they fit. Rounds of both sides alternate. TF32 is off but for specifications
with `precision = tf32`, whose peer may use it, too; sums of halves are accumulated in f32 on both sides.
The peers of a program (peers.py) are compared with its formula in f64 before they are timed; one that is
wrong, or is not there, is left out and the record says why.

Usage: python3 bench.py PATH/TO/mage-oxide [ROUNDS [bench [NAME..] | sweep]] > record.json
(a table goes to standard error; NAME is the beginning of kernels' names)
"""

import json
import statistics
import subprocess
import sys

import torch

from peers import options_of, peers_of, triton_peers

SAMPLES = 15
SAMPLE_SECONDS = 2e-3
# The largest distance from the result in f64, over the largest result.
ERROR_LIMIT = 1e-4


def replayed(call, launches):
    """A batch of calls as a CUDA graph: its replay."""
    batch = torch.cuda.CUDAGraph()
    with torch.cuda.graph(batch):
        for _ in range(launches):
            call()
    return batch.replay


def seconds(replay, launches):
    """Seconds a launch."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    replay()
    start.record()
    replay()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / 1e3 / launches


def measure(call):
    """Samples in microseconds a launch."""
    # What is compiled, tuned or loaded late is so before a capture, and on another stream, as
    # captures are.
    with torch.cuda.stream(torch.cuda.Stream()):
        for _ in range(3):
            call()
    torch.cuda.synchronize()
    launches = int(min(500, max(1, SAMPLE_SECONDS / seconds(replayed(call, 3), 3))))
    replay = replayed(call, launches)
    return [seconds(replay, launches) * 1e6 for _ in range(SAMPLES)]


def wrong(call, reference):
    """What is wrong with a peer's result, or nothing."""
    error = (call().double() - reference).abs().max() / reference.abs().max()
    return "" if error <= ERROR_LIMIT else f"off by {error:.1e} of the largest result"


def take_peers(kept, is_first):
    """Checks the peers of an entry in the first round, and times those that are right."""
    peers = peers_of(kept)
    kept["left_out"] |= peers.missing
    reference = peers.reference() if is_first and peers.reference else None
    for name, function in peers.calls.items():
        if name in kept["left_out"]:
            continue
        call = lambda: function(*peers.operands)
        try:
            fault = "" if reference is None else wrong(call, reference)
            if not fault:
                kept["peers"].setdefault(name, {"samples_us": []})["samples_us"] += measure(call)
        # Whatever goes wrong within a peer is told, and the others go on.
        except Exception as why:
            fault = f"{type(why).__name__}: {str(why).splitlines()[0] if str(why) else ''}"
        if fault:
            kept["left_out"][name] = fault
            kept["peers"].pop(name, None)
            print(f"{kept['name']} {kept['extents']}: {name} is left out: {fault}", file=sys.stderr)


def derive(kept):
    """Medians and ratios; a line of the table."""
    kept["median_us"] = statistics.median(kept["samples_us"])
    own = kept["median_us"]
    line = (
        f"{kept['name']:20} {str(kept['extents']):30} {kept['degrees']:6} {own:10.1f} us "
        f"{kept['flops'] / own / 1e6:7.2f} TFLOP/s {kept['bytes'] / own / 1e3:7.1f} GB/s"
    )
    for name, peer in kept["peers"].items():
        peer["median_us"] = statistics.median(peer["samples_us"])
        peer["ratio"] = peer["median_us"] / own
        line += f"  {name} {peer['median_us']:.1f} us ratio {peer['ratio']:.3f}"
    print(line, file=sys.stderr)


def main():
    binary, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    command = sys.argv[3:] or ["bench"]
    matmul = torch.backends.cuda.matmul
    matmul.allow_fp16_reduced_precision_reduction = False
    matmul.allow_bf16_reduced_precision_reduction = False
    # One compilation a shape.
    torch._dynamo.config.recompile_limit = 64
    work = {}
    for at in range(rounds):
        output = subprocess.run([binary, *command], check=True, stdout=subprocess.PIPE, text=True)
        for line in output.stdout.splitlines():
            entry = json.loads(line)
            key = (entry["name"], tuple(entry["extents"]), entry["degrees"])
            kept = work.setdefault(key, {**entry, "samples_us": [], "peers": {}, "left_out": {}})
            kept["samples_us"] += entry["samples_us"]
        for kept in work.values():
            matmul.allow_tf32 = options_of(kept).get("precision") == "tf32"
            take_peers(kept, at == 0)
            torch.cuda.empty_cache()
    for kept in work.values():
        derive(kept)
    driver = subprocess.run(
        ["nvidia-smi", "--query-gpu=driver_version,clocks.sm,clocks.mem", "--format=csv,noheader"],
        capture_output=True,
        text=True,
    )
    triton = f"triton {triton_peers.triton.__version__}" if triton_peers else "no triton"
    record = {
        "schema": 2,
        "device": torch.cuda.get_device_name(),
        "driver_and_clocks": driver.stdout.strip(),
        "peer": f"torch {torch.__version__}, {triton}, TF32 only where the specification says so",
        "method": "event span around a replayed batch of launches, warm L2, rounds of both sides alternating",
        "rounds": rounds,
        "work": list(work.values()),
    }
    json.dump(record, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
