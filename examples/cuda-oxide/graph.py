"""The graphs of src/graph.rs for the peers: row pointers whose degrees are spread in several ways, and
the source of each edge. All of it is arithmetic on integers, so that both sides have the same graph.
"""

import torch

LOW = 0xFFFFFFFF
# The seeds of the edges that choose their rows, and of the fourth operand, which is the sources.
SEED, SOURCES_SEED = 5, 3


def hash_values(count, seed, device):
    """`hash_value` of mage::fill at the positions from 0; products wrap at 64 bits, of which 32 stay."""
    x = torch.arange(count, dtype=torch.int64, device=device)
    x = (x * 2654435761 + (seed + 1) * 2246822519) & LOW
    x ^= x >> 15
    x = (x * 2246822519) & LOW
    x ^= x >> 13
    x = (x * 3266489917) & LOW
    return x ^ (x >> 16)


def sources(n_edges, n_nodes, device):
    """The node that each edge comes from."""
    return hash_values(n_edges, SOURCES_SEED, device) % n_nodes


def pointers(degrees, n_rows, n_edges, device):
    """The row pointers."""
    rows = torch.arange(n_rows + 1, dtype=torch.int64, device=device)
    if degrees == "even":
        return rows * n_edges // n_rows
    if degrees == "giant":
        return torch.where(rows > n_rows // 2, n_edges, 0)
    if degrees == "power":
        uniform = hash_values(n_edges, SEED, device) >> 11
        rank = ((uniform * uniform * uniform) >> 31) * n_rows >> 32
        row = rank * 2654435761 % n_rows
        ends = torch.cumsum(torch.bincount(row, minlength=n_rows), 0)
        return torch.cat([torch.zeros(1, dtype=torch.int64, device=device), ends])
    raise ValueError(f"no peer has degrees {degrees}")
