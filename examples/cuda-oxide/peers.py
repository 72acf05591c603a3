"""The peers of each piece of work: operands, and calls by name that a user of PyTorch would make.

A product of matrices has one peer, `torch`. The programs have their formula as it is (`eager`) and
compiled (`torch.compile`), a Triton kernel where triton_peers.py has one, and the graphs cuSPARSE.
"""

import functools
import re

import torch
from torch.nn.functional import gelu, layer_norm, rms_norm, softmax

import graph

try:
    import triton_peers
except ImportError as why:
    triton_peers = None
    NO_TRITON = str(why)

DEVICE = "cuda"


class Peers:
    """Operands on the device; calls by name; why a peer is missing; what the calls are to give."""

    def __init__(self, operands, calls, reference=None):
        self.operands = operands
        self.calls = {name: call for name, call in calls.items() if call}
        self.missing = {name: NO_TRITON for name, call in calls.items() if not call}
        self.reference = reference


def options_of(entry):
    """The options of a specification by name, those that are a group left out."""
    return dict(re.findall(r"(\w+) = (\w+)", entry["options"]))


def peers_of(entry):
    """The peers of an entry, with operands that are the same in every round."""
    torch.manual_seed(0)
    program = re.sub(r"_\d+$", "", entry["name"])
    if program in PROGRAMS:
        return PROGRAMS[program](*entry["extents"], entry["degrees"])
    return product(entry)


def normal(*shape):
    return torch.randn(shape, device=DEVICE) * 0.25


@functools.cache
def compiled(formula):
    return torch.compile(formula, dynamic=False)


def by_hand(name):
    """The Triton kernel, if Triton is here."""
    return triton_peers and getattr(triton_peers, name)


def product(entry):
    """The call a PyTorch user would make: a matrix product where there is one, else einsum."""
    dtypes = {"f16": torch.float16, "bf16": torch.bfloat16, "f64": torch.float64}
    dtype = dtypes.get(options_of(entry).get("dtype"), torch.float32)
    notation = entry["notation"]
    inputs = notation.split("->")[0].split(",")
    order = list(dict.fromkeys("".join(inputs)))
    extents = dict(zip(order, entry["extents"]))
    operands = [normal(*(extents[label] for label in term)).to(dtype) for term in inputs]
    products = {
        "ik,kj->ij": lambda a, b: torch.matmul(a, b),
        "ik,jk->ij": lambda a, b: torch.matmul(a, b.T),
        "ki,kj->ij": lambda a, b: torch.matmul(a.T, b),
        "ki,jk->ij": lambda a, b: torch.matmul(a.T, b.T),
        "bik,bkj->bij": lambda a, b: torch.bmm(a, b),
        "ik,k->i": lambda a, b: torch.matmul(a, b),
    }
    call = products.get(notation, lambda *inputs: torch.einsum(notation, *inputs))
    return Peers(operands, {"torch": call})


def of_formula(formula, operands, triton=()):
    """A formula's peers, which are to give what it gives in f64; `triton` names a kernel."""
    calls = {"eager": formula, "torch.compile": compiled(formula)}
    calls |= {"triton": by_hand(name) for name in triton}
    return Peers(operands, calls, lambda: formula(*(operand.double() for operand in operands)))


def bias_gelu(x, bias):
    return gelu(x + bias, approximate="tanh")


def whole_layer_norm(x, gain, bias):
    return layer_norm(x, x.shape[1:], gain, bias, 1e-5)


def whole_softmax(x):
    return softmax(x, 1)


def whole_rms_norm(x, gain):
    return rms_norm(x, x.shape[1:], gain, 1e-6)


def mlp(x, weight, bias):
    return gelu(torch.addmm(bias, x, weight), approximate="tanh")


def gathered(weight, x, rows, sources, n_rows):
    zeros = torch.zeros(n_rows, x.shape[1], dtype=x.dtype, device=x.device)
    return zeros.index_add(0, rows, x[sources] * weight[:, None])


def neighbours(n_rows, n_edges, n_features, n_nodes, degrees):
    weight, x = normal(n_edges), normal(n_nodes, n_features)
    sources = graph.sources(n_edges, n_nodes, DEVICE)
    pointers = graph.pointers(degrees, n_rows, n_edges, DEVICE)
    lengths = pointers.diff()
    rows = torch.repeat_interleave(lengths)
    short = pointers.int(), sources.int()
    matrix = torch.sparse_csr_tensor(*short, weight, (n_rows, n_nodes))
    kernel, longest = by_hand("neighbours"), int(lengths.max())
    calls = {
        "eager": lambda weight, x: gathered(weight, x, rows, sources, n_rows),
        "torch.compile": lambda weight, x: compiled(gathered)(weight, x, rows, sources, n_rows),
        "cusparse": lambda weight, x: matrix @ x,
        "triton": kernel and (lambda weight, x: kernel(weight, x, *short, longest)),
    }
    reference = lambda: gathered(weight.double(), x.double(), rows, sources, n_rows)
    return Peers([weight, x], calls, reference)


# By the names of the kernels; the arguments are the extents and how a graph's degrees are spread.
PROGRAMS = {
    "bias_gelu": lambda i, j, _: of_formula(bias_gelu, [normal(i, j), normal(j)], ["bias_gelu"]),
    "layer_norm": lambda i, j, _: of_formula(
        whole_layer_norm, [normal(i, j), normal(j), normal(j)], ["layer_norm"]
    ),
    "softmax": lambda i, j, _: of_formula(whole_softmax, [normal(i, j)]),
    "rms_norm": lambda i, j, _: of_formula(whole_rms_norm, [normal(i, j), normal(j)]),
    "mlp": lambda i, k, j, _: of_formula(mlp, [normal(i, k), normal(k, j), normal(j)]),
    "neighbours": neighbours,
}
