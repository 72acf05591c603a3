"""Assembles a program's kernels and tabulates what each of them takes of a multiprocessor.

For each kernel: threads a block, registers, bytes of the stack frame, of spills and of shared memory,
and the blocks that fit one multiprocessor at once by the limits of the capability (CUDA C++ Programming
Guide, "Technical Specifications per Compute Capability" and "Multiprocessor Level"). Ends with status 1
where a kernel has a stack frame or spills. Needs ptxas of the CUDA toolkit, and no GPU.

Usage: python3 ptxas.py PATH/TO/mage_oxide.ptx [ARCH] > ptxas-ARCH.txt   (ARCH is sm_89 unless given)
"""

import re
import subprocess
import sys
import tempfile

# Threads, blocks and bytes of shared memory of a multiprocessor; all have 65536 registers.
LIMITS = {"sm_89": (1536, 24, 100 * 1024), "sm_90": (2048, 32, 228 * 1024)}
SM_REGISTERS = 65536
SCHEDULERS = 4
# The system keeps so much shared memory of each block.
RESERVED_BYTES = 1024


def resident_blocks(arch, threads, registers, shared_bytes):
    """Blocks on one multiprocessor, and what keeps them from being more."""
    sm_threads, sm_blocks, sm_shared = LIMITS[arch]
    warps = -(-threads // 32)
    # A warp stays on one scheduler and gets registers in units of 8 a thread.
    scheduler_warps = SM_REGISTERS // SCHEDULERS // (-(-registers // 8) * 8 * 32)
    limits = {
        "registers": SCHEDULERS * scheduler_warps // warps,
        "shared memory": sm_shared // (shared_bytes + RESERVED_BYTES),
        "threads": sm_threads // (warps * 32),
        "blocks": sm_blocks,
    }
    bound_by = min(limits, key=limits.get)
    return limits[bound_by], bound_by


def threads_of(ptx):
    """Threads a block of each entry, as its launch bounds say."""
    bounds = re.findall(r"\.entry (\w+)\(.*?\.maxntid (\d+)", ptx, re.DOTALL)
    return {name: int(threads) for name, threads in bounds}


def assembled(path, arch):
    """What ptxas says of each entry: registers, stack, spill stores and loads, shared bytes."""
    with tempfile.NamedTemporaryFile() as cubin:
        command = ["ptxas", f"-arch={arch}", "-v", path, "-o", cubin.name]
        log = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    kernels = {}
    for part in log.split("Compiling entry function '")[1:]:
        frame = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill", part)
        shared = re.search(r"(\d+) bytes smem", part)
        registers = int(re.search(r"Used (\d+) registers", part)[1])
        frame = [int(number) for number in frame.groups()]
        kernels[part.split("'")[0]] = (registers, frame, int(shared[1]) if shared else 0)
    return kernels


def main():
    path, arch = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "sm_89"
    with open(path, encoding="utf-8") as file:
        threads = threads_of(file.read())
    kernels = assembled(path, arch)
    print(f"{len(kernels)} kernels for {arch}; bytes, and resident blocks with what binds them")
    print(f"{'kernel':48} threads registers stack spills shared  blocks")
    n_bad = 0
    for name, (registers, [stack, stores, loads], shared) in sorted(kernels.items()):
        blocks, bound_by = resident_blocks(arch, threads[name], registers, shared)
        n_bad += stack + stores + loads > 0
        print(
            f"{name:48} {threads[name]:7} {registers:9} {stack:5} {stores + loads:6} {shared:6}"
            f"  {blocks} by {bound_by}"
        )
    print(f"{n_bad} kernels with a stack frame or spills")
    sys.exit(n_bad > 0)


if __name__ == "__main__":
    main()
