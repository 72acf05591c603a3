"""Triton kernels beside Mage's: what one would write by hand for these shapes, each tuned over a few
sizes of block at the shape it is timed at, with operands as warm in the L2 cache as they are then.
"""

import torch
import triton
import triton.language as tl

# A row of so many columns is held in registers; longer ones are read once for every pass.
HELD_COLUMNS = 32768


def warm_bench(call, quantiles):
    return triton.testing.do_bench_cudagraph(call, rep=10, quantiles=quantiles)


def tuned(key, configs):
    return triton.autotune(
        [triton.Config(sizes, num_warps=warps) for sizes, warps in configs], key=key, do_bench=warm_bench
    )


@tuned(
    ["n_rows", "n_columns"],
    [({"ROWS": rows, "COLUMNS": columns}, 4) for rows in (1, 2, 4) for columns in (512, 1024)],
)
@triton.jit
def bias_gelu_kernel(x, bias, y, n_rows, n_columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    inside = (row < n_rows)[:, None] & (column < n_columns)[None, :]
    at = row[:, None] * n_columns + column[None, :]
    value = tl.load(x + at, inside) + tl.load(bias + column, column < n_columns)[None, :]
    # x / (1 + exp(-2u)) is x (1 + tanh(u)) / 2.
    u = 0.7978845608028654 * value * (1.0 + 0.044715 * value * value)
    tl.store(y + at, value * tl.sigmoid(2.0 * u), inside)


def bias_gelu(x, bias):
    y = torch.empty_like(x)
    n_rows, n_columns = x.shape
    grid = lambda sizes: (triton.cdiv(n_rows, sizes["ROWS"]), triton.cdiv(n_columns, sizes["COLUMNS"]))
    bias_gelu_kernel[grid](x, bias, y, n_rows, n_columns)
    return y


@tuned(
    ["n_rows", "n_columns"],
    [({"ROWS": 1}, 4), ({"ROWS": 1}, 8), ({"ROWS": 1}, 16), ({"ROWS": 2}, 4), ({"ROWS": 4}, 4)],
)
@triton.jit
def layer_norm_kernel(x, gain, bias, y, n_rows, n_columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, COLUMNS)
    is_column = column < n_columns
    inside = (row < n_rows)[:, None] & is_column[None, :]
    at = row[:, None] * n_columns + column[None, :]
    value = tl.load(x + at, inside, 0.0)
    mean = tl.sum(value, 1) / n_columns
    centred = tl.where(inside, value - mean[:, None], 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, 1) / n_columns + 1e-5)
    gain_value = tl.load(gain + column, is_column, 0.0)
    bias_value = tl.load(bias + column, is_column, 0.0)
    result = centred * scale[:, None] * gain_value[None, :] + bias_value[None, :]
    tl.store(y + at, result, inside)


@tuned(
    ["n_rows", "n_columns"],
    [({"COLUMNS": columns}, warps) for columns, warps in ((4096, 8), (8192, 16), (8192, 32), (16384, 32))],
)
@triton.jit
def long_layer_norm_kernel(x, gain, bias, y, n_columns, n_rows, COLUMNS: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * n_columns
    block = tl.arange(0, COLUMNS)
    total = tl.zeros([COLUMNS], tl.float32)
    for begin in range(0, n_columns, COLUMNS):
        column = begin + block
        total += tl.load(x + first + column, column < n_columns, 0.0)
    mean = tl.sum(total, 0) / n_columns
    squares = tl.zeros([COLUMNS], tl.float32)
    for begin in range(0, n_columns, COLUMNS):
        column = begin + block
        value = tl.load(x + first + column, column < n_columns, 0.0)
        centred = tl.where(column < n_columns, value - mean, 0.0)
        squares += centred * centred
    scale = tl.rsqrt(tl.sum(squares, 0) / n_columns + 1e-5)
    for begin in range(0, n_columns, COLUMNS):
        column = begin + block
        inside = column < n_columns
        value = tl.load(x + first + column, inside, 0.0)
        result = (value - mean) * scale * tl.load(gain + column, inside) + tl.load(bias + column, inside)
        tl.store(y + first + column, result, inside)


def layer_norm(x, gain, bias):
    y = torch.empty_like(x)
    n_rows, n_columns = x.shape
    if n_columns > HELD_COLUMNS:
        long_layer_norm_kernel[(n_rows,)](x, gain, bias, y, n_columns, n_rows)
    else:
        grid = lambda sizes: (triton.cdiv(n_rows, sizes["ROWS"]),)
        columns = triton.next_power_of_2(n_columns)
        layer_norm_kernel[grid](x, gain, bias, y, n_rows, n_columns, COLUMNS=columns)
    return y


@tuned(
    ["n_rows", "n_edges", "n_features", "longest"],
    [({"EDGES": edges}, warps) for edges, warps in ((4, 1), (8, 1), (16, 1), (16, 2), (32, 4))],
)
@triton.jit
def neighbours_kernel(
    weight, x, pointers, sources, y, n_rows, n_edges, n_features, longest,
    EDGES: tl.constexpr, FEATURES: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0)
    feature = tl.program_id(1) * FEATURES + tl.arange(0, FEATURES)
    is_feature = feature < n_features
    begin, end = tl.load(pointers + row), tl.load(pointers + row + 1)
    total = tl.zeros([FEATURES], tl.float32)
    for first in range(begin, end, EDGES):
        edge = first + tl.arange(0, EDGES)
        is_edge = edge < end
        source = tl.load(sources + edge, is_edge, 0).to(tl.int64)
        share = tl.load(weight + edge, is_edge, 0.0)
        at = source[:, None] * n_features + feature[None, :]
        total += tl.sum(share[:, None] * tl.load(x + at, is_edge[:, None] & is_feature[None, :], 0.0), 0)
    tl.store(y + row.to(tl.int64) * n_features + feature, total, is_feature)


def neighbours(weight, x, pointers, sources, longest):
    n_rows, n_features = pointers.numel() - 1, x.shape[1]
    y = torch.empty(n_rows, n_features, dtype=x.dtype, device=x.device)
    features = min(triton.next_power_of_2(n_features), 256)
    grid = (n_rows, triton.cdiv(n_features, features))
    neighbours_kernel[grid](
        weight, x, pointers, sources, y, n_rows, sources.numel(), n_features, longest, FEATURES=features
    )
    return y
