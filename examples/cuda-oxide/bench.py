"""Times Mage's kernels and their PyTorch peers in one run on one GPU, by one method, and joins them.

Method: the span between two CUDA events around a batch of launches, divided by their number; operands
stay where they are, so they are warm in the L2 cache where they fit. Rounds of both sides alternate.
TF32 is off but for specifications with `precision = tf32`, whose peer may use it, too; sums of halves
are accumulated in f32 on both sides. A peer's result is compared with Mage's notation only through the
same einsum string.

Usage: python3 bench.py PATH/TO/mage-oxide [ROUNDS [bench | sweep]] > record.json
(a table goes to standard error)
"""

import json
import re
import statistics
import subprocess
import sys

import torch

SAMPLES = 15
SAMPLE_SECONDS = 2e-3


def peer(notation, operands):
    """The call a PyTorch user would make: a matrix product where there is one, else einsum."""
    products = {
        "ik,kj->ij": lambda a, b: torch.matmul(a, b),
        "ik,jk->ij": lambda a, b: torch.matmul(a, b.T),
        "ki,kj->ij": lambda a, b: torch.matmul(a.T, b),
        "ki,jk->ij": lambda a, b: torch.matmul(a.T, b.T),
        "bik,bkj->bij": lambda a, b: torch.bmm(a, b),
        "ik,k->i": lambda a, b: torch.matmul(a, b),
    }
    call = products.get(notation, lambda *inputs: torch.einsum(notation, *inputs))
    return lambda: call(*operands)


def measure(call):
    """Samples in microseconds a launch."""

    def batch(launches):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(launches):
            call()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) / 1e3 / launches

    batch(3)
    launches = int(min(500, max(1, SAMPLE_SECONDS / batch(3))))
    return [batch(launches) * 1e6 for _ in range(SAMPLES)]


def options_of(entry):
    """The options of a specification by name, those that are a group left out."""
    return dict(re.findall(r"(\w+) = (\w+)", entry["options"]))


def operands_of(entry):
    """Normal operands in the shapes of the notation; labels in order of first appearance."""
    dtypes = {"f16": torch.float16, "bf16": torch.bfloat16, "f64": torch.float64}
    dtype = dtypes.get(options_of(entry).get("dtype"), torch.float32)
    inputs = entry["notation"].split("->")[0].split(",")
    order = list(dict.fromkeys("".join(inputs)))
    extents = dict(zip(order, entry["extents"]))
    torch.manual_seed(0)
    return [
        (torch.randn([extents[label] for label in term], device="cuda") * 0.25).to(dtype)
        for term in inputs
    ]


def main():
    binary, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    command = sys.argv[3] if len(sys.argv) > 3 else "bench"
    matmul = torch.backends.cuda.matmul
    matmul.allow_fp16_reduced_precision_reduction = False
    matmul.allow_bf16_reduced_precision_reduction = False
    work = {}
    for _ in range(rounds):
        output = subprocess.run([binary, command], check=True, capture_output=True, text=True)
        for line in output.stdout.splitlines():
            entry = json.loads(line)
            key = (entry["name"], tuple(entry["extents"]))
            kept = work.setdefault(key, {**entry, "samples_us": [], "peer_samples_us": []})
            kept["samples_us"] += entry["samples_us"]
        for kept in work.values():
            operands = operands_of(kept)
            matmul.allow_tf32 = options_of(kept).get("precision") == "tf32"
            kept["peer_samples_us"] += measure(peer(kept["notation"], operands))
            del operands
            torch.cuda.empty_cache()
    entries = list(work.values())
    for kept in entries:
        kept["median_us"] = statistics.median(kept["samples_us"])
        kept["peer_median_us"] = statistics.median(kept["peer_samples_us"])
        kept["ratio"] = kept["peer_median_us"] / kept["median_us"]
        rate = kept["flops"] / kept["median_us"] / 1e6
        print(
            f"{kept['name']:24} {str(kept['extents']):26} {kept['median_us']:10.1f} us "
            f"{rate:6.2f} TFLOP/s  peer {kept['peer_median_us']:10.1f} us  ratio {kept['ratio']:.3f}",
            file=sys.stderr,
        )
    driver = subprocess.run(
        ["nvidia-smi", "--query-gpu=driver_version,clocks.sm,clocks.mem", "--format=csv,noheader"],
        capture_output=True,
        text=True,
    )
    record = {
        "schema": 1,
        "device": torch.cuda.get_device_name(),
        "driver_and_clocks": driver.stdout.strip(),
        "peer": f"torch {torch.__version__}, TF32 only where the specification says so",
        "method": "event span around a batch of launches, warm L2, rounds of both sides alternating",
        "rounds": rounds,
        "work": entries,
    }
    json.dump(record, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
